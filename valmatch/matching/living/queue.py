"""The queue that the rules of living matchmakers share: who comes, who leaves, when a rule looks.

A rule is a module of this folder that has what `Rule` lists. Tickets join, then others leave, then
there is a review, where these are at one moment.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any, NamedTuple, Protocol, cast

import numpy as np

from valmatch.kernels.arrays import Bools, Floats, Ints, Records, Words
from valmatch.kernels.compilation import internal, njit
from valmatch.matching.living.registry import Numbers, module_of
from valmatch.matching.queue import driver, kernel_of
from valmatch.matching.tickets.columns import Played
from valmatch.matching.tickets.layout import CANCELLED, COMPLETED, SEARCHING, TIMED_OUT, WAITING

ANY = 2**31  # farther than any rating
ROOM = 64  # tickets for which there is room at first

SOURCE = 1
"""Source of random numbers: of osu!'s lobbies, ShieldBattery's samples, lichess' waves."""

STATE = np.dtype(
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
        ("first", "i8"),  # of `Line.members`
        ("tickets", "i8"),
        ("value", "f8"),  # in the unit of the rule
        ("chance", "f8"),  # that the first team wins, as the rule believes; NaN: it says nothing
        ("skipped", "i8"),  # whether an older ticket that still waits would have done
    ]
)


class People(NamedTuple):
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


class Line(NamedTuple):
    """Tickets, who of them waits, and their matches."""

    times: Floats  # (n,); when tickets come
    until: Floats  # (n,); when they leave if they have no match
    cancelled: Ints  # (n,); whether they are cancelled then, or time out
    sizes: Ints  # (n,); players
    users: Ints  # (n,); number of the user. Who waits already does not join again
    numbers: Ints  # (n,); by which draws are addressed: how many joined before
    status: Ints  # (n,); of `valmatch.matching.tickets.layout`
    ends: Floats  # (n,); when they ended
    missed: Ints  # (n,); reviews that they were left over in
    waiting: Ints  # (n,); who waits, in order of joining
    present: Ints  # (users,); whether a user waits
    last: Ints  # (users,); what a rule remembers of a user: 0 at first
    memory: Floats  # (k,); what else a rule remembers
    members: Ints  # (2, n); tickets of matches and their teams
    before: Ints  # (n,); of a member 1 more than its index in its match before; 0 for none
    matches: Records  # (n,)
    state: Records  # (1,)
    rng_key: Words  # (3,); where the draws lie


class Rule(Protocol):
    """What the module of a rule has; the first two functions are plain Python."""

    Numbers: Any  # a `valmatch.matching.living.registry.Numbers`
    Terms: Any  # its `terms_type`

    def scratch_of(self, terms: Any, people: People, room: int) -> Any:  # noqa: ANN401
        """Return the arrays that the rule works with, where so many may wait."""

    def memory_of(self, terms: Any) -> Floats:  # noqa: ANN401
        """Return what the rule remembers at first."""

    def first_review(self, line: Line, scratch: Any) -> float:  # noqa: ANN401
        """Return when the first review is."""

    def enter(self, ticket: int, people: People, scratch: Any) -> None:  # noqa: ANN401
        """Work out what the rule goes by of a ticket that joins."""

    def joined(self, ticket: int, line: Line, scratch: Any) -> bool:  # noqa: ANN401
        """Take note of a ticket that has joined; return whether there is a review at once."""

    def refuses(self, ticket: int, line: Line, scratch: Any) -> bool:  # noqa: ANN401
        """Return whether a ticket may not join."""

    def review(self, now: float, line: Line, scratch: Any) -> float:  # noqa: ANN401
        """Form matches; return when the next review is."""

    def would_do(
        self,
        match: int,
        member: int,
        ticket: int,
        now: float,
        line: Line,
        scratch: Any,  # noqa: ANN401
    ) -> bool:
        """Return whether a match of this review could have a ticket in place of its `member`."""


RULE = cast(Rule, None)
"""The rule; it is put in place when the loop is compiled, see `valmatch.matching.queue`."""


def terms_type(numbers: type[Numbers], module: str) -> Any:  # noqa: ANN401
    """Return the type of the numbers of a rule as kernels take them, `Terms` of its module."""
    return namedtuple("Terms", tuple(numbers.model_fields), module=module)


def terms_of(preset: str, numbers: Numbers) -> Any:  # noqa: ANN401
    """Return the numbers of a rule as kernels take them."""
    return module_of(preset).Terms(**dict(numbers))


def no_memory(terms: Any) -> Floats:  # noqa: ANN401
    """Return the memory of a rule that remembers nothing of its own."""
    return np.zeros(1)


@internal
def by_the_clock(ticket: int, line: Line, scratch: Any) -> bool:  # noqa: ANN401
    """Return that there is no review at once when a ticket joins."""
    return False


@internal
def everybody_joins(ticket: int, line: Line, scratch: Any) -> bool:  # noqa: ANN401
    """Return that no ticket is refused."""
    return False


def make_line(
    times: Floats,
    cancels: Floats,
    sizes: Ints,
    users: Ints,
    timeout: float,
    horizon: float,
    memory: Floats,
    rng_key: Words,
) -> Line:
    """Return a line in which nobody waits yet."""
    n, every = times.size, int(users.max(initial=-1)) + 1
    state = np.zeros(1, STATE)
    state["due"], state["horizon"], state["next_end"] = np.nan, horizon, np.inf
    return Line(
        times,
        np.minimum(cancels, times + timeout),
        (cancels <= times + timeout).astype(np.int64),
        sizes,
        users,
        numbers=np.arange(n),
        status=np.zeros(n, np.int64),
        ends=np.zeros(n),
        missed=np.zeros(n, np.int64),
        waiting=np.zeros(n, np.int64),
        present=np.zeros(every, np.int64),
        last=np.zeros(every, np.int64),
        memory=memory,
        members=np.zeros((2, n), np.int64),
        before=np.zeros(n, np.int64),
        matches=np.zeros(n, MATCH),
        state=state,
        rng_key=rng_key,
    )


@internal
def enqueue(ticket: int, line: Line) -> None:
    """Let a ticket wait."""
    state = line.state[0]
    line.waiting[state["waiting"]] = ticket
    state["waiting"] += 1
    state["fresh"] += 1
    state["next_end"] = min(state["next_end"], line.until[ticket])
    line.status[ticket] = WAITING
    line.present[line.users[ticket]] = 1


@internal
def let_leave(now: float, inclusive: bool, line: Line) -> None:
    """Let those leave whose time was up before now, or is up now."""
    state = line.state[0]
    if state["next_end"] > now or (state["next_end"] == now and not inclusive):
        return
    left, next_end = 0, np.inf
    for k in range(state["waiting"]):
        ticket = line.waiting[k]
        until = line.until[ticket]
        if until < now or (until == now and inclusive):
            turn_away(ticket, until, line)
            line.present[line.users[ticket]] = 0
        else:
            line.waiting[left] = ticket
            left += 1
            next_end = min(next_end, until)
    state["waiting"] = left
    state["next_end"] = next_end


@internal
def turn_away(ticket: int, when: float, line: Line) -> None:
    """Note that a ticket is gone without a match."""
    in_time = line.cancelled[ticket] != 0 or when < line.until[ticket]
    line.status[ticket] = CANCELLED if in_time else TIMED_OUT
    line.ends[ticket] = when


@internal
def begin_match(now: float, value: float, chance: float, line: Line) -> None:
    """Begin a match; its tickets are added one by one."""
    state = line.state[0]
    match = line.matches[state["matches"]]
    match["time"], match["value"], match["chance"] = now, value, chance
    match["first"], match["tickets"], match["skipped"] = state["members"], 0, 0
    state["matches"] += 1


@internal
def add_member(ticket: int, team: int, now: float, line: Line) -> None:
    """Put a ticket into the match that was begun last."""
    state = line.state[0]
    line.members[0, state["members"]] = ticket
    line.members[1, state["members"]] = team
    state["members"] += 1
    line.matches[state["matches"] - 1]["tickets"] += 1
    line.status[ticket] = COMPLETED
    line.ends[ticket] = now
    line.present[line.users[ticket]] = 0


@internal
def other_member(match: int, member: int, line: Line) -> int:
    """Return the ticket of a pair that is not that of a member."""
    first = line.matches[match]["first"]
    return int(line.members[0, first + 1 if member == first else first])


@internal
def drop_matched(line: Line) -> None:
    """Let those leave who have a match; all others were left over once more."""
    state = line.state[0]
    left = 0
    for k in range(state["waiting"]):
        ticket = line.waiting[k]
        if line.status[ticket] != COMPLETED:
            line.waiting[left] = ticket
            line.missed[ticket] += 1
            left += 1
    state["waiting"] = left
    state["fresh"] = 0


@driver(njit)
def play(line: Line, people: People, scratch: Any, room: int) -> bool:  # noqa: ANN401
    """Let tickets come and go until the horizon; return whether there was room for all."""
    state = line.state[0]
    if np.isnan(state["due"]):
        state["due"] = RULE.first_review(line, scratch)
    for k in range(state["waiting"]):
        RULE.enter(line.waiting[k], people, scratch)
    while True:
        now = np.inf
        if state["joined"] < line.times.size:
            now = line.times[state["joined"]]
        if min(now, state["due"]) > state["horizon"]:
            break
        if now <= state["due"]:
            let_leave(now, False, line)
            if state["waiting"] >= room:
                return False
            ticket = state["joined"]
            state["joined"] += 1
            if line.present[line.users[ticket]] != 0 or RULE.refuses(ticket, line, scratch):
                turn_away(ticket, now, line)
                continue
            enqueue(ticket, line)
            RULE.enter(ticket, people, scratch)
            if not RULE.joined(ticket, line, scratch):
                continue
        else:
            now = state["due"]
        let_leave(now, True, line)
        first = state["matches"]
        state["due"] = RULE.review(now, line, scratch)
        drop_matched(line)
        for number in range(first, state["matches"]):
            match = line.matches[number]
            for member in range(match["first"], match["first"] + match["tickets"]):
                for k in range(state["waiting"]):
                    ticket = line.waiting[k]
                    # In order of joining: the others are younger than the member.
                    if match["skipped"] != 0 or ticket > line.members[0, member]:
                        break
                    if line.sizes[ticket] == line.sizes[line.members[0, member]]:
                        match["skipped"] = int(
                            RULE.would_do(number, member, ticket, now, line, scratch)
                        )
        state["reviews"] += 1
    let_leave(state["horizon"], True, line)
    for k in range(state["waiting"]):
        line.status[line.waiting[k]] = SEARCHING
        line.ends[line.waiting[k]] = state["horizon"]
    return True


class PresetInput(NamedTuple):
    """Tickets of players in order of time."""

    times: Floats  # (tickets,)
    cancels: Floats  # (tickets,)
    users: Ints  # (tickets,); numbers of users, from 0. Who waits already does not join again
    people: People
    rng_key: Words  # (3,); where the draws of the rule lie


class PresetReport(NamedTuple):
    """What a rule says of the matches that it has formed."""

    values: Floats  # (matches,); in the unit of the rule
    chances: Floats  # (matches,); of first teams to win, as it believes; NaN: it says nothing
    skipped: Bools  # (matches,); whether an older ticket that waits on would have done in one
    reviews: int
    relaxed: int  # reviews that asked for less than of a large population
    examined: float  # candidates that were valued


def play_preset(
    preset: str, numbers: Numbers, tickets: PresetInput, timeout: float, horizon: float
) -> tuple[Played, PresetReport]:
    """Play drawn tickets."""
    rule, terms, room = module_of(preset), terms_of(preset, numbers), ROOM
    line = make_line(
        tickets.times,
        tickets.cancels,
        tickets.people.sizes,
        tickets.users,
        timeout,
        horizon,
        rule.memory_of(terms),
        tickets.rng_key,
    )
    compiled = kernel_of(play, rule)
    while not compiled(line, tickets.people, rule.scratch_of(terms, tickets.people, room), room):
        room *= 2
    return _played(line), _report(line)


def _played(line: Line) -> Played:
    """Return what came of tickets."""
    state = line.state[0]
    matches = line.matches[: state["matches"]]
    tickets, teams = line.members[:, : state["members"]]
    of = np.repeat(np.arange(matches.size), matches["tickets"])
    times, none = matches["time"].copy(), np.zeros(0, np.int64)
    filled = np.zeros(of.size, np.bool_)
    return Played(
        line.status, line.ends, times, times, tickets, of, teams, times[of], filled, none, none
    )


def _report(line: Line) -> PresetReport:
    """Return what the rule says of its matches."""
    state = line.state[0]
    matches = line.matches[: state["matches"]]
    return PresetReport(
        matches["value"].copy(),
        matches["chance"].copy(),
        matches["skipped"] != 0,
        int(state["reviews"]),
        int(state["relaxed"]),
        float(state["examined"]),
    )
