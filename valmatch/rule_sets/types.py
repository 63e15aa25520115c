"""The types of rules: what each reads, checks and says.

Source: the page "FlexMatch rule types" of the guide, published examples, and threads of re:Post and
the former forums where they are named.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeVar

from valmatch.rule_sets.expressions import (
    ExpressionFault,
    Known,
    described,
    is_expression,
    read_expression,
)
from valmatch.rule_sets.items import Item
from valmatch.rule_sets.json_text import Node
from valmatch.rule_sets.table import (
    Aggregate,
    Combined,
    Compared,
    Counted,
    Ordered,
    Party,
    Predicate,
    Reached,
    Spread,
    Steps,
    Value,
    Within,
)
from valmatch.text.suggestions import hint
from valmatch.text.terminal import shown

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
        numbers = self.known.numbers
        name = item.choice(key, list(numbers), required=True)
        return None if name is None else numbers[name]

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
    if member and member.kind == "string":
        nodes = [member]
    else:
        nodes = list(item.list_of("measurements", "string", True, "no measurement"))
    found = [_expression(node, item, context) for node in nodes]
    return tuple(one for one in found if one)


def _expression(node: Node, item: Item, context: Context) -> Aggregate | None:
    """Return what an expression says, reporting one that says nothing."""
    try:
        return read_expression(str(node.value), context.known)
    except ExpressionFault as fault:
        item.problems.error(node.start, node.path, str(fault))
        return None


def reference_reader(context: Context) -> Callable[[Item, str], Value | None]:
    """Return a reader of references: numbers, expressions, and strings that are meant literally."""

    def read(item: Item, key: str) -> Value | None:
        node = item.members[key]
        if node.kind == "number":
            return item.number(key)
        if node.kind == "string":
            text = str(node.value)
            if is_expression(text):
                return _expression(node, item, context)
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


# Distance: numbers near a reference, or far from it. Source: distance rule: measurements,
# referenceValue, minDistance and/or maxDistance, bounds included. Numbers may be strings there
# (maxDistance "500"). partyAggregation has no effect on what is compared: each player's own value
# is (the service's staff, thread QUxOsRFXlpT1e85gJvlX-YoA of re:Post).


_distance = partial(Item.number, quoted=True, least=0)


def _read_distance(item: Item, target: str, context: Context) -> Within | None:
    read_party(item)
    measures = read_measures(item, context)
    for measure in measures:
        if measure.kind != "number":
            item.error("measurements", f"numbers are needed, not {described(measure)}")
    if "referenceValue" not in item.members:
        item.error("", "no referenceValue (a number or an expression is needed)")
    if not {"minDistance", "maxDistance"} & set(item.members):
        item.error("", "neither minDistance nor maxDistance")
    reference = context.stepped(item, target, "referenceValue", reference_reader(context))
    least = context.stepped(item, target, "minDistance", _distance)
    most = context.stepped(item, target, "maxDistance", _distance)
    if reference is None or not check_reference(item, "referenceValue", reference, "number", 0):
        return None
    return Within(measures, reference, least, most)


def _say_distance(rule: Within, names: Names) -> str:
    reference = " or ".join(spelled(value) for value in rule.reference.values)
    return f"{listed(rule.measures)}: {bounds(rule.least, rule.most)} away from {reference}"


DISTANCE = RuleType(
    ("measurements", "referenceValue", "minDistance", "maxDistance", "partyAggregation"),
    _read_distance,
    _say_distance,
    {"referenceValue": "reference", "minDistance": "least", "maxDistance": "most"},
)


# Comparison: values against a reference, or those of a list against each other. Source:
# comparison rule; without a reference the published example 6: = all equal, != all different,
# over each innermost list. Comparisons see the players' own values, whatever partyAggregation
# says (the service's staff, thread QUxOsRFXlpT1e85gJvlX-YoA of re:Post).

OPERATIONS = ("<", "<=", "=", "!=", ">", ">=")
EQUALITIES = ("=", "!=")


def _read_comparison(item: Item, target: str, context: Context) -> Compared | None:
    read_party(item)
    measures = read_measures(item, context)
    operation = item.choice("operation", OPERATIONS, required=True)
    reference = context.stepped(item, target, "referenceValue", reference_reader(context))
    if "referenceValue" not in item.members:
        _check_among(item, measures, operation)
        return Compared(measures, operation, None) if operation else None
    if reference is None or not measures or not _fits(item, measures, operation):
        return None
    check_reference(item, "referenceValue", reference, measures[0].kind, 0)
    return Compared(measures, operation, reference) if operation else None


def _check_among(item: Item, measures: tuple[Aggregate, ...], operation: str | None) -> None:
    """Report what cannot be compared among itself."""
    if operation and operation not in EQUALITIES:
        item.error("operation", f"{operation} needs a referenceValue; without one = or != is meant")
    for measure in measures:
        if measure.depth < 1 or measure.kind not in ("number", "text"):
            text = f"a list of numbers or strings is needed, not {described(measure)}"
            item.error("measurements", text)


def _fits(item: Item, measures: tuple[Aggregate, ...], operation: str | None) -> bool:
    """Report measurements that cannot be compared with a reference; return whether all can."""
    for measure in measures:
        if measure.kind not in ("number", "text") or measure.kind != measures[0].kind:
            item.error("measurements", f"numbers or strings are needed, not {described(measure)}")
            return False
        if measure.kind == "text" and operation not in (*EQUALITIES, None):
            item.error("operation", f"{operation} compares numbers, not {described(measure)}")
            return False
    return True


WORDS = {"=": "equal to", "!=": "other than", "<": "below", "<=": "at most", ">": "above"}


def _say_comparison(rule: Compared, names: Names) -> str:
    if rule.reference is None:
        how = "all the same" if rule.operation == "=" else "all different"
        return f"{listed(rule.measures)}: {how}"
    return (
        f"{listed(rule.measures)}: {WORDS.get(rule.operation, 'at least')} {amount(rule.reference)}"
    )


COMPARISON = RuleType(
    ("measurements", "referenceValue", "operation", "partyAggregation"),
    _read_comparison,
    _say_comparison,
    {"referenceValue": "reference"},
)


# Collection: how many strings lists have in common, or how many lists have a string. Source:
# collection rule; the published examples 3 (contains), 4 (intersection), 5 and 11
# (reference_intersection_count, of each player's list). Measurements are lists of string lists:
# the service refuses others (thread QUZBUgKUotT5qMohOO4XXI5A of re:Post). Lists over teams that
# are not flattened count team by team. partyAggregation has no effect on what is compared (by
# analogy).

COUNTS: dict[str, Literal["common", "holders", "overlap"]] = {
    "intersection": "common",
    "contains": "holders",
    "reference_intersection_count": "overlap",
}


_count = partial(Item.number, whole=True, least=0)


def _read_collection(item: Item, target: str, context: Context) -> Counted | None:
    item.choice("partyAggregation", ("union", "intersection"))
    measures = read_measures(item, context)
    for measure in measures:
        if measure.kind != "text" or measure.depth < 2:
            item.error(
                "measurements", f"a list of string lists is needed, not {described(measure)}"
            )
    operation = item.choice("operation", list(COUNTS), required=True)
    reference = context.stepped(item, target, "referenceValue", reference_reader(context))
    if not {"minCount", "maxCount"} & set(item.members):
        item.error("", "neither minCount nor maxCount")
    least = context.stepped(item, target, "minCount", _count)
    most = context.stepped(item, target, "maxCount", _count)
    if operation is None or not _check_counted_reference(item, COUNTS[operation], reference):
        return None
    return Counted(measures, COUNTS[operation], reference, least, most)


def _check_counted_reference(item: Item, counts: str, reference: Steps | None) -> bool:
    """Report a reference that an operation does not take; return whether it takes it."""
    given = "referenceValue" in item.members
    if counts == "common":
        if given:
            item.error("referenceValue", "intersection takes no reference")
        return not given
    if not given:
        item.error("", f"no referenceValue ({item.text('operation')} needs one)")
    if reference is None:
        return False
    return check_reference(
        item, "referenceValue", reference, "text", 0 if counts == "holders" else 1
    )


def _say_collection(rule: Counted, names: Names) -> str:
    many = bounds(rule.least, rule.most)
    lists = listed(rule.measures)
    if rule.counts == "common":
        return f"{lists}: {many} strings common to all players"
    if rule.counts == "holders":
        return f"{lists}: {many} players have {amount(rule.reference)}"
    return f"{lists}: of each player {many} strings among {amount(rule.reference)}"


COLLECTION = RuleType(
    ("measurements", "referenceValue", "operation", "minCount", "maxCount", "partyAggregation"),
    _read_collection,
    _say_collection,
    {"referenceValue": "reference", "minCount": "least", "maxCount": "most"},
)


# Latency: a region in which all can play. Source: latency rule; "50 ms or less" of the published
# example 3. One region for all (thread 6317 of the former forums), where each ticket is one
# number by partyAggregation ("the latency of each ticket"); whoever reads it otherwise lets each
# player count (`latencyOf`).

REFERENCES: tuple[Literal["min", "avg"], ...] = ("min", "avg")


_milliseconds = partial(Item.number, least=0)


def _read_latency(item: Item, target: str, context: Context) -> Reached | None:
    given = set(item.members)
    named = item.choice("distanceReference", REFERENCES)
    if not {"maxLatency", "maxDistance"} & given:
        item.error("", "neither maxLatency nor maxDistance")
    if "maxDistance" in given and "distanceReference" not in given:
        item.error("maxDistance", "no distanceReference (min or avg) that it is the distance to")
    if "distanceReference" in given and "maxDistance" not in given:
        item.error("distanceReference", "no maxDistance from it")
    most = context.stepped(item, target, "maxLatency", _milliseconds)
    spread = context.stepped(item, target, "maxDistance", _milliseconds)
    reference = next((one for one in REFERENCES if one == named), None)
    return Reached(most, spread, reference or "", read_party(item))


def _say_latency(rule: Reached, names: Names) -> str:
    parts = []
    if rule.most:
        parts.append(f"at most {amount(rule.most)} ms")
    if rule.spread:
        what = {"min": "the least", "avg": "the mean"}.get(rule.reference, "")
        parts.append(f"at most {amount(rule.spread)} ms from {what} of the players")
    whose = "player" if rule.each else "ticket"
    return f"some region that all report, with {' and '.join(parts)} for every {whose}"


LATENCY = RuleType(
    ("maxLatency", "maxDistance", "distanceReference", "partyAggregation"),
    _read_latency,
    _say_latency,
    {"maxLatency": "most", "maxDistance": "spread"},
    large=True,
)


# Batch distance: tickets close to each other in an attribute. Source: batch distance rule: of
# numbers the largest difference "of all tickets" is at most maxDistance, of strings there is one
# value for all. Small and large matches; not in compounds.


def _read_batch(item: Item, target: str, context: Context) -> Spread | None:
    attribute = context.attribute(item, "batchAttribute")
    most = context.stepped(item, target, "maxDistance", _distance)
    party = read_party(item)
    if attribute is None:
        return None
    kind = context.known.attributes[attribute].kind
    if kind not in ("number", "text"):
        item.error("batchAttribute", "a number or a string is needed, no list and no map")
        return None
    if kind == "number" and "maxDistance" not in item.members:
        item.error("", "no maxDistance (numbers need one)")
        return None
    if kind == "text" and "maxDistance" in item.members:
        item.warn("maxDistance", "has no effect: strings have to be the same")
    return Spread(attribute, most if kind == "number" else None, party)


def _say_batch(rule: Spread, names: Names) -> str:
    name = names.attributes[rule.attribute]
    if rule.most is None:
        return f"{name}: the same for all"
    how = {"avg": "mean", "min": "lowest", "max": "highest"}[rule.party]
    return f"{name}: all tickets within {amount(rule.most)} of each other (of a party the {how})"


BATCH_DISTANCE = RuleType(
    ("batchAttribute", "maxDistance", "partyAggregation"),
    _read_batch,
    _say_batch,
    {"maxDistance": "most"},
    large=True,
)


# Sorts: in what order an anchor tries the other tickets. Source: absolute sort and distance sort;
# several in the order of the rule set (published example 4). Of a map the value at the anchor's
# lowest or highest key counts; who does not have it comes last.

MAP_KEYS = ("minValue", "maxValue")


def _read_order(from_anchor: bool, item: Item, target: str, context: Context) -> Ordered | None:
    direction = item.choice("sortDirection", ("ascending", "descending"), required=True)
    attribute = context.attribute(item, "sortAttribute")
    key = item.choice("mapKey", MAP_KEYS)
    party = read_party(item)
    if attribute is None or direction is None:
        return None
    kind = context.known.attributes[attribute].kind
    if kind not in ("number", "map"):
        item.error("sortAttribute", "a number or a map is needed, no string and no list")
        return None
    if kind == "map" and "mapKey" not in item.members:
        item.error("", "no mapKey (minValue or maxValue: maps need one)")
        return None
    if kind == "number" and key:
        item.warn("mapKey", "has no effect: the attribute is no map")
        key = None
    which = "" if key is None else ("lowest" if key == MAP_KEYS[0] else "highest")
    return Ordered(attribute, from_anchor, direction == "descending", which, party)  # type: ignore[arg-type]


def _say_order(rule: Ordered, names: Names) -> str:
    what = f"the value of {names.attributes[rule.attribute]}"
    if rule.key:
        what += f" at the {rule.key} key of the ticket that a match is built around"
    if rule.from_anchor:
        return f"tickets {'farthest from' if rule.descending else 'nearest to'} {what} come first"
    return f"tickets with the {'highest' if rule.descending else 'lowest'} {what[4:]} come first"


SORT_KEYS = ("sortDirection", "sortAttribute", "mapKey", "partyAggregation")

DISTANCE_SORT = RuleType(SORT_KEYS, partial(_read_order, True), _say_order)
ABSOLUTE_SORT = RuleType(SORT_KEYS, partial(_read_order, False), _say_order)


# Compound: logic over rules that stand before it and need not hold alone. Source: compound rule:
# matches of up to 40 players; no batchDistance in it; it has no expansion itself, its members may
# have.

ARITIES = {"and": 2, "or": 2, "xor": 2, "not": 1}  # operators and how many arguments they take
DEEPEST = 64  # most operators in each other

STATEMENT_TOKEN = re.compile(r"\s*(?:([(),])|([^(),\s](?:[^(),]*[^(),\s])?))")


class StatementFault(Exception):  # noqa: N818 - caught where the statement is read
    """A statement says nothing; its text says why."""


def _read_statement(text: str, rules: Mapping[str, int]) -> tuple[int | str, ...]:
    """Return a statement as a program in postfix order: numbers of rules, and operators."""
    program: list[int | str] = []
    tokens = STATEMENT_TOKEN.findall(text)[::-1]  # brackets and words, the next one last

    def take(*brackets: str) -> str:
        """Return the next token: one of some brackets, "" for a word."""
        if not tokens:
            raise StatementFault("it ends too early" if text.strip() else "it is empty")
        bracket, word = tokens.pop()
        if bracket not in brackets:
            raise StatementFault(f"{shown(word or bracket)} stands where it has no meaning")
        return str(word or bracket)

    def argument(depth: int) -> None:
        word = take("")
        if not tokens or tokens[-1][0] != "(":
            if word not in rules:
                raise StatementFault(f"no rule {shown(word)} before this one ({hint(word, rules)})")
            program.append(rules[word])
            return
        if word not in ARITIES:
            raise StatementFault(f"no operator {shown(word)} ({hint(word, ARITIES)})")
        if depth == DEEPEST:
            raise StatementFault(f"nested deeper than {DEEPEST} operators")
        arguments, bracket = 0, take("(")
        while bracket != ")":
            argument(depth + 1)
            arguments, bracket = arguments + 1, take(",", ")")
        if arguments != ARITIES[word]:
            raise StatementFault(f"{word} takes {ARITIES[word]}, not {arguments}")
        program.append(word)

    argument(0)
    if tokens:
        take()
    return tuple(program)


def _read_compound(item: Item, target: str, context: Context) -> Combined | None:
    statement = item.text("statement", required=True)
    if statement is None:
        return None
    try:
        program = _read_statement(statement, context.earlier)
    except StatementFault as fault:
        item.error("statement", str(fault))
        return None
    numbers = {number for number in program if isinstance(number, int)}
    for name, number in context.earlier.items():
        if number in numbers and context.combined[name] == "batchDistance":
            item.error("statement", f"{shown(name)} is a batchDistance, which no compound can use")
            return None
    return Combined(program)


def _say_compound(rule: Combined, names: Names) -> str:
    stack: list[str] = []
    for part in rule.program:
        if isinstance(part, int):
            stack.append(names.rules[part])
        elif part == "not":
            stack.append(f"not {stack.pop()}")
        else:
            second, first = stack.pop(), stack.pop()
            joined = f"either {first} or {second}" if part == "xor" else f"{first} {part} {second}"
            stack.append(f"({joined})")
    return stack[0].removeprefix("(").removesuffix(")") if stack[0].count("(") == 1 else stack[0]


COMPOUND = RuleType(("statement",), _read_compound, _say_compound)


TYPES: dict[str, RuleType] = {
    "distance": DISTANCE,
    "comparison": COMPARISON,
    "collection": COLLECTION,
    "latency": LATENCY,
    "batchDistance": BATCH_DISTANCE,
    "distanceSort": DISTANCE_SORT,
    "absoluteSort": ABSOLUTE_SORT,
    "compound": COMPOUND,
}
"""What a rule set may call its rules."""

OF_PREDICATE: dict[type[Predicate], RuleType] = {
    Within: DISTANCE,
    Compared: COMPARISON,
    Counted: COLLECTION,
    Reached: LATENCY,
    Spread: BATCH_DISTANCE,
    Ordered: DISTANCE_SORT,
    Combined: COMPOUND,
}
"""The type that says in words what a predicate is."""
