"""The knowledge gradient of pairs: what is known better after a game, or after several, per game.

m games of a pair of information I each leave of the variance s^2 of its difference s^2 / (1 + m I
s^2); ratings then move by k sqrt(m I / (1 + m I s^2)) Z, k their covariances with the difference.
Several are tried because one often changes no leader. Sources: Frazier, Powell, Dayanik (INFORMS
Journal on Computing 21, 2009); Frazier, Powell, "Paradoxes in learning and the marginal value of
information" (Decision Analysis 7, 2010).
"""

from __future__ import annotations

import math

import numpy as np

from valmatch.kernels.compilation import at, inlined, unallocating
from valmatch.policies.joint.belief import LOOKS, Pairs
from valmatch.policies.joint.expected_maximum import FAR, envelope, gain_of
from valmatch.policies.joint.misorder import misorder_fall
from valmatch.policies.joint.outcomes import game_information
from valmatch.policies.joint.values import variance_of
from valmatch.policies.largest import place_of_largest

_BEST, _ORDER = 0, 1
"""Places of goals."""


@unallocating
def knowledge_gradient(pairs: Pairs) -> None:
    """Value each open pair by what is gained for the goal, per game."""
    if pairs.goal == _BEST:
        count = _rivals(pairs)
    elif pairs.goal == _ORDER:
        count = _neighbours(pairs)
    else:
        count = _widest(pairs)
    n, p = pairs.mean.size, 0
    for i in range(n):
        for j in range(i + 1, n):
            pairs.values[at(p)] = _value(pairs, i, j, count) if pairs.open[at(p)] else -np.inf
            p += 1


@unallocating
def pair_information(pairs: Pairs, i: int, j: int) -> float:
    """Return the information of a game of two players, per squared point."""
    b = pairs.points
    lead, deviation = (
        b * (pairs.mean[at(i)] - pairs.mean[at(j)]),
        b * math.sqrt(variance_of(pairs, i, j)),
    )
    return b * b * game_information(lead, deviation, pairs.draw_weight)


@inlined
def _step(games: float, information: float, spread: float) -> float:
    """Return by how many of their covariances ratings move."""
    return math.sqrt(games * information / (1.0 + games * information * spread))


@unallocating
def _value(pairs: Pairs, i: int, j: int, count: int) -> float:
    spread = variance_of(pairs, i, j)
    if spread == 0.0:
        return 0.0
    if pairs.goal == _BEST:
        return _gain(pairs, i, j, count, spread)
    if pairs.goal == _ORDER:
        return _fall(pairs, i, j, count, spread)
    moved = pairs.parts[at(i), 0] - pairs.parts[at(j), 0]
    information = pair_information(pairs, i, j)
    return moved * moved * information / (1.0 + information * spread)


@unallocating
def _rivals(pairs: Pairs) -> int:
    """Find those who may be the best, and their covariances relative to the leader's.

    What is learnt of anything moves a lead by at most its standard deviation.
    """
    n, leader, count = pairs.mean.size, place_of_largest(pairs.mean), 0
    for k in range(n):
        gap = pairs.mean[at(leader)] - pairs.mean[at(k)]
        if k != leader and gap <= FAR * math.sqrt(variance_of(pairs, leader, k)):
            pairs.gaps[at(count)] = gap
            for i in range(n):
                row = pairs.covariance[at(i)]
                pairs.parts[at(i), at(count)] = row[at(k)] - row[at(leader)]
            count += 1
    return count


@unallocating
def _gain(pairs: Pairs, i: int, j: int, count: int, spread: float) -> float:
    """Return by how much the expected rating of who is named the best grows, per game."""
    # Beyond the deviation nothing moves, however much is learnt: most pairs need no integral.
    first, second = pairs.parts[at(i), :count], pairs.parts[at(j), :count]
    reach = FAR / math.sqrt(spread)
    bends = envelope(pairs.gaps[:count], first, second, reach, pairs.bends)
    if bends == 0:
        return 0.0
    information, games, best = pair_information(pairs, i, j), 1.0, 0.0
    for _ in range(LOOKS):
        gain = gain_of(bends, pairs.bends, _step(games, information, spread)) / games
        best = max(best, gain)
        games *= 2.0
    return best


@unallocating
def _neighbours(pairs: Pairs) -> int:
    """Find the differences of neighbours, and the covariances of all players with them."""
    n = pairs.mean.size
    for r in range(n - 1):
        upper, lower = pairs.by_mean[at(r)], pairs.by_mean[at(r + 1)]
        pairs.gaps[at(r)] = pairs.mean[at(upper)] - pairs.mean[at(lower)]
        pairs.bends[at(r), 0] = math.sqrt(variance_of(pairs, upper, lower))
        for i in range(n):
            row = pairs.covariance[at(i)]
            pairs.parts[at(i), at(r)] = row[at(upper)] - row[at(lower)]
    return n - 1


@unallocating
def _fall(pairs: Pairs, i: int, j: int, count: int, spread: float) -> float:
    """Return by how much the expected number of neighbours in the wrong order falls, per game."""
    information, games, best = pair_information(pairs, i, j), 1.0, 0.0
    for _ in range(LOOKS):
        step, fall = _step(games, information, spread), 0.0
        for r in range(count):
            moved = abs(pairs.parts[at(i), at(r)] - pairs.parts[at(j), at(r)])
            if moved * step * FAR > pairs.gaps[at(r)]:
                fall += misorder_fall(pairs.gaps[at(r)], pairs.bends[at(r), 0], moved * step)
        best = max(best, fall / games)
        games *= 2.0
    return best


@unallocating
def _widest(pairs: Pairs) -> int:
    """Find the widest difference, and the covariances of all players with it."""
    n, first, second, widest = pairs.mean.size, 0, 0, -1.0
    for i in range(n):
        for j in range(i + 1, n):
            spread = variance_of(pairs, i, j)
            if spread > widest:
                first, second, widest = i, j, spread
    for i in range(n):
        row = pairs.covariance[at(i)]
        pairs.parts[at(i), 0] = row[at(first)] - row[at(second)]
    return 1
