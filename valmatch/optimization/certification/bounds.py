"""Bounds of mean excesses: for what is normal, for what is skewed, and for what has few values.

Student's bounds are moved for skewness as in Johnson (1978), "Modified t tests and confidence
intervals for asymmetrical populations", JASA 73. Where samples are too small for that, they go over
to Cantelli's, which hold for all distributions of that variance. Where there are two values, bounds
are those of Clopper and Pearson (1934).
"""

from __future__ import annotations

import math

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.optimization.solvers.noise import OFTEN, Noise
from valmatch.statistics.estimates import t_quantile
from valmatch.statistics.skewed import cantelli_factor, clopper_pearson, is_skewed, johnson_shift

RESERVE = 0.7  # share of alpha at which the bounds are taken
ENOUGH = 28.0  # times the squared skewness: the least replications for Johnson's bound alone

TAIL = 10.0
"""A sample of this many times 2, 3, ... replications has Cantelli's bound where it has 2, 3, ...
times fewer than enough: the smaller, the less of its tail it shows. Between the two the bound moves
with the logarithm.
"""


def factor(skewness: float, known: float, n: int, degrees: int, alpha: float) -> float:
    """Return how many errors an upper bound lies above the mean of a sample."""
    quantile = t_quantile(1.0 - RESERVE * alpha, max(1, degrees))
    narrow = quantile + max(0.0, johnson_shift(skewness, n, quantile))
    most = max(skewness, known)
    if most <= 0.0 or not is_skewed(most, n, ENOUGH):
        return narrow
    lacking = min(1.0, math.log(ENOUGH * most**2 / n) / math.log(max(2.0, n / TAIL)))
    return narrow + lacking * max(0.0, cantelli_factor(RESERVE * alpha) - narrow)


def of_few_values(column: Floats, noise: Noise, k: int, alpha: float) -> tuple[float, float] | None:
    """Return the bounds of the mean of a constraint's excesses that have one value or two.

    None if they have more; infinite where nothing can be said.
    """
    values, counts = np.unique(column, return_counts=True)
    if len(values) > 2:
        return None
    if len(values) == 1 and noise.constant[k]:
        return float(values[0]), float(values[0])
    n, limits = len(column), noise.constraints[k].limits_of_excess
    known = float(noise.low[k]), float(noise.high[k])
    pairs = [pair for pair in (known, limits) if np.isin(values, pair).all()]
    if len(values) == 2 and counts.min() >= OFTEN:
        pairs.append((float(values[0]), float(values[1])))
    if pairs:
        low, high = pairs[0]
        least, most = clopper_pearson(int((column == high).sum()), n, alpha)
        return low + (high - low) * least, low + (high - low) * most
    if len(values) == 2:
        return -math.inf, math.inf
    value, rest = float(values[0]), 1.0 - alpha ** (1.0 / n)
    return value + rest * (limits[0] - value), value + rest * (limits[1] - value)
