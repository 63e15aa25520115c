"""Certification of a run: of what the search recommends, and of what is tested whatever it says.

The start, today's rule and the best point that the search has evaluated are always tested, beside
the path of points that the search's model places (`path`); a search without a model has finalists
in their place (`selection`). What the model says of these points decides nothing: how much of the
error probability their tests have follows from their own replications. A point that the config
gives stays what a run comes to unless the best of the others is better beyond the interval of the
paired differences.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.optimization.certification.selection import (
    MOST,
    AdjustedOutcomes,
    Certificate,
    Evaluate,
    FeasibilityTest,
    chance_by_search,
    factor,
    pick,
)
from valmatch.optimization.problem import Problem
from valmatch.optimization.solvers.noise import OFTEN, Controls, Noise
from valmatch.optimization.solvers.search import NextTest, PointEstimates, Proposal, Propose, Solver
from valmatch.statistics.estimates import Estimate, clopper_pearson, estimate

# Certification along a path: points fixed before any test, the surest first.
#
# All points meet the same fresh replications: the first of them many, the others a few, and what
# these leave open is read off the first point by regression (double sampling). Each test along the
# path has the whole error probability, and the first that is not passed ends it: a fixed sequence
# needs no independence (Maurer, Hothorn & Lehmacher 1995). Points beside the path, which the config
# gives or the search holds for the best, are tested before it, each with a share of what is left of
# alpha, which one that passes hands on (a fallback procedure: Wiens 2003, "A fixed sequence
# Bonferroni procedure for testing multiple endpoints", Pharmaceutical Statistics 2). Where no point
# of the path passes, a surer one is tested on further replications, with what was kept for it.

FIRST = 0.8  # share of alpha by which tests along the path may err, where a surer point may follow
LEAST = 10  # replications of a point, at least, where there are several
SHORT = 20  # replications of a point beside the path that is not likely to be the best one
KEPT = 8  # points of a path that replications are kept for: a bolder one seldom passes
ALIKE = 0.5  # correlation from which on a point is read off another one that has more replications

Fresh: TypeAlias = Callable[[int], tuple[Evaluate, Controls]]
"""Index of the first replication of a test -> evaluations on those from there on, with controls."""

Surer: TypeAlias = Callable[[FeasibilityTest, int, float], Floats]
"""(the test that failed, replications and alpha of the next) -> a point that is surer to pass."""


class Beside(NamedTuple):
    """A point that is tested beside the path."""

    unit: Floats
    share: float  # of the alpha left, by which its test may err
    short: bool = False  # whether a few replications will do


@dataclass(frozen=True)
class Candidates:
    """The points that are tested, fixed before any test."""

    path: Sequence[Floats]  # the surest first
    beside: Sequence[Beside] = ()
    surer: Surer | None = None


@dataclass
class PathTests:
    """What came of the tests."""

    beside: list[FeasibilityTest] = field(default_factory=list)
    path: list[FeasibilityTest] = field(default_factory=list)
    last: FeasibilityTest | None = None  # of the surer point, on replications of its own
    start: int = 0  # the first of these
    spent: int = 0

    @property
    def passed(self) -> FeasibilityTest | None:
        """The boldest point along the path that passed."""
        made = [*self.path, *([self.last] if self.last else [])]
        return next((test for test in reversed(made) if test.passes), None)

    @property
    def all(self) -> list[FeasibilityTest]:
        """Every test."""
        return [*self.beside, *self.path, *([self.last] if self.last else [])]


def lengths(budget: int, points: int, common: float) -> tuple[int, int]:
    """Return the replications of the first point of a path and of each other one.

    The more they have in common, the more the first point gets: as many times more as make the
    variance of the others least.
    """
    if points < 2:
        return (min(MOST[1], budget),) * 2
    ratio = common / math.sqrt(max(1e-9, 1.0 - common**2)) * math.sqrt(points - 1)
    few = max(min(LEAST, budget // points), int(budget / (max(1.0, ratio) + points - 1)))
    few = max(1, min(MOST[1], few))
    return max(1, min(MOST[1], budget - (points - 1) * few)), few


def certify_along(
    candidates: Candidates, fresh: Fresh, budget: int, alpha: float, noise: Noise
) -> PathTests:
    """Test points until one along the path is not passed."""
    path, beside = candidates.path, candidates.beside
    brief = sum(one.short for one in beside)
    least = min(SHORT, budget // (len(path) + len(beside)))
    points = min(len(path), KEPT) + len(beside) - brief
    many, few = lengths(budget - brief * least, points, noise.common)
    evaluate, controls = fresh(0)
    first = AdjustedOutcomes(evaluate(path[0], many), controls)

    def test(unit: Floats, error: float, n: int = few) -> FeasibilityTest:
        if unit is path[0]:
            return FeasibilityTest(unit, first, error, noise)
        tests.spent += n
        read_off = noise.common >= ALIKE and n < many and not first.undefined
        sample = AdjustedOutcomes(evaluate(unit, n), controls, first if read_off else None)
        return FeasibilityTest(unit, sample, error, noise)

    tests = PathTests(start=many, spent=many)
    for unit, share, short in beside:
        tests.beside.append(test(unit, share * alpha, least if short else few))
        if not tests.beside[-1].passes:
            alpha -= share * alpha
    error = FIRST * alpha if candidates.surer else alpha
    for unit in path:
        if unit is not path[0] and tests.spent + few > budget:
            break
        tests.path.append(test(unit, error))
        if not tests.path[-1].passes:
            break
    # A surer point is also compared with one that is certified already.
    certified = any(one.passes for one in tests.beside)
    left = min(MOST[1], budget - tests.spent - least * certified)
    if candidates.surer and not tests.passed and left >= LEAST:
        unit = candidates.surer(tests.path[0], left, alpha - error)
        evaluate, controls = fresh(many)
        sample = AdjustedOutcomes(evaluate(unit, left), controls)
        tests.last = FeasibilityTest(unit, sample, alpha - error, noise)
        tests.spent += left
    return tests


FINALISTS = 4

SURENESS = (1.6, 0.5), (4.0, 3.0, 2.2, 1.5, 0.9, 0.4, -0.1, -0.6, -1.1, -1.7, -2.4, -3.2)
"""How sure the points of a path are to pass: where points have little in common, and much."""

MUCH = 0.9  # the correlation that is much
SURER = 2.0  # how sure a point is to pass that is tested where no other one did
CLEARLY = 3.0  # standard errors by which the search sees a point beaten that needs no long test
LIKELY = 0.1  # chance of passing of a point that gets one, at least

ERROR = 0.05, 0.8
"""Shares of alpha that the test of a point beside the path may err by, at least and at most."""


@dataclass(frozen=True)
class FreshReplications:
    """The replications that points are tested on."""

    # index of the first replication -> evaluations from there on, with their controls: those that
    # finalists are chosen by, and those that they are tested on. The search used neither
    first: Fresh
    second: Fresh
    budget: int  # replications for both
    alpha: float  # probability of calling an infeasible point feasible, at most
    tested: int  # replications of a test, as the search knew them


def certify_run(problem: Problem, solver: Solver, fresh: FreshReplications) -> Certificate:
    """Test what a search recommends beside the points that the config gives."""
    known = solver.estimates()
    noise = known.noise or Noise.unknown(problem.constraints)
    best, spent, surer = solver.incumbent(), 0, None
    points = list(problem.given.values())
    if solver.propose and not np.isnan(noise.low).all():
        path, sure = [best], _sure(problem, known)  # no model follows yes and no
        if sure is not None and _by_luck(noise, fresh.budget // 2, ERROR[1] * fresh.alpha):
            path, points = [sure], []  # all replications and the whole of alpha
    elif solver.propose:
        path, surer = _placed(solver.propose, known, noise, fresh)
        points.append(best)
    else:
        finalists = solver.finalists(FINALISTS)
        path, spent = pick(finalists, *fresh.first(0), fresh.budget, fresh.alpha, noise)
    left = fresh.budget - spent
    # With few replications there are enough for the first of them.
    others = _others(problem, points, path)[: max(0, left // LEAST - len(path))]
    n = max(1, left // (len(path) + len(others)))
    beside = [_beside(unit, known, known.of(best), fresh, n) for unit in others]
    tests = certify_along(Candidates(path, beside, surer), fresh.second, left, fresh.alpha, noise)
    run = _certificate(problem, tests, fresh, left)
    return replace(run, spent=run.spent + spent, name=problem.name_of(run.unit))


def _placed(
    propose: Propose, known: PointEstimates, noise: Noise, fresh: FreshReplications
) -> tuple[list[Floats], Surer]:
    """Return points that a model places, each bolder than the one before, and a surer one."""
    sureness: Sequence[float] = SURENESS[noise.common > MUCH]
    # The first point gets half of the replications, at least.
    sureness = sureness[:: math.ceil(2 * LEAST * len(sureness) / fresh.budget)]
    many, few = lengths(fresh.budget, min(len(sureness), KEPT), noise.common)
    n = round(1.0 / ((1.0 - noise.common**2) / few + noise.common**2 / many))
    proposals: list[Proposal] = []
    for sure in sureness:
        proposal = propose(NextTest(n, _factors(noise, n, FIRST * fresh.alpha), sure))
        if not proposals or proposal.objective < proposals[-1].objective:
            proposals.append(proposal)
    first = proposals[0]

    def surer(test: FeasibilityTest, n: int, alpha: float) -> Floats:
        factors = _factors(noise, n, alpha)
        if test.undefined:
            return propose(NextTest(n, factors, SURER, undefined=test.unit)).unit
        mean, error = test.sample.mean, test.sample.errors
        if known.units_of:
            mean, error = known.units_of.convert(mean, error)
        level = first.level.after(first, mean[1:], error[1:])
        return propose(NextTest(n, factors, SURER, level)).unit

    return [proposal.unit for proposal in proposals], surer


def _factors(noise: Noise, n: int, alpha: float) -> Floats:
    """Return how many errors the bound of each constraint will lie above its mean."""
    return np.array([factor(one, one, n, n - 1, alpha) for one in noise.skewness])


def _sure(problem: Problem, known: PointEstimates) -> Floats | None:
    """Return the best point of the config that the search does not clearly see violate."""
    seen = [point for unit in problem.given.values() if (point := known.of(unit)) is not None]
    holding = [point for point in seen if (point.means <= CLEARLY * point.errors)[0, 1:].all()]
    best = min(holding, key=lambda point: float(point.means[0, 0]), default=None)
    return None if best is None else best.units[0]


def _by_luck(noise: Noise, n: int, alpha: float) -> bool:
    """Return whether two events fail a test of so many replications."""
    some = np.logical_not(np.isnan(noise.low))
    low, high = noise.low[some], noise.high[some]
    return bool((clopper_pearson(OFTEN, n, alpha)[1] > -low / (high - low)).any())


def _others(problem: Problem, points: Sequence[Floats], path: Sequence[Floats]) -> list[Floats]:
    """Return the points that are not on the path, each once."""
    known, others = [problem.point(unit) for unit in path], []
    for unit in points:
        if problem.point(unit) not in known:
            known.append(problem.point(unit))
            others.append(unit)
    return others


def _beside(
    unit: Floats,
    known: PointEstimates,
    best: PointEstimates | None,
    fresh: FreshReplications,
    n: int,
) -> Beside:
    """Return a point that is tested beside the path, by what is known of it and of the best.

    The likelier it passes, the larger is its share of alpha. Few replications show that it holds
    where it has much to spare; it needs more where it may be the best one.
    """
    seen = known.of(unit)
    if seen is None:
        return Beside(unit, ERROR[0], short=bool((known.units == unit).all(axis=1).any()))
    chance = chance_by_search(seen, fresh.tested, n, fresh.alpha)
    share = min(ERROR[1], max(ERROR[0], chance))
    if best is None or (best.means[0, 1:] > 0.0).any():
        return Beside(unit, share)
    error = CLEARLY * np.hypot(seen.errors[0, 0], best.errors[0, 0])
    worse = seen.means[0, 0] - best.means[0, 0] > error
    two_valued = known.noise is not None and not np.isnan(known.noise.low).all()
    itself = bool((unit == best.units[0]).all())
    short = not two_valued and (worse or itself or chance < LIKELY)
    return Beside(unit, share, bool(short))


def _certificate(
    problem: Problem, tests: PathTests, fresh: FreshReplications, budget: int
) -> Certificate:
    """Return what a run comes to; replications that are left tell more of it.

    A given point that seems to hold without having passed stays, too, if no point that passed is
    better: undecided.
    """
    tested = [*tests.beside, *(test for test in tests.path if problem.name_of(test.unit))]
    passed = [test for test in tested if test.passes]
    given = [test for test in passed if problem.name_of(test.unit)]
    others = [test for test in [*passed, tests.passed] if test and test not in given]
    seeming = [test for test in tested if problem.name_of(test.unit) and test.seems_to_hold]
    rivals, left = given or seeming, budget - tests.spent
    if not rivals or not others:
        every = given or others or tests.all
        best = min(every, key=lambda test: (test.violation, test.objective))
        return _shown(best, tests, fresh, len(best.outcomes), left)
    stays, best = (min(side, key=lambda test: test.objective) for side in (rivals, others))
    common = 0 if best is tests.last else min(len(stays.outcomes), len(best.outcomes))
    n = common + left // 2 if common else min(len(stays.outcomes), left)
    tests.spent += max(0, n - len(stays.outcomes))
    tests.spent += max(0, n - len(best.outcomes)) if common else n
    change = _change(best.unit, stays.unit, n, fresh)
    better = is_better(change, beyond=bool(given))
    chosen = best if better else stays
    known = len(chosen.outcomes) if chosen is tests.last else max(n, len(chosen.outcomes))
    shown = _shown(chosen, tests, fresh, known, budget - tests.spent)
    return shown if better else replace(shown, unbeaten=change)


def _change(challenger: Floats, given: Floats, n: int, fresh: FreshReplications) -> Estimate:
    """Estimate by how much a point changes the objective of a given one, day by day."""
    evaluate, _ = fresh.second(0)
    change = evaluate(challenger, n)[:, 0] - evaluate(given, n)[:, 0]
    return estimate(change, 1.0 - fresh.alpha)


def is_better(change: Estimate, beyond: bool = True) -> bool:
    """Return whether an objective that is changed is less, beyond the interval if it must be."""
    least = change.ci_high if beyond else change.mean
    return not change.undefined and least is not None and least < 0.0


def _shown(
    test: FeasibilityTest, tests: PathTests, fresh: FreshReplications, known: int, left: int
) -> Certificate:
    """Return the certificate of a point by the replications that it has, and those left."""
    first = tests.start if test is tests.last else 0
    evaluate, controls = fresh.second(first)
    beside, tested = test.sample.beside, len(test.outcomes)
    n = max(known, min(known + left, len(beside.outcomes) if beside else MOST[1]))
    sample = AdjustedOutcomes(evaluate(test.unit, n), controls, beside)
    feasible = True if test.passes else None
    if not test.passes and all(one.fails for one in tests.all):
        feasible = False
    return Certificate(
        test.unit,
        sample.outcomes,
        sample.adjusted,
        feasible,
        sample.undefined,
        tests.spent + n - known,
        fresh.alpha,
        first,
        tested=tested,
    )
