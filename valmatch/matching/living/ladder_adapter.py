"""Living matchmakers as rules of the queue (`valmatch.matching.queue.QueueRule`), by the second.

A ticket is a leader with those who come along, and has the leader's number: nobody waits twice.
"""

from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats, Ints, Records, Words
from valmatch.kernels.compilation import macro, part
from valmatch.matching.living import queue as living
from valmatch.matching.living.queue import (
    ANY,
    MATCH,
    RULE,
    MatchmakerState,
    Parties,
    PresetInput,
    end_review,
    new_state,
)
from valmatch.matching.living.registry import Numbers, kernel_numbers, rule_of
from valmatch.matching.queue import driver, kernel_of, with_people
from valmatch.matching.tickets.layout import CANCELLED

HOUR = 3600.0

LEAST_ROOM = 1024  # matches that there is room for at first

STATE = np.dtype(
    [
        ("waiting", "i8"),  # players
        ("first", "i8"),  # match of the last review
    ]
)


class Parameters(NamedTuple):
    """A preset as the queue reads it."""

    team_num: int  # players on each of its two teams
    horizon: float  # hours; no review happens at or after it
    largest: int  # most players of a ticket
    numbers: Any  # of the rule, as kernels take them
    memory: Floats  # what the rule remembers at first
    remembers: float  # for how many seconds matches are looked back at


def options_of(preset: str, numbers: Numbers) -> dict[str, object]:
    """Return the parameters that follow from the numbers of a preset."""
    plain = kernel_numbers(numbers)
    memory = rule_of(preset).memory_of(plain)
    return {"numbers": plain, "memory": memory, "remembers": numbers.remembers}


class QueueState(NamedTuple):
    """Who waits."""

    state: Records  # (1,)
    # (n,); what the rule sees of everybody (`seen`) and how uncertain that is (`sigma`), matches
    # that have ended (`finished`), whose ticket they are on (`leader`), and up to how many numbers
    # on from a leader those are who may be on it (`friends`)
    people: Records
    rng_key: Words  # (3,); where the draws lie, that of the tickets; `with_people` sets it
    tickets: MatchmakerState
    members: Ints  # (n * largest,); who the players of tickets are; the first one is the leader


def new(capacity: int, rules: Parameters) -> QueueState:
    """Return an empty queue for so many players."""
    n, largest = capacity, rules.largest
    parties = Parties(
        np.zeros(n, np.int64),
        largest * np.arange(n),
        ratings=np.zeros(n * largest),
        deviations=np.zeros(n * largest),
        games=np.zeros(n * largest, np.int64),
        unrated=np.zeros(n * largest, np.bool_),
        regions=np.full(n, -1),
        round_trips=np.zeros(n),
        between=np.full((1, 1), np.nan),
        maps=np.full(n, -1),
        low=np.full(n, -ANY),
        high=np.full(n, ANY),
        ranged=np.zeros(n, np.bool_),
        sits=np.zeros(n, np.int64),
    )
    never, rng_key = np.full(n, np.inf), np.zeros(3, np.uint64)
    tickets = PresetInput(np.zeros(n), never, np.arange(n), parties, rng_key)
    return QueueState(
        np.zeros(1, STATE),
        np.zeros(0, np.void),
        rng_key,
        _with_matches(LEAST_ROOM, rules, new_state(tickets, rules.memory.copy(), np.inf, np.inf)),
        np.zeros(n * largest, np.int64),
    )


def _with_matches(room: int, rules: Parameters, tickets: MatchmakerState) -> MatchmakerState:
    """Return tickets with room for matches, of which there are none."""
    members = 2 * rules.team_num * room
    return tickets._replace(matches=np.zeros(room, MATCH), members=np.zeros((2, members), np.int64))


def grown(queue: QueueState, rules: Parameters) -> QueueState:
    """Return a queue with room for everybody, before anybody comes, or for more matches."""
    # Matches go but for those that the rule looks back at.
    old, counters = queue.tickets, queue.tickets.counters[0]
    if old.times.size < queue.people.size:
        return with_people(new(queue.people.size, rules), queue.people, queue.rng_key)
    matches = old.matches[: counters["matches"]]
    matches = matches[counters["due"] - matches["time"] <= rules.remembers]
    first = int(matches["first"][0]) if matches.size else int(counters["members"])
    n = int(counters["members"]) - first
    room = max(old.matches.size, 2 * (matches.size + int(counters["waiting"])))
    there = _with_matches(room, rules, old)
    there.matches[: matches.size] = matches
    there.matches["first"][: matches.size] -= first
    there.members[:, :n] = old.members[:, first : first + n]
    counters["matches"], counters["members"] = matches.size, n
    return queue._replace(tickets=there)


@macro
def has_room(rules: Parameters, queue: QueueState) -> bool:
    """Return whether there is room for a ticket, and for the matches of a review; see `grown`."""
    tickets, counters = queue.tickets, queue.tickets.counters[0]
    most = counters["matches"] + counters["waiting"] // 2 + 1
    return bool(queue.people.size <= tickets.times.size and most <= tickets.matches.size)


@driver(macro)
def next_review(rules: Parameters, queue: QueueState) -> float:
    """Return when the rule looks next."""
    counters = queue.tickets.counters[0]
    if np.isnan(counters["due"]):
        counters["due"] = RULE.first_review(queue.tickets, rules.numbers)
    due = counters["due"] / HOUR
    return due if due < rules.horizon else np.inf


@part
def enqueue(now: float, rating: float, player: int, rules: Parameters, queue: QueueState) -> int:
    """Let a leader wait with those who come along; return the number of the ticket."""
    tickets, parties, counters = queue.tickets, queue.tickets.parties, queue.tickets.counters[0]
    first, size = parties.firsts[player], 0
    for member in range(player, player + queue.people[player]["friends"]):
        known = queue.people[member]
        if known["leader"] == player:
            queue.members[first + size] = member
            parties.ratings[first + size] = known["seen"]
            parties.deviations[first + size] = known["sigma"]
            parties.games[first + size] = known["finished"]
            parties.unrated[first + size] = known["finished"] == 0
            size += 1
    # A moment in hours is not that in seconds to the last digit.
    tickets.times[player] = min(now * HOUR, counters["due"])
    parties.sizes[player], tickets.missed[player] = size, 0
    tickets.serials[player] = counters["joined"]
    counters["joined"] += 1
    queue.state[0]["waiting"] += size
    living.enqueue(player, tickets)
    return player


@part
def leave(player: int, rules: Parameters, queue: QueueState) -> bool:
    """Let a leader and all on the ticket leave; no review is due by it."""
    tickets, counters, index = queue.tickets, queue.tickets.counters[0], 0
    while tickets.waiting[index] != player:
        index += 1
    tickets.status[player] = CANCELLED
    queue.state[0]["waiting"] -= tickets.parties.sizes[player]
    counters["waiting"] -= 1
    for k in range(index, counters["waiting"]):
        tickets.waiting[k] = tickets.waiting[k + 1]
    return False


@driver(part)
def review(now: float, newcomer: int, rules: Parameters, queue: QueueState) -> int:
    """Form matches by the clock, or at once where the rule does so; return their number."""
    tickets, state, counters = queue.tickets, queue.state[0], queue.tickets.counters[0]
    moment = counters["due"]
    if newcomer >= 0:
        if not RULE.joined(tickets, rules.numbers):
            return 0
        moment = tickets.times[newcomer]
    state["first"] = counters["matches"]
    counters["due"] = RULE.review(moment, tickets, rules.numbers)
    end_review(tickets)
    formed = counters["matches"] - state["first"]
    state["waiting"] -= 2 * rules.team_num * formed
    return int(formed)


@part
def players_of_match(match: int, rules: Parameters, queue: QueueState, lineup: Records) -> None:
    """Give the players of a match, those of its first team first."""
    tickets = queue.tickets
    formed = tickets.matches[queue.state[0]["first"] + match]
    for team in range(2):
        seat = team * rules.team_num
        for k in range(formed["first"], formed["first"] + formed["tickets"]):
            if tickets.members[1, k] != team:
                continue
            ticket = tickets.members[0, k]
            first = tickets.parties.firsts[ticket]
            for player in range(first, first + tickets.parties.sizes[ticket]):
                lineup[seat]["player"] = queue.members[player]
                seat += 1


@cache
def queue_of(preset: str) -> ModuleType:
    """Return the queue of a preset: a `valmatch.matching.queue.QueueRule`."""
    queue = ModuleType(f"{__name__}.{preset}", f"The queue of {preset} for players who come back.")
    vars(queue).update(globals(), __name__=queue.__name__)
    for each in (next_review, review):
        setattr(queue, each.__name__, kernel_of(each, rule_of(preset)))
    return queue
