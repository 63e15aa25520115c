"""Kernels that look for matches: the passes of a review, one anchor after the other.

`pass` adds ticket after ticket to the first team that takes it, and keeps the last match that was
valid on the way. `exhaustive` looks at all sets of tickets with the anchor and all their teams; for
small pools.
"""

from __future__ import annotations

import numpy as np

from valmatch.arrays import Ints, Records
from valmatch.draws.addressed import uniform_at
from valmatch.kernels.compilation import expanded, inlined, unallocating
from valmatch.matching.tickets.growing import (
    begin,
    grow,
    is_full,
    is_valid,
    shrink,
    take,
)
from valmatch.matching.tickets.layout import (
    BATCH,
    BEST,
    BEST_PLACES,
    BEST_TEAMS,
    LINE,
    MEMBERS,
    NONE,
    OTHERS,
    PENDING,
    PLACES,
    POOL,
    PROPOSED,
    SPARE,
    TEAMS,
    WAITING,
    Queue,
    World,
)

BATCHES = 1
"""Source of the random order of a pool that is cut."""

PASSES = 2**20
"""Counters of random orders between one review and the next."""

MOST_TRIED = 16
"""Most tickets that an exhaustive search looks at."""


@unallocating
def stable_sort(order: Ints, spare: Ints, slots: Records, count: int) -> None:
    """Sort the first `count` of some tickets by their keys; equal ones keep their order.

    Parameters
    ----------
    order : ndarray of int64
        In and out.
    spare : ndarray of int64
        Room for as many.
    slots : records of SLOT
        Of each ticket the key.
    count : int
    """
    width = 1
    while width < count:
        for start in range(0, count, 2 * width):
            middle, end = min(start + width, count), min(start + 2 * width, count)
            one, other = start, middle
            for k in range(start, end):
                first = one < middle and (
                    other >= end or not slots[order[other]]["key"] < slots[order[one]]["key"]
                )
                if first:
                    spare[k] = order[one]
                    one += 1
                else:
                    spare[k] = order[other]
                    other += 1
        for k in range(count):
            order[k] = spare[k]
        width *= 2


@unallocating
def review(now: float, world: World, queue: Queue) -> None:
    """Repeat passes until one forms nothing."""
    options, passes = world.options[0], 0
    while queue.state[0]["too_many"] == 0:
        made = _one_pass(now, passes, world, queue)
        passes += 1
        if made == 0 or passes == options["passes"]:
            break
    queue.state[0]["reviews"] += 1


@expanded
def _sort(row: int, count: int, queue: Queue) -> None:
    """Sort the first tickets of a list by their keys."""
    stable_sort(queue.lists[row], queue.lists[SPARE], queue.slots, count)


@expanded
def _one_pass(now: float, number: int, world: World, queue: Queue) -> int:
    """Let each ticket that is free be an anchor once; return how many matches were made."""
    options = world.options[0]
    pool = 0
    for k in range(queue.state[0]["waiting"]):
        ticket = queue.lists[LINE, k]
        if world.tickets[ticket]["matchable"]:
            queue.lists[POOL, pool] = ticket
            pool += 1
    size = options["batch_size"]
    if size == 0:
        size = max(pool, 1)
    else:
        _order_pool(pool, number, world, queue)
    made = 0
    for start in range(0, pool, size):
        count = min(size, pool - start)
        for k in range(count):
            ticket = queue.lists[POOL, start + k]
            queue.lists[BATCH, k], queue.slots[ticket]["key"] = ticket, float(ticket)
        _sort(BATCH, count, queue)
        made += _batch(now, count, world, queue)
    if made:
        _let_go(world, queue)
    return made


@expanded
def _order_pool(pool: int, number: int, world: World, queue: Queue) -> None:
    """Put the pool in the order in which it is cut into batches."""
    options = world.options[0]
    if not options["sorted"]:
        counter = queue.state[0]["reviews"] * PASSES + number
        for k in range(pool):
            ticket = queue.lists[POOL, k]
            queue.slots[ticket]["key"] = uniform_at(world.place, BATCHES, ticket, counter)
        _sort(POOL, pool, queue)
        return
    for row in range(world.batch_values.shape[0] - 1, -1, -1):
        for k in range(pool):
            ticket = queue.lists[POOL, k]
            queue.slots[ticket]["key"] = world.batch_values[row, ticket]
        _sort(POOL, pool, queue)


@expanded
def _let_go(world: World, queue: Queue) -> None:
    """Take those out of the line who have a match."""
    waiting = 0
    for k in range(queue.state[0]["waiting"]):
        ticket = queue.lists[LINE, k]
        if queue.slots[ticket]["status"] == WAITING:
            queue.lists[LINE, waiting] = ticket
            waiting += 1
    queue.state[0]["waiting"] = waiting


@expanded
def _batch(now: float, count: int, world: World, queue: Queue) -> int:
    """Let the tickets of a batch be anchors; return how many matches were made.

    By age, or those of games that run before the others, which then are among themselves, or after.
    """
    priority = world.options[0]["backfill"]
    made = 0
    for part in range(1 if priority == 0 else 2):
        running = part == priority - 1
        for k in range(count):
            anchor = queue.lists[BATCH, k]
            if queue.slots[anchor]["status"] != WAITING:
                continue
            if priority and (world.tickets[anchor]["running"] == 1) != running:
                continue
            others = 0
            for i in range(count):
                ticket = queue.lists[BATCH, i]
                alike = priority == 0 or running or not world.tickets[ticket]["running"]
                if ticket != anchor and alike and queue.slots[ticket]["status"] == WAITING:
                    queue.lists[OTHERS, others] = ticket
                    others += 1
            made += _anchored(anchor, others, now, world, queue)
    return made


@expanded
def _anchored(anchor: int, others: int, now: float, world: World, queue: Queue) -> int:
    """Let an anchor look for a match among others; return whether it has found one."""
    for row in range(world.sorts.size - 1, -1, -1):
        _sort_others(row, anchor, others, world, queue)
    queue.growing[0]["best"] = 0
    if world.options[0]["exhaustive"]:
        if others >= MOST_TRIED:
            queue.state[0]["too_many"] = others + 1
            return 0
        _try_all(anchor, others, now, world, queue)
    else:
        _try_greedily(anchor, others, now, world, queue)
    if queue.growing[0]["best"] == 0:
        return 0
    _note(anchor, now, world, queue)
    return 1


@expanded
def _sort_others(row: int, anchor: int, others: int, world: World, queue: Queue) -> None:
    """Sort tickets by one sort: those without a value last."""
    key = int(world.sort_values[row, anchor, world.sort_values.shape[2] - 1])
    if key == NONE:
        return
    own = world.sort_values[row, anchor, key]
    for k in range(others):
        ticket = queue.lists[OTHERS, k]
        value = world.sort_values[row, ticket, key]
        if world.sorts[row]["from_anchor"]:
            value = abs(value - own)
        if world.sorts[row]["descending"]:
            value = -value
        queue.slots[ticket]["key"] = np.inf if np.isnan(value) else value
    _sort(OTHERS, others, queue)


@unallocating
def _try_greedily(anchor: int, others: int, now: float, world: World, queue: Queue) -> None:
    """Add ticket after ticket; remember the match whenever it is valid."""
    begin(queue)
    growing = queue.growing[0]
    for k in range(-1, others):
        ticket = anchor if k < 0 else queue.lists[OTHERS, k]
        if world.tickets[ticket]["running"] and growing["running"]:
            continue
        if not take(ticket, now, world, queue):
            if k < 0:
                break
            continue
        if is_valid(now, world, queue):
            growing["best"] = growing["tickets"]
            for i in range(growing["tickets"]):
                queue.tried[BEST, i] = queue.tried[MEMBERS, i]
                queue.tried[BEST_TEAMS, i] = queue.tried[TEAMS, i]
        if is_full(now, world, queue):
            break


@unallocating
def _try_all(anchor: int, others: int, now: float, world: World, queue: Queue) -> None:
    """Find the best match of all: most players, then smallest places, then smallest teams."""
    begin(queue)
    teams = queue.sizes.size
    place, team = 0, NONE
    while True:
        # The next ticket and team that can be added after the last; else the last is changed.
        level = queue.growing[0]["tickets"]
        last = others if level else 0
        ticket = anchor
        while place <= last:
            ticket = queue.lists[OTHERS, place - 1] if place else anchor
            if _can_take(ticket, team, world, queue):
                break
            team += 1
            if team == teams:
                place, team = place + 1, NONE
        if place <= last:
            grow(ticket, team, world, queue)
            queue.tried[PLACES, level] = place
            _compare(now, world, queue)
            place, team = place + 1, NONE
        elif level > 0:
            place, team = queue.tried[PLACES, level - 1], queue.tried[TEAMS, level - 1] + 1
            shrink(world, queue)
            if team == teams:
                place, team = place + 1, NONE
        else:
            break


@expanded
def _can_take(ticket: int, team: int, world: World, queue: Queue) -> bool:
    """Return whether a team may ever have room for a ticket; NONE for one of a game that runs."""
    record = world.tickets[ticket]
    if (record["running"] == 1) != (team == NONE):
        return False
    if team != NONE:
        return queue.sizes[team] + record["players"] <= world.teams[team]["ever"]
    if queue.growing[0]["running"]:
        return False
    last = record["first"] + record["players"]
    for player in range(record["first"], last):
        home, own = world.home[player], 0
        for other in range(record["first"], last):
            own += world.home[other] == home
        if queue.sizes[home] + own > world.teams[home]["ever"]:
            return False
    return True


@expanded
def _compare(now: float, world: World, queue: Queue) -> None:
    """Remember the match if it is valid and better than the best."""
    growing = queue.growing[0]
    tickets, best = growing["tickets"], growing["best"]
    better = best == 0 or growing["players"] > growing["best_players"]
    if not better and growing["players"] == growing["best_players"]:
        order = _order(queue.tried[PLACES], queue.tried[BEST_PLACES], tickets, best)
        if order == 0:
            order = _order(queue.tried[TEAMS], queue.tried[BEST_TEAMS], tickets, best)
        better = order < 0
    if not better or not is_valid(now, world, queue):
        return
    growing["best"], growing["best_players"] = tickets, growing["players"]
    for i in range(tickets):
        queue.tried[BEST, i] = queue.tried[MEMBERS, i]
        queue.tried[BEST_TEAMS, i] = queue.tried[TEAMS, i]
        queue.tried[BEST_PLACES, i] = queue.tried[PLACES, i]


@inlined
def _order(one: Ints, other: Ints, size: int, other_size: int) -> int:
    """Return -1 if a list of numbers comes lexicographically before another one, 1 if after."""
    for k in range(min(size, other_size)):
        if one[k] != other[k]:
            return -1 if one[k] < other[k] else 1
    return 0 if size == other_size else (-1 if size < other_size else 1)


@expanded
def _note(anchor: int, now: float, world: World, queue: Queue) -> None:
    """Write the best match down; its tickets wait no more."""
    state = queue.state[0]
    match = queue.matches[state["matches"]]
    match["proposed"], match["anchor"] = now, anchor
    match["tickets"], match["first"] = queue.growing[0]["best"], state["listed"]
    for k in range(match["tickets"]):
        ticket = queue.tried[BEST, k]
        queue.matched[0, state["listed"] + k] = ticket
        queue.matched[1, state["listed"] + k] = queue.tried[BEST_TEAMS, k]
        queue.slots[ticket]["status"] = PROPOSED
    state["listed"] += match["tickets"]
    queue.lists[PENDING, state["proposals"]] = state["matches"]
    state["matches"] += 1
    state["proposals"] += 1
