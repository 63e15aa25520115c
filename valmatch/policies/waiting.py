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

Ticket: TypeAlias = Any  # a row of `WAITING`; kernels see it as a C struct


class MeanOrder(NamedTuple):
    """All who wait, in order of the means of their beliefs, ties by ticket."""

    means: Floats  # (n,)
    variances: Floats  # (n,)
    tickets: Ints  # (n,)
    band: int  # an opponent is one of so many on each side of a player's place
    noise_variance: float  # variance of one performance around the skill


class Waiting(NamedTuple):
    """What is common to all pairs of a tick."""

    order: MeanOrder
    mean_variance: float  # mean variance of all who wait
    noise_variance: float  # variance of a performance around the skill, as the policies take it
    true_noise_variance: float  # as it is
    multiplier: float  # gamma / (1 - gamma), of the knowledge gradients
    kappa: float  # weight of the standard deviation in the upper confidence bound
    rng_key: Words  # (3,); where the addressed random numbers of the replication lie
    source: int  # source of the random numbers of two tickets
