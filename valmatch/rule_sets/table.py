"""The internal table of a matchmaker, whatever language its rules are written in.

What a predicate finds of a match is found in plain Python, slowly; `matching.tickets.judging` has
the same compiled. A language needs nothing but a reader that makes this.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

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
    values: "tuple[Value, ...]"  # values: one more than waits

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


class Predicate(Protocol):
    """What a rule says of matches; its class stands in `types`, beside what reads it."""

    def sentence(self, table: "Table") -> str:
        """Return what it says in words."""

    def judge(self, match: Judged) -> Finding:
        """Return what is found of it in a match."""


class Ordered(NamedTuple):
    """No condition: it orders the tickets that an anchor tries."""

    attribute: int
    from_anchor: bool  # whether by distance from the anchor's value; else by the value itself
    descending: bool
    key: Literal[
        "", "lowest", "highest"
    ]  # of a map: of which of the anchor's keys the value counts
    party: Party

    def sentence(self, table: "Table") -> str:
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
