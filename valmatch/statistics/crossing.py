"""Crossings of a level by a curve known with noise, which is pooled to be monotone."""

from __future__ import annotations

import math

import numpy as np

from valmatch.kernels.arrays import Floats, Ints

RESAMPLES = 1_000  # resamples of the replications behind an interval


def monotone(values: Floats, rising: bool) -> Floats:
    """Return the nearest monotone curve: neighbours out of order are pooled (Ayer et al. 1955)."""
    means: list[float] = []
    sizes: list[int] = []
    for value in values.tolist():
        means.append(value)
        sizes.append(1)
        while len(means) > 1 and (means[-2] > means[-1] if rising else means[-2] < means[-1]):
            size = sizes[-2] + sizes[-1]
            means[-2:] = [(sizes[-2] * means[-2] + sizes[-1] * means[-1]) / size]
            sizes[-2:] = [size]
    return np.repeat(means, sizes)


def crossing(games: Ints, values: Floats, goal: float, rising: bool) -> float:
    """Return after how many games a curve over their logarithm reaches a value; inf if never."""
    if not len(values):
        return math.inf
    curve = monotone(values, rising)
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
