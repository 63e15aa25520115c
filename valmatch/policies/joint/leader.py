"""Doubt of a belief: of the best player, of the order, of the widest difference."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from valmatch.draws.distributions import fill_normal
from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Floats, Words
from valmatch.kernels.compilation import at, kernel
from valmatch.policies.joint.belief import Belief


@kernel
def times_ahead(
    root: Floats, gaps: Floats, draws: int, words: Words, normals: Floats, pool: Floats
) -> int:
    """Return in how many draws no lead is below 0."""
    # Shapes: `root` (n, n); `gaps` (n,); `normals` (n,); `pool` (m,).
    ahead, taken = 0, pool.size
    for _ in range(draws):
        above = True
        for k in range(gaps.size):
            if taken == pool.size:
                fill_normal(words, pool)
                taken = 0
            normals[at(k)] = pool[at(taken)]
            taken += 1
            lead = gaps[at(k)]
            for c in range(k + 1):
                lead += root[at(k), at(c)] * normals[at(c)]
            if lead < 0.0:
                above = False
                break
        ahead += above
    return ahead


DRAWS = 100_000

BEST = 0x42455354  # source of the random numbers of whether the leader is the best

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
    variances = np.diag(v)
    neighbours = np.maximum(variances[:-1] + variances[1:] - 2.0 * np.diag(v, 1), 0.0)
    wrong = float(_chances_above(-np.diff(mean), np.sqrt(neighbours)).sum())
    widest, first, second = -1.0, 0, 0
    for k in range(len(mean) - 1):
        spread = variances[k] + variances[k + 1 :] - 2.0 * v[k, k + 1 :]
        j = int(spread.argmax())
        if spread[j] > widest:
            widest, first, second = float(spread[j]), k, k + 1 + j
    error = math.sqrt(max(widest, 0.0))
    return Unsure(leader_best(belief, streams), wrong, (first, second), error)


def _chances_above(gaps: Floats, errors: Floats) -> Floats:
    """Return the chances that normal errors are above gaps, without importing scipy."""
    ratios = np.divide(gaps, errors, out=np.where(gaps == 0.0, 0.0, np.inf), where=errors > 0.0)
    return np.array([0.5 * math.erfc(x * math.sqrt(0.5)) for x in ratios.tolist()])


def leader_best(belief: Belief, streams: Streams) -> float:
    """Return the probability that the first player is the best, by `DRAWS` draws."""
    v, mean = belief.covariance, belief.mean
    variances = np.diag(v)
    gaps = mean[0] - mean
    spread = np.maximum(variances + variances[0] - 2.0 * v[0], 0.0)
    ratio = np.divide(gaps, np.sqrt(spread), out=np.full_like(gaps, np.inf), where=spread > 0.0)
    rivals = np.argsort(ratio, kind="stable")
    rivals = rivals[rivals != 0]
    further = np.cumsum(_chances_above(ratio[rivals], np.ones(rivals.size))[::-1])[::-1]
    rivals = rivals[further > _NEGLIGIBLE]
    if not rivals.size:
        return 1.0
    # Of the leads over the rivals; a ridge far below all that is shown, as some may be tied.
    n, to_leader = rivals.size, v[rivals, 0]
    covariance = v[np.ix_(rivals, rivals)] - to_leader - to_leader[:, None] + variances[0]
    covariance[range(n), range(n)] += 1e-9 * spread.max() + 1e-12
    root = np.linalg.cholesky(covariance)
    words = streams.words(None, BEST)
    return times_ahead(root, gaps[rivals], DRAWS, words, np.empty(n), np.empty(_POOL)) / DRAWS
