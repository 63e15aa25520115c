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
from valmatch.policies.joint.belief import LOOKS, Pairs, number_of
from valmatch.policies.joint.expected_maximum import (
    FAR,
    any_above,
    envelope,
    expected_excess,
    gain_of,
)
from valmatch.policies.joint.misorder import misorder_fall
from valmatch.policies.joint.outcomes import game_information
from valmatch.policies.joint.values import variance_of
from valmatch.policies.largest import place_of_largest

_BEST, _ORDER = 0, 1
"""Places of goals."""

_CREST = 0.612003
"""Where u E max(Z - u, 0) is largest."""

_HALF_CREST = 0.5 * math.exp(-0.5)
"""The largest value of z exp(-z^2 / 2) / 2."""

_TINY = 1e-300
"""What a divisor is at least."""

_NEAR = 1e-8
"""Shares of a value within which a bound may be one of rounding."""


@unallocating
def knowledge_gradient(pairs: Pairs) -> None:
    """Value each open pair by what is gained for the goal, per game.

    Unless values are to be `exact`, those of pairs that cannot be the best are upper bounds.
    """
    if pairs.goal == _BEST:
        count = _rivals(pairs)
    elif pairs.goal == _ORDER:
        count = _neighbours(pairs)
    else:
        count = _widest(pairs)
    exact = pairs.exact
    best = 0.0 if exact else _leaders_best(pairs, count)
    far = FAR if exact or pairs.goal != _BEST else _irrelevant(pairs, count, best)
    n, p = pairs.mean.size, 0
    for i in range(n):
        for j in range(i + 1, n):
            value = -np.inf
            if pairs.open[at(p)]:
                if exact:
                    value = _value(pairs, i, j, count, -1.0)
                else:
                    value = _bounded(pairs, i, j, count, best * (1.0 - _NEAR), far)
                    best = max(best, value * (value >= best * (1.0 - _NEAR)))
            pairs.values[at(p)] = value
            p += 1


@unallocating
def _bounded(pairs: Pairs, i: int, j: int, count: int, floor: float, far: float) -> float:
    """Return the value of a pair, or an upper bound that is below `floor`.

    The cheapest bounds come first: most pairs need no more.
    """
    spread = variance_of(pairs, i, j)
    if spread == 0.0:
        return 0.0
    most = 0.25 * pairs.points * pairs.points  # no score varies more
    if pairs.goal == _BEST:
        bound = _ceiling_of_gain(pairs, i, j, count, far, most)
        if bound >= floor:
            bound = _most_gained(pairs, i, j, count, far)
    elif pairs.goal == _ORDER:
        bound = _ceiling_of_fall(pairs, i, j, count, most, spread)
        if bound >= floor:
            bound = _ceiling_of_fall(pairs, i, j, count, pair_information(pairs, i, j), spread)
        if bound >= floor:
            bound = _most_fallen(pairs, i, j, count)
    else:
        moved = pairs.parts[at(i), 0] - pairs.parts[at(j), 0]
        bound = moved * moved * most / (1.0 + most * spread) * (1.0 + _NEAR)
    return _value(pairs, i, j, count, floor) if bound >= floor else bound


@unallocating
def _leaders_best(pairs: Pairs, count: int) -> float:
    """Return the largest value of pairs of neighbours by mean and of the leader.

    The bounds of most pairs fail against it.
    """
    n, best = pairs.mean.size, 0.0
    if pairs.goal > _ORDER:
        return best
    for r in range(1, n):
        for leader in (0, r - 1):
            first, second = pairs.by_mean[at(leader)], pairs.by_mean[at(r)]
            i, j = min(first, second), max(first, second)
            if pairs.open[at(number_of(i, j, n))]:
                value = _bounded(pairs, i, j, count, best, FAR)
                best = max(best, value * (value >= best))
    return best


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
def _value(pairs: Pairs, i: int, j: int, count: int, floor: float) -> float:
    """Return the value of a pair, or one up to `floor` if it is not above that."""
    spread = variance_of(pairs, i, j)
    if spread == 0.0:
        return 0.0
    if pairs.goal == _BEST:
        return _gain(pairs, i, j, count, spread)
    if pairs.goal == _ORDER:
        return _fall(pairs, i, j, count, floor)
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
def _irrelevant(pairs: Pairs, count: int, best: float) -> float:
    """Return from how many deviations off a rival is no matter, where some pair has this value.

    A rating moves against the leader's by at most the deviation of their difference.
    """
    widest, leader = 0.0, pairs.by_mean[0]
    for k in range(pairs.mean.size):
        widest = max(widest, variance_of(pairs, leader, k))
    low, high = 0.0, FAR
    for _ in range(30):
        middle = 0.5 * (low + high)
        if 2.0 * math.sqrt(widest) * expected_excess(middle) < best * (1.0 - 2.0 * _NEAR):
            high = middle
        else:
            low = middle
    return high


@unallocating
def _steepest(pairs: Pairs, i: int, j: int, count: int) -> tuple[float, float]:
    """Return the largest slope of the lines of a pair, and how near the first one may cross."""
    first, second, gaps = pairs.parts[at(i), :count], pairs.parts[at(j), :count], pairs.gaps
    steepest, nearest = 0.0, np.inf
    for k in range(count):
        slope = abs(first[at(k)] - second[at(k)])
        steepest = max(steepest, slope)
        if gaps[at(k)] < nearest * slope:
            nearest = gaps[at(k)] / slope
    return steepest, nearest


@unallocating
def _ceiling_of_gain(
    pairs: Pairs, i: int, j: int, count: int, far: float, information: float
) -> float:
    """Return an upper bound of `_gain` for games of so much information at most.

    0 where it is below what `far` was found from. Of the bound 2 A t E max(Z - w / t, 0) / m of
    `_most_gained`, t^2 = m I / (1 + m I s^2), it is the largest at any real m >= 1: 1 / m is at
    most I / t^2, so that with u = w / t it is at most 2 A I / w of u E max(Z - u, 0), which rises
    up to `_CREST`, and u is between w s and its value at m = 1.
    """
    spread = variance_of(pairs, i, j)
    first, second = pairs.parts[at(i), :count], pairs.parts[at(j), :count]
    if not any_above(pairs.gaps[:count], first, second, far / math.sqrt(spread)):
        return 0.0
    steepest, nearest = _steepest(pairs, i, j, count)
    step = _step(1.0, information, spread)
    most = nearest / step
    if most <= _CREST:
        found = expected_excess(most) / step
    else:
        u = max(_CREST, nearest * math.sqrt(spread))
        found = u * expected_excess(u) / nearest if u < FAR else 0.0
    return 2.0 * steepest * information * found * (1.0 + _NEAR)


@unallocating
def _most_gained(pairs: Pairs, i: int, j: int, count: int, far: float) -> float:
    """Return an upper bound of `_gain`, or 0 where it is below what `far` was found from.

    All lines are at most as steep as the steepest, and cross at least as far off as the nearest:
    E max(0, a Z - g, ...) <= 2 A E max(Z - w, 0), A the largest |a| and w the least g / |a|.
    """
    spread, information = variance_of(pairs, i, j), pair_information(pairs, i, j)
    if _ceiling_of_gain(pairs, i, j, count, far, information) == 0.0:
        return 0.0
    steepest, nearest = _steepest(pairs, i, j, count)
    games, most = 1.0, 0.0
    for _ in range(LOOKS):
        step = _step(games, information, spread)
        if nearest < FAR * step:
            most = max(most, step * expected_excess(nearest / step) / games)
        games *= 2.0
    return 2.0 * steepest * most * (1.0 + _NEAR)


@unallocating
def _neighbours(pairs: Pairs) -> int:
    """Find the differences of neighbours, and the covariances of all players with them."""
    n = pairs.mean.size
    for r in range(n - 1):
        upper, lower = pairs.by_mean[at(r)], pairs.by_mean[at(r + 1)]
        pairs.gaps[at(r)] = pairs.mean[at(upper)] - pairs.mean[at(lower)]
        deviation = math.sqrt(variance_of(pairs, upper, lower))
        pairs.bends[at(r), 0] = deviation
        pairs.bends[at(r), 1] = 1.0 / max(deviation, _TINY)
        pairs.bends[at(n + r), 0] = 1.0 / max(deviation * pairs.gaps[at(r)], _TINY)
        for i in range(n):
            row = pairs.covariance[at(i)]
            pairs.parts[at(i), at(r)] = row[at(upper)] - row[at(lower)]
    return n - 1


@unallocating
def _fall(pairs: Pairs, i: int, j: int, count: int, floor: float) -> float:
    """Return by how much the expected number of neighbours in the wrong order falls, per game.

    Numbers of games whose bound is not above `floor` are left out.
    """
    spread, information = variance_of(pairs, i, j), pair_information(pairs, i, j)
    games, best = 1.0, 0.0
    for _ in range(LOOKS):
        step, fall = _step(games, information, spread), 0.0
        if _bound(pairs, i, j, count, step) > floor * games:
            for r in range(count):
                moved = step * abs(pairs.parts[at(i), at(r)] - pairs.parts[at(j), at(r)])
                if moved * FAR > pairs.gaps[at(r)]:
                    fall += misorder_fall(pairs.gaps[at(r)], pairs.bends[at(r), 0], moved)
        best = max(best, fall / games)
        games *= 2.0
    return best


@unallocating
def _ceiling_of_fall(
    pairs: Pairs, i: int, j: int, count: int, information: float, spread: float
) -> float:
    """Return an upper bound of `_fall` for games of so much information at most.

    Of a difference `_bound` is at most rho exp(-z^2 / 2) / 2, and with t^2 = m I / (1 + m I s^2)
    1 / m is at most I / t^2: per game that is at most I c^2 / (a d) of z exp(-z^2 / 2) / 2, with c
    the covariance, a the lead and d its deviation. This is largest at z = 1; and it is below z / 2,
    where z is at most its value at m = 1.
    """
    total, single = 0.0, 0.5 * information / _step(1.0, information, spread)
    several, reach = _HALF_CREST * information, FAR / math.sqrt(spread)
    for r in range(count):
        moved = abs(pairs.parts[at(i), at(r)] - pairs.parts[at(j), at(r)])
        if moved * reach > pairs.gaps[at(r)]:
            one = single * moved * pairs.bends[at(r), 1]
            total += min(one, several * moved * moved * pairs.bends[at(count + 1 + r), 0])
    return total * (1.0 + _NEAR)


@unallocating
def _most_fallen(pairs: Pairs, i: int, j: int, count: int) -> float:
    """Return an upper bound of `_fall`."""
    spread = variance_of(pairs, i, j)
    if spread == 0.0:
        return 0.0
    information, games, best = pair_information(pairs, i, j), 1.0, 0.0
    for _ in range(LOOKS):
        best = max(best, _bound(pairs, i, j, count, _step(games, information, spread)) / games)
        games *= 2.0
    return best


@unallocating
def _bound(pairs: Pairs, i: int, j: int, count: int, step: float) -> float:
    """Return an upper bound of how much the number of neighbours in the wrong order falls.

    Of one difference it is the integral over s from 0 to rho of exp(-a^2 / (2 s^2)) / sqrt(1 - s^2)
    / pi. It is at most exp(-z^2 / 2) asin(rho) / pi, z = a / rho, and with the root at its least
    sqrt(2 / pi) rho E max(Z - z, 0), which is below rho exp(-z^2 / 2) / (1 + z^2) / pi.
    """
    total = 0.0
    for r in range(count):
        moved = step * abs(pairs.parts[at(i), at(r)] - pairs.parts[at(j), at(r)])
        if moved * FAR > pairs.gaps[at(r)]:
            square = (pairs.gaps[at(r)] / moved) ** 2
            rho = moved / pairs.bends[at(r), 0]
            factor = 0.5  # asin(rho) <= rho pi / 2
            if rho < 0.99:
                factor = min(factor, 1.0 / ((1.0 + square) * math.sqrt(1.0 - rho * rho) * math.pi))
            total += factor * rho * math.exp(-0.5 * square)
    return total * (1.0 + _NEAR)


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
