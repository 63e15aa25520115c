"""Kernels that judge the rules on a match, complete or not.

What cannot be said of a match that is not complete yet is unknown: rules with count or sum, the
least number of players who have a text, what `not` and `xor` make of it.
"""

from __future__ import annotations

import math

import numpy as np

from valmatch.kernels.arrays import Floats, Records
from valmatch.kernels.compilation import part
from valmatch.matching.tickets import layout as t
from valmatch.matching.tickets.layout import Candidate, World
from valmatch.rule_sets.table import (
    Combined,
    Compared,
    Counted,
    Ordered,
    Predicate,
    Reached,
    Spread,
    Within,
)

# The predicates of the table as kernels know them: by numbers of `layout`, in their order.

KINDS = (Within, Compared, Counted, Reached, Spread, Combined, Ordered)
COUNTS = ("common", "holders", "overlap")
OPERATIONS = ("<", "<=", "=", "!=", ">", ">=")


def operation_of(predicate: Predicate) -> int:
    """Return which of the operations of its kind a predicate has."""
    if isinstance(predicate, Compared):
        return OPERATIONS.index(predicate.operation)
    if isinstance(predicate, Counted):
        return COUNTS.index(predicate.counts)
    return int(isinstance(predicate, Reached) and predicate.reference == "min")


# Kernels that compute aggregates of a match: functions of nested lists of its players' values.


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
                cell = world.cells[source, candidate.players[team, i]]
                for index in range(cell["first"], cell["end"]):
                    items[count] = world.list_items[index]
                    count += 1
                lists[number]["end"], lists[number]["gap"] = count, 0
                number += 1
                continue
            items[count] = 0.0
            if source != t.NONE:
                items[count] = world.cells[source, candidate.players[team, i]]["value"]
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
    size["outer"] = 0
    size["depth"] -= 1


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
            below += items[i] < items[k]
            same += items[i] == items[k]
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


@part
def _keep_common(first: int, last: int, count: int, items: Floats, lists: Records) -> int:
    """Move the values that lists have in common to a place; return their end, -1 of no list."""
    while first < last and lists[first]["gap"]:
        first += 1
    if first >= last:
        return -1
    for k in range(start_of(first, lists), lists[first]["end"]):
        if everywhere(items[k], first + 1, last, items, lists):
            items[count] = items[k]
            count += 1
    return count


@part(inline=True)
def start_of(number: int, lists: Records) -> int:
    """Return where a list begins."""
    return lists[number - 1]["end"] if number else 0


@part(inline=True)
def has(value: float, number: int, items: Floats, lists: Records) -> bool:
    """Return whether a list has a value."""
    for k in range(start_of(number, lists), lists[number]["end"]):
        if items[k] == value:
            return True
    return False


@part(inline=True)
def everywhere(value: float, first: int, last: int, items: Floats, lists: Records) -> bool:
    """Return whether all of some lists that are defined have a value."""
    for number in range(first, last):
        if not lists[number]["gap"] and not has(value, number, items, lists):
            return False
    return True


@part(inline=True)
def holding(steps: int, age: int, world: World, without: float) -> float:
    """Return the number of a step function at an age, `without` where there is none."""
    return without if steps == t.NONE else world.steps[steps, age]["value"]


@part
def refuses(only_final: bool, world: World, candidate: Candidate) -> bool:
    """Return whether a rule that has to hold is false of the match that is tried, as complete."""
    # With `only_final` just those are judged that may have had another verdict, or none, before;
    # without, all verdicts are counted.
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
    if rule["reference"] != t.NONE:
        reference = _referred(rule, age, world, candidate)
        if np.isnan(reference):
            return t.TRUE
    least = holding(rule["least"], age, world, 0.0)
    most = holding(rule["most"], age, world, np.inf)
    for k in range(rule["measures"]):
        evaluate(world.links[rule["first_measure"] + k], t.MEASURED, world, candidate)
        if size["undefined"]:
            continue
        if rule["reference"] == t.NONE:
            if not _among(rule["operation"], candidate):
                return t.FALSE
            continue
        for i in range(size["items"]):
            value = candidate.items[t.MEASURED, i]
            if np.isnan(value):
                continue
            if rule["kind"] == t.WITHIN:
                holds = least <= abs(value - reference) <= most
            else:
                holds = compares(value, rule["operation"], reference)
            if not holds:
                return t.FALSE
    return t.TRUE


@part(inline=True)
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
                value, earlier = items[i], items[j]
                if np.isnan(value) or np.isnan(earlier):
                    continue
                if (value == earlier) != (operation == t.EQUAL):
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
    for region in range(world.options[0]["regions"]):
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
            stack[top] = t.UNKNOWN if partial else 1 - stack[top]
        else:
            top -= 1
            stack[top] = _both(piece, stack[top], stack[top + 1], partial)
    return stack[0]


@part(inline=True)
def _both(operator: int, first: int, second: int, partial: bool) -> int:
    """Return the value of an operator of two verdicts, in three-valued logic."""
    if operator == t.AND:
        if first == t.FALSE or second == t.FALSE:
            return t.FALSE
        return t.TRUE if first == t.TRUE and second == t.TRUE else t.UNKNOWN
    if operator == t.OR:
        if first == t.TRUE or second == t.TRUE:
            return t.TRUE
        return t.FALSE if first == t.FALSE and second == t.FALSE else t.UNKNOWN
    return t.UNKNOWN if partial else int(first != second)
