"""Curves over the games of a player, read from the folder of a run."""

from __future__ import annotations

from typing import NamedTuple

from valmatch.errors import InputError
from valmatch.kernels.arrays import Floats
from valmatch.present.source import RunFiles


class Curve(NamedTuple):
    """Means over the replications, game by game."""

    n: Floats  # number of replications that define each game
    # mean, error: mean and standard error at each game
    mean: Floats
    error: Floats


def read_curves(run: RunFiles) -> dict[tuple[str, str], Curve]:
    """Return the curve of each (policy, measure)."""
    table = run.table("curves.csv", ("n", "mean", "std_error"), ("policy", "measure"))
    rows: dict[tuple[str, str], list[int]] = {}
    for row, key in enumerate(zip(*table.texts.values(), strict=True)):
        rows.setdefault(key, []).append(row)
    if not rows:
        raise InputError(f"{table.path}: holds no curves")
    n, means, errors = table.numbers.values()
    return {key: Curve(n[at], means[at], errors[at]) for key, at in rows.items()}
