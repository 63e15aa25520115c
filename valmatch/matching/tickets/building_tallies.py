"""The arrays that tallies are kept by: which rules they tell, and what each ticket adds to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.kernels.arrays import Floats, Ints, Records, Words
from valmatch.matching.tickets.building_rules import FUNCTIONS, RuleArrays
from valmatch.matching.tickets.layout import (
    AS_ONE,
    AVG,
    BY_TEAM,
    HOLDERS,
    NONE,
    OVER_TEAMS,
    REACHED,
    SPREAD,
    STAT,
    Facts,
)
from valmatch.rule_sets.table import (
    Aggregate,
    Compared,
    Counted,
    Ordered,
    Reached,
    Rule,
    Spread,
    Steps,
    Table,
    Within,
)

SIMPLE = ("min", "max", "avg")
"""Functions of numbers that tallies have, and can be right of a match that is not complete."""

BITS = 63  # most texts or regions of a set: the last of 64 bits says that there is nobody
EXACT = 2.0**31  # up to this size, multiples of 1/1024 have sums that are exact, in whatever order
HUGE = 1e200  # numbers from here on may have sums that are infinite

ROUNDING = 1e-10
"""More than sums of 200 numbers differ by in another order, in units of the largest."""


class Members(NamedTuple):
    """Whose values a row of tallies is made of: the players of a ticket, or of a part of one."""

    tickets: Records  # records of TICKET
    parts: list[tuple[int, list[int]]]  # of each part the ticket and its players

    def of_players(self, values: NDArray[np.generic], function: np.ufunc) -> NDArray[np.generic]:
        """Return for each row a function of the values of its players."""
        if not self.tickets.size:
            return values[:0]
        whole = function.reduceat(values, self.tickets["first"])
        parts = [function.reduce(values[players]) for _, players in self.parts]
        return np.concatenate([whole, np.array(parts, values.dtype)])

    def of_tickets(self, values: NDArray[np.generic]) -> NDArray[np.generic]:
        """Return for each row the value of its ticket."""
        return np.concatenate([values, values[[ticket for ticket, _ in self.parts]]])


class TallyArrays(NamedTuple):
    """What `valmatch.matching.tickets.layout.World` has of tallies."""

    own: Records  # records of STAT
    own_marks: Words
    links: Ints
    order: Ints
    # common, swift: the ends of the first parts of the order
    common: int
    swift: int
    camps: Ints  # of each ticket
    # stat_rows, mark_rows: of each column of `own` which row of spreads it is, of `own_marks` which
    # row of pings; NONE where it is of players
    stat_rows: Ints
    mark_rows: Ints
    mark_limits: Floats  # milliseconds within which these are; NaN where there are none


class _Columns:
    """Columns of tallies, each made when it is first asked for."""

    def __init__(self, table: Table, rules: RuleArrays, facts: Facts, members: Members) -> None:
        self.table, self.rules, self.facts, self.members = table, rules, facts, members
        self.links = rules.links.tolist()
        self.numbers: dict[object, int] = {}
        self.stats: list[Records] = []
        self.largest: list[float] = []
        self.sets: dict[object, int] = {}
        self.marks: list[Words] = []
        self.spreads: list[int] = []  # of each column the row, or NONE
        self.limits: list[tuple[int, float]] = []

    def stat(self, key: object, values: Callable[[], Floats], of_tickets: bool = False) -> int:
        """Return the column of some values of players, or of tickets."""
        if key not in self.numbers:
            self.numbers[key] = len(self.stats)
            self.stats.append(self._stat(values(), of_tickets))
            self.spreads.append(NONE)
        return self.numbers[key]

    def _stat(self, values: Floats, of_tickets: bool) -> Records:
        members = self.members
        record = np.zeros(members.tickets.size + len(members.parts), STAT)
        record["players"] = members.of_players(np.ones(self.facts.cells.shape[1], np.int64), np.add)
        if of_tickets:
            record["low"] = record["high"] = members.of_tickets(values)
        else:
            for key, function in (("low", np.minimum), ("high", np.maximum), ("total", np.add)):
                record[key] = members.of_players(values, function)
        largest = float(np.abs(values[~np.isnan(values)]).max(initial=0.0))
        exact = largest <= EXACT and not np.any(values * 1024.0 % 1.0 > 0.0)
        self.largest.append(0.0 if exact else largest)
        return record

    def spread(self, row: int) -> int:
        """Return the column of the values of tickets that a rule of spreads compares."""
        column = self.stat(("spread", row), lambda: self.facts.spreads[row], True)
        self.spreads[column] = row
        return column

    def set_of(self, key: object, bits: Callable[[], Words], of_tickets: bool) -> int:
        """Return the column of some sets of players, or of tickets."""
        if key not in self.sets:
            self.sets[key] = len(self.marks)
            of = self.members.of_tickets if of_tickets else self._common
            self.marks.append(of(bits()).astype(np.uint64))
            self.limits.append((NONE, np.nan))
        return self.sets[key]

    def _common(self, bits: Words) -> NDArray[np.generic]:
        return self.members.of_players(bits, np.bitwise_and)

    def linked(self, places: Sequence[int]) -> int:
        """Return where some places of tallies are among the links."""
        self.links += places
        return len(self.links) - len(places)

    def values(self, source: int) -> int:
        """Return the column of an attribute."""
        return self.stat(("value", source), lambda: self.facts.cells[source]["value"])

    def texts(self, source: int) -> int:
        """Return the column of sets of an attribute of lists, NONE if there are too many texts."""
        cells, items = self.facts.cells[source], self.facts.list_items
        own = [items[first:end] for first, end in zip(cells["first"], cells["end"], strict=True)]
        every = np.unique(np.concatenate([*own, np.zeros(0)]))
        if every.size > BITS:
            return NONE

        def bits() -> Words:
            places = [np.searchsorted(every, one).astype(np.uint64) for one in own]
            return np.array(
                [np.bitwise_or.reduce(np.uint64(1) << one, initial=0) for one in places], np.uint64
            )

        return self.set_of(("texts", source), bits, False)

    def holders(self, source: int, text: float) -> int:
        """Return the column of who has a text in a list."""
        cells, items = self.facts.cells[source], self.facts.list_items

        def values() -> Floats:
            spans = zip(cells["first"], cells["end"], strict=True)
            return np.array([float(text in items[first:end]) for first, end in spans])

        return self.stat(("holders", source, text), values)

    def regions(self, row: int, limits: Sequence[float]) -> int:
        """Return the first column of sets of regions within limits, NONE if there are too many."""
        pings = self.facts.pings[row]["ping"]
        if pings.shape[1] > BITS:
            return NONE
        weights = np.uint64(1) << np.arange(pings.shape[1], dtype=np.uint64)

        def bits(limit: float) -> Words:
            found: Words = ((pings <= limit) * weights).sum(axis=1, dtype=np.uint64)
            return found

        numbers = [
            self.set_of((row, entry), lambda limit=limit: bits(limit), True)  # type: ignore[misc]
            for entry, limit in enumerate(limits)
        ]
        for number, limit in zip(numbers, limits, strict=True):
            self.limits[number] = row, limit
        return numbers[0]


def tallies_of(
    table: Table, rules: RuleArrays, facts: Facts, members: Members, counted: bool, exhaustive: bool
) -> TallyArrays:
    """Return the arrays of tallies; note in the rules and aggregates what tallies have of them.

    Camps are of all rules that want a value to be the same. Where verdicts are counted there is
    one camp, as every rule is judged of every ticket.
    """
    columns = _Columns(table, rules, facts, members)
    for record, aggregate in zip(rules.aggregates, rules.listed, strict=True):
        _describe(record, aggregate, columns)
    common: list[int] = []
    seated: list[int] = []
    rest: list[int] = []
    camps: list[int] = []
    for number, (record, rule) in enumerate(zip(rules.rules, table.rules, strict=True)):
        camp = None if exhaustive or counted else _camp(record, rule, columns)
        record["tallied"] = not record["unknown"] and _is_tallied(record, rule, columns)
        if camp is not None:
            camps.append(camp)
            continue
        if record["tallied"] and rule.alone:
            (common if _is_common(record, rule, columns) else seated).append(number)
        elif not rule.alone or not (record["unknown"] or isinstance(rule.predicate, Ordered)):
            rest.append(number)
    common.sort(key=lambda one: rules.rules[one]["kind"] not in (REACHED, SPREAD))
    order = [*common, *seated, *rest]
    swift = len(common) + len(seated)
    if counted:
        order = list(range(len(table.rules)))
        common = [number for number in order if set(range(number + 1)) <= set(common)]
        swift = 0
    rows = members.tickets.size + len(members.parts)
    own = np.zeros((rows, len(columns.stats)), STAT)
    marks = np.zeros((rows, len(columns.marks)), np.uint64)
    for k, stat in enumerate(columns.stats):
        own[:, k] = stat
    for k, mark in enumerate(columns.marks):
        marks[:, k] = mark
    return TallyArrays(
        own,
        marks,
        np.array(columns.links, np.int64),
        np.array(order, np.int64),
        len(common),
        swift,
        _camps(own[: members.tickets.size, camps]),
        np.array(columns.spreads, np.int64),
        np.array([row for row, _ in columns.limits], np.int64),
        np.array([limit for _, limit in columns.limits], np.float64),
    )


def _describe(record: np.void, aggregate: Aggregate, columns: _Columns) -> None:
    """Note which column an aggregate is of and how it is got from it, where tallies have it."""
    record["column"], record["inner"], record["outer"] = NONE, NONE, NONE
    if not isinstance(aggregate.source, int):
        return
    functions = list(aggregate.functions)
    shape = BY_TEAM if aggregate.grouped else AS_ONE
    if functions and functions[0] == "flatten":
        shape = AS_ONE
        del functions[0]
    kind = columns.table.attributes[aggregate.source].kind
    if shape == BY_TEAM and len(functions) == 2:
        shape = OVER_TEAMS
    most = {"number": 2 if shape == OVER_TEAMS else 1}.get(kind, 0)
    if kind == "map" or len(functions) > most or not set(functions) <= set(SIMPLE):
        return
    record["column"] = (columns.texts if kind == "texts" else columns.values)(aggregate.source)
    record["shape"] = shape
    numbers = [FUNCTIONS[name] for name in functions]
    if numbers:
        record["inner"], record["outer"] = numbers[0], numbers[-1]
    if "avg" in functions and columns.largest[record["column"]] > HUGE:
        record["column"] = NONE
    teams = len(columns.table.teams)
    whole = shape == AS_ONE and len(set(aggregate.teams)) == teams
    places = [teams] if whole else list(aggregate.teams)
    record["first_place"], record["places"] = columns.linked(places), len(places)


def _measures(record: np.void, columns: _Columns) -> Records:
    """Return the aggregates that a rule measures."""
    first = record["first_measure"]
    numbers: Records = columns.rules.aggregates[
        columns.rules.links[first : first + record["measures"]]
    ]
    return numbers


def _referred(record: np.void, columns: _Columns) -> Records:
    """Return the aggregates that a rule refers to, at whatever age."""
    if record["reference"] == NONE:
        return columns.rules.aggregates[:0]
    numbers = np.unique(columns.rules.steps[record["reference"]]["aggregate"])
    return columns.rules.aggregates[numbers[numbers != NONE]]


def _camp(record: np.void, rule: Rule, columns: _Columns) -> int | None:
    """Return the column that a rule wants to be the same for all tickets of a match, if it does.

    Such a rule refuses two tickets that differ on whatever teams they are, at any age.
    """
    predicate = rule.predicate
    if not rule.alone:
        return None
    if isinstance(predicate, Spread):
        if columns.table.attributes[predicate.attribute].kind != "text":
            return None
        return columns.spread(int(record["row"]))
    if not isinstance(predicate, Compared) or predicate.reference or predicate.operation != "=":
        return None
    for one in _measures(record, columns):
        kinds = ("number", "text")
        plain = one["column"] != NONE and one["inner"] == NONE and not one["lists"]
        if plain and _is_of_all(one, columns) and len(predicate.measures) == 1:
            source = columns.table.attributes[int(one["source"])].kind
            return int(one["column"]) if source in kinds else None
    return None


def _is_of_all(aggregate: np.void, columns: _Columns) -> bool:
    """Return whether an aggregate is of all teams as if they were one."""
    place = columns.links[int(aggregate["first_place"])]
    return bool(aggregate["shape"] == AS_ONE and place == len(columns.table.teams))


def _is_common(record: np.void, rule: Rule, columns: _Columns) -> bool:
    """Return whether the verdict on a rule is the same on whatever team a ticket is."""
    if isinstance(rule.predicate, Reached | Spread):
        return True
    every = [*_measures(record, columns), *_referred(record, columns)]
    return all(_is_of_all(one, columns) for one in every)


def _is_tallied(record: np.void, rule: Rule, columns: _Columns) -> bool:
    """Return whether tallies may tell the verdict on a rule; note what they need for it."""
    predicate = rule.predicate
    if isinstance(predicate, Reached):
        limits = [np.inf]
        if predicate.most is not None:
            limits = [float(value) for value in predicate.most.values]  # type: ignore[arg-type]
        record["column"] = columns.regions(int(record["row"]), limits)
        record["partly"] = predicate.spread is not None
        return bool(record["column"] != NONE)
    if isinstance(predicate, Spread):
        if columns.table.attributes[predicate.attribute].kind != "number":
            return False
        record["column"] = columns.spread(int(record["row"]))
        return predicate.most is not None
    if isinstance(predicate, Counted):
        return _is_counted(record, rule, predicate, columns)
    if not isinstance(predicate, Within | Compared):
        return False
    measures, referred = _measures(record, columns), _referred(record, columns)
    if (measures["column"] == NONE).any() or measures["lists"].any():
        return False
    single = (referred["shape"] != BY_TEAM) & (referred["inner"] != NONE)
    if (referred["column"] == NONE).any() or not single.all():
        return False
    raw = measures["inner"] == NONE
    if isinstance(predicate, Compared) and predicate.reference is None:
        return predicate.operation == "=" and bool(raw.all())
    record["partly"] = raw.any() and (
        predicate.least is not None
        if isinstance(predicate, Within)
        else predicate.operation == "!="
    )
    averages = [one for one in (*measures, *referred) if AVG in (one["inner"], one["outer"])]
    largest = [columns.largest[int(one["column"])] for one in averages]
    record["slack"] = ROUNDING * max(largest, default=0.0)
    return True


def _is_counted(record: np.void, rule: Rule, predicate: Counted, columns: _Columns) -> bool:
    """Return whether tallies may tell the verdict on a rule that counts texts or their holders."""
    measures = _measures(record, columns)
    if not measures["lists"].all() or (measures["column"] == NONE).any():
        return False
    if predicate.counts == "common":
        return True
    reference = predicate.reference
    if record["operation"] != HOLDERS or not isinstance(reference, Steps):
        return False
    is_text = len(reference.values) == 1 and isinstance(reference.values[0], str)
    if not is_text or np.unique(measures["source"]).size > 1:
        return False
    if predicate.least is not None and not rule.alone:  # what logic takes as unknown
        return False
    text = float(columns.rules.steps[record["reference"], 0]["value"])
    record["column"] = columns.holders(int(measures["source"][0]), text)
    return True


def _camps(values: Records) -> Ints:
    """Return of each ticket the camp; NONE where its own players differ."""
    camps = np.zeros(values.shape[0], np.int64)
    if values.shape[1] and values.shape[0]:
        _, found = np.unique(values["low"], axis=0, return_inverse=True)
        camps = found.reshape(-1).astype(np.int64)
        camps[(values["low"] != values["high"]).any(axis=1)] = NONE
    return camps
