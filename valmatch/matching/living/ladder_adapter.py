"""Living matchmakers for players who come back, with ratings that change.

The rules by which tickets are matched that are all known beforehand (`queue`), as rules of the
queue (`valmatch.matching.queue.QueueRule`). A ticket is a leader with those who come along. It has
an index, which is given anew when there is no more room, and a running number by which draws are
addressed, so that nothing depends on the room.

The queue works in seconds. It has nothing of `LACKS`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from valmatch.kernels.arrays import Floats, Ints, Records, Words
from valmatch.kernels.compilation import inlined, internal
from valmatch.matching.living.queue import (
    ANY,
    RULE,
    Line,
    People,
    drop_matched,
    make_line,
)
from valmatch.matching.living.queue import (
    enqueue as let_wait,
)
from valmatch.matching.living.registry import module_of
from valmatch.matching.queue import driver, kernel_of, no_waiting_teams
from valmatch.matching.tickets.layout import CANCELLED

F = TypeVar("F", bound=Callable[..., object])

HOUR = 3600.0

LACKS = ("latencies", "maps", "ranges", "requeuing", "timeouts")
"""What numbers may need (`valmatch.matching.living.registry.NEEDS`) that a ladder has not."""

LEAST_ROOM = 1024  # tickets that there are indices for at least, so that they are seldom given anew

STATE = np.dtype(
    [
        ("waiting", "i8"),  # players
        ("tickets", "i8"),  # that have joined
        ("formed", "i8"),  # teams so far
        ("found", "i8"),  # matches of the last review
        ("at_once", "i8"),  # whether the newcomer makes the rule look
        ("entered", "i8"),  # whether the rule knows who waits, and when it looks
    ]
)

KNOWN = np.dtype(
    [
        ("seen", "f8"),
        ("sigma", "f8"),
        ("queued", "f8"),  # hour of the ticket
        ("finished", "i8"),  # matches that have ended
        ("leader", "i8"),
        ("friends", "i8"),
    ]
)
"""What has to be known of a player.

What the rule sees of them and how uncertain that is, since when they wait, whose ticket they are
on, and up to how many numbers on from a leader those are who may be on it (`friends`).
"""


class Parameters(NamedTuple):
    """A preset as the queue reads it."""

    team_num: int  # players on each of its two teams
    horizon: float  # hours; no review happens at or after it
    largest: int  # most players of a ticket
    numbers: Any  # of the rule, its `Terms`
    remembers: float  # for how many seconds matches are looked back at


class QueueState(NamedTuple):
    """Who waits."""

    state: Records  # (1,)
    people: Records  # (n,); of everybody what `KNOWN` says
    place: Words  # (3,); where the draws lie; `with_people` sets it
    room: int  # how many tickets may wait
    line: Line
    seen: People  # players of tickets as the rule sees them
    members: Ints  # (tickets * largest,); who these are; the first of a ticket is the leader
    scratch: Any  # what the rule works with
    start: Floats  # what the rule remembers at first


def as_it_is(function: F) -> F:
    """Return a function that is plain Python, and yet another one for each rule."""
    return function


@driver(as_it_is)
def new(capacity: int, rules: Parameters) -> QueueState:
    """Return an empty queue in which so many tickets can wait."""
    return _with_room(max(capacity, LEAST_ROOM), capacity, 0, rules)


@driver(as_it_is)
def _with_room(tickets: int, room: int, players: int, rules: Parameters) -> QueueState:
    """Return an empty queue with so many indices, for so many who wait, of so many players."""
    sizes, largest = np.zeros(tickets, np.int64), rules.largest
    n = tickets * largest
    seen = People(
        sizes,
        largest * np.arange(tickets),
        np.zeros(n),
        np.zeros(n),
        np.zeros(n, np.int64),
        np.zeros(n, np.bool_),
        np.full(tickets, -1),
        np.zeros(tickets),
        np.full((1, 1), np.nan),
        np.full(tickets, -1),
        np.full(tickets, -ANY),
        np.full(tickets, ANY),
        np.zeros(tickets, np.bool_),
    )
    start: Floats = RULE.memory_of(rules.numbers)
    line = make_line(
        np.zeros(tickets),
        np.full(tickets, np.inf),
        sizes,
        np.zeros(tickets, np.int64),
        np.inf,
        np.inf,
        start.copy(),
        np.zeros(3, np.uint64),
    )
    return QueueState(
        np.zeros(1, STATE),
        np.zeros(0, KNOWN),
        np.zeros(3, np.uint64),
        room,
        line._replace(last=np.zeros(players, np.int64), present=np.zeros(players, np.int64)),
        seen,
        np.zeros(n, np.int64),
        RULE.scratch_of(rules.numbers, seen, room),
        start,
    )


def reset(queue: QueueState) -> None:
    """Empty the queue for the next replication, whose draws lie at its place."""
    line = queue.line
    for state in (queue.state, line.state):
        state.view(np.uint8)[:] = 0
    line.state["due"], line.state["next_end"] = np.nan, np.inf
    line.memory[:], line.last[:], line.present[:] = queue.start, 0, 0
    line.rng_key[:] = queue.place


@driver(as_it_is)
def grown(queue: QueueState, rules: Parameters) -> QueueState:
    """Return a copy of a queue in which the indices of those who wait are given anew.

    It has twice the room if they would fill the half of it. Matches go but for those that the rule
    looks back at.
    """
    line, state = queue.line, queue.line.state[0]
    first, start = _first_remembered(line, rules.remembers)
    waiting, members = line.waiting[: state["waiting"]], line.members[:, start : state["members"]]
    kept = np.union1d(waiting, members[0])
    tickets, room = line.times.size, queue.room
    large = _with_room(
        2 * tickets if 2 * kept.size >= tickets else tickets,
        2 * room if 2 * waiting.size >= room else room,
        max(line.last.size, queue.people.size),
        rules,
    )
    there = large.line
    for name in ("times", "users", "numbers", "status", "ends", "missed", "sizes"):
        getattr(there, name)[: kept.size] = getattr(line, name)[kept]
    players = (rules.largest * kept[:, np.newaxis] + np.arange(rules.largest)).ravel()
    for name in ("ratings", "deviations", "games", "unrated"):
        getattr(large.seen, name)[: players.size] = getattr(queue.seen, name)[players]
    large.members[: players.size] = queue.members[players]
    there.waiting[: waiting.size] = np.searchsorted(kept, waiting)
    number, matches = members.shape[1], line.matches[first : state["matches"]]
    there.members[0, :number] = np.searchsorted(kept, members[0])
    there.members[1, :number] = members[1]
    there.before[:number] = np.maximum(line.before[start : state["members"]] - start, 0)
    there.matches[: matches.size] = matches
    there.matches["first"][: matches.size] -= start
    there.last[: line.last.size] = np.maximum(line.last - start, 0)
    there.present[: line.present.size] = line.present
    there.memory[:], there.rng_key[:] = line.memory, line.rng_key
    there.state[:], large.state[:], large.state["entered"] = line.state, queue.state, 0
    there.state["joined"] = kept.size
    there.state["matches"], there.state["members"] = matches.size, number
    return large._replace(people=queue.people, place=queue.place)


def _first_remembered(line: Line, seconds: float) -> tuple[int, int]:
    """Return the first match that the rule will look back at, and its first member."""
    state = line.state[0]
    matches = line.matches[: state["matches"]]
    over = np.flatnonzero(state["due"] - matches["time"] <= seconds)
    if not over.size:
        return int(state["matches"]), int(state["members"])
    return int(over[0]), int(matches["first"][over[0]])


@inlined
def has_room(rules: Parameters, queue: QueueState) -> bool:
    """Return whether there is room for another ticket, of whatever player; see `grown`."""
    line, state = queue.line, queue.line.state[0]
    free = state["joined"] < line.times.size and state["waiting"] < queue.room
    return bool(free and queue.people.size <= line.last.size)


@driver(inlined)
def next_review(rules: Parameters, queue: QueueState) -> float:
    """Return when the rule looks next."""
    if queue.state[0]["entered"] == 0:
        _enter(queue)
    due = queue.line.state[0]["due"] / HOUR
    return due if due < rules.horizon else np.inf


@driver(internal)
def _enter(queue: QueueState) -> None:
    """Let the rule know who waits, and begin if nothing has happened yet."""
    state = queue.line.state[0]
    if np.isnan(state["due"]):
        state["due"] = RULE.first_review(queue.line, queue.scratch)
    for k in range(state["waiting"]):
        RULE.enter(queue.line.waiting[k], queue.seen, queue.scratch)
    queue.state[0]["entered"] = 1


@driver(internal)
def enqueue(now: float, rating: float, player: int, rules: Parameters, queue: QueueState) -> int:
    """Let a leader wait with those who come along; return the index of the ticket."""
    line, seen, state = queue.line, queue.seen, queue.state[0]
    ticket = line.state[0]["joined"]
    first, size = seen.firsts[ticket], 0
    for member in range(player, player + queue.people[player]["friends"]):
        known = queue.people[member]
        if known["leader"] == player:
            queue.members[first + size] = member
            seen.ratings[first + size] = known["seen"]
            seen.deviations[first + size] = known["sigma"]
            seen.games[first + size] = known["finished"]
            seen.unrated[first + size] = known["finished"] == 0
            size += 1
    # A moment in hours is not that in seconds to the last digit.
    moment = min(now * HOUR, line.state[0]["due"])
    line.times[ticket], line.users[ticket], line.sizes[ticket] = moment, player, size
    line.numbers[ticket], line.missed[ticket] = state["tickets"], 0
    line.state[0]["joined"] += 1
    state["tickets"] += 1
    state["waiting"] += size
    let_wait(ticket, line)
    RULE.enter(ticket, seen, queue.scratch)
    state["at_once"] = int(RULE.joined(ticket, line, queue.scratch))
    return int(ticket)


@internal
def leave(arrival: float, player: int, rules: Parameters, queue: QueueState) -> bool:
    """Let a leader and all on the ticket leave; no review is due by it."""
    line, state = queue.line, queue.line.state[0]
    place = 0
    while line.users[line.waiting[place]] != player:
        place += 1
    ticket = line.waiting[place]
    line.status[ticket] = CANCELLED
    line.present[player] = 0
    queue.state[0]["waiting"] -= line.sizes[ticket]
    state["waiting"] -= 1
    for k in range(place, state["waiting"]):
        line.waiting[k] = line.waiting[k + 1]
    return False


@driver(internal)
def review(now: float, newcomer: int, rules: Parameters, queue: QueueState) -> int:
    """Form matches by the clock, or at once where the rule does so; return their number."""
    line, state, inner = queue.line, queue.state[0], queue.line.state[0]
    moment = inner["due"]
    if newcomer >= 0:
        if state["at_once"] == 0:
            return 0
        moment = line.times[newcomer]
    before = inner["matches"]
    inner["due"] = RULE.review(moment, line, queue.scratch)
    drop_matched(line)
    inner["reviews"] += 1
    found = inner["matches"] - before
    state["found"] = found
    state["formed"] += 2 * found
    state["waiting"] -= 2 * rules.team_num * found
    return int(found)


@internal
def players_of_match(match: int, rules: Parameters, queue: QueueState, lineup: Records) -> None:
    """Give the players of a match, those of its first team first."""
    line, state = queue.line, queue.state[0]
    found = line.matches[line.state[0]["matches"] - state["found"] + match]
    number = state["formed"] + 2 * (match - state["found"])
    for team in range(2):
        seat = team * rules.team_num
        for k in range(found["first"], found["first"] + found["tickets"]):
            if line.members[1, k] != team:
                continue
            ticket = line.members[0, k]
            first = queue.seen.firsts[ticket]
            for player in range(first, first + line.sizes[ticket]):
                place, member = lineup[seat], queue.members[player]
                place["player"], place["team"] = member, number + team
                place["arrival"] = queue.people[member]["queued"]
                place["rating"] = queue.seen.ratings[player]
                seat += 1


@inlined
def still_waiting(rules: Parameters, queue: QueueState, arrivals: Floats) -> None:
    """Give the arrivals of all who wait, in order."""
    line, count = queue.line, 0
    for k in range(line.state[0]["waiting"]):
        ticket = line.waiting[k]
        for _ in range(line.sizes[ticket]):
            arrivals[count] = queue.people[line.users[ticket]]["queued"]
            count += 1


PARTS = (new, grown, next_review, enqueue, review)  # functions that are other ones for each rule


@cache
def queue_of(preset: str) -> ModuleType:
    """Return the queue of a preset: a `valmatch.matching.queue.QueueRule`."""
    queue = ModuleType(f"{__name__}.{preset}", f"The queue of {preset} for players who come back.")
    queue.__file__ = __file__
    for part in (Parameters, reset, has_room, leave, players_of_match, still_waiting):
        setattr(queue, part.__name__, part)
    for each in PARTS:
        setattr(queue, each.__name__, kernel_of(each, module_of(preset)))
    vars(queue)["waiting_teams"] = no_waiting_teams
    return queue
