"""Rating a log agrees with dictionaries and loops, however the log is cut, ordered or resumed."""

from __future__ import annotations

import json
import math
import os
import statistics
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trueskill

from tests.oracles.rate import (
    EloOracle,
    EveryPlayerOracle,
    Oracle,
    TrueSkillOracle,
    ZoneStatsOracle,
    read_long,
)
from tests.support.command import python, success, valmatch
from tests.support.folders import rows as table
from tests.support.game_logs import LONG, random_rows, write
from valmatch.errors import InputError
from valmatch.game_logs.rating import RatedLog, rate_games
from valmatch.game_logs.rating_files import times
from valmatch.game_logs.reading.tables import time_text
from valmatch.ratings.registry import system_named
from valmatch.storage.results import plain
from valmatch.text.dates import seconds_of

FILES = ("ratings.csv", "history.csv", "summary.json")
ORACLES = {"zonestats": ZoneStatsOracle, "elo": EloOracle, "trueskill": TrueSkillOracle}
MANY = {"zonestats": (2, 3, 5), "elo": (2, 3, 5), "trueskill": (2,)}


def published(system: str) -> dict[str, float]:
    return {one.name: one.published for one in system_named(system).parameters}


def contents(folder: Path) -> dict[str, str]:
    """Return the files of a rating, but for what is warned of how its log was read."""
    found = {name: (folder / name).read_text(encoding="utf-8") for name in FILES}
    summary = json.loads(found["summary.json"])
    summary.pop("warnings", None)
    return {**found, "summary.json": json.dumps(summary)}


def oracle_of(system: str, path: Path) -> Oracle:
    oracle: Oracle = ORACLES[system](published(system))
    oracle.play(read_long(path))
    return oracle


def assert_agrees(result: RatedLog, out: Path, oracle: Oracle, burn_in: int) -> None:
    """Every rating, every step and every score is the same float."""
    assert {
        row["player"]: (float(row["rating"]), int(row["games"])) for row in table(out / FILES[0])
    } == {player: (oracle.shown(player), n) for player, n in oracle.games.items()}
    assert [
        (row["game"], row["player"], float(row["rating_before"]), float(row["rating_after"]))
        for row in table(out / "history.csv")
    ] == oracle.history
    for name, least in (("all", 0), ("after_burn_in", burn_in)):
        got = plain(result.predictions[name])
        want = oracle.scores(least)
        assert {key: got[key] for key in want} == want


@pytest.mark.slow
@pytest.mark.parametrize("system", ORACLES)
@pytest.mark.parametrize("seed", range(4))
def test_agrees_exactly_with_dictionaries_and_loops(system: str, seed: int, tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", random_rows(seed, sides=MANY[system]))
    result = rate_games(path, system, out=tmp_path / "out", burn_in=3)
    assert_agrees(result, tmp_path / "out", oracle_of(system, path), 3)
    assert 0 < result.predictions["after_burn_in"].games < result.games == 60


def details(row: dict[str, str]) -> tuple[float, ...]:
    assert row["capped"] == str(int(float(row["scale"]) < 1))
    return tuple(float(row[name]) for name in ("score_per_hour", "rating_offset", "scale"))


@pytest.mark.parametrize("cap", ["most_distant", "every_player"])
def test_every_step_of_zonestats_is_written(cap: str, tmp_path: Path) -> None:
    """Each sum and each scale is that of dictionaries and loops, by both caps."""
    path = write(tmp_path / "log.csv", random_rows(22, sides=(2, 3, 5)))
    oracle = (ZoneStatsOracle if cap == "most_distant" else EveryPlayerOracle)(
        published("zonestats")
    )
    oracle.play(read_long(path))
    out = tmp_path / "out"
    result = rate_games(path, out=out, cap=cap, burn_in=3)
    assert_agrees(result, out, oracle, 3)
    history = table(out / "history.csv")
    assert [details(row) for row in history] == oracle.details
    assert {row["capped"] for row in history} == {"0", "1"}
    assert [*history[0]][-4:] == ["score_per_hour", "rating_offset", "scale", "capped"]
    summary = json.loads((out / "summary.json").read_text())
    assert summary.get("cap", "most_distant") == cap
    other = "every_player" if cap == "most_distant" else "most_distant"
    with pytest.raises(InputError, match=r"another run \(cap "):
        rate_games(path, out=out, cap=other, burn_in=3)


@pytest.mark.parametrize("kind", ["alone", "mixed", "disabled"])
@pytest.mark.parametrize("system", ORACLES)
def test_players_without_teams_and_disabled_ones(system: str, kind: str, tmp_path: Path) -> None:
    games = random_rows(7, sides=(2,) if system == "trueskill" or kind == "disabled" else (2, 3, 5))
    header = LONG + ",enabled" * (kind == "disabled")
    for k, game in enumerate(games):
        for j, row in enumerate(game):
            if kind == "disabled":
                row.append("no" if (k + 3 * j) % 5 == 0 else "yes")
            elif kind == "alone" or (k + j) % 3 == 0:
                row[2] = ""
        if kind != "disabled" and system == "trueskill":
            del game[2:]
    path = write(tmp_path / "log.csv", games, header)
    warnings: list[str] = []
    result = rate_games(path, system, out=tmp_path / "out", burn_in=3, warn=warnings.append)
    assert_agrees(result, tmp_path / "out", oracle_of(system, path), 3)
    assert (result.unrated_games == 60 - result.games > 0) == (kind == "disabled")
    assert any("games not rated: fewer than" in one for one in warnings) == (kind == "disabled")


@pytest.mark.parametrize("system", ORACLES)
def test_order_of_rows_within_a_game_changes_no_byte(system: str, tmp_path: Path) -> None:
    games = random_rows(9, sides=MANY[system])
    rate_games(write(tmp_path / "a.csv", games), system, out=tmp_path / "a")
    turned = [game[::-1] for game in games]
    rate_games(write(tmp_path / "b.csv", turned), system, out=tmp_path / "b")
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


@pytest.mark.slow
def test_time_decides_the_order(tmp_path: Path) -> None:
    games = random_rows(12)
    rate_games(write(tmp_path / "a.csv", games), out=tmp_path / "a")
    for header, stamp in (
        ("time", "{:.1f}"),
        ("played_at", "2024-01-01 10:{:02.0f}:00"),
        ("played_at", "2024-01-01T11:{:02.0f}:00+01:00"),
    ):
        # Pairs of games share a time and stay in the order of the file.
        timed = [[[*row, stamp.format(k // 2)] for row in game] for k, game in enumerate(games)]
        shuffled = [timed[k + j] for k in range(58, -1, -2) for j in (0, 1)]
        for number, order in enumerate((timed, shuffled)):
            path = write(tmp_path / "b.csv", order, f"{LONG},{header}")
            out = tmp_path / f"{stamp[:12]}{number}"
            rate_games(path, columns={"time": header}, out=out)
            assert all("last_game" in row for row in table(out / "ratings.csv"))
            assert [row["time"] for row in table(out / "history.csv")] == [
                stamp.format(k // 2) if header == "time" else f"2024-01-01 10:{k // 2:02d}:00"
                for k, game in enumerate(games)
                for _ in game
            ]
            assert untimed(tmp_path / "a") == untimed(out)


def untimed(folder: Path) -> tuple[object, ...]:
    """Return what the files of a rating hold besides times."""
    rows = [row for name in FILES[:2] for row in table(folder / name)]
    timed = ("time", "last_game")
    kept = [[cell for name, cell in row.items() if name not in timed] for row in rows]
    return kept, contents(folder)["summary.json"]


def test_compiled_and_interpreted_write_the_same_bytes(tmp_path: Path) -> None:
    games = random_rows(15, games=25, sides=(2, 3))
    path = write(tmp_path / "log.csv", games)
    duels = write(tmp_path / "duels.csv", random_rows(17, games=25))
    program = (
        "import sys; from pathlib import Path; from valmatch.game_logs.rating import rate_games\n"
        "log, duels, out = map(Path, sys.argv[1:])\n"
        "for system in ('zonestats', 'elo', 'glicko', 'glicko2', 'elo_margin'):\n"
        "    rate_games(log, system, out=out / system)\n"
        "rate_games(duels, 'trueskill', out=out / 'trueskill')\n"
    )
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    assert not python("-c", program, path, duels, tmp_path / "twin", env=environment).returncode
    for system in (*ORACLES, "glicko", "glicko2", "elo_margin"):
        rate_games(duels if system == "trueskill" else path, system, out=tmp_path / system)
        assert contents(tmp_path / system) == contents(tmp_path / "twin" / system)


def test_scores_by_hand(tmp_path: Path) -> None:
    """A scale at which 32 points make odds of 5, so that the first winner leads by 5 in 6."""
    rows = [[["a", "b", "no"]], [["b", "a", "no"]], [["a", "b", "yes"]]]
    path = write(tmp_path / "log.csv", rows, "winner,loser,draw")
    result = rate_games(path, "elo", parameters={"scale": 32.0 / math.log10(5.0)}, burn_in=1)
    second = 5 / 6  # of a, who then loses K * 5/6 = 26.67 of the 16 points that were won
    third = 1 / (1 + 5 ** ((2 * 32 * second - 32) / 32))  # of a again, who leads no more
    all_, later = result.predictions["all"], result.predictions["after_burn_in"]
    assert (all_.games, all_.decided, later.games, later.decided) == (3, 2, 2, 1)
    assert (all_.accuracy, later.accuracy) == (0.25, 0.0)  # without a favourite it is half right
    briers = [0.25, second**2, (third - 0.5) ** 2]
    losses = [math.log(2), math.log(6), -0.5 * math.log(third * (1 - third))]
    assert all_.brier_score == pytest.approx(sum(briers) / 3, rel=1e-12)
    assert all_.log_loss == pytest.approx(sum(losses) / 3, rel=1e-12)
    assert later.log_loss == pytest.approx(sum(losses[1:]) / 2, rel=1e-12)
    error = statistics.stdev(losses) / math.sqrt(3)
    assert all_.log_loss_std_error == pytest.approx(error, rel=1e-9)
    # The favourite's side of each prediction, in bins of 0.05.
    assert [one.low for one in all_.calibration] == [0.5, 0.7, 0.8]
    assert [one.predicted for one in all_.calibration] == pytest.approx([0.5, 1 - third, second])
    assert [one.observed for one in all_.calibration] == [0.5, 0.5, 0.0]


def rated_by(path: Path, newcomer: Callable[[], Any], rate: Callable[..., Any]) -> dict[str, Any]:
    """Return what a package rates the players of a log."""
    known: dict[str, Any] = {}
    for game in read_long(path):
        teams = [[known.get(row.player) or newcomer() for row in side] for side in game.sides]
        new = rate(teams, ranks=[-points for points in game.points()])
        for side, ratings in zip(game.sides, new, strict=True):
            known.update(zip([row.player for row in side], ratings, strict=True))
    return known


@pytest.mark.slow
def test_openskill_is_the_library(tmp_path: Path) -> None:
    models = pytest.importorskip("openskill.models")
    path = write(tmp_path / "log.csv", random_rows(18, sides=(2, 3)))
    ranking = rate_games(path, "openskill").ranking
    model = models.PlackettLuce()
    got = dict(zip(ranking.players, ranking.state["mu"], strict=True))
    assert got == {name: one.mu for name, one in rated_by(path, model.rating, model.rate).items()}


@pytest.mark.parametrize("sides", [(2,), (2, 3, 5)])
def test_trueskill_is_the_package(sides: tuple[int, ...], tmp_path: Path) -> None:
    """A whole log of teams, with draws, by the package that passes messages."""
    environment = trueskill.TrueSkill(draw_probability=0.1, backend="mpmath")
    path = write(tmp_path / "log.csv", random_rows(23, 30, sides=sides))
    ranking = rate_games(path, "trueskill").ranking
    rate = partial(environment.rate, min_delta=1e-12)
    known = rated_by(path, environment.create_rating, rate)
    assert sum(ranking.draws) > 0
    for name in ("mu", "sigma"):
        got = dict(zip(ranking.players, ranking.state[name], strict=True))
        want = {player: getattr(one, name) for player, one in known.items()}
        assert got == pytest.approx(want, rel=1e-9)


def test_interruption_leaves_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", random_rows(20))

    def interrupt(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rate_games(path, out=tmp_path / "new" / "out", progress=interrupt)
    assert not (tmp_path / "new").exists()


@pytest.mark.slow
@pytest.mark.parametrize("system", ["zonestats", "elo", "trueskill", "glicko2"])
def test_pieces_change_no_byte(
    system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "log.csv", random_rows(21, sides=(2, 4)))
    rate_games(path, system, out=tmp_path / "all")
    for pairs in (1, 17):
        monkeypatch.setattr(type(system_named(system)), "pairs_at_once", pairs)
        rate_games(path, system, out=tmp_path / str(pairs))
        assert contents(tmp_path / str(pairs)) == contents(tmp_path / "all")


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


def test_games_rated_already_are_refused(tmp_path: Path) -> None:
    """The same log, and one that has grown, also two periods later."""
    games = random_rows(5, 120)
    week = [write(tmp_path / f"{k}.csv", games[40 * k : 40 * (k + 1)]) for k in range(3)]
    grown = write(tmp_path / "grown.csv", games[:60])
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
