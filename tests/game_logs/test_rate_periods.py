"""Ratings go on from period to period, by the same parameters, and rate no period twice."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from tests.support.command import success, valmatch
from tests.support.folders import rows as table
from tests.support.game_logs import LONG, random_rows, write
from valmatch.errors import InputError
from valmatch.game_logs.rating import rate_games
from valmatch.game_logs.rating_files import times
from valmatch.game_logs.reading.cells import time_text
from valmatch.text.durations import seconds_of

pytestmark = pytest.mark.usefixtures("command_line_words")

PERIODS = 12

DATED = f"{LONG},time"

Rows = list[list[str]]


def season(seed: int, games: int = 120, hours: int = 17) -> list[Rows]:
    """Return games of a season, each some hours after the one before."""
    start = datetime(2024, 1, 1, 20)
    return [
        [[*row, f"{start + timedelta(hours=hours * k)}"] for row in game]
        for k, game in enumerate(random_rows(seed, games))
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("system", "parameters"),
    [
        ("zonestats", {"T": 90.0}),
        ("elo", {"K": 20.0}),
        ("trueskill", {"beta": 5.0}),
        ("glicko2", {"period": 604800.0}),
        ("glicko", {"period": 604800.0}),
        ("openskill", {"beta": 5.0}),
    ],
)
def test_periods_are_one_log(system: str, parameters: dict[str, float], tmp_path: Path) -> None:
    """Only the first period is told system and parameters."""
    games = season(1)
    log = write(tmp_path / "all.csv", games, DATED)
    rate_games(log, system, parameters=parameters, out=tmp_path / "all")
    history: list[dict[str, str]] = []
    for k in range(PERIODS):
        some = games[10 * k : 10 * (k + 1)]
        out, before = tmp_path / f"{k}", tmp_path / f"{k - 1}"
        week = write(tmp_path / f"{k}.csv", some, DATED)
        if k == 0:
            rate_games(week, system, parameters=parameters, out=out)
        else:
            rated = rate_games(week, ratings=before, out=out)
            assert (rated.system, {**rated.parameters, **parameters}) == (system, rated.parameters)
        history += table(out / "history.csv")
    last = (tmp_path / f"{PERIODS - 1}" / "ratings.csv").read_bytes()
    assert last == (tmp_path / "all" / "ratings.csv").read_bytes()
    assert history == table(tmp_path / "all" / "history.csv")


def test_wins_losses_draws_and_the_last_game_are_counted(tmp_path: Path) -> None:
    """Who shares the best result of a game has drawn, whoever is behind has lost."""
    path = tmp_path / "log.csv"
    path.write_text(
        "game,player,team,score,time\n"
        "1,a,x,3,2024-01-01\n1,b,y,2,2024-01-01\n1,c,z,1,2024-01-01\n"
        "2,a,x,3,2024-01-02 18:30\n2,b,y,3,2024-01-02 18:30\n2,c,z,1,2024-01-02 18:30\n"
        "3,c,,3,2024-01-03\n3,b,,1,2024-01-03\n"
    )
    result = rate_games(path, "elo", out=tmp_path / "out")
    rows = {row["player"]: row for row in table(tmp_path / "out" / "ratings.csv")}
    counts = {n: [int(row[c]) for c in ("wins", "losses", "draws")] for n, row in rows.items()}
    assert counts == {"a": [1, 0, 1], "b": [0, 2, 1], "c": [1, 2, 0]}
    last = {"a": "2024-01-02 18:30:00", "b": "2024-01-03", "c": "2024-01-03"}
    assert {name: row["last_game"] for name, row in rows.items()} == last
    assert result.ranking.change == [None, None, None]
    more = write(tmp_path / "more.csv", [[["a", "d", "2024-01-04"]]], "winner,loser,time")
    later = rate_games(more, ratings=tmp_path / "out").ranking
    change = dict(zip(later.players, later.change, strict=True))
    before = dict(zip(result.ranking.players, result.ranking.ratings, strict=True))
    assert change == {"a": later.ratings[0] - before["a"], "b": 0.0, "c": 0.0, "d": None}
    assert change["a"] is not None
    assert change["a"] > 0.0


def test_fitted_parameters_travel_and_are_named(tmp_path: Path) -> None:
    # Who has the lower number wins, so that a large K predicts best.
    start = datetime(2024, 1, 1)
    games = [
        [[f"p{k % 5}", f"p{k % 5 + k % 3 + 1}", f"{start + timedelta(hours=k)}"]]
        for k in range(240)
    ]
    header = "winner,loser,time"
    first = write(tmp_path / "a.csv", games[:200], header)
    fitted = rate_games(first, "elo", tune=["K"], out=tmp_path / "a").parameters
    assert fitted["K"] != 32.0
    second = write(tmp_path / "b.csv", games[200:], header)
    said: list[str] = []
    later = rate_games(second, ratings=tmp_path / "a", out=tmp_path / "b", warn=said.append)
    assert later.parameters == fitted
    assert said == [f"K = {fitted['K']!r}: as in {tmp_path / 'a' / 'manifest.json'}"]
    assert json.loads((tmp_path / "b" / "manifest.json").read_text())["parameters"] == fitted
    said.clear()
    options = {"parameters": {"K": 32.0}, "ratings": tmp_path / "a", "warn": said.append}
    assert rate_games(second, **options).parameters["K"] == 32.0  # type: ignore[arg-type]
    assert said == []


def test_cap_travels(tmp_path: Path) -> None:
    games = season(3)
    first = write(tmp_path / "a.csv", games[:60], DATED)
    second = write(tmp_path / "b.csv", games[60:], DATED)
    rate_games(first, cap="every_player", out=tmp_path / "a")
    assert rate_games(second, ratings=tmp_path / "a").cap == "every_player"
    assert rate_games(second, ratings=tmp_path / "a", cap="most_distant").cap == "most_distant"


@pytest.mark.slow
@pytest.mark.parametrize("dated", [True, False])
def test_games_rated_already_are_refused(dated: bool, tmp_path: Path) -> None:
    """The same log, and one that has grown, also two periods later."""
    games = season(5) if dated else random_rows(5, 120)
    header = DATED if dated else LONG
    week = [write(tmp_path / f"{k}.csv", games[40 * k : 40 * (k + 1)], header) for k in range(3)]
    grown = write(tmp_path / "grown.csv", games[:60], header)
    rate_games(week[0], "elo", out=tmp_path / "a")
    rate_games(week[1], ratings=tmp_path / "a", out=tmp_path / "b")
    rate_games(week[2], ratings=tmp_path / "b", out=tmp_path / "c")
    for log, ratings, what in (
        (week[0], "a", "was rated already"),
        (week[0], "c", "was rated already"),
        (grown, "a", "begins with what was rated already"),
        (week[1], "c", "was rated already"),
    ):
        out = tmp_path / "new"
        done = valmatch("rate", log, "--ratings", tmp_path / ratings, "--out", out)
        path = tmp_path / ratings / "ratings.csv"
        assert (done.code, done.out) == (2, "")
        assert done.err == f"{log}: {what}, for {path} (--again rates it once more)\n"
        assert not out.exists()
    success("rate", week[0], "--ratings", tmp_path / "c", "--again", "-q")
    assert rate_games(week[2], ratings=tmp_path / "b", out=tmp_path / "c").games == 40


def test_games_of_earlier_dates_are_refused(tmp_path: Path) -> None:
    games = season(6)
    rate_games(write(tmp_path / "a.csv", games[:60], DATED), "elo", out=tmp_path / "a")
    last = games[59][0][-1]
    overlap = write(tmp_path / "b.csv", games[59:], DATED)
    with pytest.raises(InputError) as error:
        rate_games(overlap, ratings=tmp_path / "a", out=tmp_path / "b")
    path = tmp_path / "a" / "ratings.csv"
    assert str(error.value) == (
        f"{overlap}: time: its first game was at {last}, but {path} has rated games up to {last}"
        " (--again rates it all the same)"
    )
    assert not (tmp_path / "b").exists()
    assert rate_games(overlap, ratings=tmp_path / "a", again=True).games == 61
    assert rate_games(write(tmp_path / "c.csv", games[60:], DATED), ratings=path).games == 60


def test_dates_and_numbers_are_not_compared(tmp_path: Path) -> None:
    rate_games(write(tmp_path / "a.csv", season(7), DATED), "elo", out=tmp_path / "a")
    rows = [[["p1", "p2", "7"]]]
    numbers = write(tmp_path / "b.csv", rows, "winner,loser,time")
    with pytest.raises(InputError, match=r"time: holds numbers, last_game of .* dates"):
        rate_games(numbers, ratings=tmp_path / "a", again=True)


def test_times_are_written_as_they_are_read() -> None:
    rng = np.random.default_rng(1)
    whole = np.floor(rng.uniform(-6.2e10, 2.5e11, 2000))  # from year 5 to 9892
    days = 86400.0 * np.floor(whole / 86400.0)
    for values in (whole, np.concatenate([days, whole]), whole + 0.25):
        texts = [time_text(value, dated=True) for value in values.tolist()]
        assert [seconds_of(text) for text in texts] == values.tolist()
        assert times(values, dated=True) == texts
    assert time_text(0.0, dated=True) == "1970-01-01"
    assert time_text(datetime(2024, 2, 16, 17, tzinfo=UTC).timestamp(), True) == (
        "2024-02-16 17:00:00"
    )
    assert (time_text(7.5, dated=False), time_text(float("nan"), dated=True)) == ("7.5", "")
