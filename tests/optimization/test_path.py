"""Certification along a path of points that are fixed before any test."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from tests.oracles.noisy_problems import PROBLEMS, Case, Laboratory, search
from tests.support.certifying import along
from tests.support.refusals import defined
from valmatch.config.loading import load_config
from valmatch.execution.chunks import build
from valmatch.kernels.arrays import Floats
from valmatch.optimization.certification import (
    KEPT,
    SHORT,
    Beside,
    Certificate,
    Evaluate,
    Fresh,
    PathTests,
    lengths,
)
from valmatch.optimization.evaluation import Evaluator
from valmatch.optimization.problem_of_config import problem_of
from valmatch.optimization.solver_run import STAGE, RunSpec, Settings, run_solver
from valmatch.optimization.solvers.archive import Archive, Controls, without_controls
from valmatch.optimization.solvers.registry import make
from valmatch.optimization.solvers.search import Level, NextTest, Proposal, Search, SearchTask
from valmatch.optimization.studies.sweep import common_replications

ALPHA = 0.1
BUDGET = 300


def made(solver: str, case: Case, budget: int, rng: np.random.Generator, test: int) -> Search:
    """Return a solver that is to search a problem."""
    archive = Archive(case.problem, test)
    return make(solver, SearchTask(case.problem, budget, rng, case.problem.start, archive))


def days(
    rng: np.random.Generator, excess: Callable[[float], float]
) -> tuple[Callable[[int], tuple[Evaluate, Controls]], list[int]]:
    """Return evaluations with noise that is common to all points, and where tests started."""
    noise, starts = rng.gamma(4.0, 1.0, (BUDGET, 2)) - 4.0, []

    def fresh(start: int) -> tuple[Evaluate, Controls]:
        starts.append(start)

        def evaluate(unit: Floats, n: int) -> Floats:
            assert start + n <= BUDGET
            truth = np.array([-float(unit[0]), excess(float(unit[0]))])
            outcomes: Floats = truth + noise[start : start + n]
            return outcomes

        return evaluate, without_controls

    return fresh, starts


def points_along(
    points: list[float],
    fresh: Fresh,
    beside: Sequence[Beside] = (),
    surer: Floats | None = None,
    common: float = 0.99,
) -> PathTests:
    """Test points along a path."""
    path = [np.array([x]) for x in points]
    return along(path, fresh, BUDGET, ALPHA, beside, surer, common)


def wrong(tests: PathTests, excess: Callable[[float], float]) -> bool:
    """Return whether a point passed that is infeasible."""
    return any(test.passes and excess(float(test.unit[0])) > 0.0 for test in tests.all)


@pytest.mark.slow
@pytest.mark.parametrize("common", [0.99, 0.0])
@pytest.mark.parametrize("first", [-2.0, -1e-9, 1e-9])
def test_infeasible_points_pass_less_often_than_stated(first: float, common: float) -> None:
    # Points violate by a hair, but for the first: the hardest cases for the tests.
    def excess(x: float) -> float:
        return 1e-9 if x > 0.2 else first

    runs, mistakes = 1000, 0
    for seed in range(runs):
        fresh, _ = days(np.random.default_rng(seed), excess)
        beside = [Beside(np.array([0.3]), 0.3, short=True)]
        surer = np.array([0.95])
        tests = points_along([0.1, 0.5, 0.9], fresh, beside, surer, common)
        mistakes += wrong(tests, excess)
        assert first > -1.0 or tests.path[0].passes
    assert 0 < mistakes < ALPHA * runs


def test_points_along_a_path_meet_the_same_replications_until_one_fails() -> None:
    fresh, starts = days(np.random.default_rng(1), lambda x: -3.0 if x < 0.5 else 3.0)
    tests = points_along([0.1, 0.3, 0.7, 0.9], fresh)
    many, few = lengths(BUDGET, 4, 0.99)
    assert many + 3 * few <= BUDGET
    assert [(len(test.outcomes), test.passes) for test in tests.path] == [
        (many, True),
        (few, True),
        (few, False),
    ]
    assert (starts, tests.spent) == ([0], many + 2 * few)
    assert tests.passed is tests.path[1]


def test_replications_are_kept_for_the_surest_points_of_a_long_path() -> None:
    fresh, _ = days(np.random.default_rng(1), lambda x: -3.0)
    tests = points_along([0.01 * k for k in range(1, 40)], fresh)
    many, few = lengths(BUDGET, KEPT, 0.99)
    assert [len(test.outcomes) for test in tests.path] == [many, *[few] * (KEPT - 1)]
    assert tests.spent <= BUDGET


def test_a_point_that_has_all_in_common_is_as_sure_as_the_first() -> None:
    fresh, _ = days(np.random.default_rng(1), lambda x: x)
    first, second = points_along([-3.0, -2.0], fresh).path
    assert len(second.outcomes) < len(first.outcomes) / 4
    assert second.sample.mean[1] == pytest.approx(first.sample.mean[1] + 1.0)
    assert second.sample.errors[1] == pytest.approx(first.sample.errors[1])
    n = len(second.outcomes)
    seen = second.sample.adjusted
    assert seen.std(axis=0, ddof=1)[0] / math.sqrt(n) == pytest.approx(first.sample.errors[0])


def test_points_beside_the_path_hand_on_what_they_do_not_use_up() -> None:
    fresh, _ = days(np.random.default_rng(2), lambda x: -3.0 if x < 0.5 else 3.0)
    beside = [Beside(np.array([0.2]), 0.5), Beside(np.array([0.8]), 0.5, short=True)]
    tests = points_along([0.1, 0.6], fresh, beside)
    assert [test.passes for test in tests.beside] == [True, False]
    assert len(tests.beside[1].outcomes) == SHORT
    assert tests.passed is tests.path[0]


def test_after_a_first_point_that_fails_a_surer_one_gets_what_is_left() -> None:
    fresh, starts = days(np.random.default_rng(2), lambda x: 3.0 if x < 0.5 else -3.0)
    tests = points_along([0.1, 0.3], fresh, surer=np.array([0.9]))
    many, _ = lengths(BUDGET, 2, 0.99)
    assert tests.last is not None
    assert (tests.passed, tests.start, starts) == (tests.last, many, [0, many])
    assert (len(tests.last.outcomes), tests.spent) == (BUDGET - many, BUDGET)


def test_an_undefined_outcome_is_infeasible() -> None:
    fresh, _ = days(np.random.default_rng(4), lambda x: math.nan if x > 0.5 else -3.0)
    tests = points_along([0.6], fresh)
    assert (tests.passed, tests.path[0].fails) == (None, True)
    assert tests.path[0].undefined == len(tests.path[0].outcomes)
    tests = points_along([0.6, 0.4], fresh, surer=np.array([0.4]))
    assert tests.passed is tests.last is not None


def test_bayes_places_no_point_where_a_test_was_undefined() -> None:
    case = PROBLEMS["bowl"]
    solver = made("bayes", case, 400, np.random.default_rng(0), 60)
    search(solver, Laboratory(case))
    assert solver.task.propose is not None
    first = solver.task.propose(NextTest(60, np.full(1, 1.8), 2.0))
    second = solver.task.propose(NextTest(240, np.full(1, 2.5), 2.0, undefined=first.unit))
    assert np.abs(second.unit - first.unit).max() > 0.01
    assert second.holds


@pytest.mark.parametrize("budget", [1, 2, 7, 30, 61, 300])
@pytest.mark.parametrize("common", [0.0, 0.8, 0.999])
@pytest.mark.parametrize("points", [1, 2, 3, 9])
def test_lengths_keep_the_budget(budget: int, common: float, points: int) -> None:
    many, few = lengths(budget, points, common)
    assert many >= 1
    if points <= budget:
        assert many + (points - 1) * few <= budget
        assert many >= few


def test_a_level_is_what_the_rule_of_bayes_says() -> None:
    rng = np.random.default_rng(6)
    level, doubt, error = 0.3, 0.2, 0.1
    truths = rng.normal(0.0, level, 2_000_000)
    seen = -0.4 + truths + rng.normal(0.0, doubt, truths.size) + rng.normal(0.0, error, truths.size)
    found = truths[np.abs(seen - 0.2) < 0.01]
    before = Level(np.zeros(1), np.full(1, level))
    proposal = Proposal(np.zeros(1), np.full(1, -0.4), np.full(1, doubt), before, True)
    after = before.after(proposal, np.full(1, 0.2), np.full(1, error))
    assert after.shift[0] == pytest.approx(
        found.mean(), abs=5 * found.std() / math.sqrt(found.size)
    )
    assert after.doubt[0] == pytest.approx(found.std(), rel=5 / math.sqrt(2 * found.size))
    certain = Level(np.zeros(1), np.zeros(1))
    same = certain.after(proposal._replace(doubt=np.zeros(1)), np.ones(1), np.zeros(1))
    assert (same.shift[0], same.doubt[0]) == (0.0, 0.0)


@pytest.mark.long
@pytest.mark.parametrize("title", ["bowl", "five variables", "whole numbers", "no constraint"])
def test_bayes_places_points_that_are_likely_to_pass(title: str) -> None:
    case = PROBLEMS[title]
    feasible = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        solver = made("bayes", case, 400, rng, 60)
        search(solver, Laboratory(case))
        proposal = defined(solver.task.propose)(
            NextTest(60, np.full(len(case.problem.constraints), 1.8), 2.0)
        )
        assert proposal.holds
        truth = case.truth(np.array(list(case.problem.point(proposal.unit).values())))
        feasible += bool((truth[1:] <= 0.0).all())
    assert feasible >= 9


def test_bayes_says_where_no_point_is_likely_to_pass() -> None:
    case = PROBLEMS["nothing feasible"]
    solver = made("bayes", case, 400, np.random.default_rng(0), 60)
    search(solver, Laboratory(case))
    assert not defined(solver.task.propose)(
        NextTest(60, np.full(len(case.problem.constraints), 1.8), 2.0)
    ).holds
    assert made("random", case, 9, np.random.default_rng(0), 6).task.propose is None


@pytest.mark.slow
def test_a_run_tests_on_replications_that_follow_one_another() -> None:
    config = load_config("valorant-20min")
    problem = problem_of(config, build(config))
    run = run_solver(config, problem, RunSpec("bayes", 0), Settings(1000, 1, 0.05))
    found = run.certificate
    assert run.spent == 1000
    assert 0 < found.tested <= len(found.outcomes)
    fresh = Evaluator(config, problem, 1, 2 * STAGE + found.first, 1000)
    np.testing.assert_array_equal(found.outcomes, fresh.evaluate(found.unit, len(found.outcomes)))


def test_prices_of_bounds_are_of_the_replications_of_most_tests() -> None:
    def test_of(first: int, n: int) -> Certificate:
        return Certificate(
            np.zeros(1), np.zeros((n, 2)), np.zeros((n, 2)), True, 0, n, ALPHA, first
        )

    tests = [test_of(0, 80), test_of(200, 200), test_of(200, 180), test_of(80, 120)]
    assert common_replications(tests, False) == range(200, 380)
    assert common_replications(tests, True) == range(200, 201)
    assert common_replications([], False) == range(0)
