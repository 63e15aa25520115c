"""Reader of FlexMatch rule sets: JSON to the internal table, every fault with its place.

Sources are pages of docs.aws.amazon.com/gameliftservers/latest/flexmatchguide: "FlexMatch rule set
schema", "FlexMatch rule set property definitions"; limits of the API reference.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial
from itertools import pairwise
from json import dumps
from math import inf
from typing import NamedTuple, cast

from valmatch.rule_sets.expressions import Known
from valmatch.rule_sets.items import NAMES, Item, called
from valmatch.rule_sets.json_text import Node, Problem, Problems, plain, read_json
from valmatch.rule_sets.short_form import expand, is_short
from valmatch.rule_sets.table import (
    Aggregate,
    Attribute,
    Compared,
    Counted,
    Predicate,
    Reached,
    Rule,
    Search,
    Steps,
    Table,
    Team,
    Valued,
    Within,
)
from valmatch.rule_sets.types import TYPES, Context
from valmatch.rule_sets.values import read_expansions, report_unused
from valmatch.rule_sets.worlds import RULE_SET
from valmatch.text.suggestions import closest_name, hint
from valmatch.text.terminal import shown

# The section `algorithm`, which says how matches are searched for.
#
# Source: "FlexMatch rule set property definitions" and the page on the algorithm: strategy
# exhaustiveSearch (default) with batches that are random or sorted, or balanced for 41 to 200
# players with batches by largest population or fastest region.

BATCHES = {
    "exhaustiveSearch": ("random", "sorted"),
    "balanced": ("largestPopulation", "fastestRegion"),
}
"""Strategies, and how they may form batches."""

PRIORITIES = ("normal", "high", "low")
AGES = ("newest", "oldest")

ALGORITHM_KEYS = (
    "strategy",
    "batchingPreference",
    "sortByAttributes",
    "balancedAttribute",
    "expansionAgeSelection",
    "backfillPriority",
)


def read_algorithm(item: Item | None, known: Known) -> tuple[Search, bool]:
    """Return how to search, and whether the age of a match is that of its oldest ticket."""
    if item is None:
        return Search(), False
    item.known(ALGORITHM_KEYS)
    strategy = item.choice("strategy", list(BATCHES)) or "exhaustiveSearch"
    every = [name for names in BATCHES.values() for name in names]
    batching = item.choice("batchingPreference", every)
    if batching and batching not in BATCHES[strategy]:
        allowed = " or ".join(BATCHES[strategy])
        text = f"{batching} does not go with the strategy {strategy} ({allowed} does)"
        item.error("batchingPreference", text)
    large, is_sorted = strategy == "balanced", batching == "sorted"
    order = _batch_order(item, is_sorted, known)
    balance = _balance(item, large, known)
    age = item.choice("expansionAgeSelection", AGES)
    priority = item.choice("backfillPriority", PRIORITIES) or "normal"
    if large and "backfillPriority" in item.members:
        item.warn("backfillPriority", "has no effect with balanced, which takes backfill first")
    batches = "sorted" if is_sorted else "random"
    backfill = "high" if large else priority
    return Search(large, balance, batches, order, backfill), age == "oldest"  # type: ignore[arg-type]


def _batch_order(item: Item, is_sorted: bool, known: Known) -> tuple[int, ...]:
    """Return the attributes by which the pool is sorted before it is cut."""
    numbers, order = known.numbers, []
    for node in item.list_of("sortByAttributes", "string"):
        number = numbers.get(str(node.value))
        if number is None:
            text = f"no attribute {shown(node.value)} is declared"
        elif known.attributes[number].kind not in ("number", "text"):
            text = f"{shown(node.value)} is neither a number nor a string"
        else:
            order.append(number)
            continue
        item.problems.error(node.start, node.path, text)
    given = item.members.get("sortByAttributes")
    if is_sorted and (given is None or not given.value):
        item.error("batchingPreference", "sorted needs sortByAttributes")
    if given and not is_sorted:
        item.warn("sortByAttributes", "has no effect without batchingPreference sorted")
    return tuple(order) if is_sorted else ()


def _balance(item: Item, large: bool, known: Known) -> int | None:
    """Return the attribute by which large matches are balanced."""
    name = item.text("balancedAttribute", required=large)
    if name is None:
        return None
    number = known.numbers.get(name)
    if number is None:
        item.error("balancedAttribute", f"no attribute {shown(name)} is declared")
    elif known.attributes[number].kind != "number":
        item.error("balancedAttribute", f"{shown(name)} is no number")
    elif large:
        return number
    else:
        item.warn("balancedAttribute", "has no effect without the strategy balanced")
    return None


# Remarks on rule sets that the service takes, but that will hardly do what is meant.

UNDEFINED = {"min", "max", "avg", "median", "stddev", "set_intersection"}
"""Functions that have no value for an empty team."""

LEAST_LATENCY = 1  # milliseconds that a player reports at least


def lint(table: Table, root: Item, unknown: Collection[str]) -> None:
    """Warn of what a rule set says without an effect, or against its likely purpose."""
    items = {item.text("name"): item for item in root.items("rules")}
    for rule in table.rules:
        item = items[rule.name]
        if not root.problems.errors_in(item.path):  # what such a rule is meant to say is not known
            for remark in _remarks(rule, table):
                item.warn("", remark)
    _tightening(root)
    _sizes_of_teams(table, root)
    if not root.problems.errors:  # a rule that cannot be read may use an attribute
        _unused(table, root)
    misspelt = any(closest_name(key, ["expansions"]) for key in unknown)
    if not root.items("expansions") and not misspelt:
        root.warn("", "no expansion: who waits is never granted more")


def _remarks(rule: Rule, table: Table) -> Iterator[str]:
    """Yield what is to be said of a rule."""
    if why := _never_binds(rule.predicate, table):
        yield f"rule {shown(rule.name)} never refuses anything: {why}"
    predicate, players = rule.predicate, _most_players(table)
    yield from _of_empty_teams(rule, table)
    if isinstance(predicate, Reached) and predicate.most:
        yield from _latencies_below(LEAST_LATENCY, predicate.most)
    if isinstance(predicate, Within | Counted) and predicate.least:
        least = min(predicate.least.numbers)
        if predicate.most and least > max(predicate.most.numbers):
            yield "the least is above the most: it never holds"
        if isinstance(predicate, Counted) and predicate.counts == "holders" and least > players:
            yield f"minCount {least:g} is never reached by the {players:g} players of a match"


def _latencies_below(least: float, most: Steps) -> Iterator[str]:
    """Yield at which ages nobody has a latency that is small enough."""
    for begin, value, end in zip((0.0, *most.waits), most.values, (*most.waits, inf), strict=True):
        if isinstance(value, (int, float)) and value < least:
            since = f" from {begin:g} s on" if begin else ""
            until = f" until {end:g} s" if end < inf else ""
            text = f"maxLatency {value:g} refuses everybody{since}{until}"
            yield f"{text}: latencies are {least:g} ms or more"


def _never_binds(rule: Predicate, table: Table) -> str:
    """Return why a rule holds of every match, "" if it may not."""
    if isinstance(rule, Compared):
        one_each = all(_most_values(one, table) <= 1 for one in rule.measures)
        return "its lists have one value at most" if one_each and not rule.reference else ""
    if not isinstance(rule, Within | Counted) or (rule.least and any(rule.least.numbers)):
        return ""
    if rule.most is None:
        return f"every {'distance' if isinstance(rule, Within) else 'number'} is at least 0"
    players = _most_players(table)
    counts_players = isinstance(rule, Counted) and rule.counts == "holders"
    unbound = counts_players and min(rule.most.numbers) >= players
    return f"a match has at most {players:g} players" if unbound else ""


def _most_values(measure: Aggregate, table: Table) -> float:
    """Return how many values the innermost lists of a measure may have."""
    if {"count", "set_intersection"} & set(measure.functions) or measure.depth > 2:
        return float("inf")
    teams = [max(table.teams[team].most.numbers) for team in measure.teams]
    if not teams:  # all of them are faulty, which is said
        return float("inf")
    if any(function not in ("flatten",) for function in measure.functions):
        return len(teams)
    return sum(teams) if "flatten" in measure.functions or not measure.grouped else max(teams)


def _of_empty_teams(rule: Rule, table: Table) -> Iterator[str]:
    """Yield that a team which may be empty is left out of an aggregate."""
    for measure in rule.aggregates:
        # What is flattened before has the players of the other teams.
        first = next((one for one in measure.functions if one in {"flatten", *UNDEFINED}), None)
        if first is None or first == "flatten":
            continue
        empty = [
            table.teams[team].name
            for team in measure.teams
            if not min(table.teams[team].least.numbers)
        ]
        if empty:
            yield f"{measure.text}: without players in {', '.join(empty)} that is left out"


def _tightening(root: Item) -> None:
    """Warn of steps that ask for more than the value before them."""
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
        for step, (before, after) in zip(steps, pairwise(values), strict=True):
            try:
                tighter = sign * float(after) < sign * float(before)  # type: ignore[arg-type]
            except (TypeError, ValueError):
                continue
            if tighter:
                step.warn("", f"tightens: {after} after {before}")


def _sizes_of_teams(table: Table, root: Item) -> None:
    """Warn of teams whose least size is above the most at some age."""
    for team, item in zip(table.teams, root.items("teams"), strict=False):
        for wait in (0.0, *table.waits):
            least, most = cast(float, team.least.at(wait)), cast(float, team.most.at(wait))
            if least > most:
                text = f"from {wait:g} s on {least:g} players at least and {most:g} at most: none"
                item.warn("", text)


def _unused(table: Table, root: Item) -> None:
    """Warn of attributes that nothing looks at."""
    used = {table.search.balance, *table.search.batch_order}
    used = used.union(*(rule.attributes for rule in table.rules))
    for number, item in enumerate(root.items("playerAttributes")):
        if number not in used:
            item.warn("", f"attribute {shown(item.text('name'))} is declared and not used")


def _most_players(table: Table) -> float:
    """Return the most players that a match ever has."""
    return sum(max(team.most.numbers) for team in table.teams)


VERSION = "1.0"

LONGEST = 65_535  # most characters of a rule set

MOST_PLAYERS, MOST_SMALL = 200, 40
"""Most players of a match; of a small one."""

WRITTEN_OUT = 1e15  # number from which on a message has it as a power of ten

KEYS = (
    "name",
    "ruleLanguageVersion",
    "playerAttributes",
    "algorithm",
    "teams",
    "rules",
    "expansions",
)

ATTRIBUTE_TYPES: dict[str, Valued] = {
    "string": "text",
    "number": "number",
    "string_list": "texts",
    "string_number_map": "map",
}

LARGE_RULES = [name for name, kind in TYPES.items() if kind.large]


class Reading(NamedTuple):
    """What a text says."""

    table: Table | None  # None if there are errors
    problems: list[Problem]  # all that is wrong with it, by place
    # the rule set itself, that of a short form expanded; None where it cannot be read
    node: Node | None = None
    is_short: bool = False  # whether it was a short form


def read_rule_set(text: str, timeout: float | None = None, lenient: bool = False) -> Reading:
    """Return what the text of a rule set says and all that is wrong with it."""
    problems = Problems(text)
    node = read_json(text, problems, lenient)
    return read_parsed(text, node, problems, timeout, lenient)


def read_parsed(
    text: str,
    node: Node | None,
    problems: Problems,
    timeout: float | None = None,
    lenient: bool = False,
) -> Reading:
    """Return what a text says whose values are found, None where they cannot be."""
    short = node is not None and is_short(node)
    if node is None:
        table = None
    elif short:
        node = expand(node, problems, lenient)
        table = read_expanded(node, problems, timeout) if node else None
    elif is_world(node):
        what = "this is a world of tickets with its rule set, which `valmatch rules replay` plays"
        problems.error(node.start, "", what)
        table = None
    else:
        table = read_node(node, problems, timeout, lenient)
    if not short:
        _check_length(len(text), problems, lenient)
    return Reading(None if problems.errors else table, problems.sorted(), node, short)


def is_world(node: Node) -> bool:
    """Return whether a text is a world, by its keys."""
    return RULE_SET in node.members


def _check_length(length: int, problems: Problems, lenient: bool = False, path: str = "") -> None:
    """Report a text that is longer than the service takes."""
    if length > LONGEST:
        what = f"{length:,} characters, where the service takes {LONGEST:,}"
        problems.add("warning" if lenient else "error", 0, path, what)


def read_expanded(node: Node, problems: Problems, timeout: float | None = None) -> Table:
    """Return the table of an expanded short form; what is wrong is said of its own words."""
    table = read_node(node, problems, timeout)
    assert table is not None
    _check_length(len(dumps(plain(node))), problems, path=node.path)
    return table


def read_any(node: Node, problems: Problems, timeout: float | None = None) -> Table | None:
    """Return the table of a rule set or a short form, None where it has none."""
    if not is_short(node):
        return read_node(node, problems, timeout)
    expanded = expand(node, problems)
    return read_expanded(expanded, problems, timeout) if expanded else None


def read_node(
    node: Node, problems: Problems, timeout: float | None = None, lenient: bool = False
) -> Table | None:
    """Return the table of a rule set, None if it is no object."""
    if node.kind != "object":
        problems.error(node.start, node.path, f"{NAMES['object']} is needed, not {called(node)}")
        return None
    root = Item(node, problems, lenient)
    root.known(KEYS)
    root.text("name")
    version = root.text("ruleLanguageVersion", required=True)
    if version is not None and version != VERSION:
        root.error("ruleLanguageVersion", f'"{VERSION}" is needed, not {shown(version)}')
    attributes = _attributes(root.items("playerAttributes"))
    expansions = read_expansions(root.items("expansions"), timeout)
    context = Context(Known(attributes, {}, 0), {}, {}, expansions, set())
    teams = _teams(root, context)
    known = Known(attributes, _by_name(teams), sum(len(names) for _, names in teams))
    context = context._replace(known=known)
    algorithm = root.get("algorithm", "object")
    search, oldest = read_algorithm(
        Item(algorithm, problems, lenient) if algorithm else None, known
    )
    rules = _rules(root.items("rules"), context, _is_large(root, teams, search.large))
    kinds = {name: (kind, TYPES[kind].expandable) for name, kind in context.combined.items()}
    report_unused(expansions, context.used, [team.name for team, _ in teams], kinds)
    waits = {wait for expansion in expansions.values() for wait, _ in expansion.steps}
    every = tuple(team._replace(name=name) for team, names in teams for name in names)
    table = Table(attributes, every, rules, search, oldest, tuple(sorted(waits)))
    lint(table, root, set(root.members) - set(KEYS))
    return table


def _attributes(items: list[Item]) -> tuple[Attribute, ...]:
    """Return the declared attributes; of one that is not readable the number is kept."""
    found: dict[str, Attribute] = {}
    for item in items:
        item.known(("name", "type", "default"))
        name = item.text("name", required=True)
        kind = item.choice("type", list(ATTRIBUTE_TYPES), required=True)
        if name is None or kind is None:
            continue
        if name in found:
            item.error("name", f"attribute {shown(name)} is declared already")
        default = _default(item, ATTRIBUTE_TYPES[kind])
        found[name] = Attribute(name, ATTRIBUTE_TYPES[kind], default)
    return tuple(found.values())


def _default(item: Item, kind: Valued) -> object:
    """Return the default of an attribute, None for none."""
    member = item.members.get("default")
    if member is None:
        return None
    value = value_of(member, kind)
    if value is None:
        what = WANTED[kind]
        item.error("default", f"{what} is needed by its type, not {called(member)}")
    return value


WANTED: dict[Valued, str] = {
    "number": "a number",
    "text": "a string",
    "texts": "a list of strings",
    "map": "an object of numbers",
}


def value_of(node: Node, kind: Valued) -> object:
    """Return a value of an attribute: a float, str, tuple of str or dict; None if it is none."""
    kinds = {one.kind for one in (node.items or node.members.values())}
    if kind == "texts" and node.kind == "array" and kinds <= {"string"}:
        return tuple(dict.fromkeys(plain(node)))
    if kind == "map" and node.kind == "object" and kinds <= {"number"}:
        return {key: float(value) for key, value in plain(node).items()}
    if kind == "number" and node.kind == "number":
        return float(cast(float, node.value))
    return node.value if kind == "text" and node.kind == "string" else None


def _teams(root: Item, context: Context) -> list[tuple[Team, list[str]]]:
    """Return the teams, each with the names of those that its quantity makes of it."""
    found: list[tuple[Team, list[str]]] = []
    for item in root.items("teams", required=True, empty="no team"):
        item.known(("name", "minPlayers", "maxPlayers", "quantity"))
        name = item.text("name", required=True)
        least, most = _sizes(item, name, context)
        quantity = item.number("quantity", whole=True, least=1)
        if name is None:
            continue
        number = min(int(quantity or 1), MOST_PLAYERS + 1)
        names = [name] if number == 1 else [f"{name}_{k}" for k in range(1, number + 1)]
        if taken := {name, *names} & {one for team, own in found for one in (team.name, *own)}:
            item.error("name", f"there is a team {shown(min(taken))} already")
            continue
        found.append((Team(name, least, most), names))
    return found


def _sizes(item: Item, name: str | None, context: Context) -> tuple[Steps, Steps]:
    """Return the least and the most players of a team."""
    sizes = []
    for key, smallest in (("minPlayers", 0.0), ("maxPlayers", 1.0)):
        if key not in item.members:
            item.error("", f"no {key} (a number is needed)")
        read = partial(Item.number, whole=True, least=smallest)
        steps = context.stepped(item, f"teams[{name}]", key, read)
        sizes.append(steps or Steps((), (smallest,)))
    least, most = sizes
    if {"minPlayers", "maxPlayers"} <= set(item.members):
        first, last = cast(float, least.values[0]), cast(float, most.values[0])
        if first > last and item.number("minPlayers") and item.number("maxPlayers"):
            item.error("minPlayers", f"{first:g} is more than maxPlayers, {last:g}")
    return least, most


def _by_name(teams: list[tuple[Team, list[str]]]) -> dict[str, tuple[int, ...]]:
    """Return the numbers of the teams that each name stands for."""
    names: dict[str, tuple[int, ...]] = {}
    number = 0
    for team, own in teams:
        names[team.name] = tuple(range(number, number + len(own)))
        names.update({name: (number + k,) for k, name in enumerate(own)})
        number += len(own)
    return names


def _is_large(root: Item, teams: list[tuple[Team, list[str]]], balanced: bool) -> bool:
    """Return whether matches may have more than 40 players; report sizes that are not allowed.

    Of a match that is too large, nobody knows what it was meant to be.
    """
    most = sum(len(names) * max(team.most.numbers) for team, names in teams)
    if most > MOST_PLAYERS:
        # Of a quantity no more teams are made than show that they are too many.
        least = "at least " if any(len(names) > MOST_PLAYERS for _, names in teams) else ""
        number = f"{most:,.0f}" if most < WRITTEN_OUT else f"{most:g}"
        root.error("teams", f"{least}{number} players, where a match has at most {MOST_PLAYERS}")
    elif most > MOST_SMALL and not balanced:
        text = f"{most:.0f} players need the strategy balanced, as all over {MOST_SMALL} do"
        root.error("teams", text)
    elif balanced and most <= MOST_SMALL:
        text = f"balanced is for more than {MOST_SMALL} players; there are at most {most:.0f}"
        root.warn("algorithm", text)
    return MOST_SMALL < most <= MOST_PLAYERS


def _rules(items: list[Item], context: Context, large: bool) -> tuple[Rule, ...]:
    """Return the rules; what one of them does not say is reported."""
    found: list[Rule] = []
    for number, item in enumerate(items):
        name = item.text("name", required=True)
        kind = item.choice("type", list(TYPES), required=True)
        if name is not None and name in context.earlier:
            item.error("name", f"there is a rule {shown(name)} already")
            name = None
        if kind is not None:
            rule_type = TYPES[kind]
            item.known(("name", "type", "description", *rule_type.keys))
            item.text("description")
            if large and not rule_type.large:
                text = f"{kind} is not for large matches ({hint(kind, LARGE_RULES)})"
                item.error("type", text)
            if large and kind == "latency" and "maxDistance" in item.members:
                item.error("maxDistance", "of latency, large matches know maxLatency alone")
            predicate = rule_type.read(item, f"rules[{name}]", context)
            if name is not None and predicate is not None:
                found.append(Rule(name, predicate))
                context.earlier[name] = len(found) - 1
                context.combined[name] = kind
                continue
        if name is not None:
            context.earlier[name] = -1 - number
            context.combined[name] = kind or "distance"
    return _taken_up(found)


def _taken_up(rules: list[Rule]) -> tuple[Rule, ...]:
    """Return the rules; those that another one takes up do not have to hold alone."""
    taken = {
        part
        for rule in rules
        for part in getattr(rule.predicate, "program", ())
        if isinstance(part, int)
    }
    return tuple(rule._replace(alone=number not in taken) for number, rule in enumerate(rules))
