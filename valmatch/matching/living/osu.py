"""osu!'s queue: at every update users, by rating, draw a lobby from those within a radius."""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from pydantic import Field, model_validator

from valmatch.draws.streams import uniform_at
from valmatch.inputs.fields import Flag, NonNegative, Number, Positive, Whole
from valmatch.kernels.arrays import Floats, Ints, Words
from valmatch.kernels.compilation import internal, njit
from valmatch.matching.living import registry
from valmatch.matching.living.queue import (
    SOURCE,
    Line,
    People,
    add_member,
    begin_match,
    by_the_clock,
    everybody_joins,
    no_memory,
    terms_type,
)
from valmatch.matching.living.registry import Tick, number
from valmatch.matching.tickets.layout import COMPLETED

RANKED = 2  # users of a lobby of ranked play, which alone keeps opponents apart
PAIRS = 2**31  # numbers of tickets that can be drawn for a pivot
FARTHEST = 700.0  # powers beyond which a radius has long reached its limit


class Numbers(registry.Numbers):
    """The numbers of osu!'s rule."""

    source = "osu-server-spectator 6b142c7, 2026-07-16: MatchmakingQueue.cs, matchmaking_pool.cs"
    value: ClassVar = ("points", "largest difference between the pivot and a member")

    lobby_size: Annotated[int, Field(ge=2, le=1000), *Whole] = number(
        2, "users", "Users of a lobby."
    )
    radius: Positive = number(20.0, "points", "How far a user at the centre looks at first.")
    doubling: Positive = number(300.0, "seconds", "Wait in which the radius doubles.")
    radius_max: Positive = number(9999.0, "points", "Its limit.")
    centre: Number = number(1500.0, "points", "Rating at which it is smallest.")
    scale: Positive = number(750.0, "points", "How far from there it is e times that.")
    top100: Number = number(
        99999.0,
        "points",
        "Rating from which the limit is raised; the source takes the last of the pool's best 100.",
    )
    search_timeout: NonNegative = number(
        0.0,
        "seconds",
        "Wait after which a user leaves at the end of an update. 0: nobody does.",
        "timeouts",
    )
    recent: NonNegative = number(
        600.0,
        "seconds",
        "For how long two do not meet again. In a lobby of more than 2: 0, unless set.",
        "users",
    )
    skip: Flag = number(
        True, "", "Whether the next user is passed over as pivot after a lobby, as in the source."
    )
    tick: Tick = number(1.0, "seconds", "Time between two updates.")

    @model_validator(mode="before")
    @classmethod
    def _quick_play(cls, data: object) -> object:
        """Let users of larger lobbies meet again at once unless a time is given."""
        if isinstance(data, dict) and data.get("lobby_size", RANKED) != RANKED:
            return {"recent": 0.0, **data}
        return data

    @property
    def teams(self) -> tuple[int, int]:
        """How many teams a match has, and of how many players: in a lobby each is a team."""
        return self.lobby_size, 1

    @property
    def clock(self) -> str:
        """The number that says how many seconds reviews are apart at most."""
        return "tick"

    @property
    def remembers(self) -> float:
        """For how many seconds matches are looked back at."""
        return self.recent


Terms = terms_type(Numbers, __name__)


class Users(NamedTuple):
    """Free users in order of rating."""

    number: Ints  # (room,); of their tickets
    rating: Floats  # (room,)
    waited: Floats  # (room,); seconds
    met: Ints  # (room, room); whether two have met recently


class Lobbies(NamedTuple):
    """Room for the lobbies of an update."""

    gone: Ints  # (room,); whether a user is in a lobby
    draw: Floats  # (room,); numbers drawn for the candidates of a pivot; infinite of all others
    members: Ints  # (room, lobby_size); members by place, the pivot first


class Scratch(NamedTuple):
    """What the rule works with."""

    terms: Any
    rating: Floats  # (n,)
    order: Ints  # (room,); who waits, by rating
    users: Users
    lobbies: Lobbies


def scratch_of(terms: Any, people: People, room: int) -> Scratch:  # noqa: ANN401
    """Return the arrays that the rule works with."""
    order, number, gone = np.zeros((3, room), np.int64)
    rating, waited, draw = np.zeros((3, room))
    return Scratch(
        terms,
        np.zeros(people.sizes.size),
        order,
        Users(number, rating, waited, np.zeros((room, room), np.int64)),
        Lobbies(gone, draw, np.zeros((room, terms.lobby_size), np.int64)),
    )


memory_of, joined, refuses = no_memory, by_the_clock, everybody_joins


@internal
def first_review(line: Line, scratch: Scratch) -> float:
    """Return when the first update is."""
    return scratch.terms.tick


@internal
def enter(ticket: int, people: People, scratch: Scratch) -> None:
    """Note the rating of a user."""
    scratch.rating[ticket] = people.ratings[people.firsts[ticket]]


@njit
def review(now: float, line: Line, scratch: Scratch) -> float:
    """Form lobbies, let leave who has waited too long; return when the next update is."""
    state, terms = line.state[0], scratch.terms
    if state["waiting"] >= terms.lobby_size:
        _sort(now, line, scratch)
        _form(now, line, scratch)
    if terms.search_timeout > 0.0:
        for k in range(state["waiting"]):
            ticket = line.waiting[k]
            late = now - line.times[ticket] > terms.search_timeout
            if late and line.status[ticket] != COMPLETED:
                line.until[ticket], line.cancelled[ticket] = now, 0
                state["next_end"] = now
    return (state["reviews"] + 2) * terms.tick


@internal
def _sort(now: float, line: Line, scratch: Scratch) -> None:
    """Note who waits in order of rating; of equals, who joined first."""
    order, users = scratch.order, scratch.users
    for k in range(line.state[0]["waiting"]):
        ticket = line.waiting[k]
        place = k
        while place > 0 and scratch.rating[order[place - 1]] > scratch.rating[ticket]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = ticket
    for k in range(line.state[0]["waiting"]):
        users.number[k] = line.numbers[order[k]]
        users.rating[k] = scratch.rating[order[k]]
        users.waited[k] = now - line.times[order[k]]
        if scratch.terms.recent > 0.0:
            for other in range(k):
                met = int(_met(order[k], order[other], now, line, scratch))
                users.met[k, other] = met
                users.met[other, k] = met


@internal
def _form(now: float, line: Line, scratch: Scratch) -> None:
    """Form the lobbies of an update."""
    state, users, members = line.state[0], scratch.users, scratch.lobbies.members
    count, size = state["waiting"], members.shape[1]
    formed = form_lobbies(
        users, count, scratch.terms, scratch.lobbies, line.rng_key, state["reviews"]
    )
    for lobby in range(formed):
        farthest = 0.0
        for k in range(1, size):
            off = abs(users.rating[members[lobby, k]] - users.rating[members[lobby, 0]])
            farthest = max(farthest, off)
        begin_match(now, farthest, np.nan, line)
        for k in range(size):
            ticket = scratch.order[members[lobby, k]]
            add_member(ticket, k, now, line)
            _remember(ticket, line)
    state["examined"] += count * (count - 1)


@internal
def _remember(ticket: int, line: Line) -> None:
    """Note that a match is the last one of a user."""
    user, index = line.users[ticket], line.state[0]["members"] - 1
    line.before[index] = line.last[user]
    line.last[user] = index + 1


@internal
def _met(first: int, second: int, now: float, line: Line, scratch: Scratch) -> bool:
    """Return whether the users of two tickets have met recently."""
    size, index = scratch.terms.lobby_size, line.last[line.users[first]]
    while index > 0:
        if now - line.ends[line.members[0, index - 1]] > scratch.terms.recent:
            return False
        lobby = (index - 1) // size * size
        for k in range(lobby, lobby + size):
            if line.users[line.members[0, k]] == line.users[second]:
                return True
        index = line.before[index - 1]
    return False


@internal
def would_do(
    match: int, member: int, ticket: int, now: float, line: Line, scratch: Scratch
) -> bool:
    """Return whether a lobby could have a ticket in place of a member, but for the pivot."""
    first = line.matches[match]["first"]
    if member == first or line.until[ticket] <= now:
        return False
    pivot = line.members[0, first]
    if scratch.terms.recent > 0.0 and _met(pivot, ticket, now, line, scratch):
        return False
    reach = radius(scratch.rating[pivot], now - line.times[pivot], scratch.terms)
    return abs(scratch.rating[ticket] - scratch.rating[pivot]) <= reach


# ---------------------------------------------------------------- the search


@internal
def radius(rating: float, waited: float, terms: Any) -> float:  # noqa: ANN401
    """Return how far off the ratings are that a pivot takes."""
    most = terms.radius_max * max(1.0, (rating - terms.top100) / terms.radius_max)
    off = (rating - terms.centre) / terms.scale
    by_rating = math.exp(min(off * off, FARTHEST))
    return min(most, terms.radius * by_rating * 2.0 ** min(waited / terms.doubling, FARTHEST))


@njit
def form_lobbies(
    users: Users,
    count: int,
    terms: Any,  # noqa: ANN401
    lobbies: Lobbies,
    rng_key: Words,
    update: int,
) -> int:
    """Form the lobbies of so many users; return how many there are."""
    size = lobbies.members.shape[1]
    for k in range(count):
        lobbies.gone[k] = 0
    formed, pivot = 0, 0
    while pivot < count:
        if lobbies.gone[pivot] != 0:
            pivot += 1
            continue
        if draw_candidates(users, count, terms, lobbies, rng_key, update, pivot) < size - 1:
            pivot += 1
            continue
        lobbies.members[formed, 0] = pivot
        lobbies.gone[pivot] = 1
        for k in range(1, size):
            chosen = _least(lobbies, count)
            lobbies.members[formed, k] = chosen
            lobbies.gone[chosen] = 1
            lobbies.draw[chosen] = np.inf
        formed += 1
        pivot = _next(lobbies, count, pivot, formed) if terms.skip else pivot + 1
    return formed


@internal
def draw_candidates(
    users: Users,
    count: int,
    terms: Any,  # noqa: ANN401
    lobbies: Lobbies,
    rng_key: Words,
    update: int,
    pivot: int,
) -> int:
    """Draw a number for each candidate of a pivot; return how many there are."""
    reach = radius(users.rating[pivot], users.waited[pivot], terms)
    candidates = 0
    for k in range(count):
        lobbies.draw[k] = np.inf
        if (
            k != pivot
            and lobbies.gone[k] == 0
            and abs(users.rating[k] - users.rating[pivot]) <= reach
            and users.met[pivot, k] == 0
        ):
            address = users.number[pivot] * PAIRS + users.number[k]
            lobbies.draw[k] = uniform_at(rng_key, SOURCE, address, update)
            candidates += 1
    return candidates


@internal
def _least(lobbies: Lobbies, count: int) -> int:
    """Return the first with the least number."""
    best = 0
    for k in range(1, count):
        if lobbies.draw[k] < lobbies.draw[best]:
            best = k
    return best


@internal
def _next(lobbies: Lobbies, count: int, pivot: int, formed: int) -> int:
    """Return the next pivot: the list is shorter now, and the place in it is one more.

    Those of the lobby who were before the pivot move the place further on.
    """
    further = 1
    for k in range(1, lobbies.members.shape[1]):
        further += lobbies.members[formed - 1, k] < pivot
    following = pivot
    while further > 0 and following < count:
        following += 1
        if following < count and lobbies.gone[following] == 0:
            further -= 1
    return following if further > 0 else following + 1
