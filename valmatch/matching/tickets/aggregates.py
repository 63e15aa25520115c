"""Kernels that compute aggregates of a match: functions of nested lists of its players' values."""

from __future__ import annotations

import math

import numpy as np

from valmatch.kernels.arrays import Floats, Records
from valmatch.kernels.compilation import inlined, internal
from valmatch.matching.tickets.layout import (
    AVG,
    COUNT,
    FLATTEN,
    INTERSECTION,
    MAX,
    MEDIAN,
    MIN,
    NONE,
    SUM,
    Facts,
    Seats,
)


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
            if aggregate["source"] != NONE:
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
    elif function == FLATTEN:
        if size["depth"] == 3:
            size["outer"] = 0
        else:
            size["lists"] = 0
        size["depth"] -= 1
    elif function == INTERSECTION:
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
    if function == COUNT:
        return float(number)
    if function == SUM:
        return total
    if number == 0:
        return np.nan
    if function == MIN:
        return low
    if function == MAX:
        return high
    if function == AVG:
        return total / number
    if function == MEDIAN:
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
