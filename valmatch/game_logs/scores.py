"""Scores of predicted games: accuracy, log loss, Brier score, calibration."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import part
from valmatch.ratings.games import Assessment, Games, unassessed
from valmatch.statistics.estimates import limits_of_difference, t_quantile

# Columns of a tally, one row of which adds up all games, the other those after the burn-in.
GAMES, DECIDED, CORRECT, LOSS, LOSS_SQUARED, BRIER, THREE_WAY, THREE_WAY_LOSS, FIRST_BIN = range(9)
TALLIES = ("all", "after_burn_in")

MEASURES = {
    "log_loss": (LOSS, GAMES),
    "accuracy": (CORRECT, DECIDED),
    "brier_score": (BRIER, GAMES),
}
"""The columns of a tally of which each score is the ratio."""

OF_DRAWS = {"three_way_log_loss": (THREE_WAY_LOSS, THREE_WAY)}
"""The same of scores that a system has that knows draws."""

_BINS = 10  # of the favourite's expected score, from 0.5 to 1
Z = 1.96  # standard errors to either end of an interval of 95 %
_LEAST = 1e-15  # a certain prediction that fails costs -ln of this, not infinity


def new_tally() -> Floats:
    """Return an empty tally."""
    return np.zeros((len(TALLIES), FIRST_BIN + 3 * _BINS))


@part(inline=True)
def note_pair(
    tally: Floats, rows: int, expected: float, draw: float, score: float, weight: float
) -> float:
    """Note the prediction of one pair of sides; return its log loss."""
    # Shapes: `tally` (2, columns).
    if expected < 0.5:
        expected, score = 1.0 - expected, 1.0 - score
    # Of a system that knows draws: how likely the result was, with draws as results of their own.
    likely = draw
    if score == 1.0:
        likely = expected - 0.5 * draw
    elif score == 0.0:
        likely = 1.0 - expected - 0.5 * draw
    # Without a favourite a prediction is half right, whichever side is named first.
    observed = 0.5 if expected == 0.5 else score
    column = FIRST_BIN + 3 * min(int((expected - 0.5) * 2 * _BINS), _BINS - 1)
    risk = expected - score
    for row in range(rows):
        if draw == draw:
            tally[row, THREE_WAY] += weight
            tally[row, THREE_WAY_LOSS] += weight * -math.log(max(likely, _LEAST))
        if score != 0.5:
            tally[row, DECIDED] += weight
            tally[row, CORRECT] += weight * observed
        tally[row, BRIER] += weight * risk * risk
        tally[row, column] += weight
        tally[row, column + 1] += weight * expected
        tally[row, column + 2] += weight * observed
    upper = math.log(max(expected, _LEAST))
    lower = math.log(max(1.0 - expected, _LEAST))
    return -(score * upper + (1.0 - score) * lower)


@part(inline=True)
def note_game(tally: Floats, rows: int, loss: float) -> None:
    """Note a game by the mean log loss of its pairs."""
    for row in range(rows):
        tally[row, GAMES] += 1.0
        tally[row, LOSS] += loss
        tally[row, LOSS_SQUARED] += loss * loss


@dataclass(frozen=True)
class CalibrationBin:
    """Predictions of about the same expected score, each from the favourite's side."""

    # low, high: limits of the expected score
    low: float
    high: float
    games: float  # weight of the predictions; a game of many sides spreads a weight of 1
    predicted: float  # mean expected score
    observed: float  # mean score

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95% interval of the mean score."""
        n, share = self.games, self.observed
        centre = (share + Z * Z / (2 * n)) / (1 + Z * Z / n)
        half = Z / (1 + Z * Z / n) * math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
        return centre - half, centre + half


@dataclass(frozen=True)
class Scores:
    """How well games were predicted; one of many sides counts as the mean over pairs of sides."""

    games: int  # number of games
    decided: float  # games that were not drawn
    accuracy: float | None  # share of these that the favourite won (no favourite: half)
    # mean of -(s ln p + (1 - s) ln(1 - p)), s the score (a draw is 0.5) and p the expected score;
    # None without a game
    log_loss: float | None
    log_loss_std_error: float | None  # by the spread over games; None below two games
    brier_score: float | None  # mean of (p - s)^2; None without a game
    calibration: tuple[CalibrationBin, ...]  # bins that hold a prediction
    # mean of -ln of the probability of the result (win, draw, loss); None without known draws
    three_way_log_loss: float | None = None


def scores(row: Floats) -> Scores:
    """Return what one row of a tally says."""
    sums, bins = row[:FIRST_BIN].tolist(), []

    for k, (weight, predicted, observed) in enumerate(row[FIRST_BIN:].reshape(-1, 3).tolist()):
        if weight:
            low, high = (round(0.5 + side / (2 * _BINS), 10) for side in (k, k + 1))
            bins.append(CalibrationBin(low, high, weight, predicted / weight, observed / weight))
    ratios = {
        name: sums[column] / sums[weight] if sums[weight] else None
        for name, (column, weight) in (MEASURES | OF_DRAWS).items()
    }
    std_error, n = None, sums[GAMES]
    if n > 1:
        variance = max(0.0, sums[LOSS_SQUARED] - sums[LOSS] ** 2 / n) / (n - 1)
        std_error = math.sqrt(variance / n)
    return Scores(
        games=int(n),
        decided=sums[DECIDED],
        log_loss_std_error=std_error,
        calibration=tuple(bins),
        **ratios,
    )


class Played(NamedTuple):
    """What came of some games, filled as they are played."""

    tally: Floats  # (2, columns) sums over predictions, see `new_tally`
    losses: Floats  # (games,) log loss of each game
    # before, after: (rows,) rating of each player before and after the game
    before: Floats
    after: Floats
    assessed: Assessment  # what the system worked out


def unplayed(games: Games, tally: Floats) -> Played:
    """Return the arrays for what will come of some games."""
    rows = len(games.players)
    return Played(tally, np.empty(games.n_games), np.empty(rows), np.empty(rows), unassessed(games))


# Scores of predictions over blocks of games, whose games may depend on each other.

LIMITS = {"accuracy": (0.0, 1.0), "brier_score": (0.0, 1.0)}
"""The least and the largest value of scores that have both; losses have no largest."""

_MOST = 50  # blocks: enough for an interval, and as long as they can be then
_FEWEST = 20  # of the same weight: with fewer whole days, an interval says too little

_DAY = 86400.0


@dataclass(frozen=True)
class Difference:
    """A mean score, or by how much it exceeds another; None where that is not known."""

    mean: float | None
    # ends of its 95% interval by blocks, cut by limits of the score; half of its width before
    ci_low: float | None
    ci_high: float | None
    half_width: float | None

    @property
    def arms(self) -> tuple[float, float] | None:
        """How far the interval reaches below and above the mean, where limits have cut it."""
        if self.mean is None or self.ci_low is None or self.ci_high is None:
            return None
        arms = self.mean - self.ci_low, self.ci_high - self.mean
        return arms if min(arms) < (self.half_width or 0.0) * (1.0 - 1e-6) - 1e-9 else None

    @property
    def above_zero(self) -> bool:
        """Whether all of the interval lies above 0."""
        return self.ci_low is not None and self.ci_low > 0.0


def blocks_of(games: Games, dated: bool) -> list[tuple[int, int]]:
    """Return the first and last game, exclusive, of equal blocks, of whole days if possible."""
    n = games.n_games
    ends = _about_equal(np.arange(1, n + 1), n)
    if dated and n:
        days = np.floor(games.times / _DAY)
        of_days = _about_equal(np.append(np.flatnonzero(np.diff(days)) + 1, n), n)
        sizes = np.diff(of_days, prepend=0)
        # Blocks of unequal size say as much of the spread as so many of the same size.
        if n * n >= _FEWEST * float((sizes.astype(np.float64) ** 2).sum()):
            ends = of_days
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
        return Difference(None, None, None, None)
    limits = LIMITS.get(measure, (0.0, math.inf))
    if others is not None:
        limits = limits_of_difference(limits)
    values = sums[:, column] - (0.0 if others is None else others[:, column])
    mean = math.fsum(values.tolist()) / total
    if n < 2:
        return Difference(mean, None, None, None)
    excess = values - mean * weights
    spread = math.sqrt(float((np.diff(excess) ** 2).sum()) / 2.0 * n / (n - 1))
    half = t_quantile(0.975, max(1.0, 2.0 * (n - 1) / 3.0)) * spread / total
    return Difference(mean, max(limits[0], mean - half), min(limits[1], mean + half), half)
