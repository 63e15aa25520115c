"""Weeks of a league whose log is corrected after it was rated."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.command import success, valmatch
from tests.support.folders import everything

HEADER = "game,player_a,player_b,result\n"


def week(path: Path, number: int) -> None:
    """Write the games of a week."""
    rows = [
        f"g{number}-{k},p{(k + number) % 7},p{(k * 3 + 1) % 7},{('1-0', '0-1', '1/2-1/2')[k % 3]}\n"
        for k in range(40)
        if (k + number) % 7 != (k * 3 + 1) % 7
    ]
    path.write_text(HEADER + "".join(rows))


def corrected(path: Path) -> None:
    """Turn a result round."""
    lines = path.read_text().splitlines(keepends=True)
    game, _, result = lines[5].rpartition(",")
    lines[5] = f"{game},{'0-1' if result.startswith('1-0') else '1-0'}\n"
    path.write_text("".join(lines))


@pytest.fixture
def league(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of three weeks, rated one after the other."""
    monkeypatch.chdir(tmp_path)
    for k in (1, 2, 3):
        week(tmp_path / f"week{k}.csv", k)
        ratings = ("--system", "glicko2") if k == 1 else ("--ratings", f"week{k - 1}")
        success("rate", f"week{k}.csv", *ratings, "--out", f"week{k}")
    return tmp_path


def said(*argv: object) -> str:
    """Return the one line with which a command is refused, which leaves everything as it was."""
    before = everything(Path())
    found = valmatch("rate", *argv)
    assert (found.code, found.out, found.err.count("\n")) == (2, "", 1), found
    assert everything(Path()) == before
    return found.err


SECOND = ("week2.csv", "--ratings", "week1", "--out", "week2")


@pytest.mark.slow
def test_a_changed_log_is_named(league: Path) -> None:
    corrected(league / "week2.csv")
    assert said(*SECOND) == (
        "week2.csv: has changed since week2 was made: delete the folder week2 and rate again\n"
    )
    for words, what in (
        ("week3.csv --ratings week1", "holds the results of another run, the rating of week2.csv"),
        ("week2.csv --system elo", "another run (system glicko2, this run has elo)"),
    ):
        assert what in said(*words.split(), "--out", "week2")
    shutil.rmtree("week2")
    success("rate", *SECOND)
    assert said("week3.csv", "--ratings", "week2", "--out", "week3") == (
        "week2/ratings.csv: has changed since week3 was made: delete the folder week3 and rate"
        " again\n"
    )
    systems = ("week1.csv", "--system", "elo,glicko2", "--out", "systems")
    success("rate", *systems)
    corrected(league / "week1.csv")
    assert "has changed since systems was made" in said(*systems)


@pytest.mark.slow
@pytest.mark.parametrize("system", ["elo", "zonestats", "glicko2"])
def test_ratings_without_a_manifest_need_their_system(system: str, league: Path) -> None:
    success("rate", "week1.csv", "--system", system, "--out", "lone")
    Path("ratings.csv").write_bytes(Path("lone/ratings.csv").read_bytes())
    Path("lone/manifest.json").unlink()
    for path, shown in (("ratings.csv", "ratings.csv"), ("lone", "lone/ratings.csv")):
        assert said("week2.csv", "--ratings", path, "--out", "new") == (
            f"{shown}: no manifest.json of a rating beside it: --system says by which system it"
            " is\n"
        )
    given = ("--ratings", "ratings.csv", "--system", system, "--out", "new")
    success("rate", "week2.csv", *given)
