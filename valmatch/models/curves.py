"""Prior distribution of unknown values, before anything is observed."""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np

from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Floats

MEANS, VARIANCES = 0, 1
"""Sources of randomness; those of a sample path follow them."""


class PriorFactors(Protocol):
    """The factors of models whose values are drawn from normal distributions."""

    @property
    def prior_mean_variance(self) -> float:
        """Variance of the prior means."""

    @property
    def prior_variance_range(self) -> tuple[float, ...]:
        """Least and largest prior variance."""

    @property
    def prior_means(self) -> tuple[float, ...] | None:
        """The prior means, None where they are drawn."""

    @property
    def prior_variances(self) -> tuple[float, ...] | None:
        """The prior variances, None where they are drawn."""

    @property
    def prior_draw(self) -> str:
        """Whether they are drawn once per "seed" or once per "path"."""

    @property
    def prior(self) -> str:
        """Whether beliefs start "informative", with the prior means, or "equal", with 0."""


class Prior(NamedTuple):
    """The normal distributions that values are drawn from."""

    # means, variances: (n,); of all players or alternatives in order of index
    means: Floats
    variances: Floats


def believed_means(factors: PriorFactors, prior: Prior) -> Floats:
    """Return the means that are believed at the start."""
    return prior.means if factors.prior == "informative" else np.zeros(prior.means.size)


def draw_prior(factors: PriorFactors, size: int, streams: Streams, replication: int) -> Prior:
    """Return the prior of a path, section 4 of the paper, or what the config gives instead."""
    drawn_for = None if factors.prior_draw == "seed" else replication
    if factors.prior_means is None:
        normals = streams.stream(drawn_for, MEANS).standard_normal(size)
        means = math.sqrt(factors.prior_mean_variance) * normals
    else:
        means = np.array(factors.prior_means, dtype=np.float64)
    if factors.prior_variances is None:
        low, high = factors.prior_variance_range
        variances = streams.stream(drawn_for, VARIANCES).uniform(low, high, size)
    else:
        variances = np.array(factors.prior_variances, dtype=np.float64)
    return Prior(means, variances)


def spread(factors: PriorFactors) -> float:
    """Return a standard deviation typical of the values, whatever the seed."""
    means, variances = factors.prior_means, factors.prior_variances
    square = factors.prior_mean_variance if means is None else max(mean * mean for mean in means)
    return math.sqrt(square + max(variances or factors.prior_variance_range))
