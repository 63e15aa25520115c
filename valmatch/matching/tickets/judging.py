"""Kernels that judge the rules on a match, complete or not.

What cannot be said of a match that is not complete yet is unknown: rules with count or sum, the
least number of players who have a text, what `not` and `xor` make of it.
"""

from __future__ import annotations

import numpy as np

from valmatch.arrays import Records
from valmatch.kernels.compilation import expanded, inlined, unallocating
from valmatch.matching.tickets.aggregates import Data, evaluate, everywhere, has, start_of
from valmatch.matching.tickets.layout import (
    AND,
    AT_MOST,
    COMBINED,
    COMMON,
    COMPARED,
    COUNTED,
    EQUAL,
    FALSE,
    HOLDERS,
    LESS,
    MEASURED,
    MEMBERS,
    MORE,
    NONE,
    NOT,
    OR,
    OTHER,
    REACHED,
    REFERRED,
    SPREAD,
    TRUE,
    UNKNOWN,
    WITHIN,
    Nested,
    Queue,
    World,
)


@inlined
def step_of(steps: int, born: float, now: float, entries: Records) -> int:
    """Return the entry of a step function that holds for who has waited since `born`."""
    place = steps
    while not entries[place]["last"] and born + entries[place + 1]["wait"] <= now:
        place += 1
    return place


@inlined
def holding(steps: int, born: float, now: float, entries: Records, without: float) -> float:
    """Return the number of a step function, `without` where there is none."""
    if steps == NONE:
        return without
    return entries[step_of(steps, born, now, entries)]["value"]


@unallocating
def refuses(now: float, partial: bool, world: World, queue: Queue) -> bool:
    """Return whether a rule that has to hold is false of the match that is tried."""
    for number in range(world.rules.size):
        verdict = UNKNOWN
        if not (partial and world.rules[number]["unknown"]):
            verdict = _verdict(number, now, partial, world, queue)
        queue.judged[number]["verdict"] = verdict
        if verdict == FALSE:
            queue.judged[number]["refused"] += 1
        else:
            queue.judged[number]["held"] += 1
        if verdict == FALSE and world.rules[number]["alone"]:
            return True
    return False


@expanded
def _verdict(number: int, now: float, partial: bool, world: World, queue: Queue) -> int:
    """Judge one rule; those before it have been judged."""
    kind = world.rules[number]["kind"]
    if kind == WITHIN:
        return _within(number, now, world, queue)
    if kind == COMPARED:
        return _compared(number, now, world, queue)
    if kind == COUNTED:
        return _counted(number, now, partial, world, queue)
    if kind == REACHED:
        return _reached(number, now, world, queue)
    if kind == SPREAD:
        return _spread(number, now, world, queue)
    if kind == COMBINED:
        return _combined(number, partial, world, queue)
    return TRUE


@expanded
def _referred(number: int, now: float, world: World, queue: Queue) -> float:
    """Return the reference of a rule, NaN where it is undefined; a list is in `queue.referred`."""
    steps = world.rules[number]["reference"]
    entry = world.steps[step_of(steps, queue.growing[0]["born"], now, world.steps)]
    if entry["aggregate"] == NONE:
        return entry["value"]
    _compute(entry["aggregate"], REFERRED, world, queue)
    undefined = queue.nested.size[REFERRED]["undefined"]
    return np.nan if undefined else queue.nested.items[REFERRED, 0]


@expanded
def _compute(aggregate: int, slot: int, world: World, queue: Queue) -> None:
    """Compute an aggregate of the match that is tried."""
    data = Data(world.aggregates, world.links, world.cells, world.list_items)
    evaluate(aggregate, slot, data, queue.sizes, queue.players, queue.nested)


@expanded
def _within(number: int, now: float, world: World, queue: Queue) -> int:
    """Judge whether all measured numbers are in a range of distances to the reference."""
    rule = world.rules[number]
    reference = _referred(number, now, world, queue)
    if np.isnan(reference):
        return TRUE
    born = queue.growing[0]["born"]
    least = holding(rule["least"], born, now, world.steps, 0.0)
    most = holding(rule["most"], born, now, world.steps, np.inf)
    for k in range(rule["measures"]):
        _compute(world.links[rule["first_measure"] + k], MEASURED, world, queue)
        for i in range(_defined_items(queue.nested)):
            distance = abs(queue.nested.items[MEASURED, i] - reference)
            if distance < least or distance > most:
                return FALSE
    return TRUE


@expanded
def _defined_items(nested: Nested) -> int:
    """Return how many values there are to look at; each may still be undefined."""
    size = nested.size[MEASURED]
    return 0 if size["undefined"] else size["items"]


@expanded
def _compared(number: int, now: float, world: World, queue: Queue) -> int:
    """Judge whether all measured values compare to the reference, or to each other."""
    rule = world.rules[number]
    reference = np.nan
    if rule["reference"] != NONE:
        reference = _referred(number, now, world, queue)
        if np.isnan(reference):
            return TRUE
    for k in range(rule["measures"]):
        _compute(world.links[rule["first_measure"] + k], MEASURED, world, queue)
        if rule["reference"] == NONE:
            if not _among(rule["operation"], queue.nested):
                return FALSE
            continue
        for i in range(_defined_items(queue.nested)):
            value = queue.nested.items[MEASURED, i]
            if not np.isnan(value) and not _compares(value, rule["operation"], reference):
                return FALSE
    return TRUE


@inlined
def _compares(value: float, operation: int, reference: float) -> bool:
    """Return whether a value compares to a reference."""
    if operation == LESS:
        return value < reference
    if operation == AT_MOST:
        return value <= reference
    if operation == EQUAL:
        return value == reference
    if operation == OTHER:
        return value != reference
    return value > reference if operation == MORE else value >= reference


@expanded
def _among(operation: int, nested: Nested) -> bool:
    """Return whether the values of each innermost list are all the same, or all different."""
    size, items = nested.size[MEASURED], nested.items[MEASURED]
    if size["undefined"]:
        return True
    lists = 1 if size["depth"] == 1 else size["lists"]
    start = 0
    for k in range(lists):
        end = size["items"] if size["depth"] == 1 else nested.lists[MEASURED, k]["end"]
        for i in range(start, end):
            for j in range(start, i):
                one, other = items[i], items[j]
                if np.isnan(one) or np.isnan(other):
                    continue
                if (one == other) != (operation == EQUAL):
                    return False
        start = end
    return True


@expanded
def _counted(number: int, now: float, partial: bool, world: World, queue: Queue) -> int:
    """Judge whether a number of texts, or of lists that have one, is in a range."""
    rule = world.rules[number]
    counts, reference = rule["operation"], np.nan
    if counts != COMMON:
        reference = _referred(number, now, world, queue)
        if counts != HOLDERS and queue.nested.size[REFERRED]["undefined"]:
            return TRUE
    born = queue.growing[0]["born"]
    least = holding(rule["least"], born, now, world.steps, 0.0)
    most = holding(rule["most"], born, now, world.steps, np.inf)
    open_ = partial and counts == HOLDERS and rule["least"] != NONE
    for k in range(rule["measures"]):
        _compute(world.links[rule["first_measure"] + k], MEASURED, world, queue)
        size = queue.nested.size[MEASURED]
        if size["undefined"]:
            continue
        groups = 1 if size["depth"] == 2 else size["outer"]
        first = 0
        for group in range(groups):
            last = (
                size["lists"]
                if size["depth"] == 2
                else queue.nested.lists[MEASURED, group]["outer_end"]
            )
            fewest, highest = _range_of(counts, first, last, reference, queue.nested)
            if highest > most or (fewest < least and not open_):
                return FALSE
            first = last
    return UNKNOWN if open_ else TRUE


@unallocating
def _range_of(
    counts: int, first: int, last: int, reference: float, nested: Nested
) -> tuple[float, float]:
    """Return the least and the most of what is counted of some lists.

    Of what cannot be counted they are infinity and -infinity.
    """
    items, lists = nested.items[MEASURED], nested.lists[MEASURED]
    fewest, highest = np.inf, -np.inf
    if counts == HOLDERS:
        holders = 0
        for k in range(first, last):
            holders += int(not lists[k]["gap"] and has(reference, k, items, lists))
        return float(holders), float(holders)
    if counts == COMMON:
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
            for j in range(nested.size[REFERRED]["items"]):
                if items[i] == nested.items[REFERRED, j]:
                    overlap += 1
                    break
        fewest, highest = min(fewest, float(overlap)), max(highest, float(overlap))
    return fewest, highest


@expanded
def _reached(number: int, now: float, world: World, queue: Queue) -> int:
    """Judge whether there is a region in which all can play."""
    rule = world.rules[number]
    growing = queue.growing[0]
    most = holding(rule["most"], growing["born"], now, world.steps, np.inf)
    spread = holding(rule["spread"], growing["born"], now, world.steps, np.inf)
    for region in range(world.pings.shape[2]):
        fine, total, least = True, 0.0, np.inf
        for k in range(growing["tickets"]):
            ticket = queue.tried[MEMBERS, k]
            ping = world.pings[rule["row"], ticket, region]
            if not ping["ping"] <= most:  # nor where it is not reported
                fine = False
                break
            total += ping["total"]
            least = min(least, ping["least"])
        if fine and rule["spread"] != NONE:
            reference = least if rule["operation"] else total / growing["players"]
            for k in range(growing["tickets"]):
                ping = world.pings[rule["row"], queue.tried[MEMBERS, k], region]
                fine = fine and abs(ping["ping"] - reference) <= spread
                fine = fine and abs(ping["low"] - reference) <= spread
        if fine:
            return TRUE
    return FALSE


@expanded
def _spread(number: int, now: float, world: World, queue: Queue) -> int:
    """Judge whether the tickets' values are close to each other, or the same."""
    rule = world.rules[number]
    growing = queue.growing[0]
    most = holding(rule["most"], growing["born"], now, world.steps, 0.0)
    low, high = np.inf, -np.inf
    for k in range(growing["tickets"]):
        value = world.spreads[rule["row"], queue.tried[MEMBERS, k]]
        if np.isnan(value):  # texts that differ within a party
            return FALSE
        low, high = min(low, value), max(high, value)
    return TRUE if high - low <= most else FALSE


@expanded
def _combined(number: int, partial: bool, world: World, queue: Queue) -> int:
    """Judge what logic makes of the verdicts on the rules before."""
    rule = world.rules[number]
    top = -1
    for k in range(rule["parts"]):
        part = world.links[rule["first_part"] + k]
        if part >= 0:
            top += 1
            queue.judged[top]["stack"] = queue.judged[part]["verdict"]
        elif part == NOT:
            queue.judged[top]["stack"] = UNKNOWN if partial else 1 - queue.judged[top]["stack"]
        else:
            top -= 1
            one, other = queue.judged[top]["stack"], queue.judged[top + 1]["stack"]
            queue.judged[top]["stack"] = _both(part, one, other, partial)
    return queue.judged[0]["stack"]


@inlined
def _both(operator: int, one: int, other: int, partial: bool) -> int:
    """Return the value of an operator of two verdicts, in three-valued logic."""
    if operator == AND:
        if one == FALSE or other == FALSE:
            return FALSE
        return TRUE if one == TRUE and other == TRUE else UNKNOWN
    if operator == OR:
        if one == TRUE or other == TRUE:
            return TRUE
        return FALSE if one == FALSE and other == FALSE else UNKNOWN
    return UNKNOWN if partial else int(one != other)
