"""Exact sums of numbers and of their squares, without a rounding."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import kernel, part

# Numbers are whole multiples of 2**-UNIT, as all of float64 are; squares of 2**-(2 * UNIT).
UNIT = 1074

_ONE, _SQUARED = 1 << UNIT, 1 << (2 * UNIT)


@dataclass
class ExactSums:
    """The sum of some numbers, and that of their squares, before anything is rounded."""

    n: int = 0  # numbers that are there
    undefined: int = 0  # those that are NaN
    total: int = 0  # the sum, in units of 2**-1074
    squares: int = 0  # in units of 2**-2148
    low: float = math.inf  # extremes; infinite where there is no number
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
    """Return the exact sums of numbers, of which those that are NaN are undefined."""
    values = np.ascontiguousarray(values, np.float64)
    total, squares = np.zeros(SUM_LIMBS, np.int64), np.zeros(SQUARE_LIMBS, np.int64)
    ends = np.array([math.inf, -math.inf])
    undefined = add_numbers(values, values.view(np.int64), total, squares, ends)
    low, high = ends.tolist()
    return ExactSums(
        len(values) - undefined, undefined, _integer(total), _integer(squares), low, high
    )


def _integer(limbs: NDArray[np.int64]) -> int:
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
        exponent = (pattern >> FRACTION) & 2047
        if exponent == 2047:
            continue  # infinite, as its ends say
        significand = pattern & ((1 << FRACTION) - 1)
        if exponent > 0:
            significand |= 1 << FRACTION
            exponent -= 1
        sign = -1 if pattern < 0 else 1
        high, low = significand >> HALF, significand & ((1 << HALF) - 1)
        _put(total, exponent, significand, sign)
        _put(squares, 2 * exponent, low * low, 1)
        _put(squares, 2 * exponent + HALF, 2 * low * high, 1)
        _put(squares, 2 * exponent + 2 * HALF, high * high, 1)
    _carry(total)
    _carry(squares)
    return undefined


@part(inline=True)
def _carry(limbs: NDArray[np.int64]) -> None:
    """Leave 32 bits in each limb."""
    carried = 0
    for k in range(len(limbs)):
        limb = limbs[k] + carried
        limbs[k] = limb & 0xFFFFFFFF
        carried = limb >> LIMB


@part(inline=True)
def _put(limbs: NDArray[np.int64], exponent: int, value: int, sign: int) -> None:
    """Add sign * value * 2**exponent, where 0 <= value < 2**62, to limbs."""
    limb, shift = exponent >> 5, exponent & 31
    lower = (value & 0xFFFFFFFF) << shift
    upper = (value >> LIMB) << shift
    limbs[limb] += sign * (lower & 0xFFFFFFFF)
    limbs[limb + 1] += sign * ((lower >> LIMB) + (upper & 0xFFFFFFFF))
    limbs[limb + 2] += sign * (upper >> LIMB)
