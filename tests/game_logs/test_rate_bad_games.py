"""Games of a log that cannot be used: left out up to a limit, with an example of each kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command import success, valmatch
from valmatch.game_logs.rating import rate_games

GOOD = "".join(f"a{k % 7},b{k % 5},1,0\n" for k in range(95))
TWICE, NO_NUMBER = "x,x,1,0\n", "x,y,one,0\n"


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path("games.csv")


def write(log: Path, *bad: str) -> None:
    log.write_text("winner,loser,winner_score,loser_score\n" + GOOD + "".join(bad))


@pytest.mark.parametrize("system", ["elo", "elo,glicko2"])
def test_up_to_a_twentieth_is_left_out_with_an_example_of_each_kind(log: Path, system: str) -> None:
    write(log, *[TWICE] * 3, *[NO_NUMBER] * 2)
    done = success("rate", log, "--system", system, "--skip-bad-games")
    for said in (
        "games.csv: 5 bad games left out (2 not a number, 3 player twice in a game), the first:",
        "games.csv:97:3: loser: 'x' is in this game twice",
        "left out, too: games.csv:100:5: winner_score: 'one' (allowed: a finite number)",
    ):
        assert said in done.err


@pytest.mark.slow
@pytest.mark.parametrize("system", ["elo", "elo,glicko2"])
def test_more_are_refused_unless_told_otherwise(log: Path, system: str) -> None:
    write(log, *[TWICE] * 4, *[NO_NUMBER] * 2)
    command = ("rate", log, "--system", system, "--out", "out")
    done = valmatch(*command, "--skip-bad-games")
    assert (done.code, done.out) == (2, "")
    lines = [one for one in done.err.splitlines() if not one.startswith(("warning", "note"))]
    assert lines[0] == (
        "games.csv: 6 of 101 games are bad (2 not a number, 4 player twice in a game), more than 5"
        " %: --max-bad-rows 0.06 leaves them out all the same"
    )
    assert lines[1].startswith("games.csv:97:3: loser: ")
    assert lines[2].startswith("games.csv:101:5: winner_score: ")
    assert not Path("out").exists()
    for share in ("0.06", "6%"):
        success(*command, "--max-bad-rows", share)
    assert valmatch(*command, "--max-bad-rows", "0.05").code == 2


@pytest.mark.parametrize("timed", [False, True])
def test_the_limit_counts_games_and_not_rows(log: Path, timed: bool) -> None:
    header = "game,player,score" + ",time" * timed
    games = [(f"g{k}", [f"a{k % 3}", f"b{k % 4}", f"c{k % 5}"]) for k in range(20)]
    games[7] = ("g7", ["a", "a", "b"])
    rows = [
        f"{name},{player},{place}" + f",{name[1:]}" * timed
        for name, players in games
        for place, player in enumerate(players)
    ]
    log.write_text("\n".join([header, *rows]) + "\n")
    assert rate_games(log, "elo", skip_bad_games=True).skipped_games == {
        "player twice in a game": 1
    }
    assert valmatch("rate", log, "--max-bad-rows", "0.04").code == 2
