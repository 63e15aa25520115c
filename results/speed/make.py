"""Measure the speed of this machine and write the tables of the page on performance.

    python results/speed/make.py

takes a few minutes. The page says what machine it was; pytest says what is measured.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from results.pages import fill, parser, table

PAGE = Path(__file__).parents[2] / "docs" / "performance.md"
BENCHMARKS = (
    "tests/benchmarks/test_valorant_benchmarks.py",
    "tests/benchmarks/test_ladder_benchmarks.py",
    "tests/benchmarks/test_ticket_benchmarks.py",
    "tests/benchmarks/test_rule_set_benchmarks.py",
)

RULES = {
    "team_first": "`team_first`, defaults",
    "start": "`team_first`, starting solution",
    "continuous": "`team_first`, continuous review",
    "joint": "`joint`, defaults",
    "start-joint": "`joint`, starting solution",
    "published": "`joint`, the published rule",
}
MULTIPLIERS = {1: "518", 10: "5,180", 100: "51,800", 1000: "518,000", 10000: "5.2 million"}
"""Expected players of a default day by rate multiplier."""

LADDERS = {1_000: "1,000", 10_000: "10,000", 100_000: "100,000", 1_000_000: "1 million"}
"""Players of a ladder."""

TICKETS = {
    "150 waiting": "about 100 wait, up to 150",
    "1,000 waiting": "about 1,000 wait",
    "50 rules": "50 rules, about 100 wait",
    "150 waiting, counted": "about 100 wait, verdicts counted",
    "1,000 waiting, counted": "about 1,000 wait, verdicts counted",
    "50 rules, counted": "50 rules, about 100 wait, verdicts counted",
}
"""Settings of the benchmarks of tickets."""


def measured() -> Mapping[str, Mapping[str, Any]]:
    """Run the benchmarks; return what each has noted, by its name."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "benchmarks.json")
        options = ["--benchmark-only", "-n", "0", "-q", f"--benchmark-json={out}"]
        subprocess.run([sys.executable, "-m", "pytest", *BENCHMARKS, *options], check=True)
        found = json.loads(out.read_text("utf-8"))
    return {one["name"]: one["extra_info"] for one in found["benchmarks"]}


def rounded(number: float) -> str:
    """Return two significant digits."""
    return f"{int(float(f'{number:.2g}')):,}"


def main() -> None:
    """Measure, and write the tables."""
    parser(__doc__).parse_args()
    found = measured()
    per_second = [
        (title, rounded(found[f"test_replications[{name}]"]["replications_per_second"]))
        for name, title in RULES.items()
    ]
    per_player = [
        rounded(found[f"test_cost_per_player[{k}]"]["nanoseconds_per_player"]) for k in MULTIPLIERS
    ]
    players = ["players in a replication", *MULTIPLIERS.values()]
    per_game = [
        rounded(found[f"test_a_players_game[{players}]"]["nanoseconds_per_game"])
        for players in LADDERS
    ]
    tickets = [
        (title, rounded(found[f"test_a_stream_of_tickets[{name}]"]["tickets_per_second"]))
        for name, title in TICKETS.items()
    ]
    once = found["test_one_pass_over_10_000_who_wait"]["seconds"]
    texts = {
        "tickets per second": table(["two teams of five, parties", "tickets per second"], tickets),
        "one pass": f"{once:.2g}",
        "a check": rounded(found["test_a_check_of_60_kilobytes"]["milliseconds"]),
        "replications per second": table(
            ["replications of a day of 518 players", "per second"], per_second
        ),
        "time per player": table(
            ["rate multiplier", *(f"x{multiplier}" for multiplier in MULTIPLIERS)],
            [players, ["nanoseconds per player", *per_player]],
        ),
        "time per game": table(
            ["players of a ladder", *LADDERS.values()],
            [["nanoseconds per player and game", *per_game]],
        ),
    }
    fill(PAGE, texts)


if __name__ == "__main__":
    main()
