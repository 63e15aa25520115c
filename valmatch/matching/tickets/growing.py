"""Kernels that let a match grow by tickets, and say whether it is one."""

from __future__ import annotations

import numpy as np

from valmatch.kernels.arrays import Ints
from valmatch.kernels.compilation import inlined, internal
from valmatch.matching.tickets import layout as t
from valmatch.matching.tickets.judging import refuses, verdict_on
from valmatch.matching.tickets.layout import Facts, Queue, Seats, Tallies, World

# Kernels that tell from tallies whether one more ticket would break a rule.
#
# Tallies are kept of each team of the match that is tried: least, greatest, sum and number of its
# players' values, and what they have in common as sets of bits. With them a verdict takes a few
# operations for each team that the rule speaks of, however many players there are.

NOBODY = np.uint64(2**64 - 1)
"""What players have in common where there are none: all bits, of which no text has the last."""


@internal
def clear(tallies: Tallies) -> None:
    """Begin the tallies of an empty match."""
    for column in range(tallies.stats.shape[0]):
        for team in range(tallies.stats.shape[1]):
            stat = tallies.stats[column, team]
            stat["low"], stat["high"], stat["total"], stat["players"] = np.inf, -np.inf, 0.0, 0
    for column in range(tallies.marks.shape[0]):
        for team in range(tallies.marks.shape[1]):
            tallies.marks[column, team] = NOBODY


@internal
def add(row: int, team: int, tallies: Tallies) -> None:
    """Add a ticket, or what a game that runs has on a team, to the tallies of it and of all."""
    for place in (team, tallies.stats.shape[1] - 1):
        for column in range(tallies.stats.shape[0]):
            stat, own = tallies.stats[column, place], tallies.own[row, column]
            stat["low"] = min(stat["low"], own["low"])
            stat["high"] = max(stat["high"], own["high"])
            stat["total"] += own["total"]
            stat["players"] += own["players"]
    for place in (team, tallies.marks.shape[1] - 1):
        for column in range(tallies.marks.shape[0]):
            tallies.marks[column, place] &= tallies.own_marks[row, column]


@inlined
def _of_places(
    column: int, first: int, end: int, joins: tuple[int, int], links: Ints, tallies: Tallies
) -> tuple[float, float, float, int]:
    """Return least, greatest, sum and number of the values of some teams as if they were one."""
    ticket, seat = joins
    low, high, total, players = np.inf, -np.inf, 0.0, 0
    for k in range(first, end):
        place = links[k]
        stat = tallies.stats[column, place]
        low, high = min(low, stat["low"]), max(high, stat["high"])
        total, players = total + stat["total"], players + stat["players"]
        if place == seat or place == tallies.stats.shape[1] - 1:
            own = tallies.own[ticket, column]
            low, high = min(low, own["low"]), max(high, own["high"])
            total, players = total + own["total"], players + own["players"]
    return low, high, total, players


@inlined
def _reduced(function: int, low: float, high: float, total: float, number: int) -> float:
    """Return a function of values, NaN of none."""
    if number == 0:
        return np.nan
    if function == t.MIN:
        return low
    if function == t.MAX:
        return high
    return total if function == t.SUM else total / number


@internal
def _single(aggregate: np.void, joins: tuple[int, int], links: Ints, tallies: Tallies) -> float:
    """Return the value of an aggregate that is one number."""
    first, end = aggregate["first_place"], aggregate["first_place"] + aggregate["places"]
    column, inner = aggregate["column"], aggregate["inner"]
    if aggregate["shape"] == t.AS_ONE:
        low, high, total, players = _of_places(column, first, end, joins, links, tallies)
        return _reduced(inner, low, high, total, players)
    low, high, total, number = np.inf, -np.inf, 0.0, 0
    for k in range(first, end):
        one, other, whole, players = _of_places(column, k, k + 1, joins, links, tallies)
        if players:
            value = _reduced(inner, one, other, whole, players)
            low, high = min(low, value), max(high, value)
            total, number = total + value, number + 1
    return _reduced(aggregate["outer"], low, high, total, number)


@inlined
def _held(value: float, reference: float, rule: np.void, least: float, most: float) -> int:
    """Return the verdict on a measured number."""
    slack = rule["slack"]
    if rule["kind"] == t.WITHIN:
        distance = abs(value - reference)
        if distance > most + slack or distance < least - slack:
            return t.FALSE
        near = slack > 0.0 and (distance > most - slack or distance < least + slack)
        return t.UNDECIDED if near else t.TRUE
    if slack > 0.0 and abs(value - reference) <= slack:
        return t.UNDECIDED
    operation = rule["operation"]
    if operation == t.LESS:
        holds = value < reference
    elif operation == t.AT_MOST:
        holds = value <= reference
    elif operation == t.EQUAL:
        holds = value == reference
    elif operation == t.OTHER:
        holds = value != reference
    elif operation == t.MORE:
        holds = value > reference
    else:
        holds = value >= reference
    return t.TRUE if holds else t.FALSE


@internal
def tell(number: int, age: int, ticket: int, seat: int, facts: Facts, tallies: Tallies) -> int:
    """Judge a rule on the match that is tried with one more ticket, which is not complete."""
    rule = facts.rules[number]
    least, most = 0.0, np.inf
    if rule["least"] != t.NONE:
        least = facts.steps[rule["least"], age]["value"]
    if rule["most"] != t.NONE:
        most = facts.steps[rule["most"], age]["value"]
    verdict, kind = t.TRUE, rule["kind"]
    if kind == t.REACHED:
        column = rule["column"]
        if rule["most"] != t.NONE:
            column += facts.steps[rule["most"], age]["entry"]
        place = tallies.marks.shape[1] - 1
        if tallies.marks[column, place] & tallies.own_marks[ticket, column] == 0:
            verdict = t.FALSE
    elif kind == t.SPREAD:
        stat = tallies.stats[rule["column"], tallies.stats.shape[1] - 1]
        own = tallies.own[ticket, rule["column"]]
        if not max(stat["high"], own["high"]) - min(stat["low"], own["low"]) <= most:
            verdict = t.FALSE
    else:
        for k in range(rule["measures"]):
            aggregate = facts.aggregates[facts.links[rule["first_measure"] + k]]
            if kind == t.COUNTED:
                one = _counted(rule, aggregate, least, most, (ticket, seat), facts.links, tallies)
            else:
                one = _measured(rule, aggregate, age, least, most, (ticket, seat), facts, tallies)
            if one == t.FALSE:
                verdict = t.FALSE
                break
            verdict = max(verdict, one)
    return t.UNDECIDED if verdict == t.TRUE and rule["partly"] else verdict


@inlined
def _measured(
    rule: np.void,
    aggregate: np.void,
    age: int,
    least: float,
    most: float,
    joins: tuple[int, int],
    facts: Facts,
    tallies: Tallies,
) -> int:
    """Judge one aggregate of a rule that compares numbers."""
    reference = np.nan
    if rule["reference"] != t.NONE:
        entry = facts.steps[rule["reference"], age]
        reference = entry["value"]
        if entry["aggregate"] != t.NONE:
            referred = facts.aggregates[entry["aggregate"]]
            reference = _single(referred, joins, facts.links, tallies)
        if np.isnan(reference):
            return t.TRUE
    shape, verdict = aggregate["shape"], t.TRUE
    if shape == t.OVER_TEAMS:
        value = _single(aggregate, joins, facts.links, tallies)
        return t.TRUE if np.isnan(value) else _held(value, reference, rule, least, most)
    first, places = aggregate["first_place"], aggregate["places"]
    step = 1 if shape == t.BY_TEAM else places
    for k in range(first, first + places, step):
        low, high, total, players = _of_places(
            aggregate["column"], k, k + step, joins, facts.links, tallies
        )
        if players == 0:
            continue
        if aggregate["inner"] != t.NONE:
            low = _reduced(aggregate["inner"], low, high, total, players)
            high = low
        if rule["reference"] == t.NONE:
            one = t.TRUE if low == high else t.FALSE
        else:
            one = _held(low, reference, rule, least, most)
            if one != t.FALSE and low != high:
                one = _either(one, _held(high, reference, rule, least, most))
        if one == t.FALSE:
            return t.FALSE
        verdict = max(verdict, one)
    return verdict


@inlined
def _either(one: int, other: int) -> int:
    """Return what is to be said of two values, of which the first is not refused."""
    return t.FALSE if other == t.FALSE else max(one, other)


@inlined
def _counted(
    rule: np.void,
    aggregate: np.void,
    least: float,
    most: float,
    joins: tuple[int, int],
    links: Ints,
    tallies: Tallies,
) -> int:
    """Judge one aggregate of a rule that counts common texts, or players who have a text."""
    first, places = aggregate["first_place"], aggregate["places"]
    step = 1 if aggregate["shape"] == t.BY_TEAM else places
    for k in range(first, first + places, step):
        if rule["operation"] != t.COMMON:
            _, _, total, _ = _of_places(rule["column"], k, k + step, joins, links, tallies)
            if total > most:
                return t.FALSE
            continue
        common = _common(aggregate["column"], k, k + step, joins, links, tallies)
        if common != NOBODY:
            count = 0
            while common:
                common &= common - np.uint64(1)
                count += 1
            if count > most or count < least:
                return t.FALSE
    return t.TRUE


@inlined
def _common(
    column: int, first: int, end: int, joins: tuple[int, int], links: Ints, tallies: Tallies
) -> np.uint64:
    """Return what the players of some teams have in common."""
    ticket, seat = joins
    common = NOBODY
    for k in range(first, end):
        place = links[k]
        common &= tallies.marks[column, place]
        if place == seat or place == tallies.marks.shape[1] - 1:
            common &= tallies.own_marks[ticket, column]
    return common


@internal
def begin(queue: Queue) -> None:
    """Begin an empty match."""
    growing = queue.seats.growing[0]
    growing["tickets"], growing["players"], growing["running"] = 0, 0, 0
    growing["age"], growing["full"], growing["best"] = t.NONE, 0, 0
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
    seats.tried[t.MEMBERS, growing["tickets"]] = ticket
    seats.tried[t.TEAMS, growing["tickets"]] = team
    growing["tickets"] += 1
    growing["players"] += record["players"]
    growing["running"] += record["running"]
    growing["age"] = age
    for player in range(record["first"], record["first"] + record["players"]):
        home = team if team != t.NONE else world.home[player]
        seats.players[home, seats.sizes[home]] = player
        seats.sizes[home] += 1


@internal
def unseat(age: int, world: World, seats: Seats) -> None:
    """Take the ticket out that was added last; the match then has another age."""
    growing = seats.growing[0]
    growing["tickets"] -= 1
    record = world.tickets[seats.tried[t.MEMBERS, growing["tickets"]]]
    team = seats.tried[t.TEAMS, growing["tickets"]]
    growing["players"] -= record["players"]
    growing["running"] -= record["running"]
    growing["age"] = age
    for player in range(record["first"], record["first"] + record["players"]):
        seats.sizes[team if team != t.NONE else world.home[player]] -= 1


@inlined
def tally(ticket: int, team: int, world: World, queue: Queue) -> None:
    """Add a ticket to the tallies; of a game that runs its players on each team."""
    if team != t.NONE:
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
        team = t.NONE if running else queue.filling[k]
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
        verdict = t.UNKNOWN
        if not rule["unknown"]:
            verdict = t.UNDECIDED
            if rule["tallied"] and team != t.NONE:
                verdict = tell(number, age, ticket, team, facts, queue.tallies)
            if verdict == t.UNDECIDED:
                if queue.seats.growing[0]["tickets"] == tickets:
                    seat(ticket, team, age, world, queue.seats)
                verdict = verdict_on(number, age, True, facts, queue.seats)
        judged["verdict"] = verdict
        if counted:
            judged["refused"] += int(verdict == t.FALSE)
            judged["held"] += int(verdict != t.FALSE)
        if verdict == t.FALSE and rule["alone"]:
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
            seats.tried[t.BEST, i] = seats.tried[t.MEMBERS, i]
            seats.tried[t.BEST_TEAMS, i] = seats.tried[t.TEAMS, i]
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
