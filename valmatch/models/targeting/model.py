"""The `targeting` model: policies measure alternatives to find one whose value is near a target."""

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import kernel, variant
from valmatch.models import curves
from valmatch.models.curves import Prior
from valmatch.models.model import NO_FILES, Response, Responses, Table, amount, share
from valmatch.models.targeting.factors import TargetingFactors
from valmatch.policies.knowledge import place_of_largest
from valmatch.policies.registry import TARGET, Measure, function_of
from valmatch.policies.target import Aim, expected_quality, measured

NOISE = curves.VALUES + 1  # source of randomness after those of the prior and of the values

MEASURES = Responses(
    amount(
        "distance", "value", "distance of the selected alternative's true value from the target"
    ),
    amount("excess_distance", "value", "that distance, less that of the nearest alternative"),
    share("nearest_found", "whether the selected alternative is the nearest"),
    share("quality", "exp(-distance^2 / (2 tolerance^2)) of the selected alternative"),
    amount(
        "measured_distance", "value", "distance of the measured alternative's value from the target"
    ),
)
"""What is measured after a measurement: the rows of `Course.measures`."""

MARKS = (10, 20, 50, 100, 200, 500, 1000)
"""After so many measurements there are responses, and after the last one."""


class SamplePath(NamedTuple):
    """The random inputs of a replication, common to all policies."""

    prior: Prior  # what the values were drawn from; for a kernel what is believed of them
    values: Floats  # (M,); true values in order of index, which no policy sees
    noise: Floats  # (N,); standard normals, one a measurement


class Course(NamedTuple):
    """What happened under a policy; under several with an axis of policies in front."""

    chosen: Ints  # (2, N); the alternative measured, and the one selected afterwards
    beliefs: Floats  # (2, N); mean and variance of the measured alternative afterwards
    measures: Floats  # (len(MEASURES), N)


choose: Measure = function_of(TARGET["uniform"])
"""What `follow_path` chooses by; every compiled copy of it has the policy of its own."""


def follow_path(aim: Aim, path: SamplePath, out: Course) -> None:
    """Measure N times, each time the alternative that the policy chooses."""
    target, tolerance, noise_variance = aim.target, aim.tolerance, aim.noise_variance
    means, variances, counts, qualities = aim.means, aim.variances, aim.counts, aim.qualities
    start, truths, least = path.prior, path.values, math.inf
    for j in range(means.size):
        means[j], variances[j], counts[j] = start.means[j], start.variances[j], 0
        qualities[j] = expected_quality(means[j], variances[j], target, tolerance)
        distance = abs(truths[j] - target)
        least = distance if distance < least else least
    deviation = math.sqrt(noise_variance)
    for step in range(path.noise.size):
        j = choose(aim)
        outcome = truths[j] + deviation * path.noise[step]
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
def path_by(policy: str) -> Callable[[Aim, SamplePath, Course], None]:
    """Return `follow_path` compiled for a policy of `TARGET`."""
    return kernel(variant(follow_path, policy, choose=function_of(TARGET[policy])))


def marks(n_measurements: int) -> list[int]:
    """Return after how many measurements there are responses."""
    return [*(mark for mark in MARKS if mark < n_measurements), n_measurements]


def _responses(factors: TargetingFactors) -> Iterator[Response]:
    for policy in factors.policies:
        for measure in MEASURES:
            for mark in marks(factors.n_measurements):
                after = f"after {mark} measurement{'s' * (mark > 1)}"
                yield curves.windowed(measure, policy, str(mark), after)


class TargetingModel(curves.CurveModel[SamplePath]):
    """Targeting and selection, for any factors."""

    drawn_by = frozenset(("n_alternatives", "n_measurements", *curves.PRIOR))

    def __init__(self, factors: TargetingFactors, files: Mapping[str, Path] = NO_FILES) -> None:
        self._factors = factors
        self._marks = np.array(marks(factors.n_measurements))
        self.responses = Responses(*_responses(factors))
        sizes = {"": 1.0, "value": curves.spread(factors) + abs(factors.target)}
        self.axes = curves.axes_of(factors.policies, MEASURES, factors.n_measurements, sizes)
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
        prior = curves.draw_prior(self._factors, self._factors.n_alternatives, streams, replication)
        noise = streams.stream(replication, NOISE).standard_normal(self._factors.n_measurements)
        return SamplePath(prior, curves.draw_values(prior, streams, replication), noise)

    def play(self, inputs: SamplePath, logged: bool = False) -> Course:
        """Measure as each policy chooses."""
        count, steps = len(self._factors.policies), self._factors.n_measurements
        course = Course(
            np.empty((count, 2, steps), np.int64),
            np.empty((count, 2, steps)),
            np.empty((count, len(MEASURES), steps)),
        )
        path = inputs._replace(prior=curves.believed(self._factors, inputs.prior))
        for k, policy in enumerate(self._factors.policies):
            path_by(policy)(self._aim, path, Course(*(rows[k] for rows in course)))
        return course

    def summary(self, course: Course) -> dict[str, float]:
        """Return the measures at the marks by name, in the order of `_responses`."""
        values = course.measures[:, :, self._marks - 1].ravel()
        return dict(zip(self.responses.names, values, strict=True))

    def tables(self, inputs: SamplePath, course: Course) -> tuple[Table, Table]:
        """Return one row for each alternative, and one for each policy and measurement."""
        means, variances = inputs.prior
        alternatives = {
            "alternative": np.arange(means.size),
            "value_mean": means,
            "prior_mean": curves.believed(self._factors, inputs.prior).means,
            "prior_variance": variances,
            "value": inputs.values,
            "distance": np.abs(inputs.values - self._factors.target),
        }
        count, _, steps = course.chosen.shape
        measurements = {
            "policy": np.repeat(self._factors.policies, steps),
            "measurement": np.tile(np.arange(1, steps + 1), count),
            "measured": course.chosen[:, 0].ravel(),
            "selected": course.chosen[:, 1].ravel(),
            "mean": course.beliefs[:, 0].ravel(),
            "variance": course.beliefs[:, 1].ravel(),
        }
        for k, name in enumerate(MEASURES.names):
            values = course.measures[:, k].ravel()
            measurements[name] = values.astype(np.int64) if name == "nearest_found" else values
        return Table("alternatives", alternatives), Table("measurements", measurements)
