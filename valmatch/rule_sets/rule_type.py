"""The protocol of a type of rules, with the context that its reader is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from valmatch.rule_sets.expressions import (
    ExpressionFault,
    Known,
    described,
    is_expression,
    read_expression,
)
from valmatch.rule_sets.items import Item
from valmatch.rule_sets.table import Aggregate, Party, Predicate, Steps, Value

T = TypeVar("T")

PARTIES: tuple[Party, ...] = ("avg", "min", "max")


class Expansion(NamedTuple):
    """Steps of the file for one target; `item` is where they stand."""

    item: Item
    steps: tuple[tuple[float, Item], ...]


class Context(NamedTuple):
    """What a rule may refer to."""

    known: Known  # attributes and teams
    earlier: dict[str, int]  # the numbers of the rules before it
    combined: dict[str, str]  # the types of the rules before it
    expansions: dict[str, Expansion]  # steps by target
    used: set[str]  # targets that something has been found for

    def attribute(self, item: Item, key: str) -> int | None:
        """Return the number of the attribute that a key names, reporting an unknown one."""
        name = item.choice(key, [one.name for one in self.known.attributes], required=True)
        names = [one.name for one in self.known.attributes]
        return None if name is None else names.index(name)

    def stepped(
        self, item: Item, target: str, key: str, read: Callable[[Item, str], T | None]
    ) -> Steps | None:
        """Return a value of a rule or team with its steps; None where it has none."""
        if key not in item.members:
            return None
        first: Any = read(item, key)
        name = f"{target}.{key}"
        self.used.add(name)
        expansion = self.expansions.get(name)
        steps = expansion.steps if expansion else ()
        later: list[Any] = [read(step, "value") for _, step in steps]
        if first is None or None in later:
            return None
        return Steps(tuple(wait for wait, _ in steps), (first, *later))


class RuleType(NamedTuple):
    """A type of rules."""

    keys: tuple[str, ...]  # the properties that it has besides name, type and description
    # returns what a rule says, given its item, what expansions call it, and the context; None if it
    # says nothing. Wrong values are reported
    read: Callable[[Item, str, Context], Predicate | None]
    # returns a predicate of this type in words, given the names of attributes and rules
    sentence: Callable[[Any, Names], str]
    # the properties that may have steps, and what the predicate calls them
    expandable: Mapping[str, str] = MappingProxyType({})
    large: bool = False  # whether large matches know it


class Names(NamedTuple):
    """Names of a table by number."""

    attributes: Sequence[str]
    rules: Sequence[str]


def read_party(item: Item) -> Party:
    """Return what of its players stands for a ticket."""
    value = item.choice("partyAggregation", PARTIES)
    return next((party for party in PARTIES if party == value), "avg")


def read_measures(item: Item, context: Context) -> tuple[Aggregate, ...]:
    """Return the measurements of a rule, as a list or alone."""
    member = item.members.get("measurements")
    if member and member.node.kind == "string":
        nodes = [(item.inner("measurements"), member.node)]
    else:
        nodes = list(item.list_of("measurements", "string", required=True))
        if member and member.node.kind == "array" and not member.node.value:
            item.error("measurements", "no measurement")
    found = [_expression(path, str(node.value), item, context, node.start) for path, node in nodes]
    return tuple(one for one in found if one)


def _expression(path: str, text: str, item: Item, context: Context, at: int) -> Aggregate | None:
    """Return what an expression says, reporting one that says nothing."""
    try:
        return read_expression(text, context.known)
    except ExpressionFault as fault:
        item.problems.error(at, path, str(fault))
        return None


def reference_reader(context: Context) -> Callable[[Item, str], Value | None]:
    """Return a reader of references: numbers, expressions, and strings that are meant literally."""

    def read(item: Item, key: str) -> Value | None:
        node = item.members[key].node
        if node.kind == "number":
            return item.number(key)
        if node.kind == "string":
            text = str(node.value)
            if is_expression(text):
                return _expression(item.inner(key), text, item, context, node.start)
            return text
        item.error(key, "a number, a string or an expression is needed")
        return None

    return read


def check_reference(item: Item, key: str, reference: Steps, kind: str, depth: int) -> bool:
    """Report a reference that is not of a kind and depth at every age; return whether it is."""
    wanted = described(_plain(kind, depth))
    for value in reference.values:
        found = value if isinstance(value, Aggregate) else _plain(_kind(value), 0)
        if (found.kind, found.depth) != (kind, depth):
            item.error(key, f"{wanted} is needed, not {described(found)}")
            return False
    return True


def _kind(value: object) -> str:
    return "text" if isinstance(value, str) else "number"


def _plain(kind: str, depth: int) -> Aggregate:
    """Return an aggregate of a kind and depth, for `described`."""
    return Aggregate("", (), False, "", (), kind, depth)  # type: ignore[arg-type]


def amount(steps: Steps | None) -> str:
    """Return a value with its steps in words: ``10 (50 from 5 s, 100 from 15 s)``."""
    if steps is None:
        return ""
    first, *later = (spelled(value) for value in steps.values)
    further = ", ".join(
        f"{value} from {wait:g} s" for value, wait in zip(later, steps.waits, strict=True)
    )
    return f"{first} ({further})" if further else first


def spelled(value: object) -> str:
    """Return a value in words."""
    if isinstance(value, Aggregate):
        return value.text
    return f'"{value}"' if isinstance(value, str) else f"{value:.12g}"


def listed(measures: Sequence[Aggregate]) -> str:
    """Return measurements in words."""
    return " and ".join(one.text for one in measures)


def bounds(least: Steps | None, most: Steps | None) -> str:
    """Return a range in words."""
    if least and most:
        return f"at least {amount(least)} and at most {amount(most)}"
    return f"at least {amount(least)}" if least else f"at most {amount(most)}"
