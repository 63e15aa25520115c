"""The line of those who wait for a match by a preset, and the matches that are formed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats, Ints, Records, Words
from valmatch.kernels.compilation import internal
from valmatch.kernels.halting import watched
from valmatch.matching.tickets.layout import CANCELLED, COMPLETED, TIMED_OUT, WAITING
from valmatch.rule_sets.presets.rules import PresetRule

STATE = np.dtype(
    [
        ("halt", "i8"),  # not 0 where all is to end; see `valmatch.kernels.halting`
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


class Line(NamedTuple):
    """Tickets, who of them waits, and their matches."""

    # times, until: (n,); when tickets come, and leave if they have no match
    times: Floats
    until: Floats
    cancelled: Ints  # (n,); whether they are cancelled then, or time out
    # sizes, users: (n,); players; number of the user. Who waits already does not join again
    sizes: Ints
    users: Ints
    numbers: Ints  # (n,); by which draws are addressed: how many joined before
    status: Ints  # (n,); of `valmatch.matching.tickets.layout`
    ends: Floats  # (n,); when they ended
    missed: Ints  # (n,); reviews that they were left over in
    waiting: Ints  # (n,); who waits, in order of joining
    present: Ints  # (users,); whether a user waits
    last: Ints  # (users,); what a rule remembers of a user: 0 at first
    memory: Floats  # (k,); what else a rule remembers
    members: Ints  # (2, n); tickets of matches and their teams
    # (n,); of each member 1 more than its place in `members` in its match before; 0 for none
    before: Ints
    matches: Records  # (n,)
    state: Records  # (1,)
    place: Words  # (3,); where the draws lie


def make_line(
    times: Floats,
    cancels: Floats,
    sizes: Ints,
    users: Ints,
    timeout: float,
    horizon: float,
    memory: Floats,
    place: Words,
) -> Line:
    """Return a line in which nobody waits yet.

    Shapes: `times`, `cancels` (n,); `sizes`, `users` (n,); `place` (3,).
    """
    n = times.size
    state = np.zeros(1, STATE)
    state["due"], state["horizon"], state["next_end"] = np.nan, horizon, np.inf
    last = int(users.max(initial=-1)) + 1
    return Line(
        times,
        np.minimum(cancels, times + timeout),
        (cancels <= times + timeout).astype(np.int64),
        sizes,
        users,
        np.arange(n),
        np.zeros(n, np.int64),
        np.zeros(n),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(last, np.int64),
        np.zeros(last, np.int64),
        memory,
        np.zeros((2, n), np.int64),
        np.zeros(n, np.int64),
        np.zeros(n, MATCH),
        watched(state),
        place,
    )


@internal
def line_up(ticket: int, line: Line) -> None:
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
    kept, next_end = 0, np.inf
    for k in range(state["waiting"]):
        ticket = line.waiting[k]
        until = line.until[ticket]
        if until < now or (until == now and inclusive):
            turn_away(ticket, until, line)
            line.present[line.users[ticket]] = 0
        else:
            line.waiting[kept] = ticket
            kept += 1
            next_end = min(next_end, until)
    state["waiting"] = kept
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
def drop_matched(line: Line) -> None:
    """Let those leave who have a match; all others were left over once more."""
    state = line.state[0]
    kept = 0
    for k in range(state["waiting"]):
        ticket = line.waiting[k]
        if line.status[ticket] != COMPLETED:
            line.waiting[kept] = ticket
            line.missed[ticket] += 1
            kept += 1
    state["waiting"] = kept
    state["fresh"] = 0


def nothing_in_mind(rule: PresetRule) -> Floats:
    """Return the memory of a rule that remembers nothing of its own."""
    return np.zeros(1)


@internal
def by_the_clock(ticket: int, now: float, line: Line, own: Any) -> bool:  # noqa: ANN401
    """Return that there is no review at once when a ticket joins."""
    return False


@internal
def everybody_joins(ticket: int, line: Line, own: Any) -> bool:  # noqa: ANN401
    """Return that no ticket is refused."""
    return False
