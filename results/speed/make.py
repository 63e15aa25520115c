"""Measure the speed of this machine and write the tables of the README's section on performance.

    python results/speed/make.py

The README says what machine it was.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

README = Path(__file__).parents[2] / "README.md"
BENCHMARKS = "tests/benchmarks/test_valorant_benchmarks.py"
START, END = "<!-- made by results/speed/make.py -->\n", "<!-- end -->\n"

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


def measured() -> Mapping[str, Mapping[str, Any]]:
    """Run the benchmarks; return what each has noted, by its name."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "benchmarks.json")
        options = ["--benchmark-only", "-n", "0", "-q", f"--benchmark-json={out}"]
        subprocess.run([sys.executable, "-m", "pytest", BENCHMARKS, *options], check=True)
        found = json.loads(out.read_text("utf-8"))
    return {one["name"]: one["extra_info"] for one in found["benchmarks"]}


def rounded(number: float) -> str:
    """Return two significant digits."""
    return f"{int(float(f'{number:.2g}')):,}"


def table(*rows: Sequence[str]) -> str:
    """Return rows as Markdown; the first is the header."""
    head, *body = [f"| {' | '.join(row)} |\n" for row in rows]
    return "".join([head, f"|{'---|' * len(rows[0])}\n", *body])


def main() -> None:
    """Measure, and write the tables."""
    found = measured()
    per_second = [
        (title, rounded(found[f"test_replications[{name}]"]["replications_per_second"]))
        for name, title in RULES.items()
    ]
    per_player = [
        rounded(found[f"test_cost_per_player[{k}]"]["nanoseconds_per_player"]) for k in MULTIPLIERS
    ]
    tables = [
        table(("replications of a day of 518 players", "per second"), *per_second),
        table(
            ("rate multiplier", *(f"x{multiplier}" for multiplier in MULTIPLIERS)),
            ("players in a replication", *MULTIPLIERS.values()),
            ("nanoseconds per player", *per_player),
        ),
    ]
    before, *parts = README.read_text("utf-8").split(START)
    after = [part.partition(END)[2] for part in parts]
    for made, rest in zip(tables, after, strict=True):
        before += f"{START}{made}{END}{rest}"
    README.write_text(before, "utf-8")


if __name__ == "__main__":
    main()
