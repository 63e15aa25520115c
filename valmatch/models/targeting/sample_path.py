"""Kernels that measure along one sample path, one for each policy."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple, TypeAlias

from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import unallocating, variant
from valmatch.policies.knowledge import place_of_largest
from valmatch.policies.registry import TARGET, Measure, function_of
from valmatch.policies.target import Aim, expected_quality, measured

MEASURES: Final = (
    "distance",  # from the target, of the true value of the selected alternative
    "excess_distance",  # that, less the least distance of all alternatives
    "nearest_found",  # 1 if the selected alternative is the nearest, else 0
    "quality",  # exp(-distance^2 / (2 tolerance^2))
    "measured_distance",  # from the target, of the true value of the measured alternative
)
"""Rows of the kernel's `measures`, each after the measurement."""


class Start(NamedTuple):
    """What a path starts with."""

    # means, variances: (M,); the beliefs before the first measurement
    means: Floats
    variances: Floats
    truths: Floats  # (M,); the true values, which no policy sees
    noise: Floats  # (N,); standard normals, one a measurement, the same for every policy


class Trajectory(NamedTuple):
    """What happened along a path."""

    # (2, N) int64, index of the alternative measured, and of the one selected afterwards
    chosen: Ints
    beliefs: Floats  # (2, N) float64, mean and variance of the measured alternative afterwards
    measures: Floats  # (5, N) float64, rows as in `MEASURES`


Follow: TypeAlias = Callable[[Aim, Start, Trajectory], None]

choose: Measure = function_of(TARGET["uniform"])
"""What `follow_path` chooses by; every compiled copy of it has the policy of its own."""


def follow_path(aim: Aim, start: Start, out: Trajectory) -> None:
    """Measure N times, each time the alternative that the policy chooses."""
    target, tolerance, noise_variance = aim.target, aim.tolerance, aim.noise_variance
    means, variances, counts, qualities = aim.means, aim.variances, aim.counts, aim.qualities
    truths, least = start.truths, math.inf
    for j in range(means.size):
        means[j], variances[j], counts[j] = start.means[j], start.variances[j], 0
        qualities[j] = expected_quality(means[j], variances[j], target, tolerance)
        distance = abs(truths[j] - target)
        least = distance if distance < least else least
    deviation = math.sqrt(noise_variance)
    for step in range(start.noise.size):
        j = choose(aim)
        outcome = truths[j] + deviation * start.noise[step]
        means[j], variances[j] = measured(means[j], variances[j], outcome, noise_variance)
        counts[j] += 1
        qualities[j] = expected_quality(means[j], variances[j], target, tolerance)
        selected = place_of_largest(qualities)
        distance = abs(truths[selected] - target)
        scaled = distance / tolerance
        out.chosen[0, step], out.chosen[1, step] = j, selected
        out.beliefs[0, step], out.beliefs[1, step] = means[j], variances[j]
        out.measures[0, step] = distance
        out.measures[1, step] = distance - least
        out.measures[2, step] = 1.0 if distance == least else 0.0
        out.measures[3, step] = math.exp(-0.5 * scaled * scaled)
        out.measures[4, step] = abs(truths[j] - target)


@cache
def path_by(policy: str) -> Follow:
    """Return `follow_path` compiled for a policy of `TARGET`."""
    return unallocating(variant(follow_path, policy, choose=function_of(TARGET[policy])))
