"""Kernels that look for matches: the passes of a review, one anchor after the other.

`pass` adds ticket after ticket to the first team that takes it, and saves the last match that was
valid on the way. `exhaustive` looks at all sets of tickets with the anchor and all their teams; for
small pools.
"""

from __future__ import annotations

import numpy as np

from valmatch.draws.streams import uniform_at
from valmatch.kernels.arrays import Ints, Records
from valmatch.kernels.compilation import part
from valmatch.matching.tickets import layout as t
from valmatch.matching.tickets.candidate import (
    age_with,
    begin,
    is_valid,
    pop,
    push,
    restore,
    take,
)
from valmatch.matching.tickets.layout import Candidate, Queue, World

# Kernels that look at all matches with an anchor; for small pools.

MOST_CANDIDATES = 10**8
"""Most candidates that an exhaustive search judges for one anchor, before it ends with an error."""


@part
def try_all(anchor: int, others: int, world: World, queue: Queue) -> None:
    """Find the best match of all: most players, then smallest places, then smallest teams.

    Where there are too many candidates ``too_many`` says of how many tickets.
    """
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
            pop(_age_of(level - 1, world, queue), world, candidate)
        else:
            break


@part(inline=True)
def _following(index: int, team: int, world: World) -> tuple[int, int]:
    """Return the next team of a place, or the first of the next one."""
    return (index, team + 1) if team + 1 < world.teams.size else (index + 1, t.NONE)


@part
def _age_of(tickets: int, world: World, queue: Queue) -> int:
    """Return the age of the first tickets of the match: of the oldest, or of the newest."""
    age = t.NONE
    for k in range(tickets):
        other = queue.slots[queue.candidate.tried[t.MEMBERS, k]]["age"]
        if age == t.NONE:
            age = other
        else:
            age = max(age, other) if world.options[0]["oldest"] else min(age, other)
    return age


@part
def _may_take(ticket: int, team: int, world: World, candidate: Candidate) -> bool:
    """Return whether a team may ever have room for a ticket; NONE for one of a game that runs."""
    record, sizes = world.rows.tickets[ticket], candidate.sizes
    if (record["running"] == 1) != (team == t.NONE):
        return False
    if team != t.NONE:
        return sizes[team] + record["players"] <= world.teams[team]["ever"]
    if candidate.current[0]["running"]:
        return False
    for k in range(record["first_part"], record["first_part"] + record["parts"]):
        piece = world.parts.teams[k]
        if sizes[piece["team"]] + piece["players"] > world.teams[piece["team"]]["ever"]:
            return False
    return True


@part
def _compare(world: World, candidate: Candidate) -> None:
    """Remember the match if it is valid and better than the best."""
    current, tried = candidate.current[0], candidate.tried
    order = current["best_players"] - current["players"] if current["best"] else -1
    for row in (t.PLACES, t.TEAMS):
        if order == 0:
            best = tried[row + t.BEST]
            order = _order(tried[row], best, current["tickets"], current["best"])
    if order >= 0 or not is_valid(False, world, candidate):
        return
    current["best"], current["best_players"] = current["tickets"], current["players"]
    for row in (t.MEMBERS, t.TEAMS, t.PLACES):
        for k in range(current["tickets"]):
            tried[row + t.BEST, k] = tried[row, k]


@part(inline=True)
def _order(numbers: Ints, others: Ints, size: int, other_size: int) -> int:
    """Return less than 0 if a list of numbers comes lexicographically before another one."""
    for k in range(min(size, other_size)):
        if numbers[k] != others[k]:
            return numbers[k] - others[k]
    return size - other_size


# Kernels that put tickets in order: by a key, or together by partition.


@part
def stable_sort(order: Ints, spare: Ints, slots: Records, count: int) -> None:
    """Sort the first `count` of some tickets by their keys; equal ones keep their order."""
    width = 1
    while width < count:
        for start in range(0, count, 2 * width):
            middle, end = min(start + width, count), min(start + 2 * width, count)
            left, right = start, middle
            for k in range(start, end):
                first = left < middle and (
                    right >= end or not slots[order[right]]["key"] < slots[order[left]]["key"]
                )
                if first:
                    spare[k] = order[left]
                    left += 1
                else:
                    spare[k] = order[right]
                    right += 1
        for k in range(count):
            order[k] = spare[k]
        width *= 2


@part
def group(
    source: Ints, count: int, target: Ints, tickets: Records, firsts: Ints, ends: Ints
) -> None:
    """Put tickets together by partition, in each in the order in which they come.

    Where a partition begins is known at its first ticket; from then on its end, yet to grow, says
    where its next ticket goes.
    """
    for k in range(count):
        partition = tickets[source[k]]["partition"]
        if partition >= 0:
            firsts[partition], ends[partition] = -1, 0
    for k in range(count):
        partition = tickets[source[k]]["partition"]
        if partition >= 0:
            ends[partition] += 1
    total = 0
    for k in range(count):
        partition = tickets[source[k]]["partition"]
        if partition >= 0:
            if firsts[partition] < 0:
                size, firsts[partition], ends[partition] = ends[partition], total, total
                total += size
            target[ends[partition]] = source[k]
            ends[partition] += 1


# The kernel of the search `pass`: one anchor adds ticket after ticket to its match.
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

DONE = -2  # no ticket is left to be tried again

TEAM_BITS = 8
"""Bits of the number of a team in an entry of a saved search; matches have up to 200."""


@part(inline=True)
def _ticket_of(entry: int) -> int:
    """Return the ticket of an entry of a saved search."""
    return entry >> TEAM_BITS


@part(inline=True)
def _team_of(entry: int) -> int:
    """Return the team of an entry of a saved search, NONE for those of a game that runs."""
    return (entry & (2**TEAM_BITS - 1)) - 1


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
        ticket, team = candidate.tried[t.MEMBERS, k], candidate.tried[t.TEAMS, k]
        queue.saved_tickets[number, k] = (ticket << TEAM_BITS) + team + 1


@part(inline=True)
def _has_lost(anchor: int, queue: Queue) -> bool:
    """Return whether a ticket of a saved search waits no more."""
    number = anchor % queue.saved.size
    for k in range(queue.saved[number]["tickets"]):
        ticket = _ticket_of(queue.saved_tickets[number, k])
        if queue.slots[ticket]["status"] != t.WAITING:
            return True
    return False


@part(inline=True)
def _first_news(anchor: int, world: World, queue: Queue) -> int:
    """Return the place of the first news that an anchor has to look at."""
    partition = queue.partitions[world.rows.tickets[anchor]["partition"]]
    number, last = anchor % queue.saved.size, world.rows.tickets.size
    record = queue.saved[number]
    if record["full"]:  # nobody behind the last one was tried
        last = t.NONE
        if record["tickets"] > 1:
            last = _ticket_of(queue.saved_tickets[number, record["tickets"] - 1])
    for k in range(partition["first_news"], partition["end_news"]):
        ticket = queue.lists[t.NEWS, k]
        if ticket > last:
            break
        if queue.slots[ticket]["news"] == t.NEW or ticket > anchor:
            return k
    return int(partition["end_news"])


@part(inline=True)
def _catch_up(number: int, ticket: int, anchor: int, world: World, queue: Queue) -> int:
    """Take the next tickets of a saved search that come before another one, all for NONE.

    The anchor is the first. Return the place of the first that is left. It waits no more if it
    comes before that one.
    """
    slot = anchor % queue.saved.size
    if number == 0:
        restore(anchor, _team_of(queue.saved_tickets[slot, 0]), world, queue)
        number = 1
    while number < queue.saved[slot]["tickets"]:
        entry = queue.saved_tickets[slot, number]
        member = _ticket_of(entry)
        if (ticket != t.NONE and member >= ticket) or queue.slots[member]["status"] != t.WAITING:
            break
        restore(member, _team_of(entry), world, queue)
        number += 1
    return number


@part(inline=True)
def _next_news(anchor: int, news: int, end: int, queue: Queue) -> tuple[int, int]:
    """Return the next ticket of which there are news for an anchor, or NONE, and what follows."""
    while news < end:
        ticket = queue.lists[t.NEWS, news]
        news += 1
        of_use = ticket > anchor or queue.slots[ticket]["news"] == t.NEW
        if of_use and queue.slots[ticket]["status"] == t.WAITING:
            return ticket, news
    return t.NONE, news


@part(inline=True)
def _parting(ticket: int, number: int, anchor: int, queue: Queue) -> int:
    """Return from which ticket on all are tried again, as the match is no longer the saved one.

    NONE where it still is that, up to `ticket`; DONE where there is nothing left to try.
    """
    slot = anchor % queue.saved.size
    record = queue.saved[slot]
    if number == record["tickets"]:
        return DONE if ticket == t.NONE or record["full"] else t.NONE
    member = _ticket_of(queue.saved_tickets[slot, number])
    if ticket == t.NONE or member < ticket:  # waits no more
        return member + 1
    return member if member == ticket else t.NONE


@part(inline=True)
def _next_in_line(
    anchor: int, row: int, k: int, first: int, end: int, queue: Queue
) -> tuple[int, int]:
    """Return the next ticket that waits, the anchor before others, or NONE, and what follows."""
    while k < end:
        ticket = anchor if k < first else queue.lists[row, k]
        k += 1
        if (ticket != anchor or k == first) and queue.slots[ticket]["status"] == t.WAITING:
            return ticket, k
    return t.NONE, k


@part(inline=True)
def _skipping(row: int, k: int, end: int, ticket: int, queue: Queue) -> int:
    """Return where the tickets of a line from one on begin, all by age."""
    while k < end and queue.lists[row, k] < ticket:
        k += 1
    return k


@part
def try_greedily(
    anchor: int, row: int, first: int, end: int, saves: bool, world: World, queue: Queue
) -> None:
    """Let an anchor add ticket after ticket; remember the match whenever it is valid."""
    current = queue.candidate.current[0]
    resumed = saves and _has_saved(anchor, world, queue)
    among_new = world.options[0]["backfill"] != 0 and not world.rows.tickets[anchor]["running"]
    news, end_news, number, k = 0, 0, 0, first - 1
    current["best"] = 0
    if resumed:
        news = _first_news(anchor, world, queue)
        end_news = queue.partitions[world.rows.tickets[anchor]["partition"]]["end_news"]
        none = queue.saved[anchor % queue.saved.size]["tickets"] == 0
        if none or (news == end_news and not _has_lost(anchor, queue)):
            return
    begin(queue.candidate)
    while True:
        ticket = t.NONE
        if resumed:
            ticket, news = _next_news(anchor, news, end_news, queue)
            number = _catch_up(number, ticket, anchor, world, queue)
            behind = _parting(ticket, number, anchor, queue)
            if behind == DONE:
                return
            if behind != t.NONE:
                resumed, k = False, _skipping(row, first, end, behind, queue)
        if not resumed:
            ticket, k = _next_in_line(anchor, row, k, first, end, queue)
            if ticket == t.NONE:
                break
        if world.rows.tickets[ticket]["running"] and (among_new or current["running"]):
            continue
        taken = take(ticket, age_with(ticket, world, queue), world, queue)
        if taken and resumed:
            resumed, k = False, _skipping(row, first, end, ticket + 1, queue)
        if current["full"] if taken else ticket == anchor:
            break
    if saves and current["best"] == 0:
        _save(anchor, queue)


BATCHES = 1  # source of the random order of a pool that is cut
PASSES = 2**20  # counters of random orders between one review and the next
MOST_TRIED = 16  # most tickets that an exhaustive search looks at


@part
def review(now: float, world: World, queue: Queue) -> None:
    """Repeat passes until one forms nothing."""
    options, passes = world.options[0], 0
    _let_age(now, world, queue)
    while queue.state[0]["too_many"] == 0:
        made = _one_pass(now, passes, world, queue)
        passes += 1
        if made == 0 or passes == options["passes"]:
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
    options = world.options[0]
    pool = 0
    for k in range(queue.state[0]["waiting"]):
        ticket = queue.lists[t.LINE, k]
        if world.rows.tickets[ticket]["matchable"]:
            queue.lists[t.POOL, pool] = ticket
            pool += 1
    saves = options["batch_size"] == 0 and world.sorts.size == 0
    saves = saves and not (options["exhaustive"] or options["counted"])
    size = pool if options["batch_size"] == 0 else options["batch_size"]
    if options["batch_size"]:
        _order_pool(pool, number, world, queue)
    if saves:
        _bring_together(pool, world, queue)
    made = 0
    for start in range(0, pool, max(size, 1)):
        count = min(size, pool - start)
        for k in range(count):
            ticket = queue.lists[t.POOL, start + k]
            if options["batch_size"]:
                queue.lists[t.BATCH, k], queue.slots[ticket]["key"] = ticket, float(ticket)
            elif not saves:
                queue.lists[t.BATCH, k] = ticket
        if options["batch_size"]:
            _sort(t.BATCH, count, queue)
        made += _batch(now, count, saves, world, queue)
    for k in range(queue.state[0]["waiting"]):
        queue.slots[queue.lists[t.LINE, k]]["news"] = t.NOTHING_NEW
    if made:
        _let_go(world, queue)
    return made


@part
def _sort(row: int, count: int, queue: Queue) -> None:
    """Sort the first tickets of a list by their keys."""
    stable_sort(queue.lists[row], queue.lists[t.SPARE], queue.slots, count)


@part
def _order_pool(pool: int, number: int, world: World, queue: Queue) -> None:
    """Put the pool in the order in which it is cut into batches."""
    if not world.options[0]["sorted"]:
        counter = queue.state[0]["reviews"] * PASSES + number
        for k in range(pool):
            ticket = queue.lists[t.POOL, k]
            queue.slots[ticket]["key"] = uniform_at(world.rng_key, BATCHES, ticket, counter)
        _sort(t.POOL, pool, queue)
        return
    for row in range(world.batches.size - 1, -1, -1):
        for k in range(pool):
            ticket = queue.lists[t.POOL, k]
            queue.slots[ticket]["key"] = world.rows.values[ticket, world.batches[row]]
        _sort(t.POOL, pool, queue)


@part
def _bring_together(pool: int, world: World, queue: Queue) -> None:
    """Put the tickets of each partition together, and those of them of whom there are news."""
    news = 0
    for k in range(pool):
        ticket = queue.lists[t.POOL, k]
        if world.rows.tickets[ticket]["partition"] != t.NONE:
            partition = queue.partitions[world.rows.tickets[ticket]["partition"]]
            partition["first_news"], partition["end_news"] = 0, 0
        if queue.slots[ticket]["news"] != t.NOTHING_NEW:
            queue.lists[t.SPARE, news] = ticket
            news += 1
    partitions, tickets = queue.partitions, world.rows.tickets
    group(
        queue.lists[t.POOL],
        pool,
        queue.lists[t.BATCH],
        tickets,
        partitions["first"],
        partitions["end"],
    )
    firsts, ends = partitions["first_news"], partitions["end_news"]
    group(queue.lists[t.SPARE], news, queue.lists[t.NEWS], tickets, firsts, ends)


@part
def _let_go(world: World, queue: Queue) -> None:
    """Take those out of the line who have a match."""
    waiting = 0
    for k in range(queue.state[0]["waiting"]):
        ticket = queue.lists[t.LINE, k]
        if queue.slots[ticket]["status"] == t.WAITING:
            queue.lists[t.LINE, waiting] = ticket
            waiting += 1
    queue.state[0]["waiting"] = waiting


@part
def _batch(now: float, count: int, saves: bool, world: World, queue: Queue) -> int:
    """Let the tickets of a batch be anchors; return how many matches were made.

    By age, or those of games that run before the others, which then are among themselves, or after.
    """
    options, made = world.options[0], 0
    priority = options["backfill"]
    for piece in range(1 if priority == 0 else 2):
        running = piece == priority - 1
        for k in range(count):
            if queue.state[0]["too_many"] > 0:
                return made
            anchor = queue.lists[t.POOL if saves else t.BATCH, k]
            if queue.slots[anchor]["status"] != t.WAITING:
                continue
            if priority and (world.rows.tickets[anchor]["running"] == 1) != running:
                continue
            if world.rows.tickets[anchor]["partition"] == t.NONE:
                continue
            queue.candidate.current[0]["best"] = 0
            if saves:
                partition = queue.partitions[world.rows.tickets[anchor]["partition"]]
                try_greedily(
                    anchor, t.BATCH, partition["first"], partition["end"], True, world, queue
                )
            else:
                _try_others(anchor, count, world, queue)
            if queue.candidate.current[0]["best"]:
                _note(anchor, now, world, queue)
                made += 1
    return made


@part
def _try_others(anchor: int, count: int, world: World, queue: Queue) -> None:
    """Let an anchor look for a match among the others of a batch."""
    others, options, partition = 0, world.options[0], world.rows.tickets[anchor]["partition"]
    alike = options["backfill"] == 0 or world.rows.tickets[anchor]["running"]
    for k in range(count):
        ticket = queue.lists[t.BATCH, k]
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
    _sort(t.OTHERS, others, queue)


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
