"""Logs are read as the csv module reads them; what a rating says of them is so."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import warnings
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tests.support.case_tables import cases
from tests.support.command import success, valmatch
from tests.support.folders import rows as table
from tests.support.game_logs import LONG, duels, of_sides, write
from tests.support.refusals import refused
from valmatch.errors import InputError
from valmatch.game_logs.prediction import predict_games
from valmatch.game_logs.rating import compare_ratings, rate_games
from valmatch.game_logs.rating_files import numerals, text_cells
from valmatch.game_logs.reading.tables import GameNames, plain_columns, read_moments, read_numbers
from valmatch.inputs.csv_reader import mark, unmark
from valmatch.ratings.registry import NAMES, system_named

pytestmark = pytest.mark.usefixtures("command_line_words")

GOOD = "g0,a,x,3,20\ng0,b,y,1,20\n"


@given(st.lists(st.text('a,"\r 1\xa0', max_size=6), min_size=1, max_size=4), st.integers(2, 3))
@example(["a,b", "1,1"], 2)
@example(["a,b\r", " 1 ,"], 2)
@example(["\r,"], 2)
def test_plain_rows_are_those_of_the_csv_module(texts: list[str], width: int) -> None:
    lines = list(io.StringIO("".join(f"{text}\n" for text in texts), newline=""))
    columns = plain_columns(lines, ",", width)
    rows = [row for row in csv.reader(lines, skipinitialspace=True) if row] if columns else []
    if columns is not None:
        stripped = [[cell.strip() for cell in column] for column in columns]
        assert stripped == [[row[k].strip() for row in rows] for k in range(width)]
    plain = all(
        line.count(",") == width - 1 and '"' not in line and line.endswith("\n") for line in lines
    )
    assert (columns is not None) == plain


@pytest.mark.slow
@given(
    st.one_of(
        st.floats(allow_nan=False, allow_infinity=False).map(repr),
        st.from_regex(r"\A[+-]?\d{1,18}(\.\d{0,12})?\Z"),
        st.from_regex(r"\A[-+.\d e_xn]{0,6}\Z"),
        st.sampled_from(["nan", "inf", "-Infinity", "1_0", "", ".", "-", "1e400", "٣"]),
    )
)
@settings(max_examples=500)
def test_numbers_are_those_of_float(text: str) -> None:
    value = float(read_numbers([text.strip()])[0])
    try:
        want = float("x" if "_" in text or not text.isascii() else text)
    except ValueError:
        want = float("nan")
    if not np.isfinite(want):
        assert np.isnan(value)
    else:
        assert (value, np.signbit(value)) == (want, np.signbit(want))


def test_names_of_games_are_those_of_runs_of_rows() -> None:
    names = GameNames(runs=True)
    assert names.read(["a", "a", "b"]).tolist() == [True, False, True]
    assert names.read(["b", "é", "a", "''=x"]).tolist() == [False, True, True, True]
    assert names.first_of_name().tolist() == [0, 1, 2, 0, 4]
    assert names == ["a", "b", "é", "a", "'=x"]


BAD = cases(r"""
g1,a,x,1,20\ng1,b,x,1,20\n | one side only | 4:1: game: game 'g1' has one side only
g1,a,x,1,0\ng1,b,y,1,20\n | minutes not positive | 4:10: minutes: '0' (allowed: a number of minutes
g1,a,x,1,20\ng1,b,y,1,20\ng1,a,y,2,20\n | player twice in a game | 6:4: player: 'a' is in this game
  twice
g1,a,x,1,20\ng1,b,y,,20\n | missing cell | 5:8: score: the cell is empty
g1,a,x,1,20\ng1," ",y,1,20\ng1,"",z,1,1\n | missing cell | 5:4: player: the cell is empty
g1,a,x,1,20\ng1,b,y,1\n | wrong number of cells | 5:1: the row has 4 cells (allowed: 5)
g1,é,x,1,20\ng1,ü,y,won,20\n | not a number | 5:8: score: 'won' (allowed: a finite number)
g1,a,x,1,20\ng1,b,y,1,20\ng2,a,x,1,20\ng2,b,y,1,20\ng1,c,x,1,20\n | split apart in the file | 8:1:
  game: game 'g1' has been there before
""")


@pytest.mark.parametrize(("text", "reason", "message"), BAD)
def test_bad_games_are_named_or_left_out(
    text: str, reason: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "log.csv"
    path.write_text(f"{LONG}\n{GOOD}{text}", encoding="utf-8")
    said = refused(rate_games, path, "zonestats", out=tmp_path / "new" / "out")
    assert said.startswith(f"{path}:{message}")
    assert said.endswith("; --skip-bad-games skips invalid games")
    assert sorted(tmp_path.iterdir()) == [path]
    path.write_text(f"{LONG}\n{GOOD}{text}g9,c,x,1,5\ng9,a,y,2,5\n", encoding="utf-8")
    remarks: list[str] = []
    result = rate_games(path, "zonestats", max_bad_rows=0.5, warn=remarks.append)
    assert result.skipped_games == {reason: 1}
    split = reason == "split apart in the file"
    assert result.games == 2 + split
    if split:  # all of it is left out, which begins here
        message = "4:1: game: game 'g1' comes again further on"
    left = f"{path}: 1 invalid game skipped (1 {reason}), the first: {path}:{message}"
    assert [one[: len(left)] for one in remarks] == [left]
    good = "".join(line + "\n" for line in text.splitlines() if line.startswith("g2"))
    clean = tmp_path / "clean.csv"
    clean.write_text(f"{LONG}\n{GOOD}{good}g9,c,x,1,5\ng9,a,y,2,5\n", encoding="utf-8")
    assert result.ranking == rate_games(clean, "zonestats").ranking


RESULT_ERRORS = cases(r"""
winner,loser | a,a\n | 2:3: loser: 'a' is in this game twice
winner,loser,winner_score,loser_score | a,b,1,2\n | 2:5: winner_score: '1' contradicts
winner,loser,time | a,b,soon\n | 2:5: time: 'soon' (allowed: a date-time such as
winner,loser,time | a,b,1\na,b,2024-01-01\n | 3:5: time: '2024-01-01' (allowed
winner,loser,draw | "a\nb",c,maybe\n | 3:6: draw: 'maybe' (allowed
home,away,result | a,b,1-O\n | 2:5: result: '1-O' (allowed: 1-0, 0-1, 1/2-1/2, or H
game,player,score,minutes | 1,a,1e308,0.001\n1,b,1e307,0.001\n | 2:5: score: '1e308'
player_a,player_b,result | a,b,*\n | holds no game that can be rated
game,player,team,score,minuts |  | 1: unknown column 'minuts' (did you mean minutes? --columns
who,what |  | 1: no column 'game' (a log has the columns game, player, score or winner, loser or
  home, away, home_score, away_score or player_a, player_b, result or home, away, result; found:
  who, what; --columns game=NAME says which column it is)
winner,loser,loser |  | 1: there are 2 columns 'loser'
""")


@pytest.mark.parametrize(("header", "text", "message"), RESULT_ERRORS)
def test_bad_results_are_named_too(header: str, text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(f"{header}\n{text}", encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing overflows
        with pytest.raises(InputError) as error:
            rate_games(path, "zonestats")
    assert str(error.value).startswith((f"{path}:{message}", f"{path}: {message}"))


def test_the_system_follows_from_the_log_where_none_is_named(tmp_path: Path) -> None:
    for header, row, system in (
        ("winner,loser,winner_score,loser_score,minutes", ["a", "b", "9", "5", "20"], "zonestats"),
        ("winner,loser,minutes", ["a", "b", "soon"], "elo"),
        ("home,away,home_score,away_score", ["a", "b", "2", "1"], "elo"),
    ):
        path, said = write(tmp_path / "log.csv", [[row]], header), list[str]()
        assert rate_games(path, warn=said.append).system == system
        assert any(f"rated by {system}, as" in text and "0.6931" in text for text in said)
        assert rate_games(path, system, warn=said.append).system == system
        assert sum("rated by" in text for text in said) == 1


MOMENTS = [
    "1970-01-01",
    "1969-12-31 23:59:59",
    "2024-02-29T12:30",
    "2023-02-29",
    "2000-02-29Z",
    "1900-02-29 00:00",
    "2024-01-01 24:00:00",
    "2024-01-01 00:00:00Z",
    "2024-01-01T10:00:00.25+01:00",
    "2024-01-01 10:00:00-11:30",
    "0000-01-01",
    "9999-12-31T23:59:59",
    "9999-12-31T23:59:59-23:59",
    "0001-01-01T00:00+01:00",
    "20240101",
    "2024-W01-1",
    "2024-01-01x10:00",
    "2024-1-01",
    "2024-13-01",
    "2024-01-00",
    "٢٠٢٤-01-01",
    "Z",
    "",
]


@pytest.mark.slow
@given(
    st.one_of(
        st.sampled_from(MOMENTS),
        st.datetimes().map(str),
        st.datetimes(timezones=st.timezones()).map(datetime.isoformat),
        st.dates().map(str),
        st.from_regex(r"\A\d{4}[-/]\d\d-\d\d([ T:]\d\d:\d\d(:\d\d)?Z?)?\Z"),
    )
)
@settings(max_examples=500)
def test_moments_are_those_of_the_standard_library(text: str) -> None:
    value = float(read_moments([text])[0])
    try:
        moment = datetime.fromisoformat(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        moment = moment.astimezone(UTC)
    except (ValueError, OverflowError):  # no date, or none of the years 1 to 9999 in UTC
        assert np.isnan(value)
    else:
        assert value == (moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()


# Columns of files of ratings are what Python's own writer makes, and read back.


@settings(deadline=None)
@given(arrays.arrays(np.float64, st.integers(1, 30), elements=st.floats()))
@example(np.array([0.0, -0.0, 1e-4, 9.999999999999999e-5, 1e-5, -1e-5, 1.5e-7, 5e-324]))
@example(np.array([1e15, 9999999999999998.0, 1e16, -1.2345e16, 1.7976931348623157e308]))
@example(np.array([np.nan, np.inf, -np.inf, 520.0, 0.1 + 0.2]))
def test_floats_are_as_repr_writes_them(values: np.ndarray) -> None:
    assert numerals(values) == [repr(value) for value in values.tolist()]


@settings(deadline=None)
@given(st.lists(st.text(alphabet="a,\"\r\n é雪'=-@+\t", min_size=1), min_size=1))
def test_names_are_marked_and_quoted_where_they_have_to_be(names: list[str]) -> None:
    cells = text_cells(names)
    text = "".join(f"{cell},0\n" for cell in cells)
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert rows == [[mark(name), "0"] for name in names]
    quoted = [any(letter in name for letter in ',"\r\n') for name in names]
    assert [cell.startswith('"') for cell in cells] == quoted


# Games of a log that cannot be used: left out up to a limit, with an example of each kind.


NINETY_FIVE = "".join(f"a{k % 7},b{k % 5},1,0\n" for k in range(95))
TWICE, NO_NUMBER = "x,x,1,0\n", "x,y,one,0\n"


@pytest.fixture
def games_csv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path("games.csv")


@pytest.mark.slow
@pytest.mark.parametrize("system", ["elo", "elo,glicko2"])
def test_more_are_refused_unless_told_otherwise(games_csv: Path, system: str) -> None:
    head = "winner,loser,winner_score,loser_score\n"
    games_csv.write_text(head + NINETY_FIVE + 4 * TWICE + 2 * NO_NUMBER)
    command = ("rate", games_csv, "--system", system, "--out", "out")
    done = valmatch(*command, "--skip-bad-games")
    assert (done.code, done.out) == (2, "")
    lines = [one for one in done.err.splitlines() if not one.startswith(("warning", "note"))]
    assert lines[0] == (
        "games.csv: 6 of 101 games are invalid (2 not a number, 4 player twice in a game), more"
        " than 5 %: --max-bad-rows 0.06 skips them all the same"
    )
    assert lines[1].startswith("games.csv:97:3: loser: ")
    assert lines[2].startswith("games.csv:101:5: winner_score: ")
    assert not Path("out").exists()
    for share in ("0.06", "6%"):
        success(*command, "--max-bad-rows", share)
    assert valmatch(*command, "--max-bad-rows", "0.05").code == 2


HOME = "home,away,home_score,away_score"


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


def test_the_first_chance_of_draws_is_adopted_by_itself(tmp_path: Path) -> None:
    """Without it draws have no probability, so that there is nothing to compare it with."""
    rng = np.random.default_rng(0)
    games = [[*rng.choice(12, 2, replace=False), *rng.integers(0, 2, 2)] for _ in range(60)]
    log = write(tmp_path / "log.csv", [[[*map(str, game)]] for game in games], HOME)
    names = ("home_advantage", "K", "draw_probability")
    done = success("rate", log, "--system", "elo", "--tune", ",".join(names), "--json")
    summary = json.loads(done.out)
    tuning = summary["tuning"]
    fitted = tuning["tuned"]["parameters"]["draw_probability"]
    assert tuning["judged"]["parameters"] == ["home_advantage", "K"]
    assert tuning["adopted_parameters"] == ["draw_probability"]
    published = {"scale": 400.0, "K": 32.0, "home_advantage": 0.0}
    assert summary["parameters"] == published | {"draw_probability": fitted}


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
        assert sure.systems[name].to_best["log_loss"].above_zero == (name not in sure.unbeaten)
    assert sure.systems["coin"].to_best["log_loss"].above_zero


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
    bad = write(tmp_path / "b.csv", [[[*games[0], "perhaps"]]], f"{HOME},neutral")
    with pytest.raises(InputError, match=r"b\.csv:2:9: neutral: 'perhaps' \(allowed: yes, no,"):
        rate_games(bad, "elo")


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


def log_of_names(path: Path, names: list[str]) -> Path:
    """Write a log in which each name, marked, beats the next; all cells quoted."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerow(["game", "winner", "loser"])
        pairs = itertools.pairwise(map(mark, names))
        writer.writerows([f"={k}", a, b] for k, (a, b) in enumerate(pairs))
    return path


@pytest.mark.slow
def test_names_like_formulas_read_back_the_same(tmp_path: Path) -> None:
    log = log_of_names(tmp_path / "l.csv", NAMED)
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
            fixtures = log_of_names(tmp_path / "f.csv", [name, other])
            (one,) = predict_games(out, fixtures).games
            assert [name for side in one.sides for name in side.newcomers] == []
    fixtures = log_of_names(tmp_path / "f.csv", ["=new", "@other"])
    success("predict", tmp_path / "elo", fixtures, "--out", tmp_path / "p")
    cells = [row["players"] for row in table(tmp_path / "p" / "predictions.csv")]
    assert cells == ["'=new", "'@other"]
    success("plot", tmp_path / "elo")
