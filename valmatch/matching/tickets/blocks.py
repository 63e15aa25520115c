"""Drawn tickets played block by block, so that a kernel never holds more than some of them.

A block ends before its next ticket comes. Who waits then, or has a proposal that is not decided,
goes on into the next one, older than all that come there; so nothing depends on where blocks end.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from valmatch.kernels import halting
from valmatch.kernels.arrays import Bools, Floats, Ints, Records
from valmatch.matching.tickets.building import queue_of
from valmatch.matching.tickets.columns import (
    Columns,
    Played,
    part_of_columns,
    play_columns,
    too_many,
    world_of_columns,
)
from valmatch.matching.tickets.driving import play as play_kernel
from valmatch.matching.tickets.layout import (
    AWAY,
    LINE,
    MADE,
    NEW,
    PENDING,
    PROPOSED,
    SEARCHING,
    WAITING,
    Queue,
)
from valmatch.rule_sets.table import Table
from valmatch.rule_sets.worlds import Search, Service

BLOCK = 2**14
"""Tickets of a block that come in it."""


class _Carried(NamedTuple):
    """What goes on into the next block.

    Attributes
    ----------
    tickets : (n,) ndarray of int64
        Numbers of tickets, by age.
    asked, ages : (n,) ndarray of int64
        Of each the proposals it has had, and the waits that it has passed.
    waits : (n,) ndarray of bool
        Who waits; the others are in proposals.
    proposals : records of MATCH
        Those that are not decided.
    members : (2, m) ndarray of int64
        Their tickets, and the teams of these.
    tick, reviews : int
        Reviews by the clock, and all, so far.
    """

    tickets: Ints
    asked: Ints
    ages: Ints
    waits: Bools
    proposals: Records
    members: Ints
    tick: int
    reviews: int


def play_in_blocks(
    table: Table, columns: Columns, service: Service, search: Search, block: int = BLOCK
) -> Played:
    """Play drawn tickets with reviews by the clock.

    Parameters
    ----------
    table, columns, service, search
        As those of `valmatch.matching.tickets.columns.play_columns`.
    block : int
        Tickets of a block.

    Raises
    ------
    RunError
        If an exhaustive search would have to look at too many tickets.
    """
    n = columns.times.size
    # The order of a pool that is cut is drawn by numbers of tickets, which differ in a block.
    if n <= block or service.batch_size is not None:
        return play_columns(table, columns, service, search)
    statuses, ends = np.full(n, AWAY), np.zeros(n)
    carried: _Carried | None = None
    made: list[_Made] = []
    for first, last in pairwise(_edges(columns.times, block)):
        own = np.arange(first, last)
        tickets = own if carried is None else np.concatenate((carried.tickets, own))
        until = service.horizon
        if last < n:
            until = min(until, float(np.nextafter(columns.times[last], -np.inf)))
        part = part_of_columns(columns, tickets)
        world = world_of_columns(table, part, service, search)
        world.options["horizon"] = until
        queue = queue_of(world)
        if carried is not None:
            _carry_on(carried, tickets, part, service, queue)
        crowd = play_kernel(world, queue)
        halting.check()
        if crowd:
            raise too_many(crowd)
        statuses[tickets], ends[tickets] = queue.slots["status"], queue.slots["end"]
        made.append(_made(tickets, queue))
        carried = _left(tickets, queue)
    searching = statuses == SEARCHING
    ends[searching] = service.horizon
    return _together(statuses, ends, made, len(table.rules))


def _edges(times: Floats, block: int) -> list[int]:
    """Return where blocks begin and the last ends; all that come at one moment are in one."""
    edges = times.searchsorted(times[::block], side="left")
    return np.unique([*edges, times.size]).tolist()


def _carry_on(
    carried: _Carried, tickets: Ints, part: Columns, service: Service, queue: Queue
) -> None:
    """Put those who go on into a new queue, of which they are the first tickets."""
    n, state = carried.tickets.size, queue.state
    slots = queue.slots[:n]
    slots["asked"], slots["age"], slots["news"] = carried.asked, carried.ages, NEW
    slots["status"] = np.where(carried.waits, WAITING, PROPOSED)
    line = np.flatnonzero(carried.waits)
    queue.lists[LINE, : line.size] = line
    state["joined"], state["waiting"] = n, line.size
    until = np.minimum(part.cancels, part.times + service.timeout)[line]
    state["next_end"] = until.min(initial=np.inf)
    count, listed = carried.proposals.size, carried.members.shape[1]
    queue.matches[:count] = carried.proposals
    queue.matched[0, :listed] = np.searchsorted(tickets, carried.members[0])
    queue.matched[1, :listed] = carried.members[1]
    queue.lists[PENDING, :count] = np.arange(count)
    state["proposals"] = state["matches"] = count
    state["listed"] = listed
    state["tick"], state["reviews"] = carried.tick, carried.reviews


def _left(tickets: Ints, queue: Queue) -> _Carried:
    """Return what goes on as a block ends."""
    state = queue.state[0]
    line = queue.lists[LINE, : state["waiting"]]
    proposals = queue.matches[queue.lists[PENDING, : state["proposals"]]]
    places = _places(proposals)
    members = queue.matched[:, places]
    stay = np.sort(np.concatenate((line, members[0])))
    proposals["first"] = np.cumsum(proposals["tickets"]) - proposals["tickets"]
    return _Carried(
        tickets[stay],
        queue.slots["asked"][stay],
        queue.slots["age"][stay],
        np.isin(stay, line),
        proposals,
        np.stack((tickets[members[0]], members[1])),
        int(state["tick"]),
        int(state["reviews"]),
    )


def _places(matches: Records) -> Ints:
    """Return where the tickets of matches are listed."""
    ends = np.cumsum(matches["tickets"])
    of = np.repeat(np.arange(matches.size), matches["tickets"])
    starts = (ends - matches["tickets"])[of]
    return np.asarray(matches["first"][of] + np.arange(of.size) - starts, np.int64)


class _Made(NamedTuple):
    """The matches of a block."""

    times: Floats
    proposed: Floats
    sizes: Ints
    tickets: Ints
    teams: Ints


def _made(tickets: Ints, queue: Queue) -> _Made:
    """Return the matches of a block, in the order in which they were made."""
    matches = queue.matches[queue.lists[MADE, : queue.state[0]["completed"]]]
    own, teams = queue.matched[:, _places(matches)]
    return _Made(
        matches["time"].copy(),
        matches["proposed"].copy(),
        matches["tickets"].copy(),
        tickets[own],
        teams,
    )


def _together(statuses: Ints, ends: Floats, made: list[_Made], rules: int) -> Played:
    """Return what came of all blocks."""
    times, proposed, sizes, tickets, teams = (
        np.concatenate(parts) for parts in zip(*made, strict=True)
    )
    of = np.repeat(np.arange(times.size), sizes)
    nothing = np.zeros(rules, np.int64)
    return Played(
        statuses,
        ends,
        times,
        proposed,
        tickets,
        of,
        teams,
        proposed[of],
        np.zeros(of.size, np.bool_),
        nothing,
        nothing.copy(),
    )
