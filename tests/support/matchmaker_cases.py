"""Cases with the answers that living matchmakers gave themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "fixtures" / "matchmaker_cases"

CASES = sorted(path.stem for path in FOLDER.glob("*.json"))
"""The names of all cases."""

ORDERED = ("bar", "shieldbattery")
"""Rules of which the order of teams counts."""

SINGLE = "shieldbattery"
"""The rule whose numbers are of single precision."""


def document(name: str) -> dict[str, Any]:
    """Return a case with its answers."""
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return found


def who(matches: list[dict[str, Any]], ordered: bool) -> list[tuple[float, tuple[Any, ...]]]:
    """Return when and who of matches, in an order that does not depend on theirs."""
    found = []
    for match in matches:
        teams = [tuple(sorted(map(str, team))) for team in match["teams"]]
        found.append((round(float(match["time"]), 9), tuple(teams if ordered else sorted(teams))))
    return sorted(found)


def differences(case: dict[str, Any], result: dict[str, Any]) -> list[str]:
    """Return in what a result differs from the answers of a case."""
    expected, ordered = case["expected"], case["rule"] in ORDERED
    found = []
    if who(result["matches"], ordered) != who(expected["matches"], ordered):
        return ["matches"]
    if result["waiting"] != expected["waiting"]:
        found.append("waiting")
    close = 2e-5 if case["rule"] == SINGLE else 1e-7
    by_who = {str(who([match], ordered)): match for match in result["matches"]}
    for match in expected["matches"]:
        own = by_who[str(who([match], ordered))]
        keys = set(match) - {"time", "teams"}
        wrong = [key for key in keys if not _alike(own[key], match[key], close)]
        found += [f"{key} of {match['teams']}" for key in wrong]
    traces = set(expected) - {"matches", "waiting"}
    found += [key for key in traces if not _alike(result[key], expected[key], close)]
    return found


def _alike(one: object, other: object, close: float) -> bool:
    """Return whether two values are equal but for the last digits of numbers."""
    if isinstance(one, list) and isinstance(other, list):
        pairs = zip(one, other, strict=False)
        return len(one) == len(other) and all(_alike(a, b, close) for a, b in pairs)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[k], other[k], close) for k in one)
    if isinstance(one, float | int) and isinstance(other, float | int):
        return bool(one == pytest.approx(other, rel=close, abs=close))
    return one == other
