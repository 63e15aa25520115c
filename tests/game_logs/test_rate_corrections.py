"""Weeks of a league whose log is corrected after it was rated."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.storage.test_folders import everything
from tests.support.command import valmatch

HEADER = "game,player_a,player_b,result\n"


def week(path: Path, number: int, named: bool = True, n: int = 40) -> Path:
    """Write the games of a week."""
    rows = [
        f"g{number}-{k},p{(k + number) % 7},p{(k * 3 + 1) % 7},{('1-0', '0-1', '1/2-1/2')[k % 3]}\n"
        for k in range(n)
        if (k + number) % 7 != (k * 3 + 1) % 7
    ]
    header = HEADER
    if not named:
        header, rows = HEADER[5:], [row.partition(",")[2] for row in rows]
    path.write_text(header + "".join(rows))
    return path


def corrected(path: Path, row: int = 5) -> None:
    """Turn a result round."""
    lines = path.read_text().splitlines(keepends=True)
    game, _, result = lines[row].rpartition(",")
    lines[row] = f"{game},{'0-1' if result.startswith('1-0') else '1-0'}\n"
    path.write_text("".join(lines))


@pytest.fixture
def league(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of three weeks, rated one after the other."""
    monkeypatch.chdir(tmp_path)
    for k in (1, 2, 3):
        week(tmp_path / f"week{k}.csv", k)
        ratings = ("--system", "glicko2") if k == 1 else ("--ratings", f"week{k - 1}")
        assert valmatch("rate", f"week{k}.csv", *ratings, "--out", f"week{k}").code == 0
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
        "week2.csv: has changed since week2 was made (--redo rates it again, or choose another"
        " folder)\n"
    )
    assert "holds the results of another run, the rating of week2.csv" in said(
        "week3.csv", "--ratings", "week1", "--out", "week2"
    )
    assert "another run (system glicko2, this run has elo)" in said(
        "week2.csv", "--system", "elo", "--out", "week2"
    )
    assert "--redo: needs --out" in said("week2.csv", "--redo")


@pytest.mark.slow
def test_a_past_week_is_rated_again(league: Path) -> None:
    corrected(league / "week1.csv")
    first = ("week1.csv", "--system", "glicko2", "--out", "week1")
    redone = valmatch("rate", *first, "--redo")
    assert redone.code == 0, redone.err
    assert (
        "warning: week2: went on from the ratings that week1 held before; rate week2.csv again,"
        " too (--redo)\n"
    ) in redone.err
    assert "week3" not in redone.err
    assert said(*SECOND).startswith("week1/ratings.csv: has changed since week2 was made (--redo")
    for k in (2, 3):
        again = ("rate", f"week{k}.csv", "--ratings", f"week{k - 1}", "--out", f"week{k}")
        found = valmatch(*again, "--redo")
        assert found.code == 0, found.err
        assert ("week3: went on" in found.err) == (k == 2)
    # As if the log had been right from the start.
    assert valmatch("rate", *first[:-1], "new1").code == 0
    for k in (2, 3):
        new = ("--ratings", f"new{k - 1}", "--out", f"new{k}")
        assert valmatch("rate", f"week{k}.csv", *new).code == 0
        for name in ("ratings.csv", "history.csv", "summary.json"):
            assert Path(f"week{k}", name).read_bytes() == Path(f"new{k}", name).read_bytes()
    # It is the same run from now on.
    assert valmatch("rate", *SECOND).code == 0
    assert valmatch("rate", *SECOND, "--redo").code == 0


@pytest.mark.slow
def test_redo_replaces_nothing_else(league: Path) -> None:
    corrected(league / "week2.csv")
    for argv, what in (
        (("week3.csv", "--ratings", "week1", "--out", "week2"), "the rating of week2.csv"),
        (("week2.csv", "--system", "elo", "--out", "week2"), "another run (system"),
        (("week2.csv", "--ratings", "week2", "--out", "week2"), "would replace what is read"),
        ((*SECOND, "--burn-in", 3), "another run (burn_in"),
    ):
        assert what in said(*argv, "--redo")
    bad = league / "week2.csv"
    bad.write_text(bad.read_text() + "g9,p1,p2,5-7\n")
    assert "week2.csv:" in said(*SECOND, "--redo")
    (league / "other").mkdir()
    (league / "other" / "ratings.csv").write_text("mine\n")
    assert "which no run has written" in said(
        "week1.csv", "--system", "elo", "--out", "other", "--redo"
    )


@pytest.mark.slow
def test_redo_of_a_comparison_and_of_nothing(league: Path) -> None:
    systems = ("week1.csv", "--system", "elo,glicko2", "--out", "systems")
    assert valmatch("rate", *systems, "--redo").code == 0
    corrected(league / "week1.csv")
    assert "has changed since systems was made" in said(*systems)
    assert valmatch("rate", *systems, "--redo").code == 0
    assert valmatch("rate", *systems).code == 0


@pytest.mark.slow
@pytest.mark.parametrize("named", [True, False])
def test_ratings_of_a_corrected_log_are_compared(
    named: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    log = week(tmp_path / "log.csv", 1, named)
    games = log.read_text().count("\n") - 1
    assert valmatch("rate", "log.csv", "--system", "elo", "--out", "before").code == 0
    corrected(log)
    assert valmatch("rate", "log.csv", "--system", "elo", "--out", "after").code == 0
    found = valmatch("compare", "before", "after", "--json")
    assert found.code == 0, found.err
    what = "log.csv has changed between the two ratings: compared by the"
    assert f"{what} {games - 1} games that are the same in both" in found.err
    assert json.loads(found.out)["systems"]
    # A row that was forgotten shifts the numbers of games without a name.
    lines = log.read_text().splitlines(keepends=True)
    row = "g-new,p1,p2,1-0\n"
    log.write_text("".join([*lines[:20], row if named else row[6:], *lines[20:]]))
    assert valmatch("rate", "log.csv", "--system", "glicko2", "--out", "longer").code == 0
    found = valmatch("compare", "after", "longer")
    assert found.code == 0, found.err
    assert f"{what} {games} games" in found.err
    week(tmp_path / "other.csv", 4, named)
    assert valmatch("rate", "other.csv", "--system", "elo", "--out", "other").code == 0
    found = valmatch("compare", "after", "other")
    assert (found.code, found.err.count("\n")) == (2, 1)
    assert "ratings of different logs, log.csv and other.csv" in found.err


@pytest.mark.slow
@pytest.mark.parametrize("system", ["elo", "zonestats", "glicko2"])
def test_ratings_without_a_manifest_need_their_system(system: str, league: Path) -> None:
    assert valmatch("rate", "week1.csv", "--system", system, "--out", "lone").code == 0
    Path("ratings.csv").write_bytes(Path("lone/ratings.csv").read_bytes())
    Path("lone/manifest.json").unlink()
    for path, shown in (("ratings.csv", "ratings.csv"), ("lone", "lone/ratings.csv")):
        assert said("week2.csv", "--ratings", path, "--out", "new") == (
            f"{shown}: no manifest.json of a rating beside it: --system says by which system it"
            " is\n"
        )
    given = ("--ratings", "ratings.csv", "--system", system, "--out", "new")
    assert valmatch("rate", "week2.csv", *given).code == 0
