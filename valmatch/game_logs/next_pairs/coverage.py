"""The effect on intervals of choosing pairs by earlier results, as in ``results/next-pair``."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

TABLE = "trial.csv"  # the table of the study


class Measured(NamedTuple):
    """What intervals of 95 % were worth under a policy."""

    # worlds, games: how many worlds of 12 players were played, and how many games in each
    worlds: int
    games: int
    named_best: float  # share in which the leader was the best
    # covered, leader_covered: shares of intervals of differences that held: of all, and of those
    # with the leader
    covered: float
    leader_covered: float
    lead_bias: float  # by how many points the leader's lead came out too large


def table_file() -> Path:
    """Return the table that the figures are from."""
    package = Path(__file__).parents[2]
    # Installed, it lies inside the package, beside the configs.
    inside = package / "configs" / "next-pair.csv"
    return inside if inside.is_file() else package.parent / "results" / "next-pair" / TABLE


def measured() -> dict[tuple[str, str], Measured]:
    """Return what was measured, by policy and goal; the goal of most policies is empty."""
    with table_file().open(encoding="utf-8", newline="") as file:
        return {
            (row["policy"], row["goal"]): Measured(
                int(row["worlds"]),
                int(row["games"]),
                *(float(row[name]) for name in Measured._fields[2:]),
            )
            for row in csv.DictReader(file)
        }


def caution(policy: str, goal: str) -> str:
    """Say what choosing does to intervals under a policy; `goal` is empty unless it has one."""
    found = measured().get((policy, goal))
    name = f"{policy} ({goal})" if goal else policy
    start = "Pairs chosen by earlier results are no random sample, so that intervals can be wrong"
    if found is None:
        return f"{start}; by how much under {name} has not been measured."
    return (
        f"{start}: under {name} 95 % intervals of the leader's differences held in"
        f" {found.leader_covered:.0%} of cases, and his lead came out {found.lead_bias:.0f} points"
        f" too large ({found.worlds:,} worlds of 12 players, {found.games:,} games each;"
        " results/next-pair)."
    )
