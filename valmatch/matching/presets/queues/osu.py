"""The queue of osu!: lobbies around pivots every second; all accept at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import internal, njit
from valmatch.matching.presets.pivots import Room, Terms, Users, form_lobbies, radius, terms_of
from valmatch.matching.presets.queues.line import (
    Line,
    add_member,
    begin_match,
    by_the_clock,
    everybody_joins,
    nothing_in_mind,
)
from valmatch.matching.presets.queues.people import People
from valmatch.matching.tickets.layout import COMPLETED
from valmatch.rule_sets.presets.rules import OsuRule


class Own(NamedTuple):
    """What the queue goes by."""

    terms: Terms
    # tick, timeout, recent: seconds between reviews, of waiting after which a user leaves at the
    # end of one, and for which opponents do not meet again; 0: nobody leaves, they may
    tick: float
    timeout: float
    recent: float
    rating: Floats  # (n,)
    order: Ints  # (room,); who waits, by rating
    users: Users  # room for as many as may wait
    room: Room


def own_of(rule: OsuRule, people: People, room: int) -> Own:
    """Return what the queue goes by; parameters are those of `bar.own_of`."""
    users = Users(
        np.zeros(room, np.int64), np.zeros(room), np.zeros(room), np.zeros((room, room), np.int64)
    )
    seats = Room(
        np.zeros(room, np.int64), np.zeros(room), np.zeros((room, rule.lobby_size), np.int64)
    )
    rating = np.zeros(people.sizes.size)
    order = np.zeros(room, np.int64)
    return Own(terms_of(rule), rule.tick, rule.timeout, rule.recent, rating, order, users, seats)


@internal
def first_review(line: Line, own: Own) -> float:
    """Return when the first review is."""
    return own.tick


memory_of, joined, refuses = nothing_in_mind, by_the_clock, everybody_joins


@internal
def enter(ticket: int, people: People, own: Own) -> None:
    """Note the rating of a user."""
    own.rating[ticket] = people.ratings[people.firsts[ticket]]


@njit
def review(now: float, line: Line, own: Own) -> float:
    """Form lobbies, let leave who has waited too long; return when the next review is."""
    state = line.state[0]
    if state["waiting"] >= own.room.lobby.shape[1]:
        _form(now, line, own)
    if own.timeout > 0.0:
        for k in range(state["waiting"]):
            ticket = line.waiting[k]
            if line.status[ticket] != COMPLETED and now - line.times[ticket] > own.timeout:
                line.until[ticket], line.cancelled[ticket] = now, 0
                state["next_end"] = now
    return (state["reviews"] + 2) * own.tick


@internal
def _form(now: float, line: Line, own: Own) -> None:
    """Form the lobbies of a review."""
    state = line.state[0]
    count, size = state["waiting"], own.room.lobby.shape[1]
    # By rating; of equals, who joined first.
    numbers = own.order[:count]
    for k in range(count):
        ticket = line.waiting[k]
        place = k
        while place > 0 and own.rating[numbers[place - 1]] > own.rating[ticket]:
            numbers[place] = numbers[place - 1]
            place -= 1
        numbers[place] = ticket
    for k in range(count):
        own.users.number[k] = line.numbers[numbers[k]]
        own.users.rating[k] = own.rating[numbers[k]]
        own.users.waited[k] = now - line.times[numbers[k]]
    if own.recent > 0.0:
        for k in range(count):
            for other in range(k):
                met = int(_met(numbers[k], numbers[other], now, line, own))
                own.users.met[k, other] = met
                own.users.met[other, k] = met
    users = Users(
        own.users.number[:count], own.users.rating[:count], own.users.waited[:count], own.users.met
    )
    room = Room(own.room.gone[:count], own.room.draw[:count], own.room.lobby)
    lobbies = form_lobbies(users, own.terms, room, line.place, state["reviews"])
    for lobby in range(lobbies):
        pivot = room.lobby[lobby, 0]
        farthest = 0.0
        for k in range(1, size):
            off = abs(users.rating[room.lobby[lobby, k]] - users.rating[pivot])
            farthest = max(farthest, off)
        begin_match(now, farthest, np.nan, line)
        for k in range(size):
            ticket = numbers[room.lobby[lobby, k]]
            add_member(ticket, k, now, line)
            remember(ticket, line)
    state["examined"] += count * (count - 1)


@internal
def remember(ticket: int, line: Line) -> None:
    """Note that a match is the last one of a user."""
    user, place = line.users[ticket], line.state[0]["members"] - 1
    line.before[place] = line.last[user]
    line.last[user] = place + 1


@internal
def _met(first: int, second: int, now: float, line: Line, own: Own) -> bool:
    """Return whether the users of two tickets have met recently."""
    size, place = own.room.lobby.shape[1], line.last[line.users[first]]
    while place > 0:
        if now - line.ends[line.members[0, place - 1]] > own.recent:
            return False
        lobby = (place - 1) // size * size
        for k in range(lobby, lobby + size):
            if line.users[line.members[0, k]] == line.users[second]:
                return True
        place = line.before[place - 1]
    return False


@internal
def would_do(match: int, member: int, ticket: int, now: float, line: Line, own: Own) -> bool:
    """Return whether a lobby could have a ticket in place of a member, but for the pivot."""
    pivot = line.matches[match]["first"]
    if member == pivot or line.until[ticket] <= now:
        return False
    first = line.members[0, pivot]
    if own.recent > 0.0 and _met(first, ticket, now, line, own):
        return False
    reach = radius(own.rating[first], now - line.times[first], own.terms)
    return abs(own.rating[ticket] - own.rating[first]) <= reach
