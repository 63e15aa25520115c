"""Queue and waits by hour and weekday, against what is computed player by player."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest

from tests.support.command import valmatch
from valmatch import InputError, load_config, replicate, simulate
from valmatch.experiments.simulate import Simulation
from valmatch.models.valorant.measures import WEEK, hour_responses, measure_hours

MEASURED = {"measure": ["hours"]}

Parts: TypeAlias = list[tuple[float, float]]


def averages(came: list[float], left: list[float], horizon: float) -> list[float]:
    """Return the averages hour by hour, in the plainest way."""
    waited, time = [0.0] * 24, [0.0] * 24
    for hour in range(math.ceil(horizon)):
        end = min(hour + 1.0, horizon)
        time[hour % 24] += end - hour
        for begin, stop in zip(came, left, strict=True):
            waited[hour % 24] += max(0.0, min(stop, end) - max(begin, hour))
    return [w / t if t else math.nan for w, t in zip(waited, time, strict=True)]


@pytest.mark.parametrize("horizon", [0.25, 7.5, 24.0, 60.5])
def test_averages_of_each_hour(horizon: float) -> None:
    rng = np.random.default_rng(7)
    came = np.sort(rng.uniform(0.0, horizon, 200))
    left = np.minimum(came + rng.exponential(2.0, 200), horizon)
    expected = averages(came.tolist(), left.tolist(), horizon)
    found = measure_hours(came, left, horizon, lambda hours: hours % 24)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("factors", "hours"),
    [
        ({}, 24),
        ({"horizon": 7.5}, 8),
        ({"num_players": 300}, 24),
        ({"matching": "joint", "horizon": 3, "team_num": 2}, 3),
    ],
)
def test_hours_of_a_day(factors: dict[str, object], hours: int) -> None:
    day = simulate({"model": "valorant", "factors": {**factors, **MEASURED}})
    names = [one.name for one in day.responses]
    found = day.values[names.index("unmatched") + 1 :][:hours]
    assert names[-3 * hours : -2 * hours] == [
        f"avg_queue_length.{k}-{k + 1}h" for k in range(hours)
    ]
    players = day["players"]
    came, left = players["arrival_hours"], players["match_hours"]
    horizon = float(factors.get("horizon") or 24.0)  # type: ignore[arg-type]
    horizon = float(came[-1]) if "num_players" in factors else horizon
    left = np.where(np.isnan(left), horizon, left)
    expected = averages(came.tolist(), left.tolist(), horizon)[:hours]
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    some = ~np.isnan(found)
    lengths = np.minimum(1.0, horizon - np.arange(hours))[some]
    mean = np.average(found[some], weights=lengths)
    assert mean == pytest.approx(day.values[names.index("avg_queue_length")])


def mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else math.nan


def waits(day: Simulation, threshold: float, horizon: float, part: Callable[[float], int]) -> Parts:
    """Return mean waits and shares over the threshold by the part of each arrival, row by row."""
    own: dict[int, list[float]] = {}
    over: dict[int, list[float]] = {}
    table = day["players"]
    columns = (table[name].tolist() for name in ("arrival_hours", "match", "wait_minutes"))
    for came, match, wait in zip(*columns, strict=True):
        if not math.isnan(match):
            own.setdefault(part(came), []).append(wait)
        else:
            wait = 60.0 * (horizon - came)
        over.setdefault(part(came), []).append(float(wait > 60.0 * threshold))
    return [(mean(own.get(k, [])), mean(over.get(k, []))) for k in range(24)]


@pytest.mark.parametrize(
    "factors", [{}, {"horizon": 5.5, "wait_thresh": 0.1}, {"num_players": 900}, {"team_diff": 0.5}]
)
def test_waits_of_those_who_arrive_in_each_hour(factors: dict[str, object]) -> None:
    day = simulate({"model": "valorant", "factors": {**factors, **MEASURED}}, replication=1)
    found, threshold = day.summary()["responses"], float(factors.get("wait_thresh", 0.2))  # type: ignore[arg-type]
    horizon = float(factors.get("horizon", 24.0))  # type: ignore[arg-type]
    horizon = float(day["players"]["arrival_hours"][-1]) if "num_players" in factors else horizon
    expected = waits(day, threshold, horizon, lambda came: int(came) % 24)
    for hour, (wait, share) in enumerate(expected):
        name = f"{hour}-{hour + 1}h"
        if f"avg_wait_time.{name}" not in found:
            assert hour >= 6
            continue
        assert found[f"avg_wait_time.{name}"] == pytest.approx(wait, rel=1e-12, nan_ok=True)
        assert found[f"prioritized_fraction.{name}"] == pytest.approx(share, nan_ok=True)


# ---- weekdays ----


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
    day = simulate(logged(fortnight, measure=["weekdays"], horizon=380))
    names, found = [one.name for one in day.responses], day.summary()["responses"]
    measures = ("avg_queue_length", "avg_wait_time", "prioritized_fraction")
    assert names[15:] == [f"{measure}.{name}" for measure in measures for name in WEEK]
    expected = waits(day, 0.3, 380.0, lambda came: (int(came // 24) + 5) % 7)
    assert not np.isnan(expected[:7]).any()
    for name, (wait, share) in zip(WEEK, expected, strict=False):
        assert found[f"avg_wait_time.{name}"] == pytest.approx(wait, rel=1e-12)
        assert found[f"prioritized_fraction.{name}"] == pytest.approx(share)
    waited, time = [0.0] * 7, [0.0] * 7
    came, left = day["players"]["arrival_hours"], day["players"]["match_hours"]
    left = np.where(np.isnan(left), 380.0, left)
    for number in range(16):
        begin, end = 24.0 * number, min(24.0 * number + 24.0, 380.0)
        time[(number + 5) % 7] += end - begin
        overlap = np.minimum(left, end) - np.maximum(came, begin)
        waited[(number + 5) % 7] += float(overlap.clip(0.0).sum())
    queue = [found[f"avg_queue_length.{name}"] for name in WEEK]
    assert queue == pytest.approx([w / t for w, t in zip(waited, time, strict=True)])
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
    one = simulate(config, replication=3).summary()["responses"]
    assert many.values[3] == pytest.approx(list(one.values()), nan_ok=True)


def test_a_log_without_dates_has_no_weekdays(tmp_path: Path) -> None:
    path = tmp_path / "hours.csv"
    path.write_text("arrival_hours,rating\n0.5,1500\n0.75,1500\n")
    done = valmatch(
        "simulate", "valorant", "--set", f"arrivals={path}", "--set", "measure=[weekdays]"
    )
    assert done.code == 2
    assert done.err == (
        f"{path}: factors.measure: weekdays: the log has hours, which are of no weekday (allowed:"
        " with date-times, or seconds since 1970, as arrival_hours)\n"
    )
    with pytest.raises(InputError, match=r"factors\.measure: weekdays are those of a queue log"):
        load_config("valorant", {"measure": ["weekdays"]})


def test_names_of_hours() -> None:
    assert len(hour_responses(None)) == len(hour_responses(100.0)) == 72
    measures = ("avg_queue_length", "avg_wait_time", "prioritized_fraction")
    names = [f"{measure}.{hour}h" for measure in measures for hour in ("0-1", "1-2")]
    assert [one.name for one in hour_responses(1.5)] == names
    assert hour_responses(1.5)[2].meaning == (
        "mean wait of matched players who arrived from hour 0 to 1 of days"
    )
