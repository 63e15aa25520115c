"""Typed access to the objects of a file: what is missing, unknown or wrong is reported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import inf
from typing import cast

from valmatch.rule_sets.json_text import Node, Problems
from valmatch.text.numerals import real_number
from valmatch.text.suggestions import hint
from valmatch.text.terminal import shown

NAMES = {
    "object": "an object",
    "array": "a list",
    "string": "a string",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}


def called(node: Node) -> str:
    """Return a value as messages show it."""
    if node.kind in ("object", "array", "null"):
        return NAMES[node.kind]
    if node.kind == "boolean":
        return "true" if node.value else "false"
    return shown(node.value)


class Item:
    """An object of the file."""

    def __init__(
        self, node: Node, problems: Problems, lenient: bool = False, nulls: bool = False
    ) -> None:
        # nulls: whether null stands for no value
        self.node, self.problems, self.lenient, self.nulls = node, problems, lenient, nulls
        self.path, self.members = node.path, node.members
        if nulls:
            self.members = {
                k: member for k, member in self.members.items() if member.kind != "null"
            }

    def inner(self, key: str) -> str:
        """Return the path of a key."""
        if key in self.members:
            return self.members[key].path
        return f"{self.path}.{key}" if self.path else key

    def at(self, key: str) -> int:
        """Return the place of a value, of the object where it has none."""
        return (self.members.get(key) or self.node).start

    def error(self, key: str, text: str) -> None:
        """Report a value, "" for the object itself."""
        self.problems.error(self.at(key), self.inner(key) if key else self.path, text)

    def warn(self, key: str, text: str) -> None:
        """Warn of a value, "" for the object itself."""
        self.problems.warn(self.at(key), self.inner(key) if key else self.path, text)

    def known(self, names: Iterable[str]) -> None:
        """Report keys that are not among some."""
        names = list(names)
        for key, member in self.node.members.items():
            if key not in names:
                severity = "warning" if self.lenient else "error"
                text = f"unknown key {shown(key)} ({hint(key, names)})"
                self.problems.add(severity, member.place.key, self.path, text)  # type: ignore[arg-type]

    def get(self, key: str, kind: str, required: bool = False) -> Node | None:
        """Return a value of a kind; None where there is none, or one of another kind."""
        member = self.members.get(key)
        if member is None:
            if required:
                self.error("", f"no {key} ({NAMES[kind]} is needed)")
            return None
        if member.kind != kind:
            self.error(key, f"{NAMES[kind]} is needed, not {called(member)}")
            return None
        return member

    def text(self, key: str, required: bool = False) -> str | None:
        """Return a string."""
        node = self.get(key, "string", required)
        return None if node is None else str(node.value)

    def choice(self, key: str, choices: Sequence[str], required: bool = False) -> str | None:
        """Return one of some strings."""
        value = self.text(key, required)
        if value is not None and value not in choices:
            self.error(key, f"{shown(value)} is none ({hint(value, choices)})")
            return None
        return value

    def number(
        self,
        key: str,
        required: bool = False,
        whole: bool = False,
        least: float = -inf,
        most: float = inf,
        quoted: bool = False,
    ) -> float | None:
        """Return a number; where `quoted`, also of a string that is one."""
        member = self.members.get(key)
        if member and quoted and member.kind == "string":
            value = real_number(str(member.value))
            if value is None:
                self.error(key, f"a number is needed, not {called(member)}")
                return None
        else:
            node = self.get(key, "number", required)
            if node is None:
                return None
            value = cast(float, node.value)
        if whole and value != int(value):
            self.error(key, f"a whole number is needed, not {shown(value)}")
            return None
        if value < least:
            self.error(key, f"at least {least:g} is needed, not {shown(value)}")
            return None
        if value > most:
            self.error(key, f"at most {most:,.0f} is needed, not {shown(value)}")
            return None
        return value

    def list_of(
        self, key: str, kind: str, required: bool = False, empty: str = ""
    ) -> Iterator[Node]:
        """Yield values of a list, reporting those of another kind, and `empty` where it is."""
        node = self.get(key, "array", required)
        if node and empty and not node.value:
            self.error(key, empty)
        for item in node.items if node else ():
            if item.kind == kind:
                yield item
            else:
                text = f"{NAMES[kind]} is needed, not {called(item)}"
                self.problems.error(item.start, item.path, text)

    def items(self, key: str, required: bool = False, empty: str = "") -> list[Item]:
        """Return the objects of a list."""
        nodes = self.list_of(key, "object", required, empty)
        return [Item(node, self.problems, self.lenient, self.nulls) for node in nodes]

    def item(self, key: str) -> Item | None:
        """Return the object of a key, None where there is none."""
        node = self.get(key, "object")
        return Item(node, self.problems, self.lenient, self.nulls) if node else None
