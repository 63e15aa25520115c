"""The types of rules of FlexMatch, and the expressions in them: how each is read and checked.

Source: the pages "FlexMatch rule types" and "FlexMatch property expressions" of the guide,
published examples, and threads of re:Post and the former forums where they are named.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, cast

from valmatch.rule_sets.json_text import Item, Node
from valmatch.rule_sets.table import (
    HOLDS,
    OF_PARTY,
    Aggregate,
    Attribute,
    Finding,
    Judged,
    Kind,
    Lack,
    Ordered,
    Party,
    Predicate,
    Steps,
    Table,
    Value,
    added,
    common,
    defined,
    spelled,
)
from valmatch.text.suggestions import hint
from valmatch.text.terminal import shown

NUMERIC = ("min", "max", "avg", "median", "sum", "stddev")
FUNCTIONS = (*NUMERIC, "count", "flatten", "set_intersection")
CALL = re.compile(r"\s*([A-Za-z_]+)\s*\(")
BASE = re.compile(
    r"\s*(teams?)\s*\[([^\]]*)\]"
    r"(?:\.(players)(?:\[\s*(playerId)\s*\]|\.(playerId)|\.attributes\[([^\]]*)\])?)?\s*"
)
# What begins like an expression; else a text is meant literally.
LIKE = re.compile(rf"\s*(?:teams?\s*\[|(?:{'|'.join(FUNCTIONS)})\s*\()")
UNGIVEN = "teams[...].players.attributes[...] is meant, in functions or alone"


class Fault(Exception):  # noqa: N818 - caught where the text is read
    """An expression or a statement says nothing; its text says why."""


def read_expression(text: str, context: Context) -> Aggregate:
    """Return what an expression says."""
    functions, at = list[str](), 0
    while call := CALL.match(text, at):
        if call[1] not in FUNCTIONS:
            raise Fault(f"no function {shown(call[1])} ({hint(call[1], FUNCTIONS)})")
        functions.append(call[1])
        at = call.end()
    base = BASE.match(text, at)
    if base is None:
        raise Fault(f"{shown(text)}: {UNGIVEN}")
    closing = re.sub(r"\s", "", text[base.end() :])
    if closing != ")" * len(functions):
        if set(closing) - {")"}:
            raise Fault(f"{shown(text)}: {shown(closing)} is one too many; {UNGIVEN}")
        raise Fault(
            f"{shown(text)}: {len(functions)} brackets opened by functions, {len(closing)} closed"
        )
    aggregate = _base(text.strip(), base, context)
    for function in reversed(functions):
        aggregate = _applied(function, aggregate)
    return aggregate


def _base(text: str, base: re.Match[str], context: Context) -> Aggregate:
    """Return the teams or players that functions are applied to."""
    if base[1] == "team":
        raise Fault(f"{shown(text)}: did you mean teams[{base[2]}]?")
    grouped, teams = base[2].strip() == "*", tuple(range(context.number))
    if not grouped:
        teams = ()
        for team in map(str.strip, base[2].split(",")):
            if team not in context.teams:
                raise Fault(f"no team {shown(team)} ({hint(team, context.teams)})")
            if set(teams) & set(context.teams[team]):
                raise Fault(f"team {shown(team)} twice")
            teams += context.teams[team]
        grouped = len(teams) > 1
    if not base[3]:
        return Aggregate(text, teams, grouped, "teams", (), "team", int(grouped))
    depth = 1 + grouped
    if base[4] or base[5]:
        return Aggregate(text, teams, grouped, "ids", (), "text", depth)
    if base[6] is None:
        return Aggregate(text, teams, grouped, "players", (), "player", depth)
    name = base[6].strip()
    if name not in context.numbers:
        near = hint(name, context.numbers)
        raise Fault(f"no attribute {shown(name)} is declared ({near})")
    number = context.numbers[name]
    kind = context.attributes[number].kind
    if kind == "map":
        raise Fault(f"{name} is a map, which no expression can use; sorts can")
    inner: Kind = "number" if kind == "number" else "text"
    return Aggregate(text, teams, grouped, number, (), inner, depth + (kind == "texts"))


def _applied(function: str, of: Aggregate) -> Aggregate:
    # A function acts on the innermost lists, set_intersection on the two innermost levels, flatten
    # on the two outermost: "operations on a nested list operate on each sublist individually", and
    # the process description of the published example 5.
    fits, least, wanted = True, 1, "a list"
    if function in NUMERIC:
        fits, wanted = of.kind == "number", "a list of numbers"
    elif function == "flatten":
        least, wanted = 2, "a list of lists"
    elif function == "set_intersection":
        fits, least, wanted = of.kind == "text", 2, "a list of lists of strings"
    if not fits or of.depth < least:
        raise Fault(f"{function} takes {wanted}, not {described(of.kind, of.depth)}")
    kind: Kind = "number" if function == "count" else of.kind
    return of._replace(functions=(*of.functions, function), kind=kind, depth=of.depth - 1)


def described(kind: Kind, depth: int) -> str:
    """Return what has a kind and a depth, in words."""
    name = "string" if kind == "text" else kind
    return f"a {name}" if depth == 0 else f"a list of {'lists of ' * (depth - 1)}{name}s"


class Expansion(NamedTuple):
    """Steps of the file for one target; `item` is where they stand."""

    item: Item
    steps: tuple[tuple[float, Item], ...]


class Earlier(NamedTuple):
    """A rule that stands before another one."""

    number: int  # in the table; below 0 where the rule has a fault
    kind: str  # what the rule set calls its type; "" where that is unknown


class Context(NamedTuple):
    """What a rule may refer to."""

    attributes: tuple[Attribute, ...]  # attributes of players
    teams: dict[str, tuple[int, ...]]  # by name: one, or all that a quantity makes of it
    number: int  # how many teams there are
    earlier: dict[str, Earlier]  # the rules before it, by name
    expansions: dict[str, Expansion]  # steps by target
    used: set[str]  # targets that there is something for

    @property
    def numbers(self) -> dict[str, int]:
        """The numbers of the attributes by name."""
        return {attribute.name: number for number, attribute in enumerate(self.attributes)}

    def attribute(
        self, node: Node | None, item: Item, kinds: Collection[str], wrong: str
    ) -> int | None:
        """Return the attribute of a name, reporting one that is unknown or of another kind."""
        if node is None:
            return None
        name = node.value
        number = self.numbers.get(name)
        if number is None:
            text = f"no attribute {shown(name)} is declared ({hint(name, self.numbers)})"
        elif self.attributes[number].kind in kinds:
            return number
        else:
            text = f"{shown(name)} is {wrong}"
        item.problems.error(node.start, node.path, text)
        return None

    def stepped(
        self, item: Item, target: str, key: str, read: Callable[[Item, str], Value | None]
    ) -> Steps | None:
        """Return a value of a rule or team with its steps; None where it has none."""
        if key not in item.members:
            return None
        name = f"{target}.{key}"
        self.used.add(name)
        steps = self.expansions[name].steps if name in self.expansions else ()
        values: list[Any] = [read(item, key), *(read(step, "value") for _, step in steps)]
        return None if None in values else Steps(tuple(wait for wait, _ in steps), tuple(values))


class RuleType(NamedTuple):
    """A type of rules."""

    keys: tuple[str, ...]  # the properties that it has besides name, type and description
    # returns what a rule says, by its item and what expansions call it; None if it says nothing
    read: Callable[[Item, str, Context], Predicate | None]
    predicate: type[Predicate]  # what `read` makes
    # the properties that may have steps, and what the predicate calls them
    expandable: Mapping[str, str] = MappingProxyType({})
    large: bool = False  # whether large matches know it


def _party(item: Item) -> Party:
    return cast(Party, item.choice("partyAggregation", ("avg", "min", "max")) or "avg")


def _measures(
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
        return read_expression(node.value, context)
    except Fault as fault:
        item.problems.error(node.start, node.path, str(fault))
        return None


def _reference(context: Context, item: Item, target: str) -> Steps | None:
    """Return a reference: a number, an expression, or a string that is meant literally."""

    def read(item: Item, key: str) -> Value | None:
        node = item.members[key]
        if node.kind == "number":
            return item.number(key)
        if node.kind != "string":
            item.error(key, "a number, a string or an expression is needed")
            return None
        text = node.value
        return _expression(node, item, context) if LIKE.match(text) else text

    return context.stepped(item, target, "referenceValue", read)


def _is_reference(item: Item, reference: Steps, kind: Kind, depth: int) -> bool:
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


# Distance: bounds are included. Numbers may be strings (maxDistance "500"). partyAggregation has no
# effect on what is compared: each player's own value is (the service's staff, thread
# QUxOsRFXlpT1e85gJvlX-YoA of re:Post); likewise of comparisons and, by analogy, of collections.


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


_distance = partial(Item.number, quoted=True, least=0)


def _read_distance(item: Item, target: str, context: Context) -> Within | None:
    _party(item)
    measures = _measures(item, context, ("number",), 0, "numbers are")
    if "referenceValue" not in item.members:
        item.error("", "no referenceValue (a number or an expression is needed)")
    if not {"minDistance", "maxDistance"} & set(item.members):
        item.error("", "neither minDistance nor maxDistance")
    reference = _reference(context, item, target)
    least = context.stepped(item, target, "minDistance", _distance)
    most = context.stepped(item, target, "maxDistance", _distance)
    if reference is None or not _is_reference(item, reference, "number", 0):
        return None
    return Within(measures, reference, least, most)


# Comparison: without a reference, by the published example 6, = is all equal and != all different,
# over each innermost list.


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


def _read_comparison(item: Item, target: str, context: Context) -> Compared | None:
    _party(item)
    operation = item.choice("operation", list(OPERATIONS), required=True)
    if "referenceValue" not in item.members:
        wanted = "a list of numbers or strings is"
        measures = _measures(item, context, ("number", "text"), 1, wanted)
        if operation and operation not in EQUALITIES:
            text = f"{operation} needs a referenceValue; without one = or != is meant"
            item.error("operation", text)
        return Compared(measures, operation, None) if operation else None
    measures = _measures(item, context, ("number", "text"), 0, "numbers or strings are")
    reference = _reference(context, item, target)
    depths = {measure.kind: measure.depth for measure in reversed(measures)}
    kinds = depths.keys() & {"number", "text"}
    if reference is None or not kinds:
        return None
    if len(kinds) > 1:
        item.error("measurements", "numbers or strings are needed, not both")
        return None
    (kind,) = kinds
    if kind == "text" and operation not in (*EQUALITIES, None):
        instead = described(kind, depths[kind])
        item.error("operation", f"{operation} compares numbers, not {instead}")
    _is_reference(item, reference, kind, 0)
    return Compared(measures, operation, reference) if operation else None


# Collection: the published examples 3 (contains), 4 (intersection), 5 and 11
# (reference_intersection_count, of each player's list). Measurements are lists of string lists: the
# service refuses others (thread QUZBUgKUotT5qMohOO4XXI5A of re:Post). Lists over teams that are not
# flattened count team by team.


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


COUNTS: dict[str, Literal["common", "holders", "overlap"]] = {
    "intersection": "common",
    "contains": "holders",
    "reference_intersection_count": "overlap",
}

_count = partial(Item.number, whole=True, least=0)


def _read_collection(item: Item, target: str, context: Context) -> Counted | None:
    item.choice("partyAggregation", ("union", "intersection"))
    measures = _measures(item, context, ("text",), 2, "a list of string lists is")
    operation = item.choice("operation", list(COUNTS), required=True)
    reference = _reference(context, item, target)
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
    elif reference is None or not _is_reference(item, reference, "text", int(counts == "overlap")):
        return None
    return Counted(measures, counts, reference, least, most)


# Latency: "50 ms or less" of the published example 3. One region for all (thread 6317 of the former
# forums), where each ticket is one number by partyAggregation ("the latency of each ticket");
# whoever reads it otherwise lets each player count (`latencyOf`).


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


_milliseconds = partial(Item.number, least=0)


def _read_latency(item: Item, target: str, context: Context) -> Reached | None:
    keys = set(item.members)
    named = item.choice("distanceReference", ("min", "avg"))
    if not {"maxLatency", "maxDistance"} & keys:
        item.error("", "neither maxLatency nor maxDistance")
    if "maxDistance" in keys and "distanceReference" not in keys:
        item.error("maxDistance", "no distanceReference (min or avg) that it is the distance to")
    if "distanceReference" in keys and "maxDistance" not in keys:
        item.error("distanceReference", "no maxDistance from it")
    most = context.stepped(item, target, "maxLatency", _milliseconds)
    spread = context.stepped(item, target, "maxDistance", _milliseconds)
    return Reached(most, spread, cast(Any, named or ""), _party(item))


# Batch distance: of numbers the largest difference "of all tickets" is at most maxDistance, of
# strings there is one value for all. Small and large matches; not in compounds.


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


def _read_batch(item: Item, target: str, context: Context) -> Spread | None:
    wrong = "a list or a map: a number or a string is needed"
    node = item.get("batchAttribute", "string", required=True)
    attribute = context.attribute(node, item, ("number", "text"), wrong)
    most = context.stepped(item, target, "maxDistance", _distance)
    party = _party(item)
    if attribute is None:
        return None
    is_number = context.attributes[attribute].kind == "number"
    if is_number and "maxDistance" not in item.members:
        item.error("", "no maxDistance (numbers need one)")
    elif not is_number and "maxDistance" in item.members:
        item.warn("maxDistance", "has no effect: strings have to be the same")
    return Spread(attribute, most if is_number else None, party)


# Sorts: several in the order of the rule set (published example 4). Of a map the value at the
# anchor's lowest or highest key counts; who does not have it comes last.

MAP_KEYS = {"minValue": "lowest", "maxValue": "highest"}


def _read_order(from_anchor: bool, item: Item, target: str, context: Context) -> Ordered | None:
    direction = item.choice("sortDirection", ("ascending", "descending"), required=True)
    wrong = "a string or a list: a number or a map is needed"
    node = item.get("sortAttribute", "string", required=True)
    attribute = context.attribute(node, item, ("number", "map"), wrong)
    key = MAP_KEYS.get(item.choice("mapKey", list(MAP_KEYS)) or "", "")
    party = _party(item)
    if attribute is None or direction is None:
        return None
    is_map = context.attributes[attribute].kind == "map"
    if is_map and "mapKey" not in item.members:
        item.error("", "no mapKey (minValue or maxValue: maps need one)")
    elif not is_map and key:
        item.warn("mapKey", "has no effect: the attribute is no map")
        key = ""
    return Ordered(attribute, from_anchor, direction == "descending", cast(Any, key), party)


# Compound: matches of up to 40 players; the rules in it stand before it and need not hold alone; no
# batchDistance is among them; it has no expansion itself, they may have.


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


ARITIES = {"and": 2, "or": 2, "xor": 2, "not": 1}  # operators and how many arguments they take
DEEPEST = 64  # most operators in each other
STATEMENT_TOKEN = re.compile(r"\s*(?:([(),])|([^(),\s](?:[^(),]*[^(),\s])?))")


def _read_statement(text: str, rules: Mapping[str, Earlier]) -> tuple[int | str, ...]:
    """Return a statement as a program in postfix order: numbers of rules, and operators."""
    program: list[int | str] = []
    tokens = STATEMENT_TOKEN.findall(text)[::-1]  # brackets and words, the next one last

    def take(*brackets: str) -> str:
        """Return the next token: one of some brackets, "" for a word."""
        if not tokens:
            raise Fault("it ends too early" if text.strip() else "it is empty")
        bracket, word = tokens.pop()
        if bracket not in brackets:
            raise Fault(f"{shown(word or bracket)} stands where it has no meaning")
        return str(word or bracket)

    def argument(depth: int) -> None:
        word = take("")
        if not tokens or tokens[-1][0] != "(":
            if word not in rules:
                raise Fault(f"no rule {shown(word)} before this one ({hint(word, rules)})")
            if rules[word].kind == "batchDistance":
                raise Fault(f"{shown(word)} is a batchDistance, which no compound can use")
            program.append(rules[word].number)
            return
        if word not in ARITIES:
            raise Fault(f"no operator {shown(word)} ({hint(word, ARITIES)})")
        if depth == DEEPEST:
            raise Fault(f"nested deeper than {DEEPEST} operators")
        arguments, bracket = 0, take("(")
        while bracket != ")":
            argument(depth + 1)
            arguments, bracket = arguments + 1, take(",", ")")
        if arguments != ARITIES[word]:
            raise Fault(f"{word} takes {ARITIES[word]}, not {arguments}")
        program.append(word)

    argument(0)
    if tokens:
        take()
    return tuple(program)


def _read_compound(item: Item, target: str, context: Context) -> Combined | None:
    statement = item.text("statement", required=True)
    try:
        return None if statement is None else Combined(_read_statement(statement, context.earlier))
    except Fault as fault:
        item.error("statement", str(fault))
        return None


_SORT_KEYS = ("sortDirection", "sortAttribute", "mapKey", "partyAggregation")

TYPES: dict[str, RuleType] = {
    "distance": RuleType(
        ("measurements", "referenceValue", "minDistance", "maxDistance", "partyAggregation"),
        _read_distance,
        Within,
        {"referenceValue": "reference", "minDistance": "least", "maxDistance": "most"},
    ),
    "comparison": RuleType(
        ("measurements", "referenceValue", "operation", "partyAggregation"),
        _read_comparison,
        Compared,
        {"referenceValue": "reference"},
    ),
    "collection": RuleType(
        ("measurements", "referenceValue", "operation", "minCount", "maxCount", "partyAggregation"),
        _read_collection,
        Counted,
        {"referenceValue": "reference", "minCount": "least", "maxCount": "most"},
    ),
    "latency": RuleType(
        ("maxLatency", "maxDistance", "distanceReference", "partyAggregation"),
        _read_latency,
        Reached,
        {"maxLatency": "most", "maxDistance": "spread"},
        large=True,
    ),
    "batchDistance": RuleType(
        ("batchAttribute", "maxDistance", "partyAggregation"),
        _read_batch,
        Spread,
        {"maxDistance": "most"},
        large=True,
    ),
    "distanceSort": RuleType(_SORT_KEYS, partial(_read_order, True), Ordered),
    "absoluteSort": RuleType(_SORT_KEYS, partial(_read_order, False), Ordered),
    "compound": RuleType(("statement",), _read_compound, Combined),
}
"""What a rule set may call its rules."""

OF_PREDICATE = {rule_type.predicate: rule_type for rule_type in TYPES.values()}
"""The type that says what a rule set calls the numbers of a predicate."""
