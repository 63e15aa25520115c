"""Certification of a run: the points that the config gives, then those that the search has found.

The start and today's rule are tested first where the search leaves it open whether one of them is
the best: it may hold, and is not clearly beaten. They are fixed before any replication is made, so
that they share their replications; each test may err with half of the probability that is left,
and one that is passed leaves all of it (a fallback procedure, as in `sequential_tests`). The points
of the search are tested on replications after these, with what is left. The best of them then meets
the replications that the best given point was tested on: it is what the run comes to only if the
interval of the paired differences says that it is better.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.optimization.certification.selection import (
    MOST,
    Certificate,
    FeasibilityTest,
    certify,
    chance_by_search,
)
from valmatch.optimization.certification.sequential_tests import (
    LIKELY,
    Fresh,
    Rival,
    certify_in_turn,
    is_better,
)
from valmatch.optimization.problem import Problem
from valmatch.optimization.solvers.proposals import Level, Proposal
from valmatch.optimization.solvers.search import PointEstimates, Solver
from valmatch.statistics.estimates import Estimate, estimate

FINALISTS = 4

SHARE = 0.25, 0.2
"""Share of the replications of a given point: of the only one, of each of two."""

DUEL = 0.5
"""Share of the replications of a given point that its challenger meets, at least."""

ERROR = 0.5
"""Share of the probability left by which the test of a given point may err."""

LEAST = 5
"""Replications of a given point, at least."""

CLEARLY = 3.0
"""Standard errors by which the search sees a given point beaten that is not tested."""


@dataclass(frozen=True)
class FreshReplications:
    """The replications that points are tested on.

    Attributes
    ----------
    first, second : callable
        Index of the first replication -> evaluations from there on, with their controls: those that
        finalists are chosen by, and those that they are tested on. The search used neither.
    budget : int
        Replications for both.
    alpha : float
        Probability of calling an infeasible point feasible, at most.
    tested : int
        Replications of a test, as the search knew them.
    """

    first: Fresh
    second: Fresh
    budget: int
    alpha: float
    tested: int


def certify_run(problem: Problem, solver: Solver, fresh: FreshReplications) -> Certificate:
    """Test the points that a search has found beside those that the config gives.

    Parameters
    ----------
    problem : Problem
        What was solved; has the given points.
    solver : Solver
        The search, done.
    fresh : FreshReplications
        Where points are tested.
    """
    known = solver.estimates()
    n, units = _contenders(problem, solver, known, fresh)
    tests, alpha = _tests_of_given(units, n, fresh)
    passed = [test for test in tests.values() if test.passes]
    duel = int(DUEL * n) if passed else 0
    after = replace(fresh, budget=fresh.budget - n * len(units) - duel, alpha=alpha)
    found = _of_search(problem, solver, after, n, tests)
    found = replace(found, alpha=fresh.alpha, spent=found.spent + n * len(units))
    if not passed:
        return _named(problem, _least_violation(found, tests))
    best = min(passed, key=lambda test: test.objective)
    stays = replace(_of_test(best, found), feasible=True)
    if found.feasible is not True or problem.point(found.unit) == problem.point(best.unit):
        return _named(problem, stays)
    m = min(n, fresh.budget - found.spent)
    change = _change(found.unit, best, m, fresh)
    spent = found.spent + m
    if is_better(change):
        return _named(problem, replace(found, spent=spent))
    return _named(problem, replace(stays, spent=spent, unbeaten=change))


def _contenders(
    problem: Problem, solver: Solver, known: PointEstimates, fresh: FreshReplications
) -> tuple[int, dict[str, Floats]]:
    """Return the given points that may be the best, with the replications of each."""
    units = problem.given
    n = min(MOST[1], int(SHARE[len(units) > 1] * fresh.budget))
    if n < LEAST:
        return 0, {}
    # Finalists are tested once only: what they leave open is not found out later.
    best = known.of(solver.incumbent()) if solver.propose else None
    open_ = {
        name: unit for name, unit in units.items() if _may_be_best(known, unit, best, n, fresh)
    }
    return (n, open_) if open_ else (0, {})


def _may_be_best(
    known: PointEstimates,
    unit: Floats,
    best: PointEstimates | None,
    n: int,
    fresh: FreshReplications,
) -> bool:
    """Return whether a search leaves it open that a given point is the best feasible one."""
    seen = known.of(unit)
    if seen is None:  # it is undefined, or a search that has its own ways never saw it
        return not (known.units == unit).all(axis=1).any()
    if chance_by_search(seen, fresh.tested, n, ERROR * fresh.alpha) < LIKELY:
        return False
    if best is None or (best.means[0, 1:] > 0.0).any():
        return True
    error = np.hypot(seen.errors[0, 0], best.errors[0, 0])
    return bool(seen.means[0, 0] - best.means[0, 0] <= CLEARLY * error)


def _tests_of_given(
    units: Mapping[str, Floats], n: int, fresh: FreshReplications
) -> tuple[dict[str, FeasibilityTest], float]:
    """Test given points on the same replications; return what they leave of alpha."""
    alpha, tests = fresh.alpha, {}
    evaluate, controls = fresh.second(0)
    for name, unit in units.items():
        tests[name] = FeasibilityTest(unit, evaluate(unit, n), ERROR * alpha, controls)
        if not tests[name].passes:
            alpha -= ERROR * alpha
    return tests, alpha


def _of_search(
    problem: Problem,
    solver: Solver,
    fresh: FreshReplications,
    start: int,
    given: Mapping[str, FeasibilityTest],
) -> Certificate:
    """Certify what the search has found, on replications from `start` on."""
    if solver.propose is None:
        (choose, of_first), (test, of_second) = fresh.first(0), fresh.second(start)
        found = certify(
            solver.finalists(FINALISTS),
            (choose, test),
            fresh.budget,
            fresh.alpha,
            (of_first, of_second),
        )
        return replace(found, first=start)
    known = solver.estimates()
    level = None
    for test_of_given in given.values():
        level = _level_after(known, test_of_given, level)
    rivals = [
        Rival(unit, seen, fresh.tested, given=bool(name))
        for name, unit in {"": solver.incumbent(), **problem.given}.items()
        if name not in given and (seen := known.of(unit)) is not None
    ]
    found = certify_in_turn(
        solver.propose,
        lambda first: fresh.second(start + first),
        fresh.budget,
        fresh.alpha,
        rivals,
        level,
        any(test_of_given.passes for test_of_given in given.values()),
    )
    return replace(found, first=start + found.first)


def _level_after(known: PointEstimates, test: FeasibilityTest, level: Level | None) -> Level | None:
    """Return what the test of a given point says of the level of all points."""
    seen = known.of(test.unit)
    if seen is None or test.undefined:
        return level
    shared = known.shared[1:]
    before = level or Level(np.zeros_like(shared), shared)
    own = np.sqrt(np.maximum(0.0, seen.errors[0, 1:] ** 2 - shared**2))
    proposal = Proposal(test.unit, seen.means[0, 1:], own, before, True)
    return before.after(proposal, test.sample.mean[1:], test.sample.errors[1:])


def _change(
    challenger: Floats, given: FeasibilityTest, n: int, fresh: FreshReplications
) -> Estimate:
    """Estimate by how much a point changes the objective of a given one, day by day."""
    evaluate, _ = fresh.second(0)
    change = evaluate(challenger, n)[:, 0] - given.outcomes[:n, 0]
    return estimate(change, 1.0 - fresh.alpha)


def _least_violation(found: Certificate, tests: Mapping[str, FeasibilityTest]) -> Certificate:
    """Return what was found, or where nothing passed the point of least violation."""
    if found.feasible is True or not tests:
        return found
    seen_to_fail = found.feasible is False and all(test.fails for test in tests.values())
    found = replace(found, feasible=False if seen_to_fail else None)
    least = min(tests.values(), key=lambda test: (test.violation, test.objective))
    violation = np.inf
    if not found.undefined:
        violation = float(found.adjusted.mean(axis=0)[1:].max(initial=0.0))
    return _of_test(least, found) if least.violation < violation else found


def _of_test(test: FeasibilityTest, found: Certificate) -> Certificate:
    """Return the certificate of a given point."""
    return replace(
        found,
        unit=test.unit,
        outcomes=test.outcomes,
        adjusted=test.adjusted,
        undefined=test.undefined,
        first=0,
    )


def _named(problem: Problem, found: Certificate) -> Certificate:
    return replace(found, name=problem.name_of(found.unit))
