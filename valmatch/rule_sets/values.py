"""Values of a rule set by name: read from its text, and put into it again where they stand.

Names are ``rules.NAME.PROPERTY``, ``rules.algorithm.PROPERTY``, ``rules.teams.NAME.PROPERTY`` and
``expansions.NAME.PROPERTY.STEP.wait`` or ``.value`` with steps counted from 0.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias, cast

from valmatch.rule_sets.flexmatch import TARGET
from valmatch.rule_sets.json_text import Node, Path, Problems, label, read_json
from valmatch.text.suggestions import hint
from valmatch.text.terminal import shown

Scalar: TypeAlias = "float | str | bool"

AGE = ("rules", "algorithm", "expansionAgeSelection")
"""The one value that has a default and may be set where the text does not have it."""

STEP_KEYS = {"waitTimeSeconds": "wait", "value": "value"}


class UnknownValue(Exception):  # noqa: N818 - caught where the text is known by its file
    """A value is none of the rule set, or not of the kind that it has there."""

    def __init__(self, path: Path, text: str) -> None:
        super().__init__(text)
        self.path, self.text = path, text


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
        if AGE not in self._places and not _is_rule(node, "algorithm"):
            _put(self.values, AGE, "newest")

    def changes(self, new_values: Mapping[str, Any]) -> dict[Path, Scalar]:
        """Return those of some values that differ from the text's, by path; integers stay so."""
        changes: dict[Path, Scalar] = {}
        for path, new in _leaves(new_values, self.values, ()):
            old = _at(self.values, path)
            if _kind(new) != _kind(old):
                wanted = f"{_kind(old)} is needed, not {shown(new)}"
                raise UnknownValue(path, wanted)
            if new != old:
                is_integer = isinstance(old, int) and isinstance(new, float) and new.is_integer()
                changes[path] = int(new) if is_integer else new
        return changes

    def changed(self, changes: Mapping[Path, Scalar], problems: Problems) -> Node:
        """Return the rule set with other values, which stand where the text's do."""
        node = read_json(self._text, problems)
        assert node is not None
        for path, value in changes.items():
            _put(cast("dict[str, Any]", node.value), self._places.get(path, path[1:]), value)
        return node

    def text(self, changes: Mapping[Path, Scalar]) -> str:
        """Return the same text but for some values."""
        edits = [
            (span.start, span.end, _written(value))
            for path, value in changes.items()
            if path in self._places
            for span in [self.root.place_of(self._places[path])]
        ]
        if AGE in changes and AGE not in self._places:
            edits.append(self._inserted(f'"{AGE[-1]}": {_written(changes[AGE])}'))
        text = self._text
        for start, end, new in sorted(edits, reverse=True):
            text = text[:start] + new + text[end:]
        return text

    def _inserted(self, member: str) -> tuple[int, int, str]:
        """Return what puts a member into the algorithm, first of all."""
        algorithm = self.root.members.get("algorithm")
        if algorithm is None:
            start = self.root.start + 1
            return start, start, f' "algorithm": {{ {member} }},'
        start = algorithm.start + 1
        return start, start, f" {member}{',' if algorithm.value else ' '}"


def filled(new_values: Mapping[str, Any], values: RuleValues) -> dict[str, Any]:
    """Return all values of a rule set, with some of them changed."""
    every: dict[str, Any] = json.loads(json.dumps(values.values))
    for path, value in values.changes(new_values).items():
        _put(every, path, value)
    return every


def _items(node: Node, key: str) -> list[Node]:
    """Return the values of a list that is a member."""
    member = node.members.get(key)
    return member.items if member else []


def _text(node: Node, key: str) -> str:
    member = node.members.get(key)
    return str(member.value) if member else ""


def _is_rule(root: Node, name: str) -> bool:
    """Return whether a rule has a name, which then means the rule."""
    return any(_text(rule, "name") == name for rule in _items(root, "rules"))


def _places(root: Node) -> Iterator[tuple[Path, Path]]:
    """Yield the paths of all values that can be set, and those at which they stand."""
    if not _is_rule(root, "teams"):
        for number, team in enumerate(_items(root, "teams")):
            yield from _scalars(team, ("rules", "teams", _text(team, "name")), ("teams", number))
    algorithm = root.members.get("algorithm")
    if algorithm and not _is_rule(root, "algorithm"):
        yield from _scalars(algorithm, ("rules", "algorithm"), ("algorithm",))
    for number, rule in enumerate(_items(root, "rules")):
        yield from _scalars(rule, ("rules", _text(rule, "name")), ("rules", number))
    for number, expansion in enumerate(_items(root, "expansions")):
        parts = TARGET.fullmatch(_text(expansion, "target"))
        if parts is None:
            continue
        _, name, key = parts.groups()
        for k, step in enumerate(_items(expansion, "steps")):
            for path, at in _scalars(step, (), ("expansions", number, "steps", k)):
                yield ("expansions", name, key, k, STEP_KEYS.get(str(path[0]), path[0])), at


def _scalars(node: Node, path: Path, at: Path) -> Iterator[tuple[Path, Path]]:
    """Yield the members of an object that are numbers, texts or truth values."""
    for key, member in node.members.items():
        if member.kind in ("number", "string", "boolean") and key not in (
            "name",
            "type",
            "description",
        ):
            yield (*path, key), (*at, key)


def _put(values: dict[str, Any], path: Path, new: object) -> None:
    """Put a value into nested mappings and lists, which are made; steps come in order."""
    inner: Any = values
    for part, following in pairwise(path):
        empty: Any = [] if isinstance(following, int) else {}
        if isinstance(inner, list):
            assert isinstance(part, int)
            if part == len(inner):
                inner.append(empty)
            inner = inner[part]
        else:
            inner = inner.setdefault(part, empty)
    inner[path[-1]] = new


def _at(values: Any, path: Path) -> Any:  # noqa: ANN401
    """Return what stands at a path."""
    for part in path:
        values = values[part]
    return values


def _leaves(new_values: Any, known: Any, path: Path) -> Iterator[tuple[Path, Any]]:  # noqa: ANN401
    """Yield the paths of values that are given, as far as they are known."""
    if not isinstance(known, dict | list):
        yield path, new_values
        return
    if isinstance(new_values, Mapping):
        items: Sequence[tuple[Any, Any]] = list(new_values.items())
    elif isinstance(new_values, list):
        items = list(enumerate(new_values))
    else:
        keys = list(known) if isinstance(known, dict) else [str(k) for k in range(len(known))]
        raise UnknownValue(path, f"is no single value ({hint(shown(new_values), keys)})")
    for key, inner in items:
        if isinstance(known, list):
            number = int(key) if str(key).isdecimal() else len(known)
            if number >= len(known):
                last = len(known) - 1
                raise UnknownValue((*path, key), f"is no step (there are steps 0 to {last})")
            yield from _leaves(inner, known[number], (*path, number))
        elif key not in known:
            raise UnknownValue((*path, key), f"is not in the rule set ({hint(str(key), known)})")
        else:
            yield from _leaves(inner, known[key], (*path, key))


def _kind(value: object) -> str:
    """Say what a value is."""
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    return "a text" if isinstance(value, str) else "no value"


def _written(value: Scalar) -> str:
    """Write a value; whole numbers as such."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, ensure_ascii=False)
