"""Exact sums of numbers and of their squares, without a rounding."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from valmatch.kernels.arrays import Floats

UNIT = 1074 + 53  # numbers are whole multiples of 2**-UNIT, squares of 2**-(2 * UNIT)

_ONE, _SQUARED = 1 << UNIT, 1 << (2 * UNIT)


@dataclass
class ExactSums:
    """The sum of some numbers, and that of their squares, before anything is rounded."""

    n: int = 0  # numbers that are there
    undefined: int = 0  # those that are NaN
    total: int = 0  # the sum, in units of 2**-UNIT
    squares: int = 0  # in units of 2**-(2 * UNIT)
    low: float = math.inf  # extremes; infinite where there is no number
    high: float = -math.inf

    @property
    def mean(self) -> float:
        """The sum, rounded once, over the number; of some at least."""
        if math.isinf(self.low) or math.isinf(self.high):
            return self.low + self.high
        return self.total / _ONE / self.n

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


def sums_of(values: Floats) -> ExactSums:
    """Return the exact sums of numbers, of which those that are NaN are undefined."""
    known = values[~np.isnan(values)]
    sums = ExactSums(len(known), len(values) - len(known))
    sums.low, sums.high = float(known.min(initial=math.inf)), float(known.max(initial=-math.inf))
    significands, exponents = np.frexp(known[np.isfinite(known)])
    integers = np.ldexp(significands, 53).astype(np.int64)
    for exponent in np.unique(exponents).tolist():
        alike, shift = integers[exponents == exponent].tolist(), exponent - 53 + UNIT
        sums.total += sum(alike) << shift
        sums.squares += sum(x * x for x in alike) << 2 * shift
    return sums
