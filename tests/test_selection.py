"""Certification: its error rate on known truths, and what it reports."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from valmatch.optimization.problem import Constraint, Problem, Term, Variable
from valmatch.optimization.selection import Certificate, certify

Floats = NDArray[np.float64]
ALPHA = 0.1

PROBLEM = Problem(
    [Variable("x", 0.0, 1.0, math.inf, 0.5, 0.5, math.inf)],
    [Term("cost", "cost", 1.0)],
    [Constraint("limit", "load", 1, 0.0)],
)


def stage(
    rng: np.random.Generator, objective: Callable[[float], float], excess: Callable[[float], float]
) -> Callable[[Floats, int], Floats]:
    """Return an evaluation with normal noise, common to all points."""
    noise = rng.normal(0.0, 1.0, (2_000, 2))

    def evaluate(unit: Floats, n: int) -> Floats:
        x = float(unit[0])
        return np.array([objective(x), excess(x)]) + noise[:n]

    return evaluate


def certified(
    seed: int,
    excess: Callable[[float], float],
    points: list[float],
    budget: int = 300,
    objective: Callable[[float], float] = lambda x: -x,
) -> Certificate:
    rng = np.random.default_rng(seed)
    stages = stage(rng, objective, excess), stage(rng, objective, excess)
    return certify(PROBLEM, [np.array([x]) for x in points], stages, budget, ALPHA)


def test_infeasible_points_pass_at_most_as_often_as_stated() -> None:
    # All points violate by a hair: the hardest case for the test.
    runs = 1000
    points = [0.1, 0.3, 0.5, 0.7, 0.9]
    wrong = sum(certified(k, lambda x: 1e-9, points).feasible is True for k in range(runs))
    assert wrong / runs <= ALPHA + 4 * math.sqrt(ALPHA * (1 - ALPHA) / runs)


def test_the_best_feasible_point_is_found() -> None:
    # Feasible up to x = 0.6; better the larger x.
    for seed in range(50):
        found = certified(seed, lambda x: 5.0 * (x - 0.6), [0.2, 0.4, 0.55, 0.7, 0.9])
        assert found.feasible is True
        assert found.unit[0] in (0.4, 0.55)


def test_hopeless_points_are_called_infeasible_and_the_least_violation_is_kept() -> None:
    found = certified(1, lambda x: 1.0 + x, [0.9, 0.1, 0.5])
    assert found.feasible is False
    assert found.unit[0] == 0.1


def test_too_close_to_call_is_undecided() -> None:
    assert certified(2, lambda x: 0.0, [0.5], budget=40).feasible is None


def test_undefined_replications_make_a_point_infeasible() -> None:
    def excess(x: float) -> float:
        return math.nan if x > 0.5 else -1.0

    found = certified(3, excess, [0.9, 0.4])
    assert (found.feasible, found.unit[0], found.undefined) == (True, 0.4, 0)
    nothing = certified(4, lambda x: math.nan, [0.9, 0.4])
    assert nothing.feasible is False
    assert nothing.undefined == len(nothing.outcomes)


@pytest.mark.parametrize("budget", [30, 100, 1000])
@pytest.mark.parametrize("count", [1, 2, 8])
def test_the_budget_is_kept(budget: int, count: int) -> None:
    points = np.linspace(0.1, 0.9, count).tolist()
    found = certified(5, lambda x: -1.0, points, budget=budget)
    assert found.spent <= budget
    assert found.feasible is True


def test_without_constraints_every_point_is_feasible() -> None:
    free = Problem(PROBLEM.variables, PROBLEM.terms, [])
    rng = np.random.default_rng(6)

    def evaluate(unit: Floats, n: int) -> Floats:
        outcomes: Floats = unit[0] + rng.normal(0, 0.1, (n, 1))
        return outcomes

    found = certify(free, [np.array([0.8]), np.array([0.2])], (evaluate, evaluate), 100, ALPHA)
    assert (found.feasible, found.unit[0]) == (True, 0.2)
