"""Kernels of the match that is tried: they judge the rules on it, complete or not, and let it grow.

What cannot be said of a match that is not complete yet is unknown.
"""

import math

import numpy as np

from valmatch.kernels.arrays import Floats, Records
from valmatch.kernels.compilation import kernel, macro, part
from valmatch.kernels.references import by_reference
from valmatch.matching.tickets import layout as t
from valmatch.matching.tickets.layout import Candidate, Queue, World


@part
def evaluate(number: int, slot: int, world: World, candidate: Candidate) -> None:
    """Compute an aggregate of the players on the teams of a match."""
    aggregate = world.aggregates[number]
    size, items, lists = candidate.size[slot], candidate.items[slot], candidate.lists[slot]
    size["depth"], size["undefined"] = 1 + aggregate["grouped"], 0
    size["items"], size["lists"], size["outer"] = 0, 0, 0
    if aggregate["of_teams"]:
        size["depth"] -= 1
        size["items"] = aggregate["teams"]
    else:
        size["depth"] += aggregate["lists"]
        _fill(aggregate, slot, world, candidate)
    for k in range(aggregate["functions"]):
        function = world.links[aggregate["first_function"] + k]
        if size["undefined"]:
            size["depth"] -= 1
        elif function == t.INTERSECTION:
            _intersect(size, items, lists)
        elif function != t.FLATTEN:
            _reduce(function, size, items, lists)
        elif size["depth"] == 3:
            size["outer"], size["depth"] = 0, 2
        else:
            size["lists"], size["depth"] = 0, size["depth"] - 1


@part
def _fill(aggregate: np.void, slot: int, world: World, candidate: Candidate) -> None:
    """Take a value or a list of each player, in a list for each team."""
    size, items, lists = candidate.size[slot], candidate.items[slot], candidate.lists[slot]
    count, number, source = 0, 0, aggregate["source"]
    for k in range(aggregate["teams"]):
        team = world.links[aggregate["first_team"] + k]
        for i in range(candidate.sizes[team]):
            if aggregate["lists"]:
                cell = int(world.cells[source, candidate.players[team, i]])
                for index in range(world.list_ends[cell], world.list_ends[cell + 1]):
                    items[count] = world.list_items[index]
                    count += 1
                lists[number]["end"], lists[number]["gap"] = count, 0
                number += 1
                continue
            items[count] = 0.0
            if source != t.NONE:
                items[count] = world.cells[source, candidate.players[team, i]]
            count += 1
        if aggregate["lists"]:
            lists[k]["outer_end"] = number
        else:
            lists[k]["end"], lists[k]["gap"] = count, 0
    size["items"], size["lists"] = count, number if aggregate["lists"] else aggregate["teams"]
    size["outer"] = aggregate["teams"] if aggregate["lists"] else 0


@part
def _reduce(function: int, size: Records, items: Floats, lists: Records) -> None:
    """Replace each innermost list by a number."""
    many = size["depth"] > 1
    number, start, behind = (int(size["lists"]) if many else 1), 0, int(size["items"])
    for k in range(number):  # behind the items, as lists may be empty
        end = int(lists[k]["end"]) if many else behind
        value = np.nan
        if not many or not lists[k]["gap"]:
            value = _of_list(function, start, end, items)
        items[behind + k] = value
        start = end
    for k in range(number):
        items[k] = items[behind + k]
    size["items"], size["lists"] = number, size["outer"]
    if not many:
        size["undefined"] = int(np.isnan(items[0]))
    for k in range(size["outer"]):
        lists[k]["end"], lists[k]["gap"] = lists[k]["outer_end"], 0
    size["outer"], size["depth"] = 0, size["depth"] - 1


@part
def _of_list(function: int, start: int, end: int, items: Floats) -> float:
    """Return a number for a list: of undefined values none counts."""
    number, total, low, high = 0, 0.0, np.inf, -np.inf
    for k in range(start, end):
        if not np.isnan(items[k]):
            number += 1
            total += items[k]
            low, high = min(low, items[k]), max(high, items[k])
    if function == t.COUNT:
        return float(number)
    if function == t.SUM:
        return total
    if number == 0:
        return np.nan
    if function == t.MIN:
        return low
    if function == t.MAX:
        return high
    if function == t.AVG:
        return total / number
    if function == t.MEDIAN:
        return _median(start, end, number, items)
    mean, squares = total / number, 0.0
    for k in range(start, end):
        if not np.isnan(items[k]):
            squares += (items[k] - mean) * (items[k] - mean)
    return math.sqrt(squares / number)


@part
def _median(start: int, end: int, number: int, items: Floats) -> float:
    """Return the median: the value, or the mean of the two, that as many are below as above."""
    lower, upper = np.nan, np.nan
    for k in range(start, end):
        if np.isnan(items[k]):
            continue
        below, same = 0, 0
        for i in range(start, end):
            below, same = below + (items[i] < items[k]), same + (items[i] == items[k])
        if below <= (number - 1) // 2 < below + same:
            lower = items[k]
        if below <= number // 2 < below + same:
            upper = items[k]
    return upper if number % 2 else (lower + upper) / 2


@part
def _intersect(size: Records, items: Floats, lists: Records) -> None:
    """Replace each innermost list of lists by the values that all of them have."""
    many = size["depth"] == 3
    count, first, groups = 0, 0, (int(size["outer"]) if many else 1)
    for k in range(groups):
        last = int(lists[k]["outer_end"] if many else size["lists"])
        while first < last and lists[first]["gap"]:
            first += 1
        end = count
        for i in range(start_of(first, lists), lists[first]["end"] if first < last else 0):
            if everywhere(items[i], first + 1, last, items, lists):
                items[end] = items[i]
                end += 1
        lists[k]["outer_end"] = end if first < last else -count - 1
        count, first = end, last
    for k in range(groups):  # after all lists of lists have been read
        end = lists[k]["outer_end"]
        lists[k]["end"], lists[k]["gap"] = max(end, -end - 1), int(end < 0)
    if not many:
        size["undefined"] = lists[0]["gap"]
    size["items"], size["lists"], size["outer"] = count, (groups if many else 0), 0
    size["depth"] -= 1


@macro
def start_of(number: int, lists: Records) -> int:
    """Return where a list begins."""
    return lists[number - 1]["end"] if number else 0


@macro
def everywhere(value: float, first: int, last: int, items: Floats, lists: Records) -> bool:
    """Return whether all of some lists that are defined have a value."""
    for number in range(first, last):
        there = lists[number]["gap"] == 1
        for k in range(start_of(number, lists), lists[number]["end"]):
            there = there or items[k] == value
        if not there:
            return False
    return True


@macro
def holding(steps: int, age: int, world: World, without: float) -> float:
    """Return the number of a step function at an age, `without` where there is none."""
    return without if steps == t.NONE else world.steps[steps, age]["value"]


@part
def refuses(only_final: bool, world: World, candidate: Candidate) -> bool:
    """Return whether a rule that has to hold is false of the match that is tried, as complete."""
    # `only_final`: of those that may have had another verdict, or none, before; else all count.
    age = candidate.current[0]["age"]
    for number in range(world.rules.size):
        rule, judged = world.rules[number], candidate.judged[number]
        if only_final and not rule["final"]:
            continue
        verdict = verdict_on(number, age, False, world, candidate)
        judged["verdict"] = verdict
        if not only_final:
            judged["refused"] += int(verdict == t.FALSE)
            judged["held"] += int(verdict != t.FALSE)
        if verdict == t.FALSE and rule["alone"]:
            return True
    return False


@part
def verdict_on(number: int, age: int, partial: bool, world: World, candidate: Candidate) -> int:
    """Judge one rule, complete or not; those before it that it refers to have been judged."""
    rule = world.rules[number]
    kind = rule["kind"]
    if kind in (t.WITHIN, t.COMPARED):
        return _measured(rule, age, world, candidate)
    if kind == t.COUNTED:
        return _counted(rule, age, partial, world, candidate)
    if kind == t.REACHED:
        return _reached(rule, age, world, candidate)
    if kind == t.SPREAD:
        return _spread(rule, age, world, candidate)
    if kind == t.COMBINED:
        return _combined(rule, partial, world, candidate)
    return t.TRUE


@part
def _referred(rule: np.void, age: int, world: World, candidate: Candidate) -> float:
    """Return the reference of a rule, NaN where it is undefined; a list is among nested ones."""
    entry = world.steps[rule["reference"], age]
    if entry["aggregate"] == t.NONE:
        return entry["value"]
    evaluate(entry["aggregate"], t.REFERRED, world, candidate)
    return np.nan if candidate.size[t.REFERRED]["undefined"] else candidate.items[t.REFERRED, 0]


@part
def _measured(rule: np.void, age: int, world: World, candidate: Candidate) -> int:
    """Judge whether all measured values are as the reference demands, or as each other."""
    reference, size = np.nan, candidate.size[t.MEASURED]
    related = rule["reference"] != t.NONE
    if related:
        reference = _referred(rule, age, world, candidate)
        if np.isnan(reference):
            return t.TRUE
    least = holding(rule["least"], age, world, 0.0)
    most = holding(rule["most"], age, world, np.inf)
    for k in range(rule["measures"]):
        evaluate(world.links[rule["first_measure"] + k], t.MEASURED, world, candidate)
        if size["undefined"]:
            continue
        if not related and not _among(rule["operation"], candidate):
            return t.FALSE
        for i in range(size["items"] if related else 0):
            value = candidate.items[t.MEASURED, i]
            if rule["kind"] == t.WITHIN:
                holds = least <= abs(value - reference) <= most
            else:
                holds = compares(value, rule["operation"], reference)
            if not (holds or np.isnan(value)):
                return t.FALSE
    return t.TRUE


@macro
def compares(value: float, operation: int, reference: float) -> bool:
    """Return whether a value compares to a reference."""
    if operation == t.LESS:
        return value < reference
    if operation == t.AT_MOST:
        return value <= reference
    if operation == t.EQUAL:
        return value == reference
    if operation == t.OTHER:
        return value != reference
    return value > reference if operation == t.MORE else value >= reference


@part
def _among(operation: int, candidate: Candidate) -> bool:
    """Return whether the values of each innermost list are all the same, or all different."""
    size, items = candidate.size[t.MEASURED], candidate.items[t.MEASURED]
    many, start = size["depth"] > 1, 0
    for k in range(size["lists"] if many else 1):
        end = int(candidate.lists[t.MEASURED, k]["end"] if many else size["items"])
        for i in range(start, end):
            for j in range(start, i):
                known = not (np.isnan(items[i]) or np.isnan(items[j]))
                if known and (items[i] == items[j]) != (operation == t.EQUAL):
                    return False
        start = end
    return True


@part
def _counted(rule: np.void, age: int, partial: bool, world: World, candidate: Candidate) -> int:
    """Judge whether a number of texts, or of lists that have one, is in a range."""
    counts, reference, size = rule["operation"], np.nan, candidate.size[t.MEASURED]
    if counts != t.COMMON:
        reference = _referred(rule, age, world, candidate)
        if counts != t.HOLDERS and candidate.size[t.REFERRED]["undefined"]:
            return t.TRUE
    least = holding(rule["least"], age, world, 0.0)
    most = holding(rule["most"], age, world, np.inf)
    open_ = partial and counts == t.HOLDERS and rule["least"] != t.NONE
    for k in range(rule["measures"]):
        evaluate(world.links[rule["first_measure"] + k], t.MEASURED, world, candidate)
        if size["undefined"]:
            continue
        many, first = size["depth"] > 2, 0
        for group in range(size["outer"] if many else 1):
            ends = candidate.lists[t.MEASURED, group]
            last = int(ends["outer_end"] if many else size["lists"])
            fewest, highest = _range_of(counts, first, last, reference, candidate)
            if highest > most or (fewest < least and not open_):
                return t.FALSE
            first = last
    return t.UNKNOWN if open_ else t.TRUE


@part
def _range_of(
    counts: int, first: int, last: int, reference: float, candidate: Candidate
) -> tuple[float, float]:
    """Return the least and the most of what is counted of some lists: of nothing inf and -inf."""
    items, lists = candidate.items[t.MEASURED], candidate.lists[t.MEASURED]
    fewest, highest, holders, common = np.inf, -np.inf, 0, 0
    if counts == t.HOLDERS:
        for k in range(first, last):
            there = everywhere(reference, k, k + 1, items, lists)
            holders += int(not lists[k]["gap"] and there)
        return float(holders), float(holders)
    if counts == t.COMMON:
        while first < last and lists[first]["gap"]:
            first += 1
        if first < last:
            for i in range(start_of(first, lists), lists[first]["end"]):
                common += int(everywhere(items[i], first + 1, last, items, lists))
            fewest, highest = float(common), float(common)
        return fewest, highest
    for k in range(first, last):
        if lists[k]["gap"]:
            continue
        overlap = 0
        for i in range(start_of(k, lists), lists[k]["end"]):
            for j in range(candidate.size[t.REFERRED]["items"]):
                if items[i] == candidate.items[t.REFERRED, j]:
                    overlap += 1
                    break
        fewest, highest = min(fewest, float(overlap)), max(highest, float(overlap))
    return fewest, highest


@part
def _reached(rule: np.void, age: int, world: World, candidate: Candidate) -> int:
    """Judge whether there is a region in which all can play."""
    current = candidate.current[0]
    most = holding(rule["most"], age, world, np.inf)
    spread = holding(rule["spread"], age, world, np.inf)
    values = world.rows.values
    for region in range(world.options.regions):
        fine, total, least = True, 0.0, np.inf
        column = rule["row"] + t.REGION * region
        for k in range(current["tickets"]):
            ticket = candidate.tried[t.MEMBERS, k]
            if not values[ticket, column + t.PING_HIGH] <= most:  # nor where it is not reported
                fine = False
                break
            total += values[ticket, column + t.PING_TOTAL]
            least = min(least, values[ticket, column + t.PING_LEAST])
        if fine and rule["spread"] != t.NONE:
            reference = least if rule["operation"] else total / current["players"]
            for k in range(current["tickets"]):
                ticket = candidate.tried[t.MEMBERS, k]
                for index in (column + t.PING_HIGH, column + t.PING_LOW):
                    fine = fine and abs(values[ticket, index] - reference) <= spread
        if fine:
            return t.TRUE
    return t.FALSE


@part
def _spread(rule: np.void, age: int, world: World, candidate: Candidate) -> int:
    """Judge whether the tickets' values are close to each other, or the same."""
    most = holding(rule["most"], age, world, 0.0)
    low, high = np.inf, -np.inf
    for k in range(candidate.current[0]["tickets"]):
        value = world.rows.values[candidate.tried[t.MEMBERS, k], rule["row"]]
        if np.isnan(value):  # texts that differ within a party
            return t.FALSE
        low, high = min(low, value), max(high, value)
    return t.TRUE if high - low <= most else t.FALSE


@part
def _combined(rule: np.void, partial: bool, world: World, candidate: Candidate) -> int:
    """Judge what logic makes of the verdicts on the rules before."""
    stack, top = candidate.judged["stack"], -1
    for k in range(rule["parts"]):
        piece = world.links[rule["first_part"] + k]
        if piece >= 0:
            top += 1
            stack[top] = candidate.judged[piece]["verdict"]
        elif piece == t.NOT:
            stack[top] = t.UNKNOWN if partial else t.TRUE - stack[top]
        else:  # in three-valued logic
            top -= 1
            first, second = stack[top], stack[top + 1]
            if piece == t.XOR:
                stack[top] = t.TRUE if first != second else t.FALSE
                if partial:
                    stack[top] = t.UNKNOWN
            else:
                stack[top] = min(first, second) if piece == t.AND else max(first, second)
    return stack[0]


# Verdicts from tallies: whether one more ticket would break a rule, in a few operations for each
# team that it speaks of. Of each team of the match that is tried they are the least, greatest, sum
# and number of its players' values, and of all the regions that they reach as sets of bits.

NOBODY = np.uint64(2**64 - 1)  # the regions that nobody rules out: all bits


@kernel
def note_tickets(first: int, end: int, world: World) -> None:
    """Work out what tickets are judged by, see `note_ticket`."""
    for ticket in range(first, end):
        note_ticket(ticket, by_reference(world))


@part
def note_ticket(ticket: int, world: World) -> None:
    """Work out what of the players of a ticket stands for it, and what it adds to tallies."""
    record, rows = world.rows.tickets[ticket], world.rows
    for column in range(world.values.size):
        value = world.values[column]
        low, high, total, number = _sums(value["row"], record, world)
        if number < record["players"] and not value["partly"]:
            number = 0
        rows.values[ticket, column] = _reduced(value["party"], low, high, total, number)
    for column in range(world.stats.size):
        stat, row = rows.stats[ticket, column], world.stats[column]["row"]
        if row == t.NONE:
            low = high = rows.values[ticket, world.stats[column]["value"]]
            total = 0.0
        else:
            low, high, total, _ = _sums(row, record, world)
        stat["low"], stat["high"], stat["total"] = low, high, total
        stat["players"] = record["players"]
    for column in range(world.limits.size):
        limit, bit = world.limits[column], np.uint64(1)
        rows.marks[ticket, column] = 0
        for region in range(world.options.regions):
            ping = rows.values[ticket, limit["value"] + t.REGION * region + t.PING_HIGH]
            if ping <= limit["most"]:
                rows.marks[ticket, column] |= bit
            bit <<= np.uint64(1)


@macro
def _sums(row: int, record: np.void, world: World) -> tuple[float, float, float, int]:
    """Return least, greatest, sum and number of a row's values of a ticket's players."""
    low, high, total, number = np.inf, -np.inf, 0.0, 0
    for player in range(record["first"], record["first"] + record["players"]):
        value = world.cells[row, player]
        if not np.isnan(value):
            low, high = min(low, value), max(high, value)
            total, number = total + value, number + 1
    return low, high, total, number


@macro
def tally(ticket: int, team: int, world: World, candidate: Candidate) -> None:
    """Add a ticket to the tallies of a team and of all; of a game that runs its players by team."""
    every, record = candidate.stats.shape[1] - 1, world.rows.tickets[ticket]
    for column in range(candidate.stats.shape[0]):
        stat, row = world.rows.stats[ticket, column], world.stats[column]["row"]
        for index in (every, team):
            if index != t.NONE:
                _add(
                    candidate.stats[column, index],
                    stat["low"],
                    stat["high"],
                    stat["total"],
                    stat["players"],
                )
        if team == t.NONE and row != t.NONE:
            for player in range(record["first"], record["first"] + record["players"]):
                value = world.cells[row, player]
                _add(candidate.stats[column, world.home[player]], value, value, value, 1)
    for column in range(candidate.marks.size):
        candidate.marks[column] &= world.rows.marks[ticket, column]


@macro
def _add(stat: np.void, low: float, high: float, total: float, players: int) -> None:
    """Add values of players to a tally."""
    stat["low"], stat["high"] = min(stat["low"], low), max(stat["high"], high)
    stat["total"] += total
    stat["players"] += players


@macro
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


@macro
def _reduced(function: int, low: float, high: float, total: float, number: int) -> float:
    """Return a function of values, NaN of none."""
    if number == 0:
        return np.nan
    if function == t.MIN:
        return low
    if function == t.MAX:
        return high
    if function == t.SAME:
        return low if low == high else np.nan
    return total if function == t.SUM else total / number


@macro
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


@macro
def verdict_from_tallies(
    number: int, age: int, ticket: int, team: int, world: World, candidate: Candidate
) -> int:
    """Judge a rule on the match that is tried with one more ticket, which is not complete."""
    rule = world.rules[number]
    limits = holding(rule["least"], age, world, 0.0), holding(rule["most"], age, world, np.inf)
    holds, kind, column = True, rule["kind"], rule["column"]
    if kind == t.REACHED:
        if rule["most"] != t.NONE:
            column += world.steps[rule["most"], age]["entry"]
        holds = candidate.marks[column] & world.rows.marks[ticket, column] != 0
    elif kind == t.SPREAD:
        stat = candidate.stats[column, candidate.stats.shape[1] - 1]
        more = world.rows.stats[ticket, column]
        holds = max(stat["high"], more["high"]) - min(stat["low"], more["low"]) <= limits[1]
    verdict = t.TRUE if holds else t.FALSE
    if kind not in (t.REACHED, t.SPREAD):
        verdict = _tallied(rule, age, limits, (ticket, team), world, candidate)
    return t.UNDECIDED if verdict == t.TRUE and rule["partly"] else verdict


@macro
def _tallied(
    rule: np.void,
    age: int,
    limits: tuple[float, float],
    joins: tuple[int, int],
    world: World,
    candidate: Candidate,
) -> int:
    """Judge a rule that compares numbers."""
    reference, verdict = np.nan, t.TRUE
    if rule["reference"] != t.NONE:
        entry = world.steps[rule["reference"], age]
        reference = entry["value"]
        if entry["aggregate"] != t.NONE:
            other = world.aggregates[entry["aggregate"]]  # one number of its teams as one
            first, end = other["first_place"], other["first_place"] + other["places"]
            low, high, total, players = _of_places(
                other["column"], first, end, joins, world, candidate
            )
            reference = _reduced(other["inner"], low, high, total, players)
        if np.isnan(reference):
            return t.TRUE
    for i in range(rule["measures"]):
        aggregate = world.aggregates[world.links[rule["first_measure"] + i]]
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
            judged = t.TRUE if low == high else t.FALSE
            if rule["reference"] != t.NONE:
                judged = _held(low, reference, rule, limits)
                if judged != t.FALSE and low != high:
                    farther = _held(high, reference, rule, limits)
                    judged = t.FALSE if farther == t.FALSE else max(judged, farther)
            if judged == t.FALSE:
                return t.FALSE
            verdict = max(verdict, judged)
    return verdict


# The match that grows.

MANY, LAST = 1000, 2**31  # more than teams and players; after the place of any team in an order


@part
def begin(candidate: Candidate) -> None:
    """Begin an empty match."""
    current = candidate.current[0]
    current["tickets"], current["players"], current["running"] = 0, 0, 0
    current["age"], current["full"], current["best"] = t.NONE, 0, 0
    candidate.sizes[:], candidate.marks[:] = 0, NOBODY
    candidate.stats["low"][:], candidate.stats["high"][:] = np.inf, -np.inf
    candidate.stats["total"][:], candidate.stats["players"][:] = 0.0, 0


@macro
def age_with(ticket: int, world: World, queue: Queue) -> int:
    """Return the age of the match with a ticket: of its oldest ticket, or of its newest."""
    # Of tickets that joined one after the other the older one has passed as many waits or more.
    age, current = queue.slots[ticket]["age"], queue.candidate.current[0]
    if current["tickets"] == 0:
        return age
    oldest = world.options.oldest
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


@part
def is_valid(only_final: bool, world: World, candidate: Candidate) -> bool:
    """Return whether the match can be made at its own age."""
    current = candidate.current[0]
    if current["running"] > 1 or current["running"] == current["tickets"]:
        return False
    age = current["age"]
    for team in range(world.teams.shape[0]):
        room = world.teams[team, age]
        if not room["least"] <= candidate.sizes[team] <= room["most"]:
            return False
    return not refuses(only_final, world, candidate)


@macro
def _next_team(last: int, age: int, world: World, candidate: Candidate) -> tuple[int, int]:
    """Return the team to be filled after the last one, and its place in that order."""
    # First those that are too small, then those with most room, then by the table.
    chosen, lowest = t.NONE, LAST
    for team in range(world.teams.shape[0]):
        size, room = candidate.sizes[team], world.teams[team, age]
        rank = (MANY * int(size >= room["least"]) + size - room["most"]) * MANY + team
        if last < rank < lowest:
            chosen, lowest = team, rank
    return chosen, lowest


@part
def take(ticket: int, age: int, world: World, queue: Queue) -> bool:
    """Add a ticket to the first team, in the order of filling, that takes it, if one does."""
    # Remember the match if it is valid, and note whether it is full. A ticket of a game that runs
    # goes to the teams of its players, or to none.
    candidate, running = queue.candidate, world.rows.tickets[ticket]["running"] == 1
    current, options = candidate.current[0], world.options
    tickets = current["tickets"]
    team, rank = t.NONE, -LAST
    for _ in range(1 if running else world.teams.shape[0]):
        if not running:
            team, rank = _next_team(rank, age, world, candidate)
        if not fits(ticket, team, age, world, candidate):
            continue
        refusing = _refusing(ticket, team, age, world, queue)
        if refusing == t.NONE:
            if current["tickets"] == tickets:
                push(ticket, team, age, world, candidate)
            tally(ticket, team, world, candidate)
            if is_valid(not options.counted, world, candidate):
                current["best"] = current["tickets"]
                for i in range(current["tickets"]):
                    candidate.tried[t.BEST, i] = candidate.tried[t.MEMBERS, i]
                    candidate.tried[t.BEST_TEAMS, i] = candidate.tried[t.TEAMS, i]
            current["full"] = 1
            for other in range(world.teams.shape[0]):
                if candidate.sizes[other] < world.teams[other, current["age"]]["most"]:
                    current["full"] = 0
            return True
        if current["tickets"] > tickets:
            pop(world, candidate)
        if refusing < options.common:  # as it would on whatever team
            for other in range(world.teams.shape[0] if options.counted and not running else 0):
                if other != team and fits(ticket, other, age, world, candidate):
                    _count(refusing + 1, world, candidate)
            return False
    return False


@macro
def _refusing(ticket: int, team: int, age: int, world: World, queue: Queue) -> int:
    """Return which rule of the order refuses a ticket on a team, NONE if none does."""
    # To judge it the ticket may have been added.
    options, candidate = world.options, queue.candidate
    current, tickets, refusing = candidate.current[0], candidate.current[0]["tickets"], t.NONE
    for k in range(world.order.size):
        number = world.order[k]
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
        if verdict == t.FALSE and rule["alone"]:
            refusing = k
            break
    if options.counted:
        _count(refusing + 1 if refusing != t.NONE else world.order.size, world, candidate)
    return refusing


@macro
def _count(number: int, world: World, candidate: Candidate) -> None:
    """Count the verdicts on the first rules of the order."""
    for k in range(number):
        judged = candidate.judged[world.order[k]]
        judged["refused"] += int(judged["verdict"] == t.FALSE)
        judged["held"] += int(judged["verdict"] != t.FALSE)


@macro
def fits(ticket: int, team: int, age: int, world: World, candidate: Candidate) -> bool:
    """Return whether a team has room for a ticket; NONE: those of a game that runs for its own."""
    record, all_fit = world.rows.tickets[ticket], True
    if team != t.NONE:
        return candidate.sizes[team] + record["players"] <= world.teams[team, age]["most"]
    for other in range(world.teams.shape[0]):
        players = 0
        for player in range(record["first"], record["first"] + record["players"]):
            players += int(world.home[player] == other)
        room = candidate.sizes[other] + players <= world.teams[other, age]["most"]
        all_fit = all_fit and (room or players == 0)
    return all_fit
