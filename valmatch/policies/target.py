"""Beliefs about alternatives whose values are to match a target."""

import math
from typing import NamedTuple

from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import kernel, macro
from valmatch.policies.knowledge import place_of_largest
from valmatch.policies.upper_confidence import quality_bound
from valmatch.ratings.trueskill import draw_quality_normalised


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


@kernel
def expected_quality(mean: float, variance: float, target: float, tolerance: float) -> float:
    """Return E[exp(-(s - target)^2 / (2 tolerance^2))] for a value s that is believed normal."""
    # It is q~ of (6) of player 0 whose skill, the target, is known, in games whose draws are as
    # wide as the tolerance: 2 sigma_eps^2 is tolerance^2.
    return draw_quality_normalised(target, 0.0, mean, variance, 0.5 * tolerance * tolerance)


@kernel
def measured(
    mean: float, variance: float, outcome: float, noise_variance: float
) -> tuple[float, float]:
    """Return mean and variance of the belief after a measurement, normal as before."""
    total = variance + noise_variance
    return mean + variance / total * (outcome - mean), variance * (noise_variance / total)


# Measurements chosen by what each alternative is worth by itself.


@macro
def choose_nearest(aim: Aim) -> int:
    """Return the alternative whose believed mean is nearest to the target, ties to the first."""
    chosen, least = 0, math.inf
    for j in range(aim.means.size):
        distance = abs(aim.means[j] - aim.target)
        if distance < least:
            chosen, least = j, distance
    return chosen


@macro
def choose_quality(aim: Aim) -> int:
    """Return the alternative of largest expected quality, ties to the first."""
    return place_of_largest(aim.qualities)


@macro
def choose_bound(aim: Aim) -> int:
    """Return the alternative of largest bound: quality plus kappa standard deviations of it."""
    width = aim.tolerance * aim.tolerance
    chosen, best = 0, -math.inf
    for j in range(aim.means.size):
        bound = quality_bound(aim.means[j] - aim.target, aim.variances[j], width, aim.kappa)
        if bound > best:
            chosen, best = j, bound
    return chosen


@macro
def choose_fewest(aim: Aim) -> int:
    """Return the alternative that has been measured least often, ties to the first."""
    chosen = 0
    for j in range(1, aim.counts.size):
        if aim.counts[j] < aim.counts[chosen]:
            chosen = j
    return chosen


# Balance of measurements adapted from BOLD (Balancing Optimal Large Deviations, by Chen and
# Ryzhov), which seeks the largest value: here it is the least distance from a target. An
# alternative seems nearer than the nearest one if their difference, or their sum, seen from the
# target, changes its sign; the likelier has to bridge the difference of the two distances.


@macro
def choose_balanced(aim: Aim) -> int:
    """Return the nearest alternative or the one likeliest to be mistaken for it, in balance."""
    # Measurements are counted by precisions, so that the prior counts as those it is worth. The
    # nearest is measured while its squared count is below the sum of those of all others.
    nearest = choose_nearest(aim)
    others = 0.0
    for j in range(aim.means.size):
        if j != nearest:
            others += 1.0 / (aim.variances[j] * aim.variances[j])
    variance = aim.variances[nearest]
    if 1.0 / (variance * variance) < others or aim.means.size == 1:
        return nearest
    chosen, least = nearest, math.inf
    for j in range(aim.means.size):
        if j != nearest:
            gap = abs(aim.means[j] - aim.target) - abs(aim.means[nearest] - aim.target)
            rate = gap * gap / (variance + aim.variances[j])
            if rate < least:
                chosen, least = j, rate
    return chosen


# Knowledge gradient of a measurement: what it is expected to add to the best expected quality.
#
# After a measurement of one alternative its variance is certain and its mean normal, so that its
# expected quality is a bell of the mean. It exceeds that of all others within some distance of the
# target; a product of two bells is a bell, which leaves probabilities of normal variables.

_ROOT_HALF = math.sqrt(0.5)


@kernel
def _within(distance: float, deviation: float, reach: float) -> float:
    """Return P(|X| < reach) for X of mean `distance` >= 0, to its last digits where it is small."""
    scale = _ROOT_HALF / deviation
    below = math.erfc((distance + reach) * scale)
    return 0.5 * (math.erfc((distance - reach) * scale) - below)


@kernel
def _beyond(distance: float, deviation: float, reach: float) -> float:
    """Return P(|X| > reach) for X of mean `distance` >= 0, to its last digits where it is small."""
    scale = _ROOT_HALF / deviation
    return 0.5 * (math.erfc((reach - distance) * scale) + math.erfc((reach + distance) * scale))


@kernel
def target_gain(
    mean: float,
    variance: float,
    rival: float,
    target: float,
    tolerance: float,
    noise_variance: float,
) -> float:
    """Return how much a measurement is expected to add to the largest expected quality."""
    # The expected quality is a martingale, so that for an alternative ahead of its rival the gain
    # is what the rival would be better afterwards.
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


@macro
def choose_lookahead(aim: Aim) -> int:
    """Return the alternative of largest gain; the least known where no measurement gains."""
    best = place_of_largest(aim.qualities)
    second = 0.0
    for j in range(aim.means.size):
        if j != best:
            second = max(second, aim.qualities[j])
    chosen, most = -1, 0.0
    for j in range(aim.means.size):
        rival = second if j == best else aim.qualities[best]
        gain = target_gain(
            aim.means[j], aim.variances[j], rival, aim.target, aim.tolerance, aim.noise_variance
        )
        if gain > most:
            chosen, most = j, gain
    return chosen if chosen >= 0 else place_of_largest(aim.variances)
