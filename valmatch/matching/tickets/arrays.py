"""The kernels' arrays of a world, made of a table of rules, a table of tickets and a service."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from itertools import takewhile
from typing import Any, cast

import numpy as np

from valmatch.kernels.arrays import Floats, Ints, Records
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
from valmatch.matching.tickets.judging import note_tickets
from valmatch.matching.tickets.layout import Candidate, Options, Queue, Rows, World
from valmatch.rule_sets.table import Aggregate, Attribute, Ordered, Rule, Steps, Table
from valmatch.rule_sets.types import (
    OF_PREDICATE,
    Combined,
    Compared,
    Counted,
    Reached,
    Spread,
    Within,
)

# Names of the numbers of `layout`, in their order.
KINDS = tuple(OF_PREDICATE)
COUNTS = ("common", "holders", "overlap")
OPERATIONS = ("<", "<=", "=", "!=", ">", ">=")
FUNCTIONS = ("min", "max", "avg", "median", "sum", "stddev", "count", "flatten", "set_intersection")
OPERATORS = {"and": t.AND, "or": t.OR, "xor": t.XOR, "not": t.NOT}

BITS = 64  # of a set: most regions that tallies tell apart
EXACT = 2.0**31  # up to this size, multiples of 1/1024 have sums that are exact, in whatever order
HUGE = 1e200  # numbers from here on may have sums that are infinite

ROUNDING = 1e-10
"""More than sums of 200 numbers differ by in another order, in units of the largest."""


class RuleArrays:
    """The arrays of the rules of a table, and of the sizes of its teams."""

    def __init__(self, table: Table, texts: dict[str, float]) -> None:
        self.table, self.texts = table, texts
        self.listed: dict[Aggregate, int] = {}  # the aggregates, and their numbers
        self.links: list[int] = []  # what rules and aggregates refer to
        self._steps: list[list[tuple[float, int, int]]] = []
        self.rules = np.zeros(len(table.rules), t.RULE)
        self._ages = (-np.inf, *table.waits)
        for record, rule in zip(self.rules, table.rules, strict=True):
            self._fill(record, rule)
        sizes = [
            [*((team.least.at(age), team.most.at(age)) for age in self._ages), (0, team.largest)]
            for team in table.teams
        ]
        self.teams = np.array(sizes, t.TEAM).reshape(-1, len(self._ages) + 1)
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
        self.steps = np.array(self._steps, t.STEP).reshape(-1, len(self._ages))

    def linked(self, numbers: Sequence[int]) -> tuple[int, int]:
        """Return where some numbers are among the links, and how many they are."""
        self.links += numbers
        return len(self.links) - len(numbers), len(numbers)

    def _stepped(self, steps: object) -> int:
        """Return the row of a step function: what holds at each age of the table."""
        if not isinstance(steps, Steps):
            return t.NONE
        entries = []
        for number, value in enumerate(steps.values):
            if isinstance(value, Aggregate):
                entries.append((0.0, self.listed.setdefault(value, len(self.listed)), number))
            else:
                plain = self.texts[value] if isinstance(value, str) else value
                entries.append((plain, t.NONE, number))
        self._steps.append([entries[bisect_right(steps.waits, age)] for age in self._ages])
        return len(self._steps) - 1

    def _fill(self, record: Any, rule: Rule) -> None:  # noqa: ANN401
        """Write a rule down."""
        predicate = rule.predicate
        record["kind"], record["alone"] = KINDS.index(type(predicate)), rule.alone
        listed: tuple[Aggregate, ...] = getattr(predicate, "measures", ())
        measures = [self.listed.setdefault(each, len(self.listed)) for each in listed]
        record["first_measure"], record["measures"] = self.linked(measures)
        for key in ("least", "most", "spread", "reference"):
            record[key] = self._stepped(getattr(predicate, key, None))
        if isinstance(predicate, Compared):
            record["operation"] = OPERATIONS.index(predicate.operation)
        elif isinstance(predicate, Counted):
            record["operation"] = COUNTS.index(predicate.counts)
        elif isinstance(predicate, Reached):
            record["operation"] = predicate.reference == "min"
        program = predicate.program if isinstance(predicate, Combined) else ()
        parts = [OPERATORS[part] if isinstance(part, str) else part for part in program]
        record["first_part"], record["parts"] = self.linked(parts)
        record["unknown"] = rule.is_open
        holders = isinstance(predicate, Counted) and predicate.counts == "holders"
        alike = isinstance(predicate, Within | Compared | Counted | Reached | Spread | Ordered)
        record["final"] = rule.is_open or not (rule.alone and alike) or holders

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


class TicketArrays:
    """What players have as numbers, and which columns kernels make of it for tickets."""

    def __init__(self, rules: RuleArrays, tickets: Tickets) -> None:
        self.rules, self.table, self.tickets = rules, rules.table, tickets
        self.players, self.list_ends, self.items = int(tickets.sizes.sum()), [0], list[float]()
        # of each attribute what players have, with its default
        self._attributes = [self._values_of(attribute) for attribute in self.table.attributes]
        cells = zip(self._attributes, self.table.attributes, strict=True)
        # (rows of (players,)): attributes, ids, regions by name, and what sorts and batches look at
        self.cells = [self._numbers(values, attribute.kind) for values, attribute in cells]
        every = len(rules.texts) + np.arange(self.players, dtype=np.float64)
        self.cells.append(every if tickets.ids is None else self._numbers(tickets.ids, "text"))
        self._region, self.regions = len(self.cells), len(tickets.regions)
        named = sorted(range(self.regions), key=tickets.regions.__getitem__)
        self.cells += list(tickets.latencies.T[named])
        self.values = list[tuple[int, int, bool]]()  # columns, of `layout.VALUE`
        self.stats = list[tuple[int, int]]()  # of `layout.TALLIED`
        self._largest = list[float]()  # value of each of players; 0 where all sums are exact
        self.limits = list[tuple[int, float]]()  # of `layout.LIMIT`
        for record, rule in zip(rules.rules, self.table.rules, strict=True):
            record["row"], predicate = len(self.values), rule.predicate
            if isinstance(predicate, Spread):
                text = self.table.attributes[predicate.attribute].kind == "text"
                self._add(predicate.attribute, t.SAME if text else FUNCTIONS.index(predicate.party))
            elif isinstance(predicate, Reached):
                party = FUNCTIONS.index(predicate.party)
                high, low = (t.MAX, t.MIN) if predicate.each else (party, party)
                for region in range(self._region, self._region + self.regions):
                    for function in (high, low, t.SUM, t.MIN):
                        self._add(region, function)
        self.sorts = np.array([self._sort(rule) for rule in self.table.sorts], t.SORT)
        self.batches = np.array([self._batch(k) for k in self.table.search.batch_order], np.int64)
        for record, aggregate in zip(rules.aggregates, rules.listed, strict=True):
            self._describe(record, aggregate)

    def _values_of(self, attribute: Attribute) -> Values:
        """Return what players have of an attribute, or its default."""
        values = self.tickets.values.get(attribute.name)
        default = values_of(attribute.kind, [attribute.default])
        if values is None:
            return np.repeat(default, self.players)
        return values if attribute.default is None else np.where(has_value(values), values, default)

    def _numbers(self, values: Values, kind: str) -> Floats:
        """Return numbers of players, those of their texts, or of their lists; NaN for none."""
        texts = self.rules.texts
        if kind in ("number", "map"):
            return values if kind == "number" else np.full(self.players, np.nan)
        if kind == "text":
            return np.array([np.nan if text is None else texts[text] for text in values.tolist()])
        first = len(self.list_ends) - 1
        for inner in values.tolist():
            self.items += [texts[text] for text in inner or ()]
            self.list_ends.append(len(self.items))
        return first + np.arange(self.players, dtype=np.float64)

    def _add(self, row: int, party: int, partly: bool = False) -> int:
        """Add a column of what stands for the players of each ticket; return its number."""
        self.values.append((row, party, partly))
        return len(self.values) - 1

    def _sort(self, rule: Ordered) -> tuple[bool, bool, bool, int, int]:
        """Add the values of tickets that a sort looks at, by key."""
        first, party = len(self.values), FUNCTIONS.index(rule.party)
        if rule.key:
            maps = [numbers or {} for numbers in self._attributes[rule.attribute].tolist()]
            for numbers in by_name(maps, sorted({key for keys in maps for key in keys})).T:
                self.cells.append(numbers)
                self._add(len(self.cells) - 1, party, True)
        else:
            self._add(rule.attribute, party)
        highest = rule.key == "highest"
        return rule.from_anchor, rule.descending, highest, first, len(self.values) - first

    def _batch(self, attribute: int) -> int:
        """Add by what the pool is sorted before it is cut: averages, or least places of texts."""
        if self.table.attributes[attribute].kind == "number":
            return self._add(attribute, t.AVG)
        places = np.argsort(np.argsort(np.array(list(self.rules.texts), np.str_), kind="stable"))
        numbers = self.cells[attribute]
        codes = np.where(np.isnan(numbers), -1, numbers).astype(np.int64)
        self.cells.append(np.append(places, 0)[codes] * 1.0)
        return self._add(len(self.cells) - 1, t.MIN)

    # Tallies: which rules they judge, and the columns that they have for it.

    def _stat(self, row: int, value: int) -> int:
        """Return the column of a row of cells, or of a column of values; the other one is NONE."""
        if (row, value) not in self.stats:
            self.stats.append((row, value))
            values = self.cells[row]
            largest = float(np.abs(values[~np.isnan(values)]).max(initial=0.0))
            exact = largest <= EXACT and not np.any(values * 1024.0 % 1.0 > 0.0)
            self._largest.append(0.0 if exact else largest)
        return self.stats.index((row, value))

    def _describe(self, record: np.void, aggregate: Aggregate) -> None:
        """Note which column an aggregate is of and how it is got from it, where tallies have it."""
        record["column"], record["inner"] = t.NONE, t.NONE
        source, functions = aggregate.source, list(aggregate.functions)
        kind = self.table.attributes[source].kind if isinstance(source, int) else ""
        record["shape"] = t.BY_TEAM if aggregate.grouped else t.AS_ONE
        if functions[:1] == ["flatten"]:
            record["shape"] = t.AS_ONE
            del functions[0]
        plain = kind == "text" and not functions
        if not plain and not (kind == "number" and functions in ([], ["min"], ["max"], ["avg"])):
            return
        record["column"] = self._stat(cast(int, source), t.NONE)
        if functions:
            record["inner"] = FUNCTIONS.index(functions[0])
        if functions == ["avg"] and self._largest[record["column"]] > HUGE:
            record["column"] = t.NONE
        teams = len(self.table.teams)
        of_all = record["shape"] == t.AS_ONE and len(set(aggregate.teams)) == teams
        tallied = [teams] if of_all else list(aggregate.teams)
        record["first_place"], record["places"] = self.rules.linked(tallied)

    def _is_of_all(self, aggregate: np.void) -> bool:
        """Return whether an aggregate is of all teams as if they were one."""
        team = self.rules.links[int(aggregate["first_place"])]
        return bool(aggregate["shape"] == t.AS_ONE and team == len(self.table.teams))

    def _partition_column(self, record: np.void, rule: Rule) -> int:
        """Return the column in which a rule refuses tickets that differ, on whatever teams."""
        predicate = rule.predicate
        if isinstance(predicate, Spread) and rule.alone:
            text = self.table.attributes[predicate.attribute].kind == "text"
            return self._stat(t.NONE, int(record["row"])) if text else t.NONE
        measures = self.rules.measures(record)
        is_equality = isinstance(predicate, Compared) and predicate.operation == "="
        is_equality = is_equality and rule.alone and record["reference"] == t.NONE
        if not is_equality or measures.size != 1 or measures["inner"][0] != t.NONE:
            return t.NONE
        tallied = measures["column"][0] != t.NONE and self._is_of_all(measures[0])
        return int(measures["column"][0]) if tallied else t.NONE

    def _is_tallied(self, record: np.void, rule: Rule) -> bool:
        """Return whether tallies may give the verdict on a rule; note what they need for it."""
        predicate = rule.predicate
        if isinstance(predicate, Reached):
            limits = predicate.most.values if predicate.most else (np.inf,)
            record["column"], record["partly"] = len(self.limits), predicate.spread is not None
            if self.regions <= BITS:
                self.limits += [(int(record["row"]), cast(float, limit)) for limit in limits]
            return self.regions <= BITS
        if isinstance(predicate, Spread):
            if self.table.attributes[predicate.attribute].kind != "number":
                return False
            record["column"] = self._stat(t.NONE, int(record["row"]))
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
        averages = every[every["inner"] == t.AVG]["column"].tolist()
        record["slack"] = ROUNDING * max((self._largest[k] for k in averages), default=0.0)
        return True

    def order_rules(self, counted: bool, exhaustive: bool) -> tuple[Ints, int, list[int]]:
        """Return in what order rules judge incomplete matches, and by what pools are divided."""
        # The first ones, as many as the number says, judge alike on whatever team a ticket is.
        # Tickets are divided by rules that want a value to be the same; not where verdicts are
        # counted, as every rule is then judged of every ticket, in the order of the table.
        records, groups, columns = self.rules.rules, dict[int, int](), list[int]()
        divides = not (exhaustive or counted)
        for number, (record, rule) in enumerate(zip(records, self.table.rules, strict=True)):
            column = self._partition_column(record, rule) if divides else t.NONE
            record["tallied"] = not record["unknown"] and self._is_tallied(record, rule)
            every = [*self.rules.measures(record), *self.rules.referred(record)]
            if column != t.NONE:
                columns.append(column)
            elif record["tallied"] and rule.alone:
                by_ticket = record["kind"] in (t.REACHED, t.SPREAD)
                groups[number] = 0 if by_ticket else 1 if all(map(self._is_of_all, every)) else 2
            elif not rule.alone or not (record["unknown"] or record["kind"] == t.ORDERED):
                groups[number] = 3
        order = range(records.size) if counted else sorted(groups, key=groups.__getitem__)
        common = [*takewhile(lambda number: groups.get(number, 0) < 2, order)]
        return np.array(order, np.int64), len(common), columns


def arrays_of(
    table: Table, tickets: Tickets, service: Service, search: Search, counted: bool
) -> World:
    """Return the arrays of a world."""
    texts: dict[str, float] = defaultdict(lambda: float(len(texts)))  # their numbers
    rules, n, exhaustive = RuleArrays(table, texts), tickets.sizes.size, search == "exhaustive"
    made = TicketArrays(rules, tickets)
    order, common, divides = made.order_rules(counted, exhaustive)
    options = Options(
        oldest=table.oldest,
        exhaustive=exhaustive,
        batch_size=service.batch_size or 0,
        sorted=table.search.batches == "sorted",
        backfill=("normal", "high", "low").index(table.search.backfill),
        passes=service.passes or 0,
        counted=counted,
        common=common,
        regions=made.regions,
        timeout=float(service.timeout),
        horizon=float(service.horizon),
        review=float(service.review or 0.0),
        acceptance=float(service.acceptance or 0.0),
        foresight=np.inf if service.foresight is None else float(service.foresight),
    )
    records, home = np.zeros(n, t.TICKET), tickets.teams
    records["time"], records["cancel"] = tickets.times, tickets.cancels
    records["first"], records["players"] = tickets.firsts, tickets.sizes
    records["matchable"], records["answers"] = 1, np.arange(n)
    for attribute in table.attributes:
        records["matchable"][tickets.lacks(attribute)] = 0
    if home is None:
        home = np.full(made.players, t.NONE)
    else:
        records["running"] = home[tickets.firsts] != t.NONE
    world = World(
        options=options,
        rules=rules.rules,
        aggregates=rules.aggregates,
        links=np.array(rules.links, np.int64),
        steps=rules.steps,
        teams=rules.teams,
        order=order,
        sorts=made.sorts,
        batches=made.batches,
        waits=np.array(table.waits, np.float64),
        cells=np.array(made.cells, np.float64).reshape(len(made.cells), made.players),
        list_items=np.array(made.items, np.float64),
        list_ends=np.array(made.list_ends, np.int64),
        home=home,
        values=np.array(made.values, t.VALUE),
        stats=np.array(made.stats, t.TALLIED),
        limits=np.array(made.limits, t.LIMIT),
        rows=Rows(
            records,
            np.zeros((n, len(made.stats)), t.STAT),
            np.zeros((n, len(made.limits)), np.uint64),
            np.zeros((n, len(made.values))),
        ),
        answers=tickets.answers,
        rng_key=tickets.rng_key,
    )
    note_tickets(0, n, world)
    same = world.rows.stats[:, divides]
    if same.size:
        numbers = np.unique(same["low"], axis=0, return_inverse=True)[1]
        records["partition"] = numbers.reshape(-1)
        records["partition"][(same["low"] != same["high"]).any(axis=1)] = t.NONE
    return world


SAVED_TICKETS = 2**22  # most tickets of searches that are saved


def queue_of(world: World) -> Queue:
    """Return an empty queue with room for a world."""
    # Each match that has been proposed has ended a ticket: there are as many as tickets at most.
    tickets, most = world.rows.tickets.size, int(world.teams["most"][:, t.NONE].sum())
    searches, room = max(min(tickets, SAVED_TICKETS // (most + 1)), 1), max(tickets, 1)
    proposed = room * (1 + min(most, room)) if world.options.acceptance else room
    teams, rules = len(world.teams), world.rules
    lists, longest = most + teams + 1, int(np.diff(world.list_ends).max(initial=1))
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
            players=np.zeros((teams, int(world.teams["most"].max(initial=1))), np.int64),
            judged=np.zeros(max(rules.size, int(rules["parts"].max(initial=0))), t.JUDGED),
            size=np.zeros(2, t.NESTED),
            items=np.zeros((2, lists * (longest + 1))),
            lists=np.zeros((2, lists), t.LIST),
            stats=np.zeros((world.stats.size, teams + 1), t.STAT),
            marks=np.zeros(world.limits.size, np.uint64),
        ),
        partitions=np.zeros(world.rows.tickets["partition"].max(initial=0) + 1, t.PARTITION),
        saved=saved,
        saved_tickets=np.zeros((searches, most + 1), t.SAVED_TICKET),
        matches=np.zeros(room, t.MATCH),
        matched=np.zeros((2, proposed), np.int64),
        # At changes: a ticket joins, passes a wait, or comes back as one of the proposals fails.
        reviews=np.zeros(0 if world.options.review else tickets * (world.waits.size + 2) + 1),
    )
