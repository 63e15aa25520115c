"""Descriptions of a matchmaker's table in plain words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any, NamedTuple

from valmatch.rule_sets.table import Ordered, Steps, Table, Team, spelled


class Change(NamedTuple):
    """What holds from a second on."""

    seconds: float
    what: str
    value: str


class Description(NamedTuple):
    """A table in words."""

    teams: list[tuple[str, str]]  # names, and what is said of them
    rules: list[tuple[str, str]]
    search: list[str]  # how matches are searched for, in sentences
    changes: list[Change]  # by second


def describe(table: Table) -> Description:
    """Return what a table says."""
    rules = [
        (
            rule.name,
            rule.predicate.sentence(table) + " (counts in compounds alone)" * (not rule.alone),
        )
        for rule in table.rules
    ]
    teams = [
        (name, f"{team.least}{'' if team.least == team.most else f' to {team.most}'} players")
        for name, team in _grouped(table.teams)
    ]
    changes = [
        Change(seconds, what, spelled(value))
        for what, steps in stepped(table)
        for seconds, value in zip((0.0, *steps.waits), steps.values, strict=True)
    ]
    return Description(teams, rules, list(_search(table)), sorted(changes, key=lambda row: row[0]))


def _grouped(teams: tuple[Team, ...]) -> Iterator[tuple[str, Team]]:
    """Yield the teams; several of the same sizes in a row whose names are counted are one."""

    def kind(team: Team) -> tuple[object, ...]:
        stem, _, number = team.name.rpartition("_")
        return (stem if number.isdecimal() else team.name, team.least, team.most)

    for _, same in groupby(teams, kind):
        first, *further = same
        yield first.name + (f" to {further[-1].name}" if further else ""), first


def _search(table: Table) -> Iterator[str]:
    search, age = table.search, "oldest" if table.oldest else "newest"
    yield f"what is allowed goes by the age of the {age} ticket in the match"
    if search.balance is not None:
        yield f"large matches, balanced by {table.attributes[search.balance].name}"
    if search.batches == "sorted":
        by = ", ".join(table.attributes[number].name for number in search.batch_order)
        yield f"batches of the pool sorted by {by}"
    if search.backfill != "normal":
        yield f"games that run are filled up {'first' if search.backfill == 'high' else 'last'}"
    if not any(isinstance(rule.predicate, Ordered) for rule in table.rules):
        yield "a match is built around the oldest ticket, the others are tried by age"


def stepped(table: Table) -> Iterator[tuple[str, Steps]]:
    """Yield all values that change with the age of a match, as they are called."""
    values: list[tuple[str, Any]] = []
    for name, team in _grouped(table.teams):
        values += [(f"{name}: least players", team.least), (f"{name}: most players", team.most)]
    for rule in table.rules:
        keys = ("reference", "least", "most", "spread")
        values += [(f"{rule.name}: {key}", getattr(rule.predicate, key, None)) for key in keys]
    yield from (value for value in values if isinstance(value[1], Steps) and value[1].waits)
