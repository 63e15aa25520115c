"""The queue of living matchmakers: at one moment tickets join, others leave, then a rule looks."""

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from valmatch.kernels.arrays import Bools, Floats, Ints, Records, Words
from valmatch.kernels.compilation import kernel, part
from valmatch.matching.living.registry import Numbers, kernel_numbers, rule_of
from valmatch.matching.queue import driver, kernel_of
from valmatch.matching.tickets.columns import Played
from valmatch.matching.tickets.layout import CANCELLED, COMPLETED, SEARCHING, TIMED_OUT, WAITING

Values: TypeAlias = Any  # the numbers of a rule as kernels take them, of a type for each

ANY = 2**31  # farther than any rating

SOURCE = 1  # source of random numbers: of osu!'s lobbies, ShieldBattery's samples, lichess' waves

COUNTERS = np.dtype(
    [
        ("joined", "i8"),
        ("waiting", "i8"),
        ("fresh", "i8"),  # tickets that joined since the last review
        ("matches", "i8"),
        ("members", "i8"),
        ("reviews", "i8"),
        ("relaxed", "i8"),  # reviews that asked for less than the rule does of a large population
        ("due", "f8"),  # when the next review is, NaN before anything has happened
        ("next_end", "f8"),  # when the next one leaves who waits
        ("horizon", "f8"),
        ("examined", "f8"),  # candidates that were valued
    ]
)
MATCH = np.dtype(
    [
        ("time", "f8"),
        ("first", "i8"),  # of `MatchmakerState.members`
        ("tickets", "i8"),
        ("value", "f8"),  # in the unit of the rule
        ("chance", "f8"),  # that the first team wins, as the rule believes; NaN: it says nothing
        ("skipped", "i8"),  # whether an older ticket that still waits would have done
    ]
)


class Parties(NamedTuple):
    """Players by ticket, and what is known of tickets."""

    sizes: Ints  # (tickets,); players
    firsts: Ints  # (tickets,); number of the first player, after whom the others come
    ratings: Floats  # (players,); mean of what is believed of their skill
    deviations: Floats  # (players,); and its standard deviation
    games: Ints  # (players,); games played
    unrated: Bools  # (players,); who is new
    regions: Ints  # (tickets,); the data centre of least latency; -1: not known
    round_trips: Floats  # (tickets,); milliseconds to that
    between: Floats  # (regions, regions); milliseconds between data centres; NaN: not known
    maps: Ints  # (tickets,); map picks as bits; -1 of who takes any
    low: Ints  # (tickets,); lowest rating that they want to meet, `ANY` away without a range
    high: Ints  # (tickets,); and the highest
    ranged: Bools  # (tickets,); who gave a range
    sits: Ints  # (tickets,); minus how often they let games sit; 0 in the models


class PresetInput(NamedTuple):
    """Tickets of players in order of time."""

    times: Floats  # (tickets,)
    cancels: Floats  # (tickets,)
    users: Ints  # (tickets,); numbers of users, from 0. Who waits already does not join again
    parties: Parties
    rng_key: Words  # (3,); where the draws of the rule lie


class MatchmakerState(NamedTuple):
    """Tickets, who of them waits, and their matches."""

    parties: Parties
    times: Floats  # (n,); when tickets come
    until: Floats  # (n,); when they leave if they have no match
    cancelled: Ints  # (n,); whether they are cancelled then, or time out
    users: Ints  # (n,); number of the user
    serials: Ints  # (n,); by which draws are addressed: how many joined before
    status: Ints  # (n,); of `valmatch.matching.tickets.layout`
    ends: Floats  # (n,); when they ended
    missed: Ints  # (n,); reviews that they were left over in
    waiting: Ints  # (n,); who waits, in order of joining
    present: Ints  # (users,); whether a user waits
    last: Ints  # (users,); what a rule remembers of a user: 0 at first
    memory: Floats  # (k,); what else a rule remembers
    members: Ints  # (2, n); tickets of matches and their teams
    matches: Records  # (n,)
    counters: Records  # (1,)
    rng_key: Words  # (3,); where the draws lie


class PresetReport(NamedTuple):
    """What a rule says of the matches that it has formed."""

    values: Floats  # (matches,); in the unit of the rule
    chances: Floats  # (matches,); of first teams to win, as it believes; NaN: it says nothing
    skipped: Bools  # (matches,); whether an older ticket that waits on would have done in one
    reviews: int
    relaxed: int  # reviews that asked for less than of a large population
    examined: float  # candidates that were valued


RULE: Any = None
"""The rule; it is put in place when the loop is compiled, see `valmatch.matching.queue`."""


# A rule, and the functions that are usual.


@part
def first_tick(state: MatchmakerState, numbers: Values) -> float:
    """Return when the first review is: at the first tick."""
    return numbers.tick


@part
def by_the_clock(state: MatchmakerState, numbers: Values) -> bool:
    """Take note of a ticket that has joined; return that there is no review at once."""
    return False


@part
def nobody_refused(ticket: int, state: MatchmakerState, numbers: Values) -> bool:
    """Return whether a ticket may not join: all may."""
    return False


def rule(
    preset: str,
    numbers: type[Numbers],
    review: Callable[[float, MatchmakerState, Values], float],
    could_replace: Callable[[int, int, int, float, MatchmakerState, Values], bool],
    memory_of: Callable[[Values], Floats] = lambda numbers: np.zeros(1),
    first_review: Callable[[MatchmakerState, Values], float] = first_tick,
    joined: Callable[[MatchmakerState, Values], bool] = by_the_clock,
    refuses: Callable[[int, MatchmakerState, Values], bool] = nobody_refused,
) -> ModuleType:
    """Return a rule of its functions, kernels all but `memory_of`: what it remembers at first."""
    # `review` forms matches at a moment, and returns when the next review is. `could_replace`
    # says whether a match of this review could have a ticket in place of its `member`. A rule is a
    # module, of which kernels know functions as their own.
    module = ModuleType(f"{numbers.__module__}.{preset}")
    module.__file__ = sys.modules[numbers.__module__].__file__
    vars(module).update(Numbers=numbers, memory_of=memory_of, first_review=first_review)
    vars(module).update(joined=joined, refuses=refuses, review=review, could_replace=could_replace)
    return module


# Coming, leaving, and matches.


def new_state(
    tickets: PresetInput, memory: Floats, timeout: float, horizon: float
) -> MatchmakerState:
    """Return a queue in which nobody waits yet."""
    n, users = tickets.times.size, int(tickets.users.max(initial=-1)) + 1
    late, counters = tickets.times + timeout, np.zeros(1, COUNTERS)
    counters["due"], counters["next_end"], counters["horizon"] = np.nan, np.inf, horizon
    return MatchmakerState(
        tickets.parties,
        tickets.times,
        until=np.minimum(tickets.cancels, late),
        cancelled=(tickets.cancels <= late).astype(np.int64),
        users=tickets.users,
        serials=np.arange(n),
        status=np.zeros(n, np.int64),
        ends=np.zeros(n),
        missed=np.zeros(n, np.int64),
        waiting=np.zeros(n, np.int64),
        present=np.zeros(users, np.int64),
        last=np.zeros(users, np.int64),
        memory=memory,
        members=np.zeros((2, n), np.int64),
        matches=np.zeros(n, MATCH),
        counters=counters,
        rng_key=tickets.rng_key,
    )


@part
def enqueue(ticket: int, state: MatchmakerState) -> None:
    """Let a ticket wait."""
    counters = state.counters[0]
    state.waiting[counters["waiting"]] = ticket
    counters["waiting"] += 1
    counters["fresh"] += 1
    counters["next_end"] = min(counters["next_end"], state.until[ticket])
    state.status[ticket] = WAITING
    state.present[state.users[ticket]] = 1


@part
def let_leave(now: float, state: MatchmakerState) -> None:
    """Let those leave whose time is up."""
    counters = state.counters[0]
    if counters["next_end"] > now:
        return
    left, next_end = 0, np.inf
    for k in range(counters["waiting"]):
        ticket = state.waiting[k]
        until = state.until[ticket]
        if until <= now:
            turn_away(ticket, until, state)
            state.present[state.users[ticket]] = 0
        else:
            state.waiting[left] = ticket
            left += 1
            next_end = min(next_end, until)
    counters["waiting"], counters["next_end"] = left, next_end


@part
def turn_away(ticket: int, when: float, state: MatchmakerState) -> None:
    """Note that a ticket is gone without a match."""
    in_time = state.cancelled[ticket] != 0 or when < state.until[ticket]
    state.status[ticket], state.ends[ticket] = CANCELLED if in_time else TIMED_OUT, when


@part
def begin_match(now: float, value: float, chance: float, state: MatchmakerState) -> None:
    """Begin a match; its tickets are added one by one."""
    counters = state.counters[0]
    match = state.matches[counters["matches"]]
    match["time"], match["value"], match["chance"] = now, value, chance
    match["first"], match["tickets"], match["skipped"] = counters["members"], 0, 0
    counters["matches"] += 1


@part
def add_member(ticket: int, team: int, now: float, state: MatchmakerState) -> None:
    """Put a ticket into the match that was begun last."""
    counters = state.counters[0]
    state.members[0, counters["members"]] = ticket
    state.members[1, counters["members"]] = team
    counters["members"] += 1
    state.matches[counters["matches"] - 1]["tickets"] += 1
    state.status[ticket], state.ends[ticket] = COMPLETED, now
    state.present[state.users[ticket]] = 0


@part
def is_taken(tickets: Ints, state: MatchmakerState) -> bool:
    """Return whether one of some tickets has a match already."""
    taken = False
    for ticket in tickets:
        taken = taken or state.status[ticket] == COMPLETED
    return taken


@part
def other_member(match: int, member: int, state: MatchmakerState) -> int:
    """Return the ticket of a pair that is not that of a member."""
    first = state.matches[match]["first"]
    return int(state.members[0, first + 1 if member == first else first])


@part
def end_review(state: MatchmakerState) -> None:
    """Let those leave who have a match; all others were left over once more."""
    counters, left = state.counters[0], 0
    for k in range(counters["waiting"]):
        ticket = state.waiting[k]
        if state.status[ticket] != COMPLETED:
            state.waiting[left] = ticket
            state.missed[ticket] += 1
            left += 1
    counters["waiting"], counters["fresh"] = left, 0
    counters["reviews"] += 1


# The loop of tickets that are known beforehand.


@driver(kernel(allocates=True))
def play(state: MatchmakerState, numbers: Values) -> None:
    """Let tickets come and go until the horizon."""
    counters = state.counters[0]
    if np.isnan(counters["due"]):
        counters["due"] = RULE.first_review(state, numbers)
    while True:
        now = np.inf
        if counters["joined"] < state.times.size:
            now = state.times[counters["joined"]]
        if min(now, counters["due"]) > counters["horizon"]:
            break
        if now <= counters["due"]:
            let_leave(np.nextafter(now, -np.inf), state)  # those of now leave after it
            ticket = counters["joined"]
            counters["joined"] += 1
            if state.present[state.users[ticket]] != 0 or RULE.refuses(ticket, state, numbers):
                turn_away(ticket, now, state)
                continue
            enqueue(ticket, state)
            if not RULE.joined(state, numbers):
                continue
        else:
            now = counters["due"]
        let_leave(now, state)
        first = counters["matches"]
        counters["due"] = RULE.review(now, state, numbers)
        for match in range(first, counters["matches"]):
            _note_skipped(match, now, state, numbers)
        end_review(state)
    let_leave(counters["horizon"], state)
    for k in range(counters["waiting"]):
        state.status[state.waiting[k]] = SEARCHING
        state.ends[state.waiting[k]] = counters["horizon"]


@driver(part)
def _note_skipped(number: int, now: float, state: MatchmakerState, numbers: Values) -> None:
    """Note whether an older ticket that waits on would have done in a match."""
    match, sizes = state.matches[number], state.parties.sizes
    for member in range(match["first"], match["first"] + match["tickets"]):
        other = state.members[0, member]
        for k in range(state.counters[0]["waiting"]):
            ticket = state.waiting[k]
            # In order of joining: the others are younger than the member.
            if ticket > other:
                break
            waits_on = state.status[ticket] != COMPLETED and sizes[ticket] == sizes[other]
            if waits_on and RULE.could_replace(number, member, ticket, now, state, numbers):
                match["skipped"] = 1
                return


def play_preset(
    preset: str, numbers: Numbers, tickets: PresetInput, timeout: float, horizon: float
) -> tuple[Played, PresetReport]:
    """Play drawn tickets."""
    by_rule, plain = rule_of(preset), kernel_numbers(numbers)
    state = new_state(tickets, by_rule.memory_of(plain), timeout, horizon)
    kernel_of(play, by_rule)(state, plain)
    counters = state.counters[0]
    matches = state.matches[: counters["matches"]]
    members, teams = state.members[:, : counters["members"]]
    of = np.repeat(np.arange(matches.size), matches["tickets"])
    times, none = matches["time"].copy(), np.zeros(0, np.int64)
    filled = np.zeros(of.size, np.bool_)
    played = Played(
        state.status, state.ends, times, times, members, of, teams, times[of], filled, none, none
    )
    report = PresetReport(
        matches["value"].copy(),
        matches["chance"].copy(),
        matches["skipped"] != 0,
        int(counters["reviews"]),
        int(counters["relaxed"]),
        float(counters["examined"]),
    )
    return played, report
