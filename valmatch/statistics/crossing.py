"""Crossings of a level by a curve known with noise, which is pooled to be monotone."""

from __future__ import annotations

import math

import numpy as np

from valmatch.kernels.arrays import Floats, Ints

RESAMPLES = 1_000  # resamples of the replications behind an interval


def crossing(games: Ints, values: Floats, goal: float, rising: bool) -> float:
    """Return after how many games a curve over their logarithm reaches a value; inf if never."""
    if not len(values):
        return math.inf
    from scipy.optimize import isotonic_regression  # takes long to import

    curve = isotonic_regression(values, increasing=rising).x
    reached = curve >= goal if rising else curve <= goal
    if not reached.any():
        return math.inf
    k = int(np.argmax(reached))
    if k == 0 or curve[k] == goal:
        return float(games[k])
    share = (goal - curve[k - 1]) / (curve[k] - curve[k - 1])
    return float(games[k - 1] * (games[k] / games[k - 1]) ** share)


def crossing_interval(
    games: Ints, values: Floats, goal: float, rising: bool, level: float, draws: np.random.Generator
) -> tuple[float, float]:
    """Return the interval of `crossing` by resampling the rows of (replications, points) values."""
    n = len(values)
    crossings = np.sort(
        [
            crossing(games, values[draws.integers(0, n, n)].mean(axis=0), goal, rising)
            for _ in range(RESAMPLES)
        ]
    )
    tail = int(0.5 * (1.0 - level) * RESAMPLES)
    return float(crossings[tail]), float(crossings[RESAMPLES - 1 - tail])
