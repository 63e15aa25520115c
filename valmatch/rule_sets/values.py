"""Values of a rule set by name: read from its text, and put into it again where they stand.

Names are ``rules.NAME.PROPERTY``, ``rules.algorithm.PROPERTY``, ``rules.teams.NAME.PROPERTY`` and
``expansions.NAME.PROPERTY.STEP.wait`` or ``.value`` with steps counted from 0.
"""

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, cast

from valmatch.inputs.fields import Misplaced
from valmatch.rule_sets.flexmatch import TARGET
from valmatch.rule_sets.json_text import Node, Path, Problems, label, plain, read_json
from valmatch.text.suggestions import hint
from valmatch.text.terminal import shown

AGE = ("rules", "algorithm", "expansionAgeSelection")
"""The one value that has a default and may be set where the text does not have it."""

STEP_KEYS = {"waitTimeSeconds": "wait", "value": "value"}


class RuleValues:
    """The values of a rule set that can be set."""

    def __init__(self, text: str) -> None:
        self._text = text
        node = read_json(text, Problems(text), lenient=True)
        assert node is not None
        self.root = node
        self._places = dict(_places(node))
        # the path of each value by what problems call it, such as ``rules[0].maxDistance``
        self.names = {label(at).removeprefix("."): path for path, at in self._places.items()}
        # nested by name; steps are lists
        self.values: dict[str, Any] = {"rules": {}, "expansions": {}}
        for path, at in self._places.items():
            _put(self.values, path, _at(node.value, at))
        if AGE not in self._places and "algorithm" not in _names(node, "rules"):
            _put(self.values, AGE, "newest")

    def changes(self, new_values: Mapping[str, Any]) -> dict[Path, Any]:
        """Return those of some values that differ from the text's, by path; integers stay so."""
        changes = {}
        for path, new in _leaves(new_values, self.values, ()):
            old = _at(self.values, path)
            if _kind(new) != _kind(old):
                raise _misplaced(path, f"{_kind(old)} is needed, not {shown(new)}")
            if new != old:
                is_integer = isinstance(old, int) and isinstance(new, float) and new.is_integer()
                changes[path] = int(new) if is_integer else new
        return changes

    def filled(self, new_values: Mapping[str, Any]) -> dict[str, Any]:
        """Return all values, with some of them changed."""
        every: dict[str, Any] = json.loads(json.dumps(self.values))
        for path, value in self.changes(new_values).items():
            _put(every, path, value)
        return every

    def changed(self, changes: Mapping[Path, Any], problems: Problems) -> Node:
        """Return the rule set with other values, which stand where the text's do."""
        node = read_json(self._text, problems)
        assert node is not None
        for path, value in changes.items():
            _put(node.value, self._places.get(path, path[1:]), value)
        return node

    def text(self, changes: Mapping[Path, Any]) -> str:
        """Return the same text but for some values; whole numbers are written as such."""
        edits = []
        for path, value in changes.items():
            is_whole = isinstance(value, float) and value.is_integer()
            new = json.dumps(int(value) if is_whole else value, ensure_ascii=False)
            if path in self._places:
                span = self.root.place_of(self._places[path])
                edits.append((span.start, span.end, new))
                continue
            # The age is put into the algorithm, first of all.
            member, algorithm = f'"{AGE[-1]}": {new}', self.root.members.get("algorithm")
            start = (algorithm or self.root).start + 1
            if algorithm is None:
                edits.append((start, start, f' "algorithm": {{ {member} }},'))
            else:
                edits.append((start, start, f" {member}{',' if algorithm.value else ' '}"))
        text = self._text
        for start, end, new in sorted(edits, reverse=True):
            text = text[:start] + new + text[end:]
        return text


def _names(node: Node, key: str, name: str = "name") -> dict[str, tuple[int, Node]]:
    """Return the numbers and items of a list that is a member, by their names."""
    listed = node.members.get(key)
    items = enumerate(listed.items if listed else ())
    return {str(plain(item).get(name, "")): (number, item) for number, item in items}


def _places(root: Node) -> Iterator[tuple[Path, Path]]:
    """Yield the paths of all values that can be set, and those at which they stand."""
    rules, algorithm = _names(root, "rules"), root.members.get("algorithm")
    # A name of both is that of the rule.
    for name, (number, team) in _names(root, "teams").items() if "teams" not in rules else ():
        yield from _scalars(team, ("rules", "teams", name), ("teams", number))
    if algorithm and "algorithm" not in rules:
        yield from _scalars(algorithm, ("rules", "algorithm"), ("algorithm",))
    for name, (number, rule) in rules.items():
        yield from _scalars(rule, ("rules", name), ("rules", number))
    for target, (number, expansion) in _names(root, "expansions", "target").items():
        parts, steps = TARGET.fullmatch(target), expansion.members.get("steps")
        for k, step in enumerate(steps.items if parts and steps else ()):
            assert parts
            for (key,), at in _scalars(step, (), ("expansions", number, "steps", k)):
                yield ("expansions", parts[2], parts[3], k, STEP_KEYS.get(str(key), key)), at


def _scalars(node: Node, path: Path, at: Path) -> Iterator[tuple[Path, Path]]:
    """Yield the members of an object that are numbers, texts or truth values."""
    for key, member in node.members.items():
        no_value = key in ("name", "type", "description")
        if member.kind in ("number", "string", "boolean") and not no_value:
            yield (*path, key), (*at, key)


def _put(values: Any, path: Path, new: object) -> None:  # noqa: ANN401
    """Put a value into nested mappings and lists, which are made; steps come in order."""
    for part, following in pairwise(path):
        empty: Any = [] if isinstance(following, int) else {}
        if isinstance(values, list):
            values += [empty] * (part == len(values))
            values = values[cast(int, part)]
        else:
            values = values.setdefault(part, empty)
    values[path[-1]] = new


def _at(values: Any, path: Path) -> Any:  # noqa: ANN401
    for part in path:
        values = values[part]
    return values


def _leaves(new_values: Any, known: Any, path: Path) -> Iterator[tuple[Path, Any]]:  # noqa: ANN401
    """Yield the paths of values that are given, as far as they are known."""
    if not isinstance(known, dict | list):
        yield path, new_values
        return
    if not isinstance(new_values, Mapping | list):
        keys = list(known) if isinstance(known, dict) else list(map(str, range(len(known))))
        raise _misplaced(path, f"is no single value ({hint(shown(new_values), keys)})")
    items = new_values.items() if isinstance(new_values, Mapping) else enumerate(new_values)
    for key, inner in items:
        at, last = key, len(known) - 1
        if isinstance(known, list):
            at = int(key) if str(key).isdecimal() else len(known)
            if at > last:
                raise _misplaced((*path, key), f"is no step (there are steps 0 to {last})")
        elif key not in known:
            raise _misplaced((*path, key), f"is not in the rule set ({hint(str(key), known)})")
        yield from _leaves(inner, known[at], (*path, at))


def _misplaced(path: Path, text: str) -> Misplaced:
    return Misplaced(tuple(map(str, path)), text)


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    return "a text" if isinstance(value, str) else "no value"
