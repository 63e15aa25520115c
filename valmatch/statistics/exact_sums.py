"""Exact sums of numbers and of their squares, without a rounding."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import kernel, part

UNIT = 1074
"""Numbers are whole multiples of 2**-UNIT, as all of float64 are; squares of 2**-(2 * UNIT)."""

_ONE, _SQUARED = 1 << UNIT, 1 << (2 * UNIT)


@dataclass
class ExactSums:
    """The sum of some numbers, and that of their squares, as whole numbers of any size.

    Nothing is rounded before a mean or a deviation is asked for, so that these are the same for
    any order of the numbers.
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


def sums_of(values: Floats) -> ExactSums:
    """Return the exact sums of numbers, (n,) float64, NaN where undefined.

    Examples
    --------
    >>> found = sums_of(np.array([1e100, 1.0, -1e100, np.nan]))
    >>> found.n, found.undefined, found.mean
    (3, 1, 0.3333333333333333)
    """
    values = np.ascontiguousarray(values, np.float64)
    total, squares = np.zeros(SUM_LIMBS, np.int64), np.zeros(SQUARE_LIMBS, np.int64)
    ends = np.array([math.inf, -math.inf])
    undefined = add_numbers(values, values.view(np.int64), total, squares, ends)
    low, high = ends.tolist()
    return ExactSums(len(values) - undefined, undefined, _whole(total), _whole(squares), low, high)


def _whole(limbs: NDArray[np.int64]) -> int:
    """Return the number that limbs of 32 bits stand for, in two's complement."""
    return int.from_bytes(limbs.astype("<u4").tobytes(), "little", signed=True)


# Compiled long addition: floating-point numbers into limbs of 32 bits, without a rounding.

LIMB = 32  # bits of a limb, of which 64 are there: carries can wait for 2**30 numbers
FRACTION = 52  # bits of the fraction of a float64; its exponent follows
HALF = 27  # bits of the lower part of a significand: products of two parts fit in 64 bits

SUM_LIMBS = (2046 + LIMB) // LIMB + 2
SQUARE_LIMBS = (2 * 2046 + 2 * HALF + LIMB) // LIMB + 2


@kernel(allocates=True)
def add_numbers(
    values: Floats,
    bits: NDArray[np.int64],
    total: NDArray[np.int64],
    squares: NDArray[np.int64],
    ends: Floats,
) -> int:
    """Add numbers, fewer than 2**30, to their sums, and return how many of them are undefined."""
    undefined = 0
    for i in range(len(values)):
        value, pattern = values[i], bits[i]
        if value != value:
            undefined += 1
            continue
        ends[0] = min(ends[0], value)
        ends[1] = max(ends[1], value)
        place = (pattern >> FRACTION) & 2047
        if place == 2047:
            continue  # infinite, as its ends say
        significand = pattern & ((1 << FRACTION) - 1)
        if place > 0:
            significand |= 1 << FRACTION
            place -= 1
        sign = -1 if pattern < 0 else 1
        high, low = significand >> HALF, significand & ((1 << HALF) - 1)
        _put(total, place, significand, sign)
        _put(squares, 2 * place, low * low, 1)
        _put(squares, 2 * place + HALF, 2 * low * high, 1)
        _put(squares, 2 * place + 2 * HALF, high * high, 1)
    _carry(total)
    _carry(squares)
    return undefined


@part(inline=True)
def _carry(limbs: NDArray[np.int64]) -> None:
    """Leave 32 bits in each limb."""
    carried = 0
    for k in range(len(limbs)):
        found = limbs[k] + carried
        limbs[k] = found & 0xFFFFFFFF
        carried = found >> LIMB


@part(inline=True)
def _put(limbs: NDArray[np.int64], place: int, value: int, sign: int) -> None:
    """Add sign * value * 2**place, where 0 <= value < 2**62, to limbs."""
    limb, shift = place >> 5, place & 31
    lower = (value & 0xFFFFFFFF) << shift
    upper = (value >> LIMB) << shift
    limbs[limb] += sign * (lower & 0xFFFFFFFF)
    limbs[limb + 1] += sign * ((lower >> LIMB) + (upper & 0xFFFFFFFF))
    limbs[limb + 2] += sign * (upper >> LIMB)
