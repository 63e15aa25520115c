"""The short form of a rule set: a mapping of a few words, expanded to FlexMatch's own.

Every value of the result stands at the place of the word that it comes from, and is called as that
is, so that whatever is found in the result is reported of the short form.
"""

import re
from collections.abc import Mapping, Sequence
from typing import cast

from valmatch.rule_sets.json_text import Item, Node, Problems, called, one_place
from valmatch.text.suggestions import hint
from valmatch.text.terminal import shown

KEYS = ("name", "teams", "skill", "balance", "latency", "same", "age", "backfill", "defaults")
"""What a short form may say."""

OWN = frozenset(KEYS) - {"name", "teams"}  # what a rule set of FlexMatch cannot say in these words
NOT_OWN = frozenset(("ruleLanguageVersion", "playerAttributes", "algorithm", "rules", "expansions"))
"""What only a rule set of FlexMatch says."""

CHOICES = {
    "age": ("expansionAgeSelection", ("newest", "oldest")),
    "backfill": ("backfillPriority", ("normal", "high", "low")),
}
"""Words that are passed on to the algorithm: what they are called there, and what they may say."""

TEAMS = re.compile(r" *([0-9]{1,4}) *x(.+)")
SIZES = re.compile(r" *([0-9]{1,4}) *(?:- *([0-9]{1,4}) *)?")
SMALL = 40  # most players of a match whose teams may be compared with each other


LIMITS = {
    "skill": ("within", "maxDistance", "attribute", "party"),
    "balance": ("within", "maxDistance", "attribute"),
    "latency": ("max", "maxLatency", "party"),
}
"""Sections of a limit: its key here and in the rule, and further keys."""


def is_short(node: Node) -> bool:
    """Return whether an object is a short form, not a rule set of FlexMatch."""
    members = node.members
    if node.kind != "object" or not NOT_OWN.isdisjoint(members):
        return False
    by_teams = "teams" in members and members["teams"].kind in ("string", "object", "number")
    return by_teams or not OWN.isdisjoint(members)


def expand(node: Node, problems: Problems, lenient: bool = False) -> Node | None:
    """Return the rule set that a short form stands for; None where it has faults."""
    before = problems.errors
    root = Item(node, problems, lenient)
    root.known(KEYS)
    rule_set = _Writer(root).rule_set()
    return None if problems.errors > before else rule_set


def made(value: object, word: Node) -> Node:
    """Return a value that stands for a word; nodes in it keep their own places and names."""
    return Node(value, one_place(lambda: word.start), word.path)


class _Writer:
    """Writes the rule set of a short form, section by section."""

    def __init__(self, root: Item) -> None:
        self.root = root
        self.attributes: dict[str, dict[str, object]] = {}
        self.free: set[str] = set()  # attributes that may be numbers as well as strings
        self.teams: list[Node] = []
        self.rules: list[Node] = []
        self.expansions: list[Node] = []
        self.most = 0  # players of a match
        self.large = False  # whether they are too many for most rules

    def rule_set(self) -> Node:
        """Read all sections; return the rule set."""
        self._teams()
        _, balanced, _ = [self._limit(name) for name in LIMITS]
        for node in self.root.list_of("same", "string"):
            self._same(node)
        algorithm = self._algorithm(balanced)
        defaults = self.root.item("defaults")
        for name, member in defaults.members.items() if defaults else ():
            if name not in self.attributes:
                near = hint(name, self.attributes) if self.attributes else "no rule looks at any"
                text = f"no rule looks at attribute {shown(name)} ({near})"
                self.root.problems.error(member.place.key, member.path, text)
                continue
            if name in self.free and member.kind == "number":
                self.attributes[name]["type"] = "number"
            self.attributes[name]["default"] = member
        members, attributes = self.root.members, self.attributes.values()
        parts: Mapping[str, object] = {
            "name": members.get("name"),
            "ruleLanguageVersion": "1.0",
            "playerAttributes": [made(named, cast(Node, named["name"])) for named in attributes],
            "algorithm": algorithm and made(algorithm, members.get("age") or self.root.node),
            "teams": self.teams,
            "rules": self.rules,
            "expansions": self.expansions,
        }
        return made({key: part for key, part in parts.items() if part}, self.root.node)

    def _teams(self) -> None:
        """Write the teams: ``2x5``, or sizes by name."""
        node = self.root.members.get("teams")
        if node is None:
            self.root.error("", 'no teams (such as "2x5", two teams of five)')
        elif node.kind == "object":
            teams = Item(node, self.root.problems)
            if not teams.members:
                self.root.error("teams", "no team")
            for name in teams.members:
                self._team(name, teams)
        else:
            match = TEAMS.fullmatch(node.value) if node.kind == "string" else None
            sizes = _sizes(made(match[2], node)) if match else None
            if match is None or sizes is None or not int(match[1]):
                wanted = '"2x5" (two teams of five), "2x4-5", or sizes by name are meant'
                self.root.error("teams", f"{wanted}, not {called(node)}")
            else:
                self._add_team("team", sizes, made(int(match[1]), node), node)

    def _team(self, name: str, teams: Item) -> None:
        """Write a team that has a name: its size, or an object of size, count and fewer."""
        node, problems = teams.members[name], teams.problems
        if not _is_name(name):
            problems.error(node.place.key, node.path, f"{shown(name)} cannot be the name of a team")
            return
        item = Item(node, problems) if node.kind == "object" else None
        if item:
            item.known(("size", "count", "fewer"))
            if "size" not in item.members:
                item.error("", 'no size (such as 5, or "4-5")')
                return
        word = item.members["size"] if item else node
        sizes = _sizes(word)
        if sizes is None:
            text = f'players of a team are needed, 5 or "4-5", not {called(word)}'
            problems.error(word.start, word.path, text)
            return
        self._add_team(name, sizes, item.get("count", "number") if item else None, word)
        if item and "fewer" in item.members:
            self._expand(f"teams[{name}].minPlayers", item, "fewer")

    def _add_team(self, name: str, sizes: Sequence[Node], count: Node | None, word: Node) -> None:
        least, most = sizes
        team: dict[str, object] = {
            "name": made(name, word),
            "minPlayers": least,
            "maxPlayers": most,
        }
        if count is not None:
            team["quantity"] = count
        self.teams.append(made(team, word))
        numbers = most.value, 1 if count is None else count.value
        if all(isinstance(n, int | float) and 0 <= n < SMALL**2 for n in numbers):  # else reported
            self.most += int(numbers[0]) * int(numbers[1])
        self.large = self.most > SMALL

    def _limit(self, name: str) -> Node | None:
        """Write the rule of a section that limits something; return its attribute."""
        item, (key, limit, *keys) = self.root.item(name), LIMITS[name]
        if item is None:
            return None
        item.known((key, "widen", *keys))
        attribute = item.get("attribute", "string", required=True) if "attribute" in keys else None
        if attribute is not None:
            if not _is_name(attribute.value):
                text = f"{shown(attribute.value)} cannot be the name of an attribute"
                item.error("attribute", text)
                return None
            self.attributes.setdefault(attribute.value, {"name": attribute, "type": "number"})
        if name == "balance" and self.large:
            for surplus in item.members.keys() & {"within", "widen"}:
                text = f"matches of more than {SMALL} are balanced without a limit"
                item.error(surplus, f"{text}, and there are up to {self.most}")
            return attribute
        if key not in item.members:
            item.error("", f"no {key} (a number is needed)")
            return None
        rule: dict[str, object] = {"name": name, "type": "latency"}
        if name == "skill":
            rule |= {"type": "batchDistance", "batchAttribute": attribute}
        elif attribute is not None:
            values = f"teams[*].players.attributes[{attribute.value}]"
            measured, reference = [f"avg({values})"], f"avg(flatten({values}))"
            rule |= {"type": "distance", "measurements": measured, "referenceValue": reference}
        rule[limit] = item.members[key]
        if "party" in item.members:
            rule["partyAggregation"] = item.members["party"]
        if "widen" in item.members:
            self._expand(f"rules[{name}].{limit}", item, "widen")
        self.rules.append(made(rule, item.node))
        return attribute

    def _same(self, node: Node) -> None:
        """Write that all players of a match have the same value."""
        name, wrong = node.value, ""
        if name in self.attributes:
            wrong = f"attribute {shown(name)} is looked at already"
        elif not _is_name(name):
            wrong = f"{shown(name)} cannot be the name of an attribute"
        if wrong:
            self.root.problems.error(node.start, node.path, wrong)
            return
        self.attributes[name] = {"name": node, "type": "string"}
        rule: dict[str, object] = {"type": "batchDistance", "batchAttribute": node}
        if not self.large:
            measured = [f"flatten(teams[*].players.attributes[{name}])"]
            rule = {"type": "comparison", "measurements": measured, "operation": "="}
            self.free.add(name)
        self.rules.append(made({"name": f"same-{name}", **rule}, node))

    def _algorithm(self, balanced: Node | None) -> dict[str, object]:
        algorithm: dict[str, object] = {}
        if self.large:
            algorithm = {"strategy": "balanced", "batchingPreference": "largestPopulation"}
            if balanced is not None:
                algorithm["balancedAttribute"] = balanced
            elif "balance" not in self.root.members:
                text = f"up to {self.most} players: more than {SMALL} need balance: {{attribute:"
                self.root.error("teams", f"{text} ...}}")
        for key, (inner, choices) in CHOICES.items():
            if self.root.choice(key, choices):
                algorithm[inner] = self.root.members[key]
        return algorithm

    def _expand(self, target: str, item: Item, key: str) -> None:
        """Add the steps that stand under a key, pairs of seconds and a value."""
        steps: list[Node] = []
        for pair in item.list_of(key, "array"):
            parts = pair.items
            if [part.kind for part in parts] != ["number", "number"]:
                wrong = next((part for part in parts if part.kind != "number"), None)
                instead = called(wrong) if wrong and len(parts) == 2 else f"a list of {len(parts)}"
                text = "a pair of seconds and a value is needed, such as [15, 200], not"
                item.problems.error(pair.start, pair.path, f"{text} {instead}")
                continue
            steps.append(made({"waitTimeSeconds": parts[0], "value": parts[1]}, pair))
        word = item.members[key]
        self.expansions.append(made({"target": target, "steps": made(steps, word)}, word))


def _sizes(word: Node) -> tuple[Node, Node] | None:
    """Return the least and the most players of 5, ``5`` or ``4-5``; None if it is none of them."""
    if word.kind == "number":
        return word, word
    match = SIZES.fullmatch(word.value) if word.kind == "string" else None
    least, most = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    return (made(least, word), made(most, word)) if most >= max(least, 1) else None


def _is_name(text: str) -> bool:
    """Return whether a name can stand in an expression and in the target of an expansion."""
    plain_text = bool(text) and text == text.strip() and text.isprintable()
    return plain_text and not set("[](),*") & set(text)
