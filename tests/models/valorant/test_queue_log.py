"""Queue logs of one's own: names of columns, date-times, clocks, dirty rows, several days."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from tests.support import folders
from tests.support.case_tables import cases
from tests.support.command import valmatch
from valmatch.config.loading import load_config
from valmatch.errors import InputError
from valmatch.execution.chunks import build, record
from valmatch.experiments.simulate import Simulation, simulate
from valmatch.inputs.csv_reader import joined_names
from valmatch.models.valorant.measures import WEEK
from valmatch.models.valorant.queue_log import wall_hours
from valmatch.text.terminal import Notice

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


def played(path: Path, **factors: object) -> Simulation:
    given = {"log.columns": COLUMNS, "team_num": 1, **factors}
    return simulate(load_config("valorant", {"arrivals": str(path), **given}))


def players(path: Path, **factors: object) -> dict[str, list[object]]:
    columns = played(path, **factors)["players"].items()
    return {name: column.tolist() for name, column in columns}


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
        f"{path}: 3 invalid rows skipped (1 joined_at, 1 mmr, 1 number of cells), the first:"
        f" {path}:4:"
    ) in made.err
    assert made.err.count("column region not used") == 1
    assert "hours are counted from 2026-03-07 00:00+01:00" in made.err
    config = json.loads((out / "manifest.json").read_text())["config"]["factors"]
    assert config["log"]["columns"] == COLUMNS
    assert config["horizon"] is None


BAD_LOGS = r"""
+tomorrow,ann,1,eu\n | :6: joined_at: 'tomorrow' (allowed: a finite number of
+2026-03-08T05:00:00+01:00,a,1,eu\n | '2026-03-08T05:00:00+01:00' is before the row
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


def test_each_kind_of_bad_row_is_counted_with_an_example(tmp_path: Path) -> None:
    times = [f"2026-03-07T{hour:02}:{minute:02}Z" for hour in range(20) for minute in range(10)]
    dirty = {3: "soon", 50: "later", 70: "2026-03-07 08:00", 90: "9999-12-31T00:00Z"}
    times = [dirty.get(k, time) for k, time in enumerate(times)]
    rows = [f"{time},p,{1500 if k != 40 else 1e7}" for k, time in enumerate(times)]
    path = write(tmp_path, "\n".join(["joined_at,account,mmr", *rows]) + "\n")
    config = load_config(
        "valorant", {"arrivals": str(path), "log.columns": COLUMNS, "log.skip_bad_rows": True}
    )
    remarks = [one for one in build(config).warnings if "skipped" in one]
    assert remarks[0].startswith(
        f"{path}: 5 invalid rows skipped (2 joined_at, 1 joined_at (far off), 1 joined_at (no"
        f" zone), 1 mmr (out of range)), the first: {path}:5: joined_at: 'soon'"
    )
    assert [one.split(": ")[1] for one in remarks[1:]] == [f"{path}:{k}" for k in (42, 72, 92)]
    most = {"log.skip_bad_rows": True, "log.max_bad_rows": 0.02}
    with pytest.raises(InputError) as error:
        players(path, **most)
    first, *others = error.value.args
    assert "5 of 200 rows are invalid (2 joined_at, 1 joined_at (far off)" in first
    assert "more than 2 %: log.max_bad_rows=0.025 skips them all the same" in first
    assert len(others) == 4
    assert len(players(path, **{**most, "log.max_bad_rows": 0.025})["player"]) == 195


def test_names_with_semicolons_are_names() -> None:
    names = ["a;b", "c", '"d"', 'e"f', "g,h"]
    assert next(csv.reader([joined_names(names)], delimiter=";")) == names


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


# Duplicates, accounts that queue again, unknown ratings, rows of others.

LOG = """\
joined_at,account,mmr,status
1.0,ann,1500,matched
1.0,ann,1500,matched
1.1,bob,-1,Matched
1.2,cy,1480,cancelled
1.3,ann,1510,matched
1.4,dan,-1,matched
1.5,eve,1490,matched
"""


def counts(result: Simulation) -> dict[str, int]:
    return {notice.kind: notice.n for notice in map(Notice.of, result.warned)}


def test_duplicates_are_left_out_and_what_is_doubtful_is_said(tmp_path: Path) -> None:
    result = played(write(tmp_path, LOG))
    assert result["players"]["player"].tolist() == ["ann", "bob", "cy", "ann", "dan", "eve"]
    found = counts(result)
    assert found["duplicate_rows"] == 1
    assert found["queued_again"] == 1
    assert found["doubtful_ratings"] == 2
    assert found["doubtful_status"] == 2
    text = " ".join(result.warned)
    assert "1 exact duplicate of other rows skipped" in text
    assert "log.missing=[-1]" in text
    assert "'matched' 4, 'Matched' 1, 'cancelled' 1" in text
    assert "log.where.status=matched" in text


@pytest.mark.parametrize(
    "where", ["matched", ["MATCHED", "x"], {"not": "cancelled"}, {"not": ["cancelled", 3]}]
)
def test_rows_of_a_status_are_read_alone(where: object, tmp_path: Path) -> None:
    how = {"log.where": {"status": where}, "log.missing": -1}
    result = played(write(tmp_path, LOG), **how)
    assert result["players"]["player"].tolist() == ["ann", "bob", "ann", "dan", "eve"]
    found = counts(result)
    assert found["rows_not_wanted"] == 1
    assert found["ratings_missing"] == 2
    assert not {"doubtful_status", "doubtful_ratings"} & found.keys()


def test_unknown_ratings_are_those_of_the_account_or_of_a_row_far_off(tmp_path: Path) -> None:
    text = "joined_at,account,mmr\n1,a,1\n2,b,9999\n3,a,9999\n4,c,3\n5,d,4\n6,b,9999\n7,e,7\n"
    path = write(tmp_path, text)
    result = played(path, **{"log.missing": [9999]})
    # a has 1 known; b none: of the known rows 1, 4, 5, 7 that two further on is taken.
    assert result["players"]["rating"].tolist() == [1, 7, 1, 3, 4, 3, 7]
    with pytest.raises(InputError, match="no rating is known"):
        played(path, **{"log.missing": [1, 3, 4, 7, 9999]})


@pytest.mark.parametrize(
    "matching", ["fifo", "team_first", pytest.param("joint", marks=pytest.mark.slow)]
)
def test_no_account_meets_itself(matching: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    hours = np.sort(rng.uniform(0, 24 * 3, 600))
    accounts = rng.integers(40, size=600)
    rows = "".join(
        f"{hour:.4f},p{account},{1500 + 10 * account}\n"
        for hour, account in zip(hours, accounts, strict=True)
    )
    path = write(tmp_path, f"joined_at,account,mmr\n{rows}")
    given = {"arrivals": str(path), "log.columns": COLUMNS, "team_num": 2, "matching": matching}
    for further in ({}, {"log.resample": "block", "log.block_hours": 12}, {"patience_minutes": 90}):
        for replication in (1, 2):
            result = simulate(
                load_config("valorant", {**given, **further}), replication=replication
            )
            matches = result["matches"]
            assert len(matches["match"]) > 20
            for a, b in zip(matches["team_a"], matches["team_b"], strict=True):
                members = f"{a};{b}".split(";")
                assert len({*members}) == 4
