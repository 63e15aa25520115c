"""Beliefs about alternatives whose values are to match a target."""

from __future__ import annotations

from typing import NamedTuple

from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import unallocating
from valmatch.policies.myopic import pair_draw_chance


class Aim(NamedTuple):
    """What a policy may look at before a measurement; the same record for all of a path."""

    target: float  # the value that is sought
    tolerance: float  # distance from the target at which a value's quality has fallen to exp(-1/2)
    noise_variance: float  # variance of one measurement around the value
    kappa: float  # weight of the standard deviation in the upper confidence bound
    # means, variances: (M,) beliefs about the values now
    means: Floats
    variances: Floats
    counts: Ints  # (M,); measurements of each so far
    qualities: Floats  # (M,); the expected quality of each now, see `expected_quality`


@unallocating
def expected_quality(mean: float, variance: float, target: float, tolerance: float) -> float:
    """Return E[exp(-(s - target)^2 / (2 tolerance^2))] for a value s that is believed normal.

    It is q~ of (6) of player 0 whose skill, the target, is known, in games whose draws are as wide
    as the tolerance: 2 sigma_eps^2 is tolerance^2.
    """
    return pair_draw_chance(target, 0.0, mean, variance, 0.5 * tolerance * tolerance)


@unallocating
def measured(
    mean: float, variance: float, outcome: float, noise_variance: float
) -> tuple[float, float]:
    """Return mean and variance of the belief after a measurement, normal as before.

    Examples
    --------
    >>> measured(0.0, 2.0, 1.0, noise_variance=2.0)
    (0.5, 1.0)
    """
    total = variance + noise_variance
    return mean + variance / total * (outcome - mean), variance * (noise_variance / total)
