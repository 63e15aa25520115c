"""Kernels that count the verdicts on tickets of other camps without a look at each.

Where the first rule wants a value to be the same for all, it refuses a ticket with another value on
each team with room, whatever the age of the match, and no other rule is judged. How many teams have
room is decided by the number of the ticket's players and by the tickets taken before it. So between
two tickets that an anchor takes, it is enough to know how many of other camps wait there, by their
numbers of players.
"""

from __future__ import annotations

from valmatch.kernels.compilation import inlined, internal
from valmatch.matching.tickets.layout import (
    BATCH,
    MEMBERS,
    NONE,
    POOL,
    TEAMS,
    WAITING,
    Queue,
    World,
)


@internal
def count_crowd(pool: int, world: World, queue: Queue) -> None:
    """Count who waits before each place of the pool, and of the camps, by numbers of players."""
    in_camps = 0
    for k in range(pool):
        ticket = queue.lists[POOL, k]
        queue.slots[ticket]["in_pool"] = k
        _count_next(k, 0, ticket, world, queue)
        in_camps += int(world.tickets[ticket]["camp"] != NONE)
    for k in range(in_camps):
        ticket = queue.lists[BATCH, k]
        queue.slots[ticket]["in_batch"] = k
        _count_next(k, 1, ticket, world, queue)


@inlined
def _count_next(k: int, part: int, ticket: int, world: World, queue: Queue) -> None:
    """Count who waits before the place after a ticket's."""
    for players in range(queue.crowd.shape[2]):
        queue.crowd[k + 1, part, players] = queue.crowd[k, part, players]
    if queue.slots[ticket]["status"] == WAITING:
        queue.crowd[k + 1, part, world.tickets[ticket]["players"]] += 1


@inlined
def _teams_with_room(players: int, world: World, queue: Queue) -> int:
    """Return how many teams of the match have room for so many players, at any age."""
    found = 0
    for team in range(world.teams.size):
        most = world.facts.steps[world.teams[team]["most"], 0]["value"]
        found += int(queue.seats.sizes[team] + players <= most)
    return found


@internal
def count_foreign(anchor: int, pool: int, world: World, queue: Queue) -> None:
    """Count those whom an anchor has not tried, as they are of other camps; empty the teams.

    From the end: each ticket that was taken is taken out of its team before those are counted who
    would have been tried before it.
    """
    growing, camp = queue.seats.growing[0], world.tickets[anchor]["camp"]
    last, refused, crowd = growing["tickets"] - 1, 0, queue.crowd
    if last < 0:  # the anchor itself was refused, and nobody else tried
        return
    first, own_end, end = int(queue.camps[camp]["first"]), int(queue.camps[camp]["end"]), pool
    for k in range(last, -1, -1):
        member, start, own_start = queue.seats.tried[MEMBERS, k], 0, first
        if k > 0:
            start, own_start = queue.slots[member]["in_pool"], queue.slots[member]["in_batch"]
        if k < last or not growing["full"]:
            for players in range(1, crowd.shape[2]):
                others = crowd[end, 0, players] - crowd[start, 0, players]
                others -= crowd[own_end, 1, players] - crowd[own_start, 1, players]
                if others:
                    refused += others * _teams_with_room(players, world, queue)
        end, own_end = start, own_start
        queue.seats.sizes[queue.seats.tried[TEAMS, k]] -= world.tickets[member]["players"]
    queue.seats.judged[queue.order[0]]["refused"] += refused
