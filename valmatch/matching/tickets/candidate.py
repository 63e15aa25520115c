"""Kernels of the match that is tried: it grows by tickets as long as no rule refuses one."""

from __future__ import annotations

import numpy as np

from valmatch.kernels.arrays import Records, Words
from valmatch.kernels.compilation import part
from valmatch.matching.tickets import layout as t
from valmatch.matching.tickets.judging import compares, holding, refuses, verdict_on
from valmatch.matching.tickets.layout import Candidate, Queue, World

# Verdicts from tallies: whether one more ticket would break a rule.
#
# Tallies are kept of each team of the match that is tried: least, greatest, sum and number of its
# players' values, and of all the regions that they reach as sets of bits. With them a verdict takes
# a few operations for each team that the rule speaks of, however many players there are.

NOBODY = np.uint64(2**64 - 1)  # the regions that nobody rules out: all bits


@part(inline=True)
def merge(row: int, stats: Records, marks: Words, team: int, candidate: Candidate) -> None:
    """Add a row of a ticket, or of a part of one, to the tallies of a team and of all."""
    for index in (team, candidate.stats.shape[1] - 1):
        for column in range(candidate.stats.shape[0]):
            stat, more = candidate.stats[column, index], stats[row, column]
            stat["low"] = min(stat["low"], more["low"])
            stat["high"] = max(stat["high"], more["high"])
            stat["total"] += more["total"]
            stat["players"] += more["players"]
    for column in range(candidate.marks.size):
        candidate.marks[column] &= marks[row, column]


@part(inline=True)
def _of_places(
    column: int, first: int, end: int, joins: tuple[int, int], world: World, candidate: Candidate
) -> tuple[float, float, float, int]:
    """Return least, greatest, sum and number of the values of some teams as if they were one."""
    ticket, team = joins
    low, high, total, players = np.inf, -np.inf, 0.0, 0
    for k in range(first, end):
        index = world.links[k]
        stat = candidate.stats[column, index]
        low, high = min(low, stat["low"]), max(high, stat["high"])
        total, players = total + stat["total"], players + stat["players"]
        if index in (team, candidate.stats.shape[1] - 1):
            stat = world.rows.stats[ticket, column]
            low, high = min(low, stat["low"]), max(high, stat["high"])
            total, players = total + stat["total"], players + stat["players"]
    return low, high, total, players


@part(inline=True)
def _reduced(function: int, low: float, high: float, total: float, number: int) -> float:
    """Return a function of values, NaN of none."""
    if number == 0:
        return np.nan
    if function == t.MIN:
        return low
    return high if function == t.MAX else total / number


@part
def _single(
    aggregate: np.void, joins: tuple[int, int], world: World, candidate: Candidate
) -> float:
    """Return the value of an aggregate that is one number."""
    first, end = aggregate["first_place"], aggregate["first_place"] + aggregate["places"]
    column, inner = aggregate["column"], aggregate["inner"]
    if aggregate["shape"] == t.AS_ONE:
        low, high, total, players = _of_places(column, first, end, joins, world, candidate)
        return _reduced(inner, low, high, total, players)
    low, high, total, number = np.inf, -np.inf, 0.0, 0
    for k in range(first, end):
        least, greatest, added, players = _of_places(column, k, k + 1, joins, world, candidate)
        if players:
            value = _reduced(inner, least, greatest, added, players)
            low, high = min(low, value), max(high, value)
            total, number = total + value, number + 1
    return _reduced(aggregate["outer"], low, high, total, number)


@part(inline=True)
def _held(value: float, reference: float, rule: np.void, limits: tuple[float, float]) -> int:
    """Return the verdict on a measured number."""
    slack, (least, most) = rule["slack"], limits
    if rule["kind"] == t.WITHIN:
        distance = abs(value - reference)
        if distance > most + slack or distance < least - slack:
            return t.FALSE
        near = slack > 0.0 and (distance > most - slack or distance < least + slack)
        return t.UNDECIDED if near else t.TRUE
    if slack > 0.0 and abs(value - reference) <= slack:
        return t.UNDECIDED
    return t.TRUE if compares(value, rule["operation"], reference) else t.FALSE


@part
def verdict_from_tallies(
    number: int, age: int, ticket: int, team: int, world: World, candidate: Candidate
) -> int:
    """Judge a rule on the match that is tried with one more ticket, which is not complete."""
    rule = world.rules[number]
    limits = holding(rule["least"], age, world, 0.0), holding(rule["most"], age, world, np.inf)
    verdict, kind, column = t.TRUE, rule["kind"], rule["column"]
    if kind == t.REACHED:
        if rule["most"] != t.NONE:
            column += world.steps[rule["most"], age]["entry"]
        if candidate.marks[column] & world.rows.marks[ticket, column] == 0:
            verdict = t.FALSE
    elif kind == t.SPREAD:
        stat = candidate.stats[column, candidate.stats.shape[1] - 1]
        more = world.rows.stats[ticket, column]
        if not max(stat["high"], more["high"]) - min(stat["low"], more["low"]) <= limits[1]:
            verdict = t.FALSE
    else:
        for k in range(rule["measures"]):
            aggregate = world.aggregates[world.links[rule["first_measure"] + k]]
            judged = _measured(rule, aggregate, age, limits, (ticket, team), world, candidate)
            if judged == t.FALSE:
                verdict = t.FALSE
                break
            verdict = max(verdict, judged)
    return t.UNDECIDED if verdict == t.TRUE and rule["partly"] else verdict


@part(inline=True)
def _measured(
    rule: np.void,
    aggregate: np.void,
    age: int,
    limits: tuple[float, float],
    joins: tuple[int, int],
    world: World,
    candidate: Candidate,
) -> int:
    """Judge one aggregate of a rule that compares numbers."""
    reference = np.nan
    if rule["reference"] != t.NONE:
        entry = world.steps[rule["reference"], age]
        reference = entry["value"]
        if entry["aggregate"] != t.NONE:
            reference = _single(world.aggregates[entry["aggregate"]], joins, world, candidate)
        if np.isnan(reference):
            return t.TRUE
    verdict = t.TRUE
    if aggregate["shape"] == t.OVER_TEAMS:
        value = _single(aggregate, joins, world, candidate)
        return t.TRUE if np.isnan(value) else _held(value, reference, rule, limits)
    first, places = aggregate["first_place"], aggregate["places"]
    step = 1 if aggregate["shape"] == t.BY_TEAM else places
    for k in range(first, first + places, step):
        low, high, total, players = _of_places(
            aggregate["column"], k, k + step, joins, world, candidate
        )
        if players == 0:
            continue
        if aggregate["inner"] != t.NONE:
            low = _reduced(aggregate["inner"], low, high, total, players)
            high = low
        if rule["reference"] == t.NONE:
            judged = t.TRUE if low == high else t.FALSE
        else:
            judged = _held(low, reference, rule, limits)
            if judged != t.FALSE and low != high:
                farther = _held(high, reference, rule, limits)
                judged = t.FALSE if farther == t.FALSE else max(judged, farther)
        if judged == t.FALSE:
            return t.FALSE
        verdict = max(verdict, judged)
    return verdict


# The match that grows.


@part
def begin(candidate: Candidate) -> None:
    """Begin an empty match."""
    current = candidate.current[0]
    current["tickets"], current["players"], current["running"] = 0, 0, 0
    current["age"], current["full"], current["best"] = t.NONE, 0, 0
    for team in range(candidate.sizes.size):
        candidate.sizes[team] = 0
    for column in range(candidate.stats.shape[0]):
        for index in range(candidate.stats.shape[1]):
            stat = candidate.stats[column, index]
            stat["low"], stat["high"], stat["total"], stat["players"] = np.inf, -np.inf, 0.0, 0
    for column in range(candidate.marks.size):
        candidate.marks[column] = NOBODY


@part(inline=True)
def age_with(ticket: int, world: World, queue: Queue) -> int:
    """Return the age of the match with a ticket: of its oldest ticket, or of its newest."""
    # Of tickets that joined one after the other the older one has passed as many waits or more.
    age, current = queue.slots[ticket]["age"], queue.candidate.current[0]
    if current["tickets"] == 0:
        return age
    oldest = world.options[0]["oldest"]
    return max(current["age"], age) if oldest else min(current["age"], age)


@part
def push(ticket: int, team: int, age: int, world: World, candidate: Candidate) -> None:
    """Add a ticket to a team, which has room; of a game that runs to the teams of its players."""
    current, record = candidate.current[0], world.rows.tickets[ticket]
    candidate.tried[t.MEMBERS, current["tickets"]] = ticket
    candidate.tried[t.TEAMS, current["tickets"]] = team
    candidate.tried[t.AGES, current["tickets"]] = age
    current["tickets"] += 1
    current["players"] += record["players"]
    current["running"] += record["running"]
    current["age"] = age
    for player in range(record["first"], record["first"] + record["players"]):
        home = team if team != t.NONE else world.home[player]
        candidate.players[home, candidate.sizes[home]] = player
        candidate.sizes[home] += 1


@part
def pop(world: World, candidate: Candidate) -> None:
    """Take the ticket out that was added last."""
    current = candidate.current[0]
    current["tickets"] -= 1
    record = world.rows.tickets[candidate.tried[t.MEMBERS, current["tickets"]]]
    team = candidate.tried[t.TEAMS, current["tickets"]]
    current["players"] -= record["players"]
    current["running"] -= record["running"]
    current["age"] = t.NONE
    if current["tickets"]:
        current["age"] = candidate.tried[t.AGES, current["tickets"] - 1]
    for player in range(record["first"], record["first"] + record["players"]):
        candidate.sizes[team if team != t.NONE else world.home[player]] -= 1


@part(inline=True)
def tally(ticket: int, team: int, world: World, candidate: Candidate) -> None:
    """Add a ticket to the tallies; of a game that runs its players on each team."""
    if team != t.NONE:
        merge(ticket, world.rows.stats, world.rows.marks, team, candidate)
        return
    record, parts = world.rows.tickets[ticket], world.parts
    for k in range(record["first_part"], record["first_part"] + record["parts"]):
        merge(k, parts.stats, parts.marks, parts.teams[k]["team"], candidate)


@part
def restore(ticket: int, team: int, world: World, queue: Queue) -> None:
    """Add a ticket that is known to be taken by a team."""
    push(ticket, team, age_with(ticket, world, queue), world, queue.candidate)
    tally(ticket, team, world, queue.candidate)


@part(inline=True)
def most_of(team: int, age: int, world: World) -> float:
    """Return the most players of a team at an age, NONE: at any."""
    if age == t.NONE:
        return float(world.teams[team]["ever"])
    return world.steps[world.teams[team]["most"], age]["value"]


@part(inline=True)
def least_of(team: int, age: int, world: World) -> float:
    """Return the least players of a team at an age."""
    return world.steps[world.teams[team]["least"], age]["value"]


@part
def is_valid(only_final: bool, world: World, candidate: Candidate) -> bool:
    """Return whether the match can be made at its own age."""
    current = candidate.current[0]
    if current["running"] > 1 or current["running"] == current["tickets"]:
        return False
    age = current["age"]
    for team in range(world.teams.size):
        size = candidate.sizes[team]
        if size < least_of(team, age, world) or size > most_of(team, age, world):
            return False
    return not refuses(only_final, world, candidate)


@part(inline=True)
def _order_teams(age: int, world: World, queue: Queue) -> None:
    """Put first the teams that are too small, then those with most room, then by the table."""
    filling, sizes = queue.filling, queue.candidate.sizes
    for k in range(filling.size):
        team, index = filling[k], k
        room = most_of(team, age, world) - sizes[team]
        filled = sizes[team] >= least_of(team, age, world)
        while index > 0:
            other = filling[index - 1]
            other_filled = sizes[other] >= least_of(other, age, world)
            other_room = most_of(other, age, world) - sizes[other]
            if filled != other_filled:
                behind = filled
            elif room != other_room:
                behind = room < other_room
            else:
                behind = team > other
            if behind:
                break
            filling[index] = other
            index -= 1
        filling[index] = team


@part
def take(ticket: int, age: int, world: World, queue: Queue) -> bool:
    """Add a ticket to the first team, in the order of filling, that takes it, if one does."""
    # Remember the match if it is valid. A ticket of a game that runs goes to the teams of its
    # players, or to none. Where verdicts are not counted, no other team is tried after a rule has
    # refused that does so whatever team it is.
    candidate, running = queue.candidate, world.rows.tickets[ticket]["running"] == 1
    current, options = candidate.current[0], world.options[0]
    tickets = current["tickets"]
    if not running:
        _order_teams(age, world, queue)
    for k in range(1 if running else queue.filling.size):
        team = t.NONE if running else queue.filling[k]
        if not fits(ticket, team, age, world, candidate):
            continue
        refusing = _refusing(ticket, team, age, world, queue)
        if refusing == t.NONE:
            if current["tickets"] == tickets:
                push(ticket, team, age, world, candidate)
            tally(ticket, team, world, candidate)
            _remember(world, candidate)
            return True
        if current["tickets"] > tickets:
            pop(world, candidate)
        if refusing < options["common"] and not options["counted"]:
            return False
    return False


@part(inline=True)
def _refusing(ticket: int, team: int, age: int, world: World, queue: Queue) -> int:
    """Return which rule of the order refuses a ticket on a team, NONE if none does."""
    # To judge it the ticket may have been added. A rule that refuses changes places with the one
    # before it, where verdicts are not counted.
    options, candidate = world.options[0], queue.candidate
    current, tickets = candidate.current[0], candidate.current[0]["tickets"]
    for k in range(queue.order.size):
        number = queue.order[k]
        rule, judged = world.rules[number], candidate.judged[number]
        verdict = t.UNKNOWN
        if not rule["unknown"]:
            verdict = t.UNDECIDED
            if rule["tallied"] and team != t.NONE:
                verdict = verdict_from_tallies(number, age, ticket, team, world, candidate)
            if verdict == t.UNDECIDED:
                if current["tickets"] == tickets:
                    push(ticket, team, age, world, candidate)
                verdict = verdict_on(number, age, True, world, candidate)
        judged["verdict"] = verdict
        if options["counted"]:
            judged["refused"] += int(verdict == t.FALSE)
            judged["held"] += int(verdict != t.FALSE)
        if verdict == t.FALSE and rule["alone"]:
            if not options["counted"] and 0 < k < options["swift"] and k != options["common"]:
                queue.order[k - 1], queue.order[k] = queue.order[k], queue.order[k - 1]
            return k
    return t.NONE


@part
def _remember(world: World, candidate: Candidate) -> None:
    """Remember the match if it is valid, and note whether it is full."""
    current = candidate.current[0]
    if is_valid(not world.options[0]["counted"], world, candidate):
        current["best"] = current["tickets"]
        for k in range(current["tickets"]):
            candidate.tried[t.BEST, k] = candidate.tried[t.MEMBERS, k]
            candidate.tried[t.BEST_TEAMS, k] = candidate.tried[t.TEAMS, k]
    room = 0
    for team in range(world.teams.size):
        most = most_of(team, current["age"], world)
        room = max(room, int(most) - candidate.sizes[team])
    current["full"] = int(room <= 0)


@part(inline=True)
def fits(ticket: int, team: int, age: int, world: World, candidate: Candidate) -> bool:
    """Return whether a team has room for a ticket; NONE: those of a game that runs for its own."""
    record, all_fit = world.rows.tickets[ticket], True
    if team != t.NONE:
        return candidate.sizes[team] + record["players"] <= most_of(team, age, world)
    for k in range(record["first_part"], record["first_part"] + record["parts"]):
        piece = world.parts.teams[k]
        size = candidate.sizes[piece["team"]] + piece["players"]
        all_fit = all_fit and size <= most_of(piece["team"], age, world)
    return all_fit
