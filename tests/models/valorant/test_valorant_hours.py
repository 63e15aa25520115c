"""The queue by the hour of the day, against overlaps computed player by player."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from valmatch import replicate, simulate
from valmatch.models.valorant.hours import hour_responses, measure_hours

MEASURED = {"measure": ["hours"]}


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
    found = measure_hours(came, left, horizon)
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
    found = day.values[names.index("unmatched") + 1 :]
    assert names[-hours:] == [f"avg_queue_length.{k}-{k + 1}h" for k in range(hours)]
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


def test_no_other_response_is_changed() -> None:
    plain = replicate("valorant", 5)
    further = replicate({"model": "valorant", "factors": MEASURED}, 5)
    assert [one.name for one in further.responses[:15]] == [one.name for one in plain.responses]
    assert np.array_equal(further.values[:, :15], plain.values, equal_nan=True)


def test_the_hours_of_a_log_are_those_of_its_clock(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text(
        "arrival_hours,rating\n2026-03-07 18:30,1000\n2026-03-07 19:30,1000\n2026-03-08 18:15,1\n"
    )
    config = {"model": "valorant", "arrivals": str(log)}
    day = simulate({**config, "factors": {"team_num": 1, "horizon": 48, **MEASURED}})
    found = dict(zip([one.name for one in day.responses], day.values.tolist(), strict=True))
    # The first two are matched at 19:30; the third waits alone from 18:15 of the second day on.
    assert found["avg_queue_length.18-19h"] == pytest.approx((0.5 + 0.75) / 2)
    assert found["avg_queue_length.19-20h"] == pytest.approx((0.5 + 1.0) / 2)
    assert found["avg_queue_length.20-21h"] == pytest.approx(0.5)
    assert found["avg_queue_length.17-18h"] == 0.0


def test_names_of_hours() -> None:
    assert len(hour_responses(None)) == len(hour_responses(100.0)) == 24
    assert [one.name for one in hour_responses(1.5)] == [
        "avg_queue_length.0-1h",
        "avg_queue_length.1-2h",
    ]
