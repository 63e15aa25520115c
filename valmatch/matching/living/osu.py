"""osu!'s queue: at every update users, by rating, draw a lobby from those within a radius."""

import math
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from pydantic import model_validator

from valmatch.draws.streams import uniform_at
from valmatch.inputs.fields import Flag, NonNegative, Number, Positive, whole
from valmatch.kernels.arrays import Bools, Floats, Ints, Words
from valmatch.kernels.compilation import kernel, part
from valmatch.matching.living import registry
from valmatch.matching.living.queue import (
    SOURCE,
    MatchmakerState,
    Values,
    add_member,
    begin_match,
    rule,
)
from valmatch.matching.living.registry import Tick, number
from valmatch.matching.tickets.layout import COMPLETED

RANKED = 2  # users of a lobby of ranked play, which alone keeps opponents apart
PAIRS = 2**31  # numbers of tickets that can be drawn for a pivot
FARTHEST = 700.0  # powers beyond which a radius has long reached its limit


class Numbers(registry.Numbers):
    """The numbers of osu!'s rule."""

    title = "osu!, matchmaking of lobbies"
    source = "osu-server-spectator 6b142c7, 2026-07-16: MatchmakingQueue.cs, matchmaking_pool.cs"
    value: ClassVar = ("points", "largest difference between the pivot and a member")
    clock: ClassVar = "tick"

    lobby_size: Annotated[int, *whole(2, 1000)] = number(2, "users", "Users of a lobby.")
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
    def remembers(self) -> float:
        """For how many seconds matches are looked back at."""
        return self.recent


class Users(NamedTuple):
    """Free users in order of rating."""

    serials: Ints  # (n,); of their tickets
    ratings: Floats  # (n,)
    waited: Floats  # (n,); seconds
    met: Bools  # (n, n); whether two have met recently


@part
def rating_of(ticket: int, state: MatchmakerState) -> float:
    """Return the rating of a user."""
    return state.parties.ratings[state.parties.firsts[ticket]]


@kernel(allocates=True)
def review(now: float, state: MatchmakerState, numbers: Values) -> float:
    """Form lobbies, let leave who has waited too long; return when the next update is."""
    counters = state.counters[0]
    waiting = state.waiting[: counters["waiting"]]
    if waiting.size >= numbers.lobby_size:
        ratings = np.empty(waiting.size)
        for k in range(waiting.size):
            ratings[k] = rating_of(waiting[k], state)
        by_rating = np.argsort(ratings, kind="mergesort")  # of equals, who joined first
        tickets, ratings = waiting[by_rating], ratings[by_rating]
        waited, met = now - state.times[tickets], _met(tickets, now, state, numbers)
        users = Users(state.serials[tickets], ratings, waited, met)
        for lobby in form_lobbies(users, numbers, state.rng_key, counters["reviews"]):
            off = np.abs(ratings[lobby] - ratings[lobby[0]])
            begin_match(now, off.max(), np.nan, state)
            for team in range(lobby.size):
                add_member(tickets[lobby[team]], team, now, state)
        counters["examined"] += waiting.size * (waiting.size - 1)
    if numbers.search_timeout > 0.0:
        for ticket in waiting:
            late = now - state.times[ticket] > numbers.search_timeout
            if late and state.status[ticket] != COMPLETED:
                state.until[ticket], state.cancelled[ticket] = now, 0
                counters["next_end"] = now
    return (counters["reviews"] + 2) * numbers.tick


@kernel(allocates=True)
def _met(tickets: Ints, now: float, state: MatchmakerState, numbers: Values) -> Bools:
    """Return which users of some tickets have met recently."""
    met = np.zeros((tickets.size, tickets.size), np.bool_)
    rows, match = state.last, state.counters[0]["matches"] - 1  # of these users, from 1 on
    rows[state.users[tickets]] = np.arange(1, tickets.size + 1)
    while match >= 0 and now - state.matches[match]["time"] <= numbers.recent:
        first = state.matches[match]["first"]
        there = rows[state.users[state.members[0, first : first + numbers.lobby_size]]]
        for row in there[there > 0] - 1:
            met[row, there[there > 0] - 1] = numbers.recent > 0.0
        match -= 1
    rows[state.users[tickets]] = 0
    return met


@kernel(allocates=True)
def could_replace(
    match: int, member: int, ticket: int, now: float, state: MatchmakerState, numbers: Values
) -> bool:
    """Return whether a lobby could have a ticket in place of a member, but for the pivot."""
    first = state.matches[match]["first"]
    if member == first or state.until[ticket] <= now:
        return False
    pivot = state.members[0, first]
    if _met(np.array([pivot, ticket]), now, state, numbers)[0, 1]:
        return False
    rating = rating_of(pivot, state)
    reach = radius(rating, now - state.times[pivot], numbers)
    return abs(rating_of(ticket, state) - rating) <= reach


@part
def radius(rating: float, waited: float, numbers: Values) -> float:
    """Return how far off the ratings are that a pivot takes."""
    most = numbers.radius_max * max(1.0, (rating - numbers.top100) / numbers.radius_max)
    off = (rating - numbers.centre) / numbers.scale
    by_rating = math.exp(min(off * off, FARTHEST))
    doubled = 2.0 ** min(waited / numbers.doubling, FARTHEST)
    return min(most, numbers.radius * by_rating * doubled)


@kernel(allocates=True)
def form_lobbies(users: Users, numbers: Values, rng_key: Words, update: int) -> Ints:
    """Return the lobbies of an update, a row each: members by rank, the pivot first."""
    # After a lobby the list is shorter, and the place in it is one more: so with `skip` the next
    # user is passed over, and as many more as were before the pivot.
    count, size = users.ratings.size, numbers.lobby_size
    lobbies, gone = np.empty((count // size, size), np.int64), np.zeros(count, np.bool_)
    drawn = np.empty(count)
    formed, passed_over = 0, 0
    for pivot in range(count):
        if gone[pivot]:
            continue
        if passed_over > 0:
            passed_over -= 1
            continue
        if draw_candidates(users, pivot, gone, drawn, numbers, rng_key, update) < size - 1:
            continue
        lobby = lobbies[formed]
        lobby[0] = pivot
        lobby[1:] = np.argsort(drawn, kind="mergesort")[: size - 1]
        gone[lobby] = True
        formed += 1
        if numbers.skip:
            passed_over = 1 + (lobby < pivot).sum()
    return lobbies[:formed]


@part
def draw_candidates(
    users: Users,
    pivot: int,
    gone: Bools,
    drawn: Floats,
    numbers: Values,
    rng_key: Words,
    update: int,
) -> int:
    """Draw a number for each candidate of a pivot; return how many there are."""
    reach = radius(users.ratings[pivot], users.waited[pivot], numbers)
    candidates = 0
    for k in range(drawn.size):
        drawn[k] = np.inf
        near = abs(users.ratings[k] - users.ratings[pivot]) <= reach
        if k != pivot and not gone[k] and near and not users.met[pivot, k]:
            address = users.serials[pivot] * PAIRS + users.serials[k]
            drawn[k] = uniform_at(rng_key, SOURCE, address, update)
            candidates += 1
    return candidates


osu = rule("osu", Numbers, review, could_replace)
