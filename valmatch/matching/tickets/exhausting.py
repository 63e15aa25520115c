"""Kernels that look at all matches with an anchor; for small pools."""

from __future__ import annotations

from valmatch.kernels.arrays import Ints
from valmatch.kernels.compilation import inlined, internal
from valmatch.matching.tickets.growing import age_with, begin, is_valid, seat, unseat
from valmatch.matching.tickets.layout import (
    BEST,
    BEST_PLACES,
    BEST_TEAMS,
    MEMBERS,
    NONE,
    OTHERS,
    PLACES,
    TEAMS,
    Queue,
    World,
)

MOST_CANDIDATES = 10**8
"""Most candidates that an exhaustive search judges for one anchor, before it ends with an error."""


@internal
def try_all(anchor: int, others: int, world: World, queue: Queue) -> None:
    """Find the best match of all: most players, then smallest places, then smallest teams.

    Where there are too many candidates ``too_many`` says of how many tickets.
    """
    begin(queue)
    teams, candidates = world.teams.size, 0
    place, team = 0, NONE
    while queue.state[0]["halt"] == 0:
        # The next ticket and team that can be added after the last; else the last is changed.
        level = queue.seats.growing[0]["tickets"]
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
            own, oldest = queue.slots[ticket]["age"], world.options[0]["oldest"]
            seat(ticket, team, age_with(own, oldest, queue.seats), world, queue.seats)
            queue.seats.tried[PLACES, level] = place
            _compare(world, queue)
            place, team = place + 1, NONE
            candidates += 1
            if candidates > MOST_CANDIDATES:
                queue.state[0]["too_many"] = others + 1
                break
        elif level > 0:
            place, team = (
                queue.seats.tried[PLACES, level - 1],
                queue.seats.tried[TEAMS, level - 1] + 1,
            )
            unseat(_age_of(level - 1, world, queue), world, queue.seats)
            if team == teams:
                place, team = place + 1, NONE
        else:
            break


@internal
def _age_of(tickets: int, world: World, queue: Queue) -> int:
    """Return the age of the first tickets of the match: of the oldest, or of the newest."""
    age = NONE
    for k in range(tickets):
        own = queue.slots[queue.seats.tried[MEMBERS, k]]["age"]
        if age == NONE:
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
    if (record["running"] == 1) != (team == NONE):
        return False
    if team != NONE:
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
        order = _order(queue.seats.tried[PLACES], queue.seats.tried[BEST_PLACES], tickets, best)
        if order == 0:
            order = _order(queue.seats.tried[TEAMS], queue.seats.tried[BEST_TEAMS], tickets, best)
        better = order < 0
    if not better or not is_valid(False, world, queue.seats):
        return
    growing["best"], growing["best_players"] = tickets, growing["players"]
    for i in range(tickets):
        queue.seats.tried[BEST, i] = queue.seats.tried[MEMBERS, i]
        queue.seats.tried[BEST_TEAMS, i] = queue.seats.tried[TEAMS, i]
        queue.seats.tried[BEST_PLACES, i] = queue.seats.tried[PLACES, i]


@inlined
def _order(one: Ints, other: Ints, size: int, other_size: int) -> int:
    """Return -1 if a list of numbers comes lexicographically before another one, 1 if after."""
    for k in range(min(size, other_size)):
        if one[k] != other[k]:
            return -1 if one[k] < other[k] else 1
    return 0 if size == other_size else (-1 if size < other_size else 1)
