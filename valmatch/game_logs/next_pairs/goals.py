"""The uncertainty of each goal now: the best player, the order, the widest difference."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Floats
from valmatch.policies.joint.belief import Belief
from valmatch.policies.joint.leader import times_ahead

DRAWS = 100_000

BEST = 0x42455354  # source of the random numbers of whether the leader is the best

_ROOT = math.sqrt(0.5)
_POOL = 4096
_NEGLIGIBLE = 1e-4  # chance that any of the rivals is above the leader who are not drawn


class Unsure(NamedTuple):
    """How unsure a belief is."""

    leader_best: float  # probability that the first is the best, by `DRAWS` draws
    misordered: float  # expected number of neighbours by mean who are in the wrong order
    widest: tuple[int, int]  # the two whose difference is known the least
    widest_error: float  # standard error of that difference


def unsure_of(belief: Belief, streams: Streams) -> Unsure:
    """Return how unsure a belief is about players, the best first."""
    v, mean = belief.covariance, belief.mean
    own = np.diag(v)
    neighbours = np.maximum(own[:-1] + own[1:] - 2.0 * np.diag(v, 1), 0.0)
    order = misordered(-np.diff(mean), np.sqrt(neighbours))
    widest, first, second = -1.0, 0, 0
    for k in range(len(mean) - 1):
        spread = own[k] + own[k + 1 :] - 2.0 * v[k, k + 1 :]
        place = int(spread.argmax())
        if spread[place] > widest:
            widest, first, second = float(spread[place]), k, k + 1 + place
    best = leader_best(belief, streams)
    return Unsure(best, float(order), (first, second), float(np.sqrt(max(widest, 0.0))))


def misordered(leads: Floats, errors: Floats) -> float:
    """Return the expected number of differences, named by their sign, that have the other one."""
    sure = np.where(leads == 0.0, 0.0, np.inf)
    ratio = np.divide(np.abs(leads), errors, out=sure, where=errors > 0.0)
    return float(_tails(ratio).sum())


def _tails(ratios: Floats) -> Floats:
    """Return the chances that standard normal numbers are above some, without importing scipy."""
    return np.array([0.5 * math.erfc(x * _ROOT) for x in ratios.tolist()])


def leader_best(belief: Belief, streams: Streams) -> float:
    """Return the probability that the first player is the best, by `DRAWS` draws.

    Rivals are drawn one by one, the nearest first, until one is above them.
    """
    v, mean = belief.covariance, belief.mean
    own = np.diag(v)
    gaps = mean[0] - mean
    spread = np.maximum(own + own[0] - 2.0 * v[0], 0.0)
    ratio = np.divide(gaps, np.sqrt(spread), out=np.full_like(gaps, np.inf), where=spread > 0.0)
    rivals = np.argsort(ratio, kind="stable")
    rivals = rivals[rivals != 0]
    further = np.cumsum(_tails(ratio[rivals])[::-1])[::-1]
    rivals = rivals[further > _NEGLIGIBLE]
    n = rivals.size
    if n == 0:
        return 1.0
    # Of the leads over the rivals; a ridge far below all that is shown, as some may be tied.
    to_leader = v[rivals, 0]
    covariance = v[np.ix_(rivals, rivals)] - to_leader - to_leader[:, None] + own[0]
    covariance[range(n), range(n)] += 1e-9 * spread.max() + 1e-12
    root = np.linalg.cholesky(covariance)
    words = streams.words(None, BEST)
    return times_ahead(root, gaps[rivals], DRAWS, words, np.empty(n), np.empty(_POOL)) / DRAWS
