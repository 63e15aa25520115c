"""Matches in plain Python as they grow: aggregates of them, and which rules refuse them.

What the types of rules find of a match is in `valmatch.rule_sets.types`.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from valmatch.matching.plain_tickets.pool import Pool, in_force
from valmatch.matching.tickets.columns import Document
from valmatch.rule_sets.table import Aggregate, Reached, Steps
from valmatch.rule_sets.types import OF_PREDICATE, Finding, Ping, added, common, defined

# Aggregates of a match as nested lists: None is undefined.

Nested = Any  # a value, or nested lists of values


def evaluate(aggregate: Aggregate, match: PartialMatch) -> Nested:
    """Return an aggregate of the players of a match; None if it is undefined."""
    depth = aggregate.depth + len(aggregate.functions)
    source, attributes = aggregate.source, match.pool.table.attributes

    def of_player(player: Document) -> object:
        if isinstance(source, int):
            return player["attributes"][attributes[source].name]
        return player["id"] if source == "ids" else 0.0

    value: Nested = [list(map(of_player, match.teams[k])) for k in aggregate.teams]
    if aggregate.source == "teams":
        value = [[0.0] * len(value)]
    if not aggregate.grouped or aggregate.source == "teams":
        value = value[0]
    for function in aggregate.functions:
        value, depth = _applied(function, value, depth), depth - 1
    return value


def _applied(function: str, value: Nested, depth: int) -> Nested:
    """Return a function of nested lists: flatten of the outermost, others of the innermost."""
    if value is None:
        return None
    if function == "flatten":
        return [item for inner in defined(value) for item in inner]
    if depth > (2 if function == "set_intersection" else 1):
        return [_applied(function, item, depth - 1) for item in value]
    values = defined(value)
    if function == "set_intersection":
        return common(values)
    if not values and function not in ("count", "sum"):
        return None
    return FUNCTIONS[function](values)


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


# Matches that grow: tickets on teams, complete or not.


class PartialMatch:
    """Tickets on teams at one moment; it never changes, `with_ticket` returns another one."""

    def __init__(
        self,
        pool: Pool,
        tickets: tuple[int, ...] = (),
        homes: tuple[int | None, ...] = (),
        teams: tuple[tuple[Document, ...], ...] | None = None,
        born: float | None = None,
    ) -> None:
        # tickets: in the order in which they were added
        # homes: the team of each; None for one of a game that runs, whose players have teams of
        # their own
        self.pool, self.tickets, self.homes = pool, tickets, homes
        # players by team
        self.teams = tuple(() for _ in pool.table.teams) if teams is None else teams
        self._born = born

    @property
    def players(self) -> int:
        """How many players it has."""
        return sum(map(len, self.teams))

    @property
    def running(self) -> int:
        """How many of its tickets are of games that run."""
        return self.homes.count(None)

    @property
    def born(self) -> float:
        """When the ticket joined whose age counts; there is one."""
        return cast(float, self._born)

    def born_with(self, ticket: int) -> float:
        """Return when the ticket would have joined whose age counted if one were added."""
        time = self.pool.times[ticket]
        if self._born is None:
            return time
        return min(time, self._born) if self.pool.table.oldest else max(time, self._born)

    def with_ticket(self, ticket: int, home: int | None) -> PartialMatch:
        """Return the match with another ticket on a team."""
        teams = list(self.teams)
        for player in self.pool.players[ticket]:
            at = self.pool.home(player) if home is None else home
            teams[at] = (*teams[at], player)
        return PartialMatch(
            self.pool,
            (*self.tickets, ticket),
            (*self.homes, home),
            tuple(teams),
            self.born_with(ticket),
        )

    def sizes(self, now: float, more: int | None = None) -> list[tuple[int, int]]:
        """Return least and most players of each team at the age of the match, or with a ticket."""
        born = self.born if more is None else self.born_with(more)
        return [
            (
                int(cast(float, in_force(team.least, born, now))),
                int(cast(float, in_force(team.most, born, now))),
            )
            for team in self.pool.table.teams
        ]

    def is_full(self, now: float) -> bool:
        """Return whether no team has room."""
        return all(
            len(team) >= most for team, (_, most) in zip(self.teams, self.sizes(now), strict=True)
        )

    def fits(self, now: float) -> bool:
        """Return whether games that run, and the size of each team, are what a match needs."""
        if self.running > 1 or self.running == len(self.tickets):
            return False
        return all(
            least <= len(team) <= most
            for team, (least, most) in zip(self.teams, self.sizes(now), strict=True)
        )

    def homes_for(self, ticket: int, now: float) -> list[int | None]:
        """Return the teams that have room for a ticket, in the order of filling."""
        # Teams that are too small come first, then those with most room. A ticket of a game that
        # runs goes to the teams of its players: [None], or [] without room.
        sizes, players = self.sizes(now, ticket), self.pool.players[ticket]
        if self.pool.running[ticket]:
            homes = [self.pool.home(player) for player in players]
            full = any(
                home in homes and len(team) + homes.count(home) > most
                for home, (team, (_, most)) in enumerate(zip(self.teams, sizes, strict=True))
            )
            return [] if full else [None]
        order = sorted(
            (len(team) >= least, len(team) - most, number)
            for number, (team, (least, most)) in enumerate(zip(self.teams, sizes, strict=True))
        )
        return [number for _, room, number in order if len(players) <= -room]


class Judge:
    """Judges the rules of a table on a match."""

    def __init__(self, match: PartialMatch, now: float, partial: bool) -> None:
        self.match, self.partial, self.players = match, partial, match.players
        self.now, self.born = now, match.born
        self.rules = match.pool.table.rules
        self._findings: dict[int, Finding] = {}

    def refuses(self) -> bool:
        """Return whether a rule that has to hold by itself is false."""
        return next(self.refusing(), None) is not None

    def refusing(self) -> Iterator[int]:
        """Yield the rules that have to hold by themselves and are false."""
        for number, rule in enumerate(self.rules):
            if rule.alone and self.finding(number).verdict is False:
                yield number

    def finding(self, number: int) -> Finding:
        """Return what is found of a rule."""
        if number not in self._findings:
            rule = self.rules[number]
            judge = OF_PREDICATE[type(rule.predicate)].judge
            unknown = self.partial and rule.is_open
            self._findings[number] = Finding(None) if unknown else judge(rule.predicate, self)
        return self._findings[number]

    def number(self, steps: Steps | None) -> float | None:
        """Return a number that is in force, None where there is none."""
        return None if steps is None else cast(float, in_force(steps, self.born, self.now))

    def value(self, measure: Aggregate) -> Any:  # noqa: ANN401
        """Return an aggregate, None if it is undefined."""
        return evaluate(measure, self.match)

    def reference(self, steps: Steps) -> Any:  # noqa: ANN401
        """Return the value of a reference, None where it is undefined."""
        value = in_force(steps, self.born, self.now)
        return self.value(value) if isinstance(value, Aggregate) else value

    def pings(self, rule: Reached) -> list[dict[str, Ping]]:
        """Return of each ticket what a rule looks at, by region that all its players report."""
        return [self.match.pool.pings(ticket, rule) for ticket in self.match.tickets]

    def parties(self, attribute: int) -> list[list[Any]]:
        """Return the values of the players of each ticket."""
        return [self.match.pool.values(ticket, attribute) for ticket in self.match.tickets]


def holds_from(match: PartialMatch, now: float, partial: bool, number: int) -> float | None:
    """Return from which age of the match a rule that is false would not be; None if never."""
    age = now - match.born
    for wait in match.pool.table.waits:
        if wait > age:
            later = Judge(match, match.born + wait, partial)
            if later.finding(number).verdict is not False:
                return wait
    return None
