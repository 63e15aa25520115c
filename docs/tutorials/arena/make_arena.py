"""Votes of a small arena: who answered better, asked for pairs of eight models.

`python make_arena.py` writes the first 160 votes, on pairs drawn at random. `python make_arena.py
DIR/batch.csv` asks ten people about each pair of a file that `valmatch next` wrote, and adds their
votes.
"""

import csv
import math
import random
import sys
from pathlib import Path

STRENGTHS = {
    "amber": 1650, "birch": 1600, "cedar": 1560, "delta": 1520,
    "ember": 1480, "fjord": 1430, "grove": 1400, "heath": 1360,
}  # fmt: skip
"""What nobody knows in an arena of real people."""

VOTES = Path("votes.csv")
HEAD = ["player_a", "player_b", "result", "voter"]


def vote(luck: random.Random, first: str, second: str) -> list[str]:
    """Return a vote; some people call a draw, and each has a number."""
    lead = (STRENGTHS[first] - STRENGTHS[second]) * math.log(10) / 400
    chances = [math.exp(lead / 2), 0.5, math.exp(-lead / 2)]
    (result,) = luck.choices(["1-0", "1/2-1/2", "0-1"], chances)
    return [first, second, result, f"v{luck.randrange(60):02d}"]


def main() -> None:
    """Write the first votes, or add those on pairs that were chosen."""
    if len(sys.argv) == 1:
        luck = random.Random(1)
        pairs = [luck.sample(list(STRENGTHS), 2) for _ in range(160)]
        votes, mode = [HEAD, *(vote(luck, *pair) for pair in pairs)], "w"
    else:
        luck = random.Random(len(VOTES.read_text().splitlines()))
        with Path(sys.argv[1]).open(newline="") as file:
            pairs = [(row["player_a"], row["player_b"]) for row in csv.DictReader(file)]
        votes, mode = [vote(luck, *pair) for pair in pairs for _ in range(10)], "a"
    with VOTES.open(mode, newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(votes)


if __name__ == "__main__":
    main()
