"""The internal table of a matchmaker, whatever language its rules are written in.

Teams; predicates over aggregates, with numbers that are step functions of an age; the order in
which tickets are tried; the clock. A language needs nothing but a reader that makes this.
"""

from __future__ import annotations

from bisect import bisect_right
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


class Steps(NamedTuple):
    """A step function of an age."""

    waits: tuple[float, ...]  # ages from which the next value holds, increasing
    values: tuple[Value, ...]  # values: one more than waits

    def at(self, age: float) -> Value:
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


class Within(NamedTuple):
    """Every measured number is in a range of distances to a reference, bounds included."""

    measures: tuple[Aggregate, ...]
    reference: Steps
    least: Steps | None
    most: Steps | None


class Compared(NamedTuple):
    """Every measured value compares to a reference; without one, those of a list to each other."""

    measures: tuple[Aggregate, ...]
    operation: str
    reference: Steps | None


class Counted(NamedTuple):
    """A number of texts in lists of the players is in a range."""

    measures: tuple[Aggregate, ...]  # the lists
    # texts common to all lists; lists that have the reference; of each list, the texts that it has
    # in common with the reference
    counts: Literal["common", "holders", "overlap"]
    reference: Steps | None
    least: Steps | None
    most: Steps | None


class Reached(NamedTuple):
    """There is a region that all can play in."""

    most: Steps | None  # most milliseconds of a ticket
    spread: Steps | None  # most milliseconds between a ticket and the reference
    reference: Literal["min", "avg", ""]  # of the players of the match
    party: Party
    each: bool = False  # whether every player counts for itself, whatever `party` is


class Spread(NamedTuple):
    """The tickets' values of an attribute are close to each other, or texts the same."""

    attribute: int
    most: Steps | None
    party: Party


class Combined(NamedTuple):
    """Other rules combined: a program in postfix order of numbers of rules and operators."""

    program: tuple[int | str, ...]


class Ordered(NamedTuple):
    """No condition: it orders the tickets that an anchor tries."""

    attribute: int
    from_anchor: bool  # whether by distance from the anchor's value; else by the value itself
    descending: bool
    # of a map: of which of the anchor's keys the value counts
    key: Literal["", "lowest", "highest"]
    party: Party


Predicate: TypeAlias = "tuple[Any, ...]"
"""What a rule says: one of these, or another one that a type of rules has for itself."""


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


OPEN = {"count", "sum"}  # functions that say nothing of a match that is not complete


class Search(NamedTuple):
    """Whose tickets are tried with whose, in what order."""

    # whether matches are large, and filled by closeness in the attribute `balance`
    large: bool = False
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
