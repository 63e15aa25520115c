"""Responses of the model `valorant`, all of them, against what its tables say."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import valmatch as library
from tests.oracles.valorant_responses import WEEK, responses_of
from tests.support.command import refusal
from valmatch import load_config, replicate, simulate
from valmatch.draws.streams import Streams
from valmatch.execution.chunks import build, run
from valmatch.models.model import Model
from valmatch.models.valorant.days import RESPONSES

ALL = {"measure": ["differences", "pairs", "elo", "fairness", "bands", "hours"]}

DAYS: dict[str, dict[str, Any]] = {
    "default": {},
    "joint": {"matching": "joint", "horizon": 12.5, "spread": 173.0, "team_num": 3},
    "fifo": {"matching": "fifo", "horizon": 7.5, "review": "continuous", "team_num": 6},
    "continuous": {"review": "continuous", "team_num": 2, "horizon": 12.5},
    "joint, continuous": {"matching": "joint", "review": "continuous", "horizon": 6},
    "pool": {"slack_scope": "pool", "horizon": 5.5, "wait_thresh": 0.1, "team_num": 3},
    "duels": {"team_num": 1, "horizon": 4},
    "counted": {"num_players": 300, "horizon": None},
    "nobody plays": {"horizon": 0.02, "player_diff": 0.5},
    "patience": {"patience_minutes": 30},
    "warm-up": {"warm_up": 9, "patience_minutes": 40},
    "long": {"horizon": 60.5, "poisson_rate": [9.0] * 61, "team_num": 2, "warm_up": 3},
}
"""Factors of days of every kind."""


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.slow] * ("joint" in kind)) for kind in DAYS]
)
def test_responses_are_what_the_tables_say(kind: str) -> None:
    config = load_config("valorant", {**ALL, **DAYS[kind]})
    factors: Any = config.factors
    day = simulate(config, replication=2)
    horizon = float(factors.horizon or day["players"]["arrival_hours"][-1])
    found, expected = day.summary()["responses"], responses_of(day, factors, horizon)
    assert {*found} == {*expected}
    found = {name: math.nan if value is None else value for name, value in found.items()}
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)


def test_elo_of_a_log_is_that_of_its_column(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("arrival_hours,elo,kd,wr\n0,1500,1,50\n1,1600,2,60\n2,1450,1,55\n3,1480,1,40\n")
    given = ["measure=[elo]", "team_num=2", "team_diff=1e6", "player_diff=1e6"]
    day = library.simulate(library.load_config("valorant", [f"arrivals={path}", *given]))
    names = [one.name for one in day.responses]
    assert day.values[names.index("avg_elo_diff")] == (1500 + 1600) / 2 - (1450 + 1480) / 2
    path.write_text("arrival_hours,rating\n0,1500\n1,1510\n")
    assert "elo: the log has ratings alone" in refusal(
        "simulate", "valorant", "--set", f"arrivals={path}", "--set", "measure=[elo]"
    )


@pytest.mark.slow
def test_without_rules_pairs_differ_as_two_normal_ratings_do() -> None:
    # The mean difference of two normals is 2 / sqrt(pi) standard deviations; those of a fifo team
    # are independent of one another. No matrix entry is near a bound at which a vector is redrawn.
    given = {
        "matching": "fifo",
        "measure": ["pairs"],
        "mean_matrix": [9000.0, 100.0, 900.0],
        "multiplier_matrix": [1.0, 0.0, 0.0],
    }
    one = library.replicate(library.load_config("valorant", given), 400).estimates["avg_pair_diff"]
    error = one.std_error or 0
    assert one.mean == pytest.approx(200.0 * 2.0 / np.sqrt(np.pi), abs=4 * error)
    assert error < 1.0


@pytest.mark.slow
def test_they_change_nothing_else() -> None:
    plain = build(library.load_config("valorant", {"horizon": 6, "team_num": 3}))
    further = ALL | {"horizon": 6, "team_num": 3}
    asked = build(library.load_config("valorant", further))
    before = run(plain, 1, range(5)).responses
    found = run(asked, 1, range(5)).responses
    assert before.tobytes() == found[:, : len(RESPONSES)].tobytes()
    one_by_one = Model.run_many(asked, Streams(1), range(5), False, lambda: None).responses
    assert one_by_one.tobytes() == found.tobytes()
    assert plain.responses is RESPONSES


@pytest.fixture
def fortnight(tmp_path: Path) -> Path:
    """Return the log of 16 days from Saturday, 7 March 2026 on; fewer come on Mondays."""
    rng, lines = np.random.default_rng(3), ["arrival_hours,rating"]
    for day in range(16):
        for hour in np.sort(24.0 * rng.random(40 if day % 7 == 2 else 120)).tolist():
            minute, second = divmod(int(3600 * hour), 60)
            clock = f"{minute // 60:02d}:{minute % 60:02d}:{second:02d}"
            lines.append(f"2026-03-{7 + day:02d} {clock},{rng.normal(1500, 200):.0f}")
    path = tmp_path / "fortnight.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


RULES = {"team_num": 2, "team_diff": 60.0, "player_diff": 250.0, "wait_thresh": 0.3}


def logged(path: Path, **factors: object) -> dict[str, object]:
    return {"model": "valorant", "arrivals": str(path), "factors": {**RULES, **factors}}


def test_waits_and_queue_of_each_weekday(fortnight: Path) -> None:
    config = load_config(logged(fortnight, measure=["weekdays"], horizon=380))
    factors: Any = config.factors
    day = simulate(config)
    found, expected = day.summary()["responses"], responses_of(day, factors, 380.0, weekday=5)
    assert found == pytest.approx(expected, rel=1e-9)
    assert found["avg_wait_time.monday"] > found["avg_wait_time.tuesday"]


@pytest.mark.parametrize("length", [24, 36])
def test_resampled_days_keep_the_weekday_they_had(length: int, fortnight: Path) -> None:
    log = {"resample": "block", "block_hours": length}
    config = load_config(logged(fortnight, measure=["weekdays"], log=log))
    original = simulate(logged(fortnight))["players"]
    known = {
        (rating, round(came % 24, 6)): int(came // 24)
        for came, rating in zip(*(original[n] for n in ("arrival_hours", "rating")), strict=True)
    }
    assert len(known) == original["rating"].size
    for number in (1, 2):
        day = simulate(config, replication=number)
        table = day["players"]
        days = [
            known[rating, round(came % 24, 6)]
            for came, rating in zip(*(table[n] for n in ("arrival_hours", "rating")), strict=True)
        ]
        numbers = np.array([(one + 5) % 7 for one in days])
        matched, found = ~np.isnan(table["match"]), day.summary()["responses"]
        for k, name in enumerate(WEEK):
            own = table["wait_minutes"][matched & (numbers == k)]
            wait = float(own.mean()) if own.size else math.nan
            assert found[f"avg_wait_time.{name}"] == pytest.approx(wait, nan_ok=True)
    many = replicate(config, 4)
    assert many.values[3] == pytest.approx(simulate(config, replication=3).values, nan_ok=True)
