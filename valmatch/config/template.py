"""A config of every factor, documented by comments."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from valmatch.config.factor_paths import factor_at, section_of
from valmatch.config.sections import SECTIONS
from valmatch.errors import InputError
from valmatch.inputs.fields import Section, allowed, plain_number, schema_at
from valmatch.models.registry import MODELS, unknown_model

WIDTH = 80

NAME = "NAME"
"""Stands for any name in a mapping."""


def template(model: str) -> str:
    """Return a config of `model` with the meaning, unit, range and default of every factor.

    It is a valid config in which every factor has its default.

    Raises
    ------
    InputError
        If there is no such model.
    """
    if model not in MODELS:
        raise InputError(unknown_model(model))
    entry = MODELS[model]
    lines = [*_wrap(f"{model}: {entry.summary}.", "# "), f"model: {model}", "", "factors:"]
    lines += _factors(entry.factors, [])
    for key, meaning in entry.files.items():
        lines += [*_wrap(meaning, "# "), f"# {key}: {key}.csv", ""]
    for section, options in SECTIONS.items():
        assert options.__doc__
        meaning = options.__doc__.splitlines()[0].replace("``", "`")
        lines += [*_wrap(f"Section `{section}`: {meaning}", "# "), "#"]
        lines += [f"# {section}:"]
        for name in options.model_fields:
            lines += [*_documented(options, [name], "#   # "), f"#   {name}:"]
            lines += _entries(options, name, "#     # ")
        lines += [""]
    return "\n".join(lines[:-1]) + "\n"


def _factors(model: type[Section], path: Sequence[str]) -> list[str]:
    """Return the factors of the section at `path`, each under the comment on it."""
    lines, indent = [], "  " * (len(path) + 1)
    section = section_of(factor_at(model, path)) or model
    for name, field in section.model_fields.items():
        if section_of(field):
            lines += [*_wrap(field.description or "", f"{indent}# "), f"{indent}{name}:"]
            lines += _factors(model, [*path, name])
            continue
        default = _flow(field.get_default(call_default_factory=True))
        lines += _documented(model, [*path, name], f"{indent}# ", f" Default: {default}.")
        lines += [*_wrap(f"{name}: {default}", indent, f"{indent}{' ' * len(name)}   "), ""]
    return lines


def _entries(section: type[Section], name: str, prefix: str) -> list[str]:
    """Return the comment on what a mapping holds under each name; [] where it is no mapping."""
    entry = schema_at(section, [name, NAME])
    if "properties" not in entry:
        return [f"{prefix}{NAME}: [VALUE, ...]"] if entry else []
    lines = [*_wrap(entry["description"], prefix), f"{prefix}{NAME}:"]
    for key, schema in entry["properties"].items():
        default = schema.get("default")
        fact = f" Default: {_flow(default)}." if default is not None else ""
        fact = " Required." if key in entry.get("required", ()) else fact
        lines += _documented(section, [name, NAME, key], f"{prefix}  # ", fact)
        lines += [f"{prefix}  {key}:"]
    return lines


def _documented(
    section: type[Section], path: Sequence[str], prefix: str, default: str = ""
) -> list[str]:
    """Return the comment on one key."""
    schema = schema_at(section, path)
    unit = f" Unit: {schema['unit']}." if schema.get("unit") else ""
    facts = f"Allowed: {allowed(schema)}.{unit}{default}"
    return [*_wrap(schema["description"], prefix), *_wrap(facts, prefix)]


def _flow(value: object) -> str:
    """Write a default as YAML on one line."""
    if value is None:
        return "null"
    if isinstance(value, tuple):
        return f"[{', '.join(_flow(item) for item in value)}]"
    if isinstance(value, bool):
        return str(value).lower()
    return plain_number(value) if isinstance(value, int | float) else str(value)


def _wrap(text: str, first: str, others: str | None = None) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=first if others is None else others,
        break_long_words=False,
        break_on_hyphens=False,
    )
