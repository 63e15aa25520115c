"""A config of every factor, documented by comments."""

from __future__ import annotations

import textwrap

from valmatch.config.sections import SECTIONS
from valmatch.errors import InputError
from valmatch.fields import Section, allowed, plain_number, schema_at
from valmatch.models.registry import MODELS, unknown_model

__all__ = ["template"]

WIDTH = 80


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
    for name, field in entry.factors.model_fields.items():
        default = _flow(field.default)
        lines += _documented(entry.factors, name, "  # ", f" Default: {default}.")
        lines += [*_wrap(f"{name}: {default}", "  ", " " * (len(name) + 5)), ""]
    for key, meaning in entry.files.items():
        lines += [*_wrap(meaning, "# "), f"# {key}: players.csv", ""]
    for section, options in SECTIONS.items():
        assert options.__doc__
        meaning = options.__doc__.splitlines()[0].replace("``", "`")
        lines += [*_wrap(f"Section `{section}`: {meaning}", "# "), "#"]
        lines += [f"# {section}:"]
        for name in options.model_fields:
            lines += [*_documented(options, name, "#   # "), f"#   {name}:"]
        lines += [""]
    return "\n".join(lines[:-1]) + "\n"


def _documented(section: type[Section], name: str, prefix: str, default: str = "") -> list[str]:
    """Return the comment on one key."""
    schema = schema_at(section, [name])
    unit = f" Unit: {schema['unit']}." if schema.get("unit") else ""
    facts = f"Allowed: {allowed(schema)}.{unit}{default}"
    return [*_wrap(schema["description"], prefix), *_wrap(facts, prefix)]


def _flow(value: object) -> str:
    """Write a default as YAML on one line."""
    if value is None:
        return "null"
    if isinstance(value, tuple):
        return f"[{', '.join(_flow(item) for item in value)}]"
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
