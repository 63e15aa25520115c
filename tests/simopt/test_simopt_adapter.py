"""The SimOpt adapter: the same replications as ours, the source's problem, SimOpt's own solvers."""

from __future__ import annotations

import doctest
import math
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from valmatch.config.loading import load_config
from valmatch.models.valorant.factors import ValorantFactors

pytest.importorskip("simopt", reason="needs the extra `simopt`")

from simopt.base import Problem
from simopt.experiment import single
from simopt.solvers.astrodf import ASTRODF
from simopt.solvers.neldmd import NelderMead
from simopt.solvers.randomsearch import RandomSearch
from simopt.solvers.spsa import SPSA

from tests.support.simopt_points import ours, simulated, stream
from valmatch import simopt as valmatch_simopt
from valmatch.simopt import (
    PenalizedValorantAvgDifference,
    ValorantAvgDifference,
    ValorantMatchmaking,
    replication_index,
)

# SimOpt turns arrays of one element into numbers, which numpy frowns upon.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:simopt")

START = (150.0, 200.0, 0.15, 100.0, 100.0)
NAMES = ("player_diff", "team_diff", "wait_thresh", "player_slack", "team_slack")
BOTH = [ValorantAvgDifference, PenalizedValorantAvgDifference]
SOLVERS = [RandomSearch, ASTRODF, NelderMead, SPSA]


def overrides(x: tuple[float, ...]) -> list[str]:
    return [f"{name}={value!r}" for name, value in zip(NAMES, x, strict=True)]


def test_the_problem_is_that_of_the_source() -> None:
    problem = ValorantAvgDifference()
    assert problem.dim == 5
    assert problem.lower_bounds == (0.0,) * 5
    assert problem.upper_bounds == (2400.0, 2400.0, 10.0, 2400.0, 2400.0)
    assert problem.factors == {
        "initial_solution": START,
        "budget": 1000,
        "upper_time": 10.0,
        "w_team": 1.0,
        "w_player": 1.0,
    }
    assert problem.vector_to_factor_dict(START) == dict(zip(NAMES, START, strict=True))
    assert problem.factor_dict_to_vector(dict(zip(NAMES, START, strict=True))) == START
    assert problem.model_decision_factors == set(NAMES)
    assert problem.model.factors == ValorantFactors().model_dump()
    assert (problem.compatibility, PenalizedValorantAvgDifference.compatibility) == ("SSCN", "SBCN")


def test_random_solutions_are_those_of_the_source() -> None:
    rng = stream()
    problem = ValorantAvgDifference()
    n = 2000
    x = np.array([problem.get_random_solution(rng) for _ in range(n)])
    mean = np.array([200.0, 400.0, 0.2, 200.0, 200.0])
    deviation = np.sqrt([10.0, 20.0, 0.05, 10.0, 10.0])
    assert x[:, 2].min() == 0.0  # clipped, which is why the median is tested
    error = math.sqrt(math.pi / 2) * deviation / math.sqrt(n)
    assert (np.abs(np.median(x, axis=0) - mean) <= 4 * error).all()
    free = [0, 1, 3, 4]
    spread = x.std(axis=0, ddof=1)[free] / deviation[free]
    assert (np.abs(spread - 1.0) <= 4 / math.sqrt(2 * n)).all()


def test_random_solutions_of_the_penalised_problem_fill_the_unit_cube() -> None:
    rng = stream()
    problem = PenalizedValorantAvgDifference()
    n = 2000
    x = np.array([problem.get_random_solution(rng) for _ in range(n)])
    assert x.shape == (n, 5)
    assert x.min() >= 0.0
    assert x.max() <= 1.0
    assert (np.abs(x.mean(axis=0) - 0.5) <= 4 / math.sqrt(12 * n)).all()
    assert (np.abs((x**2).mean(axis=0) - 1 / 3) <= 4 * math.sqrt(4 / 45 / n)).all()


def test_replications_are_those_of_the_simulator() -> None:
    x = (325.0, 50.0, 0.025, 110.0, 320.0)
    problem = ValorantAvgDifference(
        fixed_factors={"upper_time": 20.0, "w_team": 0.5, "w_player": 2.0},
        model_fixed_factors={"rate_multiplier": 2.0},
    )
    solution = simulated(problem, x)
    expected = ours(load_config("valorant", [*overrides(x), "rate_multiplier=2"]), 5)
    both = zip(expected["avg_team_diff"], expected["avg_player_diff"], strict=True)
    assert solution.objectives[:, 0].tolist() == [
        0.5 * team + 2.0 * player for team, player in both
    ]
    waits = solution.stoch_constraints[:, 0].tolist()
    assert waits == [wait - 20.0 for wait in expected["avg_wait_time"]]


def test_all_points_meet_the_same_players() -> None:
    model = ValorantMatchmaking()
    players = []
    for threshold in (0.0, 0.3, 10.0):
        model.factors.update(wait_thresh=threshold, team_diff=100.0)
        model.before_replicate([stream(7)])
        responses, gradients = model.replicate()
        assert gradients == {}
        players.append((responses["n_players"], responses["avg_wait_time"]))
    assert len({count for count, _ in players}) == 1
    assert len({wait for _, wait in players}) == 3
    assert len({replication_index(stream(k)) for k in range(1000)}) == 1000
    numbers = Mock(random=Mock(side_effect=[2.0**-32, 2.0**-31]))
    assert replication_index(numbers) == 2**31 + 1


def test_the_penalised_problem_is_the_same_on_the_unit_cube() -> None:
    options = {"upper_time": 21.5, "penalty": 25.0}
    penalised = PenalizedValorantAvgDifference(fixed_factors=options)
    assert penalised.lower_bounds == (0.0,) * 5
    assert penalised.upper_bounds == (1.0,) * 5
    start = penalised.vector_to_factor_dict(penalised.factors["initial_solution"])
    assert tuple(start[name] for name in NAMES) == pytest.approx(START, rel=1e-12)
    low, high = (penalised.vector_to_factor_dict((corner,) * 5) for corner in (0.0, 1.0))
    plain = ValorantAvgDifference(fixed_factors={"upper_time": 21.5})
    assert tuple(low.values()) == plain.lower_bounds
    assert tuple(high.values()) == plain.upper_bounds
    unit = (0.55, 0.6, 0.5, 0.4, 0.45)
    factors = penalised.vector_to_factor_dict(unit)
    assert penalised.factor_dict_to_vector(factors) == pytest.approx(unit, rel=1e-12)
    there = simulated(plain, plain.factor_dict_to_vector(factors), 20)
    excess = np.maximum(0.0, there.stoch_constraints)
    assert 0 < np.count_nonzero(excess) < 20  # the penalty is seen at work and at rest
    here = simulated(penalised, unit, 20)
    assert here.objectives.tolist() == (there.objectives + 25.0 * excess).tolist()
    assert here.stoch_constraints.size == 0


def test_a_replication_without_a_match_counts_as_the_worst() -> None:
    nothing = (0.0,) * 5
    solution = simulated(ValorantAvgDifference(fixed_factors={"w_player": 0.5}), nothing, 2)
    assert solution.objectives.tolist() == [[3600.0]] * 2
    assert solution.stoch_constraints.tolist() == [[1430.0]] * 2
    penalised = simulated(PenalizedValorantAvgDifference(), nothing, 1)
    assert penalised.objectives.tolist() == [[4800.0 + 100.0 * 1430.0]]
    model = ValorantMatchmaking({"player_diff": 0.0, "player_slack": 0.0})
    model.before_replicate([stream()])
    assert math.isnan(model.replicate()[0]["avg_wait_time"])


def experiment(solver_class: type[Any], problem_class: type[Problem], budget: int) -> Any:  # noqa: ANN401
    problem = problem_class(fixed_factors={"upper_time": 20.0, "budget": budget})
    made = single.ProblemSolver(solver=solver_class(), problem=problem, create_pickle=False)
    made.run(n_macroreps=2, n_jobs=1)
    return made


@pytest.mark.usefixtures("_experiments")
@pytest.mark.parametrize("problem_class", BOTH)
@pytest.mark.parametrize("solver_class", SOLVERS)
def test_solvers_run(
    solver_class: type[Any], problem_class: type[Problem], monkeypatch: pytest.MonkeyPatch
) -> None:
    visited: list[tuple[float, ...]] = []
    replicate = problem_class.replicate

    def watched(problem: Problem, x: tuple[float, ...]) -> Any:  # noqa: ANN401
        visited.append(tuple(x))
        return replicate(problem, x)

    monkeypatch.setattr(problem_class, "replicate", watched)
    made = experiment(solver_class, problem_class, 400)
    problem = made.problem
    assert 2 * 300 <= len(visited) <= 2 * 400
    assert len(set(visited)) > 10
    for points, budgets in zip(made.all_recommended_xs, made.all_intermediate_budgets, strict=True):
        assert points[0] == problem.factors["initial_solution"]
        assert set(problem.vector_to_factor_dict(points[-1])) == set(NAMES)
        assert budgets == sorted(budgets)
        assert budgets[-1] == 400
    first = visited.copy()
    visited.clear()
    again = experiment(solver_class, problem_class, 400)
    assert visited == first
    assert again.all_recommended_xs == made.all_recommended_xs


@pytest.mark.usefixtures("_experiments")
def test_post_replications_judge_the_constraint() -> None:
    made = experiment(RandomSearch, ValorantAvgDifference, 100)
    made.post_replicate(n_postreps=50)
    for lhs in made.all_est_lhs:
        # The start waits 30.24 minutes (2,000 replications of an independent program).
        assert abs(lhs[0, 0] - 10.24) <= 4 * 2.6 / math.sqrt(50)


@pytest.mark.usefixtures("_experiments")
def test_the_example_runs() -> None:
    outcome = doctest.testmod(valmatch_simopt)
    assert outcome.attempted > 5
    assert outcome.failed == 0
