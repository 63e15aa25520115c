"""Hours of the day of logs that cross the beginning or the end of summer time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest
import yaml

from tests.support.command import valmatch
from valmatch import simulate
from valmatch.models.valorant.arrivals import ArrivingPlayers
from valmatch.models.valorant.fitting import fit_arrivals
from valmatch.models.valorant.measures import WEEK
from valmatch.models.valorant.queue_log import wall_hours

BERLIN = ZoneInfo("Europe/Berlin")


def begin(zone: str, year: int, month: int, day: int) -> datetime:
    return datetime(year, month, day, tzinfo=ZoneInfo(zone))


def of_clock(midnight: datetime, hour: int) -> int:
    """Return whole hours by the clock, from the local date and hour of the moment."""
    there = (midnight.astimezone(UTC) + timedelta(hours=hour)).astimezone(midnight.tzinfo)
    passed = there.replace(tzinfo=None) - midnight.replace(tzinfo=None)
    return int(passed / timedelta(hours=1) // 1)


@pytest.mark.parametrize(
    "midnight",
    [
        begin("Europe/Berlin", 2026, 3, 20),
        begin("Europe/Berlin", 2026, 10, 20),
        begin("America/New_York", 2026, 3, 1),
        begin("Australia/Lord_Howe", 2026, 3, 30),  # by half an hour
        begin("Asia/Kolkata", 2026, 3, 30),
        begin("America/Sao_Paulo", 2017, 10, 10),  # at midnight
    ],
)
def test_hours_are_those_of_the_clocks_of_the_zone(midnight: datetime) -> None:
    hours = np.arange(24 * 250)
    found = wall_hours(midnight, hours)
    assert found.tolist() == [of_clock(midnight, hour) for hour in hours.tolist()]
    some = np.array([100, 3, 3, 5000])
    assert wall_hours(midnight, some).tolist() == found[some].tolist()


def test_where_no_clock_is_moved_hours_stay() -> None:
    hours = np.array([0, 25, 5000])
    zones = (None, datetime(2026, 3, 1, tzinfo=UTC))
    for midnight in (*zones, datetime(2026, 3, 1, tzinfo=timezone(timedelta(hours=1)))):
        assert wall_hours(midnight, hours) is hours
    late = datetime(9999, 12, 31, tzinfo=BERLIN)
    assert wall_hours(late, np.array([5, 50])).tolist() == [5, 50]


def evenings(path: Path) -> Path:
    """Write four weeks around 29 March: two players at 20:10 and 20:20 of each evening."""
    lines = ["arrival_hours,rating"]
    for day in range(28):
        for minute in (10, 20):
            evening = datetime(2026, 3, 16, 20, minute, tzinfo=BERLIN) + timedelta(days=day)
            lines.append(f"{evening.isoformat()},1500")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_waits_and_queue_by_hour_are_by_the_clock_of_the_zone(tmp_path: Path) -> None:
    path = evenings(tmp_path / "log.csv")
    factors = {"team_num": 1, "measure": ["hours", "weekdays"]}
    config = {"model": "valorant", "arrivals": str(path)}
    day = simulate(config | {"factors": factors | {"log": {"zone": "Europe/Berlin"}}})
    names = [one.name for one in day.responses]
    found = dict(zip(names, day.values, strict=True))
    busy = {name for name in names if "avg_queue_length." in name and found[name] > 0.0}
    assert busy == {"avg_queue_length.20-21h", *(f"avg_queue_length.{name}" for name in WEEK)}
    assert found["avg_wait_time.20-21h"] == pytest.approx(5.0)
    unzoned = simulate(config | {"factors": factors})
    found = dict(zip(names, unzoned.values, strict=True))
    assert found["avg_queue_length.19-20h"] > 0.0
    assert any("date-times have several offsets from UTC" in line for line in unzoned.warnings)


def test_rates_are_fitted_by_the_clock_of_the_zone(tmp_path: Path) -> None:
    path = evenings(tmp_path / "log.csv")
    midnight = datetime(2026, 3, 16, tzinfo=BERLIN)
    moments = [line.split(",")[0] for line in path.read_text().split()[1:]]
    times = [(datetime.fromisoformat(one) - midnight) / timedelta(hours=1) for one in moments]
    players = ArrivingPlayers(np.array(times), np.full(56, 1500.0), np.empty((0, 3)))
    made = fit_arrivals(players, midnight=midnight)
    assert made.rates[20] == 2.0
    assert sum(made.rates) == 2.0
    fitted = valmatch("fit", path, "--set", "log.zone=Europe/Berlin")
    assert fitted.code == 0, fitted.err
    rates = yaml.safe_load(fitted.out)["factors"]["poisson_rate"]
    assert rates == 2 * made.rates  # a day before the one that counts
