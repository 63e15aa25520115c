"""Findings: one sentence each, with interval, n and confidence, and no more than is known."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import valmatch
from tests.support.report_runs import RUNS
from valmatch.models.model import Response
from valmatch.present.document import change_in_words, mean_in_words
from valmatch.statistics.estimates import Estimate

RunOf = Callable[[str], Path]

WAIT = Response("wait", "minutes", "mean wait")


def said_of(folder: Path) -> tuple[str, str]:
    """Return what was asked and found, from the Markdown of a report."""
    lines = [line for line in valmatch.report(folder, markdown=True).splitlines() if line]
    start = next(k for k, line in enumerate(lines) if line.startswith("## "))
    question, finding = lines[start + 1 : start + 3]
    return question, finding.strip("*").replace("\\", "")


def estimated(mean: float | None, half: float | None, n: int = 10, undefined: int = 0) -> Estimate:
    low, high = (None, None) if half is None or mean is None else (mean - half, mean + half)
    return Estimate(n, undefined, mean, 1.0, 0.1, low, high, 0.95, None, None)


@pytest.mark.parametrize(
    ("mean", "half", "base", "text"),
    [
        (-2.0, 0.5, 10.0, "wait falls by 2.00 ± 0.50 minutes (-20 %)"),
        (0.25, 0.0625, 0.0, "wait rises by 0.250 ± 0.062 minutes"),
        (0.5, 1.0, 10.0, "wait does not clearly change (0.5 ± 1.0 minutes)"),
        (0.0, 0.0, 10.0, "wait does not change"),
        (2.0, None, 10.0, "wait changes by +2 minutes (no interval)"),
        (None, None, None, "the change of wait is undefined"),
    ],
)
def test_change_in_words(
    mean: float | None, half: float | None, base: float | None, text: str
) -> None:
    assert change_in_words(WAIT, estimated(mean, half), base) == text


def test_what_is_undefined_is_said() -> None:
    text = mean_in_words(WAIT, estimated(None, None, n=0, undefined=7))
    assert text == "wait is undefined in all 7 replications"
    text = mean_in_words(WAIT, estimated(3.0, 0.5, undefined=2))
    assert text == "wait is 3.00 ± 0.50 minutes, undefined in 2"


ASKED = {
    "sweep": r"How do the responses of valorant depend on team_diff and wait_thresh\? 4 points, .*",
    "optimize": r"Which player_diff, .* minimise avg_team_diff .* with avg_wait_time \\<= 20 min.*",
    "frontier": r"What does upper_time cost\? .* avg_wait_time \\<= 20 to 30 minutes\? .*",
    "whole": r"Who is the best of the 9 players of log.csv, by all \d+ games together\?",
    "plan": r"How many games of 9 players, paired by uniform, reach .* 90 points.*",
    "predict": r"Who wins 2 games to come, by the ratings of elo\?",
}


@pytest.mark.parametrize("name", ASKED)
def test_what_was_asked_is_one_sentence(name: str, run_of: RunOf) -> None:
    question, _ = said_of(run_of(name))
    assert re.fullmatch(ASKED[name], question), question


@pytest.mark.parametrize("name", [name for name in RUNS if name != "predict"])
def test_findings_say_how_many_and_how_sure(name: str, run_of: RunOf) -> None:
    _, finding = said_of(run_of(name))
    assert re.search(r"n = \d|none of|None of", finding), finding
    assert re.search(r"\d% interval|at 95%|without intervals|no interval", finding), finding


def test_the_finding_of_a_comparison_is_that_of_its_summary(run_of: RunOf) -> None:
    _, finding = said_of(run_of("compare"))
    summary = json.loads((run_of("compare") / "summary.json").read_text())
    fair = summary["differences"]["avg_team_diff"]
    half = fair["ci_high"] - fair["mean"]
    match = re.search(r"avg_team_diff (?:falls|rises) by ([\d.]+) ± ([\d.]+) Elo points", finding)
    assert match, finding
    digits = len(match[1].partition(".")[2])
    assert float(match[1]) == pytest.approx(abs(fair["mean"]), abs=0.6 * 10**-digits)
    assert float(match[2]) == pytest.approx(half, rel=0.06)
    assert ("falls" in match[0]) == (fair["mean"] < 0)
    assert finding.endswith("95% intervals, n = 12 common replications.")


def test_infeasible_and_undecided_points_are_called_so(run_of: RunOf, tmp_path: Path) -> None:
    for answer, text in (
        (False, "No feasible point was found"),
        ("undecided", "Too close to call"),
        (True, "is certified as feasible"),
        ("of one", "is feasible in its one replication"),
    ):
        folder = tmp_path / str(answer)
        shutil.copytree(run_of("optimize"), folder)
        summary = json.loads((folder / "summary.json").read_text())
        point = summary["recommended"] or summary["least_violation"]
        if answer == "of one":
            point["objective"] |= {"n": 1, "ci_low": None, "ci_high": None}
        roles = {"recommended": None, "least_violation": point}
        summary |= roles if answer is False else {"recommended": point}
        (folder / "summary.json").write_text(
            json.dumps({**summary, "feasible": answer == "of one" or answer})
        )
        _, finding = said_of(folder)
        assert text in finding
        assert ("is certified as feasible" in finding) == (answer is True)
