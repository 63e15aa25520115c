"""Base of models of curves: measures game by game, values drawn from a prior, correlations."""

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Floats
from valmatch.models.model import (
    Axes,
    Inputs,
    Model,
    Outcome,
    Record,
    Response,
    Responses,
    Table,
    Window,
)
from valmatch.models.opponent.factors import PriorFactors


class CurveModel(Model[Inputs]):
    """A model with the curve of each measure under each policy, and responses made of them."""

    axes: Axes

    @abstractmethod
    def play(self, inputs: Inputs, logged: bool) -> Any:  # noqa: ANN401 - of each model
        """Return what comes of these inputs; its `measures` are the curves, in their units."""

    @abstractmethod
    def summary(self, course: Any) -> Mapping[str, float]:  # noqa: ANN401
        """Return the responses by name."""

    @abstractmethod
    def tables(self, inputs: Inputs, course: Any) -> Sequence[Table]:  # noqa: ANN401
        """Return what happened, a table for each kind of event."""

    def run(self, inputs: Inputs) -> Outcome:
        """Return the responses, and the curves in units of their scales."""
        course = self.play(inputs, logged=False)
        scales = np.array(self.axes.scales)[:, np.newaxis]
        return Outcome(self.summary(course), course.measures / scales)

    def record(self, inputs: Inputs) -> Record:
        """Return the responses with everything that happened."""
        course = self.play(inputs, logged=True)
        return Record(self.summary(course), self.tables(inputs, course))


def axes_of(
    policies: Sequence[str], measures: Responses, games: int, sizes: Mapping[str, float]
) -> Axes:
    """Return the axes of measures whose values are about as large as their unit has it."""
    scales = [2.0 ** math.ceil(math.log2(sizes[measure.unit])) for measure in measures]
    return Axes(policies, measures.names, games, scales)


def windowed(measure: Response, policy: str, games: str, when: str) -> Response:
    """Return the response that is a measure over a stretch of the curve of a policy."""
    return replace(
        measure,
        name=f"{measure.name}.{policy}.{games}",
        meaning=f"{measure.meaning}, {when}",
        window=Window(policy, measure.name, games),
    )


MEANS, VARIANCES, VALUES = 0, 1, 2  # sources of randomness; those of a model follow them

PRIOR = (
    *("prior_mean_variance", "prior_variance_range", "prior_means", "prior_variances"),
    "prior_draw",
)
"""The factors that a prior is drawn by."""


class Prior(NamedTuple):
    """The normal distributions that values are drawn from, or that are believed in."""

    means: Floats  # (n,); of all players or alternatives in order of index
    variances: Floats


def believed(factors: PriorFactors, prior: Prior) -> Prior:
    """Return what is believed at the start."""
    informative = factors.prior == "informative"
    return prior if informative else prior._replace(means=np.zeros(prior.means.size))


def draw_prior(factors: PriorFactors, size: int, streams: Streams, replication: int) -> Prior:
    """Return the prior of a path, section 4 of the paper, or what the config gives instead."""
    drawn_for = None if factors.prior_draw == "seed" else replication
    means: Any = factors.prior_means
    variances: Any = factors.prior_variances
    if means is None:
        normals = streams.stream(drawn_for, MEANS).standard_normal(size)
        means = math.sqrt(factors.prior_mean_variance) * normals
    if variances is None:
        low, high = factors.prior_variance_range
        variances = streams.stream(drawn_for, VARIANCES).uniform(low, high, size)
    return Prior(np.array(means, np.float64), np.array(variances, np.float64))


def draw_values(prior: Prior, streams: Streams, replication: int) -> Floats:
    """Return the true values of a path."""
    normals = streams.stream(replication, VALUES).standard_normal(prior.means.size)
    return prior.means + np.sqrt(prior.variances) * normals


def spread(factors: PriorFactors) -> float:
    """Return a standard deviation typical of the values, whatever the seed."""
    means, variances = factors.prior_means, factors.prior_variances
    square = factors.prior_mean_variance if means is None else max(mean * mean for mean in means)
    return math.sqrt(square + max(variances or factors.prior_variance_range))


def rank_correlation(a: Floats, b: Floats) -> float:
    """Return Spearman's rank correlation, equal values sharing their mean rank."""
    # NaN if there are no values, or all values of `a` or of `b` are equal.
    ranks = []
    for values in (a, b):
        _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
        means = np.cumsum(counts) - (counts - 1) / 2
        ranks.append(means[inverse] - 0.5 * (values.size + 1))
    x, y = ranks
    scale = math.sqrt(float((x * x).sum()) * float((y * y).sum()))
    return float((x * y).sum()) / scale if scale > 0 else math.nan
