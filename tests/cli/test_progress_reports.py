"""Reports of progress off a terminal: lines on stderr, JSON lines in a file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import valmatch
from valmatch.cli import reports
from valmatch.cli.reports import Report, Reports

SMALL = ("--set", "horizon=2")
SHOTS = ("replicate", "valorant", *SMALL)


def lines_of(path: Path) -> list[dict[str, Any]]:
    """Return the reports of a file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def _always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Report at every step."""
    monkeypatch.setattr(reports, "EVERY", 0.0)


@pytest.mark.usefixtures("_always")
@pytest.mark.parametrize(
    "command",
    [
        (*SHOTS, "-n", 60),
        (*SHOTS, "-n", 30, "--sweep", "team_diff=100,200"),
        ("compare", "valorant", "--set", "team_diff=90", "-n", 30, *SMALL),
    ],
)
def test_a_line_says_how_far_a_run_is(command: tuple[object, ...], tmp_path: Path) -> None:
    path = tmp_path / "progress.jsonl"
    done = valmatch(*command, "--progress", path)
    told = [line for line in done.err.splitlines() if line.startswith("replications: ")]
    assert re.fullmatch(r"replications: 60 of 60, [\d.,]+/s, 0 s left", told[-1])
    assert max(map(len, told)) <= 80
    assert valmatch(*command).out == done.out == valmatch(*command, "-v").out
    first, *_, last = lines_of(path)
    assert (first["done"], first["rate"], first["ended"]) == (0, None, False)
    assert (last["done"], last["total"], last["ended"]) == (60, 60, True)
    assert last["rate"] > 0
    quiet = valmatch(*command, "-q", "--progress", path)
    assert (quiet.out, quiet.err) == ("", "")
    assert lines_of(path)[-1]["done"] == 60


def test_nothing_is_said_within_the_first_half_minute() -> None:
    assert reports.EVERY == 30.0
    assert "replications: " not in valmatch(*SHOTS, "-n", 60).err


@pytest.mark.usefixtures("_always")
def test_what_an_earlier_run_left_is_no_pace(tmp_path: Path) -> None:
    out, path = tmp_path / "o", tmp_path / "o" / "progress.jsonl"
    assert valmatch(*SHOTS, "-n", 40, "--out", out).code == 0
    assert valmatch(*SHOTS, "-n", 40, "--resume", "--out", out, "--progress", path).code == 0
    assert {(line["done"], line["rate"]) for line in lines_of(path)} == {(40, None)}
    assert valmatch(*SHOTS, "-n", 40, "--resume", "--out", out).code == 0  # beside the file


def test_reports_come_at_most_every_half_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, said = [100.0], list[str]()
    monkeypatch.setattr("valmatch.cli.reports.time.monotonic", lambda: clock[0])
    told = Reports("replications", 1000, said.append, None)
    told.found(200)
    for done in (200, 260, 290, 320, 400):
        told(done)
        clock[0] += 12.0
    assert said == ["replications: 320 of 1,000, 3.3/s, 3 min 24 s left"]


def test_unknown_totals_and_paces() -> None:
    assert Report("bytes", 3, None, None, False).line() == "bytes: 3"
    assert Report("bytes", 30, None, 5.0, False).line() == "bytes: 30, 5/s"


@pytest.mark.usefixtures("_always")
def test_ratings_and_searches_report_too(tmp_path: Path) -> None:
    log, path = tmp_path / "log.csv", tmp_path / "p.jsonl"
    log.write_text("winner,loser\nann,bob\n")
    assert valmatch("rate", log, "--progress", path).code == 0
    assert lines_of(path)[-1]["what"] == "bytes"
    search = ("optimize", "valorant-30min", "--budget", 100, "--solver", "random", *SMALL)
    assert valmatch(*search, "--progress", path).code in (0, 3)
    last = lines_of(path)[-1]
    assert (last["what"], last["total"], last["ended"]) == ("replications", 100, True)


def test_files_that_cannot_take_reports(tmp_path: Path) -> None:
    other, out = tmp_path / "other.csv", tmp_path / "o"
    other.write_text("a,b\n")
    for path, said in (
        (other, "holds something else than reports of progress"),
        (tmp_path, "not a regular file"),
        (tmp_path / "no" / "p.jsonl", f"there is no folder {tmp_path / 'no'}"),
        (out / "replications.csv", "a name that runs themselves use"),
        (out / "manifest.json", "a name that runs themselves use"),
    ):
        done = valmatch(*SHOTS, "-n", 3, "--out", out, "--progress", path)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert said in done.err
    assert other.read_text() == "a,b\n"
    assert not out.exists()
