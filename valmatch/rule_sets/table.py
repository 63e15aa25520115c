"""The internal table of a matchmaker, whatever language its rules are written in.

What a predicate finds of a match is found in plain Python, slowly; `matching.tickets.judging` has
the same compiled. A language needs nothing but a reader that makes this.
"""

from __future__ import annotations

import operator
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any, Literal, NamedTuple, TypeAlias

Kind = Literal["number", "text", "player", "team"]  # what an aggregate consists of
Party = Literal["avg", "min", "max"]  # what of a ticket's players stands for the ticket
Valued = Literal["number", "text", "texts", "map"]  # what an attribute of a player is


class Aggregate(NamedTuple):
    """A value of a match that is not complete yet: of its teams, functions of their players."""

    text: str  # how it is written
    teams: tuple[int, ...]  # the teams
    grouped: bool  # whether the players come by team; else of one team
    source: int | str  # number of an attribute, or ``players``, ``ids``, ``teams``
    functions: tuple[str, ...]  # applied one after the other, each to the innermost lists
    kind: Kind  # of what it is
    depth: int  # of how many levels of lists


Value: TypeAlias = "float | str | Aggregate"


def spelled(value: object) -> str:
    """Return a value in words."""
    if isinstance(value, Aggregate):
        return value.text
    return f'"{value}"' if isinstance(value, str) else f"{value:.12g}"


class Steps(NamedTuple):
    """A step function of an age."""

    waits: tuple[float, ...]  # ages from which the next value holds, increasing
    values: tuple[Value, ...]  # values: one more than waits

    def __str__(self) -> str:  # ``10 (50 from 5 s, 100 from 15 s)``
        first, *later = map(spelled, self.values)
        steps = [f"{value} from {wait:g} s" for value, wait in zip(later, self.waits, strict=True)]
        return f"{first} ({', '.join(steps)})" if steps else first

    def at(self, age: float) -> Any:  # noqa: ANN401
        """Return the value that holds at an age."""
        return self.values[bisect_right(self.waits, age)]

    @property
    def numbers(self) -> list[float]:
        """The numbers among its values."""
        return [value for value in self.values if isinstance(value, int | float)]


class Attribute(NamedTuple):
    """What is known of a player; without a default, who does not give it cannot be matched."""

    name: str
    kind: Valued
    default: object = None


class Team(NamedTuple):
    """A team and the numbers of players that it takes."""

    name: str
    least: Steps
    most: Steps

    @property
    def largest(self) -> int:
        """The most players that it takes at any age."""
        return int(max(self.most.numbers))


# Matches, complete or not, as rules find them. What cannot be said of a match that is not complete
# is unknown: rules with count or sum, the least number of players who have a text, what `not` and
# `xor` make of it.


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

    verdict: bool | None  # None is unknown
    lacks: tuple[Lack, ...] = ()


HOLDS = Finding(True)


class Ping(NamedTuple):
    """Milliseconds of a ticket in a region: the highest and the lowest that a rule looks at."""

    high: float  # the same as `low` where one number stands for the ticket
    low: float
    total: float  # of its players, for references
    least: float


Judged: TypeAlias = Any
"""A match that rules are judged on: a `Judge` of `matching.plain_tickets`."""


def added(values: Sequence[float]) -> float:
    """Return a sum in the order of the values, as compiled code adds; Python 3.12 compensates."""
    total = 0.0
    for value in values:
        total += value
    return total


OF_PARTY: dict[Party, Callable[[Sequence[float]], float]] = {
    "min": min,
    "max": max,
    "avg": lambda values: added(values) / len(values),
}


def defined(values: Sequence[Any]) -> list[Any]:
    """Return values that are defined."""
    return [value for value in values if value is not None]


def common(lists: Sequence[Sequence[Any]]) -> list[Any] | None:
    """Return what all of some lists have; None if there is no list."""
    if not lists:
        return None
    first, *others = lists
    return [value for value in first if all(value in other for other in others)]


def _inner(value: Any, depth: int) -> list[Any]:  # noqa: ANN401
    """Return what stands so many levels deep in nested lists; what is undefined is left out."""
    values = [value]
    for _ in range(depth):
        values = [item for inner in defined(values) for item in inner]
    return defined(values)


def _listed(measures: Sequence[Aggregate]) -> str:
    return " and ".join(measure.text for measure in measures)


def _bounds(least: Steps | None, most: Steps | None) -> str:
    bounds = (("least", least), ("most", most))
    return " and ".join(f"at {word} {steps}" for word, steps in bounds if steps)


def _in_range(
    numbers: Sequence[float], least: Steps | None, most: Steps | None, match: Judged
) -> Finding:
    lacks, low, high = [], match.number(least), match.number(most)
    if numbers and low is not None and min(numbers) < low:
        lacks.append(Lack("least", min(numbers), low))
    if numbers and high is not None and max(numbers) > high:
        lacks.append(Lack("most", max(numbers), high))
    return Finding(not lacks, tuple(lacks))


class Within(NamedTuple):
    """Every measured number is in a range of distances to a reference, bounds included."""

    measures: tuple[Aggregate, ...]
    reference: Steps
    least: Steps | None
    most: Steps | None

    def sentence(self, table: Table) -> str:
        """Return what it says in words."""
        reference = " or ".join(map(spelled, self.reference.values))
        return f"{_listed(self.measures)}: {_bounds(self.least, self.most)} away from {reference}"

    def judge(self, match: Judged) -> Finding:
        """Return what is found of it in a match."""
        reference = match.reference(self.reference)
        if reference is None:
            return HOLDS
        values = [
            n for measure in self.measures for n in _inner(match.value(measure), measure.depth)
        ]
        return _in_range([abs(n - reference) for n in values], self.least, self.most, match)


EQUALITIES = ("=", "!=")
OPERATIONS: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "<": ("below", operator.lt),
    "<=": ("at most", operator.le),
    "=": ("equal to", operator.eq),
    "!=": ("other than", operator.ne),
    ">": ("above", operator.gt),
    ">=": ("at least", operator.ge),
}
"""Operations, how they are said, and what they are."""


class Compared(NamedTuple):
    """Every measured value compares to a reference; without one, those of a list to each other."""

    measures: tuple[Aggregate, ...]
    operation: str
    reference: Steps | None

    def sentence(self, table: Table) -> str:
        """Return what it says in words."""
        how = "all the same" if self.operation == "=" else "all different"
        if self.reference is not None:
            how = f"{OPERATIONS[self.operation][0]} {self.reference}"
        return f"{_listed(self.measures)}: {how}"

    def judge(self, match: Judged) -> Finding:
        """Return what is found of it in a match."""
        values = [(match.value(measure), measure.depth) for measure in self.measures]
        if self.reference is None:
            lists = [defined(inner) for v, depth in values for inner in _inner(v, depth - 1)]
            if self.operation == "=":
                return Finding(all(len(set(inner)) <= 1 for inner in lists))
            return Finding(all(len(set(inner)) == len(inner) for inner in lists))
        reference = match.reference(self.reference)
        if reference is None:
            return HOLDS
        compares = OPERATIONS[self.operation][1]
        leaves = [leaf for value, depth in values for leaf in _inner(value, depth)]
        wrong = [leaf for leaf in leaves if not compares(leaf, reference)]
        if not wrong or self.operation in EQUALITIES:
            return Finding(not wrong)
        worst = max(wrong) if self.operation.startswith("<") else min(wrong)
        return Finding(False, (Lack("reference", worst, reference),))


class Counted(NamedTuple):
    """A number of texts in lists of the players is in a range."""

    measures: tuple[Aggregate, ...]  # the lists
    # texts common to all; lists that have the reference; of each, what it shares with the reference
    counts: Literal["common", "holders", "overlap"]
    reference: Steps | None
    least: Steps | None
    most: Steps | None

    def sentence(self, table: Table) -> str:
        """Return what it says in words."""
        lists, many = _listed(self.measures), _bounds(self.least, self.most)
        if self.counts == "common":
            return f"{lists}: {many} strings common to all players"
        if self.counts == "holders":
            return f"{lists}: {many} players have {self.reference}"
        return f"{lists}: of each player {many} strings among {self.reference}"

    def judge(self, match: Judged) -> Finding:
        """Return what is found of it in a match."""
        reference: Any = match.reference(self.reference) if self.reference else None
        if self.counts == "overlap" and reference is None:
            return HOLDS
        counts: list[float] = []
        for measure in self.measures:
            for group in _inner(match.value(measure), measure.depth - 2):
                lists = defined(group)
                if self.counts == "holders":
                    counts.append(float(sum(reference in texts for texts in lists)))
                elif self.counts == "overlap":
                    counts += [float(sum(text in reference for text in texts)) for texts in lists]
                elif lists:
                    counts.append(float(len(common(lists) or ())))
        unknown = match.partial and self.counts == "holders" and self.least is not None
        finding = _in_range(counts, None if unknown else self.least, self.most, match)
        return Finding(None) if unknown and finding.verdict else finding


class Reached(NamedTuple):
    """There is a region that all can play in."""

    most: Steps | None  # most milliseconds of a ticket
    spread: Steps | None  # most milliseconds between a ticket and the reference
    reference: Literal["min", "avg", ""]  # of the players of the match
    party: Party
    each: bool = False  # whether every player counts for itself, whatever `party` is

    def sentence(self, table: Table) -> str:
        """Return what it says in words."""
        parts = [f"at most {self.most} ms"] if self.most else []
        if self.spread:
            what = {"min": "the least", "avg": "the mean"}.get(self.reference, "")
            parts.append(f"at most {self.spread} ms from {what} of the players")
        whose = "player" if self.each else "ticket"
        return f"some region that all report, with {' and '.join(parts)} for every {whose}"

    def judge(self, match: Judged) -> Finding:
        """Return whether there is a region; else what the nearest one lacks."""
        most, spread = match.number(self.most), match.number(self.spread)
        tickets = match.pings(self)
        regions: list[tuple[Lack, ...]] = []
        for region in sorted(set(tickets[0]).intersection(*tickets[1:])):
            pings = [of_ticket[region] for of_ticket in tickets]
            reference = min(ping.least for ping in pings)
            if self.reference != "min":
                reference = added([ping.total for ping in pings]) / match.players
            gap = max(abs(end - reference) for ping in pings for end in (ping.high, ping.low))
            needs = ("most", max(ping.high for ping in pings), most), ("spread", gap, spread)
            lacks = [Lack(key, need, held) for key, need, held in needs if held is not None]
            regions.append(tuple(lack for lack in lacks if lack.needed > lack.held))
        # Where nothing is lacking, that is the least.
        nearest = min(regions, key=lambda lacks: sum(k.needed - k.held for k in lacks), default=())
        return Finding(bool(regions) and not nearest, nearest)


class Spread(NamedTuple):
    """The tickets' values of an attribute are close to each other, or texts the same."""

    attribute: int
    most: Steps | None
    party: Party

    def sentence(self, table: Table) -> str:
        """Return what it says in words."""
        name = table.attributes[self.attribute].name
        if self.most is None:
            return f"{name}: the same for all"
        how = {"avg": "mean", "min": "lowest", "max": "highest"}[self.party]
        return f"{name}: all tickets within {self.most} of each other (of a party the {how})"

    def judge(self, match: Judged) -> Finding:
        """Return what is found of it in a match."""
        parties = match.parties(self.attribute)
        if self.most is None:
            return Finding(len({value for values in parties for value in values}) == 1)
        values = [OF_PARTY[self.party](values) for values in parties]
        return _in_range([max(values) - min(values)], None, self.most, match)


class Combined(NamedTuple):
    """Other rules combined: a program in postfix order of numbers of rules and operators."""

    program: tuple[int | str, ...]

    def sentence(self, table: Table) -> str:
        """Return what it says in words."""
        stack: list[str] = []
        for part in self.program:
            if isinstance(part, int):
                stack.append(table.rules[part].name)
            elif part == "not":
                stack.append(f"not {stack.pop()}")
            else:
                second, first = stack.pop(), stack.pop()
                joined = (
                    f"either {first} or {second}" if part == "xor" else f"{first} {part} {second}"
                )
                stack.append(f"({joined})")
        return stack[0][1:-1] if stack[0].count("(") == 1 and stack[0][0] == "(" else stack[0]

    def judge(self, match: Judged) -> Finding:
        """Return what logic makes of the verdicts on other rules, in three values."""
        stack: list[bool | None] = []
        for part in self.program:
            if isinstance(part, int):
                stack.append(match.finding(part).verdict)
                continue
            second = stack.pop()
            if part == "not":
                stack.append(None if match.partial else not second)
                continue
            first, decisive = stack.pop(), part == "or"
            if part == "xor":
                stack.append(None if match.partial else first is not second)
            elif decisive in (first, second):
                stack.append(decisive)
            else:
                stack.append(None if None in (first, second) else not decisive)
        return Finding(stack[0])


class Ordered(NamedTuple):
    """No condition: it orders the tickets that an anchor tries."""

    attribute: int
    from_anchor: bool  # whether by distance from the anchor's value; else by the value itself
    descending: bool
    key: Literal[
        "", "lowest", "highest"
    ]  # of a map: of which of the anchor's keys the value counts
    party: Party

    def sentence(self, table: Table) -> str:
        """Return what it says in words."""
        what = f"value of {table.attributes[self.attribute].name}"
        if self.key:
            what += f" at the {self.key} key of the ticket that a match is built around"
        how = "with the highest" if self.descending else "with the lowest"
        if self.from_anchor:
            how = "farthest from the" if self.descending else "nearest to the"
        return f"tickets {how} {what} come first"

    def judge(self, match: Judged) -> Finding:
        """Return that it holds of every match."""
        return HOLDS


Predicate: TypeAlias = "Within | Compared | Counted | Reached | Spread | Combined | Ordered"


OPEN = {"count", "sum"}  # functions that say nothing of a match that is not complete


class Rule(NamedTuple):
    """A rule: what has to hold of a match, by itself unless another one takes it up."""

    name: str
    predicate: Predicate
    alone: bool = True

    @property
    def aggregates(self) -> list[Aggregate]:
        """What it measures and, at any age, refers to."""
        reference = getattr(self.predicate, "reference", None)
        values = reference.values if isinstance(reference, Steps) else ()
        measures: tuple[Aggregate, ...] = getattr(self.predicate, "measures", ())
        return [*measures, *(value for value in values if isinstance(value, Aggregate))]

    @property
    def attributes(self) -> set[int]:
        """The numbers of the attributes that it looks at."""
        sources = {getattr(self.predicate, "attribute", None)}
        sources |= {aggregate.source for aggregate in self.aggregates}
        return {source for source in sources if isinstance(source, int)}

    @property
    def is_open(self) -> bool:
        """Whether nothing can be said of it before a match is complete."""
        return any(not OPEN.isdisjoint(aggregate.functions) for aggregate in self.aggregates)


class Search(NamedTuple):
    """Whose tickets are tried with whose, in what order."""

    large: bool = False  # whether matches are large, and filled by closeness in `balance`
    balance: int | None = None
    batches: Literal["random", "sorted"] = "random"  # how the pool is cut where batches have a size
    batch_order: tuple[int, ...] = ()  # the attributes that `sorted` sorts by
    # whether tickets of games that run are anchors by age, first, or last
    backfill: Literal["normal", "high", "low"] = "normal"


class Table(NamedTuple):
    """All that a matchmaker goes by."""

    attributes: tuple[Attribute, ...]
    teams: tuple[Team, ...]
    rules: tuple[Rule, ...]
    search: Search
    oldest: bool  # whether the age of a match is that of its oldest ticket; else of its newest
    waits: tuple[float, ...]  # all ages of a ticket at which something may change, increasing

    @property
    def largest(self) -> int:
        """The most players that a match ever has."""
        return sum(team.largest for team in self.teams)

    @property
    def sorts(self) -> list[Ordered]:
        """The orders of the tickets that an anchor tries, the most important first."""
        sorts = [rule.predicate for rule in self.rules if isinstance(rule.predicate, Ordered)]
        if self.search.balance is not None:
            sorts.append(Ordered(self.search.balance, True, False, "", "avg"))
        return sorts


# A table in plain words.


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
