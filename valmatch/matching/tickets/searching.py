"""Kernels that look for matches: the passes of a review, one anchor after the other.

`pass` adds ticket after ticket to the first team that takes it, and keeps the last match that was
valid on the way. `exhaustive` looks at all sets of tickets with the anchor and all their teams; for
small pools.
"""

from __future__ import annotations

import numpy as np

from valmatch.draws.addressed import uniform_at
from valmatch.kernels.compilation import apart, internal
from valmatch.matching.tickets.exhausting import try_all
from valmatch.matching.tickets.layout import (
    BATCH,
    BEST,
    BEST_TEAMS,
    LINE,
    NEW,
    NEWS,
    NONE,
    NOTHING_NEW,
    OLDER,
    OTHERS,
    PENDING,
    POOL,
    PROPOSED,
    SPARE,
    WAITING,
    Queue,
    World,
)
from valmatch.matching.tickets.ordering import group, stable_sort
from valmatch.matching.tickets.trying import try_greedily

BATCHES = 1  # source of the random order of a pool that is cut
PASSES = 2**20  # counters of random orders between one review and the next
MOST_TRIED = 16  # most tickets that an exhaustive search looks at


@apart
def review(now: float, world: World, queue: Queue) -> None:
    """Repeat passes until one forms nothing."""
    options, passes = world.options[0], 0
    _let_age(now, world, queue)
    while queue.state[0]["too_many"] == 0 and queue.state[0]["halt"] == 0:
        made = _one_pass(now, passes, world, queue)
        passes += 1
        if made == 0 or passes == options["passes"]:
            break
    queue.state[0]["reviews"] += 1


@internal
def _let_age(now: float, world: World, queue: Queue) -> None:
    """Note which waits the tickets have passed."""
    for k in range(queue.state[0]["waiting"]):
        ticket = queue.lists[LINE, k]
        slot, time = queue.slots[ticket], world.tickets[ticket]["time"]
        age = slot["age"]
        while age < world.waits.size and time + world.waits[age] <= now:
            age += 1
        if slot["news"] != NEW:
            slot["news"] = OLDER if age > slot["age"] else NOTHING_NEW
        slot["age"] = age


@internal
def _one_pass(now: float, number: int, world: World, queue: Queue) -> int:
    """Let each ticket that is free be an anchor once; return how many matches were made."""
    options = world.options[0]
    pool = 0
    for k in range(queue.state[0]["waiting"]):
        ticket = queue.lists[LINE, k]
        if world.tickets[ticket]["matchable"]:
            queue.lists[POOL, pool] = ticket
            pool += 1
    keeps = options["batch_size"] == 0 and world.sorts.size == 0
    keeps = keeps and not (options["exhaustive"] or options["counted"])
    size = pool if options["batch_size"] == 0 else options["batch_size"]
    if options["batch_size"]:
        _order_pool(pool, number, world, queue)
    if keeps:
        _bring_together(pool, world, queue)
    made = 0
    for start in range(0, pool, max(size, 1)):
        count = min(size, pool - start)
        for k in range(count):
            ticket = queue.lists[POOL, start + k]
            if options["batch_size"]:
                queue.lists[BATCH, k], queue.slots[ticket]["key"] = ticket, float(ticket)
            elif not keeps:
                queue.lists[BATCH, k] = ticket
        if options["batch_size"]:
            _sort(BATCH, count, queue)
        made += _batch(now, count, keeps, world, queue)
    for k in range(queue.state[0]["waiting"]):
        queue.slots[queue.lists[LINE, k]]["news"] = NOTHING_NEW
    if made:
        _let_go(world, queue)
    return made


@internal
def _sort(row: int, count: int, queue: Queue) -> None:
    """Sort the first tickets of a list by their keys."""
    stable_sort(queue.lists[row], queue.lists[SPARE], queue.slots, count)


@internal
def _order_pool(pool: int, number: int, world: World, queue: Queue) -> None:
    """Put the pool in the order in which it is cut into batches."""
    if not world.options[0]["sorted"]:
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


@internal
def _bring_together(pool: int, world: World, queue: Queue) -> None:
    """Put the tickets of each camp together, and those of them of whom there are news."""
    news = 0
    for k in range(pool):
        ticket = queue.lists[POOL, k]
        if world.tickets[ticket]["camp"] != NONE:
            camp = queue.camps[world.tickets[ticket]["camp"]]
            camp["first_news"], camp["end_news"] = 0, 0
        if queue.slots[ticket]["news"] != NOTHING_NEW:
            queue.lists[SPARE, news] = ticket
            news += 1
    camps, tickets = queue.camps, world.tickets
    group(queue.lists[POOL], pool, queue.lists[BATCH], tickets, camps["first"], camps["end"])
    firsts, ends = camps["first_news"], camps["end_news"]
    group(queue.lists[SPARE], news, queue.lists[NEWS], tickets, firsts, ends)


@internal
def _let_go(world: World, queue: Queue) -> None:
    """Take those out of the line who have a match."""
    waiting = 0
    for k in range(queue.state[0]["waiting"]):
        ticket = queue.lists[LINE, k]
        if queue.slots[ticket]["status"] == WAITING:
            queue.lists[LINE, waiting] = ticket
            waiting += 1
    queue.state[0]["waiting"] = waiting


@internal
def _batch(now: float, count: int, keeps: bool, world: World, queue: Queue) -> int:
    """Let the tickets of a batch be anchors; return how many matches were made.

    By age, or those of games that run before the others, which then are among themselves, or after.
    """
    options, made = world.options[0], 0
    priority = options["backfill"]
    for part in range(1 if priority == 0 else 2):
        running = part == priority - 1
        for k in range(count):
            if queue.state[0]["halt"] > 0 or queue.state[0]["too_many"] > 0:
                return made
            anchor = queue.lists[POOL if keeps else BATCH, k]
            if queue.slots[anchor]["status"] != WAITING:
                continue
            if priority and (world.tickets[anchor]["running"] == 1) != running:
                continue
            if world.tickets[anchor]["camp"] == NONE:
                continue
            queue.seats.growing[0]["best"] = 0
            if keeps:
                camp = queue.camps[world.tickets[anchor]["camp"]]
                try_greedily(anchor, BATCH, camp["first"], camp["end"], True, world, queue)
            else:
                _try_others(anchor, count, world, queue)
            if queue.seats.growing[0]["best"]:
                _note(anchor, now, world, queue)
                made += 1
    return made


@internal
def _try_others(anchor: int, count: int, world: World, queue: Queue) -> None:
    """Let an anchor look for a match among the others of a batch."""
    others, options, camp = 0, world.options[0], world.tickets[anchor]["camp"]
    alike = options["backfill"] == 0 or world.tickets[anchor]["running"]
    for k in range(count):
        ticket = queue.lists[BATCH, k]
        record = world.tickets[ticket]
        if (
            ticket != anchor
            and record["camp"] == camp
            and (alike or not record["running"])
            and queue.slots[ticket]["status"] == WAITING
        ):
            queue.lists[OTHERS, others] = ticket
            others += 1
    for row in range(world.sorts.size - 1, -1, -1):
        _sort_others(row, anchor, others, world, queue)
    if not options["exhaustive"]:
        try_greedily(anchor, OTHERS, 0, others, False, world, queue)
    elif others >= MOST_TRIED:
        queue.state[0]["too_many"] = others + 1
    else:
        try_all(anchor, others, world, queue)


@internal
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


@internal
def _note(anchor: int, now: float, world: World, queue: Queue) -> None:
    """Write the best match down; its tickets wait no more."""
    state = queue.state[0]
    match = queue.matches[state["matches"]]
    match["proposed"], match["review"], match["anchor"] = now, state["reviews"], anchor
    match["tickets"], match["first"] = queue.seats.growing[0]["best"], state["listed"]
    for k in range(match["tickets"]):
        ticket = queue.seats.tried[BEST, k]
        queue.matched[0, state["listed"] + k] = ticket
        queue.matched[1, state["listed"] + k] = queue.seats.tried[BEST_TEAMS, k]
        queue.slots[ticket]["status"] = PROPOSED
    state["listed"] += match["tickets"]
    queue.lists[PENDING, state["proposals"]] = state["matches"]
    state["matches"] += 1
    state["proposals"] += 1
