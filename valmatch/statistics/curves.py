"""Curves over replications: sums in whatever order, and where they cross a level."""

import math

import numpy as np
from numpy.typing import NDArray

from valmatch.kernels.arrays import Floats, Ints


class CurveSums:
    """Sums of curves over replications, rounded so that no order of addition changes them."""

    # Every value is added as a whole number of these: one up to 40 in size a million times. NaN is
    # a value that a replication does not define.
    UNIT = 2.0**-32

    def __init__(
        self,
        n: int,
        total: NDArray[np.int64],
        squares: NDArray[np.int64],
        defined: NDArray[np.int64] | None = None,
    ) -> None:
        # replications; sums of the values and of their squares, in units
        self.n, self.total, self.squares = n, total, squares
        # replications that define each value: all of them if it is not given
        self.defined = np.full(total.shape, n, np.int64) if defined is None else defined

    @classmethod
    def zeros(cls, shape: tuple[int, ...]) -> "CurveSums":
        """Return the sums over no replication."""
        return cls(0, np.zeros(shape, np.int64), np.zeros(shape, np.int64))

    def add(self, values: Floats) -> None:
        """Add the curves of one replication."""
        self.n += 1
        known = ~np.isnan(values)
        values = np.where(known, values, 0.0)
        self.defined += known
        self.total += np.rint(values / self.UNIT).astype(np.int64)
        self.squares += np.rint(values * values / self.UNIT).astype(np.int64)

    def merge(self, other: "CurveSums") -> None:
        """Add the sums over other replications."""
        self.n += other.n
        self.total += other.total
        self.squares += other.squares
        self.defined += other.defined

    @property
    def mean(self) -> Floats:
        """Mean over the replications that define a value; NaN over none."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.total * self.UNIT / self.defined)

    @property
    def std_error(self) -> Floats:
        """Standard error of the mean; NaN over fewer than two replications."""
        n = self.defined
        excess = self.squares * self.UNIT - n * self.mean**2
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(n < 2, np.nan, np.sqrt(np.maximum(excess, 0.0) / (n - 1) / n))


# Crossings of a level by a curve known with noise, which is pooled to be monotone.

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
