"""The claims over priors: each sample path has a prior of its own, as `kg-study/PLAN.md` says."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import Any

from scipy.special import ndtri

from results.pages import table

Row = dict[str, Any]

SEEDS = {"top": 101, "12": 102, "25": 103, "37": 104, "bottom": 105}
N = 10_000
LATE = "201-500"
FAMILY = 0.95
"""With what the intervals of a setting and an update hold together."""
SHOWN = ("win_fraction", "skill_difference")
"""The measures that the paper's figures show."""


def words(update: str, prior: str, rank: str, rank_by: str) -> list[str]:
    """Return what a run sets."""
    own = [f"update={update}", f"prior={prior}", f"rank={rank}", f"rank_by={rank_by}"]
    return [*own, "prior_draw=path", "ties=random"]


def window_row(folder: Path, measure: str, games: str, policies: Sequence[str]) -> Row:
    """Return the means of the policies, and the last one minus each other one, of a run."""
    summary = json.loads((folder / "summary.json").read_text())
    *rivals, leader = policies
    row: Row = {}
    for policy in policies:
        facts = summary["windows"][policy][measure][games]
        row |= {policy: facts["mean"], f"{policy}_se": facts["std_error"]}
    for rival in rivals:
        facts = summary["paired"][leader][rival][measure][games]
        row |= {f"kg_minus_{rival}": facts["mean"], f"kg_minus_{rival}_se": facts["std_error"]}
    return row


def jitter(folder: Path, policies: Sequence[str], measures: Sequence[str]) -> Iterator[Row]:
    """Yield how much the curves of a run change from game to game, late."""
    curves: dict[tuple[str, str], list[float]] = {key: [] for key in product(policies, measures)}
    first = int(LATE.split("-")[0])
    with (folder / "curves.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            key = row["policy"], row["measure"]
            if key in curves and int(row["game"]) >= first:
                curves[key].append(float(row["mean"]))
    for (policy, measure), values in curves.items():
        steps = [(b - a) ** 2 for a, b in pairwise(values)]
        root = math.sqrt(sum(steps) / len(steps))
        yield {"policy": policy, "measure": measure, "jitter": float(f"{root:.5g}")}


def pooled(
    rows: Sequence[Row], compare: Callable[[Row, str], tuple[float, float]], rival: str
) -> tuple[float, float]:
    """Return the mean of what is compared over independent ranks, and its standard error."""
    found = [compare(row, rival) for row in rows]
    mean = sum(gain for gain, _ in found) / len(found)
    return mean, math.sqrt(sum(error * error for _, error in found)) / len(found)


def verdict(sign: int, gain: float, half: float) -> str:
    """Return what an interval says of a claim."""
    if abs(gain) <= half:
        return "open"
    return "confirmed" if sign * gain > 0 else "refuted"


def half_widths(family: int) -> float:
    """Return how many standard errors half an interval has, of so many that hold together."""
    return float(ndtri(1.0 - (1.0 - FAMILY) / (2 * family)))


def claims_table(claims: Sequence[Row], setting: str, updates: Sequence[str]) -> str:
    """Return the claims of a setting as a table: a row for a claim and a rival."""
    mine = [row for row in claims if row["setting"] == setting]
    names = dict.fromkeys((row["claim"], row["rival"]) for row in mine)
    lines = []
    for claim, rival in names:
        cells = [claim, rival.replace("_", " ")]
        for update in updates:
            (row,) = (
                row
                for row in mine
                if (row["claim"], row["rival"], row["update"]) == (claim, rival, update)
            )
            cells += [f"{row['gain']:+.4f} ± {row['half_width']:.4f}", row["verdict"]]
        lines.append(cells)
    head = ["claim", "against"]
    for update in updates:
        head += [f"{update.replace('_', ' ')}: gain", ""]
    return table(head, lines)


def ranks_table(rows: Sequence[Row], policies: Sequence[str], ranks: Sequence[str]) -> str:
    """Return the late means at middle ranks, with intervals that hold together."""
    width = half_widths(len(policies) * len(ranks) * len(SHOWN))
    lines = []
    for measure, policy in product(SHOWN, policies):
        cells = [measure.replace("_", " "), policy.replace("_", " ")]
        for rank in ranks:
            (row,) = (
                row
                for row in rows
                if (row["setting"], row["update"]) == ("informative", "corrected")
                and (row["measure"], row["games"], row["rank"]) == (measure, LATE, rank)
            )
            cells.append(f"{row[policy]:+.4f} ± {width * row[f'{policy}_se']:.4f}")
        lines.append(cells)
    return table(["measure", "policy", *(f"rank {rank}" for rank in ranks)], lines)


def noise_table(rows: Sequence[Row], settings: Mapping[str, object]) -> str:
    """Return deviations between paths and jitter, as shares of those with informative priors."""
    others = [setting for setting in settings if setting != "informative"]
    lines = []
    for row in rows:
        cells = [row[key].replace("_", " ") for key in ("measure", "policy")]
        for what in ("deviation", "jitter"):
            base = row[f"{what}_informative"]
            cells += [f"{row[f'{what}_{other}'] / base:.2f}" for other in others]
        lines.append(cells)
    head = ["measure", "policy"]
    for what in ("deviation", "jitter"):
        head += [f"{what}, {name}" for name in ("by mean", "by skill")]
    return table(head, lines)
