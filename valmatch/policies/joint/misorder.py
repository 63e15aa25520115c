"""The probability that two players are named in the wrong order, before and after a game."""

from __future__ import annotations

import math

import numpy as np

from valmatch.kernels.compilation import unallocating
from valmatch.ratings.trueskill import normal_cdf

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)
_HALF_NODES, _HALF_WEIGHTS = _NODES[12:].copy(), _WEIGHTS[12:].copy()
"""Of an even function those of one side do."""


@unallocating
def owen(h: float, slope: float) -> float:
    """Return Owen's T of h >= 0 and a slope in [0, 1] (Owen 1956), right to 1e-15."""
    if h > 9.0:
        return 0.0
    half, total = 0.5 * h * h, 0.0
    for k in range(_HALF_NODES.size):
        t = slope * _HALF_NODES[k]
        square = 1.0 + t * t
        total += _HALF_WEIGHTS[k] * math.exp(-half * square) / square
    return slope * total / (2.0 * math.pi)


@unallocating
def misorder_fall(lead: float, deviation: float, moved: float) -> float:
    """Return by how much the chance of a wrong order falls when something is learnt.

    Notes
    -----
    Now the chance is Phi(-|lead| / deviation). Afterwards it is that of a truth and an estimate of
    different signs, which are normal with correlation rho = moved / deviation: 2 T(a, x), with
    a = |lead| / deviation, x = sqrt(1 - rho^2) / rho, and T of Owen, "Tables for computing
    bivariate normal probabilities" (Annals of Mathematical Statistics 27, 1956).
    """
    if moved <= 0.0 or deviation <= 0.0:
        return 0.0
    a, rho = abs(lead) / deviation, min(moved / deviation, 1.0)
    x = math.sqrt((1.0 - rho) * (1.0 + rho)) / rho
    if x <= 1.0:
        return normal_cdf(-a) - 2.0 * owen(a, x)
    # T(a, x) by T(a x, 1 / x), of which the common terms cancel.
    far = normal_cdf(-a * x)
    return 2.0 * owen(a * x, 1.0 / x) - far * (1.0 - 2.0 * normal_cdf(-a))
