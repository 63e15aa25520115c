"""Points, certified as runs do it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.optimization.certification import (
    Beside,
    Certificate,
    Evaluate,
    Fresh,
    PathTests,
    certify_along,
    pick,
)
from valmatch.optimization.solvers.search import Controls, Noise, PointEstimates, without_controls
from valmatch.statistics.estimates import UNLIMITED

UNKNOWN = Noise.unknown(np.array([UNLIMITED]))
"""The noise of one constraint, of which nothing is known."""


def certify(
    finalists: PointEstimates,
    stages: tuple[Evaluate, Evaluate],
    budget: int,
    alpha: float,
    controls: tuple[Controls, Controls] = (without_controls, without_controls),
    noise: Noise = UNKNOWN,
) -> Certificate:
    """Pick finalists on replications of stage 1, and test them on those of stage 2."""
    path, spent = pick(finalists, stages[0], controls[0], budget, alpha, noise)
    tests = certify_along(path, lambda _: (stages[1], controls[1]), budget - spent, alpha, noise)
    best = tests.passed or min(tests.all, key=lambda test: (test.violation, test.objective))
    return Certificate(
        best.unit,
        best.outcomes,
        best.sample.adjusted,
        True if best.passes else False if all(test.fails for test in tests.all) else None,
        best.undefined,
        spent + tests.spent,
        alpha,
    )


def along(
    path: Sequence[Floats],
    fresh: Fresh,
    budget: int,
    alpha: float,
    beside: Sequence[Beside] = (),
    surer: Floats | None = None,
    common: float = 0.99,
) -> PathTests:
    """Test points along a path of which nothing is known but what they have in common."""
    last = None if surer is None else lambda test, n, alpha: surer
    noise = replace(UNKNOWN, common=common)
    return certify_along(path, fresh, budget, alpha, noise, beside, last)


def days(
    rng: np.random.Generator, budget: int, excess: Callable[[float], float]
) -> tuple[Fresh, list[int]]:
    """Return evaluations with skewed noise that is common to all points, and where tests started.

    The objective is -x.
    """
    noise, starts = rng.gamma(4.0, 1.0, (budget, 2)) - 4.0, []

    def fresh(start: int) -> tuple[Evaluate, Controls]:
        starts.append(start)

        def evaluate(unit: Floats, n: int) -> Floats:
            assert start + n <= budget
            truth = np.array([-float(unit[0]), excess(float(unit[0]))])
            outcomes: Floats = truth + noise[start : start + n]
            return outcomes

        return evaluate, without_controls

    return fresh, starts
