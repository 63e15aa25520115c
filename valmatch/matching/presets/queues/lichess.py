"""A pool of lichess: waves at a distance, or at once when so many are there."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from valmatch.draws.addressed import uniform_at
from valmatch.kernels.arrays import Floats, Ints, Words
from valmatch.kernels.compilation import internal, njit
from valmatch.matching.plain_presets.playing import JITTER
from valmatch.matching.presets.blossoms import Forest, make_forest
from valmatch.matching.presets.pairing import pair
from valmatch.matching.presets.queues.line import (
    Line,
    add_member,
    begin_match,
    nothing_in_mind,
)
from valmatch.matching.presets.queues.people import People
from valmatch.matching.presets.scores import ANY, Pool, Terms, score, score_pairs, terms_of
from valmatch.rule_sets.presets.rules import LichessRule

THOUSANDTHS = 1000  # the time up to a wave is longer by a whole number of them


class Own(NamedTuple):
    """What the queue goes by."""

    terms: Terms
    every: float
    jitter: float
    rate: float
    cap: float
    players: int
    # just_paired, ranges: see `valmatch.rule_sets.presets.rules.LichessRule`
    just_paired: bool
    ranges: bool
    # every_pool, pool: all tickets, and room for as many as may wait; nobody has missed waves in
    # the former
    every_pool: Pool
    pool: Pool
    points: Floats  # (room, room)
    partners: Ints  # (room,)
    forest: Forest


def own_of(rule: LichessRule, people: People, room: int) -> Own:
    """Return what the queue goes by; parameters are those of `bar.own_of`."""
    return Own(
        terms_of(rule),
        rule.every,
        rule.jitter,
        rule.rate,
        rule.cap,
        rule.players,
        rule.just_paired,
        rule.ranges,
        _pool(people.sizes.size, 1),
        _pool(room, room),
        np.zeros((room, room)),
        np.zeros(room, np.int64),
        make_forest(room),
    )


def _pool(n: int, blocking: int) -> Pool:
    """Return room for tickets, of whom so many can block each other."""
    rating, sit, low, high, user, ranged, provisional = np.zeros((7, n), np.int64)
    blocked = np.zeros((blocking, blocking), np.int64)
    return Pool(rating, sit, low, high, user, ranged, provisional, np.zeros(n), blocked)


memory_of = nothing_in_mind


@internal
def first_review(line: Line, own: Own) -> float:
    """Return when the first wave is."""
    return own.every + _jitter(line.place, 0, own.jitter)


@internal
def enter(ticket: int, people: People, own: Own) -> None:
    """Note what a ticket is in a wave: its rating, and whom it wants to meet."""
    pool, player = own.every_pool, people.firsts[ticket]
    pool.rating[ticket] = int(np.rint(people.ratings[player]))
    pool.low[ticket] = people.low[ticket] if own.ranges else -ANY
    pool.high[ticket] = people.high[ticket] if own.ranges else ANY
    pool.user[ticket] = ticket
    pool.ranged[ticket] = people.ranged[ticket]
    pool.provisional[ticket] = people.unrated[player]


def jitter(place: Words, wave: int, most: float) -> float:
    """Return by how much the time up to a wave is longer; see `_jitter`, its compiled twin."""
    return most * math.floor(THOUSANDTHS * uniform_at(place, JITTER, 0, wave)) / THOUSANDTHS


@internal
def _jitter(place: Words, wave: int, most: float) -> float:
    return most * math.floor(THOUSANDTHS * uniform_at(place, JITTER, 0, wave)) / THOUSANDTHS


@internal
def joined(ticket: int, now: float, line: Line, own: Own) -> bool:
    """Return whether there are enough for a wave at once."""
    return line.state[0]["waiting"] >= own.players


@internal
def refuses(ticket: int, line: Line, own: Own) -> bool:
    """Return whether the user has just been paired."""
    last = line.last[line.users[ticket]]
    return own.just_paired and last > 0 and last == line.state[0]["reviews"]


@njit
def review(now: float, line: Line, own: Own) -> float:
    """Pair as many as can be; return when the next wave is."""
    state, every = line.state[0], own.every_pool
    count = state["waiting"]
    for k in range(count):
        ticket = line.waiting[k]
        own.pool.rating[k] = every.rating[ticket]
        own.pool.sit[k] = every.sit[ticket]
        own.pool.low[k] = every.low[ticket]
        own.pool.high[k] = every.high[ticket]
        own.pool.user[k] = every.user[ticket]
        own.pool.ranged[k] = every.ranged[ticket]
        own.pool.provisional[k] = every.provisional[ticket]
        own.pool.credit[k] = _credit(ticket, line, own)
    score_pairs(own.pool, count, own.terms, own.points)
    pair(own.forest, own.points, count, own.partners)
    for k in range(count):
        other = own.partners[k]
        if other > k:
            begin_match(now, own.points[k, other], np.nan, line)
            for team in range(2):
                ticket = line.waiting[other if team else k]
                add_member(ticket, team, now, line)
                line.last[line.users[ticket]] = state["reviews"] + 1
    state["examined"] += count * (count - 1) / 2
    return now + own.every + _jitter(line.place, state["reviews"] + 1, own.jitter)


@internal
def _credit(ticket: int, line: Line, own: Own) -> float:
    """Return the points for the waves that a ticket missed; nobody leaves games here."""
    return max(0.0, min(own.rate * line.missed[ticket], own.cap))


@internal
def would_do(match: int, member: int, ticket: int, now: float, line: Line, own: Own) -> bool:
    """Return whether a pair could have a ticket in place of a member."""
    first = line.matches[match]["first"]
    other = line.members[0, first + 1 if member == first else first]
    # The ticket has missed this wave by now.
    for k in range(2):
        one = ticket if k else other
        own.pool.rating[k] = own.every_pool.rating[one]
        own.pool.sit[k] = own.every_pool.sit[one]
        own.pool.low[k] = own.every_pool.low[one]
        own.pool.high[k] = own.every_pool.high[one]
        own.pool.user[k] = own.every_pool.user[one]
        own.pool.ranged[k] = own.every_pool.ranged[one]
        own.pool.provisional[k] = own.every_pool.provisional[one]
        missed = line.missed[one] - k
        own.pool.credit[k] = max(0.0, min(own.rate * missed, own.cap))
    return not np.isnan(score(own.pool, own.terms, 1, 0))
