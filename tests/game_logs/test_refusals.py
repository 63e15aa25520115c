"""What the commands on game logs refuse, in one line that names the place, and what they remark."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.support.case_tables import cases
from tests.support.command import refusal, success, valmatch

CIRCLE = "winner,loser,w,v,x\nann,bob,1,1,0.5\nbob,cy,2,2,1\ncy,ann,1,3,-1\ncy,bob,1,1,2\n"
DATED = "winner,loser,time\nann,bob,2024-01-01\nbob,cy,2024-01-03\ncy,ann,2024-02-01\n"
FILES = {
    "circle.csv": CIRCLE,
    "dated.csv": DATED,
    "duels.csv": "winner,loser\n" + "a,b\nb,c\nc,a\nb,a\n" * 15,
    "pairs.csv": "player_a,player_b,result,opening\nann,bob,1-0,1\nbob,ann,0-1,1\nann,cy,1-0,2\n",
    "partly.csv": "winner,loser\na,b\nb,a\nc,a\n",
    "bad.csv": "player_a,player_b\na,b\na,cc\n",
    "self.csv": "player_a,player_b\na,a\n",
}
RATINGS = {
    "elo": ("rate", "duels.csv", "--system", "elo"),
    "rated": ("rank", "duels.csv", "--prior", "200"),
    "flat": ("rank", "duels.csv"),
    "bare": ("rank", "duels.csv", "--interval", "none"),
    "partly": ("rank", "partly.csv"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of logs, and of ratings of them."""
    folder = tmp_path_factory.mktemp("refusals")
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    for name, (command, log, *options) in RATINGS.items():
        assert valmatch(command, folder / log, *options, "--out", folder / name).code in (0, 3)
    (folder / "lone.csv").write_bytes((folder / "elo" / "ratings.csv").read_bytes())
    return folder


OF_FILES = cases(
    r"""
rank FILE --weight w | winner,loser,w\nann,bob,1\nbob,ann,-2\n | FILE:3:9: w: '-2'
rank FILE --cluster v | winner,loser,v\nann,bob,1\nbob,ann,\n | v: the cell is empty
rank circle.csv --anchors FILE | player,rating\nann,1\nann,2\n | FILE:3:1: player: 'ann' is there
rank FILE --system whole_history | winner,loser,time\nann,bob,1\nann,bob,\n | FILE:3
predict elo FILE | home,away\na,a\n | FILE:2: 'a' is in this game twice
predict elo FILE | home,awya\na,b\n | FILE:1: no column 'away' (did you mean awya? fixtures
predict elo FILE | game,player\n1,a\n1,b\n2,a\n2,b\n1,c\n1,d\n | FILE:6: game '1' was there before
sprt FILE --player a --against b | player_a,player_b,result\na,b,2?2\n | FILE:2:5: result: '2?2'
rate zoned FILE | player,rating\na,5\na,6\n | FILE:3: player: 'a' is here
rank circle.csv --alias FILE | name,alias\nann,x\n | FILE:2:5: alias: 'x' is no player of
rate circle.csv --system elo --alias FILE | name,alias\nann,bob\nbob,ann\n | FILE:2:1: name: 'ann'
  is itself an alias of 'bob' (allowed
rate FILE --system elo | {"model_a": "x", "model_b": "y", "winner": "tie"}\n{"model_a": "x", |
  FILE:2:17: is no JSON:
rate FILE --system elo | {"model_a": "x", "model_b": "y", "winner": "who"}\n | FILE:1:34: winner:
  'who' (allowed
rate FILE --system elo | [White "a"]\n[Black "b"]\n[Result "1-0"]\n\n1. e4 {no\n\n[White "c"]\n |
  FILE:5:1: a comment
rate FILE --system elo | [White "a"]\n[Black "b"]\n[Result "1-0"]\n\n[Black "b"]\n[Result "0-1"]\n
  | FILE:5:1: White: the cell is empty
rate FILE --system elo | winner,loser,time\na,b,13/01/2024\na,b,14/01/2024\na,b,01/20/2024\n |
  FILE:4:5: time: '01/20/2024' (allowed: dates as day
""".replace("(\n  ", "(")
)


@pytest.mark.parametrize(("command", "text", "says"), OF_FILES)
def test_a_bad_file_is_refused_by_its_place(
    command: str, text: str, says: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    (folder / "file.csv").write_text(text, encoding="utf-8")
    command = command.replace("zoned", "duels.csv --system zonestats --ratings")
    words = command.replace("FILE", "file.csv").split()
    out = () if words[0] == "sprt" else ("--out", "new")
    assert says.replace("FILE", "file.csv") in refusal(*words, *out)
    assert not (folder / "new").exists()


OF_OPTIONS = cases(r"""
rank circle.csv --weight ww | --weight: no column 'ww'
rank circle.csv --cluster-days 7 | --cluster-days: needs times
rank circle.csv --home fit | --home fit: no game has one side at home
rank circle.csv --system elo | --system elo: valmatch rate follows a log game by game
rank dated.csv --system whole_history --tune drift --set drift=2 | --tune drift: is given by --set
rate elo --system elo | elo: is a folder (allowed: a file of games: CSV, JSON lines or PGN
rate circle.csv --columns gane=game | --columns: gane: no such meaning (did you mean game?)
rate circle.csv --system elo --cap every_player | every_player: elo has no cap
rate circle.csv --system bt | bt: no such system (did you mean bradley_terry (of valmatch rank)?)
rate circle.csv --system elo --tune K --train 0.001 | --train 0.001: leaves a part of the 4 games
rate duels.csv --system zonestats --ratings elo | holds ratings by elo (allowed: by zonestats)
predict elo --pair a,b --out elo | --out elo: holds the results of another
rate circle.csv --system elo,zonestats --set K=3 | --set K: of which system? (allowed: elo.K
rate circle.csv --system elo,zonestats --ratings . | --ratings: goes with one --system
predict elo --pair a;b,b;c | --pair 'a;b,b;c': 'b' is in this game
predict lone.csv --pair a,b | lone.csv: no manifest.json of a rating beside it: --system
next flat --new zoe | was rated without a prior
next rated --goal order --policy uniform | goes with --policy
next rated --allowed self.csv | self.csv:2:3: player_b: 'a' cannot play themselves
next elo | holds ratings by elo (allowed: by bradley_terry)
next partly | 1 of 3 players have no rating: 'c' (rank with --prior
plan --best 0.9 | --players: is missing (allowed: --players and --spread, or a folder
plan --players 4 --spread 1 --best 0.9 --shown 0.9 | --best and --shown given (allowed: one)
plan --players 9 --spread 1 --best 0.9 --sides 3 --draws 0.1 | --sides: 3 goes with --draws 0.0 (not
plan --players 4 --spread 1 --best 0.9 --sides 3 --team 2 | --players: 4 (allowed: 6 or more, who
plan rated --best 0.9 --team 2 | --team: goes without a folder of ratings
sprt --counts 1,2,3 --wins 1 | --counts: goes without --wins
sprt pairs.csv --player ann --against ann | --against: 'ann' is --player, too
rate circle.csv --system elo_margin | rates by the margin, and this log has only results
plot elo --players d | --players: 'd' has no rating here
sprt pairs.csv --player cy --against ann --pairs-by opening | no two of the 1 games share a cell
""")


@pytest.mark.parametrize(("command", "says"), OF_OPTIONS)
def test_a_bad_option_is_refused_in_one_line(
    command: str, says: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    words = shlex.split(command)
    out = () if words[0] in ("plot", "sprt") or "--out" in words else ("--out", "new")
    assert says in refusal(*words, *out)
    assert not (folder / "new").exists()


REMARKS = cases(r"""
rate --system elo --set draw_probability=0.25 | home,away,result\na,b,0-1\n | stretches the scale of
  elo: between equals 100 points are worth what 75 are without draws
rate --system elo --set home_advantage=40 | winner,loser\na,b\n | home_advantage = 40.0 counts in no
rate --system glicko2 --set period=9 | winner,loser\na,b\nb,a\na,b\n | lie in one rating period of
rate --system trueskill | game,player,team,score\n1,a,x,3\n1,b,x,3\n1,c,y,4\n | the score of a team
  is the sum
rate --system elo | winner,loser,Date\na,b,2024-01-02\na,b,\n | 1 row without a time: games keep
rate --system elo | home,away,result\na,b,1-0\na,b,*\n | 1 game skipped: no result (*)
rate --system elo,glicko2 | winner,loser\na,b\n | no interval: there is one block of games only
rank --bootstrap 40 | winner,loser\na,b\nb,c\nc,a\n | no interval of the bootstrap has an end
""")


@pytest.mark.parametrize(("command", "text", "says"), REMARKS)
def test_what_may_mislead_is_remarked_upon(
    command: str, text: str, says: str, tmp_path: Path
) -> None:
    (tmp_path / "log.csv").write_text(text, encoding="utf-8")
    name, *options = command.split()
    done = success(name, tmp_path / "log.csv", *options)
    assert says in " ".join((done.out + done.err).split())
