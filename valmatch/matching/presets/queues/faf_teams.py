"""The queue of FAForever for teams: a match around each ticket at every pop, the best first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import internal, njit
from valmatch.matching.presets.neighbours import (
    Room,
    Terms,
    Tickets,
    make_room,
    quality_of,
    terms_of,
    value_neighbours,
)
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
from valmatch.matching.tickets.layout import COMPLETED
from valmatch.rule_sets.presets.rules import FafRule


class Own(NamedTuple):
    """What the queue goes by."""

    terms: Terms
    pops: Pops
    at_least: float  # least quality
    less_deviations: float
    newcomer_games: int  # see `valmatch.rule_sets.presets.rules.FafRule`
    # every, tickets: all tickets, and room for as many as may wait, by average
    every: Tickets
    tickets: Tickets
    numbers: Ints  # (room,); who these are
    room: Room
    # line, first, quality: see `valmatch.matching.presets.neighbours.value_neighbours`
    line: Ints
    first: Ints
    quality: Floats


def own_of(rule: FafRule, people: People, room: int) -> Own:
    """Return what the queue goes by; parameters are those of `bar.own_of`."""
    most = 2 * rule.team_size
    return Own(
        terms_of(rule),
        pops_of(rule),
        rule.at_least,
        rule.less_deviations,
        rule.newcomer_games,
        _tickets(people.sizes.size, rule.team_size),
        _tickets(room, rule.team_size),
        np.zeros(room, np.int64),
        make_room(most),
        np.zeros((room, most), np.int64),
        np.zeros(room, np.int64),
        np.zeros(room),
    )


def _tickets(n: int, team_size: int) -> Tickets:
    """Return room for tickets."""
    size, newcomers, attempts = np.zeros((3, n), np.int64)
    total, average, most = np.zeros((3, n))
    return Tickets(size, newcomers, attempts, total, average, most, np.zeros((n, team_size)))


first_review, memory_of = pops.first_review, pops.memory_of
joined, refuses = by_the_clock, everybody_joins


@internal
def enter(ticket: int, people: People, own: Own) -> None:
    """Work out what a ticket shows: lowered ratings and newcomers."""
    every, first, size = own.every, people.firsts[ticket], people.sizes[ticket]
    every.size[ticket], every.newcomers[ticket] = size, 0
    every.total[ticket], every.most[ticket] = 0.0, -np.inf
    for k in range(size):
        player = first + k
        shown = people.ratings[player] - own.less_deviations * people.deviations[player]
        every.newcomers[ticket] += people.games[player] <= own.newcomer_games
        every.total[ticket] += shown
        every.most[ticket] = max(every.most[ticket], shown)
        if k < every.ratings.shape[1]:
            every.ratings[ticket, k] = shown
    for k in range(size, every.ratings.shape[1]):
        every.ratings[ticket, k] = 0.0
    every.average[ticket] = every.total[ticket] / size


@internal
def _copy(k: int, ticket: int, attempts: int, own: Own) -> None:
    """Put a ticket into a place of those who are looked at."""
    own.tickets.size[k] = own.every.size[ticket]
    own.tickets.newcomers[k] = own.every.newcomers[ticket]
    own.tickets.attempts[k] = attempts
    own.tickets.total[k] = own.every.total[ticket]
    own.tickets.average[k] = own.every.average[ticket]
    own.tickets.most[k] = own.every.most[ticket]
    for player in range(own.every.ratings.shape[1]):
        own.tickets.ratings[k, player] = own.every.ratings[ticket, player]


@njit
def review(now: float, line: Line, own: Own) -> float:
    """Form matches; return when the next pop is."""
    state, numbers = line.state[0], own.numbers
    players, count = 0, 0
    for k in range(state["waiting"]):
        ticket = line.waiting[k]
        players += line.sizes[ticket]
        if line.sizes[ticket] > own.terms.team_size:
            continue
        # By average; of equals, who joined first.
        place = count
        while place > 0 and own.every.average[numbers[place - 1]] > own.every.average[ticket]:
            numbers[place] = numbers[place - 1]
            place -= 1
        numbers[place] = ticket
        count += 1
    if players >= 2 * own.terms.team_size:
        for k in range(count):
            _copy(k, numbers[k], line.missed[numbers[k]], own)
        value_neighbours(own.tickets, count, own.terms, own.room, own.line, own.first, own.quality)
        state["examined"] += count
        best = _best(count, line, own)
        while best >= 0:
            begin_match(now, own.quality[best], np.nan, line)
            for k in range(own.line.shape[1]):
                if own.line[best, k] >= 0:
                    add_member(numbers[own.line[best, k]], int(k >= own.first[best]), now, line)
            best = _best(count, line, own)
    return next_pop(now, players, line, own.pops)


@internal
def _best(count: int, line: Line, own: Own) -> int:
    """Return the best match whose tickets all wait, of equals the later; -1 for none."""
    best = -1
    for place in range(count):
        value = own.quality[place]
        if not value >= own.at_least or (best >= 0 and value < own.quality[best]):
            continue
        free = True
        for k in range(own.line.shape[1]):
            member = own.line[place, k]
            free = free and (member < 0 or line.status[own.numbers[member]] != COMPLETED)
        if free:
            best = place
    return best


@internal
def would_do(match: int, member: int, ticket: int, now: float, line: Line, own: Own) -> bool:
    """Return whether a match could have a ticket in place of a member, with the same teams."""
    record, size = line.matches[match], 0
    for k in range(record["first"], record["first"] + record["tickets"]):
        one = ticket if k == member else line.members[0, k]
        # Who is left over has missed this pop by now.
        _copy(size, one, line.missed[one] - int(k == member), own)
        own.line[0, size] = size
        if line.members[1, k] == 0:
            own.first[0] = size + 1
        size += 1
    return quality_of(own.tickets, own.terms, own.line[0], own.first[0], size) >= own.at_least
