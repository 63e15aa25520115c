"""Rating a whole log at once on the command line: known answers, files, paths in time."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

import valmatch as library
from tests.oracles import whole_history as plain
from tests.oracles.bradley_terry import Game, Side
from tests.oracles.whole_history import PathWorld
from tests.support.command import python, refusal, success, valmatch
from tests.support.folders import rows
from tests.support.game_logs import ranked

FIXTURES = Path(__file__).parent.parent / "fixtures" / "batch_ratings"


@pytest.mark.parametrize("name", ["anchored", "squads"])
def test_known_answers(name: str, tmp_path: Path) -> None:
    answer = json.loads((FIXTURES / f"{name}.json").read_text(encoding="utf-8"))
    options = [
        FIXTURES / option if str(option).endswith(".csv") else str(option)
        for option in answer["options"]
    ]
    log = FIXTURES / answer["log"]
    done = valmatch("rank", log, *options, "--out", tmp_path / "out")
    assert done.code == answer["exit"], done.err
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert summary["interval"] == answer["interval"]
    assert summary["quantile"] == pytest.approx(answer["quantile"], rel=1e-6)
    assert summary["critical"] == pytest.approx(answer["critical"], rel=1e-6)
    found = {row["player"]: row for row in rows(tmp_path / "out" / "ratings.csv")}
    assert set(found) == set(answer["players"])
    for player, expected in answer["players"].items():
        row = found[player]
        assert row["status"] == expected["status"]
        if "rating" not in expected:
            assert row["rating"] == row["std_error"] == row["rank_low"] == ""
            continue
        assert float(row["rating"]) == pytest.approx(expected["rating"], abs=1e-3)
        assert float(row["std_error"]) == pytest.approx(expected["std_error"], rel=1e-5)
        assert int(row["rank_low"]) == expected["rank_low"]
        assert int(row["rank_high"]) == expected["rank_high"]
    coefficients = {row["name"]: row for row in rows(tmp_path / "out" / "coefficients.csv")}
    for coefficient, expected in answer["coefficients"].items():
        row = coefficients[coefficient]
        assert float(row["value"]) == pytest.approx(expected["value"], rel=1e-5)
        assert float(row["std_error"]) == pytest.approx(expected["std_error"], rel=1e-5)
    pairs = {(r["player_a"], r["player_b"]): r for r in rows(tmp_path / "out" / "differences.csv")}
    for first, second, difference, error in answer["differences"]:
        row = pairs[first, second]
        assert float(row["difference"]) == pytest.approx(difference, abs=1e-3)
        assert float(row["std_error"]) == pytest.approx(error, rel=1e-5)


HEAVY = """game,player,score,home,neutral,weight,x,z
0,ann,1,yes,no,1000000,-1.59,0.3
0,cy,0,no,no,1000000,0.81,-1.13
1,ann,1,yes,yes,1,0.69,-0.97
1,bob,2,no,yes,1,-1.16,0.7
1,cy,0,no,yes,1,-0.54,0.25
2,cy,1,yes,no,1000000,2.02,0.9
2,bob,0,no,no,1000000,-0.71,-0.81
3,ann,1,yes,yes,1000,-0.3,0.55
3,bob,0,no,yes,1000,-0.29,0.08
"""


def test_weights_of_a_million_hide_no_separation(tmp_path: Path) -> None:
    """Steps that are cut short by rounding are no sign that the maximum is there."""
    given = ("--weight", "weight", "--covariate", "x", "--covariate", "z")
    done = ranked(tmp_path, HEAVY, *given, code=3)
    assert "has no finite estimate" in " ".join(done.out.split())


COEFFICIENT = 75.497009, 31.410162
"""Value and standard error of x in the log below, of a plain Newton's method."""


@pytest.mark.parametrize("scale", [1.0, 1e7])
def test_coefficients_keep_their_digits_in_any_unit(scale: float, tmp_path: Path) -> None:
    log = ["winner,loser,x"]
    log += [f"{'ab'[k % 2]},{'ba'[k % 2]},{(k % 7 - 2) * scale:.0f}" for k in range(40)]
    (tmp_path / "log.csv").write_text("\n".join(log), encoding="utf-8")
    done = valmatch("rank", tmp_path / "log.csv", "--covariate", "x", "--json")
    (row,) = json.loads(done.out)["coefficients"]
    assert row["value"] * scale == pytest.approx(COEFFICIENT[0], rel=1e-6)
    assert row["std_error"] * scale == pytest.approx(COEFFICIENT[1], rel=1e-6)
    assert (row["high"] - row["low"]) * scale == pytest.approx(3.919928 * COEFFICIENT[1], rel=1e-6)


def test_games_to_come_are_predicted_at_the_estimate(tmp_path: Path) -> None:
    log = "home,away,result\n" + 4 * "ann,bob,1-0\n" + 2 * "ann,bob,0-1\n" + 3 * "bob,ann,1-0\n"
    log += 2 * "bob,ann,0-1\n" + 2 * "ann,bob,1/2-1/2\n"
    (tmp_path / "log.csv").write_text(log, encoding="utf-8")
    done = valmatch("rank", tmp_path / "log.csv", "--out", tmp_path / "out", "--json")
    found = json.loads(done.out)
    home, nu = (row["value"] for row in found["coefficients"])
    lead = (found["ratings"][0]["rating"] - found["ratings"][1]["rating"]) + home
    fixtures = "home,away\nann,bob\nann,zoe\n"
    (tmp_path / "games.csv").write_text(fixtures, encoding="utf-8")
    done = success("predict", tmp_path / "out", tmp_path / "games.csv", "--json")
    first, second = json.loads(done.out)["games"]
    odds = 10.0 ** (lead / 800.0)
    total = odds + 1.0 / odds + nu
    assert first["sides"][0]["win"] == pytest.approx(odds / total, abs=1e-6)
    assert first["draw"] == pytest.approx(nu / total, abs=1e-6)
    pair = rows(tmp_path / "out" / "differences.csv")[0]
    reach = 1.959964 * float(pair["std_error"]) / 800.0
    low = odds / 10.0**reach
    expected = low / (low + 1.0 / low + nu)
    assert first["sides"][0]["win_low"] == pytest.approx(expected, abs=1e-6)
    assert second["sides"][1]["newcomers"] == ["zoe"]
    assert second["sides"][0]["win_low"] is None


WINLESS = "winner,loser\nbob,cy\ncy,bob\nbob,dan\ncy,dan\nbob,dan\neve,fay\nfay,eve\n"
"""dan lost all games, two of them to bob; nobody met eve and fay."""


def test_games_of_which_ratings_say_nothing_have_no_prediction(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(WINLESS, encoding="utf-8")
    fixtures = "home,away\nbob,cy\ndan,zoe\n"
    (tmp_path / "games.csv").write_text(fixtures, encoding="utf-8")
    pairs = ("--pair", "bob,dan", "--pair", "bob,eve")
    for prior, without, said in (
        ((), {"2", "3", "4"}, "'dan' is winless, no finite rating (rank with --prior D to rate"),
        (("--prior", "200"), {"4"}, "no game links 'bob' and 'eve'"),
    ):
        out = tmp_path / f"rated{len(prior)}"
        valmatch("rank", tmp_path / "log.csv", *prior, "--out", out)
        to = tmp_path / f"predicted{len(prior)}"
        done = success("predict", out, tmp_path / "games.csv", *pairs, "--out", to)
        n = len(without)
        assert f"{n} game{'s' * (n > 1)} without a prediction: {said}" in " ".join(done.err.split())
        assert "1 newcomer" in done.out
        assert "nan" not in done.out
        sides = rows(to / "predictions.csv")
        assert [row["game"] for row in sides] == [f"{1 + k // 2}" for k in range(8)]
        assert {row["game"] for row in sides if row["win"] == ""} == without
        assert {row["game"] for row in sides if row["expected"] == ""} == without
        success("report", to, "-o", tmp_path / f"{len(prior)}.html")
        assert "nan%" not in (tmp_path / f"{len(prior)}.html").read_text(encoding="utf-8")


def test_who_is_first_is_not_said_where_somebody_is_unbeaten(tmp_path: Path) -> None:
    done = ranked(tmp_path, "winner,loser\na,b\na,b\nb,c\nc,b\n", "--out", tmp_path / "out", code=3)
    said = " ".join(done.out.split())
    assert "tied for first among the rated (2): 'b', 'c'" in said
    assert "bradley_terry, 2 of 3 players by 2 games; unbeaten: 'a' rank" in said
    assert "a unbeaten 2 2 0 0 1 b" in said
    assert "unbeaten: no finite rating" in said
    assert "1 without a rating: unbeaten 'a'. --prior D rates everybody" in said
    success("report", tmp_path / "out", "-o", tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "a: unbeaten, no finite rating. Of the rated, player b has" in text
    assert "is first" not in text


def test_the_bootstrap_is_a_check_of_the_intervals(tmp_path: Path) -> None:
    log = FIXTURES / "squads.csv"
    found = []
    for folder, seed in (("a", 0), ("b", 0), ("c", 1)):
        options = ("--prior", "250", "--bootstrap", "40", "--out", tmp_path / folder)
        success("rank", log, *options, "--seed", seed)
        found.append((tmp_path / folder / "bootstrap.csv").read_bytes())
    assert found[0] == found[1] != found[2]
    manifest = json.loads((tmp_path / "a" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["seed"] == 0
    checked = rows(tmp_path / "a" / "bootstrap.csv")
    assert {row["unrated"] for row in checked} == {"0.0"}
    ratings = rows(tmp_path / "a" / "ratings.csv")
    errors = {row["player"]: float(row["std_error"]) for row in ratings}
    ratios = [float(row["std_error"]) / errors[row["player"]] for row in checked]
    assert 0.6 < np.median(ratios) < 1.2


def test_the_formats_say_the_same_of_home_neutral_ground_and_covariates(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    wide = ["home,away,result,neutral,x_a,x_b,lead,time"]
    long = ["game,player,team,score,home,neutral,x,time"]
    for game in range(120):
        a, b = rng.permutation(list("abcde"))[:2]
        x, y = rng.integers(-9, 10, 2)
        a_wins, ground = rng.random() < 0.6, "yes" if rng.random() < 0.3 else "no"
        day = f"2024-01-{1 + game // 10:02d}"
        wide.append(f"{a},{b},{'1-0' if a_wins else '0-1'},{ground},{x},{y},{x - y},{day}")
        long.append(f"{game},{a},A,{1 if a_wins else 0},yes,{ground},{x},{day}")
        long.append(f"{game},{b},B,{0 if a_wins else 1},no,{ground},{y},{day}")
    found = []
    for lines, column in ((wide, "x"), (long, "x"), (wide, "lead")):
        options = ("--covariate", column, "--cluster-days", "2", "--json")
        done = ranked(tmp_path, "\n".join(lines) + "\n", *options)
        document = json.loads(done.out)
        assert document["clusters"] == 6
        rows_of = [list(row.values()) for row in document["ratings"]]
        found.append((rows_of, [list(row.values())[1:] for row in document["coefficients"]]))
    assert found[0] == found[1] == found[2]
    assert len(found[0][1]) == 2


def test_a_coefficient_is_in_points_per_unit_and_predictions_leave_it_out(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    lines = ["player_a,player_b,result,x_a,x_b"]
    for _ in range(300):
        a, b = rng.permutation(list("abcd"))[:2]
        x, y = rng.integers(-5, 6, 2)
        won = rng.random() < 1.0 / (1.0 + 10.0 ** (-0.2 * (x - y)))
        lines.append(f"{a},{b},{'1-0' if won else '0-1'},{x},{y}")
    ranked(tmp_path, "\n".join([*lines, ""]), "--covariate", "x", "--out", tmp_path / "out")
    ratings = {row["player"]: float(row["rating"]) for row in rows(tmp_path / "out/ratings.csv")}
    (coefficient,) = rows(tmp_path / "out" / "coefficients.csv")
    assert float(coefficient["value"]) == pytest.approx(80.0, rel=0.25)
    done = success("predict", tmp_path / "out", "--pair", "a,b", "--json")
    assert "predicted as if both sides had the same x" in " ".join(done.err.split())
    want = 1.0 / (1.0 + 10.0 ** ((ratings["b"] - ratings["a"]) / 400.0))
    first = json.loads(done.out)["games"][0]["sides"][0]
    assert first["expected"] == pytest.approx(want, abs=1e-6)


@pytest.mark.parametrize(
    ("games", "options", "said"),
    [
        ("a,b,1-0 b,a,1-0 a,c,1-0 c,a,1-0", (), "--home none helps, --prior D may"),
        ("a,b,1-0 b,a,1-0 a,c,1-0 c,a,1-0", ("--prior", "100"), "--home none helps"),
        ("a,b,1/2-1/2 b,c,1/2-1/2", ("--home", "none"), "--draws half helps, --prior D may"),
        ("a,b,1/2-1/2 b,c,1/2-1/2", ("--home", "none", "--prior", "9"), "--draws half helps"),
    ],
)
def test_what_helps_is_news(
    games: str, options: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    lines = ["home,away,result", *games.split(), ""]
    done = ranked(tmp_path, "\n".join(lines), *options, code=3)
    assert f"{said} Nobody can be rated" in " ".join(done.out.split())


@pytest.mark.slow
def test_a_rating_has_the_same_bytes_on_any_number_of_threads(tmp_path: Path) -> None:
    log, rng, n = tmp_path / "log.csv", np.random.default_rng(3), 450
    pairs = (rng.choice(n, 2, replace=False).tolist() for _ in range(4_000))
    log.write_text("winner,loser\n" + "".join(f"p{a},p{b}\n" for a, b in pairs))
    for threads in ("1", "4"):
        given = {**os.environ, "OPENBLAS_NUM_THREADS": threads}
        words = ("-m", "valmatch", "rank", log, "--out", tmp_path / threads, "--quiet")
        assert python(*words, env=given).returncode == 0
    for file in (tmp_path / "1").iterdir():
        if file.name != "manifest.json":
            assert (tmp_path / "4" / file.name).read_bytes() == file.read_bytes(), file.name


PATHS = ("--system", "whole_history")
NAMES = ["ann", "bob", "cy", "dan", "eve"]
FIRST = np.datetime64("2024-01-01")


def timed_season(seed: int, games: int = 60) -> tuple[str, PathWorld]:
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
    text, world = timed_season(1)
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
    assert valmatch("predict", tmp_path / "out", "--pair", "ann,bob").code == 2


def test_paths_are_drawn_and_reported(tmp_path: Path) -> None:
    text, _ = timed_season(3, 30)
    (tmp_path / "log.csv").write_text(text, encoding="utf-8")
    out = tmp_path / "out"
    success("rank", tmp_path / "log.csv", *PATHS, "--out", out)
    (axes,) = library.plot(out, players=["ann", "eve"]).axes
    drawn = [np.asarray(line.get_ydata(), float) for line in axes.lines]
    ratings = [float(row["rating"]) for row in rows(out / "days.csv") if row["player"] == "ann"]
    assert len(drawn) == 2
    np.testing.assert_allclose(drawn[0], ratings)
    assert len(axes.collections) == 2
    page = library.report([out])
    assert "Ratings of the best by day played" in page
    assert "drift of 3.7 points" in page
    with pytest.raises(library.InputError, match="zoe"):
        library.plot(out, players=["zoe"])
