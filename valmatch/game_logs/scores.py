"""Scores of predicted games: accuracy, log loss, Brier score, calibration."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import inlined
from valmatch.ratings.games import Assessment, Games, unassessed

# Columns of a tally, one row of which adds up all games, the other those after the burn-in.
(
    GAMES,
    DECIDED,
    CORRECT,
    LOSS,
    LOSS_SQUARED,
    BRIER,
    THREE_WAY,
    THREE_WAY_LOSS,
    FIRST_BIN,
) = range(9)
TALLIES = ("all", "after_burn_in")

_BINS = 10  # of the favourite's expected score, from 0.5 to 1
Z = 1.96  # standard errors to either end of an interval of 95 %
_LEAST = 1e-15  # a certain prediction that fails costs -ln of this, not infinity


def new_tally() -> Floats:
    """Return an empty tally."""
    return np.zeros((len(TALLIES), FIRST_BIN + 3 * _BINS))


@inlined
def note_pair(
    tally: Floats, rows: int, expected: float, draw: float, score: float, weight: float
) -> float:
    """Note the prediction of one pair of sides; return its log loss.

    Shapes: `tally` (2, columns).
    """
    if expected < 0.5:
        expected, score = 1.0 - expected, 1.0 - score
    if draw == draw:
        _note_result(tally, rows, expected, draw, score, weight)
    # Without a favourite a prediction is half right, whichever side is named first.
    observed = 0.5 if expected == 0.5 else score
    column = FIRST_BIN + 3 * min(int((expected - 0.5) * 2 * _BINS), _BINS - 1)
    risk = expected - score
    for row in range(rows):
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


@inlined
def _note_result(
    tally: Floats, rows: int, expected: float, draw: float, score: float, weight: float
) -> None:
    """Note how likely the result of a pair of sides was, with draws as results of their own."""
    likely = draw
    if score == 1.0:
        likely = expected - 0.5 * draw
    elif score == 0.0:
        likely = 1.0 - expected - 0.5 * draw
    loss = -math.log(max(likely, _LEAST))
    for row in range(rows):
        tally[row, THREE_WAY] += weight
        tally[row, THREE_WAY_LOSS] += weight * loss


@inlined
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
    """How well some games were predicted from the ratings before them.

    A game of more than two sides counts as the mean over its pairs of sides.
    """

    games: int  # number of games
    decided: float  # games that were not drawn
    # share of the decided games that the favourite won (no favourite: half); None if none was
    # decided
    accuracy: float | None
    # mean of -(s ln p + (1 - s) ln(1 - p)), s the score (a draw is 0.5) and p the expected score;
    # None without a game
    log_loss: float | None
    # its standard error, by the spread over games; None below two games
    log_loss_std_error: float | None
    brier_score: float | None  # mean of (p - s)^2; None without a game
    calibration: tuple[CalibrationBin, ...]  # bins that hold a prediction
    # mean of -ln of the probability that the result had, a win, a draw or a loss; None of a system
    # that knows no draws
    three_way_log_loss: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as ``summary.json`` holds them."""
        found = asdict(self)
        if self.three_way_log_loss is None:
            del found["three_way_log_loss"]
        return found

    @classmethod
    def read(cls, found: Mapping[str, Any]) -> Scores:
        """Return what ``summary.json`` holds."""
        bins = [CalibrationBin(*map(float, one.values())) for one in found["calibration"]]
        own = ("accuracy", "log_loss", "log_loss_std_error", "brier_score", "three_way_log_loss")
        known: dict[str, Any] = {k: None if found.get(k) is None else float(found[k]) for k in own}
        games, decided = int(found["games"]), float(found["decided"])
        return cls(games, decided, calibration=tuple(bins), **known)


def scores(row: Floats) -> Scores:
    """Return what one row of a tally says."""
    sums = row[:FIRST_BIN].tolist()
    n, decided, three_way = sums[GAMES], sums[DECIDED], sums[THREE_WAY]
    bins = []
    for k, (weight, predicted, observed) in enumerate(row[FIRST_BIN:].reshape(-1, 3).tolist()):
        if weight:
            low, high = (round(0.5 + side / (2 * _BINS), 10) for side in (k, k + 1))
            bins.append(CalibrationBin(low, high, weight, predicted / weight, observed / weight))
    std_error = None
    if n > 1:
        variance = max(0.0, sums[LOSS_SQUARED] - sums[LOSS] ** 2 / n) / (n - 1)
        std_error = math.sqrt(variance / n)
    return Scores(
        games=int(n),
        decided=decided,
        accuracy=sums[CORRECT] / decided if decided else None,
        log_loss=sums[LOSS] / n if n else None,
        log_loss_std_error=std_error,
        brier_score=sums[BRIER] / n if n else None,
        calibration=tuple(bins),
        three_way_log_loss=sums[THREE_WAY_LOSS] / three_way if three_way else None,
    )


class Played(NamedTuple):
    """What came of some games, filled as they are played."""

    tally: Floats  # (2, columns) sums over predictions, see `new_tally`
    losses: Floats  # (games,) log loss of each game
    # before, after: (rows,) rating of each player before and after the game
    before: Floats
    after: Floats
    found: Assessment  # what the system worked out


def unplayed(games: Games, tally: Floats) -> Played:
    """Return the arrays for what will come of some games."""
    rows = len(games.players)
    return Played(tally, np.empty(games.n_games), np.empty(rows), np.empty(rows), unassessed(games))
