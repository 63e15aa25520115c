"""The types of rules: what each reads, checks and says, and what it finds of a match.

What is found is found in plain Python, slowly, one rule at a time; `matching.tickets.judging` has
the same compiled. What cannot be said of a match that is not complete is unknown: rules with count
or sum, the least number of players who have a text, what `not` and `xor` make of it.

Source: the page "FlexMatch rule types" of the guide, published examples, and threads of re:Post and
the former forums where they are named.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, cast

from valmatch.rule_sets.expressions import (
    LIKE,
    ExpressionFault,
    Known,
    described,
    read_expression,
)
from valmatch.rule_sets.json_text import Item, Node
from valmatch.rule_sets.table import (
    Aggregate,
    Combined,
    Compared,
    Counted,
    Kind,
    Ordered,
    Party,
    Predicate,
    Reached,
    Spread,
    Steps,
    Table,
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


class Earlier(NamedTuple):
    """A rule that stands before another one."""

    number: int  # in the table; below 0 where the rule has a fault
    kind: str  # what the rule set calls its type; "" where that is unknown


def attribute_of(
    node: Node | None, item: Item, known: Known, kinds: Collection[str] = (), wrong: str = ""
) -> int | None:
    """Return the attribute of a name, reporting one that is unknown or of none of some kinds."""
    if node is None:
        return None
    name = str(node.value)
    number = known.numbers.get(name)
    if number is None:
        text = f"no attribute {shown(name)} is declared ({hint(name, known.numbers)})"
        item.problems.error(node.start, node.path, text)
    elif kinds and known.attributes[number].kind not in kinds:
        item.problems.error(node.start, node.path, f"{shown(name)} is {wrong}")
        return None
    return number


class Context(NamedTuple):
    """What a rule may refer to."""

    known: Known  # attributes and teams
    earlier: dict[str, Earlier]  # the rules before it, by name
    expansions: dict[str, Expansion]  # steps by target
    used: set[str]  # targets that there is something for

    def attribute(self, item: Item, key: str) -> int | None:
        """Return the number of the attribute that a key names, reporting an unknown one."""
        return attribute_of(item.get(key, "string", required=True), item, self.known)

    def stepped(
        self, item: Item, target: str, key: str, read: Callable[[Item, str], T | None]
    ) -> Steps | None:
        """Return a value of a rule or team with its steps; None where it has none."""
        if key not in item.members:
            return None
        name = f"{target}.{key}"
        self.used.add(name)
        steps = self.expansions[name].steps if name in self.expansions else ()
        values: list[Any] = [read(item, key), *(read(step, "value") for _, step in steps)]
        return None if None in values else Steps(tuple(wait for wait, _ in steps), tuple(values))


# Matches, complete or not, as rules find them.

Verdict = bool | None  # None is unknown


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


class Ping(NamedTuple):
    """Milliseconds of a ticket in a region: the highest and the lowest that a rule looks at."""

    # They are the same where one number stands for the ticket. `total` and `least` are of its
    # players, for references.

    high: float
    low: float
    total: float
    least: float


class Judged(Protocol):
    """A match that rules are judged on; what is undefined of it is None."""

    partial: bool  # whether it is judged as not complete
    players: int

    def number(self, steps: Steps | None) -> float | None:
        """Return a number that is in force, None where there is none."""

    def value(self, measure: Aggregate) -> Any:  # noqa: ANN401
        """Return an aggregate: a value, or nested lists of values."""

    def reference(self, steps: Steps) -> Any:  # noqa: ANN401
        """Return the value of a reference."""

    def pings(self, rule: Reached) -> list[dict[str, Ping]]:
        """Return of each ticket what a rule looks at, by region that all its players report."""

    def parties(self, attribute: int) -> list[list[Any]]:
        """Return the values of the players of each ticket."""

    def finding(self, number: int) -> Finding:
        """Return what is found of a rule."""


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


def leaves(value: Any) -> list[Any]:  # noqa: ANN401
    """Return all single values of nested lists that are defined."""
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in leaves(item)]
    return defined([value])


def in_range(numbers: Sequence[float], rule: Within | Counted, match: Judged) -> Finding:
    """Return whether all of some numbers are in the range of a rule."""
    least, most = match.number(rule.least), match.number(rule.most)
    lacks = []
    if numbers and least is not None and min(numbers) < least:
        lacks.append(Lack("least", min(numbers), least))
    if numbers and most is not None and max(numbers) > most:
        lacks.append(Lack("most", max(numbers), most))
    return Finding(not lacks, tuple(lacks))


# What types have.


class RuleType(NamedTuple):
    """A type of rules."""

    keys: tuple[str, ...]  # the properties that it has besides name, type and description
    # returns what a rule says, given its item, what expansions call it, and the context; None if it
    # says nothing. Wrong values are reported
    read: Callable[[Item, str, Context], Predicate | None]
    sentence: Callable[[Any, Table], str]  # returns a predicate of this type in words
    judge: Callable[[Any, Judged], Finding]  # returns what is found of one in a match
    predicate: type[Predicate]  # what `read` makes
    # the properties that may have steps, and what the predicate calls them
    expandable: Mapping[str, str] = MappingProxyType({})
    large: bool = False  # whether large matches know it


def read_party(item: Item) -> Party:
    """Return what of its players stands for a ticket."""
    return cast(Party, item.choice("partyAggregation", PARTIES) or "avg")


def read_measures(
    item: Item, context: Context, kinds: Collection[str], depth: int, wanted: str
) -> tuple[Aggregate, ...]:
    """Return the measurements of a rule, as a list or alone; those of another kind are reported."""
    member = item.members.get("measurements")
    if member and member.kind == "string":
        nodes = [member]
    else:
        nodes = list(item.list_of("measurements", "string", True, "no measurement"))
    measures = [aggregate for node in nodes if (aggregate := _expression(node, item, context))]
    for measure in measures:
        if measure.kind not in kinds or measure.depth < depth:
            instead = described(measure.kind, measure.depth)
            item.error("measurements", f"{wanted} needed, not {instead}")
    return tuple(measures)


def _expression(node: Node, item: Item, context: Context) -> Aggregate | None:
    """Return what an expression says, reporting one that says nothing."""
    try:
        return read_expression(str(node.value), context.known)
    except ExpressionFault as fault:
        item.problems.error(node.start, node.path, str(fault))
        return None


def read_reference(context: Context, item: Item, target: str) -> Steps | None:
    """Return a reference: a number, an expression, or a string that is meant literally."""

    def read(item: Item, key: str) -> Value | None:
        node = item.members[key]
        if node.kind == "number":
            return item.number(key)
        if node.kind != "string":
            item.error(key, "a number, a string or an expression is needed")
            return None
        text = str(node.value)
        return _expression(node, item, context) if LIKE.match(text) else text

    return context.stepped(item, target, "referenceValue", read)


def is_reference(item: Item, reference: Steps, kind: Kind, depth: int) -> bool:
    """Return whether a reference is of a kind and depth at every age, reporting one that is not."""
    for value in reference.values:
        kind_and_depth: tuple[Kind, int] = "text" if isinstance(value, str) else "number", 0
        if isinstance(value, Aggregate):
            kind_and_depth = value.kind, value.depth
        if kind_and_depth != (kind, depth):
            wanted = described(kind, depth)
            item.error("referenceValue", f"{wanted} is needed, not {described(*kind_and_depth)}")
            return False
    return True


def amount(steps: Steps | None) -> str:
    """Return a value with its steps in words: ``10 (50 from 5 s, 100 from 15 s)``."""
    if steps is None:
        return ""
    first, *later = map(spelled, steps.values)
    further = [f"{value} from {wait:g} s" for value, wait in zip(later, steps.waits, strict=True)]
    return f"{first} ({', '.join(further)})" if further else first


def spelled(value: object) -> str:
    """Return a value in words."""
    if isinstance(value, Aggregate):
        return value.text
    return f'"{value}"' if isinstance(value, str) else f"{value:.12g}"


def listed(measures: Sequence[Aggregate]) -> str:
    """Return measurements in words."""
    return " and ".join(measure.text for measure in measures)


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
    measures = read_measures(item, context, ("number",), 0, "numbers are")
    if "referenceValue" not in item.members:
        item.error("", "no referenceValue (a number or an expression is needed)")
    if not {"minDistance", "maxDistance"} & set(item.members):
        item.error("", "neither minDistance nor maxDistance")
    reference = read_reference(context, item, target)
    least = context.stepped(item, target, "minDistance", _distance)
    most = context.stepped(item, target, "maxDistance", _distance)
    if reference is None or not is_reference(item, reference, "number", 0):
        return None
    return Within(measures, reference, least, most)


def _say_distance(rule: Within, table: Table) -> str:
    reference = " or ".join(spelled(value) for value in rule.reference.values)
    return f"{listed(rule.measures)}: {bounds(rule.least, rule.most)} away from {reference}"


def _judge_distance(rule: Within, match: Judged) -> Finding:
    reference = match.reference(rule.reference)
    if reference is None:
        return HOLDS
    values = [value for measure in rule.measures for value in leaves(match.value(measure))]
    return in_range([abs(value - reference) for value in values], rule, match)


# Comparison: values against a reference, or those of a list against each other. Source:
# comparison rule; without a reference the published example 6: = all equal, != all different,
# over each innermost list. Comparisons see the players' own values, whatever partyAggregation
# says (the service's staff, thread QUxOsRFXlpT1e85gJvlX-YoA of re:Post).

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


def _read_comparison(item: Item, target: str, context: Context) -> Compared | None:
    read_party(item)
    operation = item.choice("operation", list(OPERATIONS), required=True)
    if "referenceValue" not in item.members:
        wanted = "a list of numbers or strings is"
        measures = read_measures(item, context, ("number", "text"), 1, wanted)
        if operation and operation not in EQUALITIES:
            text = f"{operation} needs a referenceValue; without one = or != is meant"
            item.error("operation", text)
        return Compared(measures, operation, None) if operation else None
    measures = read_measures(item, context, ("number", "text"), 0, "numbers or strings are")
    reference = read_reference(context, item, target)
    kinds = {measure.kind for measure in measures} & {"number", "text"}
    if reference is None or not kinds:
        return None
    if len(kinds) > 1:
        item.error("measurements", "numbers or strings are needed, not both")
        return None
    (kind,) = kinds
    if kind == "text" and operation not in (*EQUALITIES, None):
        instead = next(
            described(measure.kind, measure.depth) for measure in measures if measure.kind == kind
        )
        item.error("operation", f"{operation} compares numbers, not {instead}")
    is_reference(item, reference, kind, 0)
    return Compared(measures, operation, reference) if operation else None


def _say_comparison(rule: Compared, table: Table) -> str:
    if rule.reference is None:
        how = "all the same" if rule.operation == "=" else "all different"
        return f"{listed(rule.measures)}: {how}"
    return f"{listed(rule.measures)}: {OPERATIONS[rule.operation][0]} {amount(rule.reference)}"


def _judge_comparison(rule: Compared, match: Judged) -> Finding:
    values = [match.value(measure) for measure in rule.measures]
    if rule.reference is None:
        lists = [inner for value in values for inner in _innermost(value)]
        distinct = [len(set(inner)) for inner in lists]
        if rule.operation == "=":
            return Finding(max(distinct, default=0) <= 1)
        return Finding(distinct == list(map(len, lists)))
    reference = match.reference(rule.reference)
    if reference is None:
        return HOLDS
    compares = OPERATIONS[rule.operation][1]
    wrong = [leaf for value in values for leaf in leaves(value) if not compares(leaf, reference)]
    if not wrong:
        return HOLDS
    if rule.operation in EQUALITIES:
        return Finding(False)
    worst = max(wrong) if rule.operation in ("<", "<=") else min(wrong)
    return Finding(False, (Lack("reference", worst, reference),))


def _innermost(value: Any) -> list[list[Any]]:  # noqa: ANN401
    """Return the innermost lists that are defined, each without what is undefined in it."""
    inner = defined(value or ())
    if inner and isinstance(inner[0], list | tuple):
        return [values for deeper in inner for values in _innermost(deeper)]
    return [inner]


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
    measures = read_measures(item, context, ("text",), 2, "a list of string lists is")
    operation = item.choice("operation", list(COUNTS), required=True)
    reference = read_reference(context, item, target)
    if not {"minCount", "maxCount"} & set(item.members):
        item.error("", "neither minCount nor maxCount")
    least = context.stepped(item, target, "minCount", _count)
    most = context.stepped(item, target, "maxCount", _count)
    if operation is None:
        return None
    counts = COUNTS[operation]
    if counts == "common":
        if "referenceValue" in item.members:
            item.error("referenceValue", "intersection takes no reference")
    elif "referenceValue" not in item.members:
        item.error("", f"no referenceValue ({operation} needs one)")
        return None
    elif reference is None or not is_reference(item, reference, "text", int(counts == "overlap")):
        return None
    return Counted(measures, counts, reference, least, most)


def _say_collection(rule: Counted, table: Table) -> str:
    many = bounds(rule.least, rule.most)
    lists = listed(rule.measures)
    if rule.counts == "common":
        return f"{lists}: {many} strings common to all players"
    if rule.counts == "holders":
        return f"{lists}: {many} players have {amount(rule.reference)}"
    return f"{lists}: of each player {many} strings among {amount(rule.reference)}"


def _judge_collection(rule: Counted, match: Judged) -> Finding:
    reference = match.reference(rule.reference) if rule.reference else None
    if rule.counts == "overlap" and reference is None:
        return HOLDS
    counts: list[float] = []
    for measure in rule.measures:
        for lists in _groups(match.value(measure), measure.depth):
            counts += _counts(rule, lists, reference)
    if not (match.partial and rule.counts == "holders" and rule.least is not None):
        return in_range(counts, rule, match)
    finding = in_range(counts, rule._replace(least=None), match)
    return finding if finding.verdict is False else Finding(None)


def _groups(value: Any, depth: int) -> list[list[Any]]:  # noqa: ANN401
    """Return the lists of lists of a value of a depth; what is undefined is left out."""
    if value is None:
        return []
    if depth == 2:
        return [defined(value)]
    return [group for inner in defined(value) for group in _groups(inner, depth - 1)]


def common(lists: Sequence[Sequence[Any]]) -> list[Any] | None:
    """Return what all of some lists have; None if there is no list."""
    if not lists:
        return None
    first, *others = lists
    return [value for value in first if all(value in other for other in others)]


def _counts(rule: Counted, lists: list[Any], reference: Any) -> list[float]:  # noqa: ANN401
    """Return what a rule counts of some lists: one number, of overlaps one for each list."""
    if rule.counts == "holders":
        return [float(sum(reference in texts for texts in lists))]
    if rule.counts == "common":
        shared = common(lists)
        return [] if shared is None else [float(len(shared))]
    return [float(sum(value in reference for value in texts)) for texts in lists]


# Latency: a region in which all can play. Source: latency rule; "50 ms or less" of the published
# example 3. One region for all (thread 6317 of the former forums), where each ticket is one
# number by partyAggregation ("the latency of each ticket"); whoever reads it otherwise lets each
# player count (`latencyOf`).

REFERENCES: tuple[Literal["min", "avg"], ...] = ("min", "avg")


_milliseconds = partial(Item.number, least=0)


def _read_latency(item: Item, target: str, context: Context) -> Reached | None:
    keys = set(item.members)
    named = item.choice("distanceReference", REFERENCES)
    if not {"maxLatency", "maxDistance"} & keys:
        item.error("", "neither maxLatency nor maxDistance")
    if "maxDistance" in keys and "distanceReference" not in keys:
        item.error("maxDistance", "no distanceReference (min or avg) that it is the distance to")
    if "distanceReference" in keys and "maxDistance" not in keys:
        item.error("distanceReference", "no maxDistance from it")
    most = context.stepped(item, target, "maxLatency", _milliseconds)
    spread = context.stepped(item, target, "maxDistance", _milliseconds)
    return Reached(most, spread, cast(Any, named or ""), read_party(item))


def _say_latency(rule: Reached, table: Table) -> str:
    parts = []
    if rule.most:
        parts.append(f"at most {amount(rule.most)} ms")
    if rule.spread:
        what = {"min": "the least", "avg": "the mean"}.get(rule.reference, "")
        parts.append(f"at most {amount(rule.spread)} ms from {what} of the players")
    whose = "player" if rule.each else "ticket"
    return f"some region that all report, with {' and '.join(parts)} for every {whose}"


def _judge_latency(rule: Reached, match: Judged) -> Finding:
    """Judge whether there is a region; else say what the nearest one lacks."""
    most, spread = match.number(rule.most), match.number(rule.spread)
    tickets = match.pings(rule)
    nearest: tuple[float, tuple[Lack, ...]] | None = None
    for region in sorted(set(tickets[0]).intersection(*tickets[1:])):
        pings = [of_ticket[region] for of_ticket in tickets]
        lacks, highest = [], max(ping.high for ping in pings)
        if most is not None and highest > most:
            lacks.append(Lack("most", highest, most))
        if spread is not None and (gap := _gap(pings, rule, match)) > spread:
            lacks.append(Lack("spread", gap, spread))
        if not lacks:
            return HOLDS
        excess = sum(lack.needed - lack.held for lack in lacks)
        if nearest is None or excess < nearest[0]:
            nearest = excess, tuple(lacks)
    return Finding(False, nearest[1] if nearest else ())


def _gap(pings: list[Ping], rule: Reached, match: Judged) -> float:
    """Return the largest distance of a ticket from the reference of the players."""
    reference = min(ping.least for ping in pings)
    if rule.reference != "min":
        reference = added([ping.total for ping in pings]) / match.players
    return max(max(abs(ping.high - reference), abs(ping.low - reference)) for ping in pings)


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
    elif kind == "number" and "maxDistance" not in item.members:
        item.error("", "no maxDistance (numbers need one)")
    elif kind == "text" and "maxDistance" in item.members:
        item.warn("maxDistance", "has no effect: strings have to be the same")
    return Spread(attribute, most if kind == "number" else None, party)


def _say_batch(rule: Spread, table: Table) -> str:
    name = table.attributes[rule.attribute].name
    if rule.most is None:
        return f"{name}: the same for all"
    how = {"avg": "mean", "min": "lowest", "max": "highest"}[rule.party]
    return f"{name}: all tickets within {amount(rule.most)} of each other (of a party the {how})"


def _judge_batch(rule: Spread, match: Judged) -> Finding:
    parties = match.parties(rule.attribute)
    if rule.most is None:
        return Finding(len({value for values in parties for value in values}) == 1)
    values = [OF_PARTY[rule.party](values) for values in parties]
    most = cast(float, match.number(rule.most))
    gap = max(values) - min(values)
    return HOLDS if gap <= most else Finding(False, (Lack("most", gap, most),))


# Sorts: in what order an anchor tries the other tickets. Source: absolute sort and distance sort;
# several in the order of the rule set (published example 4). Of a map the value at the anchor's
# lowest or highest key counts; who does not have it comes last.

MAP_KEYS = {"minValue": "lowest", "maxValue": "highest"}


def _read_order(from_anchor: bool, item: Item, target: str, context: Context) -> Ordered | None:
    direction = item.choice("sortDirection", ("ascending", "descending"), required=True)
    attribute = context.attribute(item, "sortAttribute")
    key = MAP_KEYS.get(item.choice("mapKey", list(MAP_KEYS)) or "", "")
    party = read_party(item)
    if attribute is None or direction is None:
        return None
    kind = context.known.attributes[attribute].kind
    if kind not in ("number", "map"):
        item.error("sortAttribute", "a number or a map is needed, no string and no list")
    elif kind == "map" and "mapKey" not in item.members:
        item.error("", "no mapKey (minValue or maxValue: maps need one)")
    elif kind == "number" and key:
        item.warn("mapKey", "has no effect: the attribute is no map")
        key = ""
    return Ordered(attribute, from_anchor, direction == "descending", cast(Any, key), party)


def _say_order(rule: Ordered, table: Table) -> str:
    what = f"the value of {table.attributes[rule.attribute].name}"
    if rule.key:
        what += f" at the {rule.key} key of the ticket that a match is built around"
    if rule.from_anchor:
        return f"tickets {'farthest from' if rule.descending else 'nearest to'} {what} come first"
    return f"tickets with the {'highest' if rule.descending else 'lowest'} {what[4:]} come first"


def _judge_order(rule: Ordered, match: Judged) -> Finding:
    return HOLDS


# Compound: logic over rules that stand before it and need not hold alone. Source: compound rule:
# matches of up to 40 players; no batchDistance in it; it has no expansion itself, its members may
# have.

ARITIES = {"and": 2, "or": 2, "xor": 2, "not": 1}  # operators and how many arguments they take
DEEPEST = 64  # most operators in each other

STATEMENT_TOKEN = re.compile(r"\s*(?:([(),])|([^(),\s](?:[^(),]*[^(),\s])?))")


class StatementFault(Exception):  # noqa: N818 - caught where the statement is read
    """A statement says nothing; its text says why."""


def _read_statement(text: str, rules: Mapping[str, Earlier]) -> tuple[int | str, ...]:
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
            if rules[word].kind == "batchDistance":
                raise StatementFault(f"{shown(word)} is a batchDistance, which no compound can use")
            program.append(rules[word].number)
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
        return Combined(_read_statement(statement, context.earlier))
    except StatementFault as fault:
        item.error("statement", str(fault))
        return None


def _say_compound(rule: Combined, table: Table) -> str:
    stack: list[str] = []
    for part in rule.program:
        if isinstance(part, int):
            stack.append(table.rules[part].name)
        elif part == "not":
            stack.append(f"not {stack.pop()}")
        else:
            second, first = stack.pop(), stack.pop()
            joined = f"either {first} or {second}" if part == "xor" else f"{first} {part} {second}"
            stack.append(f"({joined})")
    return stack[0].removeprefix("(").removesuffix(")") if stack[0].count("(") == 1 else stack[0]


def _judge_compound(rule: Combined, match: Judged) -> Finding:
    """Judge what logic makes of the verdicts on other rules, in three values."""
    stack: list[Verdict] = []
    for part in rule.program:
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


TYPES: dict[str, RuleType] = {
    "distance": RuleType(
        ("measurements", "referenceValue", "minDistance", "maxDistance", "partyAggregation"),
        _read_distance,
        _say_distance,
        _judge_distance,
        Within,
        {"referenceValue": "reference", "minDistance": "least", "maxDistance": "most"},
    ),
    "comparison": RuleType(
        ("measurements", "referenceValue", "operation", "partyAggregation"),
        _read_comparison,
        _say_comparison,
        _judge_comparison,
        Compared,
        {"referenceValue": "reference"},
    ),
    "collection": RuleType(
        ("measurements", "referenceValue", "operation", "minCount", "maxCount", "partyAggregation"),
        _read_collection,
        _say_collection,
        _judge_collection,
        Counted,
        {"referenceValue": "reference", "minCount": "least", "maxCount": "most"},
    ),
    "latency": RuleType(
        ("maxLatency", "maxDistance", "distanceReference", "partyAggregation"),
        _read_latency,
        _say_latency,
        _judge_latency,
        Reached,
        {"maxLatency": "most", "maxDistance": "spread"},
        large=True,
    ),
    "batchDistance": RuleType(
        ("batchAttribute", "maxDistance", "partyAggregation"),
        _read_batch,
        _say_batch,
        _judge_batch,
        Spread,
        {"maxDistance": "most"},
        large=True,
    ),
    **{
        name: RuleType(keys, partial(_read_order, from_anchor), _say_order, _judge_order, Ordered)
        for keys in (("sortDirection", "sortAttribute", "mapKey", "partyAggregation"),)
        for name, from_anchor in (("distanceSort", True), ("absoluteSort", False))
    },
    "compound": RuleType(("statement",), _read_compound, _say_compound, _judge_compound, Combined),
}
"""What a rule set may call its rules."""

OF_PREDICATE = {rule_type.predicate: rule_type for rule_type in TYPES.values()}
"""The type that says in words what a predicate is, and judges it."""
