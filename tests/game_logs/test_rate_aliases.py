"""Players whom a log calls by aliases."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.case_tables import cases
from tests.support.command import refusal, success
from tests.support.game_logs import LONG, random_rows, rating_command, write
from valmatch.errors import InputError
from valmatch.game_logs.rating import rate_games

SYSTEMS = ("elo", "glicko2", "bradley_terry")
GAMES = ["ann,bob,1-0", "bob,cy,1-0", "cy,ann,1-0", "ann,cy,1/2-1/2", "bob,ann,1-0", "dan,ann,0-1"]


def log_of(path: Path, games: list[str] = GAMES) -> Path:
    path.write_text("\n".join(["player_a,player_b,result", *games, ""]))
    return path


def rated(folder: Path, system: str, log: Path, *options: object) -> str:
    """Return the ratings of a log; everybody has one."""
    more = ("--prior", "200") if system == "bradley_terry" else ()
    success(rating_command(system), log, "--system", system, *more, *options, "--out", folder)
    return (folder / "ratings.csv").read_text()


@pytest.mark.parametrize("system", SYSTEMS)
def test_aliases_are_the_log_with_names_in_their_place(system: str, tmp_path: Path) -> None:
    aliases = tmp_path / "aliases.csv"
    aliases.write_text('name,alias\nann,ann the great\nbob,"Bob, jr"\nann,zzz\n')
    other = ["ann the great,bob,1-0", '"Bob, jr",cy,1-0', "cy,zzz,1-0", *GAMES[3:]]
    other[4] = "bob,zzz,1-0"
    want = rated(tmp_path / "plain", system, log_of(tmp_path / "a.csv"))
    got = rated(tmp_path / "alias", system, log_of(tmp_path / "b.csv", other), "--alias", aliases)
    assert got == want


def test_aliases_work_in_long_format(tmp_path: Path) -> None:
    games = random_rows(2, 60, sides=(2, 3))
    want = rate_games(write(tmp_path / "a.csv", games, LONG), "glicko2", out=tmp_path / "a")
    renamed = [[[row[0], f"the {row[1]}" if k % 2 else row[1], *row[2:]] for row in game]
               for k, game in enumerate(games)]  # fmt: skip
    players = sorted({row[1] for game in games for row in game})
    aliases = tmp_path / "aliases.csv"
    aliases.write_text("\n".join(["name,alias", *(f"{p},the {p}" for p in players), ""]))
    log = write(tmp_path / "b.csv", renamed, LONG)
    got = rate_games(log, "glicko2", alias=aliases, out=tmp_path / "b")
    assert got.ranking == want.ranking
    for name in ("ratings.csv", "history.csv"):
        assert (tmp_path / "a" / name).read_text() == (tmp_path / "b" / name).read_text()


BAD = cases(r"""
name,alias\nann,x\n | aliases.csv:2:5: alias: 'x' is nobody in
name,alias\nzed,bob\nann,bob\n | aliases.csv:3:5: alias: 'bob' is there twice
name,alias\nann,bob\nbob,cy\n | aliases.csv:3:1: name: 'bob' is itself an alias of 'ann', which
  goes by 'ann'
name,alias\nann,bob\nbob,ann\n | aliases.csv:2:1: name: 'ann' is itself an alias of 'bob', and so
  on in a circle
name,alias\nann,ann\n | aliases.csv:2:5: alias: 'ann' is the name itself
name,alias\n,ann\n | aliases.csv:2:1: name: the cell is empty
name,alias\n | holds no alias
player,alias\nann,bob\n | aliases.csv:1: no column name
""")


@pytest.mark.parametrize("system", ["elo", "bradley_terry"])
@pytest.mark.parametrize(("text", "message"), BAD)
def test_bad_aliases_are_refused(system: str, text: str, message: str, tmp_path: Path) -> None:
    log, aliases, out = log_of(tmp_path / "log.csv"), tmp_path / "aliases.csv", tmp_path / "out"
    aliases.write_text(text)
    command = (rating_command(system), log, "--system", system, "--alias", aliases, "--out", out)
    assert message in refusal(*command)
    assert not out.exists()


def test_a_fault_of_a_renamed_player_has_its_line(tmp_path: Path) -> None:
    aliases = tmp_path / "aliases.csv"
    aliases.write_text("name,alias\nann,bob\n")
    log = log_of(tmp_path / "log.csv")
    with pytest.raises(InputError, match=r"log.csv:2:5: player_b: 'ann' is in this game twice"):
        rate_games(log, "elo", alias=aliases)
