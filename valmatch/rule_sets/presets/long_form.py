"""The long form of a rule, and its constants, as people and programs read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from valmatch.inputs.fields import plain_number
from valmatch.rule_sets.presets.meanings import WORDS, constants, filled, form_of, team_sizes
from valmatch.rule_sets.presets.rule_words import RuleWords


class Constant(NamedTuple):
    """A constant of a rule."""

    name: str  # what cases call it
    value: object
    unit: str
    word: str  # the word of the vocabulary that it is


SPELLED = {"taken_as": "as"}  # how words are written that no field of Python can be called


def long_form(rule: RuleWords) -> dict[str, Any]:
    """Return a rule in which every word is said, as nested mappings."""
    document: dict[str, Any] = {"preset": rule.preset}
    for path, value in filled(rule).items():
        *sections, name = path.split(".")
        inner = document
        for section in sections:
            inner = inner.setdefault(section, {})
        inner[SPELLED.get(name, name)] = _listed(value)
    return document


def _listed(value: object) -> object:
    """Return a value with lists for tuples."""
    if isinstance(value, tuple):
        return [_listed(one) for one in value]
    return value


def in_lines(document: Mapping[str, Any], indent: str = "") -> list[str]:
    """Return the lines of YAML that say nested mappings."""
    lines: list[str] = []
    for key, value in document.items():
        if isinstance(value, dict) and key != "teams":
            lines += [f"{indent}{key}:", *in_lines(value, f"{indent}  ")]
        elif key == "expand":
            lines += [f"{indent}{key}:", *(f"{indent}  - {inline(one)}" for one in value)]
        else:
            lines.append(f"{indent}{key}: {inline(value)}")
    return lines


def inline(value: object) -> str:
    """Return a value as YAML has it in a line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return plain_number(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(inline(one) for one in value)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {inline(one)}' for key, one in value.items())}}}"
    return str(value)


BAR_RULES = {"bruteforce_filter": (0.3, 0.7), "ignore_os": (0.0, 1.0)}
"""What cases of bar call two bands: that of all its queues, and one that takes everything."""


def all_constants(rule: RuleWords) -> list[Constant]:
    """Return all constants of a rule, in the order of the vocabulary."""
    value, form = filled(rule), form_of(rule)
    found: list[Constant] = []
    if isinstance(value["teams"], dict):
        found.append(Constant("lobby_size", value["teams"]["lobby"], "users", "teams"))
    elif form != "lichess":
        count, size = team_sizes(value["teams"])
        found.append(Constant("team_size", size, "players", "teams"))
        if form == "bar":
            found.append(Constant("team_count", count, "teams", "teams"))
    if form == "bar":
        named = [name for name, band in BAR_RULES.items() if band == tuple(value["accept.band"])]
        found += [Constant("rule", name, "", "accept.band") for name in named]
    for name, path in constants(form).items():
        found.append(Constant(name, _listed(value[path]), WORDS[path].unit, path))
    return found
