"""What a rating says that is not so: fits to luck, best of equals, overflowing scores, formulas."""

from __future__ import annotations

import csv
import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest

from tests.support.command import success, valmatch
from tests.support.folders import rows as table
from tests.support.game_logs import of_sides, write
from valmatch.errors import InputError
from valmatch.game_logs.comparison import compare_ratings
from valmatch.game_logs.prediction import predict_games
from valmatch.game_logs.rating import rate_games
from valmatch.inputs.csv_reader import mark, unmark
from valmatch.ratings.registry import NAMES, system_named

pytestmark = pytest.mark.usefixtures("command_line_words")

HOME = "home,away,home_score,away_score"


def duels(seed: int, games: int, players: int, spread: float) -> list[list[list[str]]]:
    """Return games of players whose Elo ratings have a standard deviation."""
    rng = np.random.default_rng(seed)
    skill = rng.normal(0.0, spread, players)
    rows = []
    for _ in range(games):
        a, b = rng.choice(players, 2, replace=False).tolist()
        if rng.random() > 1.0 / (1.0 + 10.0 ** ((skill[b] - skill[a]) / 400.0)):
            a, b = b, a
        rows.append([[f"p{a}", f"p{b}"]])
    return rows


def with_margins(seed: int, games: list[list[list[str]]]) -> tuple[list[list[list[str]]], str]:
    """Return the games with scores that say nothing but who won, and the head of their columns."""
    margins = np.random.default_rng(seed).poisson(1.0, len(games)) + 1
    rows = [[[*row, str(n), "0"] for row in game] for game, n in zip(games, margins, strict=True)]
    return rows, "winner,loser,winner_score,loser_score"


# Fits.


@pytest.mark.slow
@pytest.mark.parametrize("system", [name for name in NAMES if name != "openskill"])
def test_fits_to_little_are_adopted_only_if_shown_to_help(system: str, tmp_path: Path) -> None:
    """Of 48 games, as of any number: by the interval that is printed, and within sane bounds."""
    names = list(system_named(system).tuned_first)
    adopted = 0
    for seed in range(6):
        log = write(tmp_path / "log.csv", *with_margins(seed, duels(seed, 48, 12, 150.0)))
        said: list[str] = []
        result = rate_games(log, system, tune=names, warn=said.append)
        tuning = result.tuning
        assert tuning is not None
        values = {one.name: one.published for one in system_named(system).parameters}
        mean, half = tuning.judged.mean, tuning.judged.half_width
        shown = mean is not None and half is not None and mean < -half
        assert tuning.adopted == shown
        assert result.parameters == (tuning.tuned.parameters if shown else values)
        assert shown or any("not adopted" in text for text in said)
        adopted += shown
        for name in tuning.fitted:
            low, high = system_named(system).sane(values, 20.0).get(name, (0.0, math.inf))
            assert low * 0.999 <= tuning.tuned.parameters[name] <= high * 1.001
    assert adopted <= 3


def test_k_has_a_sane_bound(tmp_path: Path) -> None:
    """Where the first half is won by whoever won before, ever larger K fits ever better."""
    rows = [[[f"p{2 * (k % 6)}", f"p{2 * (k % 6) + 1}"]] for k in range(24)]
    log = write(tmp_path / "log.csv", [*rows, *duels(1, 24, 12, 1.0)], "winner,loser")
    done = success("rate", log, "--system", "elo", "--tune", "K", "--out", tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["tuning"]["tuned"]["parameters"]["K"] == pytest.approx(200.0)
    assert summary["tuning"]["adopted"] is False
    assert summary["parameters"]["K"] == 32.0
    assert "K = 200: not adopted, K = 32 stays: the log loss of the rest of the games" in done.err
    assert ": not adopted" in " ".join(done.out.split())
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["parameters"]["K"] == 32.0


@pytest.mark.parametrize("others", [[], ["home_advantage", "K"]])
def test_the_first_chance_of_draws_is_adopted_by_itself(others: list[str], tmp_path: Path) -> None:
    """Without it draws have no probability, so that there is nothing to compare it with."""
    rng = np.random.default_rng(0)
    games = [[*rng.choice(12, 2, replace=False), *rng.integers(0, 2, 2)] for _ in range(60)]
    log = write(tmp_path / "log.csv", [[[*map(str, game)]] for game in games], HOME)
    names = ",".join([*others, "draw_probability"])
    done = valmatch("rate", log, "--system", "elo", "--tune", names, "--out", tmp_path / "out")
    files = (tmp_path / "out" / name for name in ("summary.json", "manifest.json"))
    summary, manifest = (json.loads(file.read_text()) for file in files)
    tuning = summary["tuning"]
    fitted = tuning["tuned"]["parameters"]["draw_probability"]
    said = " ".join(done.out.split())
    assert f"tuned draw_probability = {fitted:.6g}: adopted (without it a draw has no" in said
    assert ("(95%)" in said) == bool(others)
    assert ("(95%): not adopted" in said) == bool(others)
    assert tuning["judged"]["parameters"] == others
    assert tuning["adopted_parameters"] == ["draw_probability"]
    published = {"scale": 400.0, "K": 32.0, "home_advantage": 0.0}
    assert (
        manifest["parameters"] == summary["parameters"] == published | {"draw_probability": fitted}
    )


def test_best_is_who_is_shown_to_be(tmp_path: Path) -> None:
    """Coins: nobody is; skills that differ widely: Elo, of itself alone."""
    coins = write(tmp_path / "coins.csv", duels(3, 400, 20, 0.0), "winner,loser")
    found = compare_ratings(coins, ["elo", "zonestats"])
    assert found.best is None
    assert "coin" in found.unbeaten
    done = valmatch("rate", coins, "--system", "elo,zonestats")
    assert "best:" not in done.out
    assert f"least log loss: {found.leader}, none shown better than " in done.out
    assert found.summary()["best"] is None
    assert found.summary()["least_log_loss"] == found.leader
    wide = write(tmp_path / "wide.csv", duels(4, 4000, 20, 300.0), "winner,loser")
    sure = compare_ratings(wide, ["elo", "zonestats"], parameters={"zonestats.GAME_MULT": 1e-3})
    if not sure.unbeaten:
        assert sure.best == "elo"
    for name in ("zonestats", "coin", "better record"):
        assert sure.differences[name]["log_loss"].above_zero == (name not in sure.unbeaten)
    assert sure.differences["coin"]["log_loss"].above_zero


# Neutral ground, periods, draws.


def test_the_advantage_of_home_is_left_out_on_neutral_ground(tmp_path: Path) -> None:
    values = {"home_advantage": 80.0}
    games = [["a", "b", "1", "0"], ["b", "c", "2", "2"], ["c", "a", "0", "1"]]
    flags = ["TRUE", "no", "1"]
    marked = [[[*row, flag]] for row, flag in zip(games, flags, strict=True)]
    log = write(tmp_path / "n.csv", marked, f"{HOME},neutral")
    rate_games(log, "elo", parameters=values, out=tmp_path / "n")
    first = table(tmp_path / "n" / "history.csv")
    assert [float(row["expected"]) for row in first[:2]] == [0.5, 0.5]
    assert float(first[2]["expected"]) > 0.58  # b, at home against c
    named = write(tmp_path / "m.csv", marked, f"{HOME},where")
    rate_games(named, "elo", parameters=values, columns={"neutral": "where"}, out=tmp_path / "m")
    same = [(tmp_path / name / "history.csv").read_bytes() for name in ("n", "m")]
    assert same[0] == same[1]
    bad = write(tmp_path / "b.csv", [[[*games[0], "perhaps"]]], f"{HOME},neutral")
    with pytest.raises(InputError, match=r"b\.csv:2:9: neutral: 'perhaps' \(allowed: yes, no,"):
        rate_games(bad, "elo")
    results = [[["a", "b", "H", "no"]], [["b", "a", "A", "yes"]]]
    outcomes = write(tmp_path / "o.csv", results, "home,away,result,neutral")
    rate_games(outcomes, "elo", parameters=values, out=tmp_path / "o")
    home, neutral = table(tmp_path / "o" / "history.csv")[::2]
    assert (float(home["expected"]) > 0.6, home["score"]) == (True, "1.0")
    assert neutral["score"] == "1.0"


def test_fixtures_on_neutral_ground(tmp_path: Path) -> None:
    log = write(tmp_path / "l.csv", [[["a", "b", "1", "0"]], [["b", "a", "1", "0"]]], HOME)
    rate_games(log, "elo", parameters={"home_advantage": 80.0}, out=tmp_path / "r")
    fixtures = write(
        tmp_path / "f.csv", [[["a", "b", "yes"]], [["a", "b", "0"]]], "home,away,neutral"
    )
    neutral, home = predict_games(tmp_path / "r", fixtures).games
    (pair,) = predict_games(tmp_path / "r", pair="a,b").games
    assert of_sides(neutral, "win")[0] == of_sides(pair, "win")[0] < of_sides(home, "win")[0]
    only = write(tmp_path / "g.csv", [[["a", "b", "yes"]]], "home,away,neutral")
    done = valmatch("predict", tmp_path / "r", only)
    assert done.err.endswith("counts in no game: all are on neutral ground\n")
    wrong = write(tmp_path / "w.csv", [[["a", "b", "?"]]], "home,away,neutral")
    with pytest.raises(InputError, match=r"w\.csv:2: neutral: '\?' \(allowed: yes, no"):
        predict_games(tmp_path / "r", wrong)


# Cells.


# Formulas.


NAMED = ["=1+1", "+x", "-x", "@x", "\tx", "\rx", "'=1+1", "''=1+1", "'ann", "-5", "+3.5e2", "'-5",
         "=", "'", "''", '=a,"b"', "ann", "-"]  # fmt: skip


def test_marks_are_exactly_undone() -> None:
    assert [mark(name) for name in ("=x", "'=x", "ann", "'ann", "-5", "'-5")] == [
        "'=x", "''=x", "ann", "'ann", "-5", "''-5",
    ]  # fmt: skip
    rng = np.random.default_rng(1)
    words = {"".join(rng.choice(list("'=+-@\t\r5ae. "), rng.integers(1, 6))) for _ in range(3000)}
    for name in [*NAMED, *sorted(words)]:
        assert unmark(mark(name)) == name
        assert mark(name)[0] not in "=@\t\r"
        if mark(name)[0] in "+-":
            assert math.isfinite(float(name))
    assert len({mark(name) for name in words}) == len(words)


def log_of(path: Path, names: list[str]) -> Path:
    """Write a log in which each name, marked, beats the next; all cells quoted."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerow(["game", "winner", "loser"])
        pairs = itertools.pairwise(map(mark, names))
        writer.writerows([f"={k}", a, b] for k, (a, b) in enumerate(pairs))
    return path


@pytest.mark.slow
def test_names_like_formulas_read_back_the_same(tmp_path: Path) -> None:
    log = log_of(tmp_path / "l.csv", NAMED)
    for system in ("zonestats", "elo"):
        out = tmp_path / system
        success("rate", log, "--system", system, "--out", out)
        result = rate_games(log, system)
        assert sorted(result.ranking.players) == sorted(NAMED)
        cells = [row["player"] for row in table(out / "ratings.csv")]
        assert cells == [mark(name) for name in result.ranking.players]
        for file in ("ratings.csv", "history.csv"):
            for row in table(out / file):
                assert not [c for c in row.values() if c[:1] and c[0] in "=@\t\r"]
        again = rate_games(log, system, ratings=out, again=True).ranking
        assert sorted(again.players) == sorted(NAMED)
        assert all(change is not None for change in again.change)
        for name in filter(str.isprintable, NAMED):  # cells of fixtures are stripped
            other = "ann" if name != "ann" else "-"
            fixtures = log_of(tmp_path / "f.csv", [name, other])
            (one,) = predict_games(out, fixtures).games
            assert [name for side in one.sides for name in side.newcomers] == []
    fixtures = log_of(tmp_path / "f.csv", ["=new", "@other"])
    success("predict", tmp_path / "elo", fixtures, "--out", tmp_path / "p")
    cells = [row["players"] for row in table(tmp_path / "p" / "predictions.csv")]
    assert cells == ["'=new", "'@other"]
    success("plot", tmp_path / "elo")


def test_a_name_is_the_same_with_and_without_a_mark(tmp_path: Path) -> None:
    """As players write them in logs and aliases; a name that a mark belongs to has two."""
    log = tmp_path / "l.csv"
    log.write_text("winner,loser\n=a,'-b\n'=a,-b\n''@c,O'Neil\n+,-5\n")
    assert sorted(rate_games(log, "elo").ranking.players) == sorted(
        ["=a", "-b", "'@c", "O'Neil", "+", "-5"]
    )
    aliases = tmp_path / "aliases.csv"
    aliases.write_text("name,alias\nann,'=a\n'-bob,-b\n")
    assert {"ann", "-bob"} <= set(rate_games(log, "elo", alias=aliases).ranking.players)
