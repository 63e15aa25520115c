"""The kernels' arrays of a world, made of a table of rules, a table of tickets and a service."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from valmatch.kernels.arrays import Floats, Ints, Records, Words
from valmatch.matching.tickets import layout as t
from valmatch.matching.tickets.columns import (
    Search,
    Service,
    Tickets,
    Values,
    by_name,
    has_value,
    values_of,
)
from valmatch.matching.tickets.judging import KINDS, operation_of
from valmatch.matching.tickets.layout import Candidate, Parts, Queue, Rows, World
from valmatch.rule_sets.table import (
    Aggregate,
    Attribute,
    Combined,
    Compared,
    Counted,
    Ordered,
    Party,
    Reached,
    Rule,
    Spread,
    Steps,
    Table,
    Within,
)

# Names of the numbers of `layout`, in their order.
FUNCTIONS = ("min", "max", "avg", "median", "sum", "stddev", "count", "flatten", "set_intersection")
PARTIES = {"min": t.LEAST, "max": t.GREATEST, "avg": t.MEAN, "sum": t.TOTAL}
OPERATORS = {"and": t.AND, "or": t.OR, "xor": t.XOR, "not": t.NOT}


class Numbers(dict[str, float]):
    """Numbers of texts, each given when it is first asked for."""

    def __missing__(self, text: str) -> float:
        self[text] = float(len(self))
        return self[text]


class RuleArrays:
    """The arrays of the rules of a table, and of the sizes of its teams."""

    def __init__(self, table: Table, texts: Numbers) -> None:
        self.table, self._texts = table, texts
        self.listed: list[Aggregate] = []  # what the aggregates are
        self._links: list[int] = []
        self._steps: list[list[tuple[float, int, int]]] = []
        self.rules = np.zeros(len(table.rules), t.RULE)
        for record, rule in zip(self.rules, table.rules, strict=True):
            self._fill(record, rule)
        sizes = [(self._stepped(a.least), self._stepped(a.most), a.largest) for a in table.teams]
        self.teams = np.array(sizes, t.TEAM)
        self.aggregates = np.zeros(len(self.listed), t.AGGREGATE)
        for record, measure in zip(self.aggregates, self.listed, strict=True):
            record["first_team"], record["teams"] = self.linked(measure.teams)
            record["grouped"], record["of_teams"] = measure.grouped, measure.source == "teams"
            record["source"] = len(table.attributes) if measure.source == "ids" else t.NONE
            if isinstance(measure.source, int):
                record["source"] = measure.source
                record["lists"] = table.attributes[measure.source].kind == "texts"
            functions = [FUNCTIONS.index(name) for name in measure.functions]
            record["first_function"], record["functions"] = self.linked(functions)
        self.steps = np.array(self._steps, t.STEP).reshape(-1, len(table.waits) + 1)

    @property
    def links(self) -> Ints:
        """What rules and aggregates refer to."""
        return np.array(self._links, np.int64)

    def linked(self, numbers: Sequence[int]) -> tuple[int, int]:
        """Return where some numbers are among the links, and how many they are."""
        self._links += numbers
        return len(self._links) - len(numbers), len(numbers)

    def _aggregate(self, aggregate: Aggregate) -> int:
        """Return the number of an aggregate."""
        if aggregate not in self.listed:
            self.listed.append(aggregate)
        return self.listed.index(aggregate)

    def _stepped(self, steps: object) -> int:
        """Return the row of a step function: what holds at each age of the table."""
        if not isinstance(steps, Steps):
            return t.NONE
        entries = []
        for number, value in enumerate(steps.values):
            if isinstance(value, Aggregate):
                entries.append((0.0, self._aggregate(value), number))
            else:
                plain = self._texts[value] if isinstance(value, str) else value
                entries.append((plain, t.NONE, number))
        ages = (-np.inf, *self.table.waits)
        self._steps.append([entries[bisect_right(steps.waits, age)] for age in ages])
        return len(self._steps) - 1

    def _fill(self, record: Any, rule: Rule) -> None:  # noqa: ANN401
        """Write a rule down."""
        predicate = rule.predicate
        record["kind"], record["alone"] = KINDS.index(type(predicate)), rule.alone
        measures = [self._aggregate(measure) for measure in getattr(predicate, "measures", ())]
        record["first_measure"], record["measures"] = self.linked(measures)
        for key in ("least", "most", "spread", "reference"):
            record[key] = self._stepped(getattr(predicate, key, None))
        record["operation"] = operation_of(predicate)
        record["attribute"] = getattr(predicate, "attribute", t.NONE)
        program = predicate.program if isinstance(predicate, Combined) else ()
        parts = [OPERATORS[part] if isinstance(part, str) else part for part in program]
        record["first_part"], record["parts"] = self.linked(parts)
        record["unknown"] = rule.is_open
        counts_holders = isinstance(predicate, Counted) and predicate.counts == "holders"
        record["final"] = rule.is_open or bool(program) or not rule.alone or counts_holders

    def measures(self, record: np.void) -> Records:
        """Return the aggregates that a rule measures."""
        first = record["first_measure"]
        return self.aggregates[self.links[first : first + record["measures"]]]

    def referred(self, record: np.void) -> Records:
        """Return the aggregates that a rule refers to, at whatever age."""
        if record["reference"] == t.NONE:
            return self.aggregates[:0]
        numbers = np.unique(self.steps[record["reference"]]["aggregate"])
        return cast(Records, self.aggregates[numbers[numbers != t.NONE]])


# Players and tickets.


def _numbers(values: Values, texts: Numbers) -> Floats:
    """Return numbers of players, or those of their texts; NaN for none."""
    if values.dtype != object:
        return values
    return np.array([np.nan if text is None else texts[text] for text in values.tolist()])


class TicketArrays:
    """The arrays of a table of tickets: what players have as numbers, and what tickets do."""

    def __init__(self, rules: RuleArrays, tickets: Tickets, texts: Numbers) -> None:
        self._tickets, self._table = tickets, rules.table
        self.regions, table = len(tickets.regions), rules.table
        self.players = int(tickets.sizes.sum())
        # of each attribute what players have, with its default
        self._attributes = [self._values_of(attribute) for attribute in table.attributes]
        self.cells = np.zeros((len(self._attributes) + 1, self.players), t.CELL)
        items, first = [np.empty(0)], 0
        for cell, values, attribute in zip(
            self.cells, self._attributes, table.attributes, strict=False
        ):
            cell["value"] = np.nan
            if attribute.kind == "texts":
                lists = [texts_of or () for texts_of in values.tolist()]
                lengths = np.array(list(map(len, lists)), np.int64)
                cell["end"] = first + np.cumsum(lengths)
                cell["first"] = cell["end"] - lengths
                items.append(np.array([texts[text] for inner in lists for text in inner]))
                first += items[-1].size
            elif attribute.kind != "map":
                cell["value"] = _numbers(values, texts)
        every = np.arange(len(texts), len(texts) + self.players)
        self.cells[-1]["value"] = every if tickets.ids is None else _numbers(tickets.ids, texts)
        self.list_items = np.concatenate(items)
        # columns of values, and what stands for a ticket in each
        self.columns: list[Floats] = []
        self.parties: list[int] = []
        for record, rule in zip(rules.rules, table.rules, strict=True):
            record["row"], predicate = len(self.columns), rule.predicate
            if isinstance(predicate, Spread):
                numbers = self.cells[predicate.attribute]["value"]
                if table.attributes[predicate.attribute].kind == "number":
                    self._add_party(numbers, predicate.party)
                else:
                    least, most = (tickets.of_party(numbers, party) for party in ("min", "max"))
                    self._add(np.where(least == most, least, np.nan), t.SAME)
            elif isinstance(predicate, Reached):  # for each region, in order
                high: Party = "max" if predicate.each else predicate.party
                low: Party = "min" if predicate.each else predicate.party
                for region in np.argsort(np.array(tickets.regions, np.str_), kind="stable"):
                    for party in (high, low, "sum", "min"):
                        self._add_party(tickets.latencies[:, region], party)
        self.sorts = np.array([self._add_sort(rule) for rule in table.sorts], t.SORT)
        batches = [self._add_batch(number, texts) for number in table.search.batch_order]
        self.batches = np.array(batches, np.int64)
        self.records = np.zeros(tickets.sizes.size, t.TICKET)
        self.records["time"], self.records["cancel"] = tickets.times, tickets.cancels
        self.records["first"], self.records["players"] = tickets.firsts, tickets.sizes
        self.records["matchable"] = 1
        for attribute in table.attributes:
            self.records["matchable"][tickets.lacks(attribute)] = 0
        self.records["answers"] = tickets.answers.shape[1]
        self.records["first_answer"] = tickets.answers.shape[1] * np.arange(self.records.size)
        self.home = np.full(self.players, t.NONE)
        if tickets.teams is not None:
            self.home = tickets.teams
            self.records["running"] = self.home[tickets.firsts] != t.NONE
        parts = self._parts()
        self.teams = np.array([(team, people.size) for _, team, people in parts], t.PART)
        # rows of tallies: tickets, then parts of those of games that run; the ticket of each
        self.of_row = np.append(np.arange(tickets.sizes.size), [ticket for ticket, _, _ in parts])
        self.of_row = self.of_row.astype(np.int64)
        everybody = np.arange(self.players)
        self._players = np.concatenate([everybody, *(people for _, _, people in parts)])
        sizes = np.append(tickets.sizes, self.teams["players"])
        self._firsts = np.cumsum(sizes) - sizes

    def _values_of(self, attribute: Attribute) -> Values:
        """Return what players have of an attribute, or its default."""
        values = self._tickets.values.get(attribute.name)
        default = values_of(attribute.kind, [attribute.default])
        if values is None:
            return np.repeat(default, self.players)
        return values if attribute.default is None else np.where(has_value(values), values, default)

    def by_row(self, values: NDArray[np.generic], function: np.ufunc) -> NDArray[np.generic]:
        """Return for each row a function of the values of its players."""
        if not self._firsts.size:
            return values[:0]
        return cast("NDArray[np.generic]", function.reduceat(values[self._players], self._firsts))

    def _parts(self) -> list[tuple[int, int, Ints]]:
        """Return of each team of a ticket of a game that runs the ticket, the team and players."""
        parts: list[tuple[int, int, Ints]] = []
        for number in np.flatnonzero(self.records["running"]).tolist():
            record = self.records[number]
            players = np.arange(record["first"], record["first"] + record["players"])
            homes = self.home[players]
            teams = dict.fromkeys(homes.tolist())
            record["first_part"], record["parts"] = len(parts), len(teams)
            parts += [(number, team, players[homes == team]) for team in teams]
        return parts

    @property
    def values(self) -> Floats:
        """The columns of values side by side."""
        shape = len(self.columns), self._tickets.sizes.size
        return np.ascontiguousarray(np.array(self.columns, np.float64).reshape(shape).T)

    def _add(self, column: Floats, party: int) -> int:
        """Add a column of values; return its number."""
        self.columns.append(column)
        self.parties.append(party)
        return len(self.columns) - 1

    def _add_party(self, players: Floats, party: Party | Literal["sum"]) -> int:
        """Add a column of what stands for the players of each ticket."""
        return self._add(self._tickets.of_party(players, party), PARTIES[party])

    def _add_sort(self, rule: Ordered) -> tuple[bool, bool, int, int]:
        """Add values of tickets by key, and the key that counts for each as anchor: the best."""
        values, first = self._attributes[rule.attribute], len(self.columns)
        if rule.key:
            maps = [numbers or {} for numbers in values.tolist()]
            for numbers in by_name(maps, sorted({key for keys in maps for key in keys})).T:
                self._add(self._of_key(numbers, rule.party), t.FIRST)
        else:
            self._add_party(self.cells[rule.attribute]["value"], rule.party)
        keys = len(self.columns) - first
        every = np.array(self.columns[first:]).reshape(keys, self._tickets.sizes.size)
        signed = np.where(np.isnan(every), np.inf, -every if rule.key == "highest" else every)
        best = signed.argmin(axis=0) if keys else t.NONE
        none = np.isnan(every).all(axis=0)
        self._add(np.where(none, t.NONE, best) * 1.0, t.FIRST if rule.key else t.LEAST)
        return rule.from_anchor, rule.descending, first, keys

    def _of_key(self, numbers: Floats, party: Party) -> Floats:
        """Return what stands for those players of each ticket who have a key."""
        gone, of_party = np.isnan(numbers), self._tickets.of_party
        if party != "avg":
            far = np.inf if party == "min" else -np.inf
            values = of_party(np.where(gone, far, numbers), party)
            return np.where(np.isinf(values), np.nan, values)
        counts = of_party(~gone * 1.0, "sum")
        sums = of_party(np.where(gone, 0.0, numbers), "sum")
        return sums / np.where(counts > 0.0, counts, np.nan)

    def _add_batch(self, attribute: int, texts: Numbers) -> int:
        """Add by what the pool is sorted before it is cut: averages, or places of texts."""
        numbers = self.cells[attribute]["value"]
        if self._table.attributes[attribute].kind == "number":
            return self._add_party(numbers, "avg")
        places = np.argsort(np.argsort(np.array(list(texts), np.str_), kind="stable"))
        codes = np.where(np.isnan(numbers), -1, numbers).astype(np.int64)
        return self._add_party(np.append(places, 0)[codes] * 1.0, "min")


# Tallies: which rules they judge, and what each ticket adds to them.

BITS = 64  # of a set: most regions that tallies tell apart
EXACT = 2.0**31  # up to this size, multiples of 1/1024 have sums that are exact, in whatever order
HUGE = 1e200  # numbers from here on may have sums that are infinite

ROUNDING = 1e-10
"""More than sums of 200 numbers differ by in another order, in units of the largest."""


class Sources(NamedTuple):
    """What columns of rows are made of."""

    parties: Ints  # of each column of values what stands for a ticket
    stats: Ints  # of each column the column of values that it is made of; NONE: it is of players
    marks: Ints  # of each column the first of the columns of values that it is made of
    limits: Floats  # milliseconds within which marks are


class Tallies:
    """The columns of tallies, each made when it is first asked for; their rows are tickets."""

    def __init__(self, rules: RuleArrays, tickets: TicketArrays) -> None:
        self.table, self.rules, self.tickets = rules.table, rules, tickets
        self.numbers: dict[object, int] = {}
        self._stats: list[Records] = []
        self.largest: list[float] = []  # of each column of stats; 0 where sums are exact
        self._spreads: list[int] = []  # of each column of stats that of values, or NONE
        self._marks: list[Words] = []
        self._limits: list[tuple[int, float]] = []  # of each column of marks
        for record, aggregate in zip(rules.aggregates, rules.listed, strict=True):
            self._describe(record, aggregate)

    @property
    def sources(self) -> Sources:
        """What the columns are made of."""
        return Sources(
            np.array(self.tickets.parties, np.int64),
            np.array(self._spreads, np.int64),
            np.array([row for row, _ in self._limits], np.int64),
            np.array([limit for _, limit in self._limits], np.float64),
        )

    def arrays(self) -> tuple[Records, Words]:
        """Return the columns of stats and of marks side by side."""
        rows = self.tickets.of_row.size
        stats = np.zeros((rows, len(self._stats)), t.STAT)
        marks = np.zeros((rows, len(self._marks)), np.uint64)
        for k, stat in enumerate(self._stats):
            stats[:, k] = stat
        for k, mark in enumerate(self._marks):
            marks[:, k] = mark
        return stats, marks

    def _stat(self, key: object, values: Floats, spread: int = t.NONE) -> int:
        """Return the column of some values of players; or of tickets, from a column of values."""
        if key in self.numbers:
            return self.numbers[key]
        tickets = self.tickets
        record = np.zeros(tickets.of_row.size, t.STAT)
        record["players"] = tickets.by_row(np.ones(tickets.players, np.int64), np.add)
        if spread != t.NONE:
            record["low"] = record["high"] = values[tickets.of_row]
        else:
            for name, function in (("low", np.minimum), ("high", np.maximum), ("total", np.add)):
                record[name] = tickets.by_row(values, function)
        largest = float(np.abs(values[~np.isnan(values)]).max(initial=0.0))
        exact = largest <= EXACT and not np.any(values * 1024.0 % 1.0 > 0.0)
        self.numbers[key] = len(self._stats)
        self._stats.append(record)
        self.largest.append(0.0 if exact else largest)
        self._spreads.append(spread)
        return self.numbers[key]

    def _spread(self, row: int) -> int:
        """Return the column of the values of tickets that a rule SPREAD compares."""
        return self._stat(("spread", row), self.tickets.columns[row], row)

    def _regions(self, row: int, limits: Sequence[float]) -> int:
        """Return the first column of sets of regions within limits, NONE if there are too many."""
        regions, first = self.tickets.regions, row + t.PING_HIGH
        if regions > BITS:
            return t.NONE
        pings = np.array(self.tickets.columns[first : first + t.REGION * regions : t.REGION])
        bits = np.uint64(1) << np.arange(regions, dtype=np.uint64)[:, np.newaxis]
        for limit in limits:
            self._limits.append((row, limit))
            within = pings.reshape(regions, self.tickets.records.size) <= limit
            sets = np.bitwise_or.reduce(np.where(within, bits, np.uint64(0)), axis=0, initial=0)
            self._marks.append(sets[self.tickets.of_row].astype(np.uint64))
        return len(self._marks) - len(limits)

    def _describe(self, record: np.void, aggregate: Aggregate) -> None:
        """Note which column an aggregate is of and how it is got from it, where tallies have it."""
        record["column"], record["inner"] = t.NONE, t.NONE
        source, functions = aggregate.source, list(aggregate.functions)
        if not isinstance(source, int):
            return
        shape = t.BY_TEAM if aggregate.grouped else t.AS_ONE
        if functions and functions[0] == "flatten":
            shape = t.AS_ONE
            del functions[0]
        kind = self.table.attributes[source].kind
        most = int(kind == "number")
        if (
            kind not in ("number", "text")
            or len(functions) > most
            or set(functions) - {"min", "max", "avg"}
        ):
            return
        record["shape"] = shape
        record["column"] = self._stat(("value", source), self.tickets.cells[source]["value"])
        if functions:
            record["inner"] = FUNCTIONS.index(functions[0])
        if "avg" in functions and self.largest[record["column"]] > HUGE:
            record["column"] = t.NONE
        teams = len(self.table.teams)
        of_all = shape == t.AS_ONE and len(set(aggregate.teams)) == teams
        tallied = [teams] if of_all else list(aggregate.teams)
        record["first_place"], record["places"] = self.rules.linked(tallied)

    def partition_column(self, record: np.void, rule: Rule) -> int | None:
        """Return the column in which a rule refuses tickets that differ on whatever teams."""
        predicate, attributes = rule.predicate, self.table.attributes
        if not rule.alone:
            return None
        if isinstance(predicate, Spread) and attributes[predicate.attribute].kind == "text":
            return self._spread(int(record["row"]))
        is_equality = isinstance(predicate, Compared) and predicate.operation == "="
        if not is_equality or record["reference"] != t.NONE or record["measures"] != 1:
            return None
        (measure,) = self.rules.measures(record)
        plain = measure["column"] != t.NONE and measure["inner"] == t.NONE
        return int(measure["column"]) if plain and self._is_of_all(measure) else None

    def _is_of_all(self, aggregate: np.void) -> bool:
        """Return whether an aggregate is of all teams as if they were one."""
        team = self.rules.links[int(aggregate["first_place"])]
        return bool(aggregate["shape"] == t.AS_ONE and team == len(self.table.teams))

    def is_common(self, record: np.void) -> bool:
        """Return whether the verdict on a rule is the same on whatever team a ticket is."""
        every = [*self.rules.measures(record), *self.rules.referred(record)]
        by_ticket = record["kind"] in (t.REACHED, t.SPREAD)
        return by_ticket or all(self._is_of_all(aggregate) for aggregate in every)

    def judge(self, record: np.void, rule: Rule) -> bool:
        """Return whether tallies may give the verdict on a rule; note what they need for it."""
        predicate = rule.predicate
        if isinstance(predicate, Reached):
            limits = predicate.most.values if predicate.most else (np.inf,)
            record["column"] = self._regions(int(record["row"]), cast("Sequence[float]", limits))
            record["partly"] = predicate.spread is not None
            return bool(record["column"] != t.NONE)
        if isinstance(predicate, Spread):
            if self.table.attributes[predicate.attribute].kind != "number":
                return False
            record["column"] = self._spread(int(record["row"]))
            return predicate.most is not None
        if not isinstance(predicate, Within | Compared):
            return False
        measures, referred = self.rules.measures(record), self.rules.referred(record)
        single = (referred["shape"] != t.BY_TEAM) & (referred["inner"] != t.NONE)
        every = np.concatenate([measures, referred])
        if (every["column"] == t.NONE).any() or not single.all():
            return False
        raw = measures["inner"] == t.NONE
        if isinstance(predicate, Compared) and predicate.reference is None:
            return predicate.operation == "=" and bool(raw.all())
        if isinstance(predicate, Within):
            apart = predicate.least is not None
        else:
            apart = predicate.operation == "!="
        record["partly"] = raw.any() and apart
        averages = every[every["inner"] == t.AVG]
        largest = [self.largest[column] for column in averages["column"].tolist()]
        record["slack"] = ROUNDING * max(largest, default=0.0)
        return True


def order_rules(
    rules: RuleArrays, tallies: Tallies, counted: bool, exhaustive: bool
) -> tuple[Ints, int, int, list[int]]:
    """Return in what order rules judge a match that is not complete, and what divides the pool."""
    # Of the order also the ends of its first parts: rules that judge alike on whatever team a
    # ticket is, and those that tallies judge, which is noted in the rules.
    #
    # Tickets are divided by all rules that want a value to be the same. Where verdicts are
    # counted they are not, as every rule is judged of every ticket, in the order of the table.
    common, of_teams, rest, columns = list[int](), list[int](), list[int](), list[int]()
    for number, (record, rule) in enumerate(zip(rules.rules, rules.table.rules, strict=True)):
        divides = not exhaustive and not counted
        column = tallies.partition_column(record, rule) if divides else None
        record["tallied"] = not record["unknown"] and tallies.judge(record, rule)
        if column is not None:
            columns.append(column)
        elif record["tallied"] and rule.alone:
            (common if tallies.is_common(record) else of_teams).append(number)
        elif not rule.alone or not (record["unknown"] or record["kind"] == t.ORDERED):
            rest.append(number)
    if counted:
        order = np.arange(rules.rules.size)
        first = next((k for k in order.tolist() if k not in common), order.size)
        return order, first, 0, columns
    common.sort(key=lambda number: rules.rules[number]["kind"] not in (t.REACHED, t.SPREAD))
    every = np.array([*common, *of_teams, *rest], np.int64)
    return every, len(common), len(common) + len(of_teams), columns


def arrays_of(
    table: Table, tickets: Tickets, service: Service, search: Search, counted: bool
) -> tuple[World, Sources]:
    """Return the arrays of a world, and what tallies are made of in it."""
    texts, n = Numbers(), tickets.sizes.size
    rules = RuleArrays(table, texts)
    made = TicketArrays(rules, tickets, texts)
    tallies = Tallies(rules, made)
    exhaustive = search == "exhaustive"
    order, common, swift, divides = order_rules(rules, tallies, counted, exhaustive)
    stats, marks = tallies.arrays()
    same = stats[:n, divides]
    if same.size:
        numbers = np.unique(same["low"], axis=0, return_inverse=True)[1]
        made.records["partition"] = numbers.reshape(-1)
        made.records["partition"][(same["low"] != same["high"]).any(axis=1)] = t.NONE
    options = np.zeros(1, t.OPTIONS)
    options["oldest"], options["exhaustive"], options["counted"] = table.oldest, exhaustive, counted
    options["batch_size"], options["passes"] = service.batch_size or 0, service.passes or 0
    options["sorted"] = table.search.batches == "sorted"
    options["backfill"] = ("normal", "high", "low").index(table.search.backfill)
    options["timeout"], options["horizon"] = service.timeout, service.horizon
    options["review"], options["acceptance"] = service.review or 0.0, service.acceptance or 0.0
    options["foresight"] = np.inf if service.foresight is None else service.foresight
    options["common"], options["swift"], options["regions"] = common, swift, made.regions
    seconds = tickets.answers.ravel()
    answers = np.zeros(seconds.size, t.ANSWER)
    answers["seconds"] = np.where(seconds < 0.0, -1.0 - seconds, seconds)
    answers["seconds"][np.isinf(seconds)] = 0.0
    answers["accepts"] = seconds >= 0.0
    world = World(
        options=options,
        rules=rules.rules,
        aggregates=rules.aggregates,
        links=rules.links,
        steps=rules.steps,
        teams=rules.teams,
        order=order,
        sorts=made.sorts,
        batches=made.batches,
        waits=np.array(table.waits, np.float64),
        cells=made.cells,
        list_items=made.list_items,
        home=made.home,
        rows=Rows(made.records, stats[:n], marks[:n], made.values),
        parts=Parts(made.teams, stats[n:], marks[n:]),
        answers=answers,
        rng_key=tickets.rng_key,
    )
    return world, tallies.sources


SAVED_TICKETS = 2**22  # most tickets of searches that are saved


def queue_of(world: World) -> Queue:
    """Return an empty queue with room for a world."""
    # Each match that has been proposed, and that has ended, has ended a ticket, so that there are
    # as many matches as tickets at most. What is never used takes no memory.
    tickets, most = world.rows.tickets.size, int(world.teams["ever"].sum())
    searches, room = max(min(tickets, SAVED_TICKETS // (most + 1)), 1), max(tickets, 1)
    # A proposal that fails, too, ends a ticket: one that has not accepted, of a match full at most.
    proposed = room * (1 + min(most, room)) if world.options[0]["acceptance"] else room
    cells, teams, rules = world.cells, world.teams.size, world.rules
    lists, longest = most + teams + 1, int((cells["end"] - cells["first"]).max(initial=1))
    state, saved = np.zeros(1, t.STATE), np.zeros(searches, t.SAVED_SEARCH)
    state["next_end"], state["now"], saved["anchor"] = np.inf, -np.inf, t.NONE
    return Queue(
        state=state,
        slots=np.zeros(tickets, t.SLOT),
        lists=np.zeros((7, room), np.int64),
        candidate=Candidate(
            current=np.zeros(1, t.CURRENT),
            tried=np.zeros((7, most + 1), np.int64),
            sizes=np.zeros(teams, np.int64),
            players=np.zeros((teams, int(world.teams["ever"].max(initial=1))), np.int64),
            judged=np.zeros(max(rules.size, int(rules["parts"].max(initial=0))), t.JUDGED),
            size=np.zeros(2, t.NESTED),
            items=np.zeros((2, lists * (longest + 1))),
            lists=np.zeros((2, lists), t.LIST),
            stats=np.zeros((world.rows.stats.shape[1], teams + 1), t.STAT),
            marks=np.zeros(world.rows.marks.shape[1], np.uint64),
        ),
        order=world.order.copy(),
        filling=np.arange(world.teams.size),
        partitions=np.zeros(world.rows.tickets["partition"].max(initial=0) + 1, t.PARTITION),
        saved=saved,
        saved_tickets=np.zeros((searches, most + 1), t.SAVED_TICKET),
        matches=np.zeros(room, t.MATCH),
        matched=np.zeros((2, proposed), np.int64),
        # At changes: a ticket joins, passes a wait, or comes back as one of the proposals fails.
        reviews=np.zeros(0 if world.options[0]["review"] else tickets * (world.waits.size + 2) + 1),
    )
