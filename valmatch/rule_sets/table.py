"""The internal table of a matchmaker, whatever language its rules are written in.

Teams; predicates over aggregates, with numbers that are step functions of an age; the order in
which tickets are tried; the clock. A language needs nothing but a reader that makes this.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Literal, NamedTuple, TypeAlias

Kind = Literal["number", "text", "player", "team"]
"""What an aggregate consists of."""

Party = Literal["avg", "min", "max"]
"""What of a ticket's players stands for the ticket."""

Valued = Literal["number", "text", "texts", "map"]
"""What an attribute of a player is."""


class Aggregate(NamedTuple):
    """A value of a match that is not complete yet: of its teams, functions of their players.

    Attributes
    ----------
    text : str
        How it is written.
    teams : tuple of int
        The teams.
    grouped : bool
        Whether the players come by team; else of one team.
    source : int or str
        Number of an attribute, or ``players``, ``ids``, ``teams``.
    functions : tuple of str
        Applied one after the other, each to the innermost lists.
    kind : str
        Of what it is.
    depth : int
        Of how many levels of lists.
    """

    text: str
    teams: tuple[int, ...]
    grouped: bool
    source: int | str
    functions: tuple[str, ...]
    kind: Kind
    depth: int


Value: TypeAlias = "float | str | Aggregate"


class Steps(NamedTuple):
    """A step function of an age.

    Attributes
    ----------
    waits : tuple of float
        Ages from which the next value holds, increasing.
    values : tuple
        Values: one more than waits.
    """

    waits: tuple[float, ...]
    values: tuple[Value, ...]

    def at(self, age: float) -> Value:
        """Return the value that holds at an age."""
        return self.values[bisect_right(self.waits, age)]


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
    """A number of texts in lists of the players is in a range.

    Attributes
    ----------
    measures : tuple of Aggregate
        The lists.
    counts : {"common", "holders", "overlap"}
        Texts common to all lists; lists that have the reference; of each list, the texts that it
        has in common with the reference.
    reference : Steps or None
    least, most : Steps or None
    """

    measures: tuple[Aggregate, ...]
    counts: Literal["common", "holders", "overlap"]
    reference: Steps | None
    least: Steps | None
    most: Steps | None


class Reached(NamedTuple):
    """There is a region that all can play in.

    Attributes
    ----------
    most : Steps or None
        Most milliseconds of a ticket.
    spread : Steps or None
        Most milliseconds between a ticket and the reference.
    reference : {"min", "avg", ""}
        Of the players of the match.
    party : str
    each : bool
        Whether every player counts for itself, whatever `party` is.
    """

    most: Steps | None
    spread: Steps | None
    reference: Literal["min", "avg", ""]
    party: Party
    each: bool = False


class Spread(NamedTuple):
    """The tickets' values of an attribute are close to each other, or texts the same."""

    attribute: int
    most: Steps | None
    party: Party


class Combined(NamedTuple):
    """Other rules combined: a program in postfix order of numbers of rules and operators."""

    program: tuple[int | str, ...]


class Ordered(NamedTuple):
    """No condition: it orders the tickets that an anchor tries.

    Attributes
    ----------
    attribute : int
    from_anchor : bool
        Whether by distance from the anchor's value; else by the value itself.
    descending : bool
    key : {"", "lowest", "highest"}
        Of a map: of which of the anchor's keys the value counts.
    party : str
    """

    attribute: int
    from_anchor: bool
    descending: bool
    key: Literal["", "lowest", "highest"]
    party: Party


Predicate: TypeAlias = "Within | Compared | Counted | Reached | Spread | Combined | Ordered"


class Rule(NamedTuple):
    """A rule: what has to hold of a match, by itself unless another one takes it up."""

    name: str
    predicate: Predicate
    alone: bool = True


class Search(NamedTuple):
    """Whose tickets are tried with whose, in what order.

    Attributes
    ----------
    large : bool
        Whether matches are large, and filled by closeness in the attribute `balance`.
    balance : int or None
    batches : {"random", "sorted"}
        How the pool is cut where batches have a size.
    batch_order : tuple of int
        The attributes that `sorted` sorts by.
    backfill : {"normal", "high", "low"}
        Whether tickets of games that run are anchors by age, first, or last.
    """

    large: bool = False
    balance: int | None = None
    batches: Literal["random", "sorted"] = "random"
    batch_order: tuple[int, ...] = ()
    backfill: Literal["normal", "high", "low"] = "normal"


class Table(NamedTuple):
    """All that a matchmaker goes by.

    Attributes
    ----------
    attributes : tuple of Attribute
    teams : tuple of Team
    rules : tuple of Rule
    search : Search
    oldest : bool
        Whether the age of a match is that of its oldest ticket; else of its newest.
    waits : tuple of float
        All ages of a ticket at which something may change, increasing.
    """

    attributes: tuple[Attribute, ...]
    teams: tuple[Team, ...]
    rules: tuple[Rule, ...]
    search: Search
    oldest: bool
    waits: tuple[float, ...]
