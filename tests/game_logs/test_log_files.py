"""Files of games as people have them: formats, result words, dates; and counts of two players."""

from __future__ import annotations

import gzip
import json
import re
from datetime import date, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import valmatch as library
from tests.support.case_tables import cases
from tests.support.command import refusal, success, valmatch
from tests.support.folders import rows
from tests.support.game_logs import rating_command
from valmatch.errors import InputError
from valmatch.game_logs.rating import RatedLog, rate_games
from valmatch.game_logs.reading import tables
from valmatch.game_logs.reading.tables import Times
from valmatch.game_logs.whole_log.rating import rank_games
from valmatch.statistics import sequential_test

FILES = Path(__file__).parents[1] / "fixtures" / "files"
GIVEN = FILES / "public_cases"

pytestmark = pytest.mark.usefixtures("command_line_words")


def ratings(result: RatedLog) -> dict[str, float]:
    """Return the ratings by name, in their order."""
    ranking = result.ranking
    return dict(zip(ranking.players, ranking.ratings, strict=True))


# Files whose right ratings are known.

CASES = cases(r"""
04-football-time-column/season.csv | home=HomeTeam,away=AwayTeam,result=FTR |
  Reds 1545.8, Whites 1499.3, Blues 1485.5, Greens 1469.5
04-football-time-column/season.csv | - | Reds 1545.8, Whites 1499.3, Blues 1485.5, Greens 1469.5
05-empty-minutes/year.csv | winner=winner_name,loser=loser_name,time=tourney_date |
  Cy 1500.8, Bea 1500.7, Ann 1498.5
06-arena-votes/votes.csv | player_a=model_a,player_b=model_b,result=winner | 06-arena-votes/same.csv
06-arena-votes/votes.csv | - | 06-arena-votes/same.csv
06-arena-votes/votes.jsonl | - | 06-arena-votes/same.csv
07-pgn/match.pgn | - | 07-pgn/same.csv
14-white-black-draw/games.csv | player_a=white_id,player_b=black_id,result=winner |
  ann 1516.0, cy 1515.3, bob 1468.7
14-white-black-draw/games.csv | - | ann 1516.0, cy 1515.3, bob 1468.7
""")


@pytest.mark.parametrize(("name", "columns", "expected"), CASES)
def test_given_files_have_their_right_ratings(name: str, columns: str, expected: str) -> None:
    given = dict(item.split("=") for item in columns.split(",")) if columns != "-" else {}
    found = ratings(rate_games(GIVEN / name, "elo", columns=given))
    if expected.endswith(".csv"):
        assert found == ratings(rate_games(GIVEN / expected, "elo"))
        return
    want = {one.split()[0]: float(one.split()[1]) for one in expected.split(", ")}
    assert list(found) == list(want)
    assert found == pytest.approx(want, abs=0.06)


@pytest.mark.parametrize(
    "name", ["03-days-as-numbers/iso", "03-days-as-numbers/numbers", "13-unix-seconds/log"]
)
def test_days_however_written_give_the_same_paths(name: str) -> None:
    found = rank_games(GIVEN / f"{name}.csv", "whole_history", parameters={"drift": 10.0})
    want = {"bob": 1673.1, "ann": 1547.4, "cy": 1279.5}
    assert {row.player: row.rating for row in found.players} == pytest.approx(want, abs=0.06)


def test_a_bootstrap_with_somebody_unrated_compares_differences_of_the_others() -> None:
    done = success("rank", GIVEN / "16-bootstrap-with-an-unrated/log.csv", "--bootstrap", "200")
    said = " ".join(done.out.split())
    found = re.search(r"differences by the bootstrap: ([\d.]+) times as wide", said)
    assert found is not None
    assert 0.9 <= float(found[1]) <= 1.1
    assert "among 4 of 5 players; without a rating in some refits, which moves the zero: " in said
    assert "rare" in said


# The same games in all formats.


def random_games(n: int = 200) -> list[tuple[str, str, str, str]]:
    rng = np.random.default_rng(5)
    names = ["Anna Müller", "Hans, jun.", "=cy", 'Bob "B"', "dan", "Émile"]
    games = []
    for k in range(n):
        a, b = rng.choice(6, 2, replace=False).tolist()
        day = f"{date(2024, 1, 1) + timedelta(days=k // 3)}"
        games.append((names[a], names[b], ("1-0", "0-1", "1/2-1/2")[int(rng.integers(3))], day))
    return games


GAMES = random_games()
POINTS = {"1-0": ("1", "0"), "0-1": ("0", "1"), "1/2-1/2": ("1", "1")}
VOTES = {"1-0": "model_a", "0-1": "model_b", "1/2-1/2": "tie (bothbad)"}


def quoted(*cells: str) -> str:
    return ",".join('"{}"'.format(cell.replace('"', '""')) for cell in cells)


def long_log() -> str:
    lines = ["game,player,score,time"]
    for k, (a, b, result, day) in enumerate(GAMES):
        lines += [quoted(f"{k}", player, points, day)
                  for player, points in zip((a, b), POINTS[result], strict=True)]  # fmt: skip
    return "\n".join([*lines, ""])


def pgn_log() -> str:
    games = []
    for a, b, result, day in GAMES:
        white, black = (name.replace('"', r"\"") for name in (a, b))
        games.append(
            f'[Event "?"]\n[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n'
            f'[Date "{day.replace("-", ".")}"]\n\n1. e4 {{[%eval 0.1]\n[Result "*"] }} e5'
            f" ; {{ odd\n{result}\n"
        )
    return "\n".join(games)


def results_log() -> str:
    return "\n".join(["player_a,player_b,result,time", *(quoted(*game) for game in GAMES)])


def winners_log() -> str:
    lines = ["winner,loser,draw,time"]
    for a, b, result, day in GAMES:
        ends = (b, a) if result == "0-1" else (a, b)
        lines.append(quoted(*ends, "yes" if result == "1/2-1/2" else "no", day))
    return "\n".join(lines)


def scores_log() -> str:
    goals = {"1-0": ("3", "1"), "0-1": ("-1.5", "0"), "1/2-1/2": ("2", "2.0")}
    lines = [quoted(day, a, b, *goals[result]) for a, b, result, day in GAMES]
    return "\n".join(["time,home,away,home_score,away_score", *lines])


def votes_log() -> str:
    lines = [quoted(day, a, b, VOTES[result]) for a, b, result, day in GAMES]
    return "\n".join(["tstamp;model_a;model_b;winner", *lines]).replace('","', '";"')


def json_log() -> str:
    lines = []
    for a, b, result, day in GAMES:
        game: dict[str, object] = {"createdAt": int(np.datetime64(day, "ms").astype(int))}
        game["players"] = {"white": {"user": {"name": a}}, "black": {"user": {"name": b}}}
        if result != "1/2-1/2":
            game["winner"] = "white" if result == "1-0" else "black"
        lines.append(json.dumps(game))
    return "\n".join(lines)


FORMATS = {
    "results.csv": results_log(),
    "winners.csv": winners_log(),
    "scores.csv": scores_log(),
    "votes.csv": votes_log(),
    "games.pgn": pgn_log(),
    "games.jsonl": json_log(),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", list(FORMATS))
def test_the_same_games_in_any_format_have_the_same_ratings(
    name: str, packed: bool, tmp_path: Path
) -> None:
    (tmp_path / "long.csv").write_text(long_log(), encoding="utf-8")
    text = FORMATS[name].encode()
    (tmp_path / name).write_bytes(gzip.compress(text) if packed else text)
    for system in ("elo", "glicko2"):
        rate_games(tmp_path / "long.csv", system, out=tmp_path / "long" / system)
        rate_games(tmp_path / name, system, out=tmp_path / "out" / system)
        found = (tmp_path / "out" / system / "ratings.csv").read_bytes()
        assert found == (tmp_path / "long" / system / "ratings.csv").read_bytes()


@pytest.mark.parametrize("block", [1, 3])
def test_any_block_size_reads_the_same(
    block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in FORMATS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        want = rate_games(tmp_path / name, "elo").ranking
        with monkeypatch.context() as patch:
            patch.setattr(tables, "BLOCK", block)
            assert rate_games(tmp_path / name, "elo").ranking == want


# Words of results.

WORDS = cases("""
1\N{EN DASH}0,0\N{EN DASH}1,½\N{EN DASH}½ | 10d
H,A,D | 10d
A,B,tie | 10d
White,BLACK,Draw | 10d
1,0,.5 | 10d
0.5-0.5,1-0,½-½ | d1d
1,-1,0 | 10d
1,2,X | 10d
model_a,model_b,tie (bothbad) | 10d
ann,bob,remis | 10d
player_2,team 1,both bad | 01d
""")


@pytest.mark.parametrize(("words", "expected"), WORDS)
def test_usual_words_are_known(words: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    results = "".join(f"ann,bob,{word}\n" for word in words.split(","))
    path.write_text(f"player_a,player_b,result\n{results}", encoding="utf-8")
    rate_games(path, "elo", out=tmp_path / "out")
    history = rows(tmp_path / "out" / "history.csv")
    scores = [next(games)["score"] for _, games in groupby(history, lambda row: row["game"])]
    assert "".join({"1.0": "1", "0.0": "0", "0.5": "d"}[score] for score in scores) == expected


def test_a_letter_means_what_the_other_words_say(tmp_path: Path) -> None:
    """A is the first side beside B, and who is away beside H."""
    for header, words, wins in (
        ("home,away,result", "AH", [1, 1]),
        ("home,away,result", "AB", [1, 1]),
        ("home,away,result", "AA", [0, 2]),
        ("player_a,player_b,result", "AA", [2, 0]),
        ("player_a,player_b,result", "AH", [1, 1]),
    ):
        path = tmp_path / "log.csv"
        path.write_text(f"{header}\n" + "".join(f"x,y,{word}\n" for word in words))
        found = rate_games(path, "elo").ranking
        assert [found.wins[found.players.index(name)] for name in "xy"] == wins


def test_a_winner_is_named_even_where_the_name_is_a_word(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("player_a,player_b,result\nB,A,A\nA,C,A\nC,B,B\nB,C,draw\n")
    found = rate_games(path, "elo").ranking
    assert dict(zip(found.players, found.wins, strict=True)) == {"A": 2, "B": 1, "C": 0}
    path.write_text("player_a,player_b,result\nB,A,A\nA,C,A\nC,B,nobody\n")
    with pytest.raises(InputError, match=r"4:5: result: 'nobody' \(allowed: 1-0"):
        rate_games(path, "elo")
    assert rate_games(path, "elo", results={"nobody": "0-1"}).ranking.wins[1] == 1


def test_other_words_are_explained(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("player_a,player_b,result\nann,bob,gewonnen\nann,bob,-:-\nann,bob,patt\n")
    how = ("--results", "gewonnen=1-0,patt=1/2-1/2,-:-=*", "--system", "elo", "--out")
    done = success("rate", path, *how, tmp_path / "out")
    assert "result: result (gewonnen = 1-0; patt = 1/2-1/2; -:- = *)" in done.err
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["reading"]["results"] == {"gewonnen": "1-0", "patt": "1/2-1/2", "-:-": "*"}
    said = refusal("rate", path, "--results", "patt=even")
    assert said == "--results: patt='even' (allowed: 1-0, 0-1, 1/2-1/2, *)"
    assert "--results: 'patt' (allowed: WORD=RESULT" in refusal("rate", path, "--results", "patt")


# Dates.

DATES = cases("""
13/08/2021,14/08/2021 | dates as day.month.year | 2021-08-13
08/13/2021,08/14/2021 | dates as month/day/year | 2021-08-13
31-12-1999 20:15,01-01-2000 | dates as day.month.year | 1999-12-31T20:15
12/31/99 8:15 PM,1/1/00 | dates as month/day/year | 1999-12-31T20:15
2021-08-13T20:00:00+02:00,2021-08-14 | date-times | 2021-08-13T18:00
20210813,20210814 | dates such as 20240131 | 2021-08-13
1628812800,1628899200 | seconds since 1970 | 2021-08-13
1628812800000,1628899200000 | milliseconds since 1970 | 2021-08-13
""")


@pytest.mark.parametrize(("cells", "kind", "first"), DATES)
def test_dates_are_read_in_all_usual_forms(cells: str, kind: str, first: str) -> None:
    times = Times(cells.split(","), None)
    read = times.read(cells.split(","))
    found = times.settled(read)
    assert times.unsettled is None
    assert times.kind == kind
    assert found[0] == np.datetime64(first, "s").astype(float)
    assert np.isfinite(found[1])


@pytest.mark.parametrize(
    ("given", "cell"),
    [("dmy", "7.9.2026"), ("mdy", "9/7/26"), ("ymd", "26/9/7"), ("%d %b %Y", "7 Sep 2026")],
)
def test_a_date_format_says_what_dates_do_not(given: str, cell: str) -> None:
    found = Times([cell], given)
    assert found.settled(found.read([cell])) == np.datetime64("2026-09-07", "s").astype(float)


# What is guessed is shown and kept, and can be said otherwise.


def test_the_next_week_is_read_as_the_last_one(tmp_path: Path) -> None:
    week = tmp_path / "week.csv"
    week.write_text("wann;eins;zwei;wie\n13.1.2024;Anna Müller;Bob;sieg\n")
    columns = "time=wann,player_a=eins,player_b=zwei,result=wie"
    how = ("--columns", columns, "--results", "sieg=1-0", "--system", "elo")
    success("rate", week, *how, "--out", tmp_path / "1")
    reading = json.loads((tmp_path / "1" / "manifest.json").read_text())["reading"]
    assert reading["columns"] == dict(item.split("=") for item in columns.split(","))
    assert (reading["separator"], reading["date_format"]) == (";", "dmy")
    week.write_text("wann;eins;zwei;wie\n1.2.2024;Anna Müler;Bob;sieg\n")
    done = success("rate", week, "--ratings", tmp_path / "1", "--out", tmp_path / "2")
    assert "'Anna Müler' is new (did you mean 'Anna Müller'?); --alias makes two names" in done.err
    found = {row["player"]: row["last_game"] for row in rows(tmp_path / "2" / "ratings.csv")}
    assert found == {"Anna Müler": "2024-02-01", "Anna Müller": "2024-01-13", "Bob": "2024-02-01"}


def test_unfinished_games_of_lichess_are_no_draws(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    games = [{"white": "a", "black": "b", "status": status} for status in ("draw", "aborted")]
    path.write_text("\n".join(map(json.dumps, [*games, {**games[0], "winner": "black"}])))
    found = rate_games(path, "elo")
    assert (found.games, found.ranking.wins, found.ranking.draws) == (2, [1, 0], [1, 1])


# Players whom a log calls by aliases.


RATED_BY = ("elo", "glicko2", "bradley_terry")
RENAMED = [
    "ann,bob,1-0",
    "bob,cy,1-0",
    "cy,ann,1-0",
    "ann,cy,1/2-1/2",
    "bob,ann,1-0",
    "dan,ann,0-1",
]


def log_of(path: Path, games: list[str] = RENAMED) -> Path:
    path.write_text("\n".join(["player_a,player_b,result", *games, ""]))
    return path


def rated(folder: Path, system: str, log: Path, *options: object) -> str:
    """Return the ratings of a log; everybody has one."""
    more = ("--prior", "200") if system == "bradley_terry" else ()
    success(rating_command(system), log, "--system", system, *more, *options, "--out", folder)
    return (folder / "ratings.csv").read_text()


@pytest.mark.parametrize("system", RATED_BY)
def test_aliases_are_the_log_with_names_in_their_place(system: str, tmp_path: Path) -> None:
    aliases = tmp_path / "aliases.csv"
    aliases.write_text('name,alias\nann,ann the great\nbob,"Bob, jr"\nann,zzz\n')
    other = ["ann the great,bob,1-0", '"Bob, jr",cy,1-0', "cy,zzz,1-0", *RENAMED[3:]]
    other[4] = "bob,zzz,1-0"
    want = rated(tmp_path / "plain", system, log_of(tmp_path / "a.csv"))
    got = rated(tmp_path / "alias", system, log_of(tmp_path / "b.csv", other), "--alias", aliases)
    assert got == want


DUELS = """player_a,player_b,result,opening
ann,bob,1-0,o1
bob,ann,1/2-1/2,o1
ann,bob,0-1,o2
bob,ann,0-1,o2
ann,cy,1-0,o3
ann,bob,1-0,o3
bob,ann,1-0,o4
ann,bob,1-0,o4
bob,ann,1-0,o4
"""


@pytest.fixture
def duels_log(tmp_path: Path) -> Path:
    path = tmp_path / "duels_log.csv"
    path.write_text(DUELS)
    return path


def document(*arguments: object) -> dict[str, Any]:
    done = valmatch("sprt", *arguments, "--json")
    assert (done.code, done.err) == (0, ""), done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_counts_are_those_of_a_plain_count_of_random_rows(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    names = ["ann", "bob", "cy"]
    rows, games = [], []
    for _ in range(500):
        first, second = rng.permutation(3)[:2]
        result, pair = rng.choice(["1-0", "0-1", "1/2-1/2"]), f"p{rng.integers(150)}"
        games.append((names[first], names[second], str(result), pair))
        rows.append(",".join(games[-1]))
    path = tmp_path / "duels_log.csv"
    path.write_text("\n".join(["player_a,player_b,result,pair", *rows, ""]))
    points: list[tuple[float, str]] = []
    for a, b, result, pair in games:
        if {a, b} == {"bob", "cy"}:
            own = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}[result]
            points.append((own if a == "bob" else 1.0 - own, pair))
    found = library.sprt_games(path, "bob", "cy")
    assert list(found.counts) == [sum(p == s for p, _ in points) for s in (0.0, 0.5, 1.0)]
    by_pair: dict[str, list[float]] = {}
    for own, pair in points:
        by_pair.setdefault(pair, []).append(own)
    sums = [sum(own) for own in by_pair.values() if len(own) == 2]
    found = library.sprt_games(path, "bob", "cy", pairs_by="pair")
    assert list(found.counts) == [sums.count(s) for s in (0.0, 0.5, 1.0, 1.5, 2.0)]
    assert found.left_out == len(points) - 2 * len(sums)


def test_teams_and_games_of_more_sides_are_no_games_between_two(tmp_path: Path) -> None:
    duels_log = tmp_path / "duels_log.csv"
    duels_log.write_text(
        "game,player,team,score\n1,ann,x,1\n1,bob,y,0\n2,ann,x,1\n2,cy,x,1\n2,bob,y,0\n"
        "3,ann,,3\n3,bob,,2\n3,cy,,1\n4,bob,,2\n4,ann,,1\n"
    )
    assert document(duels_log, "--player", "ann", "--against", "bob")["counts"] == [1, 0, 1]


def test_the_command_is_the_function(duels_log: Path) -> None:
    given = ("--elo0", "-10", "--elo1", "10", "--alpha", ".1", "--beta", "0.02")
    found = document("--counts", "3,1,4", *given)
    assert found == document("--wins", "4", "--draws", "1", "--losses", "3", *given)
    assert found == sequential_test([3, 1, 4], -10, 10, 0.1, 0.02).as_dict()
    assert found == document(duels_log, "--player", "ann", "--against", "bob", *given)
    assert found["elo0"] == -10.0
