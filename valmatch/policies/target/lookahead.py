"""Knowledge gradient of a measurement: what it is expected to add to the best expected quality.

After a measurement of one alternative its variance is certain and its mean normal, so that its
expected quality is a bell of the mean. It exceeds that of all others within some distance of the
target; a product of two bells is a bell, which leaves probabilities of normal variables.
"""

from __future__ import annotations

import math

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import expanded, unallocating
from valmatch.policies.largest import place_of_largest
from valmatch.policies.target.aim import Aim, expected_quality

_ROOT_HALF = math.sqrt(0.5)


@unallocating
def _within(distance: float, deviation: float, reach: float) -> float:
    """Return P(|X| < reach) for X of mean `distance` >= 0, to its last digits where it is small."""
    scale = _ROOT_HALF / deviation
    below = math.erfc((distance + reach) * scale)
    return 0.5 * (math.erfc((distance - reach) * scale) - below)


@unallocating
def _beyond(distance: float, deviation: float, reach: float) -> float:
    """Return P(|X| > reach) for X of mean `distance` >= 0, to its last digits where it is small."""
    scale = _ROOT_HALF / deviation
    return 0.5 * (math.erfc((reach - distance) * scale) + math.erfc((reach + distance) * scale))


@unallocating
def target_gain(
    mean: float,
    variance: float,
    rival: float,
    target: float,
    tolerance: float,
    noise_variance: float,
) -> float:
    """Return how much a measurement is expected to add to the largest expected quality.

    Notes
    -----
    The expected quality is a martingale, so that for an alternative ahead of its rival the gain is
    what the rival would be better afterwards.

    Examples
    --------
    >>> round(target_gain(0.5, 2.0, rival=0.5, target=0.0, tolerance=1.0, noise_variance=1.0), 4)
    0.1253
    """
    width = tolerance * tolerance
    total = variance + noise_variance
    spread = variance * (variance / total)
    wide = width + variance * (noise_variance / total)
    peak = math.sqrt(width / wide)
    if rival <= 0.0 or peak <= rival:
        return 0.0
    reach = math.sqrt(2.0 * wide * math.log(peak / rival))
    now = expected_quality(mean, variance, target, tolerance)
    distance = abs(mean - target)
    share = wide / (wide + spread)
    deviation, narrow = math.sqrt(spread), math.sqrt(spread * share)
    if now > rival:
        after = rival * _beyond(distance, deviation, reach)
        gain = after - now * _beyond(distance * share, narrow, reach)
    else:
        after = now * _within(distance * share, narrow, reach)
        gain = after - rival * _within(distance, deviation, reach)
    return max(gain, 0.0)


@unallocating
def _second(qualities: Floats, best: int) -> float:
    """Return the largest expected quality of all but the best, 0 if there is none."""
    found = 0.0
    for j in range(qualities.size):
        if j != best and qualities[j] > found:
            found = qualities[j]
    return found


@expanded
def choose(aim: Aim) -> int:
    """Return the alternative of largest gain; the least known where no measurement gains."""
    best = place_of_largest(aim.qualities)
    second = _second(aim.qualities, best)
    chosen, most = -1, 0.0
    for j in range(aim.means.size):
        rival = second if j == best else aim.qualities[best]
        gain = target_gain(
            aim.means[j], aim.variances[j], rival, aim.target, aim.tolerance, aim.noise_variance
        )
        if gain > most:
            chosen, most = j, gain
    return chosen if chosen >= 0 else place_of_largest(aim.variances)
