"""Constants of presets changed one at a time, and the case or world that shows it."""

from __future__ import annotations

from typing import Any

from valmatch.rule_sets.presets.words import Form

MUTANTS: tuple[tuple[Form, str, Any, str], ...] = (
    ("faf", "less_deviations", 3.75, "faf-06"),
    ("faf", "newcomer_games", 11, "faf-18"),
    ("faf", "pop_max", 112.5, "faf-18"),
    ("faf", "pop_matches", 3.125, "faf-18"),
    ("faf", "pop_average", 6, "faf-18"),
    ("faf", "pop_first", 56.25, "faf-18"),
    ("faf", "max_imbalance", 312.5, "faf-06"),
    ("faf", "max_deviation", 312.5, "faf-06"),
    ("faf", "minority_range", 1562.5, "faf-06"),
    ("faf", "minority_cap", 1.25, "faf-18"),
    ("faf", "beta", 300.0, "faf-18"),
    ("faf", "credit_rate", 0.0125, "faf-06"),
    ("faf", "credit_cap", 0.25, "faf-09"),
    ("faf", "newbie_bonus", 0.3125, "faf-09"),
    ("faf", "newbie_bonus_cap", 3.75, "faf-12"),
    ("faf", "newbie_unless_over", 1750.0, "faf-21"),
    ("faf", "min_quality", 0.5, "faf-09"),
    ("faf_duels", "less_deviations", 3.75, "faf-24"),
    ("faf_duels", "newcomer_games", 11, "faf-00"),
    ("faf_duels", "newcomer_mean", 625.0, "faf-00"),
    ("faf_duels", "pop_max", 112.5, "faf-27"),
    ("faf_duels", "pop_matches", 3.125, "faf-24"),
    ("faf_duels", "pop_average", 6, "faf-24"),
    ("faf_duels", "pop_first", 56.25, "faf-27"),
    ("faf_duels", "near_from", 15, "faf-03"),
    ("faf_duels", "beta", 300.0, "faf-00"),
    ("faf_duels", "of_own", 1.0, "faf-00"),
    (
        "faf_duels",
        "expand",
        [
            {"top": 1600.0, "step": 0.15, "cap": 0.3},
            {"newcomers": True, "step": 0.1, "cap": 0.6},
            {"step": 0.05, "cap": 0.25},
        ],
        "faf-24",
    ),
    (
        "faf_duels",
        "expand",
        [
            {"top": 2000.0, "step": 0.075, "cap": 0.3},
            {"newcomers": True, "step": 0.1, "cap": 0.6},
            {"step": 0.05, "cap": 0.25},
        ],
        "faf-24",
    ),
    (
        "faf_duels",
        "expand",
        [
            {"top": 2000.0, "step": 0.15, "cap": 0.15},
            {"newcomers": True, "step": 0.1, "cap": 0.6},
            {"step": 0.05, "cap": 0.25},
        ],
        "faf-24",
    ),
    (
        "faf_duels",
        "expand",
        [
            {"top": 2000.0, "step": 0.15, "cap": 0.3},
            {"newcomers": True, "step": 0.05, "cap": 0.6},
            {"step": 0.05, "cap": 0.25},
        ],
        "faf-24",
    ),
    (
        "faf_duels",
        "expand",
        [
            {"top": 2000.0, "step": 0.15, "cap": 0.3},
            {"newcomers": True, "step": 0.1, "cap": 0.6},
            {"step": 0.025, "cap": 0.25},
        ],
        "faf-00",
    ),
    (
        "faf_duels",
        "expand",
        [
            {"top": 2000.0, "step": 0.15, "cap": 0.3},
            {"newcomers": True, "step": 0.1, "cap": 0.6},
            {"step": 0.05, "cap": 0.125},
        ],
        "faf-00",
    ),
    ("bar", "newcomer_mean", 20.833333333333336, "bar-03"),
    ("bar", "newcomer_deviation", 10.416666666666668, "bar-03"),
    ("bar", "beta", 5.208333333333334, "bar-12"),
    ("bar", "band", (0.35, 0.7), "bar-12"),
    ("bar", "band", (0.3, 0.65), "bar-12"),
    ("bar", "band_grows", 0.05, "bar-12"),
    ("shieldbattery", "less_deviations", 1.25, "shieldbattery-12"),
    ("shieldbattery", "sample", 10, "shieldbattery-09"),
    ("shieldbattery", "weight_variance", 0.00625, "shieldbattery-12"),
    ("shieldbattery", "logistic", 500.0, "shieldbattery-12"),
    ("shieldbattery", "weight_win", 62.5, "shieldbattery-12"),
    ("shieldbattery", "weight_latency", 37.5, "shieldbattery-03"),
    ("shieldbattery", "latency_scale", 1.125, "shieldbattery-03"),
    ("shieldbattery", "latency_step", 37.5, "shieldbattery-03"),
    ("shieldbattery", "latency_free", 4, "shieldbattery-03"),
    ("shieldbattery", "unknown_pair", 187.5, "shieldbattery-03"),
    ("shieldbattery", "credit_rate", 1.25, "shieldbattery-12"),
    ("shieldbattery", "min_quality", -37.5, "shieldbattery-12"),
    ("shieldbattery", "comfortable", 2.5, "shieldbattery-12"),
    ("shieldbattery", "relax_rate", 18.75, "shieldbattery-12"),
    ("shieldbattery", "maps", False, "shieldbattery-09"),
    ("shieldbattery", "window", 75.0, "shieldbattery-12"),
    ("shieldbattery", "half_life", 1500.0, "shieldbattery-12"),
    ("osu", "radius", 25.0, "osu-00"),
    ("osu", "doubling", 375.0, "osu-00"),
    ("osu", "centre", 1875.0, "osu-21"),
    ("osu", "scale", 937.5, "osu-21"),
    ("osu", "skip", False, "osu-21"),
    ("osu", "invite", 18.0, "osu-09"),
    ("osu", "search_timeout", 60.0, "osu-00"),
    ("lichess", "gap", 1.25, "lichess-12"),
    ("lichess", "manners", False, "lichess-00"),
    ("lichess", "provisional", -90.0, "lichess-00"),
    ("lichess", "credit_rate", 15.0, "lichess-06"),
    ("lichess", "credit_cap", 1200.0, "lichess-06"),
    ("lichess", "credit_per_sit", 60.0, "lichess-15"),
    ("lichess", "at_most", ((0, 90), (1000, 100), (1500, "/15")), "lichess-09"),
    ("lichess", "at_most", ((0, 130), (1000, 70), (1500, "/15")), "lichess-12"),
    ("lichess", "at_most", ((0, 130), (1000, 100), (1500, "/25")), "lichess-12"),
    ("lichess", "ranges", False, "lichess-00"),
    ("lichess", "just_paired", False, "lichess-21"),
    ("faf", "rating_peak", 600.0, "faf-06"),
    ("lichess", "wave_seconds", 9.0, "lichess-00"),
    ("lichess", "wave_players", 2, "lichess-00"),
    ("faf_duels", "uncertain", 350.0, "uncertain"),
    (
        "faf_duels",
        "expand",
        [
            {"top": 2000.0, "step": 0.15, "cap": 0.3},
            {"newcomers": True, "step": 0.1, "cap": 0.05},
            {"step": 0.05, "cap": 0.25},
        ],
        "new",
    ),
    ("bar", "tick", 7.0, "bar without ticks"),
    ("shieldbattery", "tick", 7.0, "shieldbattery without ticks"),
    ("shieldbattery", "credit_others", 1.0, "others"),
    ("osu", "radius_max", 5000.0, "far"),
    ("osu", "top100", 150000.0, "top"),
    ("osu", "recent", 360.0, "again"),
    ("osu", "ban", 0.0, "declined"),
    ("lichess", "shared_range", -100.0, "ranges"),
    ("lichess", "provisional", 0.0, "provisional"),
    ("lichess", "credit_cap", 500.0, "apart"),
    ("lichess", "credit_per_sit", 0.0, "rude"),
    ("lichess", "blocks", False, "blocked"),
    ("faf", "team_size", 3, "faf-06"),
    ("bar", "team_size", 2, "bar-12"),
    ("bar", "team_count", 3, "bar-12"),
    ("bar", "rule", "ignore_os", "bar-12"),
    ("shieldbattery", "team_size", 2, "shieldbattery-12"),
    ("osu", "lobby_size", 3, "osu-21"),
)
"""Which form, which constant, what it becomes, and where that shows."""

IN_A_DAY: tuple[tuple[Form, str, Any], ...] = (
    ("osu", "tick", 2.0),
    ("lichess", "wave_jitter", 3.0),
)
"""Constants that no case reads, for osu! is told of its ticks and waves come without jitter: they
show in drawn tickets."""


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
        "tickets": [
            _soldier("a", 0, 1500),
            _soldier("b", 0.5, 1520),
            _soldier("c", 5.875, 1500),
        ],
    },
    "far": {"rule": "osu", "tickets": _users(5000, 14000), "events": JOINED},
    "top": {"rule": "osu", "tickets": _users(200000, 299000), "events": JOINED},
    "again": {
        "rule": "osu",
        "tickets": _users(1500, 1500),
        "events": [*JOINED, ["join", 500, 0], ["join", 500, 1], ["tick", 501]],
    },
    "declined": {
        "rule": "osu",
        "accept": "scripted",
        "tickets": _users(1500, 1500),
        "events": [*JOINED, ["decline", 3, 0], ["join", 9, 0], ["tick", 10]],
    },
    "ranges": _lichess(
        _member("a", 1500, range=[1000, 2000]), _member("b", 1800, range=[1000, 2000])
    ),
    "provisional": _lichess(
        _member("a", 1600, provisional=True, cancel=12.5),
        _member("b", 1760, provisional=True, cancel=12.5),
    ),
    "apart": _lichess(_member("a", 1600), _member("b", 2200)),
    "rude": _lichess(_member("a", 1600, sit=-13), _member("b", 2000, sit=-13)),
    "blocked": _lichess(_member("a", 1600, blocks=["b"]), _member("b", 1600)),
}
"""Worlds for what no case shows."""
