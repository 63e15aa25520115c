"""Configs in YAML: of some factors, or of every factor, documented by comments."""

import json
import textwrap
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from valmatch.config.config import SECTIONS
from valmatch.config.factor_paths import factor_at, factor_names, section_of
from valmatch.inputs.fields import Section, allowed, plain_number, schema_at
from valmatch.models.registry import entry_of
from valmatch.text.terminal import WIDTH, wrapped

NAME = "NAME"  # stands for any name in a mapping


def document(head: str, model: str, factors: Mapping[str, Any], **others: object) -> str:
    """Return a config of some factors, for `load_config`."""
    lines = [f"# {line}" for line in textwrap.wrap(head, WIDTH - 2)]
    lines += ["", f"model: {model}", *(f"{key}: {_flow(of)}" for key, of in others.items())]
    lines += ["factors:", *(f"  {name}: {_flow(of)}" for name, of in factors.items()), ""]
    return "\n".join(lines)


def _flow(value: object) -> str:
    """Write plain values on one line; JSON is YAML."""
    return json.dumps(value, ensure_ascii=False)


def template(model: str, names: Collection[str] = ()) -> str:
    """Return a valid config with meaning, unit, range and default of some factors, or of all."""
    entry = entry_of(model)
    lines = [*_wrap(f"{model}: {entry.summary}.", "# "), f"model: {model}", "", "factors:"]
    lines += documented(entry.factors, [], names)
    if names:
        left = len(set(factor_names(entry.factors)) - set(names))
        more = f"{left} more factors, files and the options of commands: add --all or --search WORD"
        return "\n".join([*lines, f"# {more}"]) + "\n"
    for key, meaning in entry.files.items():
        suffix = "json" if "JSON" in meaning else "csv"
        lines += [*_wrap(meaning, "# "), f"# {key}: {key}.{suffix}", ""]
    for section, options in SECTIONS.items():
        meaning = str(options.__doc__).splitlines()[0].replace("``", "`")
        lines += [*_wrap(f"Section `{section}`: {meaning}", "# "), "#"]
        lines += [f"# {section}:"]
        for name in options.model_fields:
            lines += [*_comment(options, [name], "#   # "), f"#   {name}:"]
            lines += _entries(options, name, "#     # ")
        lines += [""]
    return "\n".join(lines[:-1]) + "\n"


def documented(model: type[Section], path: Sequence[str], names: Collection[str] = ()) -> list[str]:
    """Return factors of the section at `path`, all or some, each under the comment on it."""
    lines, indent = [], "  " * (len(path) + 1)
    section = section_of(factor_at(model, path)[0]) or model
    for name, field in section.model_fields.items():
        if section_of(field):
            if inner := documented(model, [*path, name], names):
                lines += [*_wrap(field.description or "", f"{indent}# "), f"{indent}{name}:"]
                lines += inner
            continue
        if names and ".".join((*path, name)) not in names:
            continue
        default = default_text(field.get_default(call_default_factory=True))
        lines += _comment(model, [*path, name], f"{indent}# ", f" Default: {default}.")
        lines += [*wrapped(f"{name}: {default}", indent, f"{indent}{' ' * len(name)}   "), ""]
    return lines


def _entries(section: type[Section], name: str, prefix: str) -> list[str]:
    """Return the comment on what a mapping holds under each name; [] where it is no mapping."""
    entry = schema_at(section, [name, NAME])
    if "properties" not in entry:
        return [f"{prefix}{NAME}: [VALUE, ...]"] if entry else []
    lines = [*_wrap(entry["description"], prefix), f"{prefix}{NAME}:"]
    for key, schema in entry["properties"].items():
        default = schema.get("default")
        fact = f" Default: {default_text(default)}." if default is not None else ""
        fact = " Required." if key in entry.get("required", ()) else fact
        lines += [*_comment(section, [name, NAME, key], f"{prefix}  # ", fact), f"{prefix}  {key}:"]
    return lines


def _comment(
    section: type[Section], path: Sequence[str], prefix: str, default: str = ""
) -> list[str]:
    """Return the comment on one key."""
    schema = schema_at(section, path)
    unit = f" Unit: {schema['unit']}." if schema.get("unit") else ""
    facts = f"Allowed: {allowed(schema)}.{unit}{default}"
    return [*_wrap(schema["description"], prefix), *_wrap(facts, prefix)]


def default_text(value: object) -> str:
    """Write a default as people do: 200 for 200.0, a name without quotes."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(default_text, value))}]"
    return plain_number(value) if isinstance(value, float) else _flow(value).replace('"', "")


def _wrap(text: str, prefix: str) -> list[str]:
    return wrapped(text, prefix, prefix)
