"""The judge of a match in plain Python: of each rule whether it holds, and what it would need.

What cannot be said of a match that is not complete is unknown: rules with count or sum, the least
number of players who have a text, what `not` and `xor` make of it.
"""

from __future__ import annotations

import math
import operator
import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, cast

from valmatch.matching.plain_tickets.pool import OF_PARTY, Ping, Pool, added, in_force
from valmatch.matching.tickets.columns import Document
from valmatch.rule_sets.table import (
    Aggregate,
    Combined,
    Compared,
    Counted,
    Predicate,
    Reached,
    Spread,
    Steps,
    Table,
    Within,
)

# Aggregates of a match as nested lists: None is undefined.

Nested = Any  # a value, or nested lists of values


def evaluate(aggregate: Aggregate, match: PartialMatch) -> Nested:
    """Return an aggregate of the players of a match; None if it is undefined."""
    depth = aggregate.depth + len(aggregate.functions)
    value: Nested = [
        [_source(aggregate, player, match.pool.table) for player in match.teams[k]]
        for k in aggregate.teams
    ]
    if aggregate.source == "teams":
        value = [[0.0] * len(value)]
    if not aggregate.grouped or aggregate.source == "teams":
        value = value[0]
    for function in aggregate.functions:
        value, depth = _applied(function, value, depth), depth - 1
    return value


def _source(aggregate: Aggregate, player: Document, table: Table) -> object:
    """Return what an aggregate takes of a player."""
    if isinstance(aggregate.source, int):
        return player["attributes"][table.attributes[aggregate.source].name]
    return player["id"] if aggregate.source == "ids" else 0.0


def defined(values: Sequence[Any]) -> list[Any]:
    """Return values that are defined."""
    return [value for value in values if value is not None]


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
        return [leaf for item in value for leaf in leaves(item)]
    return defined([value])


def innermost(value: Nested) -> list[list[Any]]:
    """Return the innermost lists that are defined, each without what is undefined in it."""
    if value is None:
        return []
    inner = defined(value)
    if inner and isinstance(inner[0], list | tuple):
        return [values for deeper in inner for values in innermost(deeper)]
    return [inner]


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
        """Return the teams that have room for a ticket, in the order of filling.

        Teams that are too small come first, then those with most room. A ticket of a game that runs
        goes to the teams of its players: [None], or [] without room.
        """
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


Verdict = bool | None  # None is unknown

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}


class Lack(NamedTuple):
    """A number of a rule that is in force, and the nearest one that would let the rule hold."""

    key: str  # of the predicate: ``least``, ``most``, ``spread``, ``reference``
    needed: float
    held: float

    @property
    def excess(self) -> float:
        """By what part of the number in force it is missed."""
        return abs(self.needed - self.held) / (abs(self.held) or 1.0)


class Finding(NamedTuple):
    """What is found of a rule; of what no number says, it lacks nothing."""

    verdict: Verdict
    lacks: tuple[Lack, ...] = ()


HOLDS = Finding(True)


class Judge:
    """Judges the rules of a table on a match."""

    def __init__(self, match: PartialMatch, now: float, partial: bool) -> None:
        self.match, self.partial = match, partial
        self.now, self.born = now, match.born
        self.rules = match.pool.table.rules
        self._found: dict[int, Finding] = {}

    def refuses(self) -> bool:
        """Return whether a rule that has to hold by itself is false."""
        return any(True for _ in self._false())

    def refusing(self) -> list[int]:
        """Return all rules that have to hold by themselves and are false."""
        return list(self._false())

    def _false(self) -> Iterator[int]:
        """Yield the rules that have to hold by themselves and are false."""
        for number, rule in enumerate(self.rules):
            if rule.alone and self.finding(number).verdict is False:
                yield number

    def finding(self, number: int) -> Finding:
        """Return what is found of a rule."""
        if number not in self._found:
            predicate = self.rules[number].predicate
            unknown = self.partial and self.rules[number].is_open
            self._found[number] = Finding(None) if unknown else self._judged(predicate)
        return self._found[number]

    def _judged(self, predicate: Predicate) -> Finding:
        if isinstance(predicate, Within):
            return self._within(predicate)
        if isinstance(predicate, Compared):
            return self._compared(predicate)
        if isinstance(predicate, Counted):
            return self._counted(predicate)
        if isinstance(predicate, Reached):
            return self._reached(predicate)
        if isinstance(predicate, Spread):
            return self._spread(predicate)
        if isinstance(predicate, Combined):
            return Finding(self._combined(predicate))
        return HOLDS

    def _number(self, steps: Steps | None) -> float | None:
        """Return a number that is in force, None where there is none."""
        return None if steps is None else cast(float, in_force(steps, self.born, self.now))

    def _value(self, aggregate: Aggregate) -> Any:  # noqa: ANN401
        return evaluate(aggregate, self.match)

    def _reference(self, steps: Steps) -> Any:  # noqa: ANN401
        """Return the value of a reference, None where it is undefined."""
        value = in_force(steps, self.born, self.now)
        return self._value(value) if isinstance(value, Aggregate) else value

    def _within(self, rule: Within) -> Finding:
        reference = self._reference(rule.reference)
        if reference is None:
            return HOLDS
        values = leaves([self._value(measure) for measure in rule.measures])
        return self._in_range([abs(value - reference) for value in values], rule)

    def _in_range(self, numbers: list[float], rule: Within | Counted) -> Finding:
        """Return whether all of some numbers are in the range of a rule."""
        least, most = self._number(rule.least), self._number(rule.most)
        lacks = []
        if numbers and least is not None and min(numbers) < least:
            lacks.append(Lack("least", min(numbers), least))
        if numbers and most is not None and max(numbers) > most:
            lacks.append(Lack("most", max(numbers), most))
        return Finding(not lacks, tuple(lacks))

    def _compared(self, rule: Compared) -> Finding:
        values = [self._value(measure) for measure in rule.measures]
        if rule.reference is None:
            lists = [inner for value in values for inner in innermost(value)]
            same = rule.operation == "="
            return Finding(
                all(
                    len(set(inner)) <= 1 if same else len(set(inner)) == len(inner)
                    for inner in lists
                )
            )
        reference = self._reference(rule.reference)
        if reference is None:
            return HOLDS
        wrong = [value for value in leaves(values) if not COMPARE[rule.operation](value, reference)]
        if not wrong:
            return HOLDS
        if rule.operation in ("=", "!="):
            return Finding(False)
        worst = max(wrong) if rule.operation in ("<", "<=") else min(wrong)
        return Finding(False, (Lack("reference", worst, reference),))

    def _counted(self, rule: Counted) -> Finding:
        reference = self._reference(rule.reference) if rule.reference else None
        if rule.counts == "overlap" and reference is None:
            return HOLDS
        counts: list[float] = []
        for measure in rule.measures:
            for lists in groups(self._value(measure), measure.depth):
                counts += counted(rule, lists, reference)
        if not (self.partial and rule.counts == "holders" and rule.least is not None):
            return self._in_range(counts, rule)
        finding = self._in_range(counts, rule._replace(least=None))
        return finding if finding.verdict is False else Finding(None)

    def _reached(self, rule: Reached) -> Finding:
        """Judge whether there is a region; else say what the nearest one lacks."""
        most, spread = self._number(rule.most), self._number(rule.spread)
        tickets = [self.match.pool.pings(ticket, rule) for ticket in self.match.tickets]
        nearest: tuple[float, tuple[Lack, ...]] | None = None
        for region in sorted(set(tickets[0]).intersection(*tickets[1:])):
            pings = [of_ticket[region] for of_ticket in tickets]
            lacks, highest = [], max(ping.high for ping in pings)
            if most is not None and highest > most:
                lacks.append(Lack("most", highest, most))
            if spread is not None and (gap := self._gap(pings, rule)) > spread:
                lacks.append(Lack("spread", gap, spread))
            if not lacks:
                return HOLDS
            excess = sum(lack.needed - lack.held for lack in lacks)
            if nearest is None or excess < nearest[0]:
                nearest = excess, tuple(lacks)
        return Finding(False, nearest[1] if nearest else ())

    def _gap(self, pings: list[Ping], rule: Reached) -> float:
        """Return the largest distance of a ticket from the reference of the players."""
        reference = min(ping.least for ping in pings)
        if rule.reference != "min":
            total = 0.0
            for ping in pings:
                total += ping.total
            reference = total / self.match.players
        return max(max(abs(ping.high - reference), abs(ping.low - reference)) for ping in pings)

    def _spread(self, rule: Spread) -> Finding:
        lists = [self.match.pool.values(k, rule.attribute) for k in self.match.tickets]
        if rule.most is None:
            return Finding(len({value for values in lists for value in values}) == 1)
        values = [OF_PARTY[rule.party](values) for values in lists]
        most = cast(float, self._number(rule.most))
        gap = max(values) - min(values)
        return HOLDS if gap <= most else Finding(False, (Lack("most", gap, most),))

    def _combined(self, rule: Combined) -> Verdict:
        """Return what logic makes of the verdicts on other rules, in three values."""
        stack: list[Verdict] = []
        for part in rule.program:
            if isinstance(part, int):
                stack.append(self.finding(part).verdict)
            elif part == "not":
                first = stack.pop()
                stack.append(None if self.partial else not first)
            else:
                second, first = stack.pop(), stack.pop()
                stack.append(self._both(part, first, second))
        return stack[0]

    def _both(self, name: str, first: Verdict, second: Verdict) -> Verdict:
        if name == "xor":
            return None if self.partial else first is not second
        decisive = name == "or"
        if decisive in (first, second):
            return decisive
        return None if None in (first, second) else not decisive


def groups(value: Any, depth: int) -> list[list[Any]]:  # noqa: ANN401
    """Return the lists of lists of a value of a depth; what is undefined is left out."""
    if value is None:
        return []
    if depth == 2:
        return [defined(value)]
    return [group for inner in defined(value) for group in groups(inner, depth - 1)]


def counted(rule: Counted, lists: list[Any], reference: Any) -> list[float]:  # noqa: ANN401
    """Return what a rule counts of some lists: one number, of overlaps one for each list."""
    if rule.counts == "holders":
        return [float(sum(reference in texts for texts in lists))]
    if rule.counts == "common":
        shared = common(lists)
        return [] if shared is None else [float(len(shared))]
    return [float(sum(value in reference for value in texts)) for texts in lists]


def holds_from(match: PartialMatch, now: float, partial: bool, number: int) -> float | None:
    """Return the age of the match from which a rule that is false would not be, None if never.

    Its tickets stay the same; only what is in force changes with their age.
    """
    age = now - match.born
    for wait in match.pool.table.waits:
        if wait > age:
            later = Judge(match, match.born + wait, partial)
            if later.finding(number).verdict is not False:
                return wait
    return None
