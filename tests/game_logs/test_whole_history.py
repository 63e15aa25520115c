"""Paths of players in time on the command line and from Python: files, exit codes, bad input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import valmatch
from tests.oracles import whole_history as plain
from tests.oracles.bradley_terry import Game, Side
from tests.oracles.whole_history import PathWorld
from tests.support.command import refusal, success
from tests.support.command import valmatch as command
from tests.support.folders import rows
from tests.support.game_logs import ranked

PATHS = ("--system", "whole_history")
NAMES = ["ann", "bob", "cy", "dan", "eve"]
FIRST = np.datetime64("2024-01-01")


def season(seed: int, games: int = 60) -> tuple[str, PathWorld]:
    """Return a log with draws, home sides, weights and voters, and the world that it is of."""
    rng = np.random.default_rng(seed)
    lines, made = ["home,away,result,neutral,w,voter,time"], []
    days = np.sort(rng.integers(0, 90, games)).tolist()
    for day in days:
        a, b = rng.permutation(len(NAMES))[:2].tolist()
        result, ground = rng.choice(["1-0", "0-1", "1/2-1/2"]), rng.choice(["yes", "no"])
        weight, voter = int(rng.integers(1, 3)), int(rng.integers(0, 9))
        moment = f"{FIRST + day}T{rng.integers(0, 24):02d}:30:00Z"
        line = (NAMES[a], NAMES[b], result, ground, weight, voter, moment)
        lines.append(",".join(map(str, line)))
        score = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}[result]
        home = float(ground == "no")
        sides = [Side([a], score, [home]), Side([b], 1.0 - score, [0.0])]
        made.append(Game(sides, weight, voter))
    return "\n".join(lines) + "\n", PathWorld(made, days, 1, davidson=True, drift=9.0)


@pytest.mark.parametrize("clustered", [False, True])
def test_files_hold_what_the_dense_twin_finds(clustered: bool, tmp_path: Path) -> None:
    text, world = season(1)
    (tmp_path / "log.csv").write_text(text, encoding="utf-8")
    options = ["--set", "drift=9", "--weight", "w", "--out", tmp_path / "out"]
    options += ["--cluster", "voter"] * clustered
    success("rank", tmp_path / "log.csv", *PATHS, *options)
    expected = plain.solved(world)
    spread = plain.covariance(world, expected, clustered)
    now, together = plain.on_last_day(world, expected, spread)
    facts = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert facts["interval"] == ("sandwich" if clustered else "information")
    assert facts["last_day"] == str(FIRST + world.days[-1])
    assert facts["log_likelihood"] == pytest.approx(expected.log_likelihood, rel=1e-9)
    by_day = rows(tmp_path / "out" / "days.csv")
    assert [(row["player"], row["day"]) for row in by_day] == [
        (NAMES[player], str(FIRST + day)) for player, day in world.states
    ]
    errors = np.sqrt(np.diag(spread))
    for k, row in enumerate(by_day):
        assert float(row["rating"]) == pytest.approx(expected.place[k], abs=2e-6)
        assert float(row["std_error"]) == pytest.approx(errors[k], rel=1e-6)
        reach = facts["quantile"] * errors[k]
        assert float(row["high"]) == pytest.approx(expected.place[k] + reach, abs=1e-4)
        played = sum(
            day == world.states[k][1]
            and any(world.states[k][0] in side.players for side in game.sides)
            for game, day in zip(world.games, world.days, strict=True)
        )
        assert int(row["games"]) == played
    for row in rows(tmp_path / "out" / "ratings.csv"):
        k = NAMES.index(row["player"])
        assert float(row["rating"]) == pytest.approx(now[k], abs=2e-6)
        assert float(row["std_error"]) == pytest.approx(np.sqrt(together[k, k]), rel=1e-6)
        assert row["status"] == "rated"
    for row in rows(tmp_path / "out" / "differences.csv"):
        a, b = NAMES.index(row["player_a"]), NAMES.index(row["player_b"])
        variance = together[a, a] + together[b, b] - 2.0 * together[a, b]
        assert float(row["std_error"]) == pytest.approx(np.sqrt(variance), rel=1e-6)
    home, nu = rows(tmp_path / "out" / "coefficients.csv")
    n = len(world.states)
    assert float(home["value"]) == pytest.approx(expected.place[n], abs=2e-6)
    assert float(home["std_error"]) == pytest.approx(errors[n], rel=1e-5)
    assert float(nu["value"]) == pytest.approx(np.exp(expected.place[-1]), rel=1e-7)


LOG = "winner,loser,time\nann,bob,2024-01-01\nbob,cy,2024-01-03\ncy,ann,2024-02-01\n"


def test_numbers_are_days_or_hours(tmp_path: Path) -> None:
    found = []
    for name, unit, options in (("d", 1, ()), ("h", 24, ("--time-unit", "hours"))):
        times = [-1.5, 0.25, 0.75, 9.0]
        pairs = ["ann,bob", "bob,cy", "bob,ann", "cy,ann"]
        lines = [f"{pair},{unit * time}" for pair, time in zip(pairs, times, strict=True)]
        log = "\n".join(["winner,loser,time", *lines]) + "\n"
        (tmp_path / f"{name}.csv").write_text(log, encoding="utf-8")
        success("rank", tmp_path / f"{name}.csv", *PATHS, *options, "--out", tmp_path / name)
        found.append((tmp_path / name / "days.csv").read_bytes())
    assert found[0] == found[1]
    by_day = rows(tmp_path / "d" / "days.csv")
    days = "ann -2 1, ann 0 1, ann 9 1, bob -2 1, bob 0 2, cy 0 1, cy 9 1"
    assert ", ".join(f"{row['player']} {row['day']} {row['games']}" for row in by_day) == days


def test_games_to_come_are_less_sure_the_later_they_are(tmp_path: Path) -> None:
    options = ("--set", "drift=20", "--out", tmp_path / "out")
    ranked(tmp_path, LOG, *PATHS, *options)
    fixtures = "player_a,player_b,time\nann,bob,2024-01-15\nann,bob,2024-02-01\n"
    fixtures += "ann,bob,2024-03-02\nann,bob,\n"
    (tmp_path / "games.csv").write_text(fixtures, encoding="utf-8")
    done = success("predict", tmp_path / "out", tmp_path / "games.csv", "--json")
    games = [game["sides"][0] for game in json.loads(done.out)["games"]]
    assert games[0] == games[1] == games[3]
    differences = rows(tmp_path / "out" / "differences.csv")
    (pair,) = (row for row in differences if {row["player_a"], row["player_b"]} == {"ann", "bob"})
    lead = np.log(games[1]["win"] / (1.0 - games[1]["win"]))
    for game, since in ((games[1], 0.0), (games[2], 30.0)):
        error = np.sqrt(float(pair["std_error"]) ** 2 + 2.0 * 20.0**2 * since)
        reach = 1.959964 * error * np.log(10.0) / 400.0
        assert game["win_high"] == pytest.approx(1.0 / (1.0 + np.exp(-lead - reach)), abs=1e-6)
    (tmp_path / "games.csv").write_text("player_a,player_b,time\nann,bob,9\n", encoding="utf-8")
    said = refusal("predict", tmp_path / "out", tmp_path / "games.csv")
    assert "(allowed: the same in both)" in said
    damaged = tmp_path / "out" / "summary.json"
    damaged.write_text(damaged.read_text().replace('"drift": 20.0', '"drift": "x"'))
    assert command("predict", tmp_path / "out", "--pair", "ann,bob").code == 2


def test_python_says_what_the_command_does(tmp_path: Path) -> None:
    text, _ = season(2, 30)
    (tmp_path / "log.csv").write_text(text, encoding="utf-8")
    log, given = tmp_path / "log.csv", {"tune": "drift", "cluster": "voter", "bootstrap": 4}
    given |= {"parameters": {"mean": 1000.0}, "out": tmp_path / "a"}
    found = valmatch.rank_games(log, "whole_history", **given)
    options = ("--tune", "drift", "--cluster", "voter", "--bootstrap", "4", "--set", "mean=1000")
    done = success("rank", tmp_path / "log.csv", *PATHS, *options, "--out", tmp_path / "b")
    assert "drift of the greatest evidence" in done.out
    for name in ("ratings.csv", "days.csv", "bootstrap.csv", "summary.json", "differences.csv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert found.facts["tuning"]["evidence"] >= found.facts["tuning"]["unmoved"]
    assert found.columns()["player"][0] == found.players[0].player
    with pytest.raises(valmatch.InputError, match="system"):
        valmatch.rank_games(tmp_path / "log.csv", "elo")
    with pytest.raises(valmatch.InputError, match="tune"):
        valmatch.rank_games(tmp_path / "log.csv", tune="drift")


def test_paths_are_drawn_and_reported(tmp_path: Path) -> None:
    text, _ = season(3, 30)
    (tmp_path / "log.csv").write_text(text, encoding="utf-8")
    out = tmp_path / "out"
    success("rank", tmp_path / "log.csv", *PATHS, "--out", out)
    (axes,) = valmatch.plot(out, players=["ann", "eve"]).axes
    drawn = [np.asarray(line.get_ydata(), float) for line in axes.lines]
    ratings = [float(row["rating"]) for row in rows(out / "days.csv") if row["player"] == "ann"]
    assert len(drawn) == 2
    np.testing.assert_allclose(drawn[0], ratings)
    assert len(axes.collections) == 2
    page = valmatch.report([out])
    assert "Ratings of the best by day played" in page
    assert "drift of 3.7 points" in page
    with pytest.raises(valmatch.InputError, match="zoe"):
        valmatch.plot(out, players=["zoe"])
