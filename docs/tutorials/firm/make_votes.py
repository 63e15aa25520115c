"""Votes of an arena, as its maintainers publish them: who was shown first, result, length."""

import csv
import math
import random
from pathlib import Path

STRENGTHS = {
    "amber": 1545,
    "birch": 1540,
    "cedar": 1525,
    "delta": 1490,
    "ember": 1470,
    "fjord": 1430,
}
FIRST, LENGTH = 18, 0.15
"""Points by which being shown first helps, and each further word."""


def result(luck: random.Random, lead: float) -> str:
    """Return a vote at a lead in points; some people call a draw."""
    odds = math.exp(lead * math.log(10) / 800)
    (text,) = luck.choices(["1-0", "1/2-1/2", "0-1"], [odds, 0.3, 1 / odds])
    return text


def main() -> None:
    """Write 3,000 questions, of which one in ten is asked in both orders."""
    luck = random.Random(4)
    with Path("votes.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["player_a", "player_b", "result", "question", "words_a", "words_b"])
        for question in range(3000):
            pair = luck.sample(list(STRENGTHS), 2)
            words = [luck.randrange(80, 320) + 40 * (name == "amber") for name in pair]
            for a, b in [(0, 1), (1, 0)][: 2 if question % 10 == 0 else 1]:
                lead = STRENGTHS[pair[a]] - STRENGTHS[pair[b]] + LENGTH * (words[a] - words[b])
                vote = result(luck, lead + FIRST)
                writer.writerow([pair[a], pair[b], vote, f"q{question}", words[a], words[b]])


if __name__ == "__main__":
    main()
