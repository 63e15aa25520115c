"""Overrides of a config: ``KEY=VALUE``, from the command line, from Python, from a design."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence

from pydantic_core import PydanticUndefined
from yaml import Node

from valmatch.config.checking import FILES, TOP_LEVEL
from valmatch.config.factor_paths import dotted, factor_at, is_open, section_depth
from valmatch.config.problem_units import problem_names
from valmatch.config.sections import RangeOptions, VariableOptions
from valmatch.errors import InputError, option
from valmatch.inputs.yaml_document import MAX_DEPTH, Override, assign, find, parse, to_value
from valmatch.models.registry import MODELS, ModelEntry
from valmatch.text.numerals import whole_number
from valmatch.text.terminal import escaped, shortened

SHOWN = 80  # characters of an override in messages

BY_FACTOR: dict[tuple[str, ...], Collection[str]] = {
    ("optimize", "variables"): VariableOptions.model_fields,
    ("design", "ranges"): RangeOptions.model_fields,
    ("design", "grid"): (),
}
"""Mappings by dotted names of factors, with the keys of what they hold; none: they hold lists."""


def overridden(
    root: Node, overrides: Sequence[str], levels: Sequence[tuple[str, str]]
) -> tuple[Node, list[Override]]:
    """Apply overrides to a document, then the levels of a point of a design."""
    marks = [Override(f"{option('overrides')} {_shown(override)}") for override in overrides]
    marks += [Override(f"{name}={_shown(level.partition('=')[2])}") for name, level in levels]
    texts = (*overrides, *(level for _, level in levels))
    for override, mark in zip(texts, marks, strict=True):
        root = _override(root, override, mark)
    return root, marks


def _shown(override: str) -> str:
    """Return an override in one line of moderate length."""
    text = " ".join(override.split())
    return escaped(text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}...")


def _override(root: Node, override: str, name: Override) -> Node:
    """Apply one ``KEY=VALUE``; what it writes is marked with `name` as its file."""
    key, equals, text = override.partition("=")
    path = dotted(key.strip()).split(".")
    if not equals or not all(path):
        raise InputError(f"{name}: not of the form KEY=VALUE (for instance team_diff=300)")
    if len(path) > MAX_DEPTH:
        raise InputError(f"{name}: a key of {len(path)} parts (allowed: {MAX_DEPTH})")
    path = _full_path(root, path)
    root = _filled_in(root, path, name)
    value = parse(text, name) or parse("null", name)
    assert value is not None
    try:
        return assign(root, path, value)
    except InputError as error:
        label = ".".join(map(shortened, path))
        raise InputError(f"{name}: {label}: {error}") from None


def _full_path(root: Node, path: list[str]) -> list[str]:
    """Return a path from the top: of a key there, a factor, or a name of the problem, in turn."""
    first, *rest = path
    entry = _entry_of(root)
    if tuple(path[:2]) in BY_FACTOR and len(path) > 2:
        return [*path[:2], *_by_factor(root, path[2:], BY_FACTOR[path[0], path[1]])]
    # A file has no parts: what has them is a factor of that name.
    of_factor = rest and entry and first in entry.factors.model_fields
    if first in (*TOP_LEVEL, *_files_of(root)) and not (of_factor and first not in TOP_LEVEL):
        return path
    if entry and entry.mappings.get(first) == first and find(root, [first]) is not None:
        return path  # a factor that stands at the top
    named = problem_names(root).get(first)
    if named is None or (entry and first in entry.factors.model_fields):
        return ["factors", *path]
    return [*named[:-1], *rest] if rest else named


def _by_factor(root: Node, path: list[str], keys: Collection[str]) -> list[str]:
    """Return a path below the name of a factor with that name, dots and all, as one part."""
    entry = _entry_of(root)
    length = 1 + (section_depth(entry.factors, path) if entry else 0)
    field = factor_at(entry.factors, path[:length]) if entry else None
    unknown = entry is not None and (field is None or is_open(field))
    for part in path[length:]:
        index = whole_number(part) is not None
        if part in keys or (index and not keys) or not (index or unknown):
            break
        length += 1
    return [".".join(path[:length]), *path[length:]]


def _entry_of(root: Node) -> ModelEntry | None:
    """Return what is known of the model that a document names, if it names one."""
    model = find(root, ["model"])
    return MODELS.get(str(to_value(model))) if model is not None else None


def _files_of(root: Node) -> Iterable[str]:
    """Return the keys of files: those of the model that a document names, and of our own."""
    entry = _entry_of(root)
    return (*FILES, *(entry.files if entry else ()))


def _filled_in(root: Node, path: list[str], name: Override) -> Node:
    """Write the default of a factor of which an override changes a part."""
    entry = _entry_of(root)
    if entry is None or path[0] != "factors":
        return root
    length = 2 + section_depth(entry.factors, path[1:])
    field = factor_at(entry.factors, path[1:length])
    if field is None or len(path) <= length or find(root, path[:length]) is not None:
        return root
    default = field.get_default(call_default_factory=True)
    node = parse(json.dumps(None if default is PydanticUndefined else default), name)
    assert node is not None
    return assign(root, path[:length], node)
