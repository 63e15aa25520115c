"""JSON with places: of every value and key where it stands; comments and keys that stand twice."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from json import JSONDecodeError, JSONDecoder, loads
from typing import Any, Literal, NamedTuple, TypeAlias

from valmatch.text.numerals import real_number
from valmatch.text.suggestions import hint
from valmatch.text.terminal import shortened, shown

Severity = Literal["error", "warning"]

WHOLE = "rule set"  # path of what is wrong with the whole, where a text is to be one


class Problem(NamedTuple):
    """One thing that is wrong; problems are ordered by place."""

    line: int  # from 1
    column: int
    severity: Severity  # whether the service refuses it, or it will hardly do what is meant
    path: str  # what it is about, such as ``expansions[1].steps[2]``
    text: str  # what is wrong, and what would be right


class Problems:
    """The problems found in a text."""

    def __init__(self, text: str, whole: str = WHOLE, places: Sequence[int] = ()) -> None:
        self._whole = whole
        self._places = places  # where the characters stand of what is read, if not as they are
        self._starts = [0, *(line.end() for line in re.finditer("\n", text))]
        self._problems: set[Problem] = set()

    def place(self, offset: int) -> tuple[int, int]:
        """Return line and column of a character, from 1."""
        offset = self._places[offset] if self._places else offset
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def add(self, severity: Severity, offset: int, path: str, text: str) -> None:
        """Add a problem."""
        self._problems.add(Problem(*self.place(offset), severity, path or self._whole, text))

    def error(self, offset: int, path: str, text: str) -> None:
        """Add what the service would refuse."""
        self.add("error", offset, path, text)

    def at(self, line: int, column: int, text: str) -> None:
        """Add an error whose line and column are known."""
        self._problems.add(Problem(line, column, "error", self._whole, text))

    def sorted(self) -> list[Problem]:
        """Return all problems by place."""
        return sorted(self._problems)

    def errors_in(self, path: str) -> bool:
        """Return whether there is an error of something at a path, or in it."""
        inner = re.compile(re.escape(path) + r"(?![^.[])")
        return any(
            fault.severity == "error" and inner.match(fault.path) for fault in self._problems
        )

    @property
    def errors(self) -> int:
        """How many of them are errors."""
        return sum(problem.severity == "error" for problem in self._problems)


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

Path: TypeAlias = "tuple[str | int, ...]"  # keys and numbers


class Place(NamedTuple):
    """Where a value stands: numbers of characters."""

    key: int  # of its key, of the value itself where it has none
    start: int
    end: int  # the character after its last


class Places:
    """Where the values of a document stand: looked for once one of them is wanted."""

    def __init__(self, find: Callable[[], Mapping[Path, Place]]) -> None:
        self._find = cache(find)

    def of(self, path: Path) -> Place:
        """Return the place of a value, or of the innermost one around it that has a place."""
        places = self._find()
        while path and path not in places:
            path = path[:-1]
        return places[path]


def one_place(start: Callable[[], int]) -> Places:
    """Return the places of what stands all at one."""
    return Places(lambda: {(): Place(*[start()] * 3)})


class Node:
    """A value of a document, and its place; values in it may be such ones of other documents."""

    __slots__ = ("_name", "_path", "_places", "kind", "value")

    def __init__(self, value: Any, places: Places, name: str = "", path: Path = ()) -> None:  # noqa: ANN401
        self.value, self._places, self._name, self._path = value, places, name, path
        self.kind = KINDS[type(value)]

    @property
    def path(self) -> str:
        """What it is called: the name of the document, and keys and numbers in it."""
        return (self._name + label(self._path)).removeprefix(".")

    @property
    def place(self) -> Place:
        """Where it stands."""
        return self._places.of(self._path)

    def place_of(self, path: Path) -> Place:
        """Return where a value in it stands."""
        return self._places.of((*self._path, *path))

    @property
    def start(self) -> int:
        """The number of its first character."""
        return self.place.start

    @property
    def members(self) -> dict[str, Node]:
        """The members of an object, none of anything else."""
        values = self.value if isinstance(self.value, dict) else {}
        return {key: self._inner(value, key) for key, value in values.items()}

    @property
    def items(self) -> list[Node]:
        """The values of a list, none of anything else."""
        values = self.value if isinstance(self.value, list) else []
        return [self._inner(value, number) for number, value in enumerate(values)]

    def _inner(self, value: object, key: str | int) -> Node:
        if isinstance(value, Node):
            return value
        return Node(value, self._places, self._name, (*self._path, key))


def plain(value: object) -> Any:  # noqa: ANN401 - a document
    """Return a value without places."""
    if isinstance(value, Node):
        return plain(value.value)
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


NAMES = {
    "object": "an object",
    "array": "a list",
    "string": "a string",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}  # as messages call them


def called(node: Node) -> str:
    """Return a value as messages show it."""
    if node.kind in ("object", "array", "null"):
        return NAMES[node.kind]
    return str(node.value).lower() if node.kind == "boolean" else shown(node.value)


class Item:
    """An object of the file."""

    def __init__(
        self, node: Node, problems: Problems, lenient: bool = False, nulls: bool = False
    ) -> None:
        # nulls: whether null stands for no value
        self.node, self.problems, self.lenient, self.nulls = node, problems, lenient, nulls
        self.path, members = node.path, node.members.items()
        self.members = {k: inner for k, inner in members if not (nulls and inner.kind == "null")}

    def inner(self, key: str) -> str:
        """Return the path of a key."""
        if key in self.members:
            return self.members[key].path
        return f"{self.path}.{key}" if self.path else key

    def at(self, key: str) -> int:
        """Return the place of a value, of the object where it has none."""
        return (self.members.get(key) or self.node).start

    def error(self, key: str, text: str, severity: Severity = "error") -> None:
        """Report a value, "" for the object itself."""
        self.problems.add(severity, self.at(key), self.inner(key) if key else self.path, text)

    def warn(self, key: str, text: str) -> None:
        """Warn of a value, "" for the object itself."""
        self.error(key, text, "warning")

    def known(self, names: Iterable[str]) -> None:
        """Report keys that are not among some."""
        names, severity = list(names), "warning" if self.lenient else "error"
        for key, member in self.node.members.items():
            if key not in names:
                text = f"unknown key {shown(key)} ({hint(key, names)})"
                self.problems.add(severity, member.place.key, self.path, text)  # type: ignore[arg-type]

    def get(self, key: str, kind: str, required: bool = False) -> Node | None:
        """Return a value of a kind; None where there is none, or one of another kind."""
        member = self.members.get(key)
        if member is not None and member.kind == kind:
            return member
        if member is not None:
            self.error(key, f"{NAMES[kind]} is needed, not {called(member)}")
        elif required:
            self.error("", f"no {key} ({NAMES[kind]} is needed)")
        return None

    def text(self, key: str, required: bool = False) -> str | None:
        """Return a string."""
        node = self.get(key, "string", required)
        return node.value if node else None

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
        least: float = -math.inf,
        quoted: bool = False,
    ) -> float | None:
        """Return a number; where `quoted`, also of a string that is one."""
        member, value = self.members.get(key), None
        if member and quoted and member.kind == "string":
            value = real_number(member.value)
        if value is None:
            node = self.get(key, "number", required)
            if node is None:
                return None
            value = node.value
        if whole and value != int(value):
            wanted = "a whole number"
        elif value < least:
            wanted = f"at least {least:g}"
        else:
            return value
        self.error(key, f"{wanted} is needed, not {shown(value)}")
        return None

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


class SyntaxFault(Exception):  # noqa: N818 - caught where the text is read
    """The text is no JSON; a token alone says where, if no place does."""

    def __init__(self, text: str, token: str = "", at: int = 0) -> None:
        super().__init__(text)
        self.text, self.token, self.at = text, token, at


def read_json(
    text: str,
    problems: Problems,
    lenient: bool = False,
    start: int = 0,
    line: str = "",
    name: str = "",
) -> Node | None:
    """Return the value that a text is, None where it is no JSON."""
    # Of a text that is a line of another one, `start` is its place there, and what is wrong with
    # it is said of the `line`; `name` is that of the value.
    bare, twice = text, list[int]()

    def blank(comment: re.Match[str]) -> str:
        if comment[1] is None:
            return comment[0]  # a string
        what = "a comment: the service takes JSON without comments"
        problems.add("warning", start + comment.start(), line, what)
        return " " * len(comment[0])

    def members(pairs: list[tuple[str, object]]) -> dict[str, object]:
        values = dict(pairs)
        if len(values) < len(pairs):
            twice.append(len(pairs))
        return values

    decoder = JSONDecoder(
        object_pairs_hook=members,
        parse_float=_finite,
        parse_int=lambda digits: int(digits) if len(digits) <= EXACT else _finite(digits),
        parse_constant=_finite,
    )
    if "/" in text:
        bare = COMMENT.sub(blank, text)
    bare = bare.replace("\ufeff", " ", 1) if bare.startswith("\ufeff") else bare
    try:
        _check_depth(bare)
        value = decoder.decode(bare)
        if twice:
            _report_twice(bare, problems, "warning" if lenient else "error", start, line)
        for _, (_, first, end), _ in _spans(bare, 0) if LONE.search(bare) else ():
            if bare[first] == '"' and SURROGATE.search(loads(bare[first:end])):
                raise SyntaxFault("half of a character that is written as a pair", at=first)
        places = Places(lambda: {path: span for path, span, _ in _spans(bare, start)})
        return Node(value, places, name)
    except JSONDecodeError as error:
        at, what = _place_and_fault(error)
    except SyntaxFault as fault:
        at, what = fault.at, fault.text
        if fault.token:
            tokens = TOKEN.finditer(bare)
            at = next(token.start() for token in tokens if token[0].startswith(fault.token))
    problems.error(start + at, line, f"no JSON: {what}")
    return None


def _spans(text: str, shift: int) -> list[tuple[Path, Place, int]]:
    """Return the paths and places of all values of JSON, and in which object or list each is."""
    tokens, spans, at = list(TOKEN.finditer(text)), list[tuple[Path, Place, int]](), 0

    def walk(path: Path, key: int | None, outer: int) -> None:
        nonlocal at
        first, number = tokens[at], 0
        start, index, at = shift + first.start(), at, at + 1
        if first[0] in ("{", "["):
            while tokens[at][0] not in ("}", "]"):
                if first[0] == "{":
                    at += 2  # the key and the colon
                    name = tokens[at - 2]
                    walk((*path, loads(name[0])), shift + name.start(), index)
                else:
                    walk((*path, number), None, index)
                at, number = at + (tokens[at][0] == ","), number + 1
            at += 1
        end = shift + tokens[at - 1].end()
        spans.append((path, Place(start if key is None else key, start, end), outer))

    walk((), None, -1)
    return spans


def _report_twice(text: str, problems: Problems, severity: Severity, start: int, line: str) -> None:
    known: dict[tuple[Path, int], Place] = {}
    for inner, span, outer in _spans(text, 0):
        before = known.get((inner, outer))
        known[inner, outer] = span
        if before is None:
            continue
        key, lost = str(inner[-1]), ""
        value = loads(text[before.start : before.end])
        if key == "target" and isinstance(value, str):
            lost = f": the expansion of {shown(value)[1:-1]} is lost"
        row, column = problems.place(start + before.key)
        what = f'key "{shortened(key)}" twice in one object{lost} (first at {row}:{column})'
        where = line or label(inner[:-1]).removeprefix(".")
        problems.add(severity, start + span.key, where, what)


def label(path: Path) -> str:
    """Return a path as messages have it: ``.expansions[1].steps``."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)


def _check_depth(text: str) -> None:
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
    instead = shown(token[0] if token else text[at]) if at < len(text) else "the end of the file"
    return at, f"{what}, found {instead}"


def _finite(digits: str) -> float:
    if not math.isfinite(value := float(digits)):
        why = "too large for a number" if digits[-1].isdecimal() else "no number of JSON"
        raise SyntaxFault(f"{shown(digits)} is {why}", digits)
    return value
