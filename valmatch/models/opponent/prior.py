"""Prior distribution of skills, before the first game."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Floats
from valmatch.models.opponent.factors import OpponentFactors

MEANS, VARIANCES = 0, 1
"""Sources of randomness; those of a sample path follow them."""


class Prior(NamedTuple):
    """The normal distributions that skills are drawn from.

    Attributes
    ----------
    means, variances : (M + 1,) ndarray of float64
        Over all players in order of index.
    """

    means: Floats
    variances: Floats


def draw_prior(factors: OpponentFactors, streams: Streams, replication: int) -> Prior:
    """Return the prior of a path, section 4 of the paper, or what the config gives instead."""
    n_players = factors.n_opponents + 1
    drawn_for = None if factors.prior_draw == "seed" else replication
    if factors.prior_means is None:
        normals = streams.stream(drawn_for, MEANS).standard_normal(n_players)
        means = math.sqrt(factors.prior_mean_variance) * normals
    else:
        means = np.array(factors.prior_means, dtype=np.float64)
    if factors.prior_variances is None:
        low, high = factors.prior_variance_range
        variances = streams.stream(drawn_for, VARIANCES).uniform(low, high, n_players)
    else:
        variances = np.array(factors.prior_variances, dtype=np.float64)
    return Prior(means, variances)


def player_of_rank(values: Floats, rank: int | str) -> int:
    """Return the index of the player of this rank; equal values rank by index.

    Parameters
    ----------
    values : (M + 1,) ndarray of float64
        What ranks go by: the means that skills are drawn from, or the skills.
    rank : int or str
        1 or "top" for the highest value, M + 1 or "bottom" for the lowest.
    """
    place = {"top": 1, "bottom": values.size}.get(rank, rank) if isinstance(rank, str) else rank
    return int(np.argsort(-values, kind="stable")[int(place) - 1])


def spread(factors: OpponentFactors) -> float:
    """Return a standard deviation typical of the skills, whatever the seed."""
    means, variances = factors.prior_means, factors.prior_variances
    square = factors.prior_mean_variance if means is None else max(mean * mean for mean in means)
    return math.sqrt(square + max(variances or factors.prior_variance_range))
