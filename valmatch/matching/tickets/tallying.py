"""Kernels that tell from tallies whether one more ticket would break a rule.

Tallies are kept of each team of the match that is tried: least, greatest, sum and number of its
players' values, and what they have in common as sets of bits. With them a verdict takes a few
operations for each team that the rule speaks of, however many players there are.
"""

from __future__ import annotations

import numpy as np

from valmatch.kernels.arrays import Ints
from valmatch.kernels.compilation import inlined, internal
from valmatch.matching.tickets.layout import (
    AS_ONE,
    AT_MOST,
    BY_TEAM,
    COMMON,
    COUNTED,
    EQUAL,
    FALSE,
    LESS,
    MAX,
    MIN,
    MORE,
    NONE,
    OTHER,
    OVER_TEAMS,
    REACHED,
    SPREAD,
    SUM,
    TRUE,
    UNDECIDED,
    WITHIN,
    Facts,
    Tallies,
)

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
    if function == MIN:
        return low
    if function == MAX:
        return high
    return total if function == SUM else total / number


@internal
def _single(aggregate: np.void, joins: tuple[int, int], links: Ints, tallies: Tallies) -> float:
    """Return the value of an aggregate that is one number."""
    first, end = aggregate["first_place"], aggregate["first_place"] + aggregate["places"]
    column, inner = aggregate["column"], aggregate["inner"]
    if aggregate["shape"] == AS_ONE:
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
    if rule["kind"] == WITHIN:
        distance = abs(value - reference)
        if distance > most + slack or distance < least - slack:
            return FALSE
        near = slack > 0.0 and (distance > most - slack or distance < least + slack)
        return UNDECIDED if near else TRUE
    if slack > 0.0 and abs(value - reference) <= slack:
        return UNDECIDED
    operation = rule["operation"]
    if operation == LESS:
        holds = value < reference
    elif operation == AT_MOST:
        holds = value <= reference
    elif operation == EQUAL:
        holds = value == reference
    elif operation == OTHER:
        holds = value != reference
    elif operation == MORE:
        holds = value > reference
    else:
        holds = value >= reference
    return TRUE if holds else FALSE


@internal
def tell(number: int, age: int, ticket: int, seat: int, facts: Facts, tallies: Tallies) -> int:
    """Judge a rule on the match that is tried with one more ticket, which is not complete."""
    rule = facts.rules[number]
    least, most = 0.0, np.inf
    if rule["least"] != NONE:
        least = facts.steps[rule["least"], age]["value"]
    if rule["most"] != NONE:
        most = facts.steps[rule["most"], age]["value"]
    verdict, kind = TRUE, rule["kind"]
    if kind == REACHED:
        column = rule["column"]
        if rule["most"] != NONE:
            column += facts.steps[rule["most"], age]["entry"]
        place = tallies.marks.shape[1] - 1
        if tallies.marks[column, place] & tallies.own_marks[ticket, column] == 0:
            verdict = FALSE
    elif kind == SPREAD:
        stat = tallies.stats[rule["column"], tallies.stats.shape[1] - 1]
        own = tallies.own[ticket, rule["column"]]
        if not max(stat["high"], own["high"]) - min(stat["low"], own["low"]) <= most:
            verdict = FALSE
    else:
        for k in range(rule["measures"]):
            aggregate = facts.aggregates[facts.links[rule["first_measure"] + k]]
            if kind == COUNTED:
                one = _counted(rule, aggregate, least, most, (ticket, seat), facts.links, tallies)
            else:
                one = _measured(rule, aggregate, age, least, most, (ticket, seat), facts, tallies)
            if one == FALSE:
                verdict = FALSE
                break
            verdict = max(verdict, one)
    return UNDECIDED if verdict == TRUE and rule["partly"] else verdict


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
    if rule["reference"] != NONE:
        entry = facts.steps[rule["reference"], age]
        reference = entry["value"]
        if entry["aggregate"] != NONE:
            referred = facts.aggregates[entry["aggregate"]]
            reference = _single(referred, joins, facts.links, tallies)
        if np.isnan(reference):
            return TRUE
    shape, verdict = aggregate["shape"], TRUE
    if shape == OVER_TEAMS:
        value = _single(aggregate, joins, facts.links, tallies)
        return TRUE if np.isnan(value) else _held(value, reference, rule, least, most)
    first, places = aggregate["first_place"], aggregate["places"]
    step = 1 if shape == BY_TEAM else places
    for k in range(first, first + places, step):
        low, high, total, players = _of_places(
            aggregate["column"], k, k + step, joins, facts.links, tallies
        )
        if players == 0:
            continue
        if aggregate["inner"] != NONE:
            low = _reduced(aggregate["inner"], low, high, total, players)
            high = low
        if rule["reference"] == NONE:
            one = TRUE if low == high else FALSE
        else:
            one = _held(low, reference, rule, least, most)
            if one != FALSE and low != high:
                one = _either(one, _held(high, reference, rule, least, most))
        if one == FALSE:
            return FALSE
        verdict = max(verdict, one)
    return verdict


@inlined
def _either(one: int, other: int) -> int:
    """Return what is to be said of two values, of which the first is not refused."""
    return FALSE if other == FALSE else max(one, other)


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
    step = 1 if aggregate["shape"] == BY_TEAM else places
    for k in range(first, first + places, step):
        if rule["operation"] != COMMON:
            _, _, total, _ = _of_places(rule["column"], k, k + step, joins, links, tallies)
            if total > most:
                return FALSE
            continue
        common = _common(aggregate["column"], k, k + step, joins, links, tallies)
        if common != NOBODY:
            count = 0
            while common:
                common &= common - np.uint64(1)
                count += 1
            if count > most or count < least:
                return FALSE
    return TRUE


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
