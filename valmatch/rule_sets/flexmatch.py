"""Reader of FlexMatch rule sets: JSON to the internal table, every fault with its place.

Sources are pages of docs.aws.amazon.com/gameliftservers/latest/flexmatchguide: "FlexMatch rule set
schema", "FlexMatch rule set property definitions"; limits of the API reference.
"""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from json import dumps
from math import inf
from typing import Any, NamedTuple, cast

from valmatch.rule_sets.json_text import (
    NAMES,
    Item,
    Node,
    Problem,
    Problems,
    called,
    plain,
    read_json,
)
from valmatch.rule_sets.short_form import expand, is_short
from valmatch.rule_sets.table import (
    Aggregate,
    Attribute,
    Predicate,
    Rule,
    Search,
    Steps,
    Table,
    Team,
    Valued,
)
from valmatch.rule_sets.types import (
    TYPES,
    Compared,
    Context,
    Counted,
    Earlier,
    Expansion,
    Reached,
    Within,
)
from valmatch.text.suggestions import closest_name, hint
from valmatch.text.terminal import shown

VERSION = "1.0"
LONGEST = 65_535  # most characters of a rule set
MOST_PLAYERS, MOST_SMALL = 200, 40  # most players of a match; of a small one

KEYS = "name ruleLanguageVersion playerAttributes algorithm teams rules expansions"

RULE_SET = "ruleSet"  # the key by which a world of tickets has its rule set, and is known as one


class Reading(NamedTuple):
    """What a text says."""

    table: Table | None  # None if there are errors
    problems: list[Problem]  # all that is wrong with it, by place
    node: Node | None = None  # the rule set itself, that of a short form expanded
    is_short: bool = False  # whether it was a short form
    is_wrapped: bool = False  # whether it stands in a file of another tool


def read_rule_set(text: str, timeout: float | None = None, lenient: bool = False) -> Reading:
    """Return what the text of a rule set says and all that is wrong with it."""
    problems = Problems(text)
    return read_parsed(text, read_json(text, problems, lenient), problems, timeout, lenient)


def read_parsed(
    text: str,
    node: Node | None,
    problems: Problems,
    timeout: float | None = None,
    lenient: bool = False,
) -> Reading:
    """Return what a text says whose values are found, None where they cannot be."""
    table, short = None, node is not None and is_short(node)
    if node is not None and RULE_SET in node.members:
        what = "this is a world of tickets with its rule set, which `valmatch rules replay` plays"
        problems.error(node.start, "", what)
    elif node is not None:
        node, table = read_any(node, problems, timeout, lenient)
    if not short:
        _check_length(len(text), problems, lenient)
    return Reading(None if problems.errors else table, problems.sorted(), node, short)


def _check_length(length: int, problems: Problems, lenient: bool = False, path: str = "") -> None:
    if length > LONGEST:
        what = f"{length:,} characters, where the service takes {LONGEST:,}"
        problems.add("warning" if lenient else "error", 0, path, what)


def read_any(
    node: Node, problems: Problems, timeout: float | None = None, lenient: bool = False
) -> tuple[Node | None, Table | None]:
    """Return a rule set, that of a short form expanded, and its table; None where it has none."""
    if is_short(node):
        expanded, lenient = expand(node, problems, lenient), False
        if expanded is None:
            return None, None
        node = expanded
        _check_length(len(dumps(plain(node))), problems, path=node.path)
    if node.kind != "object":
        problems.error(node.start, node.path, f"{NAMES['object']} is needed, not {called(node)}")
        return node, None
    root = Item(node, problems, lenient)
    root.known(KEYS.split())
    root.text("name")
    version = root.text("ruleLanguageVersion", required=True)
    if version is not None and version != VERSION:
        root.error("ruleLanguageVersion", f'"{VERSION}" is needed, not {shown(version)}')
    attributes = _attributes(root.items("playerAttributes"))
    expansions = _expansions(root.items("expansions"), timeout)
    context = Context(attributes, {}, 0, {}, expansions, set())
    teams = _teams(root, context)
    by_name: dict[str, tuple[int, ...]] = {}
    every: list[Team] = []
    for team, names in teams:
        by_name[team.name] = tuple(range(len(every), len(every) + len(names)))
        by_name |= {name: (len(every) + k,) for k, name in enumerate(names)}
        every += [team._replace(name=name) for name in names]
    context = context._replace(teams=by_name, number=len(every))
    search, oldest = _algorithm(root.item("algorithm"), context)
    rules = _rules(root.items("rules"), context, _is_large(root, teams, search.large))
    for target, expansion in expansions.items():
        if target not in context.used:
            _report_unused(target, expansion.item, [team.name for team, _ in teams], context)
    waits = {wait for expansion in expansions.values() for wait, _ in expansion.steps}
    table = Table(attributes, tuple(every), rules, search, oldest, tuple(sorted(waits)))
    _remark(table, root)
    return node, table


ATTRIBUTE_TYPES: dict[str, Valued] = {
    "string": "text",
    "number": "number",
    "string_list": "texts",
    "string_number_map": "map",
}

WANTED: dict[Valued, str] = {
    "number": "a number",
    "text": "a string",
    "texts": "a list of strings",
    "map": "an object of numbers",
}


def _attributes(items: list[Item]) -> tuple[Attribute, ...]:
    """Return the declared attributes; of one that is not readable the number is kept."""
    attributes: dict[str, Attribute] = {}
    for item in items:
        item.known(("name", "type", "default"))
        name = item.text("name", required=True)
        kind = item.choice("type", list(ATTRIBUTE_TYPES), required=True)
        if name is None or kind is None:
            continue
        if name in attributes:
            item.error("name", f"attribute {shown(name)} is declared already")
        valued, member = ATTRIBUTE_TYPES[kind], item.members.get("default")
        default = None if member is None else value_of(member, valued)
        if member is not None and default is None:
            what = f"{WANTED[valued]} is needed by its type, not {called(member)}"
            item.error("default", what)
        attributes[name] = Attribute(name, valued, default)
    return tuple(attributes.values())


def value_of(node: Node, kind: Valued) -> object:
    """Return a value of an attribute: a float, str, tuple of str or dict; None if it is none."""
    kinds = {inner.kind for inner in (node.items or node.members.values())}
    if kind == "texts" and node.kind == "array" and kinds <= {"string"}:
        return tuple(dict.fromkeys(plain(node)))
    if kind == "map" and node.kind == "object" and kinds <= {"number"}:
        return {key: float(value) for key, value in plain(node).items()}
    if kind == "number" and node.kind == "number":
        return float(node.value)
    return node.value if kind == "text" and node.kind == "string" else None


def _teams(root: Item, context: Context) -> list[tuple[Team, list[str]]]:
    teams: list[tuple[Team, list[str]]] = []
    taken: set[str] = set()
    for item in root.items("teams", required=True, empty="no team"):
        item.known(("name", "minPlayers", "maxPlayers", "quantity"))
        name = item.text("name", required=True)
        least, most = _sizes(item, name, context)
        quantity = item.number("quantity", whole=True, least=1)
        if name is None:
            continue
        number = min(int(quantity or 1), MOST_PLAYERS + 1)
        names = [name] if number == 1 else [f"{name}_{k}" for k in range(1, number + 1)]
        if again := taken & {name, *names}:
            item.error("name", f"there is a team {shown(min(again))} already")
            continue
        taken |= {name, *names}
        teams.append((Team(name, least, most), names))
    return teams


def _sizes(item: Item, name: str | None, context: Context) -> tuple[Steps, Steps]:
    sizes = []
    for key, smallest in (("minPlayers", 0.0), ("maxPlayers", 1.0)):
        if key not in item.members:
            item.error("", f"no {key} (a number is needed)")
        read = partial(Item.number, whole=True, least=smallest)
        steps = context.stepped(item, f"teams[{name}]", key, read)
        sizes.append(steps or Steps((), (smallest,)))
    least, most = sizes
    if {"minPlayers", "maxPlayers"} <= set(item.members):
        first, last = least.numbers[0], most.numbers[0]
        if first > last and item.number("minPlayers") and item.number("maxPlayers"):
            item.error("minPlayers", f"{first:g} is more than maxPlayers, {last:g}")
    return least, most


def _is_large(root: Item, teams: list[tuple[Team, list[str]]], balanced: bool) -> bool:
    """Return whether matches may have more than 40 players; report sizes that are not allowed."""
    most = sum(len(names) * max(team.most.numbers) for team, names in teams)
    if most > MOST_PLAYERS:
        # Of a quantity no more teams are made than show that they are too many.
        least = "at least " if any(len(names) > MOST_PLAYERS for _, names in teams) else ""
        number = f"{most:,.0f}" if most < 1e15 else f"{most:g}"
        root.error("teams", f"{least}{number} players, where a match has at most {MOST_PLAYERS}")
    elif most > MOST_SMALL and not balanced:
        text = f"{most:.0f} players need the strategy balanced, as all over {MOST_SMALL} do"
        root.error("teams", text)
    elif balanced and most <= MOST_SMALL:
        text = f"balanced is for more than {MOST_SMALL} players; there are at most {most:.0f}"
        root.warn("algorithm", text)
    return MOST_SMALL < most <= MOST_PLAYERS


def _rules(items: list[Item], context: Context, large: bool) -> tuple[Rule, ...]:
    """Return the rules, those that others take up as such; what one does not say is reported."""
    rules: list[Rule] = []
    for item in items:
        name = item.text("name", required=True)
        kind = item.choice("type", list(TYPES), required=True)
        if name is not None and name in context.earlier:
            item.error("name", f"there is a rule {shown(name)} already")
            name = None
        predicate = None
        if kind and (rule_type := TYPES[kind]):
            item.known(("name", "type", "description", *rule_type.keys))
            item.text("description")
            if large and not rule_type.large:
                known = [name for name, other in TYPES.items() if other.large]
                item.error("type", f"{kind} is not for large matches ({hint(kind, known)})")
            if large and kind == "latency" and "maxDistance" in item.members:
                item.error("maxDistance", "of latency, large matches know maxLatency alone")
            predicate = rule_type.read(item, f"rules[{name}]", context)
        if name is None:
            continue
        context.earlier[name] = Earlier(-1 if predicate is None else len(rules), kind or "")
        if predicate is not None:
            rules.append(Rule(name, predicate))
    programs = [getattr(rule.predicate, "program", ()) for rule in rules]
    taken = {part for program in programs for part in program}
    return tuple(rule._replace(alone=number not in taken) for number, rule in enumerate(rules))


# Source: "Expansion rules" of the guide, and the guide of 2022: steps are absolute and increasing.
# Compounds, quantities and the algorithm have none (our reading).

TARGET = re.compile(r"(rules|teams)\[([^\]]*)\]\.(\w+)")


def _expansions(items: Sequence[Item], timeout: float | None) -> dict[str, Expansion]:
    """Return the steps by target, reporting those that are none."""
    expansions: dict[str, Expansion] = {}
    for item in items:
        item.known(("target", "steps"))
        target = item.text("target", required=True)
        steps = _steps(item, timeout)
        if target is None:
            continue
        if target in expansions:
            first = expansions[target].item
            item.error("target", f"{shown(target)} has an expansion already ({first.path})")
        else:
            expansions[target] = Expansion(item, steps)
    return expansions


def _steps(item: Item, timeout: float | None) -> tuple[tuple[float, Item], ...]:
    steps: list[tuple[float, Item]] = []
    for step in item.items("steps", required=True, empty="no step"):
        step.known(("waitTimeSeconds", "value"))
        if "value" not in step.members:
            step.error("", "no value")
        wait = step.number("waitTimeSeconds", required=True, least=0)
        if wait is None or "value" not in step.members:
            continue
        if steps and wait <= steps[-1][0]:
            text = f"steps have to increase: {wait:g} s comes after {steps[-1][0]:g} s"
            step.error("waitTimeSeconds", text)
            continue
        if timeout is not None and wait >= timeout:
            step.warn("", f"no ticket lives for {wait:g} s: the request timeout is {timeout:g} s")
        steps.append((wait, step))
    return tuple(steps)


def _report_unused(target: str, item: Item, teams: Sequence[str], context: Context) -> None:
    """Report an expansion of what is not there or cannot be expanded."""
    parts, rules = TARGET.fullmatch(target), context.earlier
    section, name, key = parts.groups() if parts else ("", "", "")
    if not parts:
        meant = "rules[name].property or teams[name].property is meant"
        why = f"{shown(target)} is no target: {meant}"
    elif section == "teams" and name not in teams:
        why = f"no team {shown(name)} ({hint(name, teams)})"
    elif section == "teams":
        known = ("minPlayers", "maxPlayers")
        why = f"{key} of a team cannot be expanded ({hint(key, known)})"
    elif name not in rules:
        why = f"no rule {shown(name)} ({hint(name, rules)})"
    elif not rules[name].kind:  # of an unknown type, which is said
        return
    elif not (keys := TYPES[rules[name].kind].expandable):
        why = f"{shown(name)}: rules of type {rules[name].kind} cannot be expanded"
    elif key not in keys:
        why = f"{key} of a rule of type {rules[name].kind} cannot be expanded ({hint(key, keys)})"
    else:
        why = f"rule {shown(name)} has no {key} to expand"
    item.error("target", why)


# Source: "FlexMatch rule set property definitions" and the page on the algorithm.

BATCHES = {
    "exhaustiveSearch": ("random", "sorted"),
    "balanced": ("largestPopulation", "fastestRegion"),
}
"""Strategies, and how they may form batches."""

ALGORITHM_KEYS = (
    "strategy batchingPreference sortByAttributes balancedAttribute expansionAgeSelection"
    " backfillPriority"
)


def _algorithm(item: Item | None, context: Context) -> tuple[Search, bool]:
    """Return how to search, and whether the age of a match is that of its oldest ticket."""
    if item is None:
        return Search(), False
    item.known(ALGORITHM_KEYS.split())
    strategy = item.choice("strategy", list(BATCHES)) or "exhaustiveSearch"
    batching = item.choice(
        "batchingPreference", [name for names in BATCHES.values() for name in names]
    )
    if batching and batching not in BATCHES[strategy]:
        allowed = " or ".join(BATCHES[strategy])
        text = f"{batching} does not go with the strategy {strategy} ({allowed} does)"
        item.error("batchingPreference", text)
    large, is_sorted = strategy == "balanced", batching == "sorted"
    wrong = "neither a number nor a string"
    names = [*item.list_of("sortByAttributes", "string")]
    order = [context.attribute(name, item, ("number", "text"), wrong) for name in names]
    listed = item.members.get("sortByAttributes")
    if is_sorted and (listed is None or not listed.value):
        item.error("batchingPreference", "sorted needs sortByAttributes")
    if listed and not is_sorted:
        item.warn("sortByAttributes", "has no effect without batchingPreference sorted")
    balance = None
    if "balancedAttribute" in item.members or large:
        node = item.get("balancedAttribute", "string", required=large)
        balance = context.attribute(node, item, ("number",), "no number")
        if balance is not None and not large:
            item.warn("balancedAttribute", "has no effect without the strategy balanced")
    age = item.choice("expansionAgeSelection", ("newest", "oldest"))
    backfill = item.choice("backfillPriority", ("normal", "high", "low")) or "normal"
    if large and "backfillPriority" in item.members:
        item.warn("backfillPriority", "has no effect with balanced, which takes backfill first")
    search = Search(
        large,
        balance if large else None,
        "sorted" if is_sorted else "random",
        tuple(number for number in order if number is not None) if is_sorted else (),
        "high" if large else cast(Any, backfill),
    )
    return search, age == "oldest"


UNDEFINED = {"min", "max", "avg", "median", "stddev", "set_intersection"}
"""Functions that have no value for an empty team."""

LEAST_LATENCY = 1  # milliseconds that a player reports at least

ALONE = (
    "minPlayers falls with the age of the newest ticket, so tickets may leave alone that could have"
    " left together. In the service's example (3, 2, 1 players from 30, 40, 45 s) tickets of 0 and"
    " 10 s leave alone at 45 and 55 s; with expansionAgeSelection oldest, together at 40 s"
)
"""What is said of fewer players under the age of the newest ticket."""


def _remark(table: Table, root: Item) -> None:
    """Warn of what a rule set says without an effect, or against its likely purpose."""
    items, faults = {item.text("name"): item for item in root.items("rules")}, root.problems.errors
    for rule in table.rules:
        item = items[rule.name]
        if not root.problems.errors_in(item.path):  # what such a rule is meant to say is not known
            for remark in _remarks(rule, table):
                item.warn("", remark)
    _steps_remarks(root, table.oldest)
    for team, item in zip(table.teams, root.items("teams"), strict=False):
        for wait in (0.0, *table.waits):
            least, most = team.least.at(wait), team.most.at(wait)
            if least > most:
                text = f"from {wait:g} s on {least:g} players at least and {most:g} at most: none"
                item.warn("", text)
    if not faults:  # a rule that cannot be read may use an attribute
        used = {table.search.balance, *table.search.batch_order}
        used = used.union(*(rule.attributes for rule in table.rules))
        for number, item in enumerate(root.items("playerAttributes")):
            if number not in used:
                item.warn("", f"attribute {shown(item.text('name'))} is declared and not used")
    misspelt = any(
        closest_name(key, ["expansions"]) for key in set(root.members) - set(KEYS.split())
    )
    if not root.items("expansions") and not misspelt:
        root.warn("", "no expansion: limits never widen for tickets that wait")


def _remarks(rule: Rule, table: Table) -> Iterator[str]:
    predicate, players = rule.predicate, table.largest
    if why := _never_binds(predicate, table):
        yield f"rule {shown(rule.name)} never refuses anything: {why}"
    for measure in rule.aggregates:
        # What is flattened before has the players of the other teams.
        first = next((name for name in measure.functions if name in {"flatten", *UNDEFINED}), "")
        teams = [table.teams[team] for team in measure.teams]
        empty = [team.name for team in teams if not min(team.least.numbers)]
        if empty and first in UNDEFINED:
            yield f"{measure.text}: without players in {', '.join(empty)} that is left out"
    most = predicate.most if isinstance(predicate, Reached) else None
    ends = zip((0.0, *most.waits), most.numbers, (*most.waits, inf), strict=True) if most else ()
    for begin, value, end in ends:
        if value < LEAST_LATENCY:
            since = f" from {begin:g} s on" if begin else ""
            until = f" until {end:g} s" if end < inf else ""
            text = f"maxLatency {value:g} refuses everybody{since}{until}"
            yield f"{text}: latencies are {LEAST_LATENCY:g} ms or more"
    if isinstance(predicate, Within | Counted) and predicate.least:
        least = min(predicate.least.numbers)
        if predicate.most and least > max(predicate.most.numbers):
            yield "the least is above the most: it never holds"
        if isinstance(predicate, Counted) and predicate.counts == "holders" and least > players:
            yield f"minCount {least:g} is never reached by the {players:g} players of a match"


def _never_binds(rule: Predicate, table: Table) -> str:
    """Return why a rule holds of every match, "" if it may not."""
    if isinstance(rule, Compared):
        one_each = all(_most_values(measure, table) <= 1 for measure in rule.measures)
        return "its lists have one value at most" if one_each and not rule.reference else ""
    if not isinstance(rule, Within | Counted) or (rule.least and any(rule.least.numbers)):
        return ""
    if rule.most is None:
        return f"every {'distance' if isinstance(rule, Within) else 'number'} is at least 0"
    counts_players = isinstance(rule, Counted) and rule.counts == "holders"
    unbound = counts_players and min(rule.most.numbers) >= table.largest
    return f"a match has at most {table.largest:g} players" if unbound else ""


def _most_values(measure: Aggregate, table: Table) -> float:
    """Return how many values the innermost lists of a measure may have."""
    if {"count", "set_intersection"} & set(measure.functions) or measure.depth > 2:
        return inf
    teams = [table.teams[team].largest for team in measure.teams]
    if not teams:  # all of them are faulty, which is said
        return inf
    if set(measure.functions) - {"flatten"}:
        return len(teams)
    return sum(teams) if "flatten" in measure.functions or not measure.grouped else max(teams)


def _steps_remarks(root: Item, oldest: bool) -> None:
    """Warn of steps that ask for more than the value before them, or let the oldest leave alone."""
    first = {
        f"{section}[{item.text('name')}].{key}": member.value
        for section in ("rules", "teams")
        for item in root.items(section)
        for key, member in item.members.items()
    }
    for expansion in root.items("expansions"):
        target = str(expansion.text("target"))
        steps = [step for step in expansion.items("steps") if "value" in step.members]
        values = [first.get(target), *(step.members["value"].value for step in steps)]
        sign = {"max": 1, "min": -1}.get(target.rpartition(".")[2][:3], 0)
        alone = oldest or not target.endswith(".minPlayers")  # whether that is said, or is not so
        for step, (before, after) in zip(steps, pairwise(values), strict=True):
            try:
                growth = sign * (float(after) - float(before))
            except (TypeError, ValueError):
                continue
            if growth < 0:
                step.warn("", f"tightens: {after} after {before}")
            elif growth > 0 and not alone:
                alone = True
                step.warn("", ALONE)
