"""YAML 1.2 values that remember where they were written."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import yaml
from yaml import MappingNode, Node, ScalarNode, SequenceNode

from valmatch.errors import InputError, in_lines
from valmatch.text.numerals import DIGITS, whole_number
from valmatch.text.terminal import shortened, shown

Path = Sequence[str | int]


class Override(str):
    """The name of an override in messages, where a file would have its path."""

    __slots__ = ()


MAX_NODES = 50_000  # keys and values of a document, counted again wherever an alias repeats them
MAX_DEPTH = 32  # levels of a document
_TOO_LARGE = f"too large (allowed: {MAX_NODES:,} keys and values in all, aliases carried out)"
_TAG = "tag:yaml.org,2002:"
_HALF = re.compile("[\ud800-\udfff]")  # half a character, which no file can hold


class _Loader(yaml.SafeLoader):
    """Resolves plain scalars by the core schema of YAML 1.2, and merge keys (from 1.1)."""

    yaml_implicit_resolvers = {}  # noqa: RUF012 - replaces the YAML 1.1 rules of the base class

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._nodes = self._depth = 0

    def compose_node(self, parent: Node | None, index: int) -> Node | None:
        """Read the next node, unless it is one too many, before the rest is looked at."""
        self._nodes += 1
        self._depth += 1
        mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
        where = _place(self.name, mark.line, mark.column)
        # The innermost level is that of scalars.
        if self._depth > MAX_DEPTH + 1:
            raise InputError(f"{where}: nested too deeply (allowed: {MAX_DEPTH} levels)")
        if self._nodes > MAX_NODES:
            raise InputError(f"{where}: {_TOO_LARGE}")
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


_CORE_SCHEMA = (
    ("null", r"null|Null|NULL|~|", ["n", "N", "~", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789")),
    (
        "float",
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"
        r"|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        list("-+.0123456789"),
    ),
    ("merge", r"<<", ["<"]),
)
for _name, _pattern, _first in _CORE_SCHEMA:
    _Loader.add_implicit_resolver(_TAG + _name, re.compile(rf"^(?:{_pattern})$"), _first)


def _int(text: str) -> int:
    if len(text) > DIGITS:
        raise ValueError("too many digits")
    return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))


_SCALARS: dict[str, Callable[[str], object]] = {
    _TAG + "null": lambda _: None,
    _TAG + "bool": lambda text: {"true": True, "false": False}[text.lower()],
    _TAG + "int": _int,
    _TAG + "float": lambda text: float(re.sub(r"\.(?=inf|nan)", "", text.lower())),
    _TAG + "str": str,
}


def parse(text: str | bytes, name: str) -> Node | None:
    """Parse one YAML document."""
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            where = _position(name, error.object[: error.start].decode("utf-8-sig"))
            raise InputError(f"{where}: not a text file in UTF-8") from None
    try:
        loader = _Loader(text)
        loader.name = name
        root: Node | None = loader.get_single_node()
        problems = [] if root is None else list(_prepare(root, {}, set()))
    except yaml.reader.ReaderError as error:
        where = _position(name, text[: error.position])
        raise InputError(f"{where}: the character U+{error.character:04X} is not allowed") from None
    except yaml.MarkedYAMLError as error:
        raise InputError(_syntax(error, name)) from None
    if problems:
        raise InputError(*in_lines([f"{place(node)}: {what}" for node, what in problems]))
    return root


def _position(name: str, before: str) -> str:
    """Return the place of the character that follows `before`."""
    return _place(name, before.count("\n"), len(before) - before.rfind("\n") - 1)


def _place(name: str, line: int, column: int) -> str:
    return str(name) if isinstance(name, Override) else f"{name}:{line + 1}:{column + 1}"


def _syntax(error: yaml.MarkedYAMLError, name: str) -> str:
    """Say in one line what the YAML parser did not like."""
    mark = error.problem_mark or error.context_mark
    where = _place(name, mark.line, mark.column) if mark else name
    problem = error.problem or error.context or "not understood"
    if "another document" in problem:
        return f"{where}: a second document starts here (a config is one document)"
    if r"'\t'" in problem:
        return f"{where}: a tab cannot stand here (YAML is indented with spaces)"
    return f"{where}: not valid YAML: {' '.join(problem.split())}"


def _prepare(node: Node, done: dict[int, int], open_: set[int]) -> Iterator[tuple[Node, str]]:
    """Carry out the merge keys below `node`, yielding what cannot become a value."""
    # What is `done` has its number of nodes, aliases carried out: a few can stand for billions.
    if id(node) in open_:
        yield node, "an alias stands inside what it refers to"
        return
    if id(node) in done:
        return
    open_.add(id(node))
    inner: list[Node] = []
    if isinstance(node, MappingNode):
        yield from _prepare_mapping(node, done, open_)
        inner = [part for entry in node.value for part in entry]
    elif isinstance(node, SequenceNode):
        inner = node.value
        for item in inner:
            yield from _prepare(item, done, open_)
    elif node.tag not in _SCALARS:
        yield node, f"the tag {shown(node.tag)} is not known"
    elif _HALF.search(node.value):
        yield node, f"{show(node)} holds half a character (a surrogate)"
    else:
        try:
            _SCALARS[node.tag](node.value)
        except (ValueError, KeyError):
            yield node, f"{shortened(node.value, 40)!r} cannot be read as {kind(node)}"
    open_.remove(id(node))
    done[id(node)] = _checked_size(node, 1 + sum(done.get(id(part), 1) for part in inner))


def _checked_size(node: Node, size: int) -> int:
    if size > MAX_NODES:
        raise InputError(f"{place(node)}: {_TOO_LARGE}")
    return size


def _prepare_mapping(
    node: MappingNode, done: dict[int, int], open_: set[int]
) -> Iterator[tuple[Node, str]]:
    entries: dict[str, tuple[Node, Node]] = {}
    merged: list[Node] = []
    for key, value in node.value:
        yield from _prepare(value, done, open_)
        if key.tag == _TAG + "merge":
            merged += value.value if isinstance(value, SequenceNode) else [value]
        elif not isinstance(key, ScalarNode) or key.tag != _TAG + "str":
            yield key, f"{show(key)} cannot be a key (allowed: a string)"
        elif _HALF.search(key.value):
            yield key, f"{show(key)} holds half a character (a surrogate)"
        elif key.value in entries:
            line = entries[key.value][0].start_mark.line + 1
            yield key, f"{shortened(key.value)}: given twice (first in line {line})"
        else:
            entries[key.value] = key, value
    # Most merged keys may be there already, and leave no trace in the size.
    _checked_size(node, sum(len(other.value) for other in merged))
    for other in merged:
        if not isinstance(other, MappingNode):
            yield other, f"<<: {show(other)} cannot be merged (allowed: a mapping)"
        elif id(other) not in open_:
            for key, value in other.value:
                entries.setdefault(key.value, (key, value))
    node.value = list(entries.values())


def to_value(node: Node) -> object:
    """Return the plain value of a node from `parse`."""
    if isinstance(node, MappingNode):
        return {key.value: to_value(value) for key, value in node.value}
    if isinstance(node, SequenceNode):
        return [to_value(item) for item in node.value]
    return _SCALARS[node.tag](node.value)


def find(node: Node, path: Path) -> Node | None:
    """Return the node at `path` (keys, list indices) below `node`, if there is one."""
    inner: Node | None = node
    for part in path:
        if isinstance(inner, MappingNode):
            inner = next((value for key, value in inner.value if key.value == part), None)
        elif isinstance(inner, SequenceNode) and isinstance(part, int) and part < len(inner.value):
            inner = inner.value[part]
        else:
            return None
    return inner


def value_at(node: Node, path: Path) -> object:
    """Return the plain value at `path`; None where there is none."""
    inner = find(node, path)
    return None if inner is None else to_value(inner)


def entries(node: Node, path: Path) -> list[tuple[Node, Node]]:
    """Return keys and values of the mapping at `path`; none where there is no mapping."""
    mapping = find(node, path)
    return mapping.value if isinstance(mapping, MappingNode) else []


def written_key(node: Node, path: Path) -> Node | None:
    """Return the node of the key that the last part of `path` is, if it is written."""
    pairs = entries(node, path[:-1]) if path else []
    return next((key for key, _ in pairs if key.value == path[-1]), None)


def assign(node: Node, path: Sequence[str], new: Node) -> Node:
    """Return `node` with `new` at `path`; nodes along the path are copied, missing ones made."""
    if not path:
        return new
    head, *rest = path
    if kind(node) == "null":
        node = MappingNode(_TAG + "map", [], node.start_mark, node.end_mark)
    if isinstance(node, MappingNode):
        pairs = list(node.value)
        if find(node, [head]) is None:
            marks = new.start_mark, new.end_mark
            empty = MappingNode(_TAG + "map", [], *marks)
            pairs.append((ScalarNode(_TAG + "str", head, *marks), empty))
        inner = ((key, value, key.value == head) for key, value in pairs)
        return _with(node, [(k, assign(v, rest, new) if there else v) for k, v, there in inner])
    if isinstance(node, SequenceNode):
        items, index = list(node.value), whole_number(head)
        if index is None or index >= len(items):
            last = len(items) - 1
            raise InputError(f"{shown(head)} is no element of a list of {len(items)} (0 to {last})")
        items[index] = assign(items[index], rest, new)
        return _with(node, items)
    raise InputError(f"{show(node)} has no {shown(head)}")


def _with(node: Node, value: list[Any]) -> Node:
    """Return a copy of a mapping or a list with other things in it."""
    copied: Node = type(node)(node.tag, value, node.start_mark, node.end_mark)
    return copied


def without(node: Node, path: Sequence[str]) -> Node:
    """Return `node` without what is at `path`, which is there; nodes along the path are copied."""
    *outer, last = path
    section = find(node, outer)
    assert section is not None
    return assign(node, outer, _with(section, [p for p in section.value if p[0].value != last]))


def from_override(node: Node) -> bool:
    """Tell whether a node is from an override instead of a file."""
    return isinstance(node.start_mark.name, Override)


def place(node: Node) -> str:
    """Return ``file:line:column`` of a node; of one from the command line, just the override."""
    mark = node.start_mark
    return _place(mark.name, mark.line, mark.column)


def kind(node: Node) -> str:
    """Return the kind of a value: null, bool, int, float, str, map or seq."""
    return str(node.tag).removeprefix(_TAG)


def show(node: Node) -> str:
    """Show a value as it was written, collections by their size."""
    if isinstance(node, MappingNode):
        return f"a mapping of {len(node.value)}"
    if isinstance(node, SequenceNode):
        return f"a list of {len(node.value)}"
    if kind(node) == "null":
        return "null"
    text = shortened(node.value, 40)
    return repr(text) if kind(node) == "str" else text
