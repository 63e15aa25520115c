"""JSON with places: of every value and key a line and a column; comments and keys that stand twice.

Python's own reader says neither where a value stands nor that a key stood there before.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from itertools import accumulate
from json import JSONDecoder, loads
from typing import Any, Literal, NamedTuple, cast

from valmatch.rule_sets.problems import Problems
from valmatch.text.terminal import shortened, shown

Kind = Literal["object", "array", "string", "number", "boolean", "null"]

DEEPEST = 64  # most levels of objects and lists in each other

BLANK = re.compile(r"[ \t\r\n]*")
SKIPPED = frozenset(" \t\r\n/")  # what blanks and comments begin with

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
STRING = re.compile(r'"([^"\\\x00-\x1f]*+(?:\\.[^"\\\x00-\x1f]*+)*+)"')
KEY = re.compile(r'"([^"\\\x00-\x1f]*+)"[ \t\r\n]*+:[ \t\r\n]*+')
"""A key without escapes with its colon, as nearly all are."""

ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
WORD = re.compile(r"[-+]?[A-Za-z0-9_.+-]+")

WORDS: dict[str, tuple[Kind, bool | None]] = {
    "true": ("boolean", True),
    "false": ("boolean", False),
    "null": ("null", None),
}

KINDS: dict[type, Kind] = {
    dict: "object",
    list: "array",
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    type(None): "null",
}
"""What the values of Python's own reader are."""

LONE = re.compile(r"\\u[dD][89a-fA-F]")  # what may be half of a character

BRACKETS = re.compile(r"[\[\]{}]")

EXACT = 15  # digits of an integer that every number of JSON keeps


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
    """The text is no JSON from a place on."""

    def __init__(self, offset: int, text: str) -> None:
        super().__init__(text)
        self.offset, self.text = offset, text


def read_json(text: str, problems: Problems, lenient: bool = False) -> Node | None:
    """Return the value that a text is, or None where it is no JSON."""
    reader = _Reader(text, problems, lenient)
    try:
        node = reader.value(reader.skipped(1 if text.startswith("\ufeff") else 0), "", 0)
        if (rest := reader.skipped(node.end)) < len(text):
            raise SyntaxFault(rest, f"expected the end of the file, found {reader.found(rest)}")
    except SyntaxFault as fault:
        problems.error(fault.offset, "", f"no JSON: {fault.text}")
        return None
    return node


def read_plainly(text: str, start: int) -> UnplacedNode | None:
    """Return the value that a text is, all at one place; None where `read_json` has to look.

    This is ten times as fast. It has to look where something is wrong, a key stands twice, or
    Python's own reader may see it in another way.
    """
    if LONE.search(text) or _is_deep(text):
        return None
    try:
        value = DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    return UnplacedNode(KINDS[type(value)], value, start, start)


def _is_deep(text: str) -> bool:
    """Return whether there may be more levels than `read_json` allows."""
    if text.count("{") + text.count("[") <= DEEPEST:
        return False
    steps = (1 if bracket in "{[" else -1 for bracket in BRACKETS.findall(text))
    return max(accumulate(steps)) > DEEPEST


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key twice")
    return found


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= EXACT else _finite(digits)


def _finite(digits: str) -> float:
    if math.isinf(value := float(digits)):
        raise ValueError("too large")
    return value


def _constant(name: str) -> float:
    raise ValueError(f"{name} is no number")


DECODER = JSONDecoder(
    object_pairs_hook=_object,
    parse_float=_finite,
    parse_int=_integer,
    parse_constant=_constant,
)


class _Reader:
    """Reads one text from left to right."""

    def __init__(self, text: str, problems: Problems, lenient: bool) -> None:
        self.text, self.problems, self.lenient = text, problems, lenient

    def found(self, at: int) -> str:
        """Return what stands at a place, for a message."""
        if at >= len(self.text):
            return "the end of the file"
        word = WORD.match(self.text, at)
        return shown(word[0] if word else self.text[at])

    def skipped(self, at: int) -> int:
        """Return the next place of something that is neither blank nor a comment."""
        text = self.text
        if text[at : at + 1] not in SKIPPED:
            return at
        while True:
            blank = BLANK.match(text, at)
            at = blank.end() if blank else at
            if text[at : at + 1] != "/":
                return at
            comment = COMMENT.match(text, at)
            if comment is None:
                if text.startswith("/*", at):
                    raise SyntaxFault(at, "a comment without end")
                return at
            self.problems.warn(at, "", "a comment: the service takes JSON without comments")
            at = comment.end()

    def value(self, at: int, path: str, depth: int) -> Node:
        """Return the value that begins at a place."""
        first = self.text[at : at + 1]
        if first == '"':
            value, end = self.string(at)
            return Node("string", value, at, end)
        if first == "{" or first == "[":
            if depth >= DEEPEST:
                raise SyntaxFault(at, f"nested deeper than {DEEPEST} levels")
            return (self.object if first == "{" else self.array)(at, path, depth + 1)
        if number := NUMBER.match(self.text, at):
            end = number.end()
            follows = WORD.match(self.text, end)
            if follows is None:
                return Node("number", self.number(number, at), at, end)
        return self.word(at)

    def word(self, at: int) -> Node:
        """Return the value of a word, if it is one that JSON has."""
        word = WORD.match(self.text, at)
        if word and word[0] in WORDS:
            return Node(*WORDS[word[0]], at, word.end())
        if word and word[0].lstrip("+-").lower() in ("nan", "infinity", "inf"):
            raise SyntaxFault(at, f"{shown(word[0])} is no number of JSON")
        raise SyntaxFault(at, f"expected a value, found {self.found(at)}")

    def number(self, number: re.Match[str], at: int) -> int | float:
        """Return the value of a number."""
        if not (number[1] or number[2]) and len(number[0]) <= EXACT:
            return int(number[0])
        value = float(number[0])
        if value in (float("inf"), float("-inf")):
            raise SyntaxFault(at, f"{shown(number[0])} is too large for a number")
        return value

    def string(self, at: int) -> tuple[str, int]:
        """Return a string and the place after it."""
        string = STRING.match(self.text, at)
        if string is None:
            end = min(self._ends(at), len(self.text))
            what = "the end of the file" if end == len(self.text) else "a control character"
            raise SyntaxFault(at, f"a string without end: {what} in it")
        content = string[1]
        if "\\" not in content:
            return content, string.end()
        for escape in re.finditer(r"\\.", content, re.S):
            if not ESCAPE.match(content, escape.start()):
                place = at + 1 + escape.start()
                raise SyntaxFault(place, f"{shown(escape[0])} stands for no character")
        value = str(loads(string[0]))
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise SyntaxFault(at, "half of a character that is written as a pair")
        return value, string.end()

    def _ends(self, at: int) -> int:
        """Return where a string that does not end is cut off."""
        cut = re.compile(r"[\x00-\x1f]").search(self.text, at + 1)
        return cut.start() if cut else len(self.text)

    def array(self, start: int, path: str, depth: int) -> Node:
        """Return the list that begins at a place."""
        items: list[Node] = []
        at = self.skipped(start + 1)
        while self.text[at : at + 1] != "]":
            items.append(self.value(at, f"{path}[{len(items)}]", depth))
            at = self._next(self.skipped(items[-1].end), "]")
        return Node("array", items, start, at + 1)

    def object(self, start: int, path: str, depth: int) -> Node:
        """Return the object that begins at a place."""
        members: dict[str, Member] = {}
        at = self.skipped(start + 1)
        while self.text[at : at + 1] != "}":
            key, end = self.key(at)
            inner = f"{path}.{key}" if path else key
            node = self.value(self.skipped(end), inner, depth)
            if key in members:
                self.twice(at, path, key, members)
            members[key] = Member(at, node)
            at = self._next(self.skipped(node.end), "}")
        return Node("object", members, start, at + 1)

    def key(self, at: int) -> tuple[str, int]:
        """Return the key at a place, and the place after its colon."""
        if plain := KEY.match(self.text, at):
            return plain[1], plain.end()
        if self.text[at : at + 1] != '"':
            raise SyntaxFault(at, f"expected a key in quotes, found {self.found(at)}")
        key, end = self.string(at)
        colon = self.skipped(end)
        if self.text[colon : colon + 1] != ":":
            raise SyntaxFault(colon, f"expected a colon, found {self.found(colon)}")
        return key, colon + 1

    def twice(self, at: int, path: str, key: str, members: dict[str, Member]) -> None:
        """Report a key that stood in the same object before."""
        lost = ""
        target = members.get("target")
        if key == "target" and target and target.node.kind == "string":
            lost = f": the expansion of {shown(target.node.value)[1:-1]} is lost"
        line, column = self.problems.place(members[key].start)
        text = f'key "{shortened(key)}" twice in one object{lost} (first at {line}:{column})'
        self.problems.add("warning" if self.lenient else "error", at, path, text)

    def _next(self, at: int, closing: str) -> int:
        """Return the place of the next item, or of the closing bracket."""
        if self.text[at : at + 1] == closing:
            return at
        if self.text[at : at + 1] != ",":
            raise SyntaxFault(at, f"expected , or {closing}, found {self.found(at)}")
        following = self.skipped(at + 1)
        if self.text[following : following + 1] == closing:
            raise SyntaxFault(at, f"a comma before {closing}")
        return following
