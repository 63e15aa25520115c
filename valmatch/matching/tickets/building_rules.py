"""The arrays of the rules of a table."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from valmatch.kernels.arrays import Ints, Records
from valmatch.matching.tickets.layout import (
    AGGREGATE,
    AND,
    AT_LEAST,
    AT_MOST,
    AVG,
    COMBINED,
    COMMON,
    COMPARED,
    COUNT,
    COUNTED,
    EQUAL,
    FLATTEN,
    HOLDERS,
    INTERSECTION,
    LESS,
    MAX,
    MEDIAN,
    MIN,
    MORE,
    NONE,
    NOT,
    OR,
    ORDERED,
    OTHER,
    OVERLAP,
    REACHED,
    RULE,
    SPREAD,
    STDDEV,
    STEP,
    SUM,
    WITHIN,
    XOR,
)
from valmatch.rule_sets.table import (
    Aggregate,
    Combined,
    Compared,
    Counted,
    Ordered,
    Predicate,
    Reached,
    Rule,
    Spread,
    Steps,
    Table,
    Within,
)

KINDS: dict[type[Predicate], int] = {
    Within: WITHIN,
    Compared: COMPARED,
    Counted: COUNTED,
    Reached: REACHED,
    Spread: SPREAD,
    Combined: COMBINED,
    Ordered: ORDERED,
}
FUNCTIONS = {
    "min": MIN,
    "max": MAX,
    "avg": AVG,
    "median": MEDIAN,
    "sum": SUM,
    "stddev": STDDEV,
    "count": COUNT,
    "flatten": FLATTEN,
    "set_intersection": INTERSECTION,
}
OPERATIONS = {
    "<": LESS,
    "<=": AT_MOST,
    "=": EQUAL,
    "!=": OTHER,
    ">": MORE,
    ">=": AT_LEAST,
    "common": COMMON,
    "holders": HOLDERS,
    "overlap": OVERLAP,
}
OPERATORS = {"and": AND, "or": OR, "xor": XOR, "not": NOT}

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
            return NONE
        entries = []
        for number, value in enumerate(steps.values):
            if isinstance(value, Aggregate):
                entries.append((0.0, self.aggregate(value), number))
            elif isinstance(value, str):
                entries.append((float(self.texts.setdefault(value, len(self.texts))), NONE, number))
            else:
                entries.append((float(value), NONE, number))
        ages = (-np.inf, *self.table.waits)
        self.steps.append([entries[bisect_right(steps.waits, age)] for age in ages])
        return len(self.steps) - 1


def rule_arrays(table: Table, texts: dict[str, int]) -> RuleArrays:
    """Return the arrays of the rules, and the sizes of the teams."""
    lists = _Lists(table, texts)
    rules = np.zeros(len(table.rules), RULE)
    rows = {SPREAD: 0, REACHED: 0}
    for record, rule in zip(rules, table.rules, strict=True):
        _fill_rule(record, rule, lists)
        if record["kind"] in rows:
            record["row"] = rows[record["kind"]]
            rows[record["kind"]] += 1
    teams = [(lists.stepped(team.least), lists.stepped(team.most)) for team in table.teams]
    aggregates = _aggregates(lists)
    links = np.array(lists.links, np.int64)
    steps = np.array(lists.steps, STEP).reshape(len(lists.steps), len(table.waits) + 1)
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
    record["reference"] = NONE
    if isinstance(reference, Steps):
        record["reference"] = lists.stepped(reference)
    referred = reference.values if isinstance(reference, Steps) else ()
    every = [*measures, *(value for value in referred if isinstance(value, Aggregate))]
    record["unknown"] = any(OPEN & set(one.functions) for one in every)
    record["final"] = record["unknown"] or record["kind"] == COMBINED or not rule.alone
    if isinstance(rule.predicate, Compared):
        record["operation"] = OPERATIONS[rule.predicate.operation]
    elif isinstance(rule.predicate, Counted):
        record["operation"] = OPERATIONS[rule.predicate.counts]
        if record["operation"] == HOLDERS and record["least"] != NONE:
            record["final"] = True
    elif isinstance(rule.predicate, Reached):
        record["operation"] = rule.predicate.reference == "min"
    elif isinstance(rule.predicate, Combined):
        program = rule.predicate.program
        parts = [OPERATORS[part] if isinstance(part, str) else part for part in program]
        record["first_part"], record["parts"] = lists.linked(parts), len(parts)


def _aggregates(lists: _Lists) -> Records:
    """Return the aggregates."""
    records = np.zeros(len(lists.aggregates), AGGREGATE)
    for record, one in zip(records, lists.aggregates, strict=True):
        record["first_team"], record["teams"] = lists.linked(one.teams), len(one.teams)
        record["grouped"], record["of_teams"] = one.grouped, one.source == "teams"
        record["source"] = NONE
        if isinstance(one.source, int):
            record["source"] = one.source
            record["lists"] = lists.table.attributes[one.source].kind == "texts"
        elif one.source == "ids":
            record["source"] = len(lists.table.attributes)
        functions = [FUNCTIONS[name] for name in one.functions]
        record["first_function"], record["functions"] = lists.linked(functions), len(functions)
    return records
