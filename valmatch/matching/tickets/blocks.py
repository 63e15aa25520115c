"""Drawn tickets played block by block, so that a kernel never holds more than some of them.

A block ends before the next ticket comes. Who waits then, or has a proposal that is not decided,
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
    places_in,
    play_columns,
    played_of,
    too_many,
    world_of_columns,
)
from valmatch.matching.tickets.driving import play as play_kernel
from valmatch.matching.tickets.layout import (
    AWAY,
    LINE,
    NEW,
    PENDING,
    PROPOSED,
    WAITING,
    Queue,
)
from valmatch.rule_sets.table import Table
from valmatch.rule_sets.worlds import Search, Service

BLOCK = 2**14  # tickets of a block that come in it


class _Carried(NamedTuple):
    """What goes on into the next block, of which these are the first tickets."""

    # asked, ages: (n,); of each the proposals it has had, and the waits that it has passed
    asked: Ints
    ages: Ints
    waits: Bools  # (n,); who waits; the others are in proposals
    proposals: Records  # records of MATCH; those that are not decided
    members: Ints  # (2, m); their tickets, and the teams of these
    # tick, reviews: reviews by the clock, and all, so far
    tick: int
    reviews: int


class Blocks:
    """Plays tickets block by block, with reviews by the clock."""

    def __init__(self, table: Table, service: Service, search: Search) -> None:
        self._table, self._service, self._search = table, service, search
        self._carried: _Carried | None = None

    def play(self, columns: Columns, following: float) -> tuple[Played, Ints]:
        """Play a block.

        Shapes: returns (n,).
        """
        world = world_of_columns(self._table, columns, self._service, self._search)
        until = min(self._service.horizon, float(np.nextafter(following, -np.inf)))
        world.options["horizon"] = until
        queue = queue_of(world)
        if self._carried is not None:
            _carry_on(self._carried, columns, self._service, queue)
        crowd = play_kernel(world, queue)
        halting.check()
        if crowd:
            raise too_many(crowd)
        played = played_of(queue, len(self._table.rules))
        if np.isinf(following):
            return played, np.empty(0, np.int64)
        stay, self._carried = _left(queue)
        return played, stay


def play_in_blocks(
    table: Table, columns: Columns, service: Service, search: Search, block: int = BLOCK
) -> Played:
    """Play drawn tickets with reviews by the clock."""
    n = columns.times.size
    if n <= block or service.batch_size is not None:
        return play_columns(table, columns, service, search)
    statuses, ends = np.full(n, AWAY), np.zeros(n)
    waiting, made, blocks = np.empty(0, np.int64), list[Played](), Blocks(table, service, search)
    for first, last in pairwise(_edges(columns.times, block)):
        tickets = np.concatenate((waiting, np.arange(first, last)))
        following = columns.times[last] if last < n else np.inf
        played, stay = blocks.play(part_of_columns(columns, tickets), float(following))
        statuses[tickets], ends[tickets] = played.statuses, played.ends
        made.append(played._replace(tickets=tickets[played.tickets]))
        waiting = tickets[stay]
    return _together(statuses, ends, made)


def _edges(times: Floats, block: int) -> list[int]:
    """Return where blocks begin and the last ends; all that come at one moment are in one."""
    edges = times.searchsorted(times[::block], side="left")
    return np.unique([*edges, times.size]).tolist()


def _carry_on(carried: _Carried, columns: Columns, service: Service, queue: Queue) -> None:
    """Put those who go on into a new queue, of which they are the first tickets."""
    n, state = carried.asked.size, queue.state
    slots = queue.slots[:n]
    slots["asked"], slots["age"], slots["news"] = carried.asked, carried.ages, NEW
    slots["status"] = np.where(carried.waits, WAITING, PROPOSED)
    line = np.flatnonzero(carried.waits)
    queue.lists[LINE, : line.size] = line
    state["joined"], state["waiting"] = n, line.size
    until = np.minimum(columns.cancels, columns.times + service.timeout)[line]
    state["next_end"] = until.min(initial=np.inf)
    count, listed = carried.proposals.size, carried.members.shape[1]
    queue.matches[:count] = carried.proposals
    queue.matched[:, :listed] = carried.members
    queue.lists[PENDING, :count] = np.arange(count)
    state["proposals"] = state["matches"] = count
    state["listed"] = listed
    state["tick"], state["reviews"] = carried.tick, carried.reviews


def _left(queue: Queue) -> tuple[Ints, _Carried]:
    """Return who goes on as a block ends, by age, and with what."""
    state = queue.state[0]
    line = queue.lists[LINE, : state["waiting"]]
    proposals = queue.matches[queue.lists[PENDING, : state["proposals"]]]
    tickets, teams = queue.matched[:, places_in(proposals)]
    stay = np.sort(np.concatenate((line, tickets)))
    proposals["first"] = np.cumsum(proposals["tickets"]) - proposals["tickets"]
    return stay, _Carried(
        queue.slots["asked"][stay],
        queue.slots["age"][stay],
        np.isin(stay, line),
        proposals,
        np.stack((np.searchsorted(stay, tickets), teams)),
        int(state["tick"]),
        int(state["reviews"]),
    )


def _together(statuses: Ints, ends: Floats, made: list[Played]) -> Played:
    """Return what came of all blocks."""
    before = np.cumsum([0, *(played.times.size for played in made)])
    matches = [played.matches + first for played, first in zip(made, before, strict=False)]
    return Played(
        statuses,
        ends,
        np.concatenate([played.times for played in made]),
        np.concatenate([played.proposed for played in made]),
        np.concatenate([played.tickets for played in made]),
        np.concatenate(matches),
        np.concatenate([played.teams for played in made]),
        np.concatenate([played.asked for played in made]),
        np.concatenate([played.filled for played in made]),
        made[0].held,
        made[0].refused,
    )
