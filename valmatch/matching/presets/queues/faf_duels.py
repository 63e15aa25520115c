"""The queue of FAForever for duels: rounds of proposals at every pop."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import internal, njit
from valmatch.matching.presets.proposals import Lists, Tickets, draw_quality, propose
from valmatch.matching.presets.queues.line import (
    Line,
    add_member,
    begin_match,
    by_the_clock,
    everybody_joins,
)
from valmatch.matching.presets.queues.people import People
from valmatch.matching.presets.queues.pops import Pops, next_pop, pops_of
from valmatch.rule_sets.presets.rules import FafRule


class Own(NamedTuple):
    """What the queue goes by.

    Attributes
    ----------
    beta, uncertain : float
    near_from : int
        See `valmatch.rule_sets.presets.rules.FafRule`.
    pops : Pops
    mean, deviation : (n,) ndarray of float64
        Ratings by which tickets are matched.
    asked, step, cap : (n,) ndarray of float64
        The least quality that each takes at first, and how that falls.
    tickets : Tickets
        Room for as many as may wait.
    lists : Lists
    """

    beta: float
    uncertain: float
    near_from: int
    pops: Pops
    mean: Floats
    deviation: Floats
    asked: Floats
    step: Floats
    cap: Floats
    tickets: Tickets
    lists: Lists


def own_of(rule: FafRule, people: People, room: int) -> Own:
    """Return what the queue goes by; parameters are those of `bar.own_of`."""
    starts = np.cumsum(people.sizes) - people.sizes
    deviation, games = people.deviations[starts], people.games[starts]
    rating, most = people.ratings[starts], rule.newcomer_games
    new = games <= most
    mean = np.where(new, ((most - games) * rule.newcomer_mean + games * rating) / most, rating)
    own = 2 * rule.beta * rule.beta
    total = own + (deviation * deviation + deviation * deviation)
    kinds = np.select([rating - rule.less_deviations * deviation >= rule.top, new], [0, 1], 2)
    falls = (rule.expand_top, rule.expand_newcomers, rule.expand_others)
    near = max(rule.near_from, int(np.log2(max(16, room))) // 2 + 1)
    width = min(room, 2 * near)

    def column() -> Floats:
        return np.zeros(room)

    return Own(
        rule.beta,
        rule.uncertain,
        rule.near_from,
        pops_of(rule),
        np.asarray(mean, np.float64),
        deviation,
        rule.of_own * np.sqrt(own / total),
        np.array([one.step for one in falls], np.float64)[kinds],
        np.array([one.cap for one in falls], np.float64)[kinds],
        Tickets(column(), column(), column(), np.zeros(room, np.int64)),
        Lists(
            np.zeros((room, width), np.int64),
            np.zeros((room, width)),
            np.zeros(room, np.int64),
            np.zeros(room, np.int64),
            column(),
        ),
    )


joined, refuses = by_the_clock, everybody_joins


@internal
def _least(ticket: int, attempts: int, own: Own) -> float:
    """Return the least quality that a ticket takes."""
    return max(0.0, own.asked[ticket] - min(attempts * own.step[ticket], own.cap[ticket]))


@internal
def _key(ticket: int, own: Own) -> float:
    """Return by what tickets are sorted where they are many."""
    return 0.0 if own.deviation[ticket] >= own.uncertain else own.mean[ticket]


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
        propose(own.tickets, count, own.lists, own.beta, near)
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
        if count >= own.near_from:
            key = _key(line.waiting[k], own)
            while place > 0 and _key(line.waiting[order[place - 1]], own) > key:
                order[place] = order[place - 1]
                place -= 1
        order[place] = k
    if count < own.near_from:
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
    quality = draw_quality(own.tickets, own.beta, 0, 1)
    # Who is left over has missed this pop by now.
    least = max(
        _least(other, line.missed[other], own), _least(ticket, line.missed[ticket] - 1, own)
    )
    return quality >= least
