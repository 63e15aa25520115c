"""Kernels that look for matches: the passes of a review, one anchor after the other.

`pass` adds ticket after ticket to the first team that takes it, and saves the last match that was
valid on the way. `exhaustive` looks at all sets of tickets with the anchor and all their teams; for
small pools.
"""

from __future__ import annotations

import numpy as np

from valmatch.draws.streams import uniform_at
from valmatch.kernels.compilation import part
from valmatch.matching.tickets import layout as t
from valmatch.matching.tickets.candidate import (
    age_with,
    begin,
    fits,
    is_valid,
    pop,
    push,
    restore,
    take,
)
from valmatch.matching.tickets.layout import Candidate, Queue, World

# All matches with an anchor, for small pools.

MOST_CANDIDATES = 10**8
"""Most candidates that an exhaustive search judges for one anchor, before it ends with an error."""


@part
def try_all(anchor: int, others: int, world: World, queue: Queue) -> None:
    """Find the best match of all: most players, then smallest places, then smallest teams."""
    candidate = queue.candidate
    begin(candidate)
    tried, candidates, index, team = candidate.tried, 0, 0, t.NONE
    while True:
        # The next ticket and team that can be added after the last; else the last is changed.
        level = candidate.current[0]["tickets"]
        last, ticket = others if level else 0, anchor
        while index <= last:
            ticket = queue.lists[t.OTHERS, index - 1] if index else anchor
            if _may_take(ticket, team, world, candidate):
                break
            index, team = _following(index, team, world)
        if index <= last:
            push(ticket, team, age_with(ticket, world, queue), world, candidate)
            tried[t.PLACES, level] = index
            _compare(world, candidate)
            index, team = index + 1, t.NONE
            candidates += 1
            if candidates > MOST_CANDIDATES:
                queue.state[0]["too_many"] = others + 1
                break
        elif level > 0:
            index, team = _following(tried[t.PLACES, level - 1], tried[t.TEAMS, level - 1], world)
            pop(world, candidate)
        else:
            break


@part(inline=True)
def _following(index: int, team: int, world: World) -> tuple[int, int]:
    """Return the next team of a place, or the first of the next one."""
    return (index, team + 1) if team + 1 < world.teams.size else (index + 1, t.NONE)


@part
def _may_take(ticket: int, team: int, world: World, candidate: Candidate) -> bool:
    """Return whether a team may ever have room for a ticket; NONE for one of a game that runs."""
    running = world.rows.tickets[ticket]["running"] == 1
    if running != (team == t.NONE) or (running and candidate.current[0]["running"] > 0):
        return False
    return fits(ticket, team, t.NONE, world, candidate)


@part
def _compare(world: World, candidate: Candidate) -> None:
    """Remember the match if it is valid and better than the best."""
    current, tried = candidate.current[0], candidate.tried
    order = current["best_players"] - current["players"] if current["best"] else -1
    for row in (t.PLACES, t.TEAMS):
        for k in range(min(current["tickets"], current["best"])):
            if order == 0:
                order = tried[row, k] - tried[row + t.BEST, k]
        if order == 0:
            order = current["tickets"] - current["best"]
    if order >= 0 or not is_valid(False, world, candidate):
        return
    current["best"], current["best_players"] = current["tickets"], current["players"]
    for row in (t.MEMBERS, t.TEAMS, t.PLACES):
        for k in range(current["tickets"]):
            tried[row + t.BEST, k] = tried[row, k]


# The search `pass`: one anchor adds ticket after ticket to its match.
#
# The search of an anchor that found no match is saved. Next time it goes on from there, with the
# same result as from the beginning, for these reasons. The others are tried in the order of their
# numbers, so by age. Whether one is taken, and by which team, is decided by the tickets taken
# before it, by it, and by the age of the match with it; a ticket that is not taken leaves nothing
# behind. So up to the first ticket about which one of these differs from last time, all is as it
# was. They differ
#
# - where a ticket that was taken waits no more, for all behind it; where one that was not taken
#   waits no more, for nobody;
# - for a ticket that has joined since, or has come back;
# - where the age of the match with a ticket has passed a wait. If the newest ticket counts, that is
#   the anchor or the ticket itself, whichever is younger, as those taken before it are older than
#   it. An anchor that has passed a wait begins anew; else it is of no meaning which older ones
#   have. If the oldest counts, that is the anchor or one that is older: if any of these has passed
#   a wait, the anchor begins anew, and else it is of no meaning which younger ones have.
#
# Whether the match is valid or full is looked at whenever a ticket is taken, and is decided by the
# tickets taken and the age of the match then. Between two times, then, an anchor has to try again
# those who are new or who have passed a wait; once one of them is taken, or one that was taken is
# to be tried again or is gone, it tries all behind that one.


@part(inline=True)
def _has_saved(anchor: int, world: World, queue: Queue) -> bool:
    """Return whether the search that an anchor has saved is of use; see above."""
    if queue.saved[anchor % queue.saved.size]["anchor"] != anchor:
        return False
    if queue.slots[anchor]["news"] != t.NOTHING_NEW:
        return False
    partition = queue.partitions[world.rows.tickets[anchor]["partition"]]
    if world.options[0]["oldest"]:
        for k in range(partition["first_news"], partition["end_news"]):
            ticket = queue.lists[t.NEWS, k]
            if ticket > anchor:
                break
            if queue.slots[ticket]["news"] == t.OLDER:
                return False
    return True


@part
def _save(anchor: int, queue: Queue) -> None:
    """Save the match that an anchor could not complete."""
    number, candidate = anchor % queue.saved.size, queue.candidate
    record, current = queue.saved[number], candidate.current[0]
    record["anchor"], record["tickets"] = anchor, current["tickets"]
    record["full"] = current["full"]
    for k in range(current["tickets"]):
        member = queue.saved_tickets[number, k]
        member["ticket"], member["team"] = (
            candidate.tried[t.MEMBERS, k],
            candidate.tried[t.TEAMS, k],
        )


@part(inline=True)
def _next_news(anchor: int, news: int, world: World, queue: Queue) -> tuple[int, int]:
    """Return the next ticket of which there are news for an anchor, and its place among news."""
    number, none = anchor % queue.saved.size, world.rows.tickets.size
    record, last = queue.saved[number], none
    if record["full"]:  # nobody behind the last one was tried
        last = t.NONE
        if record["tickets"] > 1:
            last = queue.saved_tickets[number, record["tickets"] - 1]["ticket"]
    while news < queue.partitions[world.rows.tickets[anchor]["partition"]]["end_news"]:
        ticket = queue.lists[t.NEWS, news]
        if ticket > last:
            break
        of_use = ticket > anchor or queue.slots[ticket]["news"] == t.NEW
        if of_use and queue.slots[ticket]["status"] == t.WAITING:
            return ticket, news
        news += 1
    return none, news


@part(inline=True)
def _has_changed(anchor: int, world: World, queue: Queue) -> bool:
    """Return whether a saved search may end otherwise now."""
    number = anchor % queue.saved.size
    tickets = queue.saved[number]["tickets"]
    if tickets == 0:  # the anchor itself is refused
        return False
    first = queue.partitions[world.rows.tickets[anchor]["partition"]]["first_news"]
    if _next_news(anchor, first, world, queue)[0] < world.rows.tickets.size:
        return True
    for k in range(tickets):
        if queue.slots[queue.saved_tickets[number, k]["ticket"]]["status"] != t.WAITING:
            return True
    return False


@part
def _resume(anchor: int, among_new: bool, world: World, queue: Queue) -> int:
    """Go on from a saved search as before; return from which ticket on all are tried, or NONE."""
    slot, number, none = anchor % queue.saved.size, 0, world.rows.tickets.size
    news = queue.partitions[world.rows.tickets[anchor]["partition"]]["first_news"]
    while True:
        ticket, news = _next_news(anchor, news, world, queue)
        member, team = none, t.NONE
        if number < queue.saved[slot]["tickets"]:
            saved = queue.saved_tickets[slot, number]
            member, team = saved["ticket"], saved["team"]
        if number == 0 or member < ticket:
            if queue.slots[member]["status"] != t.WAITING:
                return member + 1
            restore(member, team, world, queue)
            number += 1
        elif ticket == none:
            return t.NONE
        elif member == ticket:
            return member
        else:
            news += 1
            if _takes(ticket, among_new, world, queue):
                return ticket + 1


@part(inline=True)
def _takes(ticket: int, among_new: bool, world: World, queue: Queue) -> bool:
    """Return whether the match takes a ticket; it has one game that runs at most."""
    excluded = among_new or queue.candidate.current[0]["running"] > 0
    if excluded and world.rows.tickets[ticket]["running"] == 1:
        return False
    return take(ticket, age_with(ticket, world, queue), world, queue)


@part
def try_greedily(
    anchor: int, row: int, first: int, end: int, saves: bool, world: World, queue: Queue
) -> None:
    """Let an anchor add ticket after ticket; remember the match whenever it is valid."""
    current, k, behind = queue.candidate.current[0], first - 1, t.NONE
    among_new = world.options[0]["backfill"] != 0 and not world.rows.tickets[anchor]["running"]
    current["best"] = 0
    resumed = saves and _has_saved(anchor, world, queue)
    if resumed and not _has_changed(anchor, world, queue):
        return
    begin(queue.candidate)
    if resumed:
        behind = _resume(anchor, among_new, world, queue)
        if behind == t.NONE:
            return
        k = first
    while k < end and current["full"] == 0:  # the anchor before the others
        ticket = anchor if k < first else queue.lists[row, k]
        k += 1
        if ticket < behind or (ticket == anchor and k > first):
            continue
        if queue.slots[ticket]["status"] != t.WAITING:
            continue
        if not _takes(ticket, among_new, world, queue) and ticket == anchor:
            break
    if saves and current["best"] == 0:
        _save(anchor, queue)


# The order of a pool, and its passes.

BATCHES = 1  # source of the random order of a pool that is cut
PASSES = 2**20  # counters of random orders between one review and the next
MOST_TRIED = 16  # most tickets that an exhaustive search looks at


@part
def _sort(row: int, start: int, count: int, queue: Queue) -> None:
    """Sort some tickets of a list by their keys; equal ones keep their order."""
    order, spare, slots = queue.lists[row], queue.lists[t.SPARE], queue.slots
    width, stop = 1, start + count
    while width < count:
        for first in range(start, stop, 2 * width):
            middle, end = min(first + width, stop), min(first + 2 * width, stop)
            left, right = first, middle
            for k in range(first, end):
                from_left = left < middle and (
                    right >= end or not slots[order[right]]["key"] < slots[order[left]]["key"]
                )
                if from_left:
                    spare[k] = order[left]
                    left += 1
                else:
                    spare[k] = order[right]
                    right += 1
        for k in range(start, stop):
            order[k] = spare[k]
        width *= 2


@part
def review(now: float, world: World, queue: Queue) -> None:
    """Repeat passes until one forms nothing."""
    passes = 0
    _let_age(now, world, queue)
    while queue.state[0]["too_many"] == 0:
        made = _one_pass(now, passes, world, queue)
        passes += 1
        if made == 0 or passes == world.options[0]["passes"]:
            break
    queue.state[0]["reviews"] += 1


@part
def _let_age(now: float, world: World, queue: Queue) -> None:
    """Note which waits the tickets have passed."""
    for k in range(queue.state[0]["waiting"]):
        ticket = queue.lists[t.LINE, k]
        slot, time = queue.slots[ticket], world.rows.tickets[ticket]["time"]
        age = slot["age"]
        while age < world.waits.size and time + world.waits[age] <= now:
            age += 1
        if slot["news"] != t.NEW:
            slot["news"] = t.OLDER if age > slot["age"] else t.NOTHING_NEW
        slot["age"] = age


@part
def _one_pass(now: float, number: int, world: World, queue: Queue) -> int:
    """Let each ticket that is free be an anchor once; return how many matches were made."""
    options, state, lists = world.options[0], queue.state[0], queue.lists
    pool, made = 0, 0
    for k in range(state["waiting"]):
        ticket = lists[t.LINE, k]
        if world.rows.tickets[ticket]["matchable"]:
            lists[t.POOL, pool] = ticket
            pool += 1
    saves = options["batch_size"] == 0 and world.sorts.size == 0
    saves = saves and not (options["exhaustive"] or options["counted"])
    if saves:
        _bring_together(pool, world, queue)
    if options["batch_size"]:
        _order_pool(pool, number, world, queue)
    size = max(options["batch_size"] if options["batch_size"] else pool, 1)
    for start in range(0, pool, size):
        count = min(size, pool - start)
        if options["batch_size"]:
            for k in range(start, start + count):
                queue.slots[lists[t.POOL, k]]["key"] = float(lists[t.POOL, k])
            _sort(t.POOL, start, count, queue)
        made += _batch(now, start, count, saves, world, queue)
    waiting = 0
    for k in range(state["waiting"]):  # those leave the line who have a match
        ticket = lists[t.LINE, k]
        queue.slots[ticket]["news"] = t.NOTHING_NEW
        if queue.slots[ticket]["status"] == t.WAITING:
            lists[t.LINE, waiting] = ticket
            waiting += 1
    state["waiting"] = waiting
    return made


@part
def _order_pool(pool: int, number: int, world: World, queue: Queue) -> None:
    """Put the pool in the order in which it is cut into batches."""
    is_sorted = world.options[0]["sorted"]
    counter = queue.state[0]["reviews"] * PASSES + number
    for row in range(world.batches.size - 1 if is_sorted else 0, -1, -1):
        for k in range(pool):
            ticket = queue.lists[t.POOL, k]
            if is_sorted:
                queue.slots[ticket]["key"] = world.rows.values[ticket, world.batches[row]]
            else:
                queue.slots[ticket]["key"] = uniform_at(world.rng_key, BATCHES, ticket, counter)
        _sort(t.POOL, 0, pool, queue)


@part
def _bring_together(pool: int, world: World, queue: Queue) -> None:
    """Put the tickets of each partition together, and those of them of whom there are news."""
    count, news = 0, 0
    for k in range(pool):
        ticket = queue.lists[t.POOL, k]
        partition = world.rows.tickets[ticket]["partition"]
        if partition == t.NONE:
            continue
        queue.slots[ticket]["key"] = float(partition)
        queue.lists[t.BATCH, count] = ticket
        count += 1
        if queue.slots[ticket]["news"] != t.NOTHING_NEW:
            queue.lists[t.NEWS, news] = ticket
            news += 1
        record = queue.partitions[partition]
        record["end"], record["first_news"], record["end_news"] = 0, 0, 0
    if queue.partitions.size > 1:
        _sort(t.BATCH, 0, count, queue)
        _sort(t.NEWS, 0, news, queue)
    for k in range(count):
        record = queue.partitions[world.rows.tickets[queue.lists[t.BATCH, k]]["partition"]]
        if record["end"] == 0:
            record["first"] = k
        record["end"] = k + 1
    for k in range(news):
        record = queue.partitions[world.rows.tickets[queue.lists[t.NEWS, k]]["partition"]]
        if record["end_news"] == 0:
            record["first_news"] = k
        record["end_news"] = k + 1


@part
def _batch(now: float, start: int, count: int, saves: bool, world: World, queue: Queue) -> int:
    """Let the tickets of a batch be anchors; return how many matches were made."""
    priority, made = world.options[0]["backfill"], 0
    for piece in range(1 if priority == 0 else 2):
        for k in range(start, start + count):
            if queue.state[0]["too_many"] > 0:
                return made
            anchor = queue.lists[t.POOL, k]
            record = world.rows.tickets[anchor]
            if queue.slots[anchor]["status"] != t.WAITING or record["partition"] == t.NONE:
                continue
            if priority and (record["running"] == 1) != (piece == priority - 1):
                continue
            queue.candidate.current[0]["best"] = 0
            if saves:
                partition = queue.partitions[record["partition"]]
                first, end = partition["first"], partition["end"]
                try_greedily(anchor, t.BATCH, first, end, True, world, queue)
            else:
                _try_others(anchor, start, count, world, queue)
            if queue.candidate.current[0]["best"]:
                _note(anchor, now, world, queue)
                made += 1
    return made


@part
def _try_others(anchor: int, start: int, count: int, world: World, queue: Queue) -> None:
    """Let an anchor look for a match among the others of a batch."""
    others, options, partition = 0, world.options[0], world.rows.tickets[anchor]["partition"]
    alike = options["backfill"] == 0 or world.rows.tickets[anchor]["running"]
    for k in range(start, start + count):
        ticket = queue.lists[t.POOL, k]
        record = world.rows.tickets[ticket]
        if (
            ticket != anchor
            and record["partition"] == partition
            and (alike or not record["running"])
            and queue.slots[ticket]["status"] == t.WAITING
        ):
            queue.lists[t.OTHERS, others] = ticket
            others += 1
    for row in range(world.sorts.size - 1, -1, -1):
        _sort_others(row, anchor, others, world, queue)
    if not options["exhaustive"]:
        try_greedily(anchor, t.OTHERS, 0, others, False, world, queue)
    elif others >= MOST_TRIED:
        queue.state[0]["too_many"] = others + 1
    else:
        try_all(anchor, others, world, queue)


@part
def _sort_others(row: int, anchor: int, others: int, world: World, queue: Queue) -> None:
    """Sort tickets by one sort: those without a value last."""
    sort, values = world.sorts[row], world.rows.values
    key = int(values[anchor, sort["first"] + sort["keys"]])
    if key == t.NONE:
        return
    column = sort["first"] + key
    for k in range(others):
        ticket = queue.lists[t.OTHERS, k]
        value = values[ticket, column]
        if sort["from_anchor"]:
            value = abs(value - values[anchor, column])
        if sort["descending"]:
            value = -value
        queue.slots[ticket]["key"] = np.inf if np.isnan(value) else value
    _sort(t.OTHERS, 0, others, queue)


@part
def _note(anchor: int, now: float, world: World, queue: Queue) -> None:
    """Write the best match down; its tickets wait no more."""
    state = queue.state[0]
    match = queue.matches[state["matches"]]
    match["proposed"], match["review"], match["anchor"] = now, state["reviews"], anchor
    match["tickets"], match["first"] = queue.candidate.current[0]["best"], state["listed"]
    for k in range(match["tickets"]):
        ticket = queue.candidate.tried[t.BEST, k]
        queue.matched[0, state["listed"] + k] = ticket
        queue.matched[1, state["listed"] + k] = queue.candidate.tried[t.BEST_TEAMS, k]
        queue.slots[ticket]["status"] = t.PROPOSED
    state["listed"] += match["tickets"]
    queue.lists[t.PENDING, state["proposals"]] = state["matches"]
    state["matches"] += 1
    state["proposals"] += 1
