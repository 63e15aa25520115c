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

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import at, kernel, part
from valmatch.policies.joint.belief import LOOKS, Pairs, number_of
from valmatch.policies.joint.outcomes import game_information, mutual_information
from valmatch.policies.knowledge import place_of_largest
from valmatch.ratings.trueskill import hazard_excess, normal_cdf, normal_density

# The expected maximum of lines at a normal point: what a look-ahead of one step gains.
#
# Source: Frazier, Powell, Dayanik, "The knowledge-gradient policy for correlated normal beliefs"
# (INFORMS Journal on Computing 21, 2009), equation (14) and algorithm 1.

FAR = 8.5  # standard deviations beyond which what could be gained is below 1e-18 of a deviation


@kernel
def expected_excess(z: float) -> float:
    """Return E max(Z - z, 0) of a standard normal Z, for z >= 0: phi(z) - z Phi(-z)."""
    excess = hazard_excess(z)
    return normal_density(z) * excess / (z + excess)


@part(inline=True)
def _climb(
    gaps: Floats, first: Floats, second: Floats, sign: float, reach: float, work: Floats
) -> int:
    """Walk along the upper envelope to one side; return how often the line on top changes."""
    gap, slope, changes, most = 0.0, 0.0, 0, np.inf
    while slope < most:
        nearest, steepest, lowest, most = np.inf, 0.0, 0.0, 0.0
        for k in range(gaps.size):
            other = sign * (first[at(k)] - second[at(k)])
            most = max(most, other)
            if other > slope:
                crossing = (gaps[at(k)] - gap) / (other - slope)
                if crossing < nearest or (crossing == nearest and other > steepest):
                    nearest, steepest, lowest = crossing, other, gaps[at(k)]
        if nearest == np.inf or nearest > reach:
            return changes
        work[at(changes), 0], work[at(changes), 1] = nearest, steepest - slope
        gap, slope, changes = lowest, steepest, changes + 1
    return changes


@part(inline=True)
def any_above(gaps: Floats, first: Floats, second: Floats, reach: float) -> bool:
    """Return whether any line is above the best one within `reach` of 0, see `envelope`."""
    above = False
    for k in range(gaps.size):
        above |= abs(first[at(k)] - second[at(k)]) * reach >= gaps[at(k)]
    return above


@kernel
def envelope(gaps: Floats, first: Floats, second: Floats, reach: float, work: Floats) -> int:
    """Find where the upper envelope of some lines bends; return in how many places.

    Shapes: `gaps` (n,); `first`, `second` (n,); `work` (2 n, 2).
    """
    if not any_above(gaps, first, second, reach):
        return 0
    bends = _climb(gaps, first, second, 1.0, reach, work)
    return bends + _climb(gaps, first, second, -1.0, reach, work[bends:])


@kernel
def gain_of(bends: int, work: Floats, scale: float) -> float:
    """Return E max of the lines at a normal point of this deviation, less their maximum at 0."""
    gain = 0.0
    for k in range(bends):
        z = work[at(k), 0] / scale
        if z < FAR:
            gain += work[at(k), 1] * expected_excess(z)
    return gain * scale


# The probability that two players are named in the wrong order, before and after a game.

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)
_HALF_NODES, _HALF_WEIGHTS = _NODES[12:].copy(), _WEIGHTS[12:].copy()
"""Of an even function those of one side do."""


@kernel
def owen(h: float, slope: float) -> float:
    """Return Owen's T of h >= 0 and a slope in [0, 1] (Owen 1956), right to 1e-15."""
    if h > 9.0:
        return 0.0
    half, total = 0.5 * h * h, 0.0
    for k in range(_HALF_NODES.size):
        t = slope * _HALF_NODES[k]
        square = 1.0 + t * t
        total += _HALF_WEIGHTS[k] * math.exp(-half * square) / square
    return slope * total / (2.0 * math.pi)


@kernel
def misorder_fall(lead: float, deviation: float, moved: float) -> float:
    """Return by how much the chance of a wrong order falls when something is learnt.

    Notes
    -----
    Now the chance is Phi(-|lead| / deviation). Afterwards it is that of a truth and an estimate of
    different signs, which are normal with correlation rho = moved / deviation: 2 T(a, x), with
    a = |lead| / deviation, x = sqrt(1 - rho^2) / rho, and T of Owen, "Tables for computing
    bivariate normal probabilities" (Annals of Mathematical Statistics 27, 1956).
    """
    if moved <= 0.0 or deviation <= 0.0:
        return 0.0
    a, rho = abs(lead) / deviation, min(moved / deviation, 1.0)
    x = math.sqrt((1.0 - rho) * (1.0 + rho)) / rho
    if x <= 1.0:
        return normal_cdf(-a) - 2.0 * owen(a, x)
    # T(a, x) by T(a x, 1 / x), of which the common terms cancel.
    far = normal_cdf(-a * x)
    return 2.0 * owen(a * x, 1.0 / x) - far * (1.0 - 2.0 * normal_cdf(-a))


# Values of pairs by simple measures: games so far, closeness, the leader, information.

MOST_DRAWN, WIDEST = 20.0, 30.0
"""Up to this weight of draws, and this standard deviation of the lead in log odds, an outcome tells
the more the less is known; beyond, a little less, as draws grow rare among leads so far apart."""


@kernel
def variance_of(pairs: Pairs, i: int, j: int) -> float:
    """Return the variance of the difference of two players."""
    v = pairs.covariance
    spread: float = v[at(i), at(i)] + v[at(j), at(j)] - 2.0 * v[at(i), at(j)]
    return max(spread, 0.0)


@kernel
def uniform(pairs: Pairs) -> None:
    """Value each open pair by minus its games so far."""
    for p in range(pairs.values.size):
        pairs.values[at(p)] = -float(pairs.games[at(p)]) if pairs.open[at(p)] else -np.inf


@kernel
def closeness(pairs: Pairs) -> None:
    """Value each open pair by how close its ratings are, times both standard errors.

    A heuristic in use, for comparison: exp(-|d| / 200) (se_i + se_j).
    """
    n, p = pairs.mean.size, 0
    for i in range(n):
        error = math.sqrt(max(pairs.covariance[at(i), at(i)], 0.0))
        for j in range(i + 1, n):
            value = -np.inf
            if pairs.open[at(p)]:
                other = math.sqrt(max(pairs.covariance[at(j), at(j)], 0.0))
                lead = pairs.mean[at(i)] - pairs.mean[at(j)]
                value = math.exp(-abs(lead) / 200.0) * (error + other)
            pairs.values[at(p)] = value
            p += 1


@kernel
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


@kernel
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
    p, lead, deviation, nats = 0, 0.0, -1.0, 0.0
    for i in range(n):
        for j in range(i + 1, n):
            if not pairs.open[at(p)]:
                pairs.values[at(p)] = -np.inf
            elif pairs.exact or pairs.values[at(p)] >= best * (1.0 - 1e-8) - 1e-12:
                before = lead, deviation
                lead, deviation = _log_odds(pairs, i, j)
                if (lead, deviation) != before:  # newcomers are all alike
                    nats = mutual_information(lead, deviation, pairs.draw_weight)
                pairs.values[at(p)] = nats
                best = max(best, nats)
            p += 1


@kernel
def _log_odds(pairs: Pairs, i: int, j: int) -> tuple[float, float]:
    """Return the lead of a player over another in log odds, and its standard deviation."""
    lead = pairs.points * (pairs.mean[at(i)] - pairs.mean[at(j)])
    return lead, pairs.points * math.sqrt(variance_of(pairs, i, j))


_BEST, _ORDER = 0, 1
"""Places of goals."""

_CELLS = 64  # cells of a standard deviation, in tables of bounds


def _tables() -> tuple[Floats, Floats, Floats]:
    """Return bounds of a gain by cells, see `_ceiling_of_gain`.

    Of E max(Z - u, 0) by u; by q where (u - q^2 / u) E max(Z - u, 0) has its crest, in cells and
    not beyond it, and its height.
    """
    u = np.arange(FAR * _CELLS + 1) / _CELLS
    tail = 0.5 * np.array([math.erfc(x / math.sqrt(2.0)) for x in u.tolist()])
    excess = np.exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi) - u * tail
    after = u + 1.0 / _CELLS
    height = (after - u[:, np.newaxis] ** 2 / after) * excess
    return excess, np.maximum(height.argmax(axis=1) - 2.0, 0.0), height.max(axis=1)


_EXCESS, _CRESTS, _HEIGHTS = _tables()

_HALF_CREST = 0.5 * math.exp(-0.5)  # the largest value of z exp(-z^2 / 2) / 2
_TINY = 1e-300  # what a divisor is at least

_ROUNDED = 4e-15
"""Shares of the largest variance by which slopes are rounded when a belief is narrowed."""

_NEAR = 1e-8  # shares of a value within which a bound may be one of rounding


@kernel
def knowledge_gradient(pairs: Pairs) -> None:
    """Value each open pair by what is gained for the goal, per game.

    Unless values are to be `exact`, those of pairs that cannot be the best are some below the best.
    """
    if pairs.goal == _BEST:
        count = _rivals(pairs)
    elif pairs.goal == _ORDER:
        count = _neighbours(pairs)
    else:
        count = _widest(pairs)
    exact = pairs.exact
    best = 0.0 if exact else _likely_best(pairs, count)
    n, p = pairs.mean.size, 0
    if pairs.goal == _BEST and not exact:
        _widen_sides(pairs)
    for i in range(n):
        for j in range(i + 1, n):
            value = -np.inf
            if pairs.open[at(p)]:
                if exact:
                    value = _value(pairs, i, j, count, -1.0)
                else:
                    floor = best * (1.0 - _NEAR)
                    value = _ceiling(pairs, i, j, p)
                    if value >= floor:
                        value = _bounded(pairs, i, j, count, floor)
                    best = max(best, value)
            pairs.values[at(p)] = value
            p += 1


@part(inline=True)
def _ceiling(pairs: Pairs, i: int, j: int, p: int) -> float:
    """Return an upper bound of the value of a pair that is had without a call."""
    if pairs.goal == _BEST:
        return _ceiling_of_sides(pairs, i, j, p)
    return np.inf if pairs.goal == _ORDER else _ceiling_of_widest(pairs, i, j)


@kernel
def _bounded(pairs: Pairs, i: int, j: int, count: int, floor: float) -> float:
    """Return the value of a pair, or something below `floor` if it is below that."""
    spread, bound = variance_of(pairs, i, j), np.inf
    if spread == 0.0:
        return 0.0
    if pairs.goal == _BEST:
        p = number_of(i, j, pairs.mean.size)
        _measure_sides(pairs, i, j, count, p)
        bound = _ceiling_of_sides(pairs, i, j, p)
    elif pairs.goal == _ORDER:
        bound = _ceiling_of_fall(pairs, i, j, count, pair_information(pairs, i, j), spread)
    return bound if bound < floor else _value(pairs, i, j, count, floor)


@kernel
def _likely_best(pairs: Pairs, count: int) -> float:
    """Return the value of a pair that is likely to be the best: the bounds of most fail against it.

    It is the best before the last game was chosen; without one the best of neighbours by mean and
    pairs of the leader.
    """
    n, best = pairs.mean.size, 0.0
    likely = place_of_largest(pairs.values)
    if pairs.open[at(likely)] and pairs.values[at(likely)] < np.inf:
        i, first = 0, 0
        while likely >= first + n - 1 - i:
            first += n - 1 - i
            i += 1
        return _bounded(pairs, i, i + 1 + likely - first, count, best)
    for r in range(1, n):
        for leader in (0, r - 1):
            first, second = pairs.by_mean[at(leader)], pairs.by_mean[at(r)]
            i, j = min(first, second), max(first, second)
            if pairs.open[at(number_of(i, j, n))]:
                best = max(best, _bounded(pairs, i, j, count, best))
    return best


@part(inline=True)
def pair_information(pairs: Pairs, i: int, j: int) -> float:
    """Return the information of a game of two players, per squared point."""
    lead, deviation = _log_odds(pairs, i, j)
    return pairs.points * pairs.points * game_information(lead, deviation, pairs.draw_weight)


@part(inline=True)
def _step(games: float, information: float, spread: float) -> float:
    """Return by how many of their covariances ratings move."""
    return math.sqrt(games * information / (1.0 + games * information * spread))


@kernel
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


@kernel
def _rivals(pairs: Pairs) -> int:
    """Find who may be the best, the nearest first, and their covariances relative to the leader's.

    What is learnt of anything moves a lead by at most its standard deviation.
    """
    n, leader, count = pairs.mean.size, pairs.by_mean[0], 0
    for k in pairs.by_mean[1:]:
        gap = pairs.mean[at(leader)] - pairs.mean[at(k)]
        if gap <= FAR * math.sqrt(variance_of(pairs, leader, k)):
            pairs.gaps[at(count)], pairs.inverse[at(count)] = gap, 1.0 / max(gap, _TINY)
            for i in range(n):
                row = pairs.covariance[at(i)]
                pairs.parts[at(i), at(count)] = row[at(k)] - row[at(leader)]
            count += 1
    return count


@kernel
def _gain(pairs: Pairs, i: int, j: int, count: int, spread: float) -> float:
    """Return by how much the expected rating of who is named the best grows, per game."""
    first, second = pairs.parts[at(i), :count], pairs.parts[at(j), :count]
    # Beyond the deviation nothing moves, however much is learnt.
    reach = FAR / math.sqrt(spread)
    bends = envelope(pairs.gaps[:count], first, second, reach, pairs.bends)
    if bends == 0:
        return 0.0
    information, games, best = pair_information(pairs, i, j), 1.0, 0.0
    for _ in range(LOOKS):
        best = max(best, gain_of(bends, pairs.bends, _step(games, information, spread)) / games)
        games *= 2.0
    return best


@part(inline=True)
def _measure_sides(pairs: Pairs, i: int, j: int, count: int, p: int) -> None:
    """Find how steep the lines of a pair are, and how near they cross that of the leader.

    Of those that rise and of those that fall: all are at most as steep as the steepest, and cross
    at least as far off as the nearest.
    """
    first, second = pairs.parts[at(i), :count], pairs.parts[at(j), :count]
    rising = falling = early = late = 0.0
    for r in range(count):
        slope = first[at(r)] - second[at(r)]
        inverse = slope * pairs.inverse[at(r)]
        rising, falling = max(rising, slope), max(falling, -slope)
        early, late = max(early, inverse), max(late, -inverse)
    sides = pairs.sides[at(p)]
    sides[0], sides[1], sides[2], sides[3] = rising, early, falling, late


@kernel
def _widen_sides(pairs: Pairs) -> None:
    """Widen what was measured of pairs by as much as the last game can have changed it.

    The covariance has lost k k', so that the slope of a rival r against the leader l, in the lines
    of i and j, has changed by (k_i - k_j) (k_r - k_l): most pairs need not be measured again.
    """
    n, moved, leader = pairs.mean.size, pairs.moved, pairs.by_mean[0]
    steeper, nearer, closest, rounded = 0.0, 0.0, 0.0, 0.0
    for r in range(n):
        rounded = max(rounded, _ROUNDED * pairs.covariance[at(r), at(r)])
        if r != leader:
            change = abs(moved[at(r)] - moved[at(leader)])
            inverse = 1.0 / max(pairs.mean[at(leader)] - pairs.mean[at(r)], _TINY)
            steeper, nearer = max(steeper, change), max(nearer, change * inverse)
            closest = max(closest, inverse)
    p = 0
    for i in range(n):
        for j in range(i + 1, n):
            change, sides = abs(moved[at(i)] - moved[at(j)]), pairs.sides[at(p)]
            more = change * steeper + rounded
            sooner = (change * nearer if change > 0.0 else 0.0) + rounded * closest
            sides[0], sides[1] = sides[0] + more, sides[1] + sooner
            sides[2], sides[3] = sides[2] + more, sides[3] + sooner
            p += 1
    moved[:] = 0.0


@part(inline=True)
def _ceiling_of_sides(pairs: Pairs, i: int, j: int, p: int) -> float:
    """Return an upper bound of `_gain`, for lines that rise and for those that fall."""
    sides, spread = pairs.sides[at(p)], variance_of(pairs, i, j)
    most = 0.25 * pairs.points * pairs.points  # no score varies more
    return _ceiling_of_gain(sides[0], sides[1], spread, most) + _ceiling_of_gain(
        sides[2], sides[3], spread, most
    )


@part(inline=True)
def _ceiling_of_gain(steepness: float, inverse: float, spread: float, information: float) -> float:
    """Return an upper bound of what a bend gains per game, for games of so much information.

    At a distance w, `inverse` 1 / w, the slope rises by A: of m games A t E max(Z - w / t, 0) / m,
    t^2 = m I / (1 + m I s^2). Since 1 / m = I (1 / t^2 - s^2), that is A I / w of (u - q^2 / u)
    E max(Z - u, 0) with q = w s and u = w / t up to that of one game: E max(Z - u, 0) is
    log-concave, so that there is one crest.
    """
    q = math.sqrt(spread) * _CELLS
    if q >= (_EXCESS.size - 1) * inverse:  # nothing is gained, see `FAR`
        return 0.0
    step = _step(1.0, information, spread)
    cell, most = int(q / inverse), _CELLS / (step * inverse)
    if most <= _CRESTS[at(cell)]:
        return steepness * step * _EXCESS[at(int(most))] * (1.0 + _NEAR)
    return steepness * information * inverse * _HEIGHTS[at(cell)] * (1.0 + _NEAR)


@kernel
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


@kernel
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


@kernel
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


@kernel
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


@part(inline=True)
def _ceiling_of_widest(pairs: Pairs, i: int, j: int) -> float:
    """Return an upper bound of by how much the variance of the widest difference falls."""
    most = 0.25 * pairs.points * pairs.points  # no score varies more
    moved = pairs.parts[at(i), 0] - pairs.parts[at(j), 0]
    return moved * moved * most / (1.0 + most * variance_of(pairs, i, j)) * (1.0 + _NEAR)


@kernel
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
