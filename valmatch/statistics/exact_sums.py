"""Exact sums of numbers and of their squares, which merge in any order without a rounding."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from valmatch.kernels.arrays import Floats

UNIT = 1074
"""Numbers are whole multiples of 2**-UNIT, as all of float64 are; squares of 2**-(2 * UNIT)."""

_ONE, _SQUARED = 1 << UNIT, 1 << (2 * UNIT)


@dataclass
class ExactSums:
    """The sum of some numbers, and that of their squares, as whole numbers of any size.

    Nothing is rounded before a mean or a deviation is asked for, so that these are the same for
    any division of the numbers into chunks, workers and shards, and as of the numbers themselves.
    """

    # n, undefined: numbers that are there, and those that are NaN
    n: int = 0
    undefined: int = 0
    # total, squares: the sums, in units of 2**-1074 and 2**-2148
    total: int = 0
    squares: int = 0
    # low, high: extremes; infinite where there is no number
    low: float = math.inf
    high: float = -math.inf

    def merge(self, other: ExactSums) -> None:
        """Add the sums of other numbers."""
        self.n += other.n
        self.undefined += other.undefined
        self.total += other.total
        self.squares += other.squares
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)

    @property
    def sum(self) -> float:
        """The sum, rounded once."""
        if self.n and (math.isinf(self.low) or math.isinf(self.high)):
            return self.low + self.high
        return self.total / _ONE

    @property
    def mean(self) -> float:
        """The sum, rounded once, over the number; of some at least."""
        return self.sum / self.n

    @property
    def std(self) -> float:
        """The standard deviation (n - 1), of two at least: the variance is rounded once."""
        if math.isinf(self.low) or math.isinf(self.high):
            return math.nan
        excess = self.n * self.squares - self.total * self.total
        return math.sqrt(excess / (self.n * (self.n - 1) * _SQUARED))

    def count_of(self, high: float, low: float) -> int | None:
        """Return how many are `high` if all others are `low`; None if some lie between them."""
        top, bottom = (_ONE * Fraction(end) for end in (high, low))
        if (top + bottom) * self.total != self.squares + self.n * top * bottom:
            return None  # (x - low) (high - x) is 0 at the ends alone
        return int((self.total - self.n * bottom) / (top - bottom))


@dataclass
class ColumnSums:
    """The exact sums of each column of rows that are not kept."""

    columns: Sequence[ExactSums] = field(default_factory=list)  # one for each column
    n: int = 0  # rows

    @classmethod
    def zeros(cls, width: int) -> ColumnSums:
        """Return the sums over no row."""
        return cls([ExactSums() for _ in range(width)])

    def merge(self, other: ColumnSums) -> None:
        """Add the sums over other rows."""
        self.n += other.n
        for own, further in zip(self.columns, other.columns, strict=True):
            own.merge(further)


def sums_of(values: Floats) -> ExactSums:
    """Return the exact sums of numbers, (n,) float64, NaN where undefined.

    Examples
    --------
    >>> found = sums_of(np.array([1e100, 1.0, -1e100, np.nan]))
    >>> found.n, found.undefined, found.mean
    (3, 1, 0.3333333333333333)
    """
    return column_sums(values.reshape(-1, 1)).columns[0]


def column_sums(rows: Floats) -> ColumnSums:
    """Return the exact sums of each column of rows, (n, width) float64."""
    from valmatch.statistics.limbs import SQUARE_LIMBS, SUM_LIMBS, add_rows

    n, width = rows.shape
    rows = np.ascontiguousarray(rows, np.float64)
    totals = np.zeros((width, SUM_LIMBS), np.int64)
    squares = np.zeros((width, SQUARE_LIMBS), np.int64)
    undefined = np.zeros(width, np.int64)
    ends = np.full((width, 2), math.inf)
    add_rows(rows, rows.view(np.int64), totals, squares, undefined, ends)
    facts = zip(undefined.tolist(), _whole(totals), _whole(squares), ends.tolist(), strict=True)
    return ColumnSums(
        [
            ExactSums(n - missing, missing, total, square, low, -minus_high)
            for missing, total, square, (low, minus_high) in facts
        ],
        n,
    )


def _whole(limbs: NDArray[np.int64]) -> list[int]:
    """Return the numbers that rows of limbs of 32 bits stand for, in two's complement."""
    size = 4 * limbs.shape[1]
    text = limbs.astype("<u4").tobytes()
    starts = range(0, len(text), size)
    return [int.from_bytes(text[k : k + size], "little", signed=True) for k in starts]
