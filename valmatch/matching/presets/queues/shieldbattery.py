"""The queue of ShieldBattery: all rosters of those who are looked at, the best first."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from valmatch.draws.addressed import uniform_at
from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import internal, njit
from valmatch.matching.plain_presets.playing import SAMPLES
from valmatch.matching.presets.queues.line import Line, add_member, begin_match, everybody_joins
from valmatch.matching.presets.queues.people import People
from valmatch.matching.presets.rosters import (
    Found,
    Pool,
    Single,
    Singles,
    Terms,
    terms_of,
    value_roster,
    value_rosters,
)
from valmatch.matching.tickets.layout import COMPLETED
from valmatch.rule_sets.presets.rules import ShieldBatteryRule

FOLDED, PEAK, ENDS, IS_FOLDED = range(4)
"""What is remembered of the population: its estimate, the peak of a window, its end."""


class Own(NamedTuple):
    """What the queue goes by."""

    terms: Terms
    # others, at_least, relax, enough, weight: share of others' waits that orders; least quality;
    # how it falls for each player below enough; weight of a window of the population
    others: np.float32
    at_least: np.float32
    relax: np.float32
    enough: np.float32
    weight: np.float32
    window: float
    tick: float
    sample: int
    less_deviations: np.float32  # how many of its deviations a rating is lowered by
    picks: bool  # whether map picks count
    rating: Singles  # (n,); lowered ratings
    # region, maps: (n,)
    region: Ints
    maps: Ints
    # half, between: half of the milliseconds of each ticket to its region; half of those between
    # regions
    half: Singles
    between: Singles
    pool: Pool  # room for a sample
    looked: Ints  # (sample,); tickets of it
    drawn: Floats  # (room,)
    # roster, team: (2 * size,)
    roster: Ints
    team: Ints
    found: Found
    single: Found  # room for one roster
    key: Singles  # (rosters,); by what they are ordered


def own_of(rule: ShieldBatteryRule, people: People, room: int) -> Own:
    """Return what the queue goes by; parameters are those of `bar.own_of`."""
    n = people.sizes.size
    seats, members = min(rule.sample, room), 2 * rule.team_size
    rosters = max(1, math.comb(seats, members))
    between = np.where(np.isnan(people.between), rule.unknown, people.between)
    pool = Pool(
        np.zeros(seats, np.float32),
        np.zeros(seats, np.float32),
        np.zeros((seats, seats), np.float32),
        np.zeros(seats, np.int64),
    )
    weight = Single(1) - Single(0.5) ** Single(Single(rule.window) / Single(rule.half_life))
    return Own(
        terms_of(rule),
        Single(rule.others),
        Single(rule.at_least),
        Single(rule.relax),
        Single(Single(rule.multiple) * Single(members)),
        Single(weight),
        rule.window,
        rule.tick,
        seats,
        Single(rule.less_deviations),
        rule.maps,
        np.zeros(n, np.float32),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(n, np.float32),
        between.astype(np.float32) * Single(0.5),
        pool,
        np.zeros(seats, np.int64),
        np.zeros(room),
        np.zeros(members, np.int64),
        np.zeros(rule.team_size, np.int64),
        Found(np.zeros((rosters, members), np.int64), np.zeros((rosters, 4), np.float32)),
        Found(np.zeros((1, members), np.int64), np.zeros((1, 4), np.float32)),
        np.zeros(rosters, np.float32),
    )


@internal
def first_review(line: Line, own: Own) -> float:
    """Return when the first review is."""
    return own.tick


def memory_of(rule: ShieldBatteryRule) -> Floats:
    """Return what is remembered of the population at first."""
    return np.array([0.0, 0.0, rule.window, 0.0])


@internal
def joined(ticket: int, now: float, line: Line, own: Own) -> bool:
    """Take note of the size of the queue."""
    line.memory[PEAK] = max(line.memory[PEAK], float(line.state[0]["waiting"]))
    return False


refuses = everybody_joins


@internal
def enter(ticket: int, people: People, own: Own) -> None:
    """Note the lowered rating of a ticket, and where it is."""
    player = people.firsts[ticket]
    lowered = Single(own.less_deviations * Single(people.deviations[player]))
    own.rating[ticket] = Single(Single(people.ratings[player]) - lowered)
    own.region[ticket] = people.regions[ticket]
    own.maps[ticket] = people.maps[ticket] if own.picks else -1
    own.half[ticket] = Single(Single(people.round_trips[ticket]) * Single(0.5))


@internal
def _fold(now: float, line: Line, own: Own) -> np.float32:
    """Fold the windows of the population that are over; return the least quality."""
    memory = line.memory
    while now >= memory[ENDS]:
        peak = Single(memory[PEAK])
        if memory[IS_FOLDED] != 0.0:
            folded = Single(memory[FOLDED])
            memory[FOLDED] = Single(folded + Single(own.weight * Single(peak - folded)))
        elif memory[PEAK] > 0.0:
            memory[FOLDED] = peak
            memory[IS_FOLDED] = 1.0
        memory[PEAK] = line.state[0]["waiting"]
        memory[ENDS] += own.window
    return Single(own.at_least - _relaxed(line, own))


@internal
def _look(line: Line, own: Own) -> int:
    """Choose who is looked at: of too many, those with the smallest draws; return how many."""
    state = line.state[0]
    count = state["waiting"]
    if count <= own.sample:
        for k in range(count):
            own.looked[k] = line.waiting[k]
        return count
    for k in range(count):
        own.drawn[k] = uniform_at(
            line.place, SAMPLES, line.numbers[line.waiting[k]], state["reviews"]
        )
    for _ in range(own.sample):
        least = 0
        for k in range(1, count):
            if own.drawn[k] < own.drawn[least]:
                least = k
        own.drawn[least] = np.inf
    kept = 0
    for k in range(count):
        if own.drawn[k] == np.inf:
            own.looked[kept] = line.waiting[k]
            kept += 1
    return kept


@internal
def _copy(place: int, ticket: int, now: float, line: Line, own: Own) -> None:
    """Put a ticket into a place of the pool, after those in the places before it."""
    own.pool.rating[place] = own.rating[ticket]
    own.pool.wait[place] = Single(now - line.times[ticket])
    own.pool.maps[place] = own.maps[ticket]
    for k in range(place):
        other = own.looked[k]
        far = Single(0)
        if own.region[ticket] >= 0 and own.region[other] >= 0:
            between = own.between[own.region[other], own.region[ticket]]
            far = Single(Single(own.half[other] + between) + own.half[ticket])
        own.pool.far[k, place] = far
        own.pool.far[place, k] = far


@njit
def review(now: float, line: Line, own: Own) -> float:
    """Form matches; return when the next review is."""
    state, members = line.state[0], own.roster.size
    least = _fold(now, line, own)
    state["relaxed"] += int(least < own.at_least)
    following = (state["reviews"] + 2) * own.tick
    count = _look(line, own)
    if count < members:
        return following
    for k in range(count):
        _copy(k, own.looked[k], now, line, own)
    kept = value_rosters(own.pool, count, least, own.terms, own.roster, own.team, own.found)
    rosters = 1.0
    for k in range(members):
        rosters = rosters * (count - k) / (k + 1)
    state["examined"] += np.rint(rosters)
    for k in range(kept):
        own.key[k] = own.found.numbers[k, 0]
        if own.others > 0:
            own.key[k] = Single(own.key[k] + _extra(k, own))
    best = _best(kept, line, own)
    while best >= 0:
        numbers = own.found.numbers[best]
        begin_match(now, float(numbers[0]), float(numbers[2]), line)
        for k in range(members):
            ticket = own.looked[own.found.members[best, k]]
            add_member(ticket, int(k >= own.team.size), now, line)
        best = _best(kept, line, own)
    return following


@internal
def _extra(roster: int, own: Own) -> np.float32:
    """Return the credit of those of a roster who waited less than the longest."""
    total, before = Single(0), Single(-1)
    left = own.roster.size - 1
    # From the least on; of equals all at once.
    while left > 0:
        least, equals = Single(np.inf), 0
        for k in range(own.roster.size):
            wait = own.pool.wait[own.found.members[roster, k]]
            if wait > before and wait < least:
                least, equals = wait, 0
            equals += int(wait == least)
        for _ in range(min(equals, left)):
            total = Single(total + least)
        left -= equals
        before = least
    return Single(own.others * total)


@internal
def _best(kept: int, line: Line, own: Own) -> int:
    """Return the best roster whose tickets all wait, of equals the first; -1 for none."""
    best = -1
    for roster in range(kept):
        if best >= 0 and not own.key[roster] > own.key[best]:
            continue
        free = True
        for k in range(own.roster.size):
            ticket = own.looked[own.found.members[roster, k]]
            free = free and line.status[ticket] != COMPLETED
        if free:
            best = roster
    return best


@internal
def would_do(match: int, member: int, ticket: int, now: float, line: Line, own: Own) -> bool:
    """Return whether a match could have a ticket in place of a member, in teams of their own."""
    first = line.matches[match]["first"]
    size = own.roster.size
    # In order of joining.
    for k in range(size):
        one = ticket if first + k == member else line.members[0, first + k]
        place = k
        while place > 0 and own.looked[place - 1] > one:
            own.looked[place] = own.looked[place - 1]
            place -= 1
        own.looked[place] = one
    for k in range(size):
        own.roster[k] = k
        _copy(k, own.looked[k], now, line, own)
    least = Single(own.at_least - _relaxed(line, own))
    return value_roster(own.pool, least, own.terms, own.roster, own.team, own.single, 0)


@internal
def _relaxed(line: Line, own: Own) -> np.float32:
    """Return by how much the least quality has fallen."""
    memory = line.memory
    known = Single(memory[FOLDED] if memory[IS_FOLDED] != 0.0 else memory[PEAK])
    return Single(own.relax * max(Single(0), Single(own.enough - known)))
