"""Measurements chosen by what each alternative is worth by itself."""

from __future__ import annotations

import math

from valmatch.kernels.compilation import expanded
from valmatch.policies.largest import place_of_largest
from valmatch.policies.target.aim import Aim
from valmatch.policies.upper_confidence import quality_bound


@expanded
def choose_nearest(aim: Aim) -> int:
    """Return the alternative whose believed mean is nearest to the target, ties to the first."""
    chosen, least = 0, math.inf
    for j in range(aim.means.size):
        distance = abs(aim.means[j] - aim.target)
        if distance < least:
            chosen, least = j, distance
    return chosen


@expanded
def choose_quality(aim: Aim) -> int:
    """Return the alternative of largest expected quality, ties to the first."""
    return place_of_largest(aim.qualities)


@expanded
def choose_bound(aim: Aim) -> int:
    """Return the alternative of largest bound: quality plus kappa standard deviations of it."""
    width = aim.tolerance * aim.tolerance
    chosen, best = 0, -math.inf
    for j in range(aim.means.size):
        bound = quality_bound(aim.means[j] - aim.target, aim.variances[j], width, aim.kappa)
        if bound > best:
            chosen, best = j, bound
    return chosen


@expanded
def choose_fewest(aim: Aim) -> int:
    """Return the alternative that has been measured least often, ties to the first."""
    chosen = 0
    for j in range(1, aim.counts.size):
        if aim.counts[j] < aim.counts[chosen]:
            chosen = j
    return chosen
