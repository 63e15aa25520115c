"""Certification of points that a model places: one test after the other, from sure to bold.

Each test has replications of its own, which nothing was chosen by. The first may err with
probability `FIRST` alpha. If it is passed, each of the others may err with alpha, and the first of
them that is not passed ends them. If it is not, a second point gets what is left of alpha and of
the replications (a fallback procedure: Wiens 2003, "A fixed sequence Bonferroni procedure for
testing multiple endpoints", Pharmaceutical Statistics 2). Where a point is placed may depend on all
tests before: whatever they were, an infeasible point passes with at most the probability that its
test has, and these add up to alpha only along tests that fail. The tests themselves are those of
`valmatch.optimization.selection`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from valmatch.optimization.controls import Controls
from valmatch.optimization.selection import (
    MOST,
    RESERVE,
    Certificate,
    Evaluate,
    FeasibilityTest,
)
from valmatch.optimization.solvers.placement import Level, Placed, Placement, Wanted
from valmatch.statistics.estimates import t_quantile

__all__ = ["certify_in_turn"]

TESTS = (0.2, 2.0), (0.3, 1.3), (0.5, 1.0)
"""The tests: shares of the replications, and how sure their points are to pass."""

FIRST = 0.8
"""Share of alpha by which the first of several tests may err."""

SURER = 2.0
"""How much surer than the first a second point is to pass, where the first did not."""

LEAST = 20
"""Replications of a test, at least, where there are several."""

Floats = NDArray[np.float64]
Fresh = Callable[[int], tuple[Evaluate, Controls]]
"""Index of the first replication of a test -> evaluations on those from there on, with controls."""


@dataclass
class _Tests:
    """The tests that were made, with what they leave for the next one."""

    alpha: float
    start: int = 0
    level: Level | None = None
    undefined: Floats | None = None
    passed: list[tuple[int, FeasibilityTest]] = field(default_factory=list)
    failed: list[tuple[int, FeasibilityTest]] = field(default_factory=list)

    def make(self, placed: Placed, n: int, alpha: float, fresh: Fresh) -> bool:
        """Test a point; return whether it passed."""
        evaluate, controls = fresh(self.start)
        test = FeasibilityTest(placed.unit, evaluate(placed.unit, n), alpha, controls)
        (self.passed if test.passes else self.failed).append((self.start, test))
        self.start += n
        if not test.passes:
            self.alpha -= alpha
        if test.undefined:
            self.undefined = placed.unit
        else:
            sample = test.sample
            self.level = placed.level.after(placed, sample.mean[1:], sample.errors[1:])
        return test.passes

    def wanted(self, n: int, sure: float, alpha: float) -> Wanted:
        """Return what the next test is."""
        quantile = t_quantile(1.0 - RESERVE * alpha, max(1, n - 1))
        return Wanted(n, quantile, sure, self.level, self.undefined)

    def certificate(self, alpha: float) -> Certificate:
        """Return the last point that passed; the one of least violation if none did."""
        if self.passed:
            first, chosen = self.passed[-1]
        else:
            first, chosen = min(self.failed, key=lambda one: (one[1].violation, one[1].objective))
        seen_to_fail = all(test.fails for _, test in self.failed)
        return Certificate(
            chosen.unit,
            chosen.outcomes,
            chosen.adjusted,
            True if self.passed else (False if seen_to_fail else None),
            chosen.undefined,
            self.start,
            alpha,
            first,
        )


def certify_in_turn(placement: Placement, fresh: Fresh, budget: int, alpha: float) -> Certificate:
    """Test points that are placed, and return the last that passed.

    Parameters
    ----------
    placement : callable
        Says which point to test next.
    fresh : callable
        Evaluations on replications that the search did not use.
    budget : int
        Replications for all tests, at least 1.
    alpha : float
        Probability of calling an infeasible point feasible, at most.
    """
    tests, plan = _Tests(alpha), [*_plan(budget)]
    while plan:
        n, sure = plan.pop(0)
        error = FIRST * alpha if plan and not tests.passed else tests.alpha
        placed = placement(tests.wanted(n, sure, error))
        if not placed.holds and tests.start == 0:
            # Hardly any point passes: the most likely one gets all that there is.
            n, error, plan = min(MOST[1], budget), alpha, []
            placed = placement(tests.wanted(n, sure, error))
        if tests.make(placed, n, error, fresh):
            plan = plan if placed.holds else []
        else:
            # What the search knows is not as good as it takes itself to be.
            second = min(MOST[1], budget - tests.start), SURER * sure
            plan = [second] if plan and not tests.passed else []
    return tests.certificate(alpha)


def _plan(budget: int) -> Iterator[tuple[int, float]]:
    """Yield the replications of each test with how sure its point is to pass."""
    sure = [one for _, one in TESTS]
    shares = [share for share, _ in TESTS]
    while len(shares) > 1 and budget * shares[0] / sum(shares) < LEAST:
        shares.pop(0)
        sure.pop(1)
    left = budget
    for k, one in enumerate(sure):
        n = max(1, int(left * shares[k] / sum(shares[k:])))
        yield min(MOST[1], n), one
        left -= n
