"""The kernel of the search `pass`: one anchor adds ticket after ticket to its match.

An anchor that found no match keeps what it had of one. Next time it goes on from there, with the
same result as from the beginning, for these reasons. The others are tried in the order of their
numbers, so by age. Whether one is taken, and by which team, is decided by the tickets taken before
it, by it, and by the age of the match with it; a ticket that is not taken leaves nothing behind.
So up to the first ticket about which one of these differs from last time, all is as it was. They
differ

- where a ticket that was taken waits no more, for all behind it; where one that was not taken
  waits no more, for nobody;
- for a ticket that has joined since, or has come back;
- where the age of the match with a ticket has passed a wait. If the newest ticket counts, that is
  the anchor or the ticket itself, whichever is younger, as those taken before it are older than it.
  An anchor that has passed a wait begins anew; else it is of no meaning which older ones have. If
  the oldest counts, that is the anchor or one that is older: if any of these has passed a wait, the
  anchor begins anew, and else it is of no meaning which younger ones have.

Whether the match is valid or full is looked at whenever a ticket is taken, and is decided by the
tickets taken and the age of the match then. Between two times, then, an anchor has to try again
those who are new or who have passed a wait; once one of them is taken, or one that was taken is to
be tried again or is gone, it tries all behind that one.
"""

from __future__ import annotations

from valmatch.kernels.compilation import inlined, internal
from valmatch.matching.tickets.growing import (
    age_with,
    begin,
    fits,
    restore,
    room_of,
    take,
)
from valmatch.matching.tickets.layout import (
    FALSE,
    MEMBERS,
    NEW,
    NEWS,
    NONE,
    NOTHING_NEW,
    OLDER,
    TEAMS,
    UNDECIDED,
    WAITING,
    Queue,
    World,
)
from valmatch.matching.tickets.ordering import place_in
from valmatch.matching.tickets.tallying import tell

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
    if queue.slots[anchor]["news"] != NOTHING_NEW:
        return False
    camp = queue.camps[world.tickets[anchor]["camp"]]
    if world.options[0]["oldest"]:
        for k in range(camp["first_news"], camp["end_news"]):
            ticket = queue.lists[NEWS, k]
            if ticket > anchor:
                break
            if queue.slots[ticket]["news"] == OLDER:
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
        ticket, team = queue.seats.tried[MEMBERS, k], queue.seats.tried[TEAMS, k]
        queue.kept_tickets[number, k] = (ticket << TEAM_BITS) + team + 1


@inlined
def _has_lost(anchor: int, queue: Queue) -> bool:
    """Return whether a ticket of a kept match waits no more."""
    number = anchor % queue.kept.size
    for k in range(queue.kept[number]["tickets"]):
        ticket = _ticket_of(queue.kept_tickets[number, k])
        if queue.slots[ticket]["status"] != WAITING:
            return True
    return False


@inlined
def _first_news(anchor: int, world: World, queue: Queue) -> int:
    """Return the place of the first news from a place on that an anchor has to look at."""
    camp, number = queue.camps[world.tickets[anchor]["camp"]], anchor % queue.kept.size
    record = queue.kept[number]
    last = world.tickets.size
    if record["full"]:  # nobody behind the last one was tried
        last = NONE
        if record["tickets"] > 1:
            last = _ticket_of(queue.kept_tickets[number, record["tickets"] - 1])
    for k in range(camp["first_news"], camp["end_news"]):
        ticket = queue.lists[NEWS, k]
        if ticket > last:
            break
        if queue.slots[ticket]["news"] == NEW or ticket > anchor:
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
        verdict = tell(queue.order[k], age, ticket, NONE, world.facts, queue.tallies)
        if verdict == FALSE:
            if counted:
                _count_refusals(k, ticket, age, world, queue)
            elif k > 0:
                queue.order[k - 1], queue.order[k] = queue.order[k], queue.order[k - 1]
            return NONE
        if verdict == UNDECIDED:
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
        if (ticket != NONE and member >= ticket) or queue.slots[member]["status"] != WAITING:
            break
        restore(member, _team_of(entry), world, queue)
        number += 1
    return number


@inlined
def _next_news(anchor: int, news: int, end: int, queue: Queue) -> tuple[int, int]:
    """Return the next ticket of which there are news for an anchor, or NONE, and what follows."""
    while news < end:
        ticket = queue.lists[NEWS, news]
        news += 1
        of_use = ticket > anchor or queue.slots[ticket]["news"] == NEW
        if of_use and queue.slots[ticket]["status"] == WAITING:
            return ticket, news
    return NONE, news


@inlined
def _parting(ticket: int, number: int, anchor: int, queue: Queue) -> int:
    """Return from which ticket on all are tried again, as the match is no longer the kept one.

    NONE where it still is that, up to `ticket`; DONE where there is nothing left to try.
    """
    kept = anchor % queue.kept.size
    record = queue.kept[kept]
    if number == record["tickets"]:
        return DONE if ticket == NONE or record["full"] else NONE
    member = _ticket_of(queue.kept_tickets[kept, number])
    if ticket == NONE or member < ticket:  # waits no more
        return member + 1
    return member if member == ticket else NONE


@inlined
def _next_in_line(
    anchor: int, row: int, k: int, first: int, end: int, queue: Queue
) -> tuple[int, int]:
    """Return the next ticket that waits, the anchor before others, or NONE, and what follows."""
    while k < end:
        ticket = anchor if k < first else queue.lists[row, k]
        k += 1
        if (ticket != anchor or k == first) and queue.slots[ticket]["status"] == WAITING:
            return ticket, k
    return NONE, k


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
    start = NONE
    if mine["players"] <= rooms[0] or mine["running"]:
        start = _known_rules(ticket, age, world, queue)
    return start != NONE and take(ticket, age, start, world, queue), rooms


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
    rooms = 0, NONE, NONE
    while True:
        ticket = NONE
        if known:
            ticket, news = _next_news(anchor, news, end_news, queue)
            number = _catch_up(number, ticket, anchor, world, queue)
            behind = _parting(ticket, number, anchor, queue)
            if behind == DONE:
                return
            if behind != NONE:
                known, k = False, place_in(queue.lists[row], first, end, behind)
        if not known:
            ticket, k = _next_in_line(anchor, row, k, first, end, queue)
            if ticket == NONE:
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
