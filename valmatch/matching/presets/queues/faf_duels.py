"""The queue of FAForever for duels: rounds of proposals at every pop."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import internal, njit
from valmatch.matching.presets.proposals import Lists, Tickets, draw_quality, propose
from valmatch.matching.presets.queues import pops
from valmatch.matching.presets.queues.line import (
    Line,
    add_member,
    begin_match,
    by_the_clock,
    everybody_joins,
)
from valmatch.matching.presets.queues.people import People
from valmatch.matching.presets.queues.pops import Pops, next_pop, pops_of
from valmatch.rule_sets.presets.rules import Expansion, FafRule


class Terms(NamedTuple):
    """Numbers of the rule, see `valmatch.rule_sets.presets.rules.FafRule`."""

    less_deviations: float
    newcomer_games: int
    newcomer_mean: float
    beta: float
    of_own: float
    top: float
    expand_top: Expansion
    expand_newcomers: Expansion
    expand_others: Expansion
    near_from: int
    uncertain: float


def terms_of(rule: FafRule) -> Terms:
    """Return the numbers of a rule."""
    return Terms(*(getattr(rule, name) for name in Terms._fields))


class Own(NamedTuple):
    """What the queue goes by."""

    terms: Terms
    pops: Pops
    # mean, deviation: (n,); ratings by which tickets are matched
    mean: Floats
    deviation: Floats
    # asked, step, cap: (n,); the least quality that each takes at first, and how that falls
    asked: Floats
    step: Floats
    cap: Floats
    tickets: Tickets  # room for as many as may wait
    lists: Lists


def own_of(rule: FafRule, people: People, room: int) -> Own:
    """Return what the queue goes by; parameters are those of `bar.own_of`."""
    n = people.sizes.size
    near = max(rule.near_from, int(np.log2(max(16, room))) // 2 + 1)
    width = min(room, 2 * near)

    def column() -> Floats:
        return np.zeros(room)

    return Own(
        terms_of(rule),
        pops_of(rule),
        np.zeros(n),
        np.zeros(n),
        np.zeros(n),
        np.zeros(n),
        np.zeros(n),
        Tickets(column(), column(), column(), np.zeros(room, np.int64)),
        Lists(
            np.zeros((room, width), np.int64),
            np.zeros((room, width)),
            np.zeros(room, np.int64),
            np.zeros(room, np.int64),
            column(),
        ),
    )


first_review, memory_of = pops.first_review, pops.memory_of
joined, refuses = by_the_clock, everybody_joins


@internal
def enter(ticket: int, people: People, own: Own) -> None:
    """Work out how a ticket is matched: its rating, blended for a newcomer, and what it takes."""
    terms, player = own.terms, people.firsts[ticket]
    rating, deviation = people.ratings[player], people.deviations[player]
    games, most = people.games[player], terms.newcomer_games
    top, new = rating - terms.less_deviations * deviation >= terms.top, games <= most
    if new:
        own.mean[ticket] = ((most - games) * terms.newcomer_mean + games * rating) / most
    else:
        own.mean[ticket] = rating
    own.deviation[ticket] = deviation
    noise = 2 * terms.beta * terms.beta
    total = noise + (deviation * deviation + deviation * deviation)
    own.asked[ticket] = terms.of_own * math.sqrt(noise / total)
    falls = terms.expand_top
    if not top:
        falls = terms.expand_newcomers if new else terms.expand_others
    own.step[ticket], own.cap[ticket] = falls.step, falls.cap


@internal
def _least(ticket: int, attempts: int, own: Own) -> float:
    """Return the least quality that a ticket takes."""
    return max(0.0, own.asked[ticket] - min(attempts * own.step[ticket], own.cap[ticket]))


@internal
def _key(ticket: int, own: Own) -> float:
    """Return by what tickets are sorted where they are many."""
    return 0.0 if own.deviation[ticket] >= own.terms.uncertain else own.mean[ticket]


@njit
def review(now: float, line: Line, own: Own) -> float:
    """Form matches; return when the next pop is."""
    state, count = line.state[0], line.state[0]["waiting"]
    players = 0
    for k in range(count):
        ticket = line.waiting[k]
        players += line.sizes[ticket]
        own.tickets.mean[k] = own.mean[ticket]
        own.tickets.deviation[k] = own.deviation[ticket]
        own.tickets.least[k] = _least(ticket, line.missed[ticket], own)
    if players >= 2:
        near = _sort(count, line, own)
        propose(own.tickets, count, own.lists, own.terms.beta, near)
        for place in range(count):
            state["examined"] += min(count - 1 - place, near)
        for k in range(count):
            other = own.lists.partner[k]
            if other > k:
                begin_match(now, own.lists.held[k], np.nan, line)
                add_member(line.waiting[k], 0, now, line)
                add_member(line.waiting[other], 1, now, line)
    return next_pop(now, players, line, own.pops)


@internal
def _sort(count: int, line: Line, own: Own) -> int:
    """Sort tickets where they are many; return how many places apart two may be."""
    order = own.tickets.order
    for k in range(count):
        place = k
        if count >= own.terms.near_from:
            key = _key(line.waiting[k], own)
            while place > 0 and _key(line.waiting[order[place - 1]], own) > key:
                order[place] = order[place - 1]
                place -= 1
        order[place] = k
    if count < own.terms.near_from:
        return count
    doublings, rest = 0, max(16, count)
    while rest > 1:
        rest //= 2
        doublings += 1
    return doublings // 2


@internal
def would_do(match: int, member: int, ticket: int, now: float, line: Line, own: Own) -> bool:
    """Return whether a duel could have a ticket in place of a member."""
    first = line.matches[match]["first"]
    other = line.members[0, first + 1 if member == first else first]
    for k in range(2):
        one = ticket if k else other
        own.tickets.mean[k] = own.mean[one]
        own.tickets.deviation[k] = own.deviation[one]
    quality = draw_quality(own.tickets, own.terms.beta, 0, 1)
    # Who is left over has missed this pop by now.
    least = max(
        _least(other, line.missed[other], own), _least(ticket, line.missed[ticket] - 1, own)
    )
    return quality >= least
