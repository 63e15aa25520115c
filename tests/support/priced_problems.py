"""Problems whose constraints cost what is known, cheap enough to be solved hundreds of times."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from valmatch.config.config import Constraint
from valmatch.kernels.arrays import Floats
from valmatch.optimization.solver_run import Evaluation
from valmatch.optimization.verdict import Price, prices
from valmatch.statistics.sampling import INDEPENDENT

Truth = Callable[[Floats], list[float]]

SIDE = 10.0
"""Variables are from 0 to this, linearly."""


@dataclass(frozen=True)
class Problem:
    """A problem with its solution."""

    name: str
    truth: Truth  # objective and excesses at a point
    signs: Sequence[int]  # of its constraints
    best: Callable[[float], list[float]]  # the optimum, by how much all bounds are tightened
    slopes: Sequence[float]  # change of the best objective when a bound is one larger
    noise: Sequence[float]  # standard deviation of objective and excesses
    skewed: bool = False  # whether noise is exponential rather than normal


class Told(NamedTuple):
    """What is said of the first constraint of a problem."""

    holds: bool | None  # whether the interval holds the price; None where none is given
    false: bool  # a wrong sign, or a binding constraint called not binding
    words: str  # as printed


def outcomes_of(
    truth: Truth, noise: float | Sequence[float], seed: int, skewed: bool = False
) -> Callable[[Floats, int], Floats]:
    """Return an evaluation: half of the variance is common to all points, as with one stream."""

    def evaluate(unit: Floats, n: int) -> Floats:
        mean = np.array(truth(SIDE * unit))
        share = np.array(noise) / math.sqrt(2.0)
        rngs = (
            np.random.default_rng(seed),
            np.random.default_rng([seed, *(int(1e9 * x) for x in unit)]),
        )
        shape = (n, len(mean))
        if skewed:
            common, own = (rng.exponential(1.0, shape) - 1.0 for rng in rngs)
        else:
            common, own = (rng.normal(0.0, 1.0, shape) for rng in rngs)
        made: Floats = mean + share * (common + own)
        return made

    return evaluate


def searched(
    evaluate: Callable[[Floats, int], Floats], best: Floats, seed: int, points: int = 60
) -> list[Evaluation]:
    """Return what a search leaves that has come near to a point."""
    rng = np.random.default_rng(seed)
    found = []
    for k in range(points):
        unit = np.clip(best + rng.normal(0.0, 0.3 / (1 + k / 10), len(best)), 0.0, 1.0)
        n = 4 if k % 3 else 10
        found.append(Evaluation(unit, n, evaluate(unit, n).mean(axis=0), 0, best))
    return found


def told(problem: Problem, seed: int, n: int = 40) -> Told:
    """Return what is said of the first constraint at a point a little short of the bound."""
    (price, slope) = priced_of(problem, seed, n)
    words = price.entry("")["in_words"]
    if price.why:
        return Told(None, False, words)
    if price.between:
        low, high = price.between
        return Told(low <= slope <= high, False, words)
    if price.slope is None:
        return Told(False, slope != 0.0, words)
    one = price.slope
    assert one.mean is not None
    assert one.ci_low is not None
    assert one.ci_high is not None
    return Told(one.ci_low <= slope <= one.ci_high, one.mean * slope <= 0.0, words)


def priced_of(problem: Problem, seed: int, n: int) -> tuple[Price, float]:
    """Return the price of the first constraint, and what it is in truth."""
    rng = np.random.default_rng([seed, 7])
    margin = problem.noise[1] * rng.uniform(0.0, 4.0) / math.sqrt(200.0)
    unit = np.clip(np.array(problem.best(margin)) / SIDE, 0.0, 1.0)
    inside = (unit > 0.0) & (unit < 1.0)
    if len(unit) > 1:
        away = rng.normal(0.0, 0.002 if problem.noise[1] else 0.0, len(unit))
        unit = np.clip(unit + inside * away, 0.0, 1.0)
    constraints = [Constraint.of(f"r{k}", sign, 3.0) for k, sign in enumerate(problem.signs)]
    before = outcomes_of(problem.truth, problem.noise, 1000 + seed, problem.skewed)
    fresh = outcomes_of(problem.truth, problem.noise, 2000 + seed, problem.skewed)
    found = prices(constraints, searched(before, unit, seed), unit, fresh, n, INDEPENDENT, 0.95)
    return found[0], problem.slopes[0]


def duels(x: Floats) -> list[float]:
    """Take a tolerance of 10 to 400: 0.48 of it is the difference, 500 over it the wait."""
    tolerance = 10.0 + 39.0 * float(x[0])
    return [0.48 * tolerance, 500.0 / tolerance - 5.0]


CURVED = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, -0.3], [0.0, -0.3, 3.0]])
"""Objective (x - 1)' C (x - 1) with x1 + x2 + x3 >= 9: x = 1 + m C^-1 1 / 2, 1'x = 9."""

_PATH = np.linalg.solve(CURVED, np.ones(3))


def _along(tightened: float) -> list[float]:
    return [float(one) for one in 1.0 + (6.0 + tightened) * _PATH / _PATH.sum()]


PROBLEMS = [
    Problem(
        "line and hyperbola",
        duels,
        [1],
        lambda t: [(500.0 / (5.0 - t) - 10.0) / 39.0],
        [-9.6],
        [1.2, 0.5],
    ),
    Problem(
        "parabola",
        lambda x: [float((x[0] - 2.0) ** 2), 4.0 - float(x[0])],
        [-1],
        lambda t: [4.0 + t],
        [4.0],
        [0.5, 0.3],
    ),
    Problem(
        "logarithm",
        lambda x: [-10.0 * math.log1p(float(x[0])), float(x[0]) - 3.0],
        [1],
        lambda t: [3.0 - t],
        [-2.5],
        [1.0, 0.4],
    ),
    Problem(
        "skewed noise",
        lambda x: [30.0 - 4.0 * float(x[0]), 0.1 * float(x[0]) ** 2 - 1.6],
        [1],
        lambda t: [math.sqrt(10.0 * (1.6 - t))],
        [-5.0],
        [0.6, 0.12],
        skewed=True,
    ),
    Problem(
        "hill",
        lambda x: [float((x[0] - 2.0) ** 2 + (x[1] - 3.0) ** 2), 13.0 - float(x[0] + 2.0 * x[1])],
        [-1],
        lambda t: [3.0 + t / 5.0, 5.0 + 2.0 * t / 5.0],
        [2.0],
        [0.5, 0.5],
    ),
    Problem(
        "two of them",
        lambda x: [float(x @ x), 2.0 - float(x[0]), 3.0 - float(x[1])],
        [-1, -1],
        lambda t: [2.0 + t, 3.0 + t],
        [4.0, 6.0],
        [0.3, 0.1, 0.1],
    ),
    Problem(
        "three variables",
        lambda x: [float((x - 1.0) @ CURVED @ (x - 1.0)), 9.0 - float(x.sum())],
        [-1],
        _along,
        [float(12.0 / _PATH.sum())],
        [0.8, 0.3],
    ),
    Problem(
        "product",
        lambda x: [float(x.sum()), 9.0 - float(x[0] * x[1])],
        [-1],
        lambda t: [math.sqrt(9.0 + t)] * 2,
        [1.0 / 3.0],
        [0.15, 0.4],
    ),
    Problem(
        "held by its bound",
        lambda x: [float((x[0] - 2.0) ** 2 + (x[1] + 1.0) ** 2), 4.0 - float(x[0] + x[1] / 5.0)],
        [-1],
        lambda t: [4.0 + t, 0.0],
        [4.0],
        [0.5, 0.2],
    ),
    Problem(
        "six variables",
        lambda x: [float(x @ x), 12.0 - float(x.sum())],
        [-1],
        lambda t: [2.0 + t / 6.0] * 6,
        [4.0],
        [0.8, 0.3],
    ),
]
"""Ten, of one to six variables."""
