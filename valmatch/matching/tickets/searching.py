"""Kernels that look for matches: the passes of a review, one anchor after the other.

`pass` adds ticket after ticket to the first team that takes it, and keeps the last match that was
valid on the way. `exhaustive` looks at all sets of tickets with the anchor and all their teams; for
small pools.
"""

from __future__ import annotations

import numpy as np

from valmatch.draws.streams import uniform_at
from valmatch.kernels.arrays import Ints, Records
from valmatch.kernels.compilation import apart, inlined, internal
from valmatch.matching.tickets import layout as t
from valmatch.matching.tickets.growing import (
    age_with,
    begin,
    fits,
    is_valid,
    restore,
    room_of,
    seat,
    take,
    tell,
    unseat,
)
from valmatch.matching.tickets.layout import Queue, World

# Kernels that look at all matches with an anchor; for small pools.

MOST_CANDIDATES = 10**8
"""Most candidates that an exhaustive search judges for one anchor, before it ends with an error."""


@internal
def try_all(anchor: int, others: int, world: World, queue: Queue) -> None:
    """Find the best match of all: most players, then smallest places, then smallest teams.

    Where there are too many candidates ``too_many`` says of how many tickets.
    """
    begin(queue)
    teams, candidates = world.teams.size, 0
    place, team = 0, t.NONE
    while True:
        # The next ticket and team that can be added after the last; else the last is changed.
        level = queue.seats.growing[0]["tickets"]
        last = others if level else 0
        ticket = anchor
        while place <= last:
            ticket = queue.lists[t.OTHERS, place - 1] if place else anchor
            if _can_take(ticket, team, world, queue):
                break
            team += 1
            if team == teams:
                place, team = place + 1, t.NONE
        if place <= last:
            own, oldest = queue.slots[ticket]["age"], world.options[0]["oldest"]
            seat(ticket, team, age_with(own, oldest, queue.seats), world, queue.seats)
            queue.seats.tried[t.PLACES, level] = place
            _compare(world, queue)
            place, team = place + 1, t.NONE
            candidates += 1
            if candidates > MOST_CANDIDATES:
                queue.state[0]["too_many"] = others + 1
                break
        elif level > 0:
            place, team = (
                queue.seats.tried[t.PLACES, level - 1],
                queue.seats.tried[t.TEAMS, level - 1] + 1,
            )
            unseat(_age_of(level - 1, world, queue), world, queue.seats)
            if team == teams:
                place, team = place + 1, t.NONE
        else:
            break


@internal
def _age_of(tickets: int, world: World, queue: Queue) -> int:
    """Return the age of the first tickets of the match: of the oldest, or of the newest."""
    age = t.NONE
    for k in range(tickets):
        own = queue.slots[queue.seats.tried[t.MEMBERS, k]]["age"]
        if age == t.NONE:
            age = own
        elif world.options[0]["oldest"]:
            age = max(age, own)
        else:
            age = min(age, own)
    return age


@internal
def _can_take(ticket: int, team: int, world: World, queue: Queue) -> bool:
    """Return whether a team may ever have room for a ticket; NONE for one of a game that runs."""
    record = world.tickets[ticket]
    if (record["running"] == 1) != (team == t.NONE):
        return False
    if team != t.NONE:
        return queue.seats.sizes[team] + record["players"] <= world.teams[team]["ever"]
    if queue.seats.growing[0]["running"]:
        return False
    for k in range(record["first_part"], record["first_part"] + record["parts"]):
        part = world.parts[k]
        if queue.seats.sizes[part["team"]] + part["players"] > world.teams[part["team"]]["ever"]:
            return False
    return True


@internal
def _compare(world: World, queue: Queue) -> None:
    """Remember the match if it is valid and better than the best."""
    growing = queue.seats.growing[0]
    tickets, best = growing["tickets"], growing["best"]
    better = best == 0 or growing["players"] > growing["best_players"]
    if not better and growing["players"] == growing["best_players"]:
        order = _order(queue.seats.tried[t.PLACES], queue.seats.tried[t.BEST_PLACES], tickets, best)
        if order == 0:
            order = _order(
                queue.seats.tried[t.TEAMS], queue.seats.tried[t.BEST_TEAMS], tickets, best
            )
        better = order < 0
    if not better or not is_valid(False, world, queue.seats):
        return
    growing["best"], growing["best_players"] = tickets, growing["players"]
    for i in range(tickets):
        queue.seats.tried[t.BEST, i] = queue.seats.tried[t.MEMBERS, i]
        queue.seats.tried[t.BEST_TEAMS, i] = queue.seats.tried[t.TEAMS, i]
        queue.seats.tried[t.BEST_PLACES, i] = queue.seats.tried[t.PLACES, i]


@inlined
def _order(one: Ints, other: Ints, size: int, other_size: int) -> int:
    """Return -1 if a list of numbers comes lexicographically before another one, 1 if after."""
    for k in range(min(size, other_size)):
        if one[k] != other[k]:
            return -1 if one[k] < other[k] else 1
    return 0 if size == other_size else (-1 if size < other_size else 1)


# Kernels that put tickets in order: by a key, or together by camp.


@internal
def stable_sort(order: Ints, spare: Ints, slots: Records, count: int) -> None:
    """Sort the first `count` of some tickets by their keys; equal ones keep their order."""
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


@internal
def group(
    source: Ints, count: int, target: Ints, tickets: Records, firsts: Ints, ends: Ints
) -> None:
    """Put tickets together by camp, in each in the order in which they come."""
    for k in range(count):
        camp = tickets[source[k]]["camp"]
        if camp >= 0:
            ends[camp] = 0
    for k in range(count):
        camp = tickets[source[k]]["camp"]
        if camp >= 0:
            ends[camp] += 1
    # Where a camp begins is known at its first ticket, and is its end, yet to grow, from then on.
    # Until then the end is a number of tickets; afterwards it is negative, less one.
    total = 0
    for k in range(count):
        camp = tickets[source[k]]["camp"]
        if camp < 0:
            continue
        if ends[camp] >= 0:
            firsts[camp], total = total, total + ends[camp]
            ends[camp] = -firsts[camp] - 1
        target[-ends[camp] - 1] = source[k]
        ends[camp] -= 1
    for k in range(count):
        camp = tickets[source[k]]["camp"]
        if camp >= 0 and ends[camp] < 0:
            ends[camp] = -ends[camp] - 1


@internal
def place_in(line: Ints, first: int, end: int, ticket: int) -> int:
    """Return the place of the first ticket of an increasing line that is not below a ticket."""
    while first < end:
        middle = (first + end) // 2
        if line[middle] < ticket:
            first = middle + 1
        else:
            end = middle
    return first


# The kernel of the search `pass`: one anchor adds ticket after ticket to its match.
#
# An anchor that found no match keeps what it had of one. Next time it goes on from there, with the
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
"""Bits of the number of a team where a ticket of a kept match stands; matches have up to 200."""


@inlined
def _ticket_of(entry: int) -> int:
    """Return the ticket of an entry of a kept match."""
    return entry >> TEAM_BITS


@inlined
def _team_of(entry: int) -> int:
    """Return the team of an entry of a kept match, NONE for the teams of a game that runs."""
    return (entry & (2**TEAM_BITS - 1)) - 1


@inlined
def _is_known(anchor: int, world: World, queue: Queue) -> bool:
    """Return whether what an anchor has kept is of use; see above."""
    if queue.kept[anchor % queue.kept.size]["anchor"] != anchor:
        return False
    if queue.slots[anchor]["news"] != t.NOTHING_NEW:
        return False
    camp = queue.camps[world.tickets[anchor]["camp"]]
    if world.options[0]["oldest"]:
        for k in range(camp["first_news"], camp["end_news"]):
            ticket = queue.lists[t.NEWS, k]
            if ticket > anchor:
                break
            if queue.slots[ticket]["news"] == t.OLDER:
                return False
    return True


@internal
def _keep(anchor: int, queue: Queue) -> None:
    """Keep the match that an anchor could not complete."""
    number, growing = anchor % queue.kept.size, queue.seats.growing[0]
    record = queue.kept[number]
    record["anchor"], record["tickets"] = anchor, growing["tickets"]
    record["full"] = growing["full"]
    for k in range(growing["tickets"]):
        ticket, team = queue.seats.tried[t.MEMBERS, k], queue.seats.tried[t.TEAMS, k]
        queue.kept_tickets[number, k] = (ticket << TEAM_BITS) + team + 1


@inlined
def _has_lost(anchor: int, queue: Queue) -> bool:
    """Return whether a ticket of a kept match waits no more."""
    number = anchor % queue.kept.size
    for k in range(queue.kept[number]["tickets"]):
        ticket = _ticket_of(queue.kept_tickets[number, k])
        if queue.slots[ticket]["status"] != t.WAITING:
            return True
    return False


@inlined
def _first_news(anchor: int, world: World, queue: Queue) -> int:
    """Return the place of the first news from a place on that an anchor has to look at."""
    camp, number = queue.camps[world.tickets[anchor]["camp"]], anchor % queue.kept.size
    record = queue.kept[number]
    last = world.tickets.size
    if record["full"]:  # nobody behind the last one was tried
        last = t.NONE
        if record["tickets"] > 1:
            last = _ticket_of(queue.kept_tickets[number, record["tickets"] - 1])
    for k in range(camp["first_news"], camp["end_news"]):
        ticket = queue.lists[t.NEWS, k]
        if ticket > last:
            break
        if queue.slots[ticket]["news"] == t.NEW or ticket > anchor:
            return k
    return int(camp["end_news"])


@inlined
def _known_rules(ticket: int, age: int, world: World, queue: Queue) -> int:
    """Return how many rules of the order are known to hold with a ticket on any team, or NONE.

    NONE is returned where one is false, which then changes places with the one before it; or, where
    verdicts are counted, counts as false for each team that has room.
    """
    counted, undecided = world.options[0]["counted"], False
    common = world.options[0]["common"]
    for k in range(common):
        verdict = tell(queue.order[k], age, ticket, t.NONE, world.facts, queue.tallies)
        if verdict == t.FALSE:
            if counted:
                _count_refusals(k, ticket, age, world, queue)
            elif k > 0:
                queue.order[k - 1], queue.order[k] = queue.order[k], queue.order[k - 1]
            return t.NONE
        if verdict == t.UNDECIDED:
            if counted:
                return k
            undecided = True
    return 0 if undecided else common


@internal
def _count_refusals(rule: int, ticket: int, age: int, world: World, queue: Queue) -> None:
    """Count for each team with room for a ticket that a rule refuses and those before hold."""
    tries, seats = 0, queue.seats
    if world.tickets[ticket]["running"]:
        tries = int(fits(ticket, age, world, seats))
    else:
        for team in range(world.teams.size):
            most = world.facts.steps[world.teams[team]["most"], age]["value"]
            tries += int(seats.sizes[team] + world.tickets[ticket]["players"] <= most)
    for k in range(rule):
        seats.judged[k]["held"] += tries
    seats.judged[rule]["refused"] += tries


@inlined
def _catch_up(number: int, ticket: int, anchor: int, world: World, queue: Queue) -> int:
    """Take the next tickets of a kept match that come before another one, all for NONE.

    The anchor is the first. Return the place of the first that is left. It waits no more if it
    comes before that one.
    """
    kept = anchor % queue.kept.size
    if number == 0:
        restore(anchor, _team_of(queue.kept_tickets[kept, 0]), world, queue)
        number = 1
    while number < queue.kept[kept]["tickets"]:
        entry = queue.kept_tickets[kept, number]
        member = _ticket_of(entry)
        if (ticket != t.NONE and member >= ticket) or queue.slots[member]["status"] != t.WAITING:
            break
        restore(member, _team_of(entry), world, queue)
        number += 1
    return number


@inlined
def _next_news(anchor: int, news: int, end: int, queue: Queue) -> tuple[int, int]:
    """Return the next ticket of which there are news for an anchor, or NONE, and what follows."""
    while news < end:
        ticket = queue.lists[t.NEWS, news]
        news += 1
        of_use = ticket > anchor or queue.slots[ticket]["news"] == t.NEW
        if of_use and queue.slots[ticket]["status"] == t.WAITING:
            return ticket, news
    return t.NONE, news


@inlined
def _parting(ticket: int, number: int, anchor: int, queue: Queue) -> int:
    """Return from which ticket on all are tried again, as the match is no longer the kept one.

    NONE where it still is that, up to `ticket`; DONE where there is nothing left to try.
    """
    kept = anchor % queue.kept.size
    record = queue.kept[kept]
    if number == record["tickets"]:
        return DONE if ticket == t.NONE or record["full"] else t.NONE
    member = _ticket_of(queue.kept_tickets[kept, number])
    if ticket == t.NONE or member < ticket:  # waits no more
        return member + 1
    return member if member == ticket else t.NONE


@inlined
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


@inlined
def _is_taken(
    ticket: int, rooms: tuple[int, int, int], world: World, queue: Queue
) -> tuple[bool, tuple[int, int, int]]:
    """Return whether a team takes a ticket, and `rooms` as it was then.

    That is the most room of a team, and the age and number of tickets that it is of.
    """
    growing, mine = queue.seats.growing[0], world.tickets[ticket]
    age = age_with(queue.slots[ticket]["age"], world.options[0]["oldest"], queue.seats)
    if age != rooms[1] or growing["tickets"] != rooms[2]:
        rooms = room_of(age, world, queue.seats), age, int(growing["tickets"])
    start = t.NONE
    if mine["players"] <= rooms[0] or mine["running"]:
        start = _known_rules(ticket, age, world, queue)
    return start != t.NONE and take(ticket, age, start, world, queue), rooms


@internal
def try_greedily(
    anchor: int, row: int, first: int, end: int, keeps: bool, world: World, queue: Queue
) -> None:
    """Let an anchor add ticket after ticket; remember the match whenever it is valid."""
    growing = queue.seats.growing[0]
    known = keeps and _is_known(anchor, world, queue)
    apart = world.options[0]["backfill"] != 0 and not world.tickets[anchor]["running"]
    news, end_news, number, k = 0, 0, 0, first - 1
    growing["best"] = 0
    if known:
        news = _first_news(anchor, world, queue)
        end_news = queue.camps[world.tickets[anchor]["camp"]]["end_news"]
        none = queue.kept[anchor % queue.kept.size]["tickets"] == 0
        if none or (news == end_news and not _has_lost(anchor, queue)):
            return
    begin(queue)
    rooms = 0, t.NONE, t.NONE
    while True:
        ticket = t.NONE
        if known:
            ticket, news = _next_news(anchor, news, end_news, queue)
            number = _catch_up(number, ticket, anchor, world, queue)
            behind = _parting(ticket, number, anchor, queue)
            if behind == DONE:
                return
            if behind != t.NONE:
                known, k = False, place_in(queue.lists[row], first, end, behind)
        if not known:
            ticket, k = _next_in_line(anchor, row, k, first, end, queue)
            if ticket == t.NONE:
                break
        if world.tickets[ticket]["running"] and (apart or growing["running"]):
            continue
        taken, rooms = _is_taken(ticket, rooms, world, queue)
        if taken and known:
            known, k = False, place_in(queue.lists[row], first, end, ticket + 1)
        if growing["full"] if taken else ticket == anchor:
            break
    if keeps and growing["best"] == 0:
        _keep(anchor, queue)


BATCHES = 1  # source of the random order of a pool that is cut
PASSES = 2**20  # counters of random orders between one review and the next
MOST_TRIED = 16  # most tickets that an exhaustive search looks at


@apart
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


@internal
def _let_age(now: float, world: World, queue: Queue) -> None:
    """Note which waits the tickets have passed."""
    for k in range(queue.state[0]["waiting"]):
        ticket = queue.lists[t.LINE, k]
        slot, time = queue.slots[ticket], world.tickets[ticket]["time"]
        age = slot["age"]
        while age < world.waits.size and time + world.waits[age] <= now:
            age += 1
        if slot["news"] != t.NEW:
            slot["news"] = t.OLDER if age > slot["age"] else t.NOTHING_NEW
        slot["age"] = age


@internal
def _one_pass(now: float, number: int, world: World, queue: Queue) -> int:
    """Let each ticket that is free be an anchor once; return how many matches were made."""
    options = world.options[0]
    pool = 0
    for k in range(queue.state[0]["waiting"]):
        ticket = queue.lists[t.LINE, k]
        if world.tickets[ticket]["matchable"]:
            queue.lists[t.POOL, pool] = ticket
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
            ticket = queue.lists[t.POOL, start + k]
            if options["batch_size"]:
                queue.lists[t.BATCH, k], queue.slots[ticket]["key"] = ticket, float(ticket)
            elif not keeps:
                queue.lists[t.BATCH, k] = ticket
        if options["batch_size"]:
            _sort(t.BATCH, count, queue)
        made += _batch(now, count, keeps, world, queue)
    for k in range(queue.state[0]["waiting"]):
        queue.slots[queue.lists[t.LINE, k]]["news"] = t.NOTHING_NEW
    if made:
        _let_go(world, queue)
    return made


@internal
def _sort(row: int, count: int, queue: Queue) -> None:
    """Sort the first tickets of a list by their keys."""
    stable_sort(queue.lists[row], queue.lists[t.SPARE], queue.slots, count)


@internal
def _order_pool(pool: int, number: int, world: World, queue: Queue) -> None:
    """Put the pool in the order in which it is cut into batches."""
    if not world.options[0]["sorted"]:
        counter = queue.state[0]["reviews"] * PASSES + number
        for k in range(pool):
            ticket = queue.lists[t.POOL, k]
            queue.slots[ticket]["key"] = uniform_at(world.place, BATCHES, ticket, counter)
        _sort(t.POOL, pool, queue)
        return
    for row in range(world.batch_values.shape[0] - 1, -1, -1):
        for k in range(pool):
            ticket = queue.lists[t.POOL, k]
            queue.slots[ticket]["key"] = world.batch_values[row, ticket]
        _sort(t.POOL, pool, queue)


@internal
def _bring_together(pool: int, world: World, queue: Queue) -> None:
    """Put the tickets of each camp together, and those of them of whom there are news."""
    news = 0
    for k in range(pool):
        ticket = queue.lists[t.POOL, k]
        if world.tickets[ticket]["camp"] != t.NONE:
            camp = queue.camps[world.tickets[ticket]["camp"]]
            camp["first_news"], camp["end_news"] = 0, 0
        if queue.slots[ticket]["news"] != t.NOTHING_NEW:
            queue.lists[t.SPARE, news] = ticket
            news += 1
    camps, tickets = queue.camps, world.tickets
    group(queue.lists[t.POOL], pool, queue.lists[t.BATCH], tickets, camps["first"], camps["end"])
    firsts, ends = camps["first_news"], camps["end_news"]
    group(queue.lists[t.SPARE], news, queue.lists[t.NEWS], tickets, firsts, ends)


@internal
def _let_go(world: World, queue: Queue) -> None:
    """Take those out of the line who have a match."""
    waiting = 0
    for k in range(queue.state[0]["waiting"]):
        ticket = queue.lists[t.LINE, k]
        if queue.slots[ticket]["status"] == t.WAITING:
            queue.lists[t.LINE, waiting] = ticket
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
            if queue.state[0]["too_many"] > 0:
                return made
            anchor = queue.lists[t.POOL if keeps else t.BATCH, k]
            if queue.slots[anchor]["status"] != t.WAITING:
                continue
            if priority and (world.tickets[anchor]["running"] == 1) != running:
                continue
            if world.tickets[anchor]["camp"] == t.NONE:
                continue
            queue.seats.growing[0]["best"] = 0
            if keeps:
                camp = queue.camps[world.tickets[anchor]["camp"]]
                try_greedily(anchor, t.BATCH, camp["first"], camp["end"], True, world, queue)
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
        ticket = queue.lists[t.BATCH, k]
        record = world.tickets[ticket]
        if (
            ticket != anchor
            and record["camp"] == camp
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


@internal
def _sort_others(row: int, anchor: int, others: int, world: World, queue: Queue) -> None:
    """Sort tickets by one sort: those without a value last."""
    key = int(world.sort_values[row, anchor, world.sort_values.shape[2] - 1])
    if key == t.NONE:
        return
    own = world.sort_values[row, anchor, key]
    for k in range(others):
        ticket = queue.lists[t.OTHERS, k]
        value = world.sort_values[row, ticket, key]
        if world.sorts[row]["from_anchor"]:
            value = abs(value - own)
        if world.sorts[row]["descending"]:
            value = -value
        queue.slots[ticket]["key"] = np.inf if np.isnan(value) else value
    _sort(t.OTHERS, others, queue)


@internal
def _note(anchor: int, now: float, world: World, queue: Queue) -> None:
    """Write the best match down; its tickets wait no more."""
    state = queue.state[0]
    match = queue.matches[state["matches"]]
    match["proposed"], match["review"], match["anchor"] = now, state["reviews"], anchor
    match["tickets"], match["first"] = queue.seats.growing[0]["best"], state["listed"]
    for k in range(match["tickets"]):
        ticket = queue.seats.tried[t.BEST, k]
        queue.matched[0, state["listed"] + k] = ticket
        queue.matched[1, state["listed"] + k] = queue.seats.tried[t.BEST_TEAMS, k]
        queue.slots[ticket]["status"] = t.PROPOSED
    state["listed"] += match["tickets"]
    queue.lists[t.PENDING, state["proposals"]] = state["matches"]
    state["matches"] += 1
    state["proposals"] += 1
