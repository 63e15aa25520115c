"""Forecasts of games, put together of the chances of their sides against each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from valmatch.game_logs.prediction.fixtures import Fixture
from valmatch.kernels.arrays import Floats
from valmatch.ratings.system import Chances

_LEAST = 1e-300  # of a probability by which others are divided


class Forecast(NamedTuple):
    """How a game will end."""

    fixture: Fixture  # the game
    # (sides,); probability of each side to win. Of more than two sides, from the expected scores
    # p_ij between each two of them: proportional to 1 / (1 + sum_j p_ji / p_ij), which is Luce's
    # rule where there is one behind them. NaN where the ratings say nothing of the game, as all
    # below
    wins: Floats
    draw: float  # probability of a draw; NaN where the system knows none, or of more than two sides
    # low, high: (sides,); ends of the 95% interval of the probability to win, by how little is
    # known of the players; NaN where the system knows no uncertainty
    low: Floats
    high: Floats
    # (sides,); mean expected score against the other sides, as ``history.csv`` has it
    expected: Floats
    newcomers: Sequence[str]  # players without a rating


def undefined(fixture: Fixture, newcomers: Sequence[str]) -> Forecast:
    """Return the forecast of a game of which the ratings say nothing."""
    nothing = np.full(len(fixture.sides), np.nan)
    return Forecast(fixture, nothing, np.nan, nothing, nothing, nothing, newcomers)


def of_sides(fixture: Fixture, chances: Chances, newcomers: Sequence[str]) -> Forecast:
    """Return the forecast of a fixture from those of each of its sides against each other one."""
    n = len(fixture.sides)
    expected, wins, draws, low, high = (column.reshape(n, n - 1) for column in chances)
    if n == 2:
        found, draw = [wins[:, 0], low[:, 0], high[:, 0]], float(draws[0, 0])
    else:
        half = np.nan_to_num(draws) / 2.0
        first, lowest, highest = map(_first_of_many, (expected, low + half, high + half))
        found, draw = [first / first.sum(), lowest, highest], np.nan
    won, low, high = found
    return Forecast(fixture, won, draw, low, high, expected.mean(axis=1), newcomers)


def _first_of_many(scores: Floats) -> Floats:
    """Return how likely each side comes first, from its expected scores against the others."""
    likely: Floats = 1.0 / (1.0 + ((1.0 - scores) / np.maximum(scores, _LEAST)).sum(axis=1))
    return likely
