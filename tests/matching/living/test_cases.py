"""The rules give the answers that living matchmakers gave, and those of theory."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

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


@pytest.mark.parametrize("name", CASES)
def test_matches_waits_and_values_are_those_of_the_game(name: str) -> None:
    case = document(name)
    assert differences(case, play_case(case)) == []


def test_there_are_cases_of_every_rule() -> None:
    rules = {name.partition("-")[0] for name in CASES}
    assert rules == {"faf", "bar", "shieldbattery", "osu", "lichess"}
    assert len(CASES) == 51


@pytest.mark.slow
@pytest.mark.parametrize("name", ["faf-15", "shieldbattery-12", "osu-09", "lichess-03"])
def test_kernels_give_the_same_answers_in_plain_python(name: str) -> None:
    command = [sys.executable, "-m", "tests.support.matchmaker_case", str(FOLDER / f"{name}.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == play_case(document(name))


def users(*ratings: float) -> list[dict[str, Any]]:
    return [{"id": k, "rating": rating} for k, rating in enumerate(ratings)]


def lobbies(ratings: list[float], ticks: int = 1, **numbers: object) -> dict[str, Any]:
    """Return what comes of users of osu! who join at 0, by so many updates."""
    joins = [["join", 0.0, k] for k in range(len(ratings))]
    events = [*joins, *(["tick", float(k + 1)] for k in range(ticks))]
    return play_case({"rule": "osu", "tickets": users(*ratings), "events": events}, **numbers)


@pytest.mark.parametrize("count", range(0, 21, 5))
def test_after_a_tick_at_most_one_waits_where_bar_takes_everything(count: int) -> None:
    rng = random.Random(count)
    players = [{"rating": rng.gauss(25, 8), "deviation": 4} for _ in range(count)]
    tickets = [{"id": k, "time": 1, "players": [one]} for k, one in enumerate(players)]
    case = {"rule": "bar", "tickets": tickets, "ticks": [5.0]}
    assert len(play_case(case, chance_low=0, chance_high=1)["waiting"]) == count % 2


@pytest.mark.parametrize("count", range(1, 16, 3))
def test_at_most_one_is_left_of_pairs_without_limits(count: int) -> None:
    rng, free = random.Random(count), {"limit_low": 1e8, "limit_middle": 1e8}
    tickets = [
        {"id": k, "user": str(k), "time": 1, "rating": rng.randint(600, 1400)} for k in range(count)
    ]
    case = {"rule": "lichess", "horizon": 20, "tickets": tickets}
    assert len(play_case(case, **free)["waiting"]) == count % 2


@pytest.mark.parametrize("lobby", [2, 3, 8])
def test_fewer_than_a_lobby_wait_where_the_radius_is_unlimited(lobby: int) -> None:
    rng = random.Random(3)
    wide: dict[str, Any] = {"lobby_size": lobby, "radius": 1e8, "radius_max": 1e8}
    for count in range(0, 40, 3):
        played = lobbies([rng.gauss(1500, 300) for _ in range(count)], skip=False, **wide)
        assert len(played["waiting"]) == count % lobby


def test_the_next_user_is_passed_over_as_pivot() -> None:
    ratings = [float(r + off) for r in (1000, 1200, 1400, 1600) for off in (0, 10)]
    times = {
        skip: [one["time"] for one in lobbies(ratings, 2, skip=skip)["matches"]]
        for skip in (True, False)
    }
    assert times == {True: [1, 1, 1, 2], False: [1, 1, 1, 1]}


def test_bar_counts_a_party_as_one_player() -> None:
    strong, solo = {"rating": 40, "deviation": 4}, {"rating": 20, "deviation": 4}
    parties = [[strong, strong], [solo], [solo]]
    tickets = [{"id": k, "time": 1, "players": one} for k, one in enumerate(parties)]
    case = {"rule": "bar", "tickets": tickets, "ticks": [5.0]}
    for each, matches in ((False, 1), (True, 0)):
        assert len(play_case(case, team_size=2, each_player=each)["matches"]) == matches


def test_bar_looks_at_the_newest_first() -> None:
    alike = [{"rating": 25, "deviation": 4}]
    tickets = [{"id": k, "time": k, "players": alike} for k in (1, 2, 3)]
    case = {"rule": "bar", "tickets": tickets, "ticks": [5.0]}
    for newest, teams in ((True, [[3], [2]]), (False, [[1], [2]])):
        assert play_case(case, newest_first=newest)["matches"][0]["teams"] == teams
