"""The expected maximum of lines at a normal point: what a look-ahead of one step gains.

Source: Frazier, Powell, Dayanik, "The knowledge-gradient policy for correlated normal beliefs"
(INFORMS Journal on Computing 21, 2009), equation (14) and algorithm 1.
"""

from __future__ import annotations

import math

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import at, inlined, unallocating
from valmatch.ratings.trueskill import hazard_excess, normal_density

FAR = 8.5  # standard deviations beyond which what could be gained is below 1e-18 of a deviation


@unallocating
def expected_excess(z: float) -> float:
    """Return E max(Z - z, 0) of a standard normal Z, for z >= 0: phi(z) - z Phi(-z)."""
    excess = hazard_excess(z)
    return normal_density(z) * excess / (z + excess)


@inlined
def _climb(
    gaps: Floats, first: Floats, second: Floats, sign: float, reach: float, work: Floats
) -> int:
    """Walk along the upper envelope to one side; return how often the line on top changes."""
    gap, slope, changes, most = 0.0, 0.0, 0, np.inf
    while slope < most:
        nearest, steepest, lowest, most = np.inf, 0.0, 0.0, 0.0
        for k in range(gaps.size):
            other = sign * (first[at(k)] - second[at(k)])
            most = max(most, other)
            if other > slope:
                crossing = (gaps[at(k)] - gap) / (other - slope)
                if crossing < nearest or (crossing == nearest and other > steepest):
                    nearest, steepest, lowest = crossing, other, gaps[at(k)]
        if nearest == np.inf or nearest > reach:
            return changes
        work[at(changes), 0], work[at(changes), 1] = nearest, steepest - slope
        gap, slope, changes = lowest, steepest, changes + 1
    return changes


@inlined
def any_above(gaps: Floats, first: Floats, second: Floats, reach: float) -> bool:
    """Return whether any line is above the best one within `reach` of 0, see `envelope`."""
    above = False
    for k in range(gaps.size):
        above |= abs(first[at(k)] - second[at(k)]) * reach >= gaps[at(k)]
    return above


@unallocating
def envelope(gaps: Floats, first: Floats, second: Floats, reach: float, work: Floats) -> int:
    """Find where the upper envelope of some lines bends; return in how many places.

    Shapes: `gaps` (n,); `first`, `second` (n,); `work` (2 n, 2).
    """
    if not any_above(gaps, first, second, reach):
        return 0
    bends = _climb(gaps, first, second, 1.0, reach, work)
    return bends + _climb(gaps, first, second, -1.0, reach, work[bends:])


@unallocating
def gain_of(bends: int, work: Floats, scale: float) -> float:
    """Return E max of the lines at a normal point of this deviation, less their maximum at 0."""
    gain = 0.0
    for k in range(bends):
        z = work[at(k), 0] / scale
        if z < FAR:
            gain += work[at(k), 1] * expected_excess(z)
    return gain * scale


def expected_gain(intercepts: Floats, slopes: Floats) -> float:
    """Return E max(a + b Z) - max a of lines with intercepts a and slopes b, Z standard normal.

    Shapes: `intercepts`, `slopes` (n,).

    Examples
    --------
    Two equals of which one moves by 1: half of the mean of |Z|.

    >>> round(expected_gain([0.0, 0.0], [1.0, 0.0]), 6)
    0.398942
    """
    a, b = np.asarray(intercepts, np.float64), np.asarray(slopes, np.float64)
    best = int(a.argmax())
    others = np.arange(a.size) != best
    work = np.empty((2 * a.size, 2))
    steepness = b[others] - b[best]
    bends = envelope(a[best] - a[others], steepness, np.zeros_like(steepness), math.inf, work)
    return float(gain_of(bends, work, 1.0))
