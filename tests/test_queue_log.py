"""Queue logs of one's own: names of columns, date-times, dirty rows, several days."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from tests.command import Outcome, valmatch
from valmatch.config.loading import load
from valmatch.errors import InputError
from valmatch.experiments.simulate import simulate
from valmatch.simulator import build, record

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
    day = simulate(load("valorant", {"arrivals": str(path), **given}))
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
        config = load("valorant", {"arrivals": str(path), "log.columns": COLUMNS, **horizon})
        model = build(config)
        queue = dict(zip(model.responses.names, record(model, 1, 0).responses, strict=True))
        waited = sum(end - hour for hour in HOURS)
        assert queue["avg_queue_length"] == pytest.approx(waited / end)


def test_a_short_log_keeps_the_day_of_the_config(tmp_path: Path) -> None:
    path = write(tmp_path, "arrival_hours,rating\n1,1500\n2,1500\n")
    config = load("valorant", [f"arrivals={path}"])
    assert config.factors.model_dump()["horizon"] == 24.0
    assert "log" not in config.factors.model_dump()


def test_the_options_read_a_dirty_log(tmp_path: Path) -> None:
    lines = DATES.replace(",", ";").splitlines()
    dirty = [lines[0], lines[3], lines[1], "gestern;dan;1500;eu", lines[4], "x;y", lines[2]]
    dirty.insert(3, "2026-03-07T20:00:00+01:00;eve;unrated;eu")
    path = write(tmp_path, "\n".join(dirty) + "\n")
    how = ("--columns", NAMED, "--separator", ";", "--skip-bad-rows", "--sort-rows")
    out = tmp_path / "out"
    command = ("simulate", "valorant", "--set", f"arrivals={path}", "--set", "team_num=1")
    made = valmatch(*command, *how, "--out", out)
    assert made.code == 0, made.err
    with (out / "players.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["player"] for row in rows] == ["ann", "bob", "ann", "cy"]
    assert [float(row["arrival_hours"]) for row in rows] == HOURS
    with (out / "matches.csv").open() as file:
        matches = list(csv.DictReader(file))
    assert [(one["team_a"], one["team_b"]) for one in matches] == [("ann", "bob"), ("ann", "cy")]
    assert (
        f"{path}: 3 bad rows left out (1 joined_at, 1 mmr, 1 number of cells), the first: {path}:4:"
    ) in made.err
    assert made.err.count("column region not used") == 1
    assert "hours are counted from 2026-03-07 00:00+01:00" in made.err
    config = json.loads((out / "manifest.json").read_text())["config"]["factors"]
    assert config["log"]["columns"] == COLUMNS
    assert config["horizon"] is None


def test_every_command_takes_the_options(tmp_path: Path) -> None:
    path = write(tmp_path, DATES)
    how = ("--set", f"arrivals={path}", "--columns", NAMED, "--set", "team_num=1")
    for command in (
        ("replicate", "valorant", "-n", "2"),
        ("replicate", "valorant", "-n", "2", "--sweep", "player_diff=5,50"),
        ("compare", "valorant", "valorant-start", "-n", "2"),
    ):
        made = valmatch(*command, *how)
        assert made.code == 0, made.err
        assert made.err.count("column region not used") == 1


def test_the_same_in_a_config(tmp_path: Path) -> None:
    write(tmp_path, DATES.replace(",", ";"))
    config = tmp_path / "mine.yaml"
    config.write_text(
        "model: valorant\narrivals: log.csv\nfactors:\n  team_num: 1\n  log:\n"
        "    columns: {arrival_hours: joined_at, rating: mmr, player: account}\n"
        "    separator: ;\n"
    )
    assert simulate(load(config))["players"]["arrival_hours"].tolist() == HOURS


def row(text: str) -> str:
    return DATES + text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            row("tomorrow,ann,1,eu\n"),
            ":6: joined_at: 'tomorrow' (allowed: a finite number of",
        ),
        (row("2026-03-32T06:00:00+01:00,a,1,eu\n"), ":6: joined_at: '2026-03-32T06:00:00+01:00'"),
        (row("2026-03-08T09:00:00,a,1,eu\n"), ":6: joined_at: '2026-03-08T09:00:00' has no zone"),
        (row("2026-03-08T09:00Z,a,1,eu\n"), "another zone than the rows above (allowed: one zone"),
        (row("33.5,a,1,eu\n"), ":6: joined_at: '33.5' (allowed: date-times, as in the rows above)"),
        (
            row("2026-03-08T05:00:00+01:00,a,1,eu\n"),
            "'2026-03-08T05:00:00+01:00' is before the row",
        ),
        (
            row("2026-03-08T09:00:00+01:00,a,gold,eu\n"),
            ":6: mmr: 'gold' (allowed: a finite",
        ),
        (row("2026-03-08T09:00:00+01:00,,1,eu\n"), ":6: account: empty (allowed: 1 to 100 char"),
        (row("2026-03-08T09:00:00+01:00,a;b,1,eu\n"), ":6: account: 'a;b' (allowed: 1 to 100 char"),
        (row("2026-03-08T09:00:00+01:00,a\n"), ":6: 2 cells (the header has 4)"),
        ("joined_at,account,mmr\n1e17,a,1\n1e17,a,1\n", ":2: joined_at: '1e17' (allowed: years 1"),
        (DATES.replace(",", ";"), ":1: the header is one cell with semicolons in it"),
        (DATES.replace("mmr", "elo"), ":1: log.columns rating=mmr: no column 'mmr'"),
        ("joined_at,account,mmr\n1,a,1\n", ": 1 player (allowed: two or more"),
        ("joined_at,account,mmr\n", ": no players (at least one row"),
    ],
)
def test_bad_logs_are_refused_in_one_line(text: str, message: str, tmp_path: Path) -> None:
    path = write(tmp_path, text)
    found = refused(path)
    assert found.startswith(str(path))
    assert message in found


def test_a_clock_that_goes_back_is_named(tmp_path: Path) -> None:
    text = "joined_at,account,mmr\n2026-10-25 02:50,a,1\n2026-10-25 02:10,b,1\n"
    found = refused(write(tmp_path, text))
    assert ":3: joined_at: '2026-10-25 02:10' is before the row above" in found
    assert "the clock went back (daylight saving), write times with their zone" in found


@pytest.mark.parametrize(
    ("factors", "message"),
    [
        ({"log.columns": {"ratng": "mmr"}}, "'ratng' is no meaning (did you mean rating?)"),
        ({"log.zone": "Europe/Berlyn"}, "'Europe/Berlyn' is no time zone"),
        ({"log.separator": "dot"}, "'dot' is not allowed (allowed: comma or semicolon or tab"),
    ],
)
def test_bad_ways_to_read_a_log(factors: dict[str, object], message: str, tmp_path: Path) -> None:
    assert message in refused(write(tmp_path, DATES), **factors)


def test_nothing_reads_a_log_that_is_not_there() -> None:
    with pytest.raises(InputError, match="there is no queue log to be read"):
        load("valorant", {"log.sort": True})


def test_bad_rows_alone_are_no_log(tmp_path: Path) -> None:
    path = write(tmp_path, "joined_at,account,mmr\nnever,a,1\n")
    assert "1 bad row, the first: " in refused(path, **{"log.skip_bad_rows": True})


def test_bad_input_writes_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, row("tomorrow,ann,1,eu\n"))
    out = tmp_path / "out"
    made: Outcome = valmatch(
        "simulate", "valorant", "--set", f"arrivals={path}", "--columns", NAMED, "--out", out
    )
    assert made.code == 2
    assert made.err.startswith(f"{path}:6: joined_at: 'tomorrow'")
    assert made.err.endswith("; --skip-bad-rows leaves bad rows out\n")
    assert not out.exists()


def test_ids_do_not_change_what_happens(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    times = np.sort(rng.uniform(0.0, 30.0, 400))
    ratings = rng.normal(1500.0, 200.0, 400)
    plain = "".join(f"{t!r},{r!r}\n" for t, r in zip(times.tolist(), ratings.tolist(), strict=True))
    path = write(tmp_path, f"arrival_hours,rating\n{plain}")
    model = build(load("valorant", [f"arrivals={path}", "team_num=2"]))
    first = record(model, 1, 0)
    named = "".join(f"p{k % 90},{line}\n" for k, line in enumerate(plain.splitlines()))
    path = write(tmp_path, f"player,arrival_hours,rating\n{named}")
    second = record(build(load("valorant", [f"arrivals={path}", "team_num=2"])), 1, 0)
    assert first.responses.tobytes() == second.responses.tobytes()
    teams = [
        ";".join(f"p{int(player) % 90}" for player in team.split(";"))
        for team in first.tables[1].columns["team_a"]
    ]
    assert second.tables[1].columns["team_a"].tolist() == teams
