"""Every number of every rule counts: changed, it changes what comes of some tickets."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, get_type_hints

import pytest
from pydantic import ValidationError

from tests.matching.living.test_cases import CASES, document
from tests.support.living_days import DAYS, Day, drawn, matches_of, played
from tests.support.matchmaker_case import play_case, preset_of
from valmatch.matching.living.registry import NEEDS, PRESETS, needs_of, numbers_of
from valmatch.models.ladder.factors import QueueFactors

IN_A_DAY: tuple[tuple[str, str, Any, Day], ...] = (
    ("faf", "pop_least", 30.0, DAYS["faf"]._replace(per_hour=600.0)),
    ("faf_duels", "pop_least", 30.0, DAYS["faf_duels"]),
    ("osu", "tick", 2.0, DAYS["osu"]),
    ("lichess", "wave_jitter", 3.0, DAYS["lichess"]),
    ("bar", "alike_ticks", 1000, DAYS["bar_twos"]),
    *(
        ("evoladder", name, value, DAYS["evoladder"]._replace(numbers={}))
        for name, value in {
            **{"reach": 50.0, "reach_grows": 20.0, "either_reach": False, "wait_bonus": 2e4},
            **{"wait_power": 4.0, "swap_passes": 0, "first_only": 0.5, "second_only": 0.4},
            "tick": 60.0,
        }.items()
    ),
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
    "ticks": {
        "rule": "bar",
        "horizon": 30,
        "tickets": [
            {"id": k, "time": 1, "players": [{"rating": 25, "deviation": 4}]} for k in "ab"
        ],
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


def others(value: Any) -> tuple[Any, ...]:  # noqa: ANN401
    """Return some other values of a number."""
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int):
        return value + 1, value // 2, 2 * value, 2
    return 1.25 * value, 0.75 * value, value + 1.0, 0.1 * value


def shows(number: str, value: object, worlds: list[tuple[dict[str, Any], dict[str, Any]]]) -> bool:
    """Return whether another value changes what comes of a world that allows it."""
    for world, result in worlds:
        for other in others(value):
            with suppress(ValidationError):
                if play_case(world, **{number: other}) != result:
                    return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize("preset", PRESETS)
def test_every_number_shows_in_some_case(preset: str) -> None:
    every = [{"constants": {}, **world} for world in (*WORLDS.values(), *map(document, CASES))]
    worlds = [(world, play_case(world)) for world in every if preset_of(world) == preset]
    in_a_day = {number for of, number, *_ in IN_A_DAY if of == preset}
    fields = numbers_of(preset).model_fields
    assert in_a_day <= {*fields}
    for name in {*fields} - in_a_day:
        assert shows(name, fields[name].default, worlds), name


@pytest.mark.slow
@pytest.mark.parametrize(("preset", "number", "value", "day"), IN_A_DAY)
def test_a_changed_number_shows_in_drawn_tickets(
    preset: str, number: str, value: object, day: Day
) -> None:
    tickets = drawn(day, 0.5, 4)
    first, _ = played(day, tickets, 0.5)
    other, _ = played(day._replace(numbers={**day.numbers, number: value}), tickets, 0.5)
    assert first.times.size > 10
    assert matches_of(first) != matches_of(other)


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
