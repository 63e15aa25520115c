"""Certification of points that a model places: one test after the other, from sure to bold.

Each test has replications of its own, which nothing was chosen by, and the full error probability
alpha; the first that is not passed ends them. Where a point is placed may therefore depend on all
tests before: given these, the first infeasible point passes with probability at most alpha, and no
other infeasible point is called feasible before it (a fixed-sequence procedure: Maurer, Hothorn &
Lehmacher 1995). The tests themselves are those of `valmatch.optimization.selection`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from valmatch.optimization.controls import Controls
from valmatch.optimization.selection import (
    MOST,
    RESERVE,
    Certificate,
    Evaluate,
    FeasibilityTest,
    Sample,
)
from valmatch.optimization.solvers.placement import Placement, Wanted
from valmatch.statistics.estimates import t_quantile

__all__ = ["certify_in_turn"]

TESTS = (0.2, 2.0), (0.3, 1.3), (0.5, 1.0)
"""The tests: shares of the replications, and how sure their points are to pass."""

LEAST = 20
"""Replications of a test, at least, where there are several."""

Fresh = Callable[[int], tuple[Evaluate, Controls]]
"""Index of the first replication of a test -> evaluations on those from there on, with controls."""


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
    passed: list[tuple[int, FeasibilityTest]] = []
    start, level = 0, None
    for n, sure in _tests(budget):
        placed = placement(_wanted(n, sure, alpha)._replace(level=level))
        if not (placed.holds or passed):
            # Hardly any point passes: the most likely one gets all that there is.
            n = min(MOST[1], budget)
            placed = placement(_wanted(n, sure, alpha))
        evaluate, controls = fresh(start)
        outcomes = evaluate(placed.unit, n)
        test = FeasibilityTest(placed.unit, outcomes, alpha, controls)
        if test.passes:
            passed.append((start, test))
            sample = Sample(outcomes, controls)
            level = placed.level.after(placed, sample.mean[1:], sample.errors[1:])
        start += n
        if not test.passes or not placed.holds:
            break
    first, chosen = passed[-1] if passed else (0, test)
    return Certificate(
        chosen.unit,
        chosen.outcomes,
        chosen.adjusted,
        True if passed else (False if test.fails else None),
        chosen.undefined,
        start,
        alpha,
        first,
    )


def _tests(budget: int) -> Iterator[tuple[int, float]]:
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


def _wanted(n: int, sure: float, alpha: float) -> Wanted:
    return Wanted(n, t_quantile(1.0 - RESERVE * alpha, max(1, n - 1)), sure)
