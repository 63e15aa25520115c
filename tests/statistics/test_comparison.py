"""Paired differences against hand-worked numbers, theory, the model; reasons for no interval."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from tests.support.command import valmatch
from tests.support.refusals import defined
from valmatch.config.loading import load_config
from valmatch.execution.chunks import build, run
from valmatch.statistics.estimates import estimate
from valmatch.statistics.no_interval import doubtful_intervals, why_no_interval
from valmatch.statistics.pairs import paired


def test_hand_worked_pairs() -> None:
    nan = np.nan
    a = np.array([[1.0], [2.0], [nan], [3.0], [5.0]])
    b = np.array([[2.0], [2.0], [9.0], [5.0], [nan]])
    (one,) = paired(a, b, 0.9)
    # Common rows: a = 1, 2, 3 and b = 2, 2, 5; differences 1, 0, 2.
    assert (one.a.mean, one.b.mean, one.difference.mean) == (2.0, 3.0, 1.0)
    assert (one.difference.n, one.difference.undefined, one.a.undefined) == (3, 2, 2)
    assert (one.difference.std, one.difference.confidence) == (1.0, 0.9)
    assert one.difference.half_width == pytest.approx(2.919985580353726 / math.sqrt(3), rel=1e-12)
    assert one.variance_ratio == pytest.approx(1.0 + 3.0, rel=1e-12)
    shown = json.loads(json.dumps(one.as_dict(), allow_nan=False))
    assert list(shown) == ["a", "b", "difference", "variance_ratio"]
    assert shown["difference"]["mean"] == 1.0


@pytest.mark.parametrize("correlation", [-0.5, 0.0, 0.9])
def test_ratio_and_coverage_are_those_of_theory(correlation: float) -> None:
    # Variances 1 and 4: ratio 5 / (5 - 4 r) of independent to paired sampling.
    rng, runs, n = np.random.default_rng(1), 2000, 8
    cross = 2.0 * correlation
    draws = rng.multivariate_normal([3.0, 4.0], [[1.0, cross], [cross, 4.0]], (n, runs))
    results = paired(draws[:, :, 0], draws[:, :, 1])
    covered = [r.difference.ci_low <= 1.0 <= r.difference.ci_high for r in results]  # type: ignore[operator]
    assert abs(np.mean(covered) - 0.95) <= 4 * math.sqrt(0.95 * 0.05 / runs)
    many = paired(draws[..., 0].reshape(-1, 1), draws[..., 1].reshape(-1, 1))[0].variance_ratio
    # The relative standard error of a variance of m normals is sqrt(2 / m); of a ratio, twice it.
    assert defined(many) == pytest.approx(
        5 / (5 - 2 * cross), rel=4 * 2 * math.sqrt(2 / (n * runs))
    )


def test_no_difference_at_all_has_no_ratio() -> None:
    same = np.random.default_rng(2).normal(0.0, 1.0, (9, 1))
    (one,) = paired(same, same)
    assert (one.difference.mean, one.difference.half_width, one.variance_ratio) == (0.0, 0.0, None)
    for values in (np.full((9, 1), 0.1), same):
        (shifted,) = paired(values, values + 0.3)
        assert shifted.difference.mean == pytest.approx(0.3)
        assert shifted.variance_ratio is None


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_pairs_have_no_interval(n: int) -> None:
    (one,) = paired(np.zeros((n, 1)), np.ones((n, 1)))
    assert (one.difference.n, one.difference.ci_low, one.variance_ratio) == (n, None, None)
    (never,) = paired(np.array([[np.nan], [1.0]]), np.array([[1.0], [np.nan]]))
    assert (never.difference.n, never.difference.undefined, never.a.mean) == (0, 2, None)


def test_runs_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot be paired"):
        paired(np.zeros((2, 1)), np.zeros((3, 1)))


def test_common_random_numbers_pay_in_the_model() -> None:
    models = [build(load_config("valorant")), build(load_config("valorant", ["team_diff=300"]))]
    names = [response.name for response in models[0].responses]
    a, b = (run(model, 1, range(400)).responses for model in models)
    compared = dict(zip(names, paired(a, b), strict=True))
    independent = run(models[1], 2, range(400)).responses
    for name in ("avg_wait_time", "avg_team_diff"):
        one, k = compared[name], names.index(name)
        assert defined(one.variance_ratio) > 1.5
        apart = estimate(independent[:, k]), estimate(a[:, k])
        error = math.hypot(
            defined(one.difference.std_error), *(e.std_error or math.nan for e in apart)
        )
        gap = (apart[0].mean or math.nan) - (apart[1].mean or math.nan)
        assert abs((one.difference.mean or math.nan) - gap) <= 4 * error
    assert compared["n_players"].difference.max == 0.0


FEW = ("--set", "num_players=5", "--set", "horizon=null", "--seed", 4, "-n", 3)
"""Days on which nobody plays."""


def in_both(*command: object) -> tuple[str, dict[str, Any]]:
    """Run a command twice: return what it prints, in one line, and its summary."""
    printed, summary = valmatch(*command), valmatch(*command, "--json")
    assert printed.code == summary.code == 0, printed.err
    return " ".join(printed.out.split()), json.loads(summary.out)


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
