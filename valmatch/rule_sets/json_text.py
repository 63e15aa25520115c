"""JSON with places: of every value and key where it stands; comments and keys that stand twice.

Python's own reader finds the values and what is wrong; places are those of the tokens of its text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from json import JSONDecodeError, JSONDecoder, dumps
from typing import Any, Literal, NamedTuple, cast

from valmatch.rule_sets.problems import Problems
from valmatch.text.terminal import shortened, shown

Kind = Literal["object", "array", "string", "number", "boolean", "null"]

DEEPEST = 64  # most levels of objects and lists in each other

STRING = r'"(?:[^"\\]++|\\.)*+"'
TOKEN = re.compile(rf'{STRING}|[\[\]{{}},:]|[^\s\[\]{{}},:"]++', re.S)
COMMENT = re.compile(rf"{STRING}|(//[^\n]*|/\*.*?\*/)", re.S)  # its group; strings pass
LAST_COMMA = re.compile(r",\s*([}\]])")
SURROGATE = re.compile("[\ud800-\udfff]")  # half of a character
LONE = re.compile(r"\\u[dD][89a-fA-F]")  # what may be one

FAULTS = {
    "Expecting value": "expected a value",
    "Expecting property name": "expected a key in quotes",
    "Expecting ':'": "expected a colon",
    "Expecting ','": "expected a comma or a closing bracket",
    "Extra data": "expected the end of the file",
    "Unterminated string": "a string without end",
    "Invalid control": "a control character in a string",
    "Invalid \\": "an escape that stands for no character",
}
"""What is wrong, by how Python's own reader says it."""

EXACT = 15  # digits of an integer that every number of JSON keeps


class _Pairs(list[tuple[str, object]]):
    """The members of an object, in order; a key may stand twice."""


KINDS: dict[type, Kind] = {
    dict: "object",
    _Pairs: "object",
    list: "array",
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    type(None): "null",
}
"""What the values of Python's own reader are."""


class Node(NamedTuple):
    """A value and its place."""

    kind: Kind  # what it is
    # str, int, float, bool or None; of an array a list of nodes; of an object a dict of `Member`
    value: object
    start: int  # number of its first character
    end: int  # number of the character after its last

    @property
    def members(self) -> Mapping[str, Member]:
        """The members of an object."""
        return cast("dict[str, Member]", self.value)

    @property
    def items(self) -> list[Node]:
        """The values of a list."""
        return cast("list[Node]", self.value)


class Member(NamedTuple):
    """A key of an object, its place, and its value."""

    start: int
    node: Node


class UnplacedNode(Node):
    """A value as Python's own reader returns it: all that is in it stands where it does."""

    @property
    def members(self) -> Mapping[str, Member]:
        """The members of an object."""
        return _UnplacedMembers(cast("dict[str, object]", self.value), self.start)

    @property
    def items(self) -> list[Node]:
        """The values of a list."""
        place, values = self.start, cast("list[object]", self.value)
        return [UnplacedNode(KINDS[type(value)], value, place, place) for value in values]


class _UnplacedMembers(Mapping[str, Member]):
    """The members of an object, each made when it is asked for: few of a large file are."""

    def __init__(self, values: dict[str, object], place: int) -> None:
        self._values, self._place = values, place

    def __getitem__(self, key: str) -> Member:
        value, place = self._values[key], self._place
        return Member(place, UnplacedNode(KINDS[type(value)], value, place, place))

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def get(self, key: str, default: Any = None) -> Any:  # noqa: ANN401 - as Mapping has it
        """Return a member; `default` where there is none."""
        return self[key] if key in self._values else default

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class SyntaxFault(Exception):  # noqa: N818 - caught where the text is read
    """The text is no JSON; a token alone says where, if no place does."""

    def __init__(self, text: str, token: str = "", at: int = 0) -> None:
        super().__init__(text)
        self.text, self.token, self.at = text, token, at


def read_json(text: str, problems: Problems, lenient: bool = False, start: int = 0) -> Node | None:
    """Return the value that a text is, None where it is no JSON; `start`: its place in a whole."""
    plain = COMMENT.sub(lambda found: _blank(found, problems, start), text) if "/" in text else text
    plain = plain.replace("\ufeff", " ", 1) if plain.startswith("\ufeff") else plain
    try:
        _check_depth(plain)
        value = OF_PAIRS.decode(plain)
        return _Placing(plain, problems, lenient, start).node(value, "")
    except JSONDecodeError as error:
        at, what = _place_and_fault(error)
    except SyntaxFault as fault:
        at, what = fault.at, fault.text
        if fault.token:
            at = next(one.start() for one in TOKEN.finditer(plain) if one[0] == fault.token)
    problems.error(start + at, "", f"no JSON: {what}")
    return None


def read_plainly(text: str, start: int) -> UnplacedNode | None:
    """Return the value that a text is, all at one place; None where `read_json` has to look.

    This is ten times as fast. It has to look where something is wrong, or a key stands twice.
    """
    try:
        _check_depth(text)
        value = OF_DICTS.decode(text)
    except (ValueError, SyntaxFault):
        return None
    if LONE.search(text) and SURROGATE.search(dumps(value, ensure_ascii=False)):
        return None
    return UnplacedNode(KINDS[type(value)], value, start, start)


def _blank(found: re.Match[str], problems: Problems, start: int) -> str:
    """Return blanks in place of a comment, of which is warned; a string as it is."""
    if found[1] is None:
        return found[0]
    problems.warn(start + found.start(), "", "a comment: the service takes JSON without comments")
    return " " * len(found[0])


def _check_depth(text: str) -> None:
    """Refuse a text of more levels than are read."""
    if text.count("{") + text.count("[") <= DEEPEST:
        return
    depth = 0
    for token in TOKEN.finditer(text):
        if (first := token[0][0]) in "{[":
            depth += 1
        elif first in "}]":
            depth -= 1
        if depth > DEEPEST:
            raise SyntaxFault(f"nested deeper than {DEEPEST} levels", at=token.start())


def _place_and_fault(error: JSONDecodeError) -> tuple[int, str]:
    """Return where and why a text is no JSON."""
    text, at = error.doc, error.pos
    comma = LAST_COMMA.match(text, text.rfind(",", 0, at + 1))
    if comma and comma.end() > at:
        return comma.start(), f"a comma before {comma[1]}"
    what = next((what for key, what in FAULTS.items() if error.msg.startswith(key)), error.msg)
    if not what.startswith("expected"):
        return at, what
    token = TOKEN.match(text, at)
    found = shown(token[0] if token else text[at]) if at < len(text) else "the end of the file"
    return at, f"{what}, found {found}"


def _dict(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key twice")
    return found


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= EXACT else _finite(digits)


def _finite(digits: str) -> float:
    if math.isinf(value := float(digits)):
        raise SyntaxFault(f"{shown(digits)} is too large for a number", digits)
    return value


def _constant(name: str) -> float:
    raise SyntaxFault(f"{shown(name)} is no number of JSON", name)


OF_DICTS, OF_PAIRS = (
    JSONDecoder(
        object_pairs_hook=of_pairs,
        parse_float=_finite,
        parse_int=_integer,
        parse_constant=_constant,
    )
    for of_pairs in (_dict, _Pairs)
)


class _Placing:
    """Finds the places of values in the tokens of their text, from left to right."""

    def __init__(self, text: str, problems: Problems, lenient: bool, start: int) -> None:
        self.tokens = TOKEN.finditer(text)
        self.problems, self.lenient, self.start = problems, lenient, start

    def node(self, value: object, path: str) -> Node:
        """Return a value with its place, which is that of the next token."""
        start, end = next(self.tokens).span()
        kind = KINDS[type(value)]
        if isinstance(value, str) and not value.isascii() and SURROGATE.search(value):
            raise SyntaxFault("half of a character that is written as a pair", at=start)
        if isinstance(value, _Pairs):
            value, end = self.members(value, path)
        elif isinstance(value, list):
            value, end = self.items(value, path)
        return Node(kind, value, self.start + start, self.start + end)

    def items(self, values: list[object], path: str) -> tuple[list[Node], int]:
        """Return the values of a list, and where it ends."""
        nodes: list[Node] = []
        closing = None if values else next(self.tokens)
        for number, value in enumerate(values):
            nodes.append(self.node(value, f"{path}[{number}]"))
            closing = next(self.tokens)  # or a comma
        assert closing
        return nodes, closing.end()

    def members(self, pairs: _Pairs, path: str) -> tuple[dict[str, Member], int]:
        """Return the members of an object, and where it ends."""
        members: dict[str, Member] = {}
        closing = None if pairs else next(self.tokens)
        for key, value in pairs:
            start = self.start + next(self.tokens).start()
            next(self.tokens)  # the colon
            node = self.node(value, f"{path}.{key}" if path else key)
            if key in members:
                self.twice(start, path, key, members)
            members[key] = Member(start, node)
            closing = next(self.tokens)  # or a comma
        assert closing
        return members, closing.end()

    def twice(self, at: int, path: str, key: str, members: dict[str, Member]) -> None:
        """Report a key that stood in the same object before."""
        lost = ""
        target = members.get("target")
        if key == "target" and target and target.node.kind == "string":
            lost = f": the expansion of {shown(target.node.value)[1:-1]} is lost"
        line, column = self.problems.place(members[key].start)
        text = f'key "{shortened(key)}" twice in one object{lost} (first at {line}:{column})'
        self.problems.add("warning" if self.lenient else "error", at, path, text)
