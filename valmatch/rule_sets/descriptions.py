"""Descriptions of a matchmaker's table in plain words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from valmatch.rule_sets.table import Ordered, Steps, Table, Team
from valmatch.rule_sets.types import OF_PREDICATE, Names, amount, spelled


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
    names = Names(
        [attribute.name for attribute in table.attributes], [rule.name for rule in table.rules]
    )
    rules = []
    for rule in table.rules:
        sentence = OF_PREDICATE[type(rule.predicate)].sentence(rule.predicate, names)
        unless = "" if rule.alone else " (counts in compounds alone)"
        rules.append((rule.name, sentence + unless))
    teams = [(name, _players(team)) for name, team in _grouped(table.teams)]
    changes = sorted(_changes(table), key=lambda change: change.seconds)
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


def _players(team: Team) -> str:
    """Return how many players a team has, in words."""
    if team.least == team.most:
        return f"{amount(team.least)} players"
    return f"{amount(team.least)} to {amount(team.most)} players"


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


def _changes(table: Table) -> Iterator[Change]:
    """Yield all steps."""
    for what, steps in stepped(table):
        for seconds, value in zip((0.0, *steps.waits), steps.values, strict=True):
            yield Change(seconds, what, spelled(value))


def stepped(table: Table) -> Iterator[tuple[str, Steps]]:
    """Yield all values that change with the age of a match, as they are called."""
    for name, team in _grouped(table.teams):
        yield from _stepped(f"{name}: least players", team.least)
        yield from _stepped(f"{name}: most players", team.most)
    for rule in table.rules:
        for key in OF_RULES:
            value = getattr(rule.predicate, key, None)
            if isinstance(value, Steps):
                yield from _stepped(f"{rule.name}: {key}", value)


def _stepped(what: str, steps: Steps) -> Iterator[tuple[str, Steps]]:
    if steps.waits:
        yield what, steps
