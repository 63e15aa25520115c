"""Players who wait for a match, as the policies that weigh pairs see them."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from valmatch.kernels.arrays import Floats, Ints, Words
from valmatch.kernels.compilation import macro

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


PARTS = 2
"""So many parts of the range of the means for each who waits, in which places are looked for."""


class MeanOrder(NamedTuple):
    """All who wait, in order of their means, ties by ticket."""

    # means, variances: (n,); their beliefs
    means: Floats
    variances: Floats
    tickets: Ints  # (n,)
    band: int  # an opponent is one of so many on each side of a player's place
    noise_variance: float  # variance of one performance around the skill
    # the places at most band + 2 before or after each, as two more may be taken out, those of the
    # smallest variance first: whoever looks for the best opponent may stop at the first whose
    # variance alone makes them worse than the best so far. -1 after the last
    nearby: Ints
    # the range of the means is cut into PARTS n equal parts: the first place in each of them or a
    # later one, and n
    starts: Ints
    scale: Floats  # (2,); the least mean, and parts a unit
    best: Ints  # the best opponent of each, -1 where another is as good but for rounding
    # least, chances: what `valmatch.policies.mean_order.best_next` minimises, of this opponent; the
    # draw chance
    least: Floats
    chances: Floats


@macro
def order_of(
    means: Floats, variances: Floats, tickets: Ints, band: int, noise_variance: float
) -> MeanOrder:
    """Return those who wait, with memory for what `valmatch.policies.mean_order` prepares."""
    n = means.size
    return MeanOrder(
        means,
        variances,
        tickets,
        band,
        noise_variance,
        np.empty((n + 1, 2 * band + 4), np.int64),
        np.empty(PARTS * n + 1, np.int64),
        np.empty(2),
        np.empty(n, np.int64),
        np.empty(n),
        np.empty(n),
    )


class Waiting(NamedTuple):
    """What is common to all pairs of a tick."""

    order: MeanOrder  # all who wait in order of their means, prepared if the policy looks ahead
    mean_variance: float  # mean variance of all who wait
    # noise_variance, true_noise_variance: variance of a performance around the skill, as the
    # policies take it; as it is
    noise_variance: float
    true_noise_variance: float
    multiplier: float  # gamma / (1 - gamma), of the knowledge gradients
    kappa: float  # weight of the standard deviation in the upper confidence bound
    place: Words  # (3,); where the addressed random numbers of the replication lie
    source: int  # source of the random numbers of two tickets
