"""Values of pairs by simple measures: games so far, closeness, the leader, information."""

from __future__ import annotations

import math

import numpy as np

from valmatch.kernels.compilation import at, unallocating
from valmatch.policies.joint.belief import Pairs
from valmatch.policies.joint.outcomes import mutual_information
from valmatch.policies.largest import place_of_largest

MOST_DRAWN, WIDEST = 20.0, 30.0
"""Up to this weight of draws, and this standard deviation of the lead in log odds, an outcome tells
the more the less is known; beyond, a little less, as draws grow rare among leads so far apart."""


@unallocating
def variance_of(pairs: Pairs, i: int, j: int) -> float:
    """Return the variance of the difference of two players."""
    v = pairs.covariance
    spread: float = v[at(i), at(i)] + v[at(j), at(j)] - 2.0 * v[at(i), at(j)]
    return max(spread, 0.0)


@unallocating
def uniform(pairs: Pairs) -> None:
    """Value each open pair by minus its games so far."""
    for p in range(pairs.values.size):
        pairs.values[at(p)] = -float(pairs.games[at(p)]) if pairs.open[at(p)] else -np.inf


@unallocating
def closeness(pairs: Pairs) -> None:
    """Value each open pair by how close its ratings are, times both standard errors.

    A heuristic in use, for comparison: exp(-|d| / 200) (se_i + se_j).
    """
    n, p = pairs.mean.size, 0
    for i in range(n):
        own = math.sqrt(max(pairs.covariance[at(i), at(i)], 0.0))
        for j in range(i + 1, n):
            value = -np.inf
            if pairs.open[at(p)]:
                other = math.sqrt(max(pairs.covariance[at(j), at(j)], 0.0))
                lead = pairs.mean[at(i)] - pairs.mean[at(j)]
                value = math.exp(-abs(lead) / 200.0) * (own + other)
            pairs.values[at(p)] = value
            p += 1


@unallocating
def contenders(pairs: Pairs) -> None:
    """Value by 1 the open pair of the leader and the rival who may best be above, others by 0.

    A plain top-two rule: the rival of the smallest lead in standard errors.
    """
    leader, chosen, nearest, p = place_of_largest(pairs.mean), -1, np.inf, 0
    n = pairs.mean.size
    for i in range(n):
        for j in range(i + 1, n):
            pairs.values[at(p)] = 0.0 if pairs.open[at(p)] else -np.inf
            if pairs.open[at(p)] and leader in (i, j):
                lead = abs(pairs.mean[at(i)] - pairs.mean[at(j)])
                spread = variance_of(pairs, i, j)
                ratio = lead / math.sqrt(spread) if spread > 0.0 else np.inf
                if ratio < nearest:
                    chosen, nearest = p, ratio
            p += 1
    if chosen >= 0:
        pairs.values[at(chosen)] = 1.0


@unallocating
def information(pairs: Pairs) -> None:
    """Value each open pair by how much its outcome tells of its difference, in nats.

    The less is known of a difference, the more is told. Unless values are to be `exact`, as they
    must be beyond `MOST_DRAWN` and `WIDEST`, pairs that cannot be the best thus keep what they were
    worth before games were chosen.
    """
    n, p, best = pairs.mean.size, 0, 0.0
    if not pairs.exact:
        likely = place_of_largest(pairs.values)
        for i in range(n):
            if p <= likely < p + n - 1 - i and pairs.open[at(likely)]:
                lead, deviation = _log_odds(pairs, i, i + 1 + likely - p)
                best = mutual_information(lead, deviation, pairs.draw_weight)
            p += n - 1 - i
    p, lead, deviation, told = 0, 0.0, -1.0, 0.0
    for i in range(n):
        for j in range(i + 1, n):
            if not pairs.open[at(p)]:
                pairs.values[at(p)] = -np.inf
            elif pairs.exact or pairs.values[at(p)] >= best * (1.0 - 1e-8) - 1e-12:
                before = lead, deviation
                lead, deviation = _log_odds(pairs, i, j)
                if (lead, deviation) != before:  # newcomers are all alike
                    told = mutual_information(lead, deviation, pairs.draw_weight)
                pairs.values[at(p)] = told
                best = max(best, told)
            p += 1


@unallocating
def _log_odds(pairs: Pairs, i: int, j: int) -> tuple[float, float]:
    """Return the lead of a player over another in log odds, and its standard deviation."""
    lead = pairs.points * (pairs.mean[at(i)] - pairs.mean[at(j)])
    return lead, pairs.points * math.sqrt(variance_of(pairs, i, j))
