"""All rosters of a queue valued in seconds, as ShieldBattery does, in single precision.

Twin: `valmatch.matching.plain_presets.shieldbattery`. A roster whose wait, variance and latency
leave too little is given up before it is split into teams.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.kernels.arrays import Ints
from valmatch.kernels.compilation import internal, njit
from valmatch.matching.plain_presets.shieldbattery import (
    Backbone,
    Candidate,
    greedy,
    latency,
    lowered,
    search,
)
from valmatch.rule_sets.presets.rules import ShieldBatteryRule
from valmatch.rule_sets.presets.tickets import Soldier

Singles = NDArray[np.float32]

Single: Any = np.float32


class Pool(NamedTuple):
    """Who is looked at."""

    # rating, wait: (n,); lowered ratings, and seconds waited
    rating: Singles
    wait: Singles
    far: Singles  # (n, n); milliseconds between two
    maps: Ints  # (n,); map picks as bits; -1 of who takes any


class Terms(NamedTuple):
    """Numbers of the rule in single precision."""

    # variance, win, logistic, latency, scale, step, free, rate: see
    # `valmatch.rule_sets.presets.rules.ShieldBatteryRule`
    variance: np.float32
    win: np.float32
    logistic: np.float32
    latency: np.float32
    scale: np.float32
    step: np.float32
    free: np.float32
    rate: np.float32


class Found(NamedTuple):
    """Rosters that may start."""

    members: Ints  # (m, 2 * size); places in the queue: of the first team, then of the second
    numbers: Singles  # (m, 4); quality, variance, win chance, latency


@njit
def value_rosters(
    pool: Pool,
    count: int,
    least: np.float32,
    terms: Terms,
    roster: Ints,
    team: Ints,
    found: Found,
) -> int:
    """Value all rosters; return how many may start, also beyond those that there is room for.

    Shapes: `roster`, `team` (2 * size,).
    """
    members = roster.size
    if count < members:
        return 0
    for k in range(members):
        roster[k] = k
    kept = 0
    while True:
        if value_roster(pool, least, terms, roster, team, found, kept):
            kept += 1
        place = members - 1
        while place >= 0 and roster[place] == count - members + place:
            place -= 1
        if place < 0:
            return kept
        roster[place] += 1
        for k in range(place + 1, members):
            roster[k] = roster[k - 1] + 1


@internal
def value_roster(
    pool: Pool,
    least: np.float32,
    terms: Terms,
    roster: Ints,
    team: Ints,
    found: Found,
    kept: int,
) -> bool:
    """Value a roster; return whether it may start."""
    members = roster.size
    common, bound = -1, True
    for k in range(members):
        common &= pool.maps[roster[k]]
        bound &= pool.maps[roster[k]] >= 0
    if bound and common == 0:
        return False
    longest, mean, squares, worst = Single(0), Single(0), Single(0), Single(0)
    for k in range(members):
        rating = pool.rating[roster[k]]
        longest = max(longest, pool.wait[roster[k]])
        off = Single(rating - mean)
        mean = Single(mean + Single(off / Single(k + 1)))
        squares = Single(squares + Single(off * Single(rating - mean)))
        for other in range(k + 1, members):
            worst = max(worst, pool.far[roster[k], roster[other]])
    variance = Single(squares / Single(members - 1))
    waited = Single(terms.rate * longest)
    skill = Single(terms.variance * variance)
    counted = Single(Single(terms.scale * worst) / terms.step)
    steps = Single(max(terms.free, Single(math.ceil(counted))) - terms.free)
    far = Single(terms.latency * steps)
    # Rounding keeps the order of sums: with a balance of 0 the quality is no less.
    if Single(waited - Single(skill + far)) < least:
        return False
    _split(pool, roster, team, found, kept)
    row = found.members[min(kept, found.members.shape[0] - 1)]
    size = members // 2
    gap = Single(_strength(pool, row[size:]) - _strength(pool, row[:size]))
    power = Single(10) ** Single(gap / terms.logistic)
    chance = Single(Single(1) / Single(Single(1) + Single(power)))
    balance = Single(terms.win * abs(Single(Single(0.5) - chance)))
    quality = Single(waited - Single(Single(skill + balance) + far))
    if quality < least:
        return False
    if kept < found.numbers.shape[0]:
        found.numbers[kept, 0] = quality
        found.numbers[kept, 1] = variance
        found.numbers[kept, 2] = chance
        found.numbers[kept, 3] = worst
    return True


@internal
def _strength(pool: Pool, places: Ints) -> np.float32:
    """Return the root of the mean square of a team."""
    total = Single(0)
    for k in range(places.size):
        one = pool.rating[places[k]]
        total = Single(total + Single(one * one))
    return Single(math.sqrt(Single(total / Single(places.size))))


@internal
def _split(pool: Pool, roster: Ints, team: Ints, found: Found, kept: int) -> None:
    """Split a roster into teams of least difference, the first entry in the first."""
    members = roster.size
    size = members // 2
    row = found.members[min(kept, found.members.shape[0] - 1)]
    least = Single(np.inf)
    for k in range(size):
        team[k] = k
    while True:
        one, two = Single(0), Single(0)
        at = 0
        for k in range(members):
            rating = pool.rating[roster[k]]
            square = Single(rating * rating)
            if at < size and team[at] == k:
                one = Single(one + square)
                at += 1
            else:
                two = Single(two + square)
        first = Single(math.sqrt(Single(one / Single(size))))
        second = Single(math.sqrt(Single(two / Single(size))))
        off = Single(abs(Single(first - second)))
        if off < least:
            least = off
            _write(roster, team, row)
        place = size - 1
        while place > 0 and team[place] == members - size + place:
            place -= 1
        if place <= 0:
            return
        team[place] += 1
        for k in range(place + 1, size):
            team[k] = team[k - 1] + 1


@internal
def _write(roster: Ints, team: Ints, row: Ints) -> None:
    """Write the first team and then the second."""
    size = team.size
    at, other = 0, size
    for k in range(roster.size):
        if at < size and team[at] == k:
            row[at] = roster[k]
            at += 1
        else:
            row[other] = roster[k]
            other += 1


def pool_of(
    tickets: Sequence[Soldier], now: float, rule: ShieldBatteryRule, between: Backbone
) -> Pool:
    """Return tickets as arrays."""
    count = len(tickets)
    far = np.zeros((count, count), np.float32)
    for i, one in enumerate(tickets):
        for j in range(i + 1, count):
            far[i, j] = far[j, i] = latency(one, tickets[j], between, rule.unknown)
    picks = sorted({pick for one in tickets for pick in one.maps or ()})
    bits = {pick: 1 << k for k, pick in enumerate(picks)}
    maps = [
        -1 if one.maps is None or not rule.maps else sum(bits[pick] for pick in one.maps)
        for one in tickets
    ]
    return Pool(
        np.array([lowered(one, rule) for one in tickets], np.float32),
        np.array([now - one.time for one in tickets], np.float32),
        far,
        np.array(maps, np.int64),
    )


def terms_of(rule: ShieldBatteryRule) -> Terms:
    """Return the numbers of a rule in single precision."""
    return Terms(
        *map(
            Single,
            (
                rule.variance,
                rule.win,
                rule.logistic,
                rule.latency,
                rule.latency_scale,
                rule.latency_step,
                rule.latency_free,
                rule.rate,
            ),
        )
    )


MOST_PICKS = 62  # maps that bits tell apart
ROOM = 4096  # rosters that there is room for at first


def search_rosters(
    tickets: Sequence[Soldier],
    now: float,
    least: float,
    rule: ShieldBatteryRule,
    between: Backbone,
) -> list[Candidate]:
    """Return the matches of a review, the best first."""
    if len({pick for one in tickets for pick in one.maps or ()}) > MOST_PICKS:
        return search(tickets, now, least, rule, between)
    members = 2 * rule.team_size
    pool, terms = pool_of(tickets, now, rule, between), terms_of(rule)
    roster, team = np.zeros(members, np.int64), np.zeros(rule.team_size, np.int64)
    room, kept = 0, ROOM
    while kept > room:
        room = kept
        found = Found(np.zeros((room, members), np.int64), np.zeros((room, 4), np.float32))
        kept = value_rosters(pool, len(tickets), Single(least), terms, roster, team, found)
    candidates: list[Candidate] = []
    for row, numbers in zip(found.members[:kept].tolist(), found.numbers[:kept], strict=True):
        teams = (tuple(row[: rule.team_size]), tuple(row[rule.team_size :]))
        candidates.append(Candidate(teams, *numbers))
    return greedy(candidates, tickets, now, rule)
