"""Where a number has no interval, the reason is printed and stands in the summary."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.command import valmatch
from valmatch.statistics.estimates import estimate
from valmatch.statistics.no_interval import (
    doubtful_intervals,
    why_no_interval,
)

LOG = "arrival_hours,rating\n" + "".join(f"{k / 30},{1500 + 37 * (k % 17)}\n" for k in range(120))

PROBLEM = """\
model: valorant
arrivals: log.csv
factors: {team_num: 2}
optimize:
  variables: {team_diff: {low: 0, high: 2400, start: 100, scale: 20}}
  objective: {fair: {response: avg_team_diff}}
  constraints: {p95: {response: wait_p95, at_most: 45}}
"""

ONE_HISTORY = "every replication is the same; log.resample=block makes resamples of a log"

FEW = ("--set", "num_players=5", "--set", "horizon=null", "--seed", 4, "-n", 3)
"""Days on which nobody plays."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("log.csv").write_text(LOG)
    Path("mine.yaml").write_text(PROBLEM)
    return tmp_path


def in_both(*command: object) -> tuple[str, dict[str, Any]]:
    """Run a command twice: return what it prints, in one line, and its summary."""
    printed, summary = valmatch(*command), valmatch(*command, "--json")
    assert printed.code == summary.code == 0, printed.err
    return " ".join(printed.out.split()), json.loads(summary.out)


def test_a_sweep_over_a_log_says_that_all_replications_are_the_same() -> None:
    printed, summary = in_both("replicate", "mine.yaml", "--sweep", "team_diff=10,200")
    assert printed.count(f"no interval: {ONE_HISTORY}") == 1
    assert [point["no_interval"] for point in summary["points"]] == [ONE_HISTORY] * 2


def test_one_replication_is_no_sample() -> None:
    for more in ((), ("--sweep", "team_diff=10,200")):
        printed, summary = in_both("replicate", "valorant", "-n", 1, *more)
        assert printed.count("no interval: there is one replication only") == 1
        for one in summary.get("points", [summary]):
            assert one["no_interval"] == "there is one replication only"


@pytest.mark.slow
def test_undefined_responses_are_named_where_they_are_shown() -> None:
    printed, summary = in_both("replicate", "valorant", *FEW)
    said = "avg_team_diff, avg_player_diff, avg_wait_time, wait_p50 and 4 more are undefined"
    assert f"no interval: {said} in every replication" in printed
    assert summary["no_interval"] == f"{said} in every replication"
    printed, _ = in_both("replicate", "valorant", *FEW, "--responses", "wait_p95,n_players")
    assert "no interval: wait_p95 is undefined in every replication" in printed
    printed, _ = in_both("replicate", "valorant", *FEW, "--responses", "n_players")
    assert "no interval" not in printed


def test_means_that_controls_do_not_adjust_have_a_reason() -> None:
    command = ("replicate", "valorant", "-n", 3, "--control-variates", "--responses", "n_players")
    printed, summary = in_both(*command)
    assert "not adjusted: n_players is known from too few replications for 6" in printed
    assert "known from too few replications for 6 control variates" in summary["not_adjusted"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "more",
    [
        ("--solver", "random"),
        ("--solver", "random", "--sweep", "p95=45,90"),
        ("--pareto", "avg_team_diff,wait_p95"),
    ],
)
def test_optimization_on_a_log_says_why_nothing_has_an_interval(more: tuple[str, ...]) -> None:
    printed, summary = in_both("optimize", "mine.yaml", "--budget", 100, *more)
    beside = summary.get("start_and_recommended", {})
    assert printed.count(f"no interval: {ONE_HISTORY}") == (2 if beside else 1)
    assert summary["no_interval"] == beside.get("no_interval", ONE_HISTORY) == ONE_HISTORY


def test_a_response_that_is_defined_once_has_no_interval() -> None:
    values = {"a": [1.0, np.nan], "b": [1.0, 2.0], "c": [np.nan, np.nan]}
    means = {name: estimate(np.array(own)) for name, own in values.items()}
    assert why_no_interval(means, "") == (
        "a is defined in one replication only; c is undefined in every replication"
    )
    assert why_no_interval(means, "all alike") == "all alike"


def test_intervals_that_may_be_too_short_are_named_once() -> None:
    same, long = estimate(np.zeros(10)), estimate(np.array([*range(9), 30.0]))
    few, fine = estimate(np.repeat([0.0, 1.0, -1.0], [28, 1, 1])), estimate(np.arange(9.0))
    shown = [("bans", same), ("wait", fine), ("longest", long), ("gap", few), ("bans", same)]
    named = "bans (the same value in every replication); longest (skewed values); gap (few values)"
    start, advice = "intervals that may be too short: ", "; run more replications"
    found = doubtful_intervals(shown)
    assert found == [f"{start}{name}{advice}" for name in named.split("; ")]
    assert [(one.kind, one.n) for one in found] == [
        *(("few_values", 1), ("skewed", 1), ("few_values", 1))
    ]
    fixed = doubtful_intervals(shown, fixed=True)
    assert fixed == [f"{start}{name}" for name in named.split("; ")]
    assert doubtful_intervals([("wait", fine)]) == []
