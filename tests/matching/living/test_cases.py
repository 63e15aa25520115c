"""The rules give the answers that living matchmakers gave, and those of theory."""

from __future__ import annotations

import json
import random
from ast import literal_eval
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import interpreted
from tests.support.matchmaker_case import play_case

FOLDER = Path(__file__).parents[2] / "fixtures" / "matchmaker_cases"

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


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_matches_waits_and_values_are_those_of_the_game(name: str) -> None:
    case = document(name)
    assert differences(case, play_case(case)) == []


def small_cases(most: int) -> dict[str, list[str]]:
    """Return in what the results of cases of few tickets differ from their answers."""
    cases = {name: case for name in CASES if len((case := document(name))["tickets"]) <= most}
    return {name: differences(case, play_case(case)) for name, case in cases.items()}


def test_kernels_give_the_answers_of_the_game_in_plain_python() -> None:
    found = literal_eval(interpreted("tests.matching.living.test_cases", "small_cases", 40))
    assert {name.partition("-")[0] for name in found} == {one.partition("-")[0] for one in CASES}
    assert {name: what for name, what in found.items() if what} == {}


@pytest.mark.slow
@pytest.mark.parametrize("count", range(0, 16, 3))
def test_at_most_one_is_left_where_everybody_may_play_everybody(count: int) -> None:
    rng = random.Random(count)
    ratings = [rng.randint(600, 1400) for _ in range(count)]
    tickets: list[dict[str, Any]] = [{"id": k, "user": str(k), "time": 1} for k in range(count)]
    players = [{**one, "rating": r} for one, r in zip(tickets, ratings, strict=True)]
    duels = {"rule": "lichess", "horizon": 20, "tickets": players}
    limits = {"limit_low": 1e8, "limit_middle": 1e8}
    assert len(play_case(duels, **limits)["waiting"]) == count % 2
    teams = [
        {**one, "players": [{"rating": one["rating"] / 50, "deviation": 4}]} for one in players
    ]
    bar = {"rule": "bar", "tickets": teams, "ticks": [5.0]}
    assert len(play_case(bar, chance_low=0, chance_high=1)["waiting"]) == count % 2
