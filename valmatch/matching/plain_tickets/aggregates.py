"""Aggregates of a match as nested lists: None is undefined."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from typing import Any

from valmatch.matching.plain_tickets.pool import Known
from valmatch.matching.tickets.building import added
from valmatch.rule_sets.table import Aggregate

Nested = Any  # a value, or nested lists of values


def evaluate(aggregate: Aggregate, teams: Sequence[Sequence[Known]]) -> Nested:
    """Return an aggregate of players by team; None if it is undefined."""
    depth = aggregate.depth + len(aggregate.functions)
    value: Nested = [[_source(aggregate, player) for player in teams[k]] for k in aggregate.teams]
    if aggregate.source == "teams":
        value = [[0.0] * len(value)]
    if not aggregate.grouped or aggregate.source == "teams":
        value = value[0]
    for function in aggregate.functions:
        value, depth = _applied(function, value, depth), depth - 1
    return value


def _source(aggregate: Aggregate, player: Known) -> object:
    """Return what an aggregate takes of a player."""
    if isinstance(aggregate.source, int):
        return player.values[aggregate.source]
    return player.id if aggregate.source == "ids" else 0.0


def defined(values: Sequence[Any]) -> list[Any]:
    """Return values that are defined."""
    return [value for value in values if value is not None]


def _applied(function: str, value: Nested, depth: int) -> Nested:
    """Return a function of nested lists: flatten of the outermost, others of the innermost."""
    if value is None:
        return None
    if function == "flatten":
        return [one for inner in defined(value) for one in inner]
    if depth > (2 if function == "set_intersection" else 1):
        return [_applied(function, one, depth - 1) for one in value]
    values = defined(value)
    if function == "set_intersection":
        return common(values)
    if not values and function not in ("count", "sum"):
        return None
    return FUNCTIONS[function](values)


def common(lists: Sequence[Sequence[Any]]) -> list[Any] | None:
    """Return what all of some lists have; None if there is no list."""
    if not lists:
        return None
    first, *others = lists
    return [value for value in first if all(value in other for other in others)]


def _mean(values: Sequence[float]) -> float:
    return added(values) / len(values)


def _deviation(values: Sequence[float]) -> float:
    """Return the standard deviation of a population."""
    mean = _mean(values)
    return math.sqrt(added([(value - mean) * (value - mean) for value in values]) / len(values))


FUNCTIONS: dict[str, Callable[[Sequence[Any]], Any]] = {
    "min": min,
    "max": max,
    "avg": _mean,
    "median": statistics.median,
    "sum": added,
    "stddev": _deviation,
    "count": len,
}


def leaves(value: Nested) -> list[Any]:
    """Return all single values of nested lists that are defined."""
    if isinstance(value, list | tuple):
        return [leaf for one in value for leaf in leaves(one)]
    return defined([value])


def innermost(value: Nested) -> list[list[Any]]:
    """Return the innermost lists that are defined, each without what is undefined in it."""
    if value is None:
        return []
    inner = defined(value)
    if inner and isinstance(inner[0], list | tuple):
        return [one for deeper in inner for one in innermost(deeper)]
    return [inner]
