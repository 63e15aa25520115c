"""Expansions: numbers of rules and teams that change as tickets grow older.

Source: "Expansion rules" of the guide, and the guide of 2022: steps are absolute and increasing;
the last not beyond the request timeout. Compounds, quantities and the algorithm have none (our
reading).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from valmatch.rule_sets.items import Item
from valmatch.rule_sets.types import Expansion
from valmatch.text.suggestions import hint
from valmatch.text.terminal import shown

TARGET = re.compile(r"(rules|teams)\[([^\]]*)\]\.(\w+)")

OF_TEAMS = ("minPlayers", "maxPlayers")  # what of a team may have steps


def read_expansions(items: Sequence[Item], timeout: float | None) -> dict[str, Expansion]:
    """Return the steps by target, reporting those that are none."""
    found: dict[str, Expansion] = {}
    for item in items:
        item.known(("target", "steps"))
        target = item.text("target", required=True)
        steps = _steps(item, timeout)
        if target is None:
            continue
        if target in found:
            first = found[target].item
            item.error("target", f"{shown(target)} has an expansion already ({first.path})")
        else:
            found[target] = Expansion(item, steps)
    return found


def _steps(item: Item, timeout: float | None) -> tuple[tuple[float, Item], ...]:
    """Return the steps of an expansion, as far as they increase."""
    steps = item.items("steps", required=True)
    node = item.members.get("steps")
    if node and node.node.kind == "array" and not node.node.value:
        item.error("steps", "no step")
    found: list[tuple[float, Item]] = []
    for step in steps:
        step.known(("waitTimeSeconds", "value"))
        if "value" not in step.members:
            step.error("", "no value")
        wait = step.number("waitTimeSeconds", required=True, least=0)
        if wait is None or "value" not in step.members:
            continue
        if found and wait <= found[-1][0]:
            text = f"steps have to increase: {wait:g} s comes after {found[-1][0]:g} s"
            step.error("waitTimeSeconds", text)
            continue
        if timeout is not None and wait >= timeout:
            text = f"no ticket lives for {wait:g} s: the request timeout is {timeout:g} s"
            step.problems.warn(step.node.start, step.path, text)
        found.append((wait, step))
    return tuple(found)


def report_unused(
    expansions: Mapping[str, Expansion],
    used: set[str],
    teams: Sequence[str],
    rules: Mapping[str, tuple[str, Collection[str]]],
) -> None:
    """Report expansions of what is not there or cannot be expanded.

    Shapes: `rules` (str, sequence of str).
    """
    for target, (item, _) in expansions.items():
        if target not in used:
            item.error("target", _reason(target, teams, rules))


def _reason(
    target: str, teams: Sequence[str], rules: Mapping[str, tuple[str, Collection[str]]]
) -> str:
    """Return why there is nothing to expand."""
    parts = TARGET.fullmatch(target)
    if parts is None:
        return (
            f"{shown(target)} is no target: rules[name].property or teams[name].property is meant"
        )
    section, name, key = parts.groups()
    if section == "teams":
        if name not in teams:
            return f"no team {shown(name)} ({hint(name, teams)})"
        return f"{key} of a team cannot be expanded ({hint(key, OF_TEAMS)})"
    if name not in rules:
        return f"no rule {shown(name)} ({hint(name, rules)})"
    kind, keys = rules[name]
    if not keys:
        return f"{shown(name)}: rules of type {kind} cannot be expanded"
    if key not in keys:
        return f"{key} of a rule of type {kind} cannot be expanded ({hint(key, keys)})"
    return f"rule {shown(name)} has no {key} to expand"
