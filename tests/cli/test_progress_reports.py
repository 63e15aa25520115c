"""Reports of progress off a terminal: lines on stderr."""

from __future__ import annotations

import re

import pytest

from tests.support.command import valmatch
from valmatch.cli import console
from valmatch.cli.console import Bar
from valmatch.kernels.first_run import compiling

SMALL = ("--set", "horizon=2")
SHOTS = ("replicate", "valorant", *SMALL)


@pytest.fixture
def _always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Report at every step."""
    monkeypatch.setattr(console, "EVERY", 0.0)


@pytest.mark.usefixtures("_always")
@pytest.mark.parametrize(
    "command",
    [
        (*SHOTS, "-n", 60),
        (*SHOTS, "-n", 30, "--sweep", "team_diff=100,200"),
        ("compare", "valorant", "--set", "team_diff=90", "-n", 30, *SMALL),
    ],
)
def test_a_line_says_how_far_a_run_is(command: tuple[object, ...]) -> None:
    done = valmatch(*command)
    told = [line for line in done.err.splitlines() if line.startswith("replications: ")]
    assert re.fullmatch(r"replications: 60 of 60, [\d.,]+/s, 0 s left", told[-1])
    assert max(map(len, told)) <= 80
    assert done.out == valmatch(*command, "-v").out
    quiet = valmatch(*command, "-q")
    assert (quiet.out, quiet.err) == ("", "")


def test_nothing_is_said_within_the_first_half_minute() -> None:
    assert console.EVERY == 30.0
    assert "replications: " not in valmatch(*SHOTS, "-n", 60).err


@pytest.mark.parametrize("compiled", [0.0, 600.0])
def test_reports_come_at_most_every_half_minute(
    compiled: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time in which kernels are compiled counts for no pace."""
    clock, said = [100.0], list[str]()
    monkeypatch.setattr("valmatch.cli.console.time.monotonic", lambda: clock[0])
    told = Bar("replications", 1000, said.append)
    told.found(200)  # by an earlier run, which says nothing of the pace
    for steps in (200, 60, 30, 30, 80):
        told(steps)
        compiling.begin("")
        clock[0] += compiled
        compiling.end()
        clock[0] += 12.0
    assert said == ["replications: 320 of 1,000, 3.3/s, 3 min 24 s left"]


@pytest.mark.usefixtures("_always")
def test_unknown_totals_and_paces() -> None:
    said = list[str]()
    for total in (None, 9):
        told = Bar("bytes", total, said.append)
        told.found(3)
        told(3)
    assert said == ["bytes: 3", "bytes: 3 of 9"]


@pytest.mark.usefixtures("_always")
def test_searches_report_too() -> None:
    search = ("optimize", "valorant-30min", "--budget", 100, "--solver", "random", *SMALL)
    done = valmatch(*search)
    assert done.code in (0, 3)
    assert re.search(r"^replications: 100 of 100, ", done.err, re.MULTILINE)
