"""Tickets that no match can ever take, and why; the latency that a rule set begins with."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import cast

import numpy as np

from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.matching.tickets.columns import Lists, Texts
from valmatch.models.tickets.drawn import Drawn
from valmatch.models.tickets.matches import most_players
from valmatch.models.tickets.responses import REASONS
from valmatch.rule_sets.table import Reached, Steps, Table

PARTY, VALUE, LATENCY = range(len(REASONS))


def largest_team(table: Table) -> int:
    """Return the most players that a team ever has."""
    return max(most_players(team) for team in table.teams)


def lacking(table: Table, given: Collection[str]) -> list[str]:
    """Return the attributes that have neither a value nor a default."""
    return [one.name for one in table.attributes if one.default is None and one.name not in given]


def unmatchable(table: Table, given: Collection[str], drawn: Drawn, timeout: float) -> Ints:
    """Return why no match can ever take each ticket, as the number of one of `REASONS`.

    Shapes: returns (tickets,).
    """
    why = np.full(drawn.times.size, -1)
    why[_too_far(table, drawn, timeout)] = LATENCY
    why[tickets_lacking(table, drawn)] = VALUE
    if lacking(table, given):
        why[:] = VALUE
    why[drawn.sizes > largest_team(table)] = PARTY
    return why


def tickets_lacking(table: Table, drawn: Drawn) -> Bools:
    """Return which tickets have a player without a value that has no default."""
    lacks = np.zeros(drawn.times.size, np.bool_)
    for attribute in table.attributes:
        if attribute.name in drawn.missing and attribute.default is None:
            lacks[drawn.of[drawn.missing[attribute.name]]] = True
    return lacks


def seen_by(table: Table, drawn: Drawn) -> dict[str, Floats | Texts | Lists]:
    """Return what the matchmaker sees of players, with defaults for what they lack."""
    values = dict(drawn.attributes)
    for attribute in table.attributes:
        gone, own = drawn.missing.get(attribute.name), values.get(attribute.name)
        default = attribute.default
        if gone is None or default is None:
            continue
        if isinstance(own, Texts):
            texts = [*own.texts, str(default)]
            values[attribute.name] = Texts(np.where(gone, len(own.texts), own.codes), texts)
        elif isinstance(own, Lists):
            values[attribute.name] = _with_default(own, gone, cast("tuple[str, ...]", default))
        elif own is not None:
            values[attribute.name] = np.where(gone, cast(float, default), own)
    return values


def _with_default(own: Lists, gone: Bools, default: Sequence[str]) -> Lists:
    """Return lists in which some players have those of the default."""
    texts = list(dict.fromkeys([*own.texts, *default]))
    has = np.zeros((gone.size, len(texts)), np.bool_)
    has[:, : len(own.texts)] = own.has
    has[gone] = [text in default for text in texts]
    return Lists(has, texts)


def first_limit(table: Table) -> float:
    """Return the least latency that a rule allows at first; NaN where none has a limit."""
    limits = [float(limit.values[0]) for _, limit in _limits(table)]  # type: ignore[arg-type]
    return min(limits, default=math.nan)


def _limits(table: Table) -> list[tuple[Reached, Steps]]:
    """Return the rules that limit latencies, and their limits."""
    rules = [rule.predicate for rule in table.rules if rule.alone]
    return [(one, one.most) for one in rules if isinstance(one, Reached) and one.most is not None]


def _too_far(table: Table, drawn: Drawn, timeout: float) -> Bools:
    """Return which tickets are over a limit in all data centres, whenever they are matched."""
    far = np.zeros(drawn.times.size, np.bool_)
    for rule, limit in _limits(table):
        steps = zip((0.0, *limit.waits), limit.values, strict=True)
        most = max(float(value) for wait, value in steps if wait < timeout)  # type: ignore[arg-type]
        far |= ~(_pings(rule, drawn) <= most).any(axis=1)
    return far


def _pings(rule: Reached, drawn: Drawn) -> Floats:
    """Return what stands for each ticket in each data centre."""
    firsts = np.cumsum(drawn.sizes) - drawn.sizes
    if not firsts.size:
        return np.empty((0, drawn.latencies.shape[1]))
    if rule.party == "avg" and not rule.each:
        return np.asarray(np.add.reduceat(drawn.latencies, firsts) / drawn.sizes[:, np.newaxis])
    least = rule.party == "min" and not rule.each
    function = np.minimum if least else np.maximum
    return np.asarray(function.reduceat(drawn.latencies, firsts))
