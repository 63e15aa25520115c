"""Remarks on rule sets that the service takes, but that will hardly do what is meant."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import pairwise
from math import inf
from typing import cast

from valmatch.rule_sets.items import Item
from valmatch.rule_sets.table import (
    Aggregate,
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
from valmatch.text.suggestions import closest_name
from valmatch.text.terminal import shown

UNDEFINED = {"min", "max", "avg", "median", "stddev", "set_intersection"}
"""Functions that have no value for an empty team."""

LEAST_LATENCY = 1  # milliseconds that a player reports at least


def lint(table: Table, root: Item, unknown: Collection[str]) -> None:
    """Warn of what a rule set says without an effect, or against its likely purpose."""
    items = {item.text("name"): item for item in root.items("rules")}
    wrong = root.problems.parts_with_errors("rules")
    for rule in table.rules:
        item = items[rule.name]
        if item.path not in wrong:  # what such a rule is meant to say is not known
            for remark in _remarks(rule, table):
                item.problems.warn(item.node.start, item.path, remark)
    _tightening(root)
    _sizes(table, root)
    if not root.problems.errors:  # a rule that cannot be read may use an attribute
        _unused(table, root)
    misspelt = any(closest_name(key, ["expansions"]) for key in unknown)
    if not root.items("expansions") and not misspelt:
        root.problems.warn(
            root.node.start, root.path, "no expansion: who waits is never granted more"
        )


def _remarks(rule: Rule, table: Table) -> Iterator[str]:
    """Yield what is to be said of a rule."""
    if why := _never_binds(rule.predicate, table):
        yield f"rule {shown(rule.name)} never refuses anything: {why}"
    yield from _empty_ranges(rule.predicate)
    yield from _of_empty_teams(rule.predicate, table)
    if isinstance(rule.predicate, Reached) and rule.predicate.most:
        yield from _latencies_below(LEAST_LATENCY, rule.predicate.most)
    most = _most_players(table)
    if isinstance(rule.predicate, Counted) and rule.predicate.counts == "holders":
        least = _numbers(rule.predicate.least)
        if least and min(least) > most:
            yield f"minCount {min(least):g} is never reached by the {most:g} players of a match"


def _latencies_below(least: float, most: Steps) -> Iterator[str]:
    """Yield at which ages nobody has a latency that is small enough."""
    for begin, value, end in zip((0.0, *most.waits), most.values, (*most.waits, inf), strict=True):
        if isinstance(value, (int, float)) and value < least:
            since = f" from {begin:g} s on" if begin else ""
            until = f" until {end:g} s" if end < inf else ""
            text = f"maxLatency {value:g} refuses everybody{since}{until}"
            yield f"{text}: latencies are {least:g} ms or more"


def _never_binds(predicate: Predicate, table: Table) -> str:
    """Return why a rule holds of every match, "" if it may not."""
    finder = _IDLE.get(type(predicate))
    return finder(predicate, table) if finder else ""


def _idle_within(rule: Within, table: Table) -> str:
    if rule.most is None and not any(_numbers(rule.least)):
        return "every distance is at least 0"
    return ""


def _idle_compared(rule: Compared, table: Table) -> str:
    if rule.reference is None and all(_most_values(one, table) <= 1 for one in rule.measures):
        return "its lists have one value at most"
    return ""


def _idle_counted(rule: Counted, table: Table) -> str:
    if rule.most is None and not any(_numbers(rule.least)):
        return "every number is at least 0"
    players = _most_players(table)
    unbound = rule.most and min(_numbers(rule.most)) >= players
    if rule.counts == "holders" and unbound and not any(_numbers(rule.least)):
        return f"a match has at most {players:g} players"
    return ""


_IDLE: dict[type, Callable[..., str]] = {
    Within: _idle_within,
    Compared: _idle_compared,
    Counted: _idle_counted,
}


def _most_values(measure: Aggregate, table: Table) -> float:
    """Return how many values the innermost lists of a measure may have."""
    if {"count", "set_intersection"} & set(measure.functions) or measure.depth > 2:
        return float("inf")
    teams = [max(_numbers(table.teams[team].most)) for team in measure.teams]
    if not teams:  # all of them are faulty, which is said
        return float("inf")
    if any(function not in ("flatten",) for function in measure.functions):
        return len(teams)
    return sum(teams) if "flatten" in measure.functions or not measure.grouped else max(teams)


def _empty_ranges(predicate: Predicate) -> Iterator[str]:
    """Yield that no number is in a range."""
    if not isinstance(predicate, (Within, Counted)) or not (predicate.least and predicate.most):
        return
    if min(_numbers(predicate.least)) > max(_numbers(predicate.most)):
        yield "the least is above the most: it never holds"


def _of_empty_teams(predicate: Predicate, table: Table) -> Iterator[str]:
    """Yield that a team which may be empty is left out of an aggregate."""
    for measure in _aggregates(predicate):
        # What is flattened before has the players of the other teams.
        first = next((one for one in measure.functions if one in {"flatten", *UNDEFINED}), None)
        if first is None or first == "flatten":
            continue
        empty = [
            table.teams[team].name
            for team in measure.teams
            if not min(_numbers(table.teams[team].least))
        ]
        if empty:
            yield f"{measure.text}: without players in {', '.join(empty)} that is left out"


def _aggregates(predicate: Predicate) -> Iterator[Aggregate]:
    """Yield the expressions of a rule."""
    yield from getattr(predicate, "measures", ())
    reference = getattr(predicate, "reference", None)
    if isinstance(reference, Steps):
        yield from (value for value in reference.values if isinstance(value, Aggregate))


def _tightening(root: Item) -> None:
    """Warn of steps that ask for more than the value before them."""
    first = {
        f"{section}[{item.text('name')}].{key}": member.node.value
        for section in ("rules", "teams")
        for item in root.items(section)
        for key, member in item.members.items()
    }
    for expansion in root.items("expansions"):
        target = str(expansion.text("target"))
        steps = [step for step in expansion.items("steps") if "value" in step.members]
        values = [first.get(target), *(step.members["value"].node.value for step in steps)]
        sign = {"max": 1, "min": -1}.get(target.rpartition(".")[2][:3], 0)
        for step, (before, after) in zip(steps, pairwise(values), strict=True):
            try:
                tighter = sign * float(after) < sign * float(before)  # type: ignore[arg-type]
            except (TypeError, ValueError):
                continue
            if tighter:
                text = f"tightens: {after} after {before}"
                step.problems.warn(step.node.start, step.path, text)


def _sizes(table: Table, root: Item) -> None:
    """Warn of teams whose least size is above the most at some age."""
    for team, item in zip(table.teams, root.items("teams"), strict=False):
        for wait in (0.0, *table.waits):
            least, most = cast(float, team.least.at(wait)), cast(float, team.most.at(wait))
            if least > most:
                text = f"from {wait:g} s on {least:g} players at least and {most:g} at most: none"
                item.problems.warn(item.node.start, item.path, text)


def _unused(table: Table, root: Item) -> None:
    """Warn of attributes that nothing looks at."""
    used = {table.search.balance, *table.search.batch_order}
    for rule in table.rules:
        used |= {one.source for one in _aggregates(rule.predicate) if isinstance(one.source, int)}
        if isinstance(rule.predicate, (Spread, Ordered)):
            used.add(rule.predicate.attribute)
    for number, item in enumerate(root.items("playerAttributes")):
        if number not in used:
            text = f"attribute {shown(item.text('name'))} is declared and not used"
            item.problems.warn(item.node.start, item.path, text)


def _most_players(table: Table) -> float:
    """Return the most players that a match ever has."""
    return sum(max(_numbers(team.most)) for team in table.teams)


def _numbers(steps: Steps | None) -> list[float]:
    """Return the numbers that a value takes over the ages."""
    return [value for value in steps.values if isinstance(value, (int, float))] if steps else []
