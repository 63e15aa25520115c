"""Share of infeasible points that certification calls feasible, against its stated level.

Some quarter of an hour on one core: 500 runs a case, 300 of whole searches, 120 a box and budget.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom

from tests.oracles.noisy_problems import PROBLEMS, Case
from tests.support.certifying import along, certify
from tests.support.known_problems import BOXES, registered
from valmatch.config.config import Config
from valmatch.config.loading import load_config
from valmatch.execution.chunks import build
from valmatch.execution.chunks import run as simulate
from valmatch.kernels.arrays import Floats
from valmatch.optimization.certification import (
    Fresh,
    FreshReplications,
    certify_run,
    replications_of_test,
)
from valmatch.optimization.problem import Problem, problem_of, with_factors
from valmatch.optimization.solver_run import RUN, STAGE, Evaluator, RunSpec, Settings, run_solver
from valmatch.optimization.solvers.registry import make
from valmatch.optimization.solvers.search import (
    Archive,
    Controls,
    PointEstimates,
    SearchTask,
    without_controls,
)

ALPHA = 0.05
RUNS, SEARCHES, BOX_RUNS = 500, 300, 120
BUDGET = 300
LONG = 100_000
UNLIMITED = 1 << 62


def most(runs: int) -> int:
    """Return how many of so many runs may be wrong: more are so in one of 1,000 verifications."""
    return int(binom.ppf(0.999, runs, ALPHA))


# A constant tolerance, and ones that grow with the wait.
POINTS = [
    {"player_diff": 441.3, "wait_thresh": 3.0},
    {"player_diff": 394.0, "wait_thresh": 0.85},
    {"player_diff": 420.0, "wait_thresh": 1.5},
]
OTHERS = {"team_diff": 300.0, "player_slack": 800.0, "team_slack": 30.0}


@pytest.mark.parametrize("adjusted", [True, False])
@pytest.mark.parametrize("budget", [30, 300])
@pytest.mark.parametrize("violated", [1, len(POINTS)])
def test_days_of_players_just_over_the_limit(violated: int, budget: int, adjusted: bool) -> None:
    config, problem, units, shifts = just_over_the_limit(violated)
    nothing = np.zeros((violated, 2))
    finalists = PointEstimates(
        units,
        np.zeros(violated, np.int64),
        nothing,
        nothing,
        np.zeros(2),
        np.ones(violated, np.bool_),
    )
    wrong = 0
    for run in range(RUNS):

        def stage(number: int, run: int = run) -> tuple[Callable[[Floats, int], Floats], Controls]:
            first = run * RUN + number * STAGE
            evaluator = Evaluator(config, problem, 1, first, UNLIMITED)
            controls = evaluator.controls if adjusted else without_controls
            return lambda unit, n: evaluator.evaluate(unit, n) - shifts[unit.tobytes()], controls

        (first, of_first), (second, of_second) = stage(1), stage(2)
        found = certify(finalists, (first, second), budget, ALPHA, (of_first, of_second))
        wrong += found.feasible is True
    said = f"{violated} points just over the limit, {budget} replications, adjusted {adjusted}"
    print(f"{said}: {wrong} of {RUNS} pass")
    assert 0 < wrong <= most(RUNS)


@pytest.mark.parametrize("adjusted", [True, False])
@pytest.mark.parametrize("budget", [30, 300])
@pytest.mark.parametrize("common", [0.0, 0.8])
def test_a_path_of_points_just_over_the_limit(budget: int, adjusted: bool, common: float) -> None:
    config, problem, units, shifts = just_over_the_limit(len(POINTS))

    wrong = 0
    for run in range(RUNS):

        def fresh(start: int, run: int = run) -> tuple[Callable[[Floats, int], Floats], Controls]:
            evaluator = Evaluator(config, problem, 1, run * RUN + 2 * STAGE + start, UNLIMITED)
            controls = evaluator.controls if adjusted else without_controls
            return lambda unit, n: evaluator.evaluate(unit, n) - shifts[unit.tobytes()], controls

        tests = along(list(units), fresh, budget, ALPHA, surer=units[0], common=common)
        wrong += any(test.passes for test in tests.all)
    said = f"a path just over the limit, {common} in common, {budget}, adjusted {adjusted}"
    print(f"{said}: {wrong} of {RUNS} pass")
    assert 0 < wrong <= most(RUNS)


@cache
def just_over_the_limit(violated: int) -> tuple[Config, Problem, Floats, dict[bytes, Floats]]:
    """Return points with what makes the excess of each hardly more than 0, by the point's bytes.

    The wait of each is moved to just above the limit by long runs: the closer to it, the harder to
    tell from it.
    """
    config = load_config("valorant-20min")
    problem = problem_of(config, build(config))
    shifts = {}
    for point in POINTS[:violated]:
        factors = {**OTHERS, **point}
        unit = np.array(
            [variable.to_unit(factors[variable.name]) for variable in problem.variables]
        )
        waits = long_run(config, factors)
        limit = float(waits.mean()) - 2.0 * float(waits.std()) / math.sqrt(LONG)
        shifts[unit.tobytes()] = np.array(
            [0.0, limit - next(iter(problem.constraints.values())).bound]
        )
    units = np.array([np.frombuffer(unit) for unit in shifts])
    return config, problem, units, shifts


def long_run(config: Config, factors: dict[str, float]) -> Floats:
    """Return the mean waits of many days that no certification sees."""
    model = build(config, with_factors(config, factors))
    column = [response.name for response in model.responses].index("avg_wait_time")
    waits: Floats = simulate(model, 2, range(LONG)).responses[:, column]
    return waits


@pytest.mark.parametrize("solver", ["bayes", "nelder-mead"])
@pytest.mark.parametrize("title", ["bowl", "five variables"])
def test_whole_runs_on_problems_of_known_optima(title: str, solver: str) -> None:
    case = PROBLEMS[title]
    wrong, called = 0, 0
    for run in range(SEARCHES):
        search = noisy(case, 3 * run)
        rng = np.random.default_rng(run)
        archive = Archive(case.problem, replications_of_test(BUDGET))
        task = SearchTask(case.problem, BUDGET, rng, case.problem.start, archive)
        found = make(solver, task)
        list(found.run(search))

        def fresh(stage: int, run: int = run) -> Fresh:
            @cache
            def evaluations_from(start: int) -> tuple[Callable[[Floats, int], Floats], Controls]:
                address = 3 * (run + SEARCHES * (1 + start)) + stage
                return noisy(case, address), without_controls

            return evaluations_from

        tested = replications_of_test(BUDGET)
        replications = FreshReplications(fresh(1), fresh(2), BUDGET, ALPHA, tested)
        certificate = certify_run(case.problem, found, replications)
        excess = case.truth(np.array(list(case.problem.point(certificate.unit).values())))[1:]
        called += certificate.feasible is True
        wrong += certificate.feasible is True and bool((excess > 0.0).any())
    print(f"{title}, {solver}: {wrong} of {SEARCHES} wrongly called feasible, {called} called so")
    assert called > 0.5 * SEARCHES
    assert wrong <= most(SEARCHES)


@pytest.mark.parametrize("title", BOXES)
@pytest.mark.parametrize("budget", [200, 1_000])
def test_boxes_whose_every_point_breaks_its_limit(title: str, budget: int) -> None:
    wrong = 0
    with registered():
        config = BOXES[title].config(title)
        problem = problem_of(config, build(config))
        for seed in range(1, BOX_RUNS + 1):
            run = run_solver(config, problem, RunSpec("auto", 0), Settings(budget, seed, ALPHA))
            wrong += run.certificate.feasible is True
    print(f"{title}, budget {budget}: {wrong} of {BOX_RUNS} called feasible")
    assert wrong <= most(BOX_RUNS)


def noisy(case: Case, seed: int) -> Callable[[Floats, int], Floats]:
    """Return an evaluation of a case; half of the variance of the noise is common to all points."""
    archive = Archive(case.problem, 1)
    rng = np.random.default_rng(seed)
    share = case.noise / math.sqrt(2.0)
    outcomes_of_a_day = len(case.problem.constraints) + 1
    common = rng.normal(0.0, share, (BUDGET, outcomes_of_a_day))

    def evaluate(unit: Floats, n: int) -> Floats:
        known = archive.outcomes(unit)
        truth = case.truth(np.array(list(case.problem.point(unit).values())))
        new = truth + common[len(known) : n]
        new = new + rng.normal(0.0, share, new.shape)
        outcomes: Floats = np.concatenate([known, new])[:n]
        archive.record(unit, outcomes)
        return outcomes

    return evaluate
