"""Kernels that judge the rules on a match, complete or not.

What cannot be said of a match that is not complete yet is unknown: rules with count or sum, the
least number of players who have a text, what `not` and `xor` make of it.
"""

from __future__ import annotations

import math

import numpy as np

from valmatch.kernels.arrays import Floats, Records
from valmatch.kernels.compilation import inlined, internal
from valmatch.matching.tickets import layout as t
from valmatch.matching.tickets.layout import Facts, Seats

# Kernels that compute aggregates of a match: functions of nested lists of its players' values.


@internal
def evaluate(number: int, slot: int, facts: Facts, seats: Seats) -> None:
    """Compute an aggregate of the players on the teams of a match."""
    aggregate = facts.aggregates[number]
    size, items, lists = seats.size[slot], seats.items[slot], seats.lists[slot]
    size["depth"], size["undefined"] = 1 + aggregate["grouped"], 0
    size["items"], size["lists"], size["outer"] = 0, 0, 0
    if aggregate["of_teams"]:
        size["depth"] -= 1
        size["items"] = aggregate["teams"]
    elif aggregate["lists"]:
        size["depth"] += 1
        _fill_lists(aggregate, size, lists, items, facts, seats)
    else:
        _fill_values(aggregate, size, lists, items, facts, seats)
    for k in range(aggregate["functions"]):
        _apply(facts.links[aggregate["first_function"] + k], size, items, lists)


@internal
def _fill_values(
    aggregate: Records, size: Records, lists: Records, items: Floats, facts: Facts, seats: Seats
) -> None:
    """Take a value of each player, in a list for each team."""
    count = 0
    for k in range(aggregate["teams"]):
        team = facts.links[aggregate["first_team"] + k]
        for i in range(seats.sizes[team]):
            if aggregate["source"] != t.NONE:
                items[count] = facts.cells[aggregate["source"], seats.players[team, i]]["value"]
            else:
                items[count] = 0.0
            count += 1
        lists[k]["end"], lists[k]["gap"] = count, 0
    size["items"], size["lists"] = count, aggregate["teams"]


@internal
def _fill_lists(
    aggregate: Records, size: Records, lists: Records, items: Floats, facts: Facts, seats: Seats
) -> None:
    """Take a list of each player, in a list for each team."""
    count, number = 0, 0
    for k in range(aggregate["teams"]):
        team = facts.links[aggregate["first_team"] + k]
        for i in range(seats.sizes[team]):
            cell = facts.cells[aggregate["source"], seats.players[team, i]]
            for place in range(cell["first"], cell["end"]):
                items[count] = facts.list_items[place]
                count += 1
            lists[number]["end"], lists[number]["gap"] = count, 0
            number += 1
        lists[k]["outer_end"] = number
    size["items"], size["lists"], size["outer"] = count, number, aggregate["teams"]


@internal
def _apply(function: int, size: Records, items: Floats, lists: Records) -> None:
    """Replace a nested list by a function of it."""
    if size["undefined"]:
        size["depth"] -= 1
    elif function == t.FLATTEN:
        if size["depth"] == 3:
            size["outer"] = 0
        else:
            size["lists"] = 0
        size["depth"] -= 1
    elif function == t.INTERSECTION:
        _intersect(size, items, lists)
    else:
        _reduce(function, size, items, lists)


@internal
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
    size["outer"] = 0
    size["depth"] -= 1


@internal
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


@internal
def _median(start: int, end: int, number: int, items: Floats) -> float:
    """Return the median: the value, or the mean of the two, that as many are below as above."""
    lower, upper = np.nan, np.nan
    for k in range(start, end):
        if np.isnan(items[k]):
            continue
        below, same = 0, 0
        for i in range(start, end):
            below += items[i] < items[k]
            same += items[i] == items[k]
        if below <= (number - 1) // 2 < below + same:
            lower = items[k]
        if below <= number // 2 < below + same:
            upper = items[k]
    return upper if number % 2 else (lower + upper) / 2


@internal
def _intersect(size: Records, items: Floats, lists: Records) -> None:
    """Replace each innermost list of lists by the values that all of them have."""
    many = size["depth"] == 3
    count, first, groups = 0, 0, (int(size["outer"]) if many else 1)
    for k in range(groups):
        last = int(lists[k]["outer_end"] if many else size["lists"])
        kept = _keep_common(first, last, count, items, lists)
        lists[k]["outer_end"] = kept if kept >= 0 else -count - 1
        count, first = max(kept, count), last
    for k in range(groups):  # after all lists of lists have been read
        end = lists[k]["outer_end"]
        lists[k]["end"], lists[k]["gap"] = max(end, -end - 1), int(end < 0)
    if not many:
        size["undefined"] = lists[0]["gap"]
    size["items"], size["lists"], size["outer"] = count, (groups if many else 0), 0
    size["depth"] -= 1


@internal
def _keep_common(first: int, last: int, count: int, items: Floats, lists: Records) -> int:
    """Move the values that some lists have in common to a place; return their end.

    Returns -1 where there is no list. What is moved stands before what is read.
    """
    while first < last and lists[first]["gap"]:
        first += 1
    if first >= last:
        return -1
    for k in range(start_of(first, lists), lists[first]["end"]):
        if everywhere(items[k], first + 1, last, items, lists):
            items[count] = items[k]
            count += 1
    return count


@inlined
def start_of(number: int, lists: Records) -> int:
    """Return where a list begins."""
    return lists[number - 1]["end"] if number else 0


@inlined
def has(value: float, number: int, items: Floats, lists: Records) -> bool:
    """Return whether a list has a value."""
    for k in range(start_of(number, lists), lists[number]["end"]):
        if items[k] == value:
            return True
    return False


@inlined
def everywhere(value: float, first: int, last: int, items: Floats, lists: Records) -> bool:
    """Return whether all of some lists that are defined have a value."""
    for number in range(first, last):
        if not lists[number]["gap"] and not has(value, number, items, lists):
            return False
    return True


@inlined
def holding(steps: int, age: int, entries: Records, without: float) -> float:
    """Return the number of a step function at an age, `without` where there is none."""
    return without if steps == t.NONE else entries[steps, age]["value"]


@internal
def refuses(only_final: bool, facts: Facts, seats: Seats) -> bool:
    """Return whether a rule that has to hold is false of the match that is tried, as complete.

    With `only_final` just those are judged that may have had another verdict, or none, before;
    without, all verdicts are counted.
    """
    age = seats.growing[0]["age"]
    for number in range(facts.rules.size):
        rule, judged = facts.rules[number], seats.judged[number]
        if only_final and not rule["final"]:
            continue
        verdict = verdict_on(number, age, False, facts, seats)
        judged["verdict"] = verdict
        if not only_final:
            judged["refused"] += int(verdict == t.FALSE)
            judged["held"] += int(verdict != t.FALSE)
        if verdict == t.FALSE and rule["alone"]:
            return True
    return False


@internal
def verdict_on(number: int, age: int, partial: bool, facts: Facts, seats: Seats) -> int:
    """Judge one rule, complete or not; those before it that it refers to have been judged."""
    kind = facts.rules[number]["kind"]
    if kind == t.WITHIN:
        return _within(number, age, facts, seats)
    if kind == t.COMPARED:
        return _compared(number, age, facts, seats)
    if kind == t.COUNTED:
        return _counted(number, age, partial, facts, seats)
    if kind == t.REACHED:
        return _reached(facts.rules[number], age, facts, seats)
    if kind == t.SPREAD:
        return _spread(facts.rules[number], age, facts, seats)
    if kind == t.COMBINED:
        return _combined(facts.rules[number], partial, facts, seats)
    return t.TRUE


@internal
def _referred(number: int, age: int, facts: Facts, seats: Seats) -> float:
    """Return the reference of a rule, NaN where it is undefined; a list is among nested ones."""
    entry = facts.steps[facts.rules[number]["reference"], age]
    if entry["aggregate"] == t.NONE:
        return entry["value"]
    evaluate(entry["aggregate"], t.REFERRED, facts, seats)
    return np.nan if seats.size[t.REFERRED]["undefined"] else seats.items[t.REFERRED, 0]


@internal
def _within(number: int, age: int, facts: Facts, seats: Seats) -> int:
    """Judge whether all measured numbers are in a range of distances to the reference."""
    rule = facts.rules[number]
    reference = _referred(number, age, facts, seats)
    if np.isnan(reference):
        return t.TRUE
    least = holding(rule["least"], age, facts.steps, 0.0)
    most = holding(rule["most"], age, facts.steps, np.inf)
    for k in range(rule["measures"]):
        evaluate(facts.links[rule["first_measure"] + k], t.MEASURED, facts, seats)
        for i in range(_defined_items(seats)):
            distance = abs(seats.items[t.MEASURED, i] - reference)
            if distance < least or distance > most:
                return t.FALSE
    return t.TRUE


@internal
def _defined_items(seats: Seats) -> int:
    """Return how many values there are to look at; each may still be undefined."""
    size = seats.size[t.MEASURED]
    return 0 if size["undefined"] else size["items"]


@internal
def _compared(number: int, age: int, facts: Facts, seats: Seats) -> int:
    """Judge whether all measured values compare to the reference, or to each other."""
    rule = facts.rules[number]
    reference = np.nan
    if rule["reference"] != t.NONE:
        reference = _referred(number, age, facts, seats)
        if np.isnan(reference):
            return t.TRUE
    for k in range(rule["measures"]):
        evaluate(facts.links[rule["first_measure"] + k], t.MEASURED, facts, seats)
        if rule["reference"] == t.NONE:
            if not _among(rule["operation"], seats):
                return t.FALSE
            continue
        for i in range(_defined_items(seats)):
            value = seats.items[t.MEASURED, i]
            if not np.isnan(value) and not _compares(value, rule["operation"], reference):
                return t.FALSE
    return t.TRUE


@inlined
def _compares(value: float, operation: int, reference: float) -> bool:
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


@internal
def _among(operation: int, seats: Seats) -> bool:
    """Return whether the values of each innermost list are all the same, or all different."""
    size, items = seats.size[t.MEASURED], seats.items[t.MEASURED]
    if size["undefined"]:
        return True
    lists = 1 if size["depth"] == 1 else size["lists"]
    start = 0
    for k in range(lists):
        end = size["items"] if size["depth"] == 1 else seats.lists[t.MEASURED, k]["end"]
        for i in range(start, end):
            for j in range(start, i):
                one, other = items[i], items[j]
                if np.isnan(one) or np.isnan(other):
                    continue
                if (one == other) != (operation == t.EQUAL):
                    return False
        start = end
    return True


@internal
def _counted(number: int, age: int, partial: bool, facts: Facts, seats: Seats) -> int:
    """Judge whether a number of texts, or of lists that have one, is in a range."""
    rule = facts.rules[number]
    counts, reference = rule["operation"], np.nan
    if counts != t.COMMON:
        reference = _referred(number, age, facts, seats)
        if counts != t.HOLDERS and seats.size[t.REFERRED]["undefined"]:
            return t.TRUE
    least = holding(rule["least"], age, facts.steps, 0.0)
    most = holding(rule["most"], age, facts.steps, np.inf)
    open_ = partial and counts == t.HOLDERS and rule["least"] != t.NONE
    for k in range(rule["measures"]):
        evaluate(facts.links[rule["first_measure"] + k], t.MEASURED, facts, seats)
        size = seats.size[t.MEASURED]
        if size["undefined"]:
            continue
        groups = 1 if size["depth"] == 2 else size["outer"]
        first = 0
        for group in range(groups):
            last = (
                size["lists"] if size["depth"] == 2 else seats.lists[t.MEASURED, group]["outer_end"]
            )
            fewest, highest = _range_of(counts, first, last, reference, seats)
            if highest > most or (fewest < least and not open_):
                return t.FALSE
            first = last
    return t.UNKNOWN if open_ else t.TRUE


@internal
def _range_of(
    counts: int, first: int, last: int, reference: float, seats: Seats
) -> tuple[float, float]:
    """Return the least and the most of what is counted of some lists.

    Of what cannot be counted they are infinity and -infinity.
    """
    items, lists = seats.items[t.MEASURED], seats.lists[t.MEASURED]
    fewest, highest = np.inf, -np.inf
    if counts == t.HOLDERS:
        holders = 0
        for k in range(first, last):
            holders += int(not lists[k]["gap"] and has(reference, k, items, lists))
        return float(holders), float(holders)
    if counts == t.COMMON:
        while first < last and lists[first]["gap"]:
            first += 1
        if first < last:
            common = 0
            for i in range(start_of(first, lists), lists[first]["end"]):
                common += int(everywhere(items[i], first + 1, last, items, lists))
            fewest, highest = float(common), float(common)
        return fewest, highest
    for k in range(first, last):
        if lists[k]["gap"]:
            continue
        overlap = 0
        for i in range(start_of(k, lists), lists[k]["end"]):
            for j in range(seats.size[t.REFERRED]["items"]):
                if items[i] == seats.items[t.REFERRED, j]:
                    overlap += 1
                    break
        fewest, highest = min(fewest, float(overlap)), max(highest, float(overlap))
    return fewest, highest


@internal
def _reached(rule: np.void, age: int, facts: Facts, seats: Seats) -> int:
    """Judge whether there is a region in which all can play."""
    growing = seats.growing[0]
    most = holding(rule["most"], age, facts.steps, np.inf)
    spread = holding(rule["spread"], age, facts.steps, np.inf)
    for region in range(facts.pings.shape[2]):
        fine, total, least = True, 0.0, np.inf
        for k in range(growing["tickets"]):
            ticket = seats.tried[t.MEMBERS, k]
            ping = facts.pings[rule["row"], ticket, region]
            if not ping["ping"] <= most:  # nor where it is not reported
                fine = False
                break
            total += ping["total"]
            least = min(least, ping["least"])
        if fine and rule["spread"] != t.NONE:
            reference = least if rule["operation"] else total / growing["players"]
            for k in range(growing["tickets"]):
                ping = facts.pings[rule["row"], seats.tried[t.MEMBERS, k], region]
                fine = fine and abs(ping["ping"] - reference) <= spread
                fine = fine and abs(ping["low"] - reference) <= spread
        if fine:
            return t.TRUE
    return t.FALSE


@internal
def _spread(rule: np.void, age: int, facts: Facts, seats: Seats) -> int:
    """Judge whether the tickets' values are close to each other, or the same."""
    growing = seats.growing[0]
    most = holding(rule["most"], age, facts.steps, 0.0)
    low, high = np.inf, -np.inf
    for k in range(growing["tickets"]):
        value = facts.spreads[rule["row"], seats.tried[t.MEMBERS, k]]
        if np.isnan(value):  # texts that differ within a party
            return t.FALSE
        low, high = min(low, value), max(high, value)
    return t.TRUE if high - low <= most else t.FALSE


@internal
def _combined(rule: np.void, partial: bool, facts: Facts, seats: Seats) -> int:
    """Judge what logic makes of the verdicts on the rules before."""
    top = -1
    for k in range(rule["parts"]):
        part = facts.links[rule["first_part"] + k]
        if part >= 0:
            top += 1
            seats.judged[top]["stack"] = seats.judged[part]["verdict"]
        elif part == t.NOT:
            seats.judged[top]["stack"] = t.UNKNOWN if partial else 1 - seats.judged[top]["stack"]
        else:
            top -= 1
            one, other = seats.judged[top]["stack"], seats.judged[top + 1]["stack"]
            seats.judged[top]["stack"] = _both(part, one, other, partial)
    return seats.judged[0]["stack"]


@inlined
def _both(operator: int, one: int, other: int, partial: bool) -> int:
    """Return the value of an operator of two verdicts, in three-valued logic."""
    if operator == t.AND:
        if one == t.FALSE or other == t.FALSE:
            return t.FALSE
        return t.TRUE if one == t.TRUE and other == t.TRUE else t.UNKNOWN
    if operator == t.OR:
        if one == t.TRUE or other == t.TRUE:
            return t.TRUE
        return t.FALSE if one == t.FALSE and other == t.FALSE else t.UNKNOWN
    return t.UNKNOWN if partial else int(one != other)
