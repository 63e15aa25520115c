"""Kernels that recall how the last search of an anchor went, where verdicts are counted.

Which rules hold and which one refuses a ticket, on each team with room, is decided by the tickets
taken before it, by it, and by the age of the match with it. So while an anchor takes the same
tickets to the same teams as in its last search, a ticket that was refused then, at the same age, is
refused again, and counts the same: it is not judged anew. At another age it is, too, if the rule
that refused it, and all before it, say the same then. That is for refusals by one rule on all teams
that it was tried on; whatever else came of a ticket is found out again.

An entry of what is recalled is a ticket, the age of the match with it, and what came of it: the
place of the rule in the order that refused it, and on how many teams; and the team that took it.
"""

from __future__ import annotations

from valmatch.kernels.compilation import inlined, internal
from valmatch.matching.tickets.growing import age_with, restore
from valmatch.matching.tickets.layout import MIXED, NONE, WAITING, Queue, World

AGE_BITS, OUTCOME_BITS, REFUSED_BITS, TEAM_BITS = 10, 28, 16, 8
"""Bits of an entry: below the ticket its age, then what came of it; of this, below the rule on how
many teams it refused the ticket, then the team that took it."""

TAKEN = 2 * MIXED
"""What came of a ticket that a team took. With MIXED it is to be found out again: of a ticket that
several rules refused, that made the match full or let it be judged as complete, or that is beyond
what there are bits for."""

TAKER = TAKEN + 2**TEAM_BITS - 1  # whether a team took a ticket, and which
MOST_AGES = 2**AGE_BITS  # ages that there are bits for
MOST_TICKETS = 2 ** (63 - AGE_BITS - OUTCOME_BITS)  # tickets that there are bits for


@inlined
def begin_recalling(anchor: int, queue: Queue) -> None:
    """Begin a search of an anchor, and go through the last one beside it."""
    record, growing = queue.kept[anchor % queue.kept.size], queue.seats.growing[0]
    growing["old"], growing["new"] = 0, 0
    growing["same"] = int(record["anchor"] == anchor)
    growing["end"] = record["tickets"] if growing["same"] else 0


@inlined
def forget_refusals(queue: Queue) -> None:
    """Begin to count who refuses a ticket, and on how many teams."""
    growing = queue.seats.growing[0]
    growing["refusing"], growing["refusals"], growing["judged"] = 0, 0, 0


@inlined
def recall(anchor: int, row: int, k: int, first: int, end: int, world: World, queue: Queue) -> int:
    """Count what came of the next tickets last time, while that is what comes of them now.

    Return the place of the first of which it is to be found out; the anchor stands before the
    first. What was tried last time waited then, and was no second game that runs: with the same
    tickets taken it is none now.
    """
    growing, entries = queue.seats.growing[0], queue.kept_tickets[anchor % queue.kept.size]
    oldest, judged, line = world.options[0]["oldest"], queue.seats.judged, queue.lists[row]
    old, new, last, same = growing["old"], growing["new"], growing["end"], growing["same"]
    slots = queue.slots
    while k < end and same:
        ticket = anchor if k < first else line[k]
        if k >= first and (ticket == anchor or slots[ticket]["status"] != WAITING):
            k += 1
            continue
        while 0 < old < last and entries[old] >> (AGE_BITS + OUTCOME_BITS) < ticket:
            if entries[old] & TAKEN:  # and waits no more
                same = 0
            old += 1
        if old == last or not same:
            break
        entry, age = entries[old], age_with(slots[ticket]["age"], oldest, queue.seats)
        if entry >> (AGE_BITS + OUTCOME_BITS) != ticket or entry & MIXED:
            break
        rule = (entry & (MIXED - 1)) >> REFUSED_BITS
        before = (entry >> OUTCOME_BITS) & (MOST_AGES - 1)
        if before != age:
            if entry & TAKEN or not _says_the_same(rule, before, age, world):
                break
            entry += (age - before) << OUTCOME_BITS
        if entry & TAKEN:
            restore(ticket, (entry & (2**TEAM_BITS - 1)) - 1, world, queue)
            judged[queue.order.size]["in_turn"] += 1
        elif k < first:
            break
        judged[rule]["in_turn"] += (entry >> TEAM_BITS) & (2 ** (REFUSED_BITS - TEAM_BITS) - 1)
        entries[new] = entry
        old, new, k = old + 1, new + 1, k + 1
    growing["old"], growing["new"], growing["same"] = old, new, same
    return k


@inlined
def _says_the_same(rule: int, before: int, age: int, world: World) -> bool:
    """Return whether a rule, and all before it, say the same at two ages."""
    for k in range(min(before, age) + 1, max(before, age) + 1):
        if world.alike[k] <= rule:
            return False
    return True


@inlined
def remember(ticket: int, age: int, team: int, anchor: int, alone: int, queue: Queue) -> None:
    """Note what came of a ticket, and whether the anchor has still taken the same ones."""
    growing, entries = queue.seats.growing[0], queue.kept_tickets[anchor % queue.kept.size]
    outcome = MIXED
    if growing["refusing"] < min(alone, MIXED >> REFUSED_BITS):
        outcome = (growing["refusing"] << REFUSED_BITS) + (growing["refusals"] << TEAM_BITS)
    if team != NONE:
        if growing["judged"] or growing["full"] or alone < queue.order.size:
            outcome = MIXED
        outcome += TAKEN + team
    before = 0
    if growing["old"] < growing["end"]:
        entry = entries[growing["old"]]
        if entry >> (AGE_BITS + OUTCOME_BITS) == ticket:  # as `recall` has stopped there
            before = entry & TAKER
            growing["old"] += 1
    if (outcome | before) & TAKEN and outcome & TAKER != before:
        growing["same"] = 0
    if growing["new"] == growing["old"] < growing["end"]:  # no room before what is still to come
        growing["same"], growing["end"] = 0, growing["old"]
    if growing["new"] < entries.size:
        entries[growing["new"]] = (((ticket << AGE_BITS) + age) << OUTCOME_BITS) + outcome
        growing["new"] += 1


@inlined
def end_recalling(anchor: int, queue: Queue) -> None:
    """Keep what there is to recall of the search of an anchor."""
    number, growing = anchor % queue.kept.size, queue.seats.growing[0]
    queue.kept[number]["anchor"], queue.kept[number]["tickets"] = anchor, growing["new"]


@internal
def count_in_turn(world: World, queue: Queue) -> None:
    """Count what was noted of rules in turn: of a refusal, that those before it have held."""
    options, judged = world.options[0], queue.seats.judged
    if not options["counted"]:
        return
    held = judged[queue.order.size]["in_turn"]
    for k in range(options["alone"] - 1, -1, -1):
        rule = judged[queue.order[k]]
        rule["held"] += held
        rule["refused"] += judged[k]["in_turn"]
        held += judged[k]["in_turn"]
