"""Compiled long addition: floating-point numbers into limbs of 32 bits, without a rounding."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import inlined, njit

LIMB = 32  # bits of a limb, of which 64 are there: carries can wait for 2**30 numbers
FRACTION = 52  # bits of the fraction of a float64; its exponent follows
HALF = 27  # bits of the lower part of a significand: products of two parts fit in 64 bits

SUM_LIMBS = (2046 + LIMB) // LIMB + 2
SQUARE_LIMBS = (2 * 2046 + 2 * HALF + LIMB) // LIMB + 2


@njit
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


@inlined
def _carry(limbs: NDArray[np.int64]) -> None:
    """Leave 32 bits in each limb."""
    carried = 0
    for k in range(len(limbs)):
        found = limbs[k] + carried
        limbs[k] = found & 0xFFFFFFFF
        carried = found >> LIMB


@inlined
def _put(limbs: NDArray[np.int64], place: int, value: int, sign: int) -> None:
    """Add sign * value * 2**place, where 0 <= value < 2**62, to limbs."""
    limb, shift = place >> 5, place & 31
    lower = (value & 0xFFFFFFFF) << shift
    upper = (value >> LIMB) << shift
    limbs[limb] += sign * (lower & 0xFFFFFFFF)
    limbs[limb + 1] += sign * ((lower >> LIMB) + (upper & 0xFFFFFFFF))
    limbs[limb + 2] += sign * (upper >> LIMB)
