"""The `targeting` model: policies measure alternatives to find one whose value is near a target."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import announce_compilation, unallocating, variant
from valmatch.models.curves import Prior, believed_means, draw_prior, spread
from valmatch.models.model import (
    NO_FILES,
    NOT_NEGATIVE,
    SHARE,
    Axes,
    Model,
    Outcome,
    Record,
    Response,
    Responses,
    Table,
    Window,
)
from valmatch.models.targeting.factors import TargetingFactors
from valmatch.policies.knowledge import place_of_largest
from valmatch.policies.registry import TARGET, Measure, function_of
from valmatch.policies.target import Aim, expected_quality, measured

# Kernels that measure along one sample path, one for each policy.

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


VALUES, NOISE = 2, 3
"""Sources of randomness after those of the prior."""

MARKS = (10, 20, 50, 100, 200, 500, 1000)
"""After so many measurements there are responses, and after the last one."""

FOUND = MEASURES.index("nearest_found")

MEANINGS = {
    "distance": ("value", "distance of the selected alternative's true value from the target"),
    "excess_distance": ("value", "that distance, less that of the nearest alternative"),
    "nearest_found": ("", "whether the selected alternative is the nearest"),
    "quality": ("", "exp(-distance^2 / (2 tolerance^2)) of the selected alternative"),
    "measured_distance": ("value", "distance of the measured alternative's value from the target"),
}

SHARES = ("nearest_found", "quality")  # measures between 0 and 1


class SamplePath(NamedTuple):
    """The random inputs of a replication, common to all policies."""

    prior: Prior  # what the values were drawn from
    values: Floats  # (M,); True values in order of index
    noise: Floats  # (N,); standard normals, one a measurement


class Course(NamedTuple):
    """What happened under each policy; rows as of `Trajectory`."""

    chosen: Ints  # (policies, 2, N) int64
    beliefs: Floats  # (policies, 2, N) float64
    measures: Floats  # (policies, len(MEASURES), N) float64


def marks(n_measurements: int) -> list[int]:
    """Return after how many measurements there are responses."""
    return [*(mark for mark in MARKS if mark < n_measurements), n_measurements]


def _responses(policies: Sequence[str], n_measurements: int) -> Responses:
    """Return the responses: each measure of each policy at each mark."""
    return Responses(
        *(
            Response(
                f"{measure}.{policy}.{mark}",
                MEANINGS[measure][0],
                f"{MEANINGS[measure][1]}, after {mark} measurement{'s' * (mark > 1)}",
                window=Window(policy, measure, str(mark)),
                limits=SHARE if measure in SHARES else NOT_NEGATIVE,
            )
            for policy in policies
            for measure in MEASURES
            for mark in marks(n_measurements)
        )
    )


def _axes(factors: TargetingFactors) -> Axes:
    """Return the curves with scales that follow the unit of the values."""
    size = 2.0 ** math.ceil(math.log2(spread(factors) + abs(factors.target)))
    scales = [1.0 if measure in SHARES else size for measure in MEASURES]
    return Axes(factors.policies, MEASURES, factors.n_measurements, scales)


class TargetingModel(Model[SamplePath]):
    """Targeting and selection, for any factors."""

    drawn_by = frozenset(
        (
            "n_alternatives",
            "n_measurements",
            "prior_mean_variance",
            "prior_variance_range",
            "prior_means",
            "prior_variances",
            "prior_draw",
        )
    )

    def __init__(self, factors: TargetingFactors, files: Mapping[str, Path] = NO_FILES) -> None:
        assert not files
        self._factors = factors
        self._at = np.array(marks(factors.n_measurements)) - 1
        self.responses = _responses(factors.policies, factors.n_measurements)
        self.axes: Axes | None = _axes(factors)
        self._scales = np.array(self.axes.scales)[:, np.newaxis]
        count = factors.n_alternatives
        self._aim = Aim(
            factors.target,
            factors.tolerance,
            factors.noise_variance,
            factors.kappa,
            np.empty(count),
            np.empty(count),
            np.empty(count, np.int64),
            np.empty(count),
        )

    def draw(self, streams: Streams, replication: int) -> SamplePath:
        """Return prior, values and noise; target, beliefs and policies do not enter."""
        count, steps = self._factors.n_alternatives, self._factors.n_measurements
        prior = draw_prior(self._factors, count, streams, replication)
        normals = streams.stream(replication, VALUES).standard_normal(count)
        return SamplePath(
            prior,
            prior.means + np.sqrt(prior.variances) * normals,
            streams.stream(replication, NOISE).standard_normal(steps),
        )

    def run(self, inputs: SamplePath) -> Outcome:
        """Return the measures at the marks, and the curves, of all policies."""
        measures = self._follow(inputs).measures
        return Outcome(self._summary(measures), measures / self._scales)

    def record(self, inputs: SamplePath) -> Record:
        """Return the responses with every alternative and every measurement."""
        course = self._follow(inputs)
        tables = (self._alternatives_table(inputs), self._measurements_table(course))
        return Record(self._summary(course.measures), tables)

    def _follow(self, inputs: SamplePath) -> Course:
        """Measure as each policy chooses."""
        count, steps = len(self._factors.policies), self._factors.n_measurements
        course = Course(
            np.empty((count, 2, steps), np.int64),
            np.empty((count, 2, steps)),
            np.empty((count, len(MEASURES), steps)),
        )
        believed = believed_means(self._factors, inputs.prior)
        start = Start(believed, inputs.prior.variances, inputs.values, inputs.noise)
        for k, policy in enumerate(self._factors.policies):
            follow_path = path_by(policy)
            announce_compilation(follow_path)
            out = Trajectory(course.chosen[k], course.beliefs[k], course.measures[k])
            follow_path(self._aim, start, out)
        return course

    def _summary(self, measures: Floats) -> dict[str, float]:
        """Return the responses by name, in the order of `_responses`."""
        return dict(zip(self.responses.names, measures[:, :, self._at].ravel(), strict=True))

    def _alternatives_table(self, inputs: SamplePath) -> Table:
        """Return one row for each alternative."""
        means, variances = inputs.prior
        return Table(
            "alternatives",
            {
                "alternative": np.arange(means.size),
                "value_mean": means,
                "prior_mean": believed_means(self._factors, inputs.prior),
                "prior_variance": variances,
                "value": inputs.values,
                "distance": np.abs(inputs.values - self._factors.target),
            },
        )

    def _measurements_table(self, course: Course) -> Table:
        """Return one row for each policy and measurement; beliefs are those after it."""
        count, _, steps = course.chosen.shape
        columns = {
            "policy": np.repeat(self._factors.policies, steps),
            "measurement": np.tile(np.arange(1, steps + 1), count),
            "measured": course.chosen[:, 0].ravel(),
            "selected": course.chosen[:, 1].ravel(),
            "mean": course.beliefs[:, 0].ravel(),
            "variance": course.beliefs[:, 1].ravel(),
        }
        for k, name in enumerate(MEASURES):
            values = course.measures[:, k].ravel()
            columns[name] = values.astype(np.int64) if k == FOUND else values
        return Table("measurements", columns)
