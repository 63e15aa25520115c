"""The first line-up of tickets whose win chances are near enough, in the order of bar.

Twin: `valmatch.matching.plain_presets.bar`. Of two line-ups with the teams swapped only the one
with the earlier ticket in the first team is looked at, and a second team is given up as soon as its
sum cannot come near enough to that of the first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import at, inlined, internal, njit
from valmatch.matching.plain_presets.bar import ERROR_FUNCTION, SLOWNESS, Entry
from valmatch.rule_sets.presets.rules import BarRule

A1, A2, A3, A4, A5 = ERROR_FUNCTION
ROOT_2 = math.sqrt(2.0)

MARGIN = 1e-6  # by how much a band is wider where it only says what need not be looked at
FARTHEST = 40.0  # beyond so many deviations no win chance is told from 0 or 1


class Search(NamedTuple):
    """The state of a search."""

    size: Ints  # (n,); players of each ticket
    # skill, variance, ticks: (n,); what each adds to its team, and the reviews that it has been
    # through
    skill: Floats
    variance: Floats
    ticks: Floats
    used: Ints  # (n,); whether it is in a team
    # chosen, cursor, need: (teams, players + 1); tickets of each team in order; where to look for
    # the next; players that are missing
    chosen: Ints
    cursor: Ints
    need: Ints
    # skills, variances: (teams, players + 1); sums of the first tickets of each team
    skills: Floats
    variances: Floats
    depth: Ints  # (teams,); tickets of each team
    # low, high: (n + 1, players + 1); least and greatest sum of tickets from one on that have so
    # many players
    low: Floats
    high: Floats
    window: Floats  # (2,); between which the sum of a second team has to be beside the first
    chances: Floats  # (teams,); win chances of the line-up that was looked at last
    # (2,); line-ups whose win chances were looked at, in and out; how many tickets, the first ones,
    # one of which has to be the first of the first team
    calls: Ints


class Limits(NamedTuple):
    """What a line-up has to keep to."""

    own: float  # variance of the play of one game, of all teams
    # low, high, grows: the band of win chances, and by how much it grows with a review
    low: float
    high: float
    grows: float
    most: float  # greatest variance of a ticket
    # least_off, most_off: between which the difference of two teams has to be, in deviations
    least_off: float
    most_off: float


@internal
def normal(value: float) -> float:
    """Return the normal distribution function by Abramowitz and Stegun, 7.1.26."""
    x = abs(value) / ROOT_2
    t = 1.0 / (1.0 + SLOWNESS * x)
    error = 1.0 - ((((A5 * t + A4) * t + A3) * t + A2) * t + A1) * t * math.exp(-x * x)
    return 0.5 * (1.0 + (error if value >= 0 else -error))


@njit
def off_at(chance: float) -> float:
    """Return how many deviations off a win chance is reached."""
    low, high = -FARTHEST, FARTHEST
    if chance <= 0.0:
        return low
    if chance >= 1.0:
        return high
    for _ in range(60):
        middle = 0.5 * (low + high)
        if normal(middle) < chance:
            low = middle
        else:
            high = middle
    return high


@njit
def first_line_up(search: Search, limits: Limits) -> bool:
    """Look for the first line-up that may start; its tickets are then in `search.chosen`."""
    teams, count, players = search.depth.size, search.size.size, search.need[0, 0]
    for k in range(count):
        search.used[k] = 0
    team = 0
    _begin(search, 0, 0, players)
    while team >= 0:
        depth = search.depth[at(team)]
        if search.need[at(team), at(depth)] == 0:
            if team < teams - 1:
                team += 1
                _begin(search, team, search.chosen[0, 0] + 1 if teams == 2 else 0, players)
                if teams == 2:
                    _bound(search, limits, players)
            elif _may_start(search, limits):
                return True
            else:
                _give_back(search, team)
            continue
        place = search.cursor[at(team), at(depth)]
        last = search.calls[1] if team == 0 and depth == 0 else count
        while place < last and not _fits(search, team, place):
            place = place + 1 if _reaches(search, team, place + 1) else count
        if place < last:
            _take(search, team, place)
        elif depth > 0:
            _give_back(search, team)
        else:
            team -= 1
            if team >= 0:
                _give_back(search, team)
    return False


@internal
def _begin(search: Search, team: int, first: int, players: int) -> None:
    search.depth[team] = 0
    search.need[team, 0] = players
    search.cursor[team, 0] = first
    search.skills[team, 0] = 0.0
    search.variances[team, 0] = 0.0


@inlined
def _take(search: Search, team: int, place: int) -> None:
    """Put a ticket into a team."""
    depth = search.depth[at(team)]
    own, here, next_ = at(team), at(depth), at(depth + 1)
    search.chosen[own, here] = place
    search.used[at(place)] = 1
    search.cursor[own, here] = place + 1
    search.depth[own] = depth + 1
    search.cursor[own, next_] = place + 1
    search.need[own, next_] = search.need[own, here] - search.size[at(place)]
    search.skills[own, next_] = search.skills[own, here] + search.skill[at(place)]
    search.variances[own, next_] = search.variances[own, here] + search.variance[at(place)]


@inlined
def _give_back(search: Search, team: int) -> None:
    """Take the last ticket out of a team."""
    depth = search.depth[at(team)] - 1
    search.depth[at(team)] = depth
    search.used[at(search.chosen[at(team), at(depth)])] = 0


@internal
def _bound(search: Search, limits: Limits, players: int) -> None:
    """Say between what the sums of tickets are that are not in the first team, and have to be."""
    count, first = search.size.size, search.depth[0]
    own = search.skills[0, first]
    spread = math.sqrt(limits.own + search.variances[0, first] + players * limits.most)
    slack = MARGIN * (1.0 + abs(own))
    search.window[0] = own - limits.most_off * spread - slack
    search.window[1] = own - limits.least_off * spread + slack
    for left in range(players + 1):
        search.low[count, left] = 0.0 if left == 0 else np.inf
        search.high[count, left] = 0.0 if left == 0 else -np.inf
    for place in range(count - 1, search.chosen[0, 0], -1):
        size = search.size[at(place)] if search.used[at(place)] == 0 else players + 1
        skill = search.skill[at(place)]
        for left in range(players + 1):
            low, high = search.low[at(place + 1), at(left)], search.high[at(place + 1), at(left)]
            if size <= left:
                rest = left - size
                low = min(low, search.low[at(place + 1), at(rest)] + skill)
                high = max(high, search.high[at(place + 1), at(rest)] + skill)
            search.low[at(place), at(left)] = low
            search.high[at(place), at(left)] = high


@inlined
def _fits(search: Search, team: int, place: int) -> bool:
    """Return whether a ticket has room in a team that may yet start."""
    depth = search.depth[team]
    left = search.need[at(team), at(depth)] - search.size[at(place)]
    if search.used[at(place)] != 0 or left < 0:
        return False
    if search.depth.size != 2 or team == 0:
        return True
    total = search.skills[at(1), at(depth)] + search.skill[at(place)]
    return (
        total + search.high[at(place + 1), at(left)] >= search.window[0]
        and total + search.low[at(place + 1), at(left)] <= search.window[1]
    )


@inlined
def _reaches(search: Search, team: int, place: int) -> bool:
    """Return whether a team may yet start with tickets from one on."""
    if search.depth.size != 2 or team == 0:
        return True
    depth = search.depth[1]
    total, left = search.skills[at(1), at(depth)], search.need[at(1), at(depth)]
    return (
        total + search.high[at(place), at(left)] >= search.window[0]
        and total + search.low[at(place), at(left)] <= search.window[1]
    )


@internal
def _may_start(search: Search, limits: Limits) -> bool:
    """Return whether the win chance of every team is within the band."""
    teams = search.depth.size
    search.calls[0] += 1
    longest = 0.0
    for team in range(teams):
        for k in range(search.depth[team]):
            longest = max(longest, search.ticks[search.chosen[team, k]])
    grown = limits.grows * longest
    pairs = teams * (teams - 1) / 2
    within = True
    for i in range(teams):
        total = 0.0
        for j in range(teams):
            if j != i:
                one, other = search.depth[i], search.depth[j]
                spread = math.sqrt(
                    limits.own + search.variances[i, one] + search.variances[j, other]
                )
                total += normal((search.skills[i, one] - search.skills[j, other]) / spread)
        search.chances[i] = total / pairs
        within &= limits.low - grown <= search.chances[i] <= limits.high + grown
    return within


def make_search(entries: Sequence[Entry], rule: BarRule) -> Search:
    """Return the state of a search among tickets, in the order in which they are looked at."""
    count, teams, players = len(entries), rule.team_count, rule.team_size
    table = (teams, players + 1)
    need = np.zeros(table, np.int64)
    need[0, 0] = players
    return Search(
        size=np.array([one.size for one in entries], np.int64),
        skill=np.array([one.skill for one in entries], np.float64),
        variance=np.array([one.variance for one in entries], np.float64),
        ticks=np.array([one.ticks for one in entries], np.float64),
        used=np.zeros(count, np.int64),
        chosen=np.zeros(table, np.int64),
        cursor=np.zeros(table, np.int64),
        need=need,
        skills=np.zeros(table),
        variances=np.zeros(table),
        depth=np.zeros(teams, np.int64),
        low=np.zeros((count + 1, players + 1)),
        high=np.zeros((count + 1, players + 1)),
        window=np.zeros(2),
        chances=np.zeros(teams),
        calls=np.array([0, count], np.int64),
    )


def limits_of(entries: Sequence[Entry], rule: BarRule) -> Limits:
    """Return what line-ups of tickets have to keep to."""
    grown = rule.band_grows * max((one.ticks for one in entries), default=0) + MARGIN
    low, high = float(off_at(rule.low - grown)), float(off_at(rule.high + grown))
    return Limits(
        own=rule.team_count * rule.beta * rule.beta,
        low=rule.low,
        high=rule.high,
        grows=rule.band_grows,
        most=max((one.variance for one in entries), default=0.0),
        least_off=min(0.0, max(low, -high)),
        most_off=max(0.0, min(high, -low)),
    )


def search_line_ups(
    entries: Sequence[Entry], rule: BarRule
) -> list[tuple[list[list[Entry]], list[float]]]:
    """Return line-ups and win chances of a review, in the order in which they start."""
    found: list[tuple[list[list[Entry]], list[float]]] = []
    rest = list(entries)
    while sum(one.size for one in rest) >= rule.team_count * rule.team_size:
        state = make_search(rest, rule)
        if not first_line_up(state, limits_of(rest, rule)):
            break
        teams = [
            [rest[int(k)] for k in state.chosen[team, : state.depth[team]]]
            for team in range(rule.team_count)
        ]
        found.append((teams, [float(one) for one in state.chances]))
        taken = {one.number for team in teams for one in team}
        rest = [one for one in rest if one.number not in taken]
    return found
