"""Players who wait for a match, as the policies that weigh pairs see them."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from valmatch.kernels.arrays import Floats, Ints, Words

WAITING = np.dtype(
    [
        ("time", "f8"),  # hour of the ticket
        ("seen", "f8"),  # the rating that the rule sees
        ("mean", "f8"),
        ("variance", "f8"),
        ("skill", "f8"),
        ("ticket", "i8"),
        ("rank", "i8"),  # place by mean
    ]
)
"""A player who waits; a policy weighs a pair of them."""

Ticket: TypeAlias = Any
"""A row of `WAITING`; kernels see it as a C struct."""


class Waiting(NamedTuple):
    """What is common to all pairs of a tick.

    Attributes
    ----------
    means, variances, tickets : (n,) ndarray
        All who wait in order of their means, ties by ticket; and their tickets.
    nearby : (>= n + 1, 2 band + 4) ndarray of int64
        See `valmatch.policies.pair_lookahead.narrowest_first`.
    mean_variance : float
        Mean variance of all who wait.
    band : int
        How many places apart two may be who play.
    noise_variance, true_noise_variance : float
        Variance of a performance around the skill, as the policies take it; as it is.
    multiplier : float
        gamma / (1 - gamma), of the knowledge gradients.
    kappa : float
        Weight of the standard deviation in the upper confidence bound.
    place : (3,) ndarray of uint64
        Where the addressed random numbers of the replication lie.
    source : int
        Source of the random numbers of two tickets.
    """

    means: Floats
    variances: Floats
    tickets: Ints
    nearby: Ints
    mean_variance: float
    band: int
    noise_variance: float
    true_noise_variance: float
    multiplier: float
    kappa: float
    place: Words
    source: int
