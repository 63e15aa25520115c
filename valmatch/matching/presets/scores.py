"""Points against all pairs of a pool of lichess, compiled.

Twin: `score` in `valmatch.matching.plain_presets.lichess`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import internal, njit
from valmatch.matching.plain_presets.lichess import BAD, GOOD, POOR, Score, credit
from valmatch.matching.presets.blossoms import make_forest
from valmatch.matching.presets.pairing import pair
from valmatch.rule_sets.presets.rules import LichessRule
from valmatch.rule_sets.presets.tickets import Member

ANY = 2**31  # farther than any rating


class Pool(NamedTuple):
    """Who is in a wave."""

    # rating, sit, low, high, user: (n,); ratings, sits, lowest and highest rating wanted, number of
    # the user
    rating: Ints
    sit: Ints
    low: Ints
    high: Ints
    user: Ints
    # ranged, provisional: (n,); whether a range was given; whether the rating is provisional
    ranged: Ints
    provisional: Ints
    credit: Floats  # (n,); points for the waves missed
    blocked: Ints  # (n, n); whether one of two blocks the other


class Terms(NamedTuple):
    """Numbers of the rule."""

    # gap, shared_range, provisional: see `valmatch.rule_sets.presets.rules.LichessRule`
    gap: float
    shared_range: float
    provisional: float
    manners: bool
    # from_rating, most: (k,); limits by the lower rating; one below 0 is by what the rating is
    # divided
    from_rating: Floats
    most: Floats


@njit
def score_pairs(pool: Pool, count: int, terms: Terms, points: Floats) -> None:
    """Write the points against each pair of the first ones to `points`; NaN: it is not allowed."""
    for i in range(count):
        points[i, i] = np.nan
        for j in range(i):
            one = score(pool, terms, i, j)
            points[i, j] = one
            points[j, i] = one


@internal
def score(pool: Pool, terms: Terms, i: int, j: int) -> float:
    """Return the points against a pair, NaN where it is not allowed."""
    first, second = pool.rating[i], pool.rating[j]
    if pool.user[i] == pool.user[j] or pool.blocked[i, j] != 0:
        return np.nan
    if not (pool.low[i] <= second <= pool.high[i] and pool.low[j] <= first <= pool.high[j]):
        return np.nan
    points = terms.gap * abs(first - second)
    points -= min(pool.credit[i], pool.credit[j])
    if pool.ranged[i] != 0 and pool.ranged[j] != 0:
        points += terms.shared_range
    if terms.manners:
        points -= _manners(pool.sit[i], pool.sit[j])
    if pool.provisional[i] != 0 and pool.provisional[j] != 0:
        points += terms.provisional
    lower, limit = min(first, second), 0.0
    for k in range(terms.most.size):
        if lower >= terms.from_rating[k]:
            most = terms.most[k]
            limit = most if most >= 0 else float(lower // int(-most))
    return points if points <= limit else np.nan


@internal
def _manners(first: int, second: int) -> int:
    """Return the points for two who leave games alike."""
    if first >= GOOD and second >= GOOD:
        return 30
    if first <= BAD and second <= BAD:
        return 60
    if first <= POOR and second <= POOR:
        return 30
    return -20 * min(10, abs(first - second))


def pool_of(members: Sequence[Member], rule: LichessRule) -> Pool:
    """Return members as arrays."""
    count = len(members)
    users = {user: k for k, user in enumerate(sorted({one.user for one in members}))}
    places: dict[str, list[int]] = {}
    for k, one in enumerate(members):
        places.setdefault(one.user, []).append(k)
    blocked = np.zeros((count, count), np.int64)
    for k, one in enumerate(members):
        for user in one.blocks if rule.blocks else ():
            for other in places.get(user, ()):
                blocked[k, other] = blocked[other, k] = 1
    ranges = [
        one.range if one.range is not None and rule.ranges else (-ANY, ANY) for one in members
    ]

    def column(values: Sequence[int]) -> Ints:
        return np.array(values, np.int64)

    return Pool(
        rating=column([one.rating for one in members]),
        sit=column([one.sit for one in members]),
        low=column([low for low, _ in ranges]),
        high=column([high for _, high in ranges]),
        user=column([users[one.user] for one in members]),
        ranged=column([one.range is not None for one in members]),
        provisional=column([one.provisional for one in members]),
        credit=np.array([credit(one, rule) for one in members], np.float64),
        blocked=blocked,
    )


def terms_of(rule: LichessRule) -> Terms:
    """Return the numbers of a rule as kernels take them."""
    return Terms(
        rule.gap,
        rule.shared_range,
        rule.provisional,
        rule.manners,
        np.array([lowest for lowest, _ in rule.at_most], np.float64),
        np.array([most for _, most in rule.at_most], np.float64),
    )


def choose_pairs(members: Sequence[Member], rule: LichessRule) -> list[int]:
    """Return whose partner each is in a wave, -1 for none."""
    count = len(members)
    points = np.zeros((count, count))
    score_pairs(pool_of(members, rule), len(members), terms_of(rule), points)
    partners = np.full(count, -1, np.int64)
    pair(make_forest(count), points, count, partners)
    return [int(one) for one in partners]


def scores_of(members: Sequence[Member], rule: LichessRule) -> list[list[Score]]:
    """Return the points against all pairs, None where they are not allowed."""
    points = np.zeros((len(members), len(members)))
    score_pairs(pool_of(members, rule), len(members), terms_of(rule), points)
    return [[None if one != one else one for one in row] for row in points.tolist()]
