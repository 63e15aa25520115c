"""Kernels that recall how the last search of an anchor went, where verdicts are counted.

Which rules hold and which one refuses a ticket, on each team with room, is decided by the tickets
taken before it, by it, and by the age of the match with it. So while an anchor takes the same
tickets to the same teams as in its last search, a ticket that was refused then, at the same age, is
refused again, and counts the same: it is not judged anew. That is for refusals by one rule on all
teams, and for tickets that the first team took; whatever else came of one is found out again.

An entry of what is recalled is a ticket, the age of the match with it, and what came of it: the
place of the rule in the order and the number of teams that it refused it on; or the team that took
it; or that several rules refused it.
"""

from __future__ import annotations

from valmatch.kernels.compilation import internal, merged
from valmatch.matching.tickets.growing import age_with, restore
from valmatch.matching.tickets.layout import MIXED, NONE, WAITING, Queue, World

AGE_BITS, OUTCOME_BITS, TEAM_BITS = 12, 20, 8
"""Bits of an entry: below the ticket its age, then what came of it; of this the number of teams."""

TAKEN, AT_ONCE = 2 * MIXED, MIXED // 2
"""What came of a ticket that a team took, to which its number is added: AT_ONCE if no rule was
false, and the match is neither full nor judged as complete. MIXED: of one that several rules
refused, or one beyond what there are bits for."""

MOST_AGES = 2**AGE_BITS
"""Ages that there are bits for."""


@merged
def begin_recalling(anchor: int, queue: Queue) -> None:
    """Begin a search of an anchor, and go through the last one beside it."""
    record, growing = queue.kept[anchor % queue.kept.size], queue.seats.growing[0]
    growing["old"], growing["new"] = 0, 0
    growing["same"] = int(record["anchor"] == anchor)
    growing["end"] = record["tickets"] if growing["same"] else 0


@merged
def forget_refusals(queue: Queue) -> None:
    """Begin to count who refuses a ticket, and on how many teams."""
    growing = queue.seats.growing[0]
    growing["refusing"], growing["refusals"], growing["judged"] = 0, 0, 0


@merged
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
        if entry >> OUTCOME_BITS != (ticket << AGE_BITS) + age or entry & MIXED:
            break
        team = entry & (2**TEAM_BITS - 1)
        if entry & TAKEN:
            if not entry & AT_ONCE:
                break
            restore(ticket, team - 1, world, queue)
            judged[queue.order.size]["recalled"] += 1
        elif k < first:
            break
        else:
            judged[(entry & (MIXED - 1)) >> TEAM_BITS]["recalled"] += team  # how many
        if new < old:
            entries[new] = entry
        old, new, k = old + 1, new + 1, k + 1
    growing["old"], growing["new"], growing["same"] = old, new, same
    return k


@merged
def remember(ticket: int, age: int, team: int, anchor: int, alone: int, queue: Queue) -> None:
    """Note what came of a ticket, and whether the anchor has still taken the same ones.

    Parameters
    ----------
    ticket : int
    age : int
        Of the match with it.
    team : int
        That took it, numbered from 1, 0 for a ticket whose players are on teams; or NONE.
    anchor : int
    alone : int
        How many rules of the order, from the first, refuse by themselves.
    queue : Queue
    """
    growing, entries = queue.seats.growing[0], queue.kept_tickets[anchor % queue.kept.size]
    outcome = MIXED
    if team != NONE:
        outcome = TAKEN + team
        at_once = growing["refusals"] + growing["judged"] + growing["full"] == 0
        outcome += AT_ONCE if at_once and alone == queue.order.size else 0
    elif growing["refusing"] < min(alone, MIXED >> TEAM_BITS):
        outcome = (growing["refusing"] << TEAM_BITS) + growing["refusals"]
    before = MIXED
    if growing["old"] < growing["end"]:
        entry = entries[growing["old"]]
        if entry >> (AGE_BITS + OUTCOME_BITS) == ticket:  # as `recall` has stopped there
            before = entry & (2 * TAKEN - 1)
            growing["old"] += 1
    if (outcome & TAKEN or before & TAKEN) and outcome != before:
        growing["same"] = 0
    if growing["new"] == growing["old"] < growing["end"]:  # no room before what is still to come
        growing["same"], growing["end"] = 0, growing["old"]
    if growing["new"] < entries.size:
        entries[growing["new"]] = (((ticket << AGE_BITS) + age) << OUTCOME_BITS) + outcome
        growing["new"] += 1


@merged
def end_recalling(anchor: int, queue: Queue) -> None:
    """Keep what there is to recall of the search of an anchor."""
    number, growing = anchor % queue.kept.size, queue.seats.growing[0]
    queue.kept[number]["anchor"], queue.kept[number]["tickets"] = anchor, growing["new"]


@internal
def count_recalled(queue: Queue) -> None:
    """Count what was recalled: of a refusal the rules that come before have held."""
    held = queue.seats.judged[queue.order.size]["recalled"]
    for k in range(queue.order.size - 1, -1, -1):
        judged = queue.seats.judged[queue.order[k]]
        judged["held"] += held
        recalled = queue.seats.judged[k]["recalled"]
        judged["refused"] += recalled
        held += recalled
