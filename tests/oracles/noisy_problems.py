"""Noisy constrained problems with known optima, and an evaluator of them that counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from valmatch.config.config import Constraint
from valmatch.kernels.arrays import Floats
from valmatch.optimization.problem import Problem, Term, Variable
from valmatch.optimization.solvers.search import Request, Search


@dataclass(frozen=True)
class Case:
    """A problem whose expected outcomes are known."""

    problem: Problem
    # Expected outcomes of values of the variables; NaN where undefined.
    truth: Callable[[Floats], Floats]
    optimum: float  # expected objective of the best feasible point; NaN without one
    noise: float  # standard deviation of each outcome; half of its variance is common


@dataclass
class Laboratory:
    """Evaluates points of a case with common random numbers, each replication made once."""

    case: Case
    spent: int = 0
    _made: dict[tuple[float, ...], int] = field(default_factory=dict)

    def evaluate(self, unit: Floats, n: int) -> Floats:
        point = tuple(self.case.problem.point(unit).values())
        self.spent += max(0, n - self._made.get(point, 0))
        self._made[point] = max(n, self._made.get(point, 0))
        truth = self.case.truth(np.array(point))
        share = self.case.noise / np.sqrt(2.0)
        common = np.random.default_rng(1).normal(0.0, share, (n, len(truth)))
        own = np.random.default_rng(abs(hash(point))).normal(0.0, share, (n, len(truth)))
        outcomes: Floats = truth + common + own
        return outcomes


def search(solver: Search, laboratory: Laboratory) -> list[Request]:
    """Run a search to its end and return what it asked."""
    return [request for request, _ in solver.run(laboratory.evaluate)]


def _problem(count: int, start: float, constraints: int = 1, whole: bool = False) -> Problem:
    variables = [
        Variable(f"x{i}", 0.0, 10.0, float("inf"), start, 5.0, 3.0, whole) for i in range(count)
    ]
    bounds = {f"c{j}": Constraint.of(f"c{j}", 1, 0.0) for j in range(constraints)}
    return Problem(variables, [Term("f", "f", 1.0)], bounds)


def _bowl(x: Floats) -> Floats:
    """Squared distance from (8, 8), in the half-plane x0 + x1 <= 10: 18 at (5, 5)."""
    return np.array([((x - 8.0) ** 2).sum(), x.sum() - 10.0])


def _grid(x: Floats) -> Floats:
    """Like the bowl, with a bound that no whole point lies on."""
    outcomes: Floats = _bowl(x) - np.array([0.0, 0.5])
    return outcomes


def _five(x: Floats) -> Floats:
    """Like an optimisation of rules: sums to be small, a wait to be short, two flat variables."""
    return np.array([x[0] + x[1] + x[2], 30.0 / (1.0 + x[0]) + 20.0 / (1.0 + x[1]) - 10.0])


def _five_optimum() -> float:
    # With u = 1 + x0 and v = 1 + x1: u + v is least on 30/u + 20/v = 10 where
    # u = sqrt(30) s / 10, v = sqrt(20) s / 10, s = sqrt(30) + sqrt(20).
    s = np.sqrt(30.0) + np.sqrt(20.0)
    return float(s * s / 10.0 - 2.0)


def _gap(x: Floats) -> Floats:
    """Undefined where x0 > 6; the optimum of the bowl lies within the defined part."""
    return np.full(2, np.nan) if x[0] > 6.0 else _bowl(x)


PROBLEMS = {
    "bowl": Case(_problem(2, 2.0), _bowl, 18.0, 2.0),
    "infeasible start": Case(_problem(2, 9.5), _bowl, 18.0, 2.0),
    "five variables": Case(_problem(5, 5.0), _five, _five_optimum(), 0.5),
    "nothing feasible": Case(
        _problem(2, 5.0),
        lambda x: np.array([x[0], 3.0 + ((x - 4.0) ** 2).sum()]),
        float("nan"),
        1.0,
    ),
    "undefined region": Case(_problem(2, 9.5), _gap, 18.0, 2.0),
    "one variable": Case(_problem(1, 9.0), lambda x: np.array([x[0], 4.0 - x[0]]), 4.0, 0.5),
    "no constraint": Case(
        _problem(2, 1.0, 0), lambda x: np.array([((x - 7.0) ** 2).sum()]), 0.0, 2.0
    ),
    "whole numbers": Case(_problem(2, 2.0, whole=True), _grid, 18.0, 1.0),
    "flat": Case(_problem(2, 5.0), lambda x: np.array([1.0, -1.0]), 1.0, 0.0),
    "nothing defined": Case(_problem(2, 5.0), lambda x: np.full(2, np.nan), float("nan"), 1.0),
}
