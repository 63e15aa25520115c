"""The recommended point beside the start, on replications that chose neither; its prices."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from tests.support.command import success
from tests.support.folders import rows
from tests.support.priced_problems import (
    PROBLEMS,
    SIDE,
    Problem,
    duels,
    outcomes_of,
    priced_of,
    searched,
    told,
)
from tests.support.refusals import defined
from tests.support.sweeps import swept
from valmatch.config.config import Constraint
from valmatch.config.loading import load_config
from valmatch.execution.chunks import build, run
from valmatch.kernels.arrays import Floats
from valmatch.optimization.problem import problem_of
from valmatch.optimization.solver_run import RUN, STAGE, Evaluator
from valmatch.optimization.verdict import POST_ANALYSIS, Price, prices
from valmatch.statistics.estimates import Estimate
from valmatch.statistics.sampling import INDEPENDENT

PROBLEM = "valorant-30min"


@pytest.mark.slow
def test_both_points_meet_the_same_fresh_replications(tmp_path: Path) -> None:
    done = success("optimize", PROBLEM, "--budget", 400, "--out", tmp_path, "--json")
    document = json.loads(done.out)
    found = document["start_and_recommended"]
    assert found["recommended"] == document["recommended"]["point"]
    start = {"player_diff": 150, "team_diff": 200, "wait_thresh": 0.15}
    start |= {"player_slack": 100, "team_slack": 100}
    assert found["start"] == start
    n = found["replications"]
    assert n == 20
    values = []
    for point in (start, found["recommended"]):
        model = build(load_config("valorant", point))
        table = run(model, 1, range(POST_ANALYSIS, POST_ANALYSIS + n)).responses
        columns = dict(zip(model.responses.names, table.T, strict=True))
        columns["objective"] = columns["avg_team_diff"] + columns["avg_player_diff"]
        values.append(columns)
    written = {row["response"]: row for row in rows(tmp_path / "start_and_recommended.csv")}
    assert list(written) == list(found["responses"]) == ["objective", *model.responses.names]
    for name, row in written.items():
        change = values[1][name] - values[0][name]
        assert float(row["start"]) == pytest.approx(values[0][name].mean(), rel=1e-12)
        assert float(row["recommended"]) == pytest.approx(values[1][name].mean(), rel=1e-12)
        assert float(row["difference"]) == pytest.approx(change.mean(), rel=1e-9, abs=1e-12)
        if not found["responses"][name]["difference"]["remarks"]:
            half = stats.t.ppf(0.975, n - 1) * change.std(ddof=1) / np.sqrt(n)
            assert float(row["ci_high"]) == pytest.approx(change.mean() + half, rel=1e-9, abs=1e-12)
        assert (row["n"], row["undefined"]) == (str(n), "0")
        assert float(row["difference"]) == found["responses"][name]["difference"]["mean"]
    used = {int(row["replication"]) for row in rows(tmp_path / "evaluations.csv")}
    assert max(used) < POST_ANALYSIS
    assert min(RUN, POST_ANALYSIS + STAGE) > POST_ANALYSIS + (1 << 30)
    assert document["spent"] <= 400
    assert document["spent_beyond_budget"] >= 2 * n


@pytest.mark.slow
def test_a_frontier_says_what_its_bound_costs() -> None:
    config = load_config("valorant-30min")
    frontier = swept(config, "upper_time=25:35:5", "random", 400)
    assert [found.feasible for found in frontier.points] == [True] * 3
    means = [one.objective.mean for one in frontier.points]
    prices = [
        (price["from"], price["to"], Estimate.read(price["objective_per_unit_of_bound"]))
        for price in frontier.summary()["prices"]
    ]
    problem = problem_of(config, build(config))
    evaluator = Evaluator(config, problem, 1, 2 * STAGE, 1 << 62)

    def unit_of(point: Mapping[str, float]) -> NDArray[np.float64]:
        return np.array([one.to_unit(point[one.name]) for one in problem.variables])

    assert [(low, high) for low, high, _ in prices] == [(25.0, 30.0), (30.0, 35.0)]
    for k, (_, _, slope) in enumerate(prices):
        first, second = defined(means[k]), defined(means[k + 1])
        # Of the replications that both tests share, plainly; the means are of each test, adjusted.
        before, after = (
            evaluator.evaluate(unit_of(frontier.points[j].point), slope.n)[:, 0].mean()
            for j in (k, k + 1)
        )
        assert slope.mean == pytest.approx((after - before) / 5.0, rel=1e-9, abs=1e-9)
        same = frontier.points[k].point == frontier.points[k + 1].point
        low, high = defined(slope.ci_low), defined(slope.ci_high)
        assert slope.mean == 0.0 if same else low <= (second - first) / 5.0 <= high
    assert swept(config, "w_team=1:2:1", "random", 100).summary()["prices"] == []


def priced(
    truth: Callable[[Floats], list[float]],
    constraints: list[Constraint],
    best: list[float],
    noise: float | tuple[float, ...] = 0.3,
    seed: int = 1,
    n: int = 40,
) -> list[Price]:
    unit = np.array(best) / SIDE
    evaluations = searched(outcomes_of(truth, noise, 1000 + seed), unit, seed)
    fresh = outcomes_of(truth, noise, 2000 + seed)
    return prices(constraints, evaluations, unit, fresh, n, INDEPENDENT, 0.95)


def hill(x: Floats) -> float:
    """(x - 2)^2 + (y - 3)^2, least 0."""
    return float((x[0] - 2.0) ** 2 + (x[1] - 3.0) ** 2)


ENOUGH = Constraint.of("reach", -1, 13.0)


def reach(x: Floats) -> float:
    return float(x[0] + 2.0 * x[1])


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_the_slope_of_the_true_frontier_is_met_without_noise(problem: Problem) -> None:
    price, slope = priced_of(replace(problem, noise=[0.0] * (1 + len(problem.signs))), 1, 40)
    assert defined(price.slope).mean == pytest.approx(slope, rel=2e-5)


def test_several_constraints_each_have_their_own() -> None:
    """x^2 + y^2 with x >= 1 and y >= 2: multipliers 2 and 4; a third is far from binding."""
    constraints = [
        Constraint.of("x", -1, 1.0),
        Constraint.of("y", -1, 2.0),
        Constraint.of("x + y", 1, 1000.0),
    ]

    def truth(x: Floats) -> list[float]:
        return [float(x @ x), 1.0 - x[0], 2.0 - x[1], float(x.sum()) - 1000.0]

    right, up, far = priced(truth, constraints, [1.0, 2.0], 0.02)
    for price, multiplier in ((right, 2.0), (up, 4.0)):
        slope = defined(price.slope)
        low, high = defined(slope.ci_low), defined(slope.ci_high)
        assert 0.0 < low < multiplier < high < low + 0.5 * multiplier
    assert (far.slope, far.why) == (None, "")
    assert far.entry("")["binding"] is False
    assert far.entry("far")["in_words"] == "far (x + y <= 1000): not binding, it costs nothing"


@pytest.mark.slow
def test_ten_problems_are_priced_truly() -> None:
    """Coverage is measured more closely in tests/verification."""
    found = [told(problem, seed) for problem in PROBLEMS for seed in range(20)]
    given = [one for one in found if one.holds is not None]
    assert len(given) >= 180
    assert sum(bool(one.holds) for one in given) >= 0.91 * len(given)
    assert not any(one.false for one in found)


WAIT = Constraint.of("avg_wait_time", 1, 5.0)


@pytest.mark.slow
def test_noise_is_no_price() -> None:
    """What is not seen clearly is said so; no wrong sign is given, and no "not binding"."""
    said = []
    for seed in range(60):
        noise = (40.0, 0.3)
        unit = np.array([(102.0 - 10.0) / 390.0])
        evaluations = searched(outcomes_of(duels, noise, seed), unit, seed)
        fresh = outcomes_of(duels, noise, 500 + seed)
        (one,) = prices([WAIT], evaluations, unit, fresh, 25, INDEPENDENT, 0.95)
        said.append(one.entry("")["in_words"])
        if one.slope:
            assert defined(one.slope.ci_high) < 0.0
        if one.between:
            assert one.between[1] == 0.0
            assert one.entry("")["binding"] is None
            assert one.entry("")["objective_per_unit_of_bound"] is None
    assert not any("not binding" in one for one in said)
    told_apart = [one for one in said if "not distinguishable from 0 (1 more allowed" in one]
    assert len(told_apart) > 20
    assert all("and 0)" in one for one in told_apart)


@pytest.mark.slow
def test_not_binding_has_evidence() -> None:
    """(x - 4)^2 is least where x <= 5 is slack; a hyperbola falls on towards it."""
    few, noise = Constraint.of("x", 1, 5.0), (0.5, 0.1)

    def truth(x: Floats) -> list[float]:
        return [100.0 + float(x[0] - 4.0) ** 2, float(x[0]) - 5.0]

    unsure = short = 0
    for seed in range(20):
        (least,) = priced(truth, [few], [4.0], noise, seed)
        assert (least.slope, least.why) == (None, ""), least.entry("")["in_words"]
        unsure += least.between is not None
        (early,) = priced(
            lambda x: [300.0 / (1.0 + float(x[0])), float(x[0]) - 9.0], [few], [1.0], noise, seed
        )
        assert early.slope is None
        assert early.entry("")["binding"] is None
        short += "the search stopped before the limit" in early.entry("")["in_words"]
    assert unsure <= 5
    assert short >= 17
