"""The exponential of negative numbers, to as many digits as choices need."""

from __future__ import annotations

from typing import Final

from valmatch.kernels.compilation import unallocating

ERROR: Final = 1.5e-10  # bound on the absolute error of `exp_minus`


@unallocating
def exp_minus(x: float) -> float:
    """Return exp(-x) for x >= 0 to an absolute error of 1.5e-10, in a form that vectorises.

    It is the 32nd power of the Taylor polynomial of exp(-x / 32). Products of pairs of terms give
    short chains of dependent operations, which is what bounds the speed.
    """
    u = min(x, 32.0) * (-1.0 / 32.0)
    u2 = u * u
    low = (1.0 + u) + u2 * (1.0 / 2.0 + u * (1.0 / 6.0))
    high = (1.0 / 24.0 + u * (1.0 / 120.0)) + u2 * (1.0 / 720.0)
    f = low + (u2 * u2) * high
    f *= f
    f *= f
    f *= f
    f *= f
    return f * f
