"""Quantiles of the studentized range (Tukey 1953), for statements that hold together."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import chdtri, gammaln, ndtr

from valmatch.kernels.arrays import Floats

_GRID = np.linspace(-9.0, 9.0, 451)
_DENSITY = np.exp(-0.5 * _GRID**2) / math.sqrt(2.0 * math.pi)
_BELOW = ndtr(_GRID)


def _range_below(widths: Floats, n: int) -> Floats:
    """Return how likely `n` standard normal numbers lie within each of some widths."""
    within = np.maximum(_BELOW - ndtr(_GRID - widths[:, np.newaxis]), 0.0)
    # The sum is as good as the integral: all derivatives vanish at both ends.
    found: Floats = n * (within ** (n - 1)) @ _DENSITY * (_GRID[1] - _GRID[0])
    return found


def _scales(degrees: float) -> tuple[Floats, Floats]:
    """Return nodes and weights of the standard deviation that is estimated from so many degrees."""
    low, high = (math.sqrt(float(chdtri(degrees, tail)) / degrees) for tail in (1 - 1e-12, 1e-15))
    nodes, weights = np.polynomial.legendre.leggauss(160)
    scales = low + 0.5 * (high - low) * (nodes + 1.0)
    log = 0.5 * degrees * math.log(degrees) - gammaln(0.5 * degrees)
    log = log - (0.5 * degrees - 1.0) * math.log(2.0)
    density = np.exp(log + (degrees - 1.0) * np.log(scales) - 0.5 * degrees * scales**2)
    return scales, 0.5 * (high - low) * weights * density


def quantile(level: float, n: int, degrees: float = math.inf) -> float:
    """Return the quantile of the range of `n` normal means over their estimated deviation.

    Examples
    --------
    >>> round(quantile(0.95, 3, 10), 3), round(quantile(0.95, 2), 3)
    (3.877, 2.772)
    """
    if math.isinf(degrees):
        scales, weights = np.ones(1), np.ones(1)
    else:
        scales, weights = _scales(degrees)

    def missing(width: float) -> float:
        return float(weights @ _range_below(width * scales, n)) - level

    high = 4.0
    while missing(high) < 0.0 and high < 1e6:
        high *= 2.0
    return _root(missing, 0.0, high)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a rising function is 0, by false positions (Illinois)."""
    below, above = function(low), function(high)
    kept = 0
    for _ in range(200):
        middle = (low * above - high * below) / (above - below)
        found = function(middle)
        if abs(found) < 1e-14 or high - low < 1e-12 * high:
            return middle
        if found < 0.0:
            low, below = middle, found
            above = above / 2.0 if kept < 0 else above
            kept = -1
        else:
            high, above = middle, found
            below = below / 2.0 if kept > 0 else below
            kept = 1
    return 0.5 * (low + high)
