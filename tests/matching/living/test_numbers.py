"""Every number of every rule counts: changed, it changes what comes of some tickets."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, get_type_hints

import pytest

from tests.matching.living.test_cases import document
from tests.support.living_days import DAYS, Day, drawn, played
from tests.support.matchmaker_case import play_case
from valmatch.matching.living.registry import NEEDS, PRESETS, needs_of, numbers_of
from valmatch.models.ladder.factors import QueueFactors

WITHOUT_TICKS = " without ticks"

MUTANTS: tuple[tuple[str, str, Any, str], ...] = (
    ("faf", "team_size", 3, "faf-06"),
    ("faf", "less_deviations", 3.75, "faf-06"),
    ("faf", "newcomer_games", 30, "faf-06"),
    ("faf", "pop_first", 56.25, "faf-18"),
    ("faf", "pop_max", 112.5, "faf-18"),
    ("faf", "pop_matches", 3.125, "faf-18"),
    ("faf", "pop_average", 6, "faf-18"),
    ("faf", "max_imbalance", 312.5, "faf-06"),
    ("faf", "max_deviation", 312.5, "faf-06"),
    ("faf", "minority_range", 1562.5, "faf-06"),
    ("faf", "minority_cap", 1.25, "faf-18"),
    ("faf", "rating_peak", 600.0, "faf-06"),
    ("faf", "time_bonus", 0.0125, "faf-06"),
    ("faf", "time_bonus_cap", 0.25, "faf-09"),
    ("faf", "newbie_bonus", 0.3125, "faf-09"),
    ("faf", "newbie_bonus_cap", 3.75, "faf-12"),
    ("faf", "newbie_unless_over", 1750.0, "faf-21"),
    ("faf", "min_quality", 0.5, "faf-09"),
    ("faf_duels", "less_deviations", 3.75, "faf-24"),
    ("faf_duels", "newcomer_games", 11, "faf-00"),
    ("faf_duels", "newcomer_mean", 625.0, "faf-00"),
    ("faf_duels", "pop_first", 56.25, "faf-27"),
    ("faf_duels", "pop_max", 112.5, "faf-27"),
    ("faf_duels", "pop_matches", 3.125, "faf-24"),
    ("faf_duels", "pop_average", 6, "faf-24"),
    ("faf_duels", "near_from", 15, "faf-03"),
    ("faf_duels", "uncertain", 350.0, "uncertain"),
    ("faf_duels", "beta", 300.0, "faf-00"),
    ("faf_duels", "own_share", 1.0, "faf-00"),
    ("faf_duels", "top_rating", 1600.0, "faf-24"),
    ("faf_duels", "top_step", 0.075, "faf-24"),
    ("faf_duels", "top_cap", 0.15, "faf-24"),
    ("faf_duels", "newcomer_step", 0.05, "faf-24"),
    ("faf_duels", "newcomer_cap", 0.05, "new"),
    ("faf_duels", "other_step", 0.025, "faf-00"),
    ("faf_duels", "other_cap", 0.125, "faf-00"),
    ("bar", "team_size", 2, "bar-12"),
    ("bar", "team_count", 3, "bar-12"),
    ("bar", "newcomer_mean", 20.8, "bar-03"),
    ("bar", "newcomer_deviation", 10.4, "bar-03"),
    ("bar", "beta", 5.2, "bar-12"),
    ("bar", "chance_low", 0.35, "bar-12"),
    ("bar", "chance_high", 0.65, "bar-12"),
    ("bar", "band_grows", 0.05, "bar-12"),
    ("bar", "newest_first", False, "bar-12"),
    ("bar", "tick", 7.0, "bar without ticks"),
    ("shieldbattery", "team_size", 2, "shieldbattery-12"),
    ("shieldbattery", "less_deviations", 1.25, "shieldbattery-12"),
    ("shieldbattery", "sample", 10, "shieldbattery-09"),
    ("shieldbattery", "variance_weight", 0.00625, "shieldbattery-12"),
    ("shieldbattery", "logistic", 500.0, "shieldbattery-12"),
    ("shieldbattery", "win_weight", 62.5, "shieldbattery-12"),
    ("shieldbattery", "latency_weight", 37.5, "shieldbattery-03"),
    ("shieldbattery", "latency_scale", 1.125, "shieldbattery-03"),
    ("shieldbattery", "latency_step", 37.5, "shieldbattery-03"),
    ("shieldbattery", "latency_free", 4, "shieldbattery-03"),
    ("shieldbattery", "latency_unknown", 187.5, "shieldbattery-03"),
    ("shieldbattery", "wait_weight", 1.25, "shieldbattery-12"),
    ("shieldbattery", "others_weight", 1.0, "others"),
    ("shieldbattery", "threshold", -37.5, "shieldbattery-12"),
    ("shieldbattery", "comfortable", 2.5, "shieldbattery-12"),
    ("shieldbattery", "relax", 18.75, "shieldbattery-12"),
    ("shieldbattery", "shared_maps", False, "shieldbattery-09"),
    ("shieldbattery", "window", 75.0, "shieldbattery-12"),
    ("shieldbattery", "half_life", 1500.0, "shieldbattery-12"),
    ("shieldbattery", "tick", 7.0, "shieldbattery without ticks"),
    ("osu", "lobby_size", 3, "osu-21"),
    ("osu", "radius", 25.0, "osu-00"),
    ("osu", "doubling", 375.0, "osu-00"),
    ("osu", "radius_max", 5000.0, "far"),
    ("osu", "centre", 1875.0, "osu-21"),
    ("osu", "scale", 937.5, "osu-21"),
    ("osu", "top100", 150000.0, "top"),
    ("osu", "search_timeout", 60.0, "osu-00"),
    ("osu", "recent", 360.0, "again"),
    ("osu", "skip", False, "osu-21"),
    ("lichess", "wave_seconds", 9.0, "lichess-00"),
    ("lichess", "wave_players", 2, "lichess-00"),
    ("lichess", "gap", 1.25, "lichess-12"),
    ("lichess", "shared_range", -100.0, "ranges"),
    ("lichess", "manners", False, "lichess-00"),
    ("lichess", "provisional", 0.0, "provisional"),
    ("lichess", "credit", 15.0, "lichess-06"),
    ("lichess", "credit_cap", 500.0, "apart"),
    ("lichess", "limit_low", 90, "lichess-09"),
    ("lichess", "limit_middle", 70, "lichess-12"),
    ("lichess", "limit_divisor", 25, "lichess-12"),
    ("lichess", "ranges", False, "lichess-00"),
    ("lichess", "just_paired", False, "lichess-21"),
)
"""Which preset, which number, what it becomes, and where that shows."""

IN_A_DAY: tuple[tuple[str, str, Any, Day], ...] = (
    ("faf", "pop_least", 30.0, DAYS["faf"]._replace(per_hour=600.0)),
    ("faf", "spread_of_players", True, DAYS["faf"]),
    ("faf_duels", "pop_least", 30.0, DAYS["faf_duels"]),
    ("bar", "each_player", True, Day("bar", {"team_size": 2}, 200.0, 2)),
    ("osu", "tick", 2.0, DAYS["osu"]),
    ("lichess", "wave_jitter", 3.0, DAYS["lichess"]),
)
"""Numbers that no case shows, and drawn tickets that do."""


def _member(name: str, rating: int, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"id": name, "user": name, "time": 1, "rating": rating, **more}


def _duel(name: str, mean: float, deviation: float, games: int = 100) -> dict[str, Any]:
    player = {"rating": mean, "deviation": deviation, "games": games}
    return {"id": name, "attempts": 25, "players": [player]}


def _soldier(name: str, time: float, rating: float) -> dict[str, Any]:
    return {"id": name, "time": time, "rating": rating}


def _users(*ratings: float) -> list[dict[str, Any]]:
    return [{"id": number, "rating": rating} for number, rating in enumerate(ratings)]


def _lichess(*members: dict[str, Any]) -> dict[str, Any]:
    return {"rule": "lichess", "horizon": 700, "tickets": list(members)}


JOINED = [["join", 1, 0], ["join", 1, 1], ["tick", 2]]

WORLDS: dict[str, dict[str, Any]] = {
    "uncertain": {
        "rule": "faf",
        "kind": "find",
        "constants": {"team_size": 1},
        "tickets": [
            *(_duel(f"low {k}", 20.0 * k, 30) for k in range(28)),
            _duel("sure", 3000, 80),
            _duel("unsure", 3000, 300),
        ],
    },
    "new": {
        "rule": "faf",
        "kind": "find",
        "constants": {"team_size": 1},
        "tickets": [_duel("a", 900, 80, 5), _duel("b", 1500, 80, 5)],
    },
    "others": {
        "rule": "shieldbattery",
        "horizon": 6,
        "tickets": [_soldier("a", 0, 1500), _soldier("b", 0.5, 1520), _soldier("c", 5.875, 1500)],
    },
    "far": {"rule": "osu", "tickets": _users(5000, 14000), "events": JOINED},
    "top": {"rule": "osu", "tickets": _users(200000, 299000), "events": JOINED},
    "again": {
        "rule": "osu",
        "tickets": _users(1500, 1500),
        "events": [*JOINED, ["join", 500, 0], ["join", 500, 1], ["tick", 501]],
    },
    "ranges": _lichess(
        _member("a", 1500, range=[1000, 2000]), _member("b", 1800, range=[1000, 2000])
    ),
    "provisional": _lichess(
        _member("a", 1600, provisional=True, cancel=12.5),
        _member("b", 1760, provisional=True, cancel=12.5),
    ),
    "apart": _lichess(_member("a", 1600), _member("b", 2200)),
}
"""Worlds for what no case shows."""


@lru_cache
def world(name: str) -> dict[str, Any]:
    """Return a case or a world by its name."""
    if name in WORLDS:
        return WORLDS[name]
    if name.endswith(WITHOUT_TICKS):
        case = document(f"{name.removesuffix(WITHOUT_TICKS)}-00")
        return {key: value for key, value in case.items() if key != "ticks"}
    return document(name)


def test_the_list_has_every_number_of_every_rule() -> None:
    every = {(preset, name) for preset in PRESETS for name in numbers_of(preset).model_fields}
    assert {one[:2] for one in MUTANTS} | {one[:2] for one in IN_A_DAY} == every


@pytest.mark.parametrize(("preset", "number", "value", "name"), MUTANTS)
def test_a_changed_number_shows(preset: str, number: str, value: object, name: str) -> None:
    assert play_case(world(name), **{number: value}) != play_case(world(name))


@pytest.mark.slow
@pytest.mark.parametrize(("preset", "number", "value", "day"), IN_A_DAY)
def test_a_changed_number_shows_in_drawn_tickets(
    preset: str, number: str, value: object, day: Day
) -> None:
    tickets = drawn(day, 0.5, 4)
    first, _ = played(day, tickets, 0.5)
    other, _ = played(day._replace(numbers={**day.numbers, number: value}), tickets, 0.5)
    assert first.times.size > 10
    assert first.times.tobytes() != other.times.tobytes()


def test_numbers_of_a_name_are_of_a_kind_and_no_option_of_another_queue() -> None:
    kinds: dict[str, object] = {}
    for preset in PRESETS:
        numbers = numbers_of(preset)
        hints = get_type_hints(numbers, include_extras=True)
        for name, field in numbers.model_fields.items():
            extra: Any = field.json_schema_extra
            kind = str(hints[name]), extra["unit"]
            assert kinds.setdefault(name, kind) == kind
            assert str(field.description).endswith(".")
            assert needs_of(numbers, name) in ("", *NEEDS)
            assert name not in QueueFactors.model_fields
