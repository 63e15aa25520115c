"""Kernels that let a match grow by tickets, and say whether it is one."""

from __future__ import annotations

from valmatch.kernels.compilation import inlined, internal
from valmatch.matching.tickets.judging import refuses, verdict_on
from valmatch.matching.tickets.layout import (
    BEST,
    BEST_TEAMS,
    FALSE,
    MEMBERS,
    NONE,
    TEAMS,
    UNDECIDED,
    UNKNOWN,
    Queue,
    Seats,
    World,
)
from valmatch.matching.tickets.tallying import add, clear, tell


@internal
def begin(queue: Queue) -> None:
    """Begin an empty match."""
    growing = queue.seats.growing[0]
    growing["tickets"], growing["players"], growing["running"] = 0, 0, 0
    growing["age"], growing["full"], growing["best"] = NONE, 0, 0
    for team in range(queue.seats.sizes.size):
        queue.seats.sizes[team] = 0
    clear(queue.tallies)


@inlined
def age_with(own: int, oldest: int, seats: Seats) -> int:
    """Return the age of a match with a ticket of some age: of its oldest ticket, or of its newest.

    Of tickets that joined one after the other the older one has passed as many waits or more.
    """
    growing = seats.growing[0]
    if growing["tickets"] == 0:
        return own
    return max(growing["age"], own) if oldest else min(growing["age"], own)


@internal
def seat(ticket: int, team: int, age: int, world: World, seats: Seats) -> None:
    """Add a ticket to a team, which has room; of a game that runs to the teams of its players."""
    growing, record = seats.growing[0], world.tickets[ticket]
    seats.tried[MEMBERS, growing["tickets"]] = ticket
    seats.tried[TEAMS, growing["tickets"]] = team
    growing["tickets"] += 1
    growing["players"] += record["players"]
    growing["running"] += record["running"]
    growing["age"] = age
    for player in range(record["first"], record["first"] + record["players"]):
        home = team if team != NONE else world.home[player]
        seats.players[home, seats.sizes[home]] = player
        seats.sizes[home] += 1


@internal
def unseat(age: int, world: World, seats: Seats) -> None:
    """Take the ticket out that was added last; the match then has another age."""
    growing = seats.growing[0]
    growing["tickets"] -= 1
    record = world.tickets[seats.tried[MEMBERS, growing["tickets"]]]
    team = seats.tried[TEAMS, growing["tickets"]]
    growing["players"] -= record["players"]
    growing["running"] -= record["running"]
    growing["age"] = age
    for player in range(record["first"], record["first"] + record["players"]):
        seats.sizes[team if team != NONE else world.home[player]] -= 1


@inlined
def tally(ticket: int, team: int, world: World, queue: Queue) -> None:
    """Add a ticket to the tallies; of a game that runs its players on each team."""
    if team != NONE:
        add(ticket, team, queue.tallies)
        return
    record = world.tickets[ticket]
    for k in range(record["first_part"], record["first_part"] + record["parts"]):
        add(world.parts[k]["row"], world.parts[k]["team"], queue.tallies)


@internal
def restore(ticket: int, team: int, world: World, queue: Queue) -> None:
    """Add a ticket that is known to be taken by a team."""
    own = queue.slots[ticket]["age"]
    seat(ticket, team, age_with(own, world.options[0]["oldest"], queue.seats), world, queue.seats)
    tally(ticket, team, world, queue)


@inlined
def room_of(age: int, world: World, seats: Seats) -> int:
    """Return the most open slots of a team at an age."""
    room = 0
    for team in range(world.teams.size):
        most = int(world.facts.steps[world.teams[team]["most"], age]["value"])
        room = max(room, most - seats.sizes[team])
    return room


@internal
def is_valid(only_final: bool, world: World, seats: Seats) -> bool:
    """Return whether the match can be made at its own age."""
    growing = seats.growing[0]
    if growing["running"] > 1 or growing["running"] == growing["tickets"]:
        return False
    age, steps = growing["age"], world.facts.steps
    for team in range(world.teams.size):
        size, record = seats.sizes[team], world.teams[team]
        if (
            size < steps[record["least"], age]["value"]
            or size > steps[record["most"], age]["value"]
        ):
            return False
    return not refuses(only_final, world.facts, seats)


@inlined
def _order_teams(age: int, world: World, queue: Queue) -> None:
    """Put the teams in the order in which they are filled.

    Those that are too small come first, then those with most room, then those that the table has
    first. The order is mostly that of before.
    """
    filling, steps = queue.filling, world.facts.steps
    for k in range(filling.size):
        team, place = filling[k], k
        size = queue.seats.sizes[team]
        room = steps[world.teams[team]["most"], age]["value"] - size
        filled = size >= steps[world.teams[team]["least"], age]["value"]
        while place > 0:
            other = filling[place - 1]
            other_size = queue.seats.sizes[other]
            other_filled = other_size >= steps[world.teams[other]["least"], age]["value"]
            other_room = steps[world.teams[other]["most"], age]["value"] - other_size
            if filled != other_filled:
                behind = filled
            elif room != other_room:
                behind = room < other_room
            else:
                behind = team > other
            if behind:
                break
            filling[place] = other
            place -= 1
        filling[place] = team


@internal
def take(ticket: int, age: int, start: int, world: World, queue: Queue) -> bool:
    """Add a ticket to the first team, in the order of filling, that takes it, if one does.

    Remember the match if it is valid. A ticket of a game that runs goes to the teams of its
    players, or to none.
    """
    record, growing = world.tickets[ticket], queue.seats.growing[0]
    before, running = growing["age"], record["running"] == 1
    if not running:
        _order_teams(age, world, queue)
    for k in range(1 if running else queue.filling.size):
        team = NONE if running else queue.filling[k]
        if running:
            has_room = fits(ticket, age, world, queue.seats)
        else:
            most = world.facts.steps[world.teams[team]["most"], age]["value"]
            has_room = queue.seats.sizes[team] + record["players"] <= most
        if not has_room:
            continue
        known, tickets = 0 if running else start, growing["tickets"]
        if _breaks(ticket, team, age, known, world, queue):
            if growing["tickets"] > tickets:
                unseat(before, world, queue.seats)
            continue
        if growing["tickets"] == tickets:
            seat(ticket, team, age, world, queue.seats)
        tally(ticket, team, world, queue)
        _look(world, queue)
        return True
    return False


@inlined
def _breaks(ticket: int, team: int, age: int, start: int, world: World, queue: Queue) -> bool:
    """Return whether a rule refuses a ticket on a team, which then may have been seated there."""
    options, facts = world.options[0], world.facts
    tickets, counted = queue.seats.growing[0]["tickets"], options["counted"]
    if counted:
        for k in range(start):
            queue.seats.judged[k]["held"] += 1
    for k in range(start, queue.order.size):
        number = queue.order[k]
        rule, judged = facts.rules[number], queue.seats.judged[number]
        verdict = UNKNOWN
        if not rule["unknown"]:
            verdict = UNDECIDED
            if rule["tallied"] and team != NONE:
                verdict = tell(number, age, ticket, team, facts, queue.tallies)
            if verdict == UNDECIDED:
                if queue.seats.growing[0]["tickets"] == tickets:
                    seat(ticket, team, age, world, queue.seats)
                verdict = verdict_on(number, age, True, facts, queue.seats)
        judged["verdict"] = verdict
        if counted:
            judged["refused"] += int(verdict == FALSE)
            judged["held"] += int(verdict != FALSE)
        if verdict == FALSE and rule["alone"]:
            if not counted:
                _advance(k, options["common"], options["swift"], queue)
            return True
    return False


@inlined
def _advance(k: int, first: int, end: int, queue: Queue) -> None:
    """Let a rule that has refused change places with the one before, within a part of the order."""
    if first < k < end:
        queue.order[k - 1], queue.order[k] = queue.order[k], queue.order[k - 1]


@internal
def _look(world: World, queue: Queue) -> None:
    """Remember the match if it is valid, and note whether it is full."""
    growing, seats = queue.seats.growing[0], queue.seats
    if is_valid(not world.options[0]["counted"], world, seats):
        growing["best"] = growing["tickets"]
        for i in range(growing["tickets"]):
            seats.tried[BEST, i] = seats.tried[MEMBERS, i]
            seats.tried[BEST_TEAMS, i] = seats.tried[TEAMS, i]
    growing["full"] = int(room_of(growing["age"], world, seats) <= 0)


@internal
def fits(ticket: int, age: int, world: World, seats: Seats) -> bool:
    """Return whether the teams of a game that runs have room for its players."""
    record, all_fit = world.tickets[ticket], True
    for k in range(record["first_part"], record["first_part"] + record["parts"]):
        part = world.parts[k]
        most = world.facts.steps[world.teams[part["team"]]["most"], age]["value"]
        all_fit = all_fit and seats.sizes[part["team"]] + part["players"] <= most
    return all_fit
