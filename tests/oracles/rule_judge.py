"""Rules of FlexMatch, judged one at a time on lists of players, straight from their JSON.

A readable twin of the table and the kernels of `valmatch`: it reads expressions itself, and shares
no code with them.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable, Sequence
from typing import Any

Player = dict[str, Any]
Ticket = dict[str, Any]
Verdict = bool | None
"""None is unknown."""

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "min": min,
    "max": max,
    "sum": sum,
    "avg": lambda values: sum(values) / len(values),
    "median": statistics.median,
    "stddev": lambda values: deviation(values),
}


def deviation(values: Sequence[float]) -> float:
    """Return the standard deviation of a population."""
    mean = sum(values) / len(values)
    return math.sqrt(sum((value - mean) * (value - mean) for value in values) / len(values))


class Match:
    """Tickets on teams, complete or not."""

    def __init__(self, rule_set: dict[str, Any]) -> None:
        self.names = team_names(rule_set)
        self.teams: list[list[Player]] = [[] for _ in self.names]
        self.tickets: list[Ticket] = []

    def copy(self) -> Match:
        """Return a match that goes its own way."""
        copy = object.__new__(Match)
        copy.names, copy.tickets = self.names, list(self.tickets)
        copy.teams = [list(team) for team in self.teams]
        return copy

    def add(self, ticket: Ticket, team: int | None) -> None:
        """Add a ticket to a team; of a game that runs to the teams of its players."""
        self.tickets.append(ticket)
        for player in ticket["players"]:
            at = self.names.index(player["team"]) if team is None else team
            self.teams[at].append(player)


def team_names(rule_set: dict[str, Any]) -> list[str]:
    """Return the names of all teams."""
    names: list[str] = []
    for team in rule_set["teams"]:
        quantity = team.get("quantity", 1)
        several = [f"{team['name']}_{k + 1}" for k in range(quantity)]
        names += several if quantity > 1 else [team["name"]]
    return names


def value_of(rule_set: dict[str, Any], player: Player, name: str) -> Any:  # noqa: ANN401
    """Return an attribute of a player, its default where it is not given, else None."""
    for attribute in rule_set["playerAttributes"]:
        if attribute["name"] == name:
            value = player.get("attributes", {}).get(name, attribute.get("default"))
            if attribute["type"] == "string_list" and value is not None:
                return list(dict.fromkeys(value))
            return value
    raise KeyError(name)


def evaluate(text: str, rule_set: dict[str, Any], match: Match) -> tuple[Any, int]:
    """Return the value of an expression, and of how many levels of lists it is.

    Of undefined values, as of what is computed of no player, None.
    """
    text = text.strip()
    if call := re.fullmatch(r"(\w+)\s*\((.*)\)", text, re.S):
        value, depth = evaluate(call[2], rule_set, match)
        return applied(call[1], value, depth), depth - 1
    parts = re.fullmatch(r"teams\s*\[([^\]]*)\]\s*(.*)", text, re.S)
    assert parts, text
    single, teams = chosen(parts[1], rule_set, match)
    rest, depth = parts[2], 1 if single else 2
    if name := re.fullmatch(r"\.players\.attributes\[([^\]]*)\]", rest):
        lists: Any = [[value_of(rule_set, p, name[1]) for p in team] for team in teams]
        kinds = {one["name"]: one["type"] for one in rule_set["playerAttributes"]}
        depth += kinds[name[1]] == "string_list"
    elif rest in (".players[playerId]", ".players.playerId"):
        lists = [[player["id"] for player in team] for team in teams]
    elif rest == ".players":
        lists = teams
    else:
        lists, depth = ["a team"] * len(teams), depth - 1
    return (lists[0] if single else lists), depth


def chosen(text: str, rule_set: dict[str, Any], match: Match) -> tuple[bool, list[list[Player]]]:
    """Return whether one team is meant, and the teams."""
    if text.strip() == "*":
        return False, match.teams
    names = []
    for name in (part.strip() for part in text.split(",")):
        own = [one for one in match.names if one == name or one.rpartition("_")[0] == name]
        quantities = {team["name"]: team.get("quantity", 1) for team in rule_set["teams"]}
        names += own if quantities.get(name, 1) > 1 else [name]
    return len(names) == 1, [match.teams[match.names.index(name)] for name in names]


def defined(values: Sequence[Any]) -> list[Any]:
    return [value for value in values if value is not None]


def applied(function: str, value: Any, depth: int) -> Any:  # noqa: ANN401
    """Return a function of nested lists: flatten of the outermost, others of the innermost."""
    if value is None:
        return None
    if function == "flatten":
        return [one for inner in defined(value) for one in inner]
    if depth > (2 if function == "set_intersection" else 1):
        return [applied(function, one, depth - 1) for one in value]
    if function == "count":
        return len(defined(value))
    return innermost(function, value)


def innermost(function: str, value: list[Any]) -> Any:  # noqa: ANN401
    """Return a function of one list."""
    values = defined(value)
    if function == "set_intersection":
        common: list[str] | None = None
        for one in values:
            common = [x for x in one if common is None or x in common]
        return common
    if not values:
        return 0 if function == "sum" else None
    return FUNCTIONS[function](values)


def leaves(value: Any) -> list[Any]:  # noqa: ANN401
    """Return all single values of nested lists that are defined."""
    if isinstance(value, list):
        return [leaf for one in value for leaf in leaves(one)]
    return defined([value])


def stepped(rule_set: dict[str, Any], target: str, first: Any, now: float, born: float) -> Any:  # noqa: ANN401
    """Return what holds of a value, given when the ticket joined whose age counts."""
    for expansion in rule_set.get("expansions", []):
        if expansion["target"] == target:
            for step in expansion["steps"]:
                if born + step["waitTimeSeconds"] <= now:
                    first = step["value"]
    return first


def born_of(rule_set: dict[str, Any], tickets: Sequence[Ticket]) -> float:
    """Return the time of the newest or oldest of some tickets."""
    times: list[float] = [ticket["time"] for ticket in tickets]
    oldest = rule_set.get("algorithm", {}).get("expansionAgeSelection") == "oldest"
    return min(times) if oldest else max(times)


class Judge:
    """Judges the rules of a rule set on one match at one moment."""

    def __init__(self, rule_set: dict[str, Any], match: Match, now: float, partial: bool) -> None:
        self.rule_set, self.match, self.now, self.partial = rule_set, match, now, partial
        self.born = born_of(rule_set, match.tickets)
        self.rules: dict[str, Any] = {rule["name"]: rule for rule in rule_set.get("rules", [])}

    def refuses(self) -> str | None:
        """Return the first rule that is false, None if none is."""
        taken = set()
        for rule in self.rules.values():
            if rule["type"] == "compound":
                taken |= set(re.findall(r"[^(),\s]+", rule["statement"]))
        for name, rule in self.rules.items():
            if name not in taken and self.verdict(rule) is False:
                return name
        return None

    def number(self, rule: dict[str, Any], key: str) -> Any:  # noqa: ANN401
        """Return what holds of a property now, None if the rule has none."""
        if key not in rule:
            return None
        target = f"rules[{rule['name']}].{key}"
        value = stepped(self.rule_set, target, rule[key], self.now, self.born)
        return float(value) if key in ("minDistance", "maxDistance") else value

    def reference(self, rule: dict[str, Any]) -> Any:  # noqa: ANN401
        """Return the value of a reference."""
        value = self.number(rule, "referenceValue")
        if isinstance(value, str) and re.match(r"\s*(teams\s*\[|\w+\s*\()", value):
            return evaluate(value, self.rule_set, self.match)[0]
        return value

    def measured(self, rule: dict[str, Any]) -> list[tuple[Any, int]]:
        """Return the values of the measurements, with how many levels of lists they have."""
        texts = rule["measurements"]
        texts = [texts] if isinstance(texts, str) else texts
        return [evaluate(text, self.rule_set, self.match) for text in texts]

    def verdict(self, rule: dict[str, Any]) -> Verdict:
        """Return whether a rule holds."""
        if self.partial:
            texts = str(rule.get("measurements", "")) + str(rule.get("referenceValue", ""))
            for expansion in self.rule_set.get("expansions", []):
                if expansion["target"] == f"rules[{rule['name']}].referenceValue":
                    texts += "".join(f" {step['value']}" for step in expansion["steps"])
            if re.search(r"\b(count|sum)\s*\(", texts):
                return None
        judge = getattr(self, f"judge_{rule['type']}")
        return bool(verdict) if (verdict := judge(rule)) is not None else None

    def judge_distance(self, rule: dict[str, Any]) -> Verdict:
        reference = self.reference(rule)
        if reference is None:
            return True
        least, most = self.number(rule, "minDistance"), self.number(rule, "maxDistance")
        return all(
            (least is None or abs(value - reference) >= least)
            and (most is None or abs(value - reference) <= most)
            for value in leaves([value for value, _ in self.measured(rule)])
        )

    def judge_comparison(self, rule: dict[str, Any]) -> Verdict:
        operation = rule["operation"]
        if "referenceValue" not in rule:
            return all(self.among(*value, operation) for value in self.measured(rule))
        reference = self.reference(rule)
        if reference is None:
            return True
        compare: dict[str, Callable[[Any], bool]] = {
            "=": lambda a: a == reference,
            "!=": lambda a: a != reference,
            "<": lambda a: a < reference,
            "<=": lambda a: a <= reference,
            ">": lambda a: a > reference,
            ">=": lambda a: a >= reference,
        }
        holds = compare[operation]
        return all(holds(value) for value in leaves([value for value, _ in self.measured(rule)]))

    def among(self, value: Any, depth: int, operation: str) -> bool:  # noqa: ANN401
        """Return whether the values of each innermost list are all the same, or all different."""
        if value is None:
            return True
        if depth > 1:
            return all(self.among(one, depth - 1, operation) for one in value)
        values = defined(value)
        return len(set(values)) <= 1 if operation == "=" else len(set(values)) == len(values)

    def judge_collection(self, rule: dict[str, Any]) -> Verdict:
        least, most = self.number(rule, "minCount"), self.number(rule, "maxCount")
        operation = rule["operation"]
        reference = self.reference(rule) if "referenceValue" in rule else None
        if operation == "reference_intersection_count" and reference is None:
            return True
        counts: list[int] = []
        for value, depth in self.measured(rule):
            for lists in groups(value, depth):
                counts += self.counts(operation, lists, reference)
        if self.partial and operation == "contains":
            if most is not None and any(count > most for count in counts):
                return False
            return None if least is not None else True
        return all(
            (least is None or count >= least) and (most is None or count <= most)
            for count in counts
        )

    def counts(self, operation: str, lists: list[Any], reference: Any) -> list[int]:  # noqa: ANN401
        """Return what is counted of one list of lists."""
        lists = defined(lists)
        if operation == "contains":
            return [sum(reference in one for one in lists)]
        if operation == "intersection":
            common = innermost("set_intersection", lists)
            return [] if common is None else [len(common)]
        return [len(set(one) & set(reference)) for one in lists]

    def judge_latency(self, rule: dict[str, Any]) -> Verdict:
        most, spread = self.number(rule, "maxLatency"), self.number(rule, "maxDistance")
        players = [player for ticket in self.match.tickets for player in ticket["players"]]
        regions = set(players[0].get("latency") or {})
        for player in players:
            regions &= set(player.get("latency") or {})
        party = FUNCTIONS[rule.get("partyAggregation", "avg")]
        for region in sorted(regions):
            own = [
                party([player["latency"][region] for player in ticket["players"]])
                for ticket in self.match.tickets
            ]
            if self.rule_set.get("latencyOf") == "player":
                own = [player["latency"][region] for player in players]
            fine = most is None or all(value <= most for value in own)
            if fine and spread is not None:
                every = [player["latency"][region] for player in players]
                reference = FUNCTIONS[rule["distanceReference"]](every)
                fine = all(abs(value - reference) <= spread for value in own)
            if fine:
                return True
        return False

    def judge_batchDistance(self, rule: dict[str, Any]) -> Verdict:  # noqa: N802
        name = rule["batchAttribute"]
        lists = [
            [value_of(self.rule_set, player, name) for player in ticket["players"]]
            for ticket in self.match.tickets
        ]
        if isinstance(lists[0][0], str):
            return len({value for one in lists for value in one}) == 1
        party = FUNCTIONS[rule.get("partyAggregation", "avg")]
        values = [party(one) for one in lists]
        return bool(max(values) - min(values) <= self.number(rule, "maxDistance"))

    def judge_absoluteSort(self, rule: dict[str, Any]) -> Verdict:  # noqa: N802
        return True

    judge_distanceSort = judge_absoluteSort  # noqa: N815

    def judge_compound(self, rule: dict[str, Any]) -> Verdict:
        return self.logic(rule["statement"].strip())

    def logic(self, text: str) -> Verdict:
        """Return the value of a statement."""
        call = re.fullmatch(r"(and|or|xor|not)\s*\((.*)\)", text, re.S)
        if not call:
            return self.verdict(self.rules[text])
        values = [self.logic(one) for one in split(call[2])]
        if call[1] in ("not", "xor"):
            if self.partial:
                return None
            return not values[0] if call[1] == "not" else values[0] is not values[1]
        decisive = call[1] == "or"
        if decisive in values:
            return decisive
        return None if None in values else not decisive


def groups(value: Any, depth: int) -> list[list[Any]]:  # noqa: ANN401
    """Return the lists of lists of a value of a depth."""
    if value is None:
        return []
    return (
        [value]
        if depth == 2
        else [one for inner in defined(value) for one in groups(inner, depth - 1)]
    )


def split(text: str) -> list[str]:
    """Return the arguments of an operator."""
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]
