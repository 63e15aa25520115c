"""Queue logs of one's own: names of columns, date-times, clocks, dirty rows, several days."""

from __future__ import annotations

import csv
import json
import tracemalloc
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest
import yaml

from tests.support import folders
from tests.support.case_tables import cases
from tests.support.command import valmatch
from valmatch.config.loading import load_config
from valmatch.draws.streams import Streams
from valmatch.errors import InputError
from valmatch.execution.chunks import build, record
from valmatch.experiments.simulate import simulate
from valmatch.inputs.csv_reader import (
    unmark,
)
from valmatch.models.valorant.arrivals import ArrivingPlayers
from valmatch.models.valorant.fitting import fit_arrivals
from valmatch.models.valorant.log_factors import LogFactors
from valmatch.models.valorant.measures import WEEK, time_averages
from valmatch.models.valorant.queue_log import BlockResampling, read_queue_log, wall_hours

COLUMNS = {"arrival_hours": "joined_at", "rating": "mmr", "player": "account"}
NAMED = ",".join(f"{meaning}={name}" for meaning, name in COLUMNS.items())

DATES = """\
joined_at,account,mmr,region
2026-03-07T18:30:00+01:00,ann,1500,eu
2026-03-07T23:45:00+01:00,bob,1480,eu
2026-03-08T00:15:00+01:00,ann,1500,na
2026-03-08T06:00:30.5+01:00,cy,1520,eu
"""
HOURS = [18.5, 23.75, 24.25, 30.0 + 30.5 / 3600.0]


def write(folder: Path, text: str) -> Path:
    path = folder / "log.csv"
    path.write_text(text)
    return path


def players(path: Path, **factors: object) -> dict[str, list[object]]:
    given = {"log.columns": COLUMNS, "team_num": 1, **factors}
    day = simulate(load_config("valorant", {"arrivals": str(path), **given}))
    return {name: column.tolist() for name, column in day["players"].items()}


def refused(path: Path, **factors: object) -> str:
    with pytest.raises(InputError) as error:
        players(path, **factors)
    assert len(error.value.args) == 1
    return str(error.value)


def test_date_times_become_hours_from_midnight_of_the_first_day(tmp_path: Path) -> None:
    found = players(write(tmp_path, DATES))
    assert found["arrival_hours"] == HOURS
    assert found["player"] == ["ann", "bob", "ann", "cy"]
    assert found["arrival_time"] == [line.split(",")[0] for line in DATES.splitlines()[1:]]


@pytest.mark.parametrize(
    ("times", "hours"),
    [
        (["2026-03-07 18:30", "2026-03-08 00:15:30"], [18.5, 24 + 15.5 / 60]),
        (["2026-03-07T18:30:00Z", "2026-03-08T00:15Z"], [18.5, 24.25]),
        (["1772908200", "1772928900.5"], [18.5, 24.25 + 0.5 / 3600]),
        (["1772908200000", "1772928900500"], [18.5, 24.25 + 0.5 / 3600]),
        (["2026.03.07", "2026.03.08"], [0.0, 24.0]),
        (["18.5", "30"], [18.5, 30.0]),
    ],
)
def test_every_kind_of_time(times: list[str], hours: list[float], tmp_path: Path) -> None:
    rows = "".join(f"{time},a,1500\n" for time in times)
    found = players(write(tmp_path, f"joined_at,account,mmr\n{rows}"))
    assert found["arrival_hours"] == hours


def test_a_zone_says_where_days_begin(tmp_path: Path) -> None:
    path = write(tmp_path, DATES)
    tokyo = players(path, **{"log.zone": "Asia/Tokyo"})  # 18:30 in Berlin is 02:30 of the next day
    assert tokyo["arrival_hours"] == pytest.approx([hour - 16.0 for hour in HOURS], rel=1e-15)
    # The night in which daylight saving begins: hours count what passes.
    text = "joined_at,account,mmr\n2026-03-28 23:00,a,1\n2026-03-29 04:00,b,1\n"
    spring = players(write(tmp_path, text), **{"log.zone": "Europe/Berlin"})
    assert spring["arrival_hours"] == [23.0, 27.0]
    mixed = "joined_at,account,mmr\n2026-03-28T23:00+01:00,a,1\n2026-03-29T04:00+02:00,b,1\n"
    spring = players(write(tmp_path, mixed), **{"log.zone": "Europe/Berlin"})
    assert spring["arrival_hours"] == [23.0, 27.0]


def test_two_days_are_two_days_unless_a_horizon_is_given(tmp_path: Path) -> None:
    path = write(tmp_path, DATES)
    assert len(players(path)["player"]) == 4
    assert len(players(path, horizon=24)["player"]) == 2
    for horizon, end in ({}, HOURS[-1]), ({"horizon": 40}, 40.0):
        config = load_config("valorant", {"arrivals": str(path), "log.columns": COLUMNS, **horizon})
        model = build(config)
        queue = dict(zip(model.responses.names, record(model, 1, 0).responses, strict=True))
        waited = sum(end - hour for hour in HOURS[1:]) + HOURS[2] - HOURS[0]  # of ann, twice
        assert queue["avg_queue_length"] == pytest.approx(waited / end)


def test_the_options_read_a_dirty_log(tmp_path: Path) -> None:
    lines = DATES.replace(",", ";").splitlines()
    dirty = [lines[0], lines[3], lines[1], "gestern;dan;1500;eu", lines[4], "x;y", lines[2]]
    dirty.insert(3, "2026-03-07T20:00:00+01:00;eve;unrated;eu")
    path = write(tmp_path, "\n".join(dirty) + "\n")
    how = ("--columns", NAMED, "--separator", ";", "--max-bad-rows", "50%", "--sort-rows")
    out = tmp_path / "out"
    command = ("simulate", "valorant", "--set", f"arrivals={path}", "--set", "team_num=1")
    made = valmatch(*command, *how, "--out", out)
    assert made.code == 0, made.err
    rows = folders.rows(out / "players.csv")
    assert [row["player"] for row in rows] == ["ann", "bob", "ann", "cy"]
    assert [float(row["arrival_hours"]) for row in rows] == HOURS
    matches = folders.rows(out / "matches.csv")
    assert [(one["team_a"], one["team_b"]) for one in matches] == [("ann", "bob"), ("ann", "cy")]
    assert (
        f"{path}: 3 bad rows left out (1 joined_at, 1 mmr, 1 number of cells), the first: {path}:4:"
    ) in made.err
    assert made.err.count("column region not used") == 1
    assert "hours are counted from 2026-03-07 00:00+01:00" in made.err
    config = json.loads((out / "manifest.json").read_text())["config"]["factors"]
    assert config["log"]["columns"] == COLUMNS
    assert config["horizon"] is None


BAD_LOGS = r"""
+tomorrow,ann,1,eu\n | :6: joined_at: 'tomorrow' (allowed: a finite number of
+2026-03-08T09:00:00,a,1,eu\n | :6: joined_at: '2026-03-08T09:00:00' has no zone
+2026-03-08T05:00:00+01:00,a,1,eu\n | '2026-03-08T05:00:00+01:00' is before the row
+2026-03-08T09:00:00+01:00,a\n | :6: the row has 2 cells (allowed: 4)
joined_at;account;mmr\n1;a;1\n | :1: the header is one cell with semicolons in it
joined_at,account,mmr\n20260301,a,1\n | '20260301' looks like the date 2026-03-01 (allowed: hours
joined_at,account,mmr\n45292.5,a,1\n45292.5,b,1\n | '45292.5' looks like 2024-01-01 12:00, as
joined_at,account,mmr\n1,a,1\n2,b,1e308\n | :3: mmr: 1e+308 (allowed: a rating from -1000000 to
joined_at,account,mmr\n2026-10-25 02:50,a,1\n2026-10-25 02:10,b,1\n | :3: joined_at: '2026-10-25
  02:10' is before the row above; log.sort=True sorts the rows; if the clock went back (daylight
  saving), write times with their zone
"""
"""Logs, of which those with a + go on with `DATES`, and what is said of them."""


@pytest.mark.parametrize(("text", "message"), cases(BAD_LOGS))
def test_bad_logs_are_refused_in_one_line(text: str, message: str, tmp_path: Path) -> None:
    path = write(tmp_path, DATES + text[1:] if text.startswith("+") else text)
    line = refused(path, **({"log.columns": {}} if text.startswith("arrival") else {}))
    assert line.startswith(str(path))
    assert message in line
    assert "\n" not in line


def logged(folder: Path, times: list[str], **factors: object) -> list[object]:
    """Return the hours of a log with these times; sorted where it is said so."""
    rows = "".join(f"{time},p{k},1500\n" for k, time in enumerate(times))
    return players(write(folder, f"joined_at,account,mmr\n{rows}"), **factors)["arrival_hours"]


SUMMER = ["2026-03-28T22:30:00+01:00", "2026-03-29T01:59:00+01:00", "2026-03-29T03:01:00+02:00"]


def test_offsets_may_differ(tmp_path: Path) -> None:
    expected = [22.5, 24 + 119 / 60, 24 + 121 / 60]
    assert logged(tmp_path, SUMMER) == expected
    assert logged(tmp_path, SUMMER, **{"log.zone": "Europe/Berlin"}) == expected
    winter = ["2026-10-25T02:50:00+02:00", "2026-10-25T02:10:00+01:00", "2026-10-25T02:00Z"]
    assert logged(tmp_path, winter) == pytest.approx([17 / 6, 19 / 6, 4.0])
    mixed = ["2026-03-28T23:00:00Z", "2026-03-29T00:00+09:00", "2026-03-28T14:00-05:00"]
    assert logged(tmp_path, mixed, **{"log.sort": True}) == [15.0, 19.0, 23.0]


def test_a_zone_says_what_date_times_without_one_are(tmp_path: Path) -> None:
    times = ["2026-03-28 22:30", "2026-03-28T22:00Z"]
    assert "allowed: date-times all with or all without a zone; log.zone=" in refused(
        write(tmp_path, f"joined_at,account,mmr\n{times[0]},a,1\n{times[1]},b,1\n")
    )
    assert logged(tmp_path, times, **{"log.zone": "Europe/Berlin"}) == [22.5, 23.0]


def test_each_kind_of_bad_row_is_counted_with_an_example(tmp_path: Path) -> None:
    times = [f"2026-03-07T{hour:02}:{minute:02}Z" for hour in range(20) for minute in range(10)]
    dirty = {3: "soon", 50: "later", 70: "2026-03-07 08:00", 90: "9999-12-31T00:00Z"}
    times = [dirty.get(k, time) for k, time in enumerate(times)]
    rows = [f"{time},p,{1500 if k != 40 else 1e7}" for k, time in enumerate(times)]
    path = write(tmp_path, "\n".join(["joined_at,account,mmr", *rows]) + "\n")
    config = load_config(
        "valorant", {"arrivals": str(path), "log.columns": COLUMNS, "log.skip_bad_rows": True}
    )
    remarks = [one for one in build(config).warnings if "left out" in one]
    assert remarks[0].startswith(
        f"{path}: 5 bad rows left out (2 joined_at, 1 joined_at (far off), 1 joined_at (no zone),"
        f" 1 mmr (out of range)), the first: {path}:5: joined_at: 'soon'"
    )
    assert [one.split(": ")[1] for one in remarks[1:]] == [f"{path}:{k}" for k in (42, 72, 92)]
    most = {"log.skip_bad_rows": True, "log.max_bad_rows": 0.02}
    with pytest.raises(InputError) as error:
        players(path, **most)
    first, *others = error.value.args
    assert "5 of 200 rows are bad (2 joined_at, 1 joined_at (far off)" in first
    assert "more than 2 %: log.max_bad_rows=0.025 leaves them out all the same" in first
    assert len(others) == 4
    assert len(players(path, **{**most, "log.max_bad_rows": 0.025})["player"]) == 195


@pytest.mark.parametrize(
    "sentinel", ["9999-12-31T23:59:59Z", "1970-01-01T00:00Z", "0001-01-01T00:00Z"]
)
def test_sentinels_are_bad_rows(sentinel: str, tmp_path: Path) -> None:
    times = [f"2026-03-07T10:{minute:02}Z" for minute in range(30)]
    expected = logged(tmp_path, times[:10] + times[11:])
    times[10] = sentinel
    rows = "".join(f"{time},p,1\n" for time in times)
    found = refused(write(tmp_path, f"joined_at,account,mmr\n{rows}"))
    assert f":12: joined_at: '{sentinel}' is more than 10 years from the middle row" in found
    assert logged(tmp_path, times, **{"log.skip_bad_rows": True}) == expected


@pytest.mark.parametrize(
    ("times", "said"),
    [
        (["0", "700", "1400"], []),
        (
            ["1", "1001", "3001"],
            ["nobody arrives for 83.3 days from hour 1,001.0 on, the longest of 2 gaps of more"],
        ),
        (
            ["90000", "90001"],
            ["the first arrival is 10.3 years after hour 0 (hours are counted from the start of"],
        ),
    ],
)
def test_unusual_times_are_remarked_upon(times: list[str], said: list[str], tmp_path: Path) -> None:
    rows = "".join(f"{time},1500\n" for time in times)
    path = write(tmp_path, f"arrival_hours,rating\n{rows}")
    remarks = build(load_config("valorant", [f"arrivals={path}"])).warnings[1:]
    assert len(remarks) == len(said)
    for remark, start in zip(remarks, said, strict=True):
        assert remark.startswith(f"{path}: {start}")


@pytest.mark.long
def test_memory_does_not_grow_with_the_span_of_hours(tmp_path: Path) -> None:
    for times in ((0.0, 175_000.0), (99_000_000.0, 99_175_000.0)):
        rows = "".join(f"{time},1500\n" for time in times)
        path = write(tmp_path, f"arrival_hours,rating\n{rows}")
        tracemalloc.start()
        try:
            log = read_queue_log(path, LogFactors.model_validate({}), (1.0, 1.0, 1.0), None)
            BlockResampling(log, 1, None, path).draw(Streams(1), 1)
            came, left = np.array(times), np.full(2, times[1])
            queue = time_averages(came, left, times[1], lambda hours: hours % 24, 0, 24)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 120e6, peak
        assert queue == pytest.approx(175_000.0 / times[1], rel=1e-3)


NAMES = ["a;b", "c", '"d"', 'e"f', "g,h", "=1", "i j", "k"]


def test_names_with_semicolons_are_names(tmp_path: Path) -> None:
    with (tmp_path / "log.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["arrival_hours", "rating", "player"])
        writer.writerows([k / 10, 1500, name] for k, name in enumerate(NAMES))
    how = ("--set", f"arrivals={tmp_path / 'log.csv'}", "--set", "team_num=4")
    out = tmp_path / "out"
    made = valmatch("simulate", "valorant", *how, "--out", out)
    assert made.code == 0, made.err
    (match,) = folders.rows(out / "matches.csv")
    assert match["team_a"] == '"a;b";c;"""d""";e"f'
    cells = f"{match['team_a']};{match['team_b']}"
    assert next(csv.reader([cells], delimiter=";")) == NAMES
    assert [unmark(one["player"]) for one in folders.rows(out / "players.csv")] == NAMES


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
