"""Descriptions of a matchmaker's table in plain words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any, NamedTuple

from valmatch.rule_sets.table import Ordered, Steps, Table, Team
from valmatch.rule_sets.types import OF_PREDICATE, amount, spelled


class Change(NamedTuple):
    """What holds from a second on."""

    seconds: float
    what: str
    value: str


class Description(NamedTuple):
    """A table in words."""

    # teams, rules: names, and what is said of them
    teams: list[tuple[str, str]]
    rules: list[tuple[str, str]]
    search: list[str]  # how matches are searched for, in sentences
    changes: list[Change]  # by second


def describe(table: Table) -> Description:
    """Return what a table says."""
    rules = []
    for rule in table.rules:
        sentence = OF_PREDICATE[type(rule.predicate)].sentence(rule.predicate, table)
        unless = "" if rule.alone else " (counts in compounds alone)"
        rules.append((rule.name, sentence + unless))
    teams = []
    for name, team in _grouped(table.teams):
        most = "" if team.least == team.most else f" to {amount(team.most)}"
        teams.append((name, f"{amount(team.least)}{most} players"))
    changes = [
        Change(seconds, what, spelled(value))
        for what, steps in stepped(table)
        for seconds, value in zip((0.0, *steps.waits), steps.values, strict=True)
    ]
    changes.sort(key=lambda change: change.seconds)
    return Description(teams, rules, list(_search(table)), changes)


def _grouped(teams: tuple[Team, ...]) -> Iterator[tuple[str, Team]]:
    """Yield the teams; several of the same sizes in a row whose names are counted are one."""

    def kind(team: Team) -> tuple[object, ...]:
        stem, _, number = team.name.rpartition("_")
        return (stem if number.isdecimal() else team.name, team.least, team.most)

    for _, same in groupby(teams, kind):
        first, *further = same
        last = f" to {further[-1].name}" if further else ""
        yield first.name + last, first


def _search(table: Table) -> Iterator[str]:
    """Yield how matches are searched for."""
    search = table.search
    yield (
        f"what is allowed goes by the age of the {'oldest' if table.oldest else 'newest'} ticket"
        " in the match"
    )
    if search.balance is not None:
        yield f"large matches, balanced by {table.attributes[search.balance].name}"
    if search.batches == "sorted":
        by = ", ".join(table.attributes[number].name for number in search.batch_order)
        yield f"batches of the pool sorted by {by}"
    if search.backfill != "normal":
        when = "first" if search.backfill == "high" else "last"
        yield f"games that run are filled up {when}"
    if not any(isinstance(rule.predicate, Ordered) for rule in table.rules):
        yield "a match is built around the oldest ticket, the others are tried by age"


OF_RULES = ("reference", "least", "most", "spread")
"""Values of predicates that may have steps, as they are called."""


def stepped(table: Table) -> Iterator[tuple[str, Steps]]:
    """Yield all values that change with the age of a match, as they are called."""
    values: list[tuple[str, Any]] = []
    for name, team in _grouped(table.teams):
        values += [(f"{name}: least players", team.least), (f"{name}: most players", team.most)]
    for rule in table.rules:
        values += [(f"{rule.name}: {k}", getattr(rule.predicate, k, None)) for k in OF_RULES]
    yield from (value for value in values if isinstance(value[1], Steps) and value[1].waits)
