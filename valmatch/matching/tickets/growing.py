"""Kernels that let a match grow by tickets, and say whether it is one."""

from __future__ import annotations

import numpy as np

from valmatch.kernels.compilation import expanded
from valmatch.matching.tickets.judging import holding, refuses
from valmatch.matching.tickets.layout import MEMBERS, NONE, TEAMS, Queue, World


@expanded
def begin(queue: Queue) -> None:
    """Begin an empty match."""
    growing = queue.growing[0]
    growing["tickets"], growing["players"], growing["running"] = 0, 0, 0
    growing["newest"], growing["oldest"] = -np.inf, np.inf
    for team in range(queue.sizes.size):
        queue.sizes[team] = 0


@expanded
def grow(ticket: int, team: int, world: World, queue: Queue) -> None:
    """Add a ticket to a team, which has room; of a game that runs to the teams of its players."""
    growing = queue.growing[0]
    record = world.tickets[ticket]
    queue.tried[MEMBERS, growing["tickets"]] = ticket
    queue.tried[TEAMS, growing["tickets"]] = team
    growing["tickets"] += 1
    growing["players"] += record["players"]
    growing["running"] += record["running"]
    for player in range(record["first"], record["first"] + record["players"]):
        home = team if team != NONE else world.home[player]
        queue.players[home, queue.sizes[home]] = player
        queue.sizes[home] += 1
    date(world, queue)


@expanded
def shrink(world: World, queue: Queue) -> None:
    """Take the ticket out that was added last."""
    growing = queue.growing[0]
    growing["tickets"] -= 1
    record = world.tickets[queue.tried[MEMBERS, growing["tickets"]]]
    team = queue.tried[TEAMS, growing["tickets"]]
    growing["players"] -= record["players"]
    growing["running"] -= record["running"]
    for player in range(record["first"], record["first"] + record["players"]):
        queue.sizes[team if team != NONE else world.home[player]] -= 1
    date(world, queue)


@expanded
def date(world: World, queue: Queue) -> None:
    """Set the times of the newest and the oldest ticket, and whose age counts."""
    growing = queue.growing[0]
    newest, oldest = -np.inf, np.inf
    for k in range(growing["tickets"]):
        time = world.tickets[queue.tried[MEMBERS, k]]["time"]
        newest, oldest = max(newest, time), min(oldest, time)
    growing["newest"], growing["oldest"] = newest, oldest
    growing["born"] = oldest if world.options[0]["oldest"] else newest


@expanded
def with_ticket(ticket: int, world: World, queue: Queue) -> float:
    """Return when the ticket joined whose age would count if another one were added."""
    time, growing = world.tickets[ticket]["time"], queue.growing[0]
    if world.options[0]["oldest"]:
        return min(time, growing["oldest"])
    return max(time, growing["newest"])


@expanded
def is_full(now: float, world: World, queue: Queue) -> bool:
    """Return whether no team has room at the age of the match."""
    for team in range(queue.sizes.size):
        most = holding(world.teams[team]["most"], queue.growing[0]["born"], now, world.steps, 0.0)
        if queue.sizes[team] < most:
            return False
    return True


@expanded
def is_valid(now: float, world: World, queue: Queue) -> bool:
    """Return whether the match can be made at its own age."""
    growing = queue.growing[0]
    if growing["running"] > 1 or growing["running"] == growing["tickets"]:
        return False
    for team in range(queue.sizes.size):
        least = holding(world.teams[team]["least"], growing["born"], now, world.steps, 0.0)
        most = holding(world.teams[team]["most"], growing["born"], now, world.steps, 0.0)
        if not least <= queue.sizes[team] <= most:
            return False
    return not refuses(now, False, world, queue)


@expanded
def take(ticket: int, now: float, world: World, queue: Queue) -> bool:
    """Add a ticket to the first team, in the order of filling, that takes it.

    Return whether one has. Teams that are too small come first, then those with most room. A ticket
    of a game that runs goes to the teams of its players, or to none.
    """
    born, record = with_ticket(ticket, world, queue), world.tickets[ticket]
    tries = 1 if record["running"] else queue.sizes.size
    before_filled, before_room, before = -1.0, np.inf, NONE
    for _ in range(tries):
        chosen, has_room = NONE, True
        if record["running"]:
            has_room = _fits(ticket, born, now, world, queue)
        else:
            # The next team in the order: filled or not, room, number.
            filled, room = 2.0, 0.0
            for team in range(queue.sizes.size):
                size = queue.sizes[team]
                least = holding(world.teams[team]["least"], born, now, world.steps, 0.0)
                own = 1.0 if size >= least else 0.0
                free = holding(world.teams[team]["most"], born, now, world.steps, 0.0) - size
                later = own > before_filled or (
                    own == before_filled
                    and (free < before_room or (free == before_room and team > before))
                )
                if later and (own < filled or (own == filled and free > room) or chosen == NONE):
                    filled, room, chosen = own, free, team
            before_filled, before_room, before = filled, room, chosen
            has_room = room >= record["players"]
        if has_room:
            grow(ticket, chosen, world, queue)
            if not refuses(now, True, world, queue):
                return True
            shrink(world, queue)
    return False


@expanded
def _fits(ticket: int, born: float, now: float, world: World, queue: Queue) -> bool:
    """Return whether the teams of a game that runs have room for its players."""
    record = world.tickets[ticket]
    last, all_fit = record["first"] + record["players"], True
    for player in range(record["first"], last):
        team, own = world.home[player], 0
        for other in range(record["first"], last):
            own += int(world.home[other] == team)
        most = holding(world.teams[team]["most"], born, now, world.steps, 0.0)
        all_fit = all_fit and queue.sizes[team] + own <= most
    return all_fit
