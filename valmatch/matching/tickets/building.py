"""The arrays of a world, made of a table, tickets and how the service ticks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Floats, Ints, Records, Words
from valmatch.matching.tickets import layout as t
from valmatch.matching.tickets.columns import (
    Lists,
    Maps,
    Texts,
    Tickets,
    Values,
    filled,
    has_value,
    tickets_of,
    values_of,
)
from valmatch.matching.tickets.layout import Facts, Queue, Seats, Tallies, World
from valmatch.rule_sets.table import (
    Aggregate,
    Attribute,
    Combined,
    Compared,
    Counted,
    Ordered,
    Party,
    Predicate,
    Reached,
    Rule,
    Spread,
    Steps,
    Table,
    Within,
)
from valmatch.rule_sets.worlds import Search, Service, Ticket

# The arrays of the rules of a table.

KINDS: dict[type[Predicate], int] = {
    Within: t.WITHIN,
    Compared: t.COMPARED,
    Counted: t.COUNTED,
    Reached: t.REACHED,
    Spread: t.SPREAD,
    Combined: t.COMBINED,
    Ordered: t.ORDERED,
}
FUNCTIONS = {
    "min": t.MIN,
    "max": t.MAX,
    "avg": t.AVG,
    "median": t.MEDIAN,
    "sum": t.SUM,
    "stddev": t.STDDEV,
    "count": t.COUNT,
    "flatten": t.FLATTEN,
    "set_intersection": t.INTERSECTION,
}
OPERATIONS = {
    "<": t.LESS,
    "<=": t.AT_MOST,
    "=": t.EQUAL,
    "!=": t.OTHER,
    ">": t.MORE,
    ">=": t.AT_LEAST,
    "common": t.COMMON,
    "holders": t.HOLDERS,
    "overlap": t.OVERLAP,
}
OPERATORS = {"and": t.AND, "or": t.OR, "xor": t.XOR, "not": t.NOT}

OPEN = {"count", "sum"}  # functions that say nothing of a match that is not complete


class RuleArrays(NamedTuple):
    """What `valmatch.matching.tickets.layout.World` has of the rules."""

    rules: Records
    aggregates: Records
    links: Ints
    steps: Records  # (functions, ages)
    teams: list[tuple[int, int]]  # the step functions of the sizes of each team
    listed: list[Aggregate]  # what the aggregates are


class _Lists:
    """Lists that become arrays."""

    def __init__(self, table: Table, texts: dict[str, int]) -> None:
        self.table, self.texts = table, texts
        self.aggregates: list[Aggregate] = []
        self.links: list[int] = []
        self.steps: list[list[tuple[float, int, int]]] = []

    def linked(self, numbers: Sequence[int]) -> int:
        """Return where some numbers are among the links."""
        self.links += numbers
        return len(self.links) - len(numbers)

    def aggregate(self, aggregate: Aggregate) -> int:
        """Return the number of an aggregate."""
        if aggregate not in self.aggregates:
            self.aggregates.append(aggregate)
        return self.aggregates.index(aggregate)

    def stepped(self, steps: Steps | None) -> int:
        """Return the row of a step function: what holds at each age of the table."""
        if steps is None:
            return t.NONE
        entries = []
        for number, value in enumerate(steps.values):
            if isinstance(value, Aggregate):
                entries.append((0.0, self.aggregate(value), number))
            elif isinstance(value, str):
                entries.append(
                    (float(self.texts.setdefault(value, len(self.texts))), t.NONE, number)
                )
            else:
                entries.append((float(value), t.NONE, number))
        ages = (-np.inf, *self.table.waits)
        self.steps.append([entries[bisect_right(steps.waits, age)] for age in ages])
        return len(self.steps) - 1


def rule_arrays(table: Table, texts: dict[str, int]) -> RuleArrays:
    """Return the arrays of the rules, and the sizes of the teams."""
    lists = _Lists(table, texts)
    rules = np.zeros(len(table.rules), t.RULE)
    rows = {t.SPREAD: 0, t.REACHED: 0}
    for record, rule in zip(rules, table.rules, strict=True):
        _fill_rule(record, rule, lists)
        if record["kind"] in rows:
            record["row"] = rows[record["kind"]]
            rows[record["kind"]] += 1
    teams = [(lists.stepped(team.least), lists.stepped(team.most)) for team in table.teams]
    aggregates = _aggregates(lists)
    links = np.array(lists.links, np.int64)
    steps = np.array(lists.steps, t.STEP).reshape(len(lists.steps), len(table.waits) + 1)
    return RuleArrays(rules, aggregates, links, steps, teams, lists.aggregates)


def _fill_rule(record: Any, rule: Rule, lists: _Lists) -> None:  # noqa: ANN401
    """Write a rule down."""
    predicate: Any = rule.predicate
    record["kind"], record["alone"] = KINDS[type(rule.predicate)], rule.alone
    measures: Sequence[Aggregate] = getattr(predicate, "measures", ())
    record["first_measure"] = lists.linked([lists.aggregate(one) for one in measures])
    record["measures"] = len(measures)
    reference = getattr(predicate, "reference", None)
    for key in ("least", "most", "spread"):
        record[key] = lists.stepped(getattr(predicate, key, None))
    record["reference"] = t.NONE
    if isinstance(reference, Steps):
        record["reference"] = lists.stepped(reference)
    referred = reference.values if isinstance(reference, Steps) else ()
    every = [*measures, *(value for value in referred if isinstance(value, Aggregate))]
    record["unknown"] = any(OPEN & set(one.functions) for one in every)
    record["final"] = record["unknown"] or record["kind"] == t.COMBINED or not rule.alone
    if isinstance(rule.predicate, Compared):
        record["operation"] = OPERATIONS[rule.predicate.operation]
    elif isinstance(rule.predicate, Counted):
        record["operation"] = OPERATIONS[rule.predicate.counts]
        if record["operation"] == t.HOLDERS and record["least"] != t.NONE:
            record["final"] = True
    elif isinstance(rule.predicate, Reached):
        record["operation"] = rule.predicate.reference == "min"
    elif isinstance(rule.predicate, Combined):
        program = rule.predicate.program
        parts = [OPERATORS[part] if isinstance(part, str) else part for part in program]
        record["first_part"], record["parts"] = lists.linked(parts), len(parts)


def _aggregates(lists: _Lists) -> Records:
    """Return the aggregates."""
    records = np.zeros(len(lists.aggregates), t.AGGREGATE)
    for record, one in zip(records, lists.aggregates, strict=True):
        record["first_team"], record["teams"] = lists.linked(one.teams), len(one.teams)
        record["grouped"], record["of_teams"] = one.grouped, one.source == "teams"
        record["source"] = t.NONE
        if isinstance(one.source, int):
            record["source"] = one.source
            record["lists"] = lists.table.attributes[one.source].kind == "texts"
        elif one.source == "ids":
            record["source"] = len(lists.table.attributes)
        functions = [FUNCTIONS[name] for name in one.functions]
        record["first_function"], record["functions"] = lists.linked(functions), len(functions)
    return records


# The arrays that tallies are kept by: which rules they tell, and what each ticket adds to them.

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
            self.spreads.append(t.NONE)
        return self.numbers[key]

    def _stat(self, values: Floats, of_tickets: bool) -> Records:
        members = self.members
        record = np.zeros(members.tickets.size + len(members.parts), t.STAT)
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
            self.limits.append((t.NONE, np.nan))
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
            return t.NONE

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
            return t.NONE
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
    common.sort(key=lambda one: rules.rules[one]["kind"] not in (t.REACHED, t.SPREAD))
    order = [*common, *seated, *rest]
    swift = len(common) + len(seated)
    if counted:
        order = list(range(len(table.rules)))
        common = [number for number in order if set(range(number + 1)) <= set(common)]
        swift = 0
    rows = members.tickets.size + len(members.parts)
    own = np.zeros((rows, len(columns.stats)), t.STAT)
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
    record["column"], record["inner"], record["outer"] = t.NONE, t.NONE, t.NONE
    if not isinstance(aggregate.source, int):
        return
    functions = list(aggregate.functions)
    shape = t.BY_TEAM if aggregate.grouped else t.AS_ONE
    if functions and functions[0] == "flatten":
        shape = t.AS_ONE
        del functions[0]
    kind = columns.table.attributes[aggregate.source].kind
    if shape == t.BY_TEAM and len(functions) == 2:
        shape = t.OVER_TEAMS
    most = {"number": 2 if shape == t.OVER_TEAMS else 1}.get(kind, 0)
    if kind == "map" or len(functions) > most or not set(functions) <= set(SIMPLE):
        return
    record["column"] = (columns.texts if kind == "texts" else columns.values)(aggregate.source)
    record["shape"] = shape
    numbers = [FUNCTIONS[name] for name in functions]
    if numbers:
        record["inner"], record["outer"] = numbers[0], numbers[-1]
    if "avg" in functions and columns.largest[record["column"]] > HUGE:
        record["column"] = t.NONE
    teams = len(columns.table.teams)
    whole = shape == t.AS_ONE and len(set(aggregate.teams)) == teams
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
    if record["reference"] == t.NONE:
        return columns.rules.aggregates[:0]
    numbers = np.unique(columns.rules.steps[record["reference"]]["aggregate"])
    return columns.rules.aggregates[numbers[numbers != t.NONE]]


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
        plain = one["column"] != t.NONE and one["inner"] == t.NONE and not one["lists"]
        if plain and _is_of_all(one, columns) and len(predicate.measures) == 1:
            source = columns.table.attributes[int(one["source"])].kind
            return int(one["column"]) if source in kinds else None
    return None


def _is_of_all(aggregate: np.void, columns: _Columns) -> bool:
    """Return whether an aggregate is of all teams as if they were one."""
    place = columns.links[int(aggregate["first_place"])]
    return bool(aggregate["shape"] == t.AS_ONE and place == len(columns.table.teams))


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
        return bool(record["column"] != t.NONE)
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
    if (measures["column"] == t.NONE).any() or measures["lists"].any():
        return False
    single = (referred["shape"] != t.BY_TEAM) & (referred["inner"] != t.NONE)
    if (referred["column"] == t.NONE).any() or not single.all():
        return False
    raw = measures["inner"] == t.NONE
    if isinstance(predicate, Compared) and predicate.reference is None:
        return predicate.operation == "=" and bool(raw.all())
    record["partly"] = raw.any() and (
        predicate.least is not None
        if isinstance(predicate, Within)
        else predicate.operation == "!="
    )
    averages = [one for one in (*measures, *referred) if t.AVG in (one["inner"], one["outer"])]
    largest = [columns.largest[int(one["column"])] for one in averages]
    record["slack"] = ROUNDING * max(largest, default=0.0)
    return True


def _is_counted(record: np.void, rule: Rule, predicate: Counted, columns: _Columns) -> bool:
    """Return whether tallies may tell the verdict on a rule that counts texts or their holders."""
    measures = _measures(record, columns)
    if not measures["lists"].all() or (measures["column"] == t.NONE).any():
        return False
    if predicate.counts == "common":
        return True
    reference = predicate.reference
    if record["operation"] != t.HOLDERS or not isinstance(reference, Steps):
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
        camps[(values["low"] != values["high"]).any(axis=1)] = t.NONE
    return camps


def added(values: Sequence[float]) -> float:
    """Return a sum in the order of the values, as compiled code adds; Python 3.12 compensates."""
    total = 0.0
    for value in values:
        total += value
    return total


OF_PARTY: dict[Party, Callable[[Sequence[float]], float]] = {
    "min": min,
    "max": max,
    "avg": lambda values: added(values) / len(values),
}


def world_of(
    table: Table,
    tickets: Sequence[Ticket],
    service: Service,
    search: Search,
    counted: bool = True,
) -> World:
    """Return the arrays of a world whose tickets are given one by one."""
    place = Streams(service.seed).place(service.replication)
    return arrays_of(table, tickets_of(tickets, table, place), service, search, counted)[0]


def arrays_of(
    table: Table, tickets: Tickets, service: Service, search: Search, counted: bool
) -> tuple[World, TallyArrays]:
    """Return the arrays of a world, and how those of tallies were made."""
    texts: dict[str, int] = {}
    rules = rule_arrays(table, texts)
    made = _Arrays(table, tickets, texts)
    cells, items = made.cells()
    facts = Facts(
        rules.rules,
        rules.aggregates,
        rules.links,
        rules.steps,
        cells,
        items,
        made.spreads(),
        made.pings(),
    )
    records, home = made.tickets()
    parts, members = _parts(records, home)
    tallies = tallies_of(table, rules, facts, members, counted, search == "exhaustive")
    options = _options(table, service, search)
    options["counted"] = counted
    options["common"], options["swift"] = tallies.common, tallies.swift
    records["camp"] = tallies.camps
    world = World(
        options,
        facts._replace(links=tallies.links),
        _teams(table, rules),
        records,
        parts,
        home,
        tallies.own,
        tallies.own_marks,
        tallies.order,
        np.array([(one.from_anchor, one.descending) for one in made.sorts], t.SORT),
        made.sort_values(),
        made.batch_values(),
        made.answers(),
        np.array(table.waits, np.float64),
        tickets.place,
    )
    return world, tallies


def _options(table: Table, service: Service, search: Search) -> Records:
    """Return how matches are searched for, and when."""
    options = np.zeros(1, t.OPTIONS)
    options["oldest"] = table.oldest
    options["exhaustive"] = search == "exhaustive"
    options["batch_size"] = service.batch_size or 0
    options["sorted"] = table.search.batches == "sorted"
    options["backfill"] = ("normal", "high", "low").index(table.search.backfill)
    options["passes"] = service.passes or 0
    options["timeout"], options["horizon"] = service.timeout, service.horizon
    options["review"], options["acceptance"] = service.review or 0.0, service.acceptance or 0.0
    return options


def _teams(table: Table, rules: RuleArrays) -> Records:
    """Return the teams with their step functions."""
    teams = np.zeros(len(table.teams), t.TEAM)
    for record, team, (least, most) in zip(teams, table.teams, rules.teams, strict=True):
        record["least"], record["most"] = least, most
        record["ever"] = max(cast("tuple[float, ...]", team.most.values))
    return teams


class _Arrays:
    """Makes the arrays of a table of tickets."""

    def __init__(self, table: Table, tickets: Tickets, texts: dict[str, int]) -> None:
        self._table, self._tickets, self._texts = table, tickets, texts
        self._of, self._firsts = tickets.of, tickets.firsts
        # of each attribute what players have, with its default; the numbers, or those of texts; NaN
        # for none
        self._own = [self._values(attribute) for attribute in table.attributes]
        self._numbers = [self._numbered(own) for own in self._own]
        predicates = [rule.predicate for rule in table.rules]
        # the orders of an anchor's others, first the most important
        self.sorts = [one for one in predicates if isinstance(one, Ordered)]
        if table.search.balance is not None:
            self.sorts.append(Ordered(table.search.balance, True, False, "", "avg"))
        self._spreads = [one for one in predicates if isinstance(one, Spread)]
        self._reached = [one for one in predicates if isinstance(one, Reached)]

    def _values(self, attribute: Attribute) -> Values:
        """Return what players have of an attribute, or its default."""
        given, n = self._tickets.values.get(attribute.name), self._of.size
        if given is not None and (attribute.default is None or has_value(given).all()):
            return given
        default = values_of(attribute.kind, [attribute.default]).take(np.zeros(n, np.int64))
        return default if given is None else filled(given, default)

    def _numbered(self, own: Values) -> Floats:
        if isinstance(own, Texts):
            return np.array([*map(self._code, own.texts), np.nan])[own.codes]
        return own if isinstance(own, np.ndarray) else np.full(self._of.size, np.nan)

    def _code(self, text: str) -> float:
        """Return the number of a text."""
        return float(self._texts.setdefault(text, len(self._texts)))

    def tickets(self) -> tuple[Records, Ints]:
        """Return the tickets, and of players of games that run the teams."""
        given, n = self._tickets, self._firsts.size
        records = np.zeros(n, t.TICKET)
        records["time"], records["cancel"] = given.times, given.cancels
        records["first"], records["players"] = self._firsts, given.sizes
        records["matchable"] = ~given.lacks(self._table.attributes)
        proposals = given.answers.shape[1]
        records["first_answer"], records["answers"] = proposals * np.arange(n), proposals
        if given.teams is None:
            return records, np.full(self._of.size, t.NONE)
        records["running"] = given.teams[self._firsts] != t.NONE
        return records, given.teams

    def cells(self) -> tuple[Records, Floats]:
        """Return values of all players, and what is in their lists; the last column are ids."""
        cells = np.zeros((len(self._own) + 1, self._of.size), t.CELL)
        items, first = [np.empty(0)], 0
        for cell, own, numbers in zip(cells, self._own, self._numbers, strict=False):
            cell["value"] = numbers
            if isinstance(own, Lists):
                cell["end"] = first + np.cumsum(own.lengths)
                cell["first"] = cell["end"] - own.lengths
                items.append(np.array([*map(self._code, own.texts)], np.float64)[own.items])
                first += own.items.size
        ids = self._tickets.ids
        every = np.arange(len(self._texts), len(self._texts) + self._of.size)
        cells[-1]["value"] = every if ids is None else self._numbered(ids)
        return cells, np.concatenate(items)

    def _of_party(self, values: Floats, party: Party | Literal["sum"]) -> Floats:
        """Return of players' values, a row or several, those that stand for their tickets."""
        if values.ndim > 1:
            columns = [self._of_party(column, party) for column in values.T]
            return np.array(columns).reshape(values.shape[1], self._firsts.size).T
        if party in ("avg", "sum"):  # added in the order of the players, as `added` does
            sums = np.bincount(self._of, values, self._firsts.size)
            return np.asarray(sums / self._tickets.sizes if party == "avg" else sums, np.float64)
        function = np.minimum if party == "min" else np.maximum
        return function.reduceat(values, self._firsts) if self._firsts.size else values[:0]

    def spreads(self) -> Floats:
        """Return the values of tickets that rules of spreads compare."""
        spreads = np.full((len(self._spreads), self._firsts.size), np.nan)
        for row, rule in zip(spreads, self._spreads, strict=True):
            own = self._numbers[rule.attribute]
            row[:] = self._of_party(own, rule.party)
            if isinstance(self._own[rule.attribute], Texts):
                least, most = self._of_party(own, "min"), self._of_party(own, "max")
                row[:] = np.where(least == most, least, np.nan)
        return spreads

    def pings(self) -> Records:
        """Return what stands for each ticket in each region, by rule; regions in order."""
        order = np.argsort(np.array(self._tickets.regions, np.str_), kind="stable")
        latencies = self._tickets.latencies[:, order]
        pings = np.zeros((len(self._reached), self._firsts.size, order.size), t.PING)
        for row, rule in zip(pings, self._reached, strict=True):
            row["ping"] = self._of_party(latencies, "max" if rule.each else rule.party)
            row["low"] = self._of_party(latencies, "min" if rule.each else rule.party)
            row["total"] = self._of_party(latencies, "sum")
            row["least"] = self._of_party(latencies, "min")
        return pings

    def sort_values(self) -> Floats:
        """Return the values of tickets by key, and which key counts for each of them as anchor.

        Of a map the values of a party are of those players who have the key; of keys with the same
        value the one that comes first in the alphabet counts.
        """
        found = [self._sorted_by(rule) for rule in self.sorts]
        most = max((values.shape[1] for values in found), default=1)
        every = np.full((len(found), self._firsts.size, max(most, 1) + 1), np.nan)
        for row, rule, values in zip(every, self.sorts, found, strict=True):
            row[:, : values.shape[1]] = values
            none = np.isnan(values).all(axis=1)
            signed = -values if rule.key == "highest" else values
            keys = np.where(np.isnan(values), np.inf, signed)
            row[:, -1] = np.where(none, t.NONE, keys.argmin(axis=1) if keys.shape[1] else t.NONE)
        return every

    def _sorted_by(self, rule: Ordered) -> Floats:
        """Return the values of tickets that an order looks at, by key."""
        own = self._own[rule.attribute]
        if not isinstance(own, Maps):
            return self._of_party(self._numbers[rule.attribute], rule.party)[:, np.newaxis]
        gone = np.isnan(own.numbers)
        if rule.party != "avg":
            far = np.inf if rule.party == "min" else -np.inf
            values = self._of_party(np.where(gone, far, own.numbers), rule.party)
            return np.where(np.isinf(values), np.nan, values)
        sums = self._of_party(np.where(gone, 0.0, own.numbers), "sum")
        counts = self._of_party(~gone * 1.0, "sum")
        return sums / np.where(counts > 0.0, counts, np.nan)

    def batch_values(self) -> Floats:
        """Return by what the pool is sorted before it is cut: averages, or places of texts."""
        rows = []
        places = np.argsort(np.argsort(np.array(list(self._texts), np.str_), kind="stable"))
        for number in self._table.search.batch_order:
            own = self._numbers[number]
            if isinstance(self._own[number], Texts):
                own = np.append(places, 0)[np.where(np.isnan(own), -1, own).astype(np.int64)] * 1.0
            is_text = isinstance(self._own[number], Texts)
            rows.append(self._of_party(own, "min" if is_text else "avg"))
        return np.array(rows, np.float64).reshape(len(rows), self._firsts.size)

    def answers(self) -> Records:
        """Return all answers to proposals."""
        seconds = self._tickets.answers.ravel()
        answers = np.zeros(seconds.size, t.ANSWER)
        answers["seconds"] = np.where(seconds < 0.0, -1.0 - seconds, seconds)
        answers["accepts"] = seconds >= 0.0
        return answers


def _parts(records: Records, home: Ints) -> tuple[Records, Members]:
    """Return the teams of tickets of games that run, and who is in each row of tallies."""
    parts: list[tuple[int, int, int]] = []
    of_parts: list[tuple[int, list[int]]] = []
    for number in np.flatnonzero(records["running"]):
        record = records[number]
        record["first_part"] = len(parts)
        players = range(record["first"], record["first"] + record["players"])
        for team in dict.fromkeys(home[list(players)].tolist()):
            own = [player for player in players if home[player] == team]
            parts.append((team, len(own), len(records) + len(parts)))
            of_parts.append((int(number), own))
        record["parts"] = len(parts) - record["first_part"]
    return np.array(parts, t.PART), Members(records, of_parts)


def missing(table: Table, ticket: Ticket) -> list[str]:
    """Return the attributes for which a player of a ticket has no value: it cannot be matched."""
    return [
        attribute.name
        for attribute in table.attributes
        if attribute.default is None
        and any(attribute.name not in player.attributes for player in ticket.players)
    ]


def ping_of(own: Sequence[float], rule: Reached) -> tuple[float, float]:
    """Return the highest and the lowest number that counts of a ticket, given its players'."""
    if rule.each:
        return max(own), min(own)
    value = OF_PARTY[rule.party](own)
    return value, value


KEPT_TICKETS = 2**22  # most tickets of matches that are kept between two times that an anchor looks


def room_of_proposals(world: World) -> int:
    """Return how many tickets all proposals of a world have at most; one counts in each of its own.

    A ticket of which an answer is none, late or a refusal is cancelled with the first proposal that
    it spoils, so that no more proposals fail than there are such tickets, each with a match full at
    most; of all others a ticket is in one.
    """
    tickets, most = world.tickets.size, int(world.teams["ever"].sum())
    answers, limit = world.answers, world.options[0]["acceptance"]
    if not limit:
        return tickets
    spoils = ~(answers["seconds"] <= limit) | (answers["accepts"] == 0)
    before = np.concatenate(([0], np.cumsum(spoils)))
    first = world.tickets["first_answer"]
    spoilers = np.count_nonzero(before[first + world.tickets["answers"]] > before[first])
    return tickets + int(spoilers) * min(most, tickets)


def queue_of(world: World) -> Queue:
    """Return an empty queue with room for a world.

    Each match that has been proposed, and that has ended, has ended a ticket, so that there are as
    many matches as tickets at most. What is never used takes no memory.
    """
    tickets, most = world.tickets.size, int(world.teams["ever"].sum())
    kept = max(min(tickets, KEPT_TICKETS // (most + 1)), 1)
    state, slots = np.zeros(1, t.STATE), np.zeros(tickets, t.SLOT)
    state["next_end"] = np.inf
    records = np.zeros(kept, t.KEPT)
    records["anchor"] = t.NONE
    room = max(tickets, 1)
    return Queue(
        state,
        slots,
        np.zeros((9, room), np.int64),
        _seats(world, most),
        Tallies(
            world.own,
            world.own_marks,
            np.zeros((world.own.shape[1], world.teams.size + 1), t.STAT),
            np.zeros((world.own_marks.shape[1], world.teams.size + 1), np.uint64),
        ),
        world.order.copy(),
        np.arange(world.teams.size),
        np.zeros(world.tickets["camp"].max(initial=0) + 1, t.CAMP),
        records,
        np.zeros((kept, most + 1), np.int64),
        np.zeros(room, t.MATCH),
        np.zeros((2, max(room_of_proposals(world), 1)), np.int64),
    )


def _seats(world: World, most: int) -> Seats:
    """Return an empty match of at most some players."""
    cells, teams = world.facts.cells, world.teams.size
    lists, longest = most + teams + 1, int((cells["end"] - cells["first"]).max(initial=1))
    rules = world.facts.rules
    return Seats(
        np.zeros(1, t.GROWING),
        np.zeros((6, most + 1), np.int64),
        np.zeros(teams, np.int64),
        np.zeros((teams, int(world.teams["ever"].max(initial=1))), np.int64),
        np.zeros(max(rules.size, int(rules["parts"].max(initial=0))), t.JUDGED),
        np.zeros(2, t.NESTED),
        np.zeros((2, lists * (longest + 1))),
        np.zeros((2, lists), t.LIST),
    )
