"""Logs of other shapes, and with other separators, are the same logs."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.command import refusal, success, valmatch
from tests.support.game_logs import random_rows, rating_command, write
from valmatch.game_logs.prediction import predict_games
from valmatch.game_logs.rating import rate_games

pytestmark = pytest.mark.usefixtures("command_line_words")

GAMES = [("ann", "bob", 1), ("cy", "ann", 0), ("bob", "cy", 2), ("ann", "cy", 1), ("cy", "bob", 2)]
"""First, second, and whether the first (1), the second (0) or neither (2) won."""

DAYS = [f"2024-03-0{k}" for k in range(1, 6)]


def plain(folder: Path) -> Path:
    """Write the games as winners and losers."""
    rows = [
        [[*((a, b) if won else (b, a)), "yes" if won == 2 else "no", day]]
        for (a, b, won), day in zip(GAMES, DAYS, strict=True)
    ]
    return write(folder / "plain.csv", rows, "winner,loser,draw,time")


SCORES = {1: ("3", "1"), 0: ("-1.5", "0"), 2: ("2", "2.0")}
RESULTS = {1: "1-0", 0: "0-1", 2: "1/2-1/2"}


SYSTEMS = {
    "whole_history": (),
    "bradley_terry": ("--cluster-days", "30"),
    "glicko2": ("--set", "period=604800"),
}


def rated_by_days(folder: Path, written: str) -> tuple[dict[str, object], str]:
    """Rate some games by all systems and predict one; return what was found, and what was said."""
    found: dict[str, object] = {}
    rows, said = [], ""
    for k, day in enumerate(["2024-01-01", "2024-02-05", "2025-03-05", "2025-03-09"]):
        moment = datetime.fromisoformat(day).replace(tzinfo=UTC)
        time = moment.strftime(written.replace("%s", f"{moment.timestamp():.0f}"))
        rows.append([[*(("ann", "bob") if k % 2 else ("bob", "ann")), "1-0", time]])
    columns = "player_a,player_b,result,time"
    log = write(folder / "log.csv", rows[:3], columns)
    to_come = write(folder / "to-come.csv", rows[3:4], columns)
    for system, options in SYSTEMS.items():
        out = folder / system
        done = success(rating_command(system), log, "--system", system, *options, "--out", out)
        said += done.err
        found[system] = predict_games(out, to_come).summary()
        summary = json.loads((out / "summary.json").read_text())
        summary.pop("warnings", None)  # which say how times were read
        found[f"{system}/summary"] = summary
        found[f"{system}/ratings"] = (out / "ratings.csv").read_text()
    return found, said


@pytest.mark.parametrize("written", ["%Y%m%d", "%Y%m%d%H", "%Y%m%d%H%M%S", "%s", "%s000"])
def test_days_are_understood_however_they_are_written(written: str, tmp_path: Path) -> None:
    (tmp_path / "iso").mkdir()
    (tmp_path / "numbers").mkdir()
    expected, said = rated_by_days(tmp_path / "iso", "%Y-%m-%d")
    assert "read as" not in said
    found, said = rated_by_days(tmp_path / "numbers", written)
    assert found == expected
    assert said.count("log.csv: read as CSV, time: time (") == len(SYSTEMS)


@pytest.mark.parametrize("system", ["zonestats", "elo", "trueskill"])
@pytest.mark.parametrize("shape", ["scores", "results", "long", "players", "pgn"])
def test_each_shape_is_the_same_log(system: str, shape: str, tmp_path: Path) -> None:
    rate_games(plain(tmp_path), system, out=tmp_path / "plain")
    columns = {}
    if shape == "scores":
        header = "time,home,away,home_score,away_score"
        rows = [[[day, a, b, *SCORES[won]]] for (a, b, won), day in zip(GAMES, DAYS, strict=True)]
    elif shape == "results":
        header = "time,map,winner,loser,winner_score,loser_score"
        ends = [(b, a) if won == 0 else (a, b) for a, b, won in GAMES]
        rows = [[[day, "Ascent", *end, "2", f"{int(won == 2) + 1}"]]
                for end, (*_, won), day in zip(ends, GAMES, DAYS, strict=True)]  # fmt: skip
    elif shape == "long":
        header = "id,who,points,time"
        rows = [[[f"{k + 1}", a, f"{int(won == 1)}", day],
                 [f"{k + 1}", b, f"{int(won == 0)}", day]]
                for k, ((a, b, won), day) in enumerate(zip(GAMES, DAYS, strict=True))]  # fmt: skip
        columns = {"game": "id", "player": "who", "score": "points"}
    else:
        header = "player_a,player_b,result,time"
        rows = [[[a, b, RESULTS[won], day]] for (a, b, won), day in zip(GAMES, DAYS, strict=True)]
    if shape == "pgn":
        header = "White,Black,Result,Date"
        rows = [[[*row[:3], row[3].replace("-", ".")]] for (row,) in rows]
        columns = dict(zip(("player_a", "player_b", "result", "time"), header.split(","),
                           strict=True))  # fmt: skip
    path = write(tmp_path / "log.csv", rows, header)
    rate_games(path, system, columns=columns, out=tmp_path / "out")
    for name in ("ratings.csv", "history.csv", "summary.json"):
        assert (tmp_path / "out" / name).read_text() == (tmp_path / "plain" / name).read_text()
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert (manifest["columns"], manifest["system"]) == (columns, system)
    for name in ("result", "score"):  # which fixtures do not have
        columns.pop(name, None)
    found = predict_games(tmp_path / "out", path, columns=columns).games
    sides = [sorted(map(list, [side.players for side in one.sides])) for one in found]
    assert sides == [sorted([[a], [b]]) for a, b, _ in GAMES]


def test_games_without_a_result_are_left_out(tmp_path: Path) -> None:
    rows = [[["a", "b", result]] for result in ("1-0", "*", "0-1")]
    path = write(tmp_path / "log.csv", rows, "player_a,player_b,result")
    said: list[str] = []
    result = rate_games(path, "elo", warn=said.append)
    assert (result.games, result.skipped_games) == (2, {})
    assert "1 game left out: no result (*)" in said


@pytest.mark.parametrize(
    ("name", "character"),
    [("semicolon", ";"), (";", ";"), ("tab", "\t"), ("bar", "|"), ("comma", ",")],
)
def test_cells_may_have_another_separator(name: str, character: str, tmp_path: Path) -> None:
    """Commas are then letters, and empty cells between tabs are cells."""
    games = random_rows(3)
    header = "game,player,team,score,minutes,note"
    for k, game in enumerate(games):
        for row in game:
            row[1] = f'"{row[1]}{character} ,"'
            row[2] = "" if k % 3 == 0 else row[2]
            row.append("")
    rate_games(write(tmp_path / "a.csv", games, header), "elo", out=tmp_path / "a")
    path = tmp_path / "b.csv"
    lines = [header.split(","), *(row for game in games for row in game)]
    path.write_text("".join(character.join(row) + "\n" for row in lines), encoding="utf-8")
    success("rate", path, "--system", "elo", "--separator", name, "--out", tmp_path / "b")
    for file in ("ratings.csv", "history.csv", "summary.json"):
        assert (tmp_path / "a" / file).read_text() == (tmp_path / "b" / file).read_text()
    fixtures = tmp_path / "f.csv"
    fixtures.write_text(f"home{character}away\np1{character}p2\n")
    told = valmatch("predict", tmp_path / "b", fixtures, "--separator", name, "--json")
    sides = json.loads(told.out)["games"][0]["sides"]
    assert [side["players"] for side in sides] == [["p1"], ["p2"]]


def test_other_separators_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", random_rows(4))
    what = "--separator: 'x' (allowed: comma or semicolon or tab or bar"
    assert refusal("rate", path, "--separator", "x").startswith(what)
