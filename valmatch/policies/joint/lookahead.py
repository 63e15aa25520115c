"""The knowledge gradient of pairs: what is known better after a game, or after several, per game.

Sources: Frazier, Powell, Dayanik, "The knowledge-gradient policy for correlated normal beliefs"
(INFORMS Journal on Computing 21, 2009); Frazier, Powell, "Paradoxes in learning and the marginal
value of information" (Decision Analysis 7, 2010), why several games are tried.
"""

import math

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import at, kernel, macro
from valmatch.policies.joint.belief import LOOKS, Pairs, game_information, mutual_information
from valmatch.policies.knowledge import place_of_largest
from valmatch.ratings.bradley_terry.fit import POINTS
from valmatch.ratings.trueskill import hazard_excess, normal_cdf, normal_density

# The expected maximum of lines at a normal point: what a look-ahead of one step gains (2009,
# equation (14) and algorithm 1).

FAR = 8.5  # standard deviations beyond which what could be gained is below 1e-18 of a deviation


@kernel
def expected_excess(z: float) -> float:
    """Return E max(Z - z, 0) of a standard normal Z, for z >= 0: phi(z) - z Phi(-z)."""
    excess = hazard_excess(z)
    return normal_density(z) * excess / (z + excess)


@macro
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


@kernel
def envelope(gaps: Floats, first: Floats, second: Floats, reach: float, work: Floats) -> int:
    """Find where the upper envelope of some lines bends; return in how many places."""
    # Shapes: `gaps` (n,); `first`, `second` (n,); `work` (2 n, 2).
    above = False
    for k in range(gaps.size):
        above |= abs(first[at(k)] - second[at(k)]) * reach >= gaps[at(k)]
    if not above:
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
# Of an even function those of one side do.
_HALF_NODES, _HALF_WEIGHTS = _NODES[12:].copy(), _WEIGHTS[12:].copy()


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
    """Return by how much the chance of a wrong order falls when something is learnt."""
    # Now the chance is Phi(-|lead| / deviation). Afterwards it is that of a truth and an estimate
    # of different signs, which are normal with correlation rho = moved / deviation: 2 T(a, x), with
    # a = |lead| / deviation, x = sqrt(1 - rho^2) / rho, and T of Owen, "Tables for computing
    # bivariate normal probabilities" (Annals of Mathematical Statistics 27, 1956).
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
    """Value each open pair by how close its ratings are, times both standard errors."""
    # A heuristic in use, for comparison: exp(-|d| / 200) (se_i + se_j).
    v = pairs.covariance
    for p in range(pairs.values.size):
        i, j, value = pairs.first[at(p)], pairs.second[at(p)], -np.inf
        if pairs.open[at(p)]:
            error = math.sqrt(max(v[at(i), at(i)], 0.0))
            other = math.sqrt(max(v[at(j), at(j)], 0.0))
            lead = pairs.mean[at(i)] - pairs.mean[at(j)]
            value = math.exp(-abs(lead) / 200.0) * (error + other)
        pairs.values[at(p)] = value


@kernel
def contenders(pairs: Pairs) -> None:
    """Value by 1 the open pair of the leader and the rival who may best be above, others by 0."""
    # A plain top-two rule: the rival of the smallest lead in standard errors.
    leader, chosen, nearest = place_of_largest(pairs.mean), -1, np.inf
    for p in range(pairs.values.size):
        i, j = pairs.first[at(p)], pairs.second[at(p)]
        pairs.values[at(p)] = 0.0 if pairs.open[at(p)] else -np.inf
        if pairs.open[at(p)] and leader in (i, j):
            lead, spread = abs(pairs.mean[at(i)] - pairs.mean[at(j)]), variance_of(pairs, i, j)
            ratio = lead / math.sqrt(spread) if spread > 0.0 else np.inf
            if ratio < nearest:
                chosen, nearest = p, ratio
    if chosen >= 0:
        pairs.values[at(chosen)] = 1.0


@kernel
def information(pairs: Pairs) -> None:
    """Value each open pair by how much its outcome tells of its difference, in nats."""
    lead, deviation, nats = 0.0, -1.0, 0.0
    for p in range(pairs.values.size):
        pairs.values[at(p)] = -np.inf
        if pairs.open[at(p)]:
            before = lead, deviation
            lead, deviation = _log_odds(pairs, pairs.first[at(p)], pairs.second[at(p)])
            if (lead, deviation) != before:  # newcomers are all alike
                nats = mutual_information(lead, deviation, pairs.draw_weight)
            pairs.values[at(p)] = nats


@kernel
def _log_odds(pairs: Pairs, i: int, j: int) -> tuple[float, float]:
    """Return the lead of a player over another in log odds, and its standard deviation."""
    lead = POINTS * (pairs.mean[at(i)] - pairs.mean[at(j)])
    return lead, POINTS * math.sqrt(variance_of(pairs, i, j))


# What is gained for a goal per game.

_BEST, _ORDER = 0, 1  # goals by their index
_FLAT = 1.0 / math.sqrt(2.0 * math.pi)  # E max(Z, 0)
_CREST = 0.612  # where z E max(Z - z, 0) is largest
_TINY = 1e-300  # what a divisor is at least
_NEAR = 1e-8  # shares of a value within which a bound may be one of rounding


@kernel
def knowledge_gradient(pairs: Pairs) -> None:
    """Value each open pair by what is gained for the goal, per game."""
    # m games of a pair of information I each leave of the variance s^2 of its difference s^2 / (1 +
    # m I s^2); ratings then move by k sqrt(m I / (1 + m I s^2)) Z, k their covariances with it.
    # Unless values are to be `exact`, pairs that cannot be the best may have bounds below the best.
    if pairs.goal == _BEST:
        count = _rivals(pairs)
    elif pairs.goal == _ORDER:
        count = _neighbours(pairs)
    else:
        count = _widest(pairs)
    exact = pairs.exact or pairs.goal == _ORDER
    for p in range(pairs.values.size):
        i, j, value = pairs.first[at(p)], pairs.second[at(p)], -np.inf
        if pairs.open[at(p)]:
            value = _value(pairs, i, j, count) if exact else _ceiling(pairs, i, j, count)
        pairs.values[at(p)] = value
    if exact:
        return
    likely, best = place_of_largest(pairs.values), 0.0
    for look in range(2):  # at the pair of the largest bound, then at those that may be better
        for p in range(pairs.values.size):
            wanted = p == likely if look == 0 else p != likely
            if wanted and pairs.open[at(p)] and pairs.values[at(p)] >= best * (1.0 - _NEAR):
                i, j = pairs.first[at(p)], pairs.second[at(p)]
                pairs.values[at(p)] = _value(pairs, i, j, count)
                best = max(best, pairs.values[at(p)])


@macro
def pair_information(pairs: Pairs, i: int, j: int) -> float:
    """Return the information of a game of two players, per squared point."""
    lead, deviation = _log_odds(pairs, i, j)
    return POINTS * POINTS * game_information(lead, deviation, pairs.draw_weight)


@macro
def _step(games: float, information: float, spread: float) -> float:
    """Return by how many of their covariances ratings move."""
    return math.sqrt(games * information / (1.0 + games * information * spread))


@kernel
def _value(pairs: Pairs, i: int, j: int, count: int) -> float:
    """Return the value of a pair."""
    spread = variance_of(pairs, i, j)
    if spread == 0.0:
        return 0.0
    if pairs.goal == _BEST:
        return _gain(pairs, i, j, count, spread)
    information = pair_information(pairs, i, j)
    if pairs.goal == _ORDER:
        return _fall(pairs, i, j, count, information, spread)
    return _narrowing(pairs, i, j, information, spread)


@macro
def _ceiling(pairs: Pairs, i: int, j: int, count: int) -> float:
    """Return an upper bound of the value of a pair: that of games that tell as much as any can."""
    spread, most = variance_of(pairs, i, j), 0.25 * POINTS * POINTS
    if spread == 0.0:
        return 0.0
    if pairs.goal == _BEST:
        return _ceiling_of_gain(pairs, i, j, count, most, spread) * (1.0 + _NEAR)
    return _narrowing(pairs, i, j, most, spread) * (1.0 + _NEAR)


@kernel
def _rivals(pairs: Pairs) -> int:
    """Find who may be the best, the nearest first, and their covariances less the leader's."""
    # What is learnt of anything moves a lead by at most its standard deviation.
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


@macro
def _ceiling_of_gain(
    pairs: Pairs, i: int, j: int, count: int, information: float, spread: float
) -> float:
    """Return an upper bound of `_gain`, for games of so much information at most."""
    # Of the lines that rise, as of those that fall, all are at most as steep as the steepest, A,
    # and cross that of the leader at least as far off as the nearest, at w. Of m games that is A
    # t E max(Z - w / t, 0) / m, t^2 = m I / (1 + m I s^2), so that it is at most A t E max(Z, 0)
    # of one game; and as 1 / m is at most I / t^2, A I / w of u E max(Z - u, 0) with u = w / t >=
    # w s.
    first, second = pairs.parts[at(i), :count], pairs.parts[at(j), :count]
    rising = falling = early = late = 0.0
    for r in range(count):
        slope = first[at(r)] - second[at(r)]
        inverse = slope * pairs.inverse[at(r)]
        rising, falling = max(rising, slope), max(falling, -slope)
        early, late = max(early, inverse), max(late, -inverse)
    total, single = 0.0, _FLAT * _step(1.0, information, spread)
    for steepness, inverse in ((rising, early), (falling, late)):
        if inverse > 0.0:
            u = max(_CREST, math.sqrt(spread) / inverse)
            several = information * inverse * u * expected_excess(u)
            total += steepness * min(single, several)
    return total


@kernel
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


@kernel
def _fall(pairs: Pairs, i: int, j: int, count: int, information: float, spread: float) -> float:
    """Return by how much the expected number of neighbours in the wrong order falls, per game."""
    games, best = 1.0, 0.0
    for _ in range(LOOKS):
        step, fall = _step(games, information, spread), 0.0
        for r in range(count):
            moved = step * abs(pairs.parts[at(i), at(r)] - pairs.parts[at(j), at(r)])
            if moved * FAR > pairs.gaps[at(r)]:
                fall += misorder_fall(pairs.gaps[at(r)], pairs.bends[at(r), 0], moved)
        best = max(best, fall / games)
        games *= 2.0
    return best


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


@macro
def _narrowing(pairs: Pairs, i: int, j: int, information: float, spread: float) -> float:
    """Return by how much the variance of the widest difference falls by a game."""
    moved = pairs.parts[at(i), 0] - pairs.parts[at(j), 0]
    return moved * moved * information / (1.0 + information * spread)
