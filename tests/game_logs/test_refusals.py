"""What the commands on game logs refuse: one line that names the place, and nothing is written."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.support.case_tables import cases
from tests.support.command import refusal, valmatch

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
    "moving": ("rank", "circle.csv", "--covariate", "x", "--prior", "200"),
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
rank FILE --weight w | game,player,score,w\n1,a,1,1\n1,b,0,2\n | w: '2' is not what the first row
rank FILE --cluster v | winner,loser,v\nann,bob,1\nbob,ann,\n | v: the cell is empty
rank FILE | winner,loser\n | holds no game that can be rated
rank circle.csv --anchors FILE | player,rating\nann,1\nann,2\n | FILE:3:1: player: 'ann' is there
rank circle.csv --anchors FILE | player,rating\nzoe,1500\n | none of its players has played
rank circle.csv --anchors FILE | player,rating,deviation\nann,1500,-1\n | FILE:2:10: deviation: '-1'
rank circle.csv --anchors FILE | player,rating\n"ann, b",nan\n | FILE:2:10: rating: 'nan'
rank circle.csv --anchors FILE | player,rating\n"ann\nb",nan\n | FILE:3: rating: 'nan'
rank circle.csv --anchors FILE | player\nann\n | no column rating
rank FILE --system whole_history | winner,loser,when\nann,bob,1\n | whole_history: needs times
rank FILE --system whole_history | winner,loser,time\nann,bob,1\nann,bob,\n | FILE:3
rank FILE --system whole_history | winner,loser,time\na,b,1\nb,a,-1e15\n | time: beyond day
predict elo FILE | home,away\na,a\n | FILE:2: 'a' is in this game twice
predict elo FILE | home,away\na,b;\n | FILE:2: a side has a player without a name
predict elo FILE | home,away,time\na,b,soon\n | FILE:2: time: 'soon' (allowed: a number or
predict elo FILE | home,awya\na,b\n | FILE:1: no column 'away' (did you mean awya? fixtures
predict elo FILE | home,away\n | FILE: holds no game to predict
predict elo FILE | game,player\n1,a\n2,b\n | FILE:2: game '1' has one side (allowed: two or
predict elo FILE | game,player\n1,a\n1,b\n2,a\n2,b\n1,c\n1,d\n | FILE:6: game '1' was there before
predict moving FILE | player_a,player_b,x_a,x_b\nann,bob,4,\n | FILE:2: x_b: empty
predict moving FILE | side_1,side_2,side_3,x\nann,bob,cy,1\n | FILE:2: x: of 3 sides
sprt FILE --player a --against b | player_a,player_b,result\na,b,2?2\n | FILE:2:5: result: '2?2'
rate zoned FILE | rank,player\n1,a\n | FILE:1: no column 'rating' (ratings
  by zonestats have player, rating
rate zoned FILE | player,rating\na,5\na,6\n | FILE:3: player: 'a' is here
rate zoned FILE | player,rating\na,high\n | FILE:2: rating: 'high' (allowed: a number from -1e+100
rate zoned FILE | player,rating,games\na,5,1.5\n | FILE:2: games:
  '1.5' (allowed: a whole number)
rate zoned FILE | player,rating,last_game\na,5,soon\n | FILE:2:
  last_game: 'soon' (allowed: a number or an ISO
rank circle.csv --alias FILE | name,alias\nann,x\n | FILE:2:5: alias: 'x' is nobody in
rate circle.csv --system elo --alias FILE | name,alias\nzed,bob\nann,bob\n | FILE:3:5: alias: 'bob'
  is there twice
rank circle.csv --alias FILE | name,alias\nann,bob\nbob,cy\n | FILE:3:1: name: 'bob' is itself an
  alias of 'ann', which goes by 'ann'
rate circle.csv --system elo --alias FILE | name,alias\nann,bob\nbob,ann\n | FILE:2:1: name: 'ann'
  is itself an alias of 'bob', and so on in a circle
rank circle.csv --alias FILE | name,alias\nann,ann\n | FILE:2:5: alias: 'ann' is the name itself
rank circle.csv --alias FILE | name,alias\n | holds no alias
rate circle.csv --system elo --alias FILE | player,alias\nann,bob\n | FILE:1: no column name
rate FILE --system elo | {"model_a": "x", "model_b": "y", "winner": "tie"}\n{"model_a": "x", |
  FILE:2:17: is no JSON:
rate FILE --system elo | {"model_a": "x"}\n[1]\n | FILE:2:1: ['1'] (allowed: a JSON object on each
  line)
rate FILE --system elo | {"a": {"b": "\ud800"}}\n | FILE:1:1: holds half a character
rate FILE --system elo | [{"a": 1}] | FILE:1: is one list of JSON (allowed: JSON lines
rate FILE --system elo | {"model_a": "x", "model_b": "y", "winner": "who"}\n | FILE:1:34: winner:
  'who' (allowed
rate FILE --system elo | [White "a"]\n[Black "b"]\n[Result "1-0"]\n\n1. e4 {no\n\n[White "c"]\n |
  FILE:5:1: a comment
rate FILE --system elo | [White "a"]\n[Black "b"]\n[Result "1-0"]\n\n1. e4\n\n[White "c | FILE:7:1:
  '[White "c' is no
rate FILE --system elo | [White "a"]\n[Black "b"]\n[Result "1-0"]\n\n[Black "b"]\n[Result "0-1"]\n
  | FILE:5:1: White: the cell is empty
rate FILE --system elo | [White "a"]\n[Black "b"]\n[Result "2-0-1"]\n | FILE:3:1: Result: '2-0-1'
  (allowed: 1-0
rate FILE --system elo | "a;b";c\n1;2\n | FILE:1: no column 'game'
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
rank circle.csv --covariate w --covariate w | --covariate: w is given twice
rank circle.csv --cluster-days 7 | --cluster-days: needs times
rank circle.csv --cluster v --interval none | --cluster: --interval none has no use for it
rank circle.csv --prior 1e-200 | points from 0.001 to 1e+06
rank circle.csv --anchors nowhere.csv | nowhere.csv: cannot be read: No such file
rank circle.csv --home fit | --home fit: no game has one side at home
rank circle.csv --tune K | --tune: goes with --system whole_history
rank circle.csv --burn-in 0 | No such option: --burn-in
rank circle.csv --system elo | --system elo: valmatch rate follows a log game by game
rank circle.csv --system bt | ; did you mean bradley_terry?)
rank circle.csv --draws elo | --draws: 'elo' (allowed: davidson or half)
rank dated.csv --system whole_history --prior 100 | --prior: whole_history knows a first day and a
rank dated.csv --system whole_history --tune mean | --tune mean: whole_history fits drift alone
rank dated.csv --system whole_history --tune drift --set drift=2 | --tune drift: is given by --set
rank dated.csv --system whole_history --set drift=-1 | drift=-1.0: out of range
rate circle.csv --columns gane=game | --columns: gane: no such meaning (did you mean game?)
rate circle.csv --columns game=gaming | circle.csv:1: --columns: no column 'gaming' (
rate circle.csv --columns player_a=w | --columns: player_a: has no meaning in a log in results
rate circle.csv --separator x | --separator: 'x' (allowed: comma or semicolon or tab or bar
rate circle.csv --system elo --cap every_player | every_player: elo has no cap
rate circle.csv --system elo,bradley_terry | bradley_terry: valmatch rank rates whole logs
rate circle.csv --system bt | bt: no such system (did you mean bradley_terry (of valmatch rank)?)
rate circle.csv --system elo --tune k | --tune k: elo has no such parameter
rate circle.csv --tune GAME_MULTI | (did you mean GAME_MULT?)
rate circle.csv --system elo --tune K --train 0.001 | --train 0.001: leaves a part of the 4 games
rate duels.csv --system zonestats --ratings elo | holds ratings by elo (allowed: by zonestats)
predict elo --pair a,b --out elo | --out elo: holds the results of another
rate circle.csv --set game_mult=3 | (did you mean GAME_MULT?)
rate circle.csv --set T=0 | --set T=0.0: out of range (allowed: 0.001 to 1000000.0)
rate circle.csv --system eloo | --system eloo: no such system (did you mean elo?)
rate circle.csv --system elo,elo | --system: elo is given twice
rate circle.csv --system elo,zonestats --set K=3 | --set K: of which system? (allowed: elo.K
rate circle.csv --system elo,zonestats --tune K | --tune K: of which system? (allowed: elo.K
rate circle.csv --system elo,zonestats --ratings . | --ratings: goes with one --system
predict elo | FIXTURES.csv or --pair: says which games to predict
predict elo --pair a | --pair 'a': has one side (allowed: two or more, such as
predict elo --pair a;b,b;c | --pair 'a;b,b;c': 'b' is in this game
predict elo --pair a,b --system glicko2 | elo/ratings.csv: holds
predict lone.csv --pair a,b | lone.csv: no manifest.json of a rating beside it: --system
predict lone.csv --pair a,b --system bradley_terry | (allowed: a folder of `rank`)
predict nowhere --pair a,b | nowhere: no manifest.json of a rating
next flat --new zoe | was rated without a prior
next rated --new a | --new: 'a' is rated already
next rated --without aa | did you mean a?
next rated --without a,b | no pair is left to play
next rated --goal order --policy uniform | goes with --policy
next rated --policy informaton | did you mean information?
next rated --allowed bad.csv | bad.csv:3:3: player_b: 'cc' is not rated (did you
next rated --allowed self.csv | self.csv:2:3: player_b: 'a' cannot play themselves
next elo | holds ratings by elo (allowed: by bradley_terry)
next partly | 1 of 3 players have no rating: 'c' (rank with --prior
next bare | ratings without intervals
next lone.csv | no manifest of a rating beside it
next nowhere | no such file
plan --best 0.9 | --players: is missing (allowed: --players and --spread, or a folder
plan --players 4 --spread 1 | none of them given (allowed: one)
plan --players 4 --spread 1 --best 0.9 --shown 0.9 | --best and --shown given (allowed: one)
plan --players 4 --spread -1 --best 0.9 | --spread: -1.0 (allowed: points >= 0
plan --players 4 --spread 1 --best 0.9 --draws 1 | --draws: 1.0 (allowed: a share below 1)
plan --players 4 --spread 1 --best 0.9 --prior x | --prior: 'x' (allowed: points, or none)
plan --players 4 --spread 1 --best 0.9 --goal best | --goal: best goes with --policy
plan nowhere --best 0.9 | nowhere
plan rated --best 0.9 --spread 3 | --spread: goes without a folder of ratings
sprt | GAMES.csv or --counts: one of both must be given
sprt pairs.csv --counts 1,2,3 | GAMES.csv or --counts: one of both, not both
sprt --counts 1,-2,3 | --counts: '1,-2,3' (allowed: L,D,W, or LL,
sprt --counts 0,0,0 | --counts: no game
sprt --counts 1,2,3 --elo0 5 | --elo0: 5.0 is not below --elo1 5.0
sprt --counts 1,2,3 --elo0 x | --elo0: 'x' (allowed: a number)
sprt --counts 1,2,3 --alpha 0.7 --beta 0.3 | --alpha 0.7 and --beta 0.3
sprt --counts 1,2,3 --player ann | --player: goes with GAMES.csv
sprt pairs.csv --player ann | --against: is missing
sprt pairs.csv --player an --against bob | --player: 'an' is nobody in pairs.csv; did you mean ann?
sprt pairs.csv --player ann --against ann | --against: 'ann' is --player, too
sprt pairs.csv --player bob --against cy | pairs.csv: holds no game between 'bob'
sprt pairs.csv --player ann --against bob --pairs-by openin | did you mean opening?
sprt pairs.csv --player cy --against ann --pairs-by opening | no two of the 1 games share a cell
""")


@pytest.mark.parametrize(("command", "says"), OF_OPTIONS)
def test_a_bad_option_is_refused_in_one_line(
    command: str, says: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    words = shlex.split(command)
    out = () if words[0] == "sprt" or "--out" in words else ("--out", "new")
    assert says in refusal(*words, *out)
    assert not (folder / "new").exists()
