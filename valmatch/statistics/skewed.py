"""Bounds for means of skewed and of two-valued samples.

Sources: Clopper and Pearson (1934), "The use of confidence or fiducial limits illustrated in the
case of the binomial"; Johnson (1978), "Modified t tests and confidence intervals for asymmetrical
populations"; Cantelli's inequality, as in Boucheron, Lugosi and Massart (2013), "Concentration
inequalities", exercise 2.3.
"""

from __future__ import annotations

import math

import numpy as np

from valmatch.kernels.arrays import Floats


def central_moments(values: Floats, most: int) -> tuple[float, list[float]]:
    """Return the largest deviation from the mean, and in its units the moments from 2 to `most`."""
    n = values.size
    deviations = values - math.fsum(values.tolist()) / n
    # In units of the largest deviation, so that no power overflows or vanishes.
    unit = float(np.abs(deviations).max())
    deviations /= unit
    return unit, [math.fsum((deviations**k).tolist()) / n for k in range(2, most + 1)]


def clopper_pearson(count: int, n: int, tail: float) -> tuple[float, float]:
    """Return exact bounds of a probability, each wrong with at most probability `tail`."""
    from scipy.special import betaincinv

    low = float(betaincinv(count, n - count + 1, tail)) if count else 0.0
    high = 1.0 - float(betaincinv(n - count, count + 1, tail)) if count < n else 1.0
    return low, high


def is_skewed(skewness: float, n: int, least: float) -> bool:
    """Return whether a sample is skewed beyond chance and too small for Student's t."""
    # Of samples of normal values at most 5 % are beyond it, at 14 to 16 values the most.
    return abs(skewness) > 5.05 / math.sqrt(n + 8.5) and n < least * skewness**2


def johnson_shift(skewness: float, n: int, quantile: float) -> float:
    """Return by how many standard errors skewness moves a bound that lies `quantile` away."""
    return (1.0 + 2.0 * quantile**2) / (6.0 * math.sqrt(n)) * skewness


def cantelli_factor(tail: float) -> float:
    """Return how many standard errors any distribution exceeds with at most probability `tail`."""
    return math.sqrt((1.0 - tail) / tail)
