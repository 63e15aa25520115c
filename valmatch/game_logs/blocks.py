"""Scores of predictions over blocks of games, whose games may depend on each other."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from valmatch.game_logs.scores import (
    BRIER,
    CORRECT,
    DECIDED,
    GAMES,
    LOSS,
    THREE_WAY,
    THREE_WAY_LOSS,
)
from valmatch.kernels.arrays import Floats, Ints
from valmatch.ratings.games import Games
from valmatch.statistics.estimates import limits_of_difference, t_quantile

MEASURES = {
    "log_loss": (LOSS, GAMES),
    "accuracy": (CORRECT, DECIDED),
    "brier_score": (BRIER, GAMES),
}
"""The columns of a tally of which each score is the ratio."""

OF_DRAWS = {"three_way_log_loss": (THREE_WAY_LOSS, THREE_WAY)}
"""The same of scores that a system has that knows draws."""

LIMITS = {"accuracy": (0.0, 1.0), "brier_score": (0.0, 1.0)}
"""The least and the largest value of scores that have both; losses have no largest."""

_MOST = 50  # blocks: enough for an interval, and as long as they can be then
_LEAST = 20  # of the same weight: with fewer whole days, an interval says too little

_DAY = 86400.0


class Difference(NamedTuple):
    """By how much one mean score exceeds another; None where that is not known."""

    mean: float | None  # the difference
    half_width: float | None  # of its 95% interval, by blocks of games, before limits cut it
    limits: tuple[float, float] = (-math.inf, math.inf)  # where the interval ends in any case

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95% interval, which does not leave the limits; None where it is not known."""
        if self.mean is None or self.half_width is None:
            return None
        low, high = self.limits
        return max(low, self.mean - self.half_width), min(high, self.mean + self.half_width)

    @property
    def arms(self) -> tuple[float, float] | None:
        """How far the interval reaches below and above the mean, where limits have cut it."""
        found = self.interval
        if found is None or self.mean is None or self.half_width is None:
            return None
        arms = self.mean - found[0], found[1] - self.mean
        cut = min(arms) < self.half_width * (1.0 - 1e-6) - 1e-9
        return arms if cut else None

    @property
    def above_zero(self) -> bool:
        """Whether all of the interval lies above 0."""
        found = self.interval
        return found is not None and found[0] > 0.0

    def as_dict(self) -> dict[str, float | None]:
        """Return what ``summary.json`` holds."""
        low, high = self.interval or (None, None)
        ends = {"ci_low": low, "ci_high": high}
        return {"mean": self.mean, **ends, "half_width": self.half_width}

    @classmethod
    def read(cls, measure: str, found: Mapping[str, Any], *, of_two: bool) -> Difference:
        """Return what ``summary.json`` holds: a score, or by how much one exceeds another."""
        mean, half = (None if found[k] is None else float(found[k]) for k in ("mean", "half_width"))
        if mean is None or half is None:
            return cls(mean, half)
        limits = LIMITS.get(measure, (0.0, math.inf))
        return cls(mean, half, limits_of_difference(limits) if of_two else limits)


def blocks_of(games: Games, dated: bool) -> list[tuple[int, int]]:
    """Return the first and the last game, exclusive, of each of about equally large blocks.

    They are at most 50. Where the games have dates, no day (UTC) is divided, as long as whole days
    make blocks that weigh as much as 20 of the same size; else days are divided.
    """
    n = games.n_games
    ends = _about_equal(np.arange(1, n + 1), n)
    if dated and n:
        days = np.floor(games.times / _DAY)
        whole = _about_equal(np.append(np.flatnonzero(np.diff(days)) + 1, n), n)
        sizes = np.diff(whole, prepend=0)
        # Blocks of unequal size say as much of the spread as so many of the same size.
        if n * n >= _LEAST * float((sizes.astype(np.float64) ** 2).sum()):
            ends = whole
    starts = [0, *ends[:-1].tolist()]
    return list(zip(starts, ends.tolist(), strict=True))


def _about_equal(ends: Ints, n: int) -> Ints:
    """Return which of the ends that blocks of n games may have leave them about equally large."""
    wanted = n * np.arange(1, _MOST + 1) / _MOST
    return np.unique(ends[np.searchsorted(ends, wanted)])


def difference(measure: str, sums: Floats, others: Floats | None = None) -> Difference:
    """Estimate a mean score, or by how much it exceeds that of other predictions of the same games.

    It is not known where the score is undefined, or is not that of the same games.

    The interval is that of how well these games were predicted by their true probabilities: what
    would be seen if they were played again from the same ratings. It is by the differences between
    successive blocks, not about the mean of all: while ratings are learnt, the score itself
    changes from block to block, which is no uncertainty of its mean (von Neumann, "Distribution of
    the ratio of the mean square successive difference to the variance", 1941; of n blocks such a
    variance has some 2 (n - 1) / 3 degrees of freedom).

    Shapes: `sums`, `others` (blocks, columns).
    """
    column, weight = (MEASURES | OF_DRAWS)[measure]
    weights = sums[:, weight]
    total, n = float(weights.sum()), len(sums)
    if not total or (others is not None and (others[:, weight] != weights).any()):
        return Difference(None, None)
    limits = LIMITS.get(measure, (0.0, math.inf))
    if others is not None:
        limits = limits_of_difference(limits)
    values = sums[:, column] - (0.0 if others is None else others[:, column])
    mean = math.fsum(values.tolist()) / total
    if n < 2:
        return Difference(mean, None)
    excess = values - mean * weights
    spread = math.sqrt(float((np.diff(excess) ** 2).sum()) / 2.0 * n / (n - 1))
    half = t_quantile(0.975, max(1.0, 2.0 * (n - 1) / 3.0)) * spread / total
    return Difference(mean, half, limits)
