"""Scores of predictions over blocks of games, whose games may depend on each other."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.game_logs.games import Games
from valmatch.game_logs.scores import (
    BRIER,
    CORRECT,
    DECIDED,
    GAMES,
    LOSS,
    THREE_WAY,
    THREE_WAY_LOSS,
)
from valmatch.statistics.estimates import t_quantile

__all__ = ["MEASURES", "OF_DRAWS", "Difference", "blocks_of", "difference"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MEASURES = {
    "log_loss": (LOSS, GAMES),
    "accuracy": (CORRECT, DECIDED),
    "brier_score": (BRIER, GAMES),
}
"""The columns of a tally of which each score is the ratio."""

OF_DRAWS = {"three_way_log_loss": (THREE_WAY_LOSS, THREE_WAY)}
"""The same of scores that a system has that knows draws."""

_MOST = 50  # blocks: enough for an interval, and as long as they can be then

_DAY = 86400.0


class Difference(NamedTuple):
    """By how much one mean score exceeds another; None where that is not known.

    Attributes
    ----------
    mean : float or None
        The difference.
    half_width : float or None
        Of its 95% interval, by the spread over blocks of games.
    """

    mean: float | None
    half_width: float | None

    def as_dict(self) -> dict[str, float | None]:
        """Return what ``summary.json`` holds."""
        if self.mean is None or self.half_width is None:
            return {"mean": self.mean, "ci_low": None, "ci_high": None}
        low, high = self.mean - self.half_width, self.mean + self.half_width
        return {"mean": self.mean, "ci_low": low, "ci_high": high}


def blocks_of(games: Games, dated: bool) -> list[tuple[int, int]]:
    """Return the first and the last game, exclusive, of each of about equally large blocks.

    Parameters
    ----------
    games : Games
        Games in play order.
    dated : bool
        Whether their times are in seconds since 1970; then no day (UTC) is divided.
    """
    n = games.n_games
    ends = np.arange(1, n + 1)
    if dated:
        days = np.floor(games.times / _DAY)
        ends = np.append(np.flatnonzero(np.diff(days)) + 1, n)
    wanted = n * np.arange(1, _MOST + 1) / _MOST
    ends = np.unique(ends[np.searchsorted(ends, wanted)])
    starts = [0, *ends[:-1].tolist()]
    return list(zip(starts, ends.tolist(), strict=True))


def difference(measure: str, sums: Floats, others: Floats | None = None) -> Difference:
    """Estimate a mean score, or by how much it exceeds that of other predictions of the same games.

    It is not known where the score is undefined, or is not that of the same games.

    Parameters
    ----------
    measure : str
        One of `MEASURES` or `OF_DRAWS`.
    sums, others : (blocks, columns) ndarrays of float64
        Sums of a tally over the games of each block.
    """
    column, weight = (MEASURES | OF_DRAWS)[measure]
    weights = sums[:, weight]
    total, n = float(weights.sum()), len(sums)
    if not total or (others is not None and (others[:, weight] != weights).any()):
        return Difference(None, None)
    values = sums[:, column] - (0.0 if others is None else others[:, column])
    mean = math.fsum(values.tolist()) / total
    if n < 2:
        return Difference(mean, None)
    spread = math.sqrt(float(((values - mean * weights) ** 2).sum()) * n / (n - 1))
    return Difference(mean, t_quantile(0.975, n - 1) * spread / total)
