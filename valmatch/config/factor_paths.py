"""Dotted paths of factors: through sections by name, into lists by index from 0."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_origin

from pydantic.fields import FieldInfo

from valmatch.inputs.fields import Section, schema_at
from valmatch.text.numerals import whole_number
from valmatch.text.terminal import shortened


def section_of(field: FieldInfo | None) -> type[Section] | None:
    """Return the class of a section, None for a factor."""
    kind = field.annotation if field else None
    return kind if isinstance(kind, type) and issubclass(kind, Section) else None


def factor_names(section: type[Section]) -> list[str]:
    """Return the dotted names of all factors in order, those of sections in their places."""
    names = []
    for name, field in section.model_fields.items():
        inner = section_of(field)
        names += [f"{name}.{inner_name}" for inner_name in factor_names(inner)] if inner else [name]
    return names


def factor_at(section: type[Section], path: Sequence[str | int]) -> tuple[FieldInfo | None, int]:
    """Return the field that a path leads to through so many sections; None where there is none."""
    field = None
    for depth, name in enumerate(path):
        field = section.model_fields.get(str(name))
        inner = section_of(field)
        if inner is None:
            return field, depth
        section = inner
    return field, len(path)


def unit_at(section: type[Section], name: str) -> str | None:
    """Return the unit of a factor, also of a list's element; "" for none, None for no factor."""
    path = parts(name)
    if not schema_at(section, path):
        return None
    schemas = (schema_at(section, path[:length]) for length in range(len(path), 0, -1))
    return next((str(schema["unit"]) for schema in schemas if "unit" in schema), "")


def is_open(field: FieldInfo) -> bool:
    """Return whether a factor is a mapping, which has parts of any name."""
    return get_origin(field.annotation) is dict


def dotted(name: str) -> str:
    """Return a name with indices in brackets, such as ``maxDistance[1].wait``, as a dotted one."""
    return re.sub(r"\[([0-9]+)\]", r".\1", name)


def parts(name: str) -> list[str | int]:
    """Return the parts of a dotted name, indices as numbers."""
    numbers = ((part, whole_number(part)) for part in name.split("."))
    return [part if number is None else number for part, number in numbers]


def label(path: Iterable[object]) -> str:
    """Return a dotted path of moderate length, for messages."""
    return ".".join(shortened(str(part)) for part in path)


def flat(value: object, path: str = "", *, lists: bool = True) -> dict[str, object]:
    """Return the leaves of nested mappings, and of lists if wanted, by dotted path."""
    if isinstance(value, Mapping):
        items: Any = value.items()
    elif lists and isinstance(value, list):
        items = enumerate(value)
    else:
        return {path: value}
    leaves: dict[str, object] = {}
    for key, inner in items:
        leaves.update(flat(inner, f"{path}.{key}" if path else str(key), lists=lists))
    return leaves


def replaced(values: Any, path: Sequence[str | int], new: object) -> Any:  # noqa: ANN401
    """Return nested mappings and sequences with another leaf at `path`, which must be there."""
    if not path:
        return new
    first, *rest = path
    inner = replaced(values[first], rest, new)
    if isinstance(values, Mapping):
        return {**values, first: inner}
    return [inner if index == first else value for index, value in enumerate(values)]
