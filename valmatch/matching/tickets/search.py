"""Kernels that look for matches: the passes of a review, one anchor after the other."""

import numpy as np

from valmatch.draws.streams import uniform_at
from valmatch.kernels.compilation import macro, part
from valmatch.matching.tickets import layout as t
from valmatch.matching.tickets.judging import (
    age_with,
    begin,
    fits,
    is_valid,
    pop,
    push,
    take,
    tally,
)
from valmatch.matching.tickets.layout import Candidate, Queue, World

# All matches with an anchor, for small pools.

MOST_CANDIDATES = 10**8
"""Most candidates that an exhaustive search judges for one anchor, before it ends with an error."""


@part
def try_all(anchor: int, others: int, world: World, queue: Queue) -> None:
    """Find the best match with an anchor: most players, smallest places, then smallest teams."""
    candidate, teams = queue.candidate, world.teams.shape[0] + 1  # 0 of a ticket is no team
    begin(candidate)
    tried, candidates, choice, index, team = candidate.tried, 0, 0, 0, t.NONE
    while True:
        # The next ticket and team that can be added after the last; else the last is changed.
        level = candidate.current[0]["tickets"]
        end, ticket = teams * (1 + others if level else 1), anchor
        while choice < end:
            index, team = choice // teams, choice % teams - 1
            ticket = queue.lists[t.OTHERS, index - 1] if index else anchor
            running = world.rows.tickets[ticket]["running"]  # then it has no team to be tried
            other = running == 0 or candidate.current[0]["running"] == 0
            alike = (running == 1) == (team == t.NONE)
            if alike and other and fits(ticket, team, t.NONE, world, candidate):
                break
            choice += 1
        if choice < end:
            push(ticket, team, age_with(ticket, world, queue), world, candidate)
            tried[t.PLACES, level] = index
            _compare(world, candidate)
            choice = teams * (index + 1)
            candidates += 1
            if candidates > MOST_CANDIDATES:
                queue.state[0]["too_many"] = others + 1
                break
        elif level > 0:
            choice = teams * tried[t.PLACES, level - 1] + tried[t.TEAMS, level - 1] + 2
            pop(world, candidate)
        else:
            break


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
# The search of an anchor that found no match is saved, and goes on from there next time. Whether a
# ticket is taken is decided by those taken before it and by the age of the match with it. So all is
# as it was up to the first ticket that was taken and waits no more, that has joined since, or with
# which that age has passed a wait. If it has with the anchor, that begins anew.

NOT_SAVED, CHANGED, UNCHANGED = range(3)  # what there is of a search before


@part
def _look_back(anchor: int, world: World, queue: Queue) -> int:
    """Return whether an anchor has saved a search, and whether it may end otherwise now."""
    slot, slots = anchor % queue.saved.size, queue.slots
    record, saved = queue.saved[slot], queue.saved_tickets[slot]
    if record["anchor"] != anchor or slots[anchor]["news"] != t.NOTHING_NEW:
        return NOT_SAVED
    number = record["tickets"]
    last = world.rows.tickets.size
    if record["full"]:  # nobody behind the last one was tried
        last = saved[number - 1]["ticket"] if number > 1 else t.NONE
    ticket = queue.partitions[world.rows.tickets[anchor]["partition"]]["news"]
    changed, oldest = False, world.options.oldest
    while ticket != t.NONE:
        if oldest and ticket <= anchor and slots[ticket]["news"] == t.OLDER:
            return NOT_SAVED
        changed = changed or (ticket <= last and _is_news(ticket, anchor, queue))
        ticket = slots[ticket]["next_news"]
    for k in range(number):
        changed = changed or slots[saved[k]["ticket"]]["status"] != t.WAITING
    return CHANGED if changed and number > 0 else UNCHANGED  # 0: the anchor itself is refused


@macro
def _is_news(ticket: int, anchor: int, queue: Queue) -> bool:
    """Return whether an anchor has to try a ticket again."""
    slot = queue.slots[ticket]
    of_use = slot["news"] == t.NEW or (slot["news"] == t.OLDER and ticket > anchor)
    return of_use and slot["status"] == t.WAITING


@part
def try_greedily(anchor: int, head: int, saves: bool, world: World, queue: Queue) -> None:
    """Let an anchor add ticket after ticket; remember the match whenever it is valid."""
    # The others are linked from the head on; the anchor may be one of them.
    current, slot = queue.candidate.current[0], anchor % queue.saved.size
    among_new = world.options.backfill != 0 and not world.rows.tickets[anchor]["running"]
    current["best"] = 0
    before = _look_back(anchor, world, queue) if saves else NOT_SAVED
    if before == UNCHANGED:
        return
    begin(queue.candidate)
    resumes, restored = before == CHANGED, 0
    following, begun = anchor, False
    while following != t.NONE and current["full"] == 0:
        ticket, is_first, begun = following, not begun, True
        following = head if is_first else queue.slots[ticket]["next"]
        if queue.slots[ticket]["status"] != t.WAITING or (ticket == anchor and not is_first):
            continue
        if resumes:
            member, number = queue.saved_tickets[slot, restored], queue.saved[slot]["tickets"]
            is_member = restored < number and member["ticket"] == ticket
            # Where one of them is gone, or is to be tried again, it is another search.
            gone = 0 < restored < number and member["ticket"] < ticket
            news = _is_news(ticket, anchor, queue)
            resumes = not gone and not (news and is_member)
            if resumes and is_member:
                push(ticket, member["team"], age_with(ticket, world, queue), world, queue.candidate)
                tally(ticket, member["team"], world, queue.candidate)
                restored += 1
                current["full"] = int(queue.saved[slot]["full"] and restored == number)
            if resumes and not news:
                continue
        excluded = among_new or current["running"] > 0
        if not (excluded and world.rows.tickets[ticket]["running"] == 1) and take(
            ticket, age_with(ticket, world, queue), world, queue
        ):
            resumes = False
        elif ticket == anchor:
            break
    if saves and current["best"] == 0:
        record = queue.saved[slot]
        record["anchor"], record["tickets"] = anchor, current["tickets"]
        record["full"] = current["full"]
        for k in range(current["tickets"]):
            member = queue.saved_tickets[slot, k]
            member["ticket"] = queue.candidate.tried[t.MEMBERS, k]
            member["team"] = queue.candidate.tried[t.TEAMS, k]


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
    for k in range(queue.state[0]["waiting"]):
        ticket = queue.lists[t.LINE, k]
        slot, time = queue.slots[ticket], world.rows.tickets[ticket]["time"]
        age = slot["age"]
        while age < world.waits.size and time + world.waits[age] <= now:
            age += 1
        if slot["news"] != t.NEW:
            slot["news"] = t.OLDER if age > slot["age"] else t.NOTHING_NEW
        slot["age"] = age
    while queue.state[0]["too_many"] == 0:
        made = _one_pass(now, passes, world, queue)
        passes += 1
        if made == 0 or passes == world.options.passes:
            break
    queue.state[0]["reviews"] += 1


@part
def next_wait(world: World, queue: Queue) -> float:
    """Return when the next ticket passes a wait."""
    moment = np.inf
    for k in range(queue.state[0]["waiting"]):
        ticket = queue.lists[t.LINE, k]
        age = queue.slots[ticket]["age"]  # at the last review
        if age < world.waits.size:
            moment = min(moment, world.rows.tickets[ticket]["time"] + world.waits[age])
    return moment


@part
def _one_pass(now: float, number: int, world: World, queue: Queue) -> int:
    """Let each ticket that is free be an anchor once; return how many matches were made."""
    options, state, lists = world.options, queue.state[0], queue.lists
    pool, made = 0, 0
    for k in range(state["waiting"]):
        ticket = lists[t.LINE, k]
        if world.rows.tickets[ticket]["matchable"]:
            lists[t.POOL, pool] = ticket
            pool += 1
    linked = options.batch_size == 0 and world.sorts.size == 0 and not options.exhaustive
    if linked:
        _bring_together(pool, world, queue)
    if options.batch_size:
        is_sorted, counter = options.sorted, state["reviews"] * PASSES + number
        for row in range(world.batches.size - 1 if is_sorted else 0, -1, -1):
            for k in range(pool):
                ticket = lists[t.POOL, k]
                if is_sorted:
                    queue.slots[ticket]["key"] = world.rows.values[ticket, world.batches[row]]
                else:
                    drawn = uniform_at(world.rng_key, BATCHES, ticket, counter)
                    queue.slots[ticket]["key"] = drawn
            _sort(t.POOL, 0, pool, queue)
    size = max(options.batch_size if options.batch_size else pool, 1)
    for start in range(0, pool, size):
        count = min(size, pool - start)
        for k in range(start, start + count):
            queue.slots[lists[t.POOL, k]]["key"] = float(lists[t.POOL, k])
        if options.batch_size:
            _sort(t.POOL, start, count, queue)
        made += _batch(now, start, count, linked, world, queue)
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
def _bring_together(pool: int, world: World, queue: Queue) -> None:
    """Link the tickets of each partition, and those of them of whom there are news."""
    tickets, slots, partitions = world.rows.tickets, queue.slots, queue.partitions
    for link in (False, True):
        for k in range(pool - 1, -1, -1):
            ticket = queue.lists[t.POOL, k]
            number = tickets[ticket]["partition"]
            if number == t.NONE:
                continue
            if not link:
                partitions[number]["head"] = partitions[number]["news"] = t.NONE
                continue
            slots[ticket]["next"] = partitions[number]["head"]
            partitions[number]["head"] = ticket
            if slots[ticket]["news"] != t.NOTHING_NEW:
                slots[ticket]["next_news"] = partitions[number]["news"]
                partitions[number]["news"] = ticket


@part
def _batch(now: float, start: int, count: int, linked: bool, world: World, queue: Queue) -> int:
    """Let the tickets of a batch be anchors; return how many matches were made."""
    options, made = world.options, 0
    priority, later = options.backfill, now + options.foresight
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
            leaves = min(record["cancel"], record["time"] + options.timeout)
            if leaves > later and not record["running"]:
                continue
            queue.candidate.current[0]["best"] = 0
            if linked:
                head = queue.partitions[record["partition"]]["head"]
                try_greedily(anchor, head, not options.counted, world, queue)
            else:
                _try_others(anchor, start, count, world, queue)
            if queue.candidate.current[0]["best"]:
                _note(anchor, now, queue)
                made += 1
    return made


@part
def _try_others(anchor: int, start: int, count: int, world: World, queue: Queue) -> None:
    """Let an anchor look for a match among the others of a batch."""
    others, options, record = 0, world.options, world.rows.tickets[anchor]
    alike, partition = options.backfill == 0 or record["running"], record["partition"]
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
        sort, values, column, best = world.sorts[row], world.rows.values, t.NONE, np.inf
        for key in range(sort["first"], sort["first"] + sort["keys"]):  # by which it sorts
            value = -values[anchor, key] if sort["highest"] else values[anchor, key]
            if value < best:
                column, best = key, value
        for k in range(others if column != t.NONE else 0):
            ticket = queue.lists[t.OTHERS, k]
            value = values[ticket, column]
            if sort["from_anchor"]:
                value = abs(value - values[anchor, column])
            if sort["descending"]:
                value = -value
            queue.slots[ticket]["key"] = np.inf if np.isnan(value) else value
        if column != t.NONE:
            _sort(t.OTHERS, 0, others, queue)
    if not options.exhaustive:
        head = t.NONE
        for k in range(others - 1, -1, -1):
            queue.slots[queue.lists[t.OTHERS, k]]["next"] = head
            head = queue.lists[t.OTHERS, k]
        try_greedily(anchor, head, False, world, queue)
    elif others >= MOST_TRIED:
        queue.state[0]["too_many"] = others + 1
    else:
        try_all(anchor, others, world, queue)


@part
def _note(anchor: int, now: float, queue: Queue) -> None:
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
