"""Certification along a path: points fixed before any test, the surest first.

All points meet the same fresh replications: the first of them many, the others a few, and what
these leave open is read off the first point by regression (double sampling). Each test along the
path has the whole error probability, and the first that is not passed ends it: a fixed sequence
needs no independence (Maurer, Hothorn & Lehmacher 1995). Points beside the path, which the config
gives or the search holds for the best, are tested before it, each with a share of what is left of
alpha, which one that passes hands on (a fallback procedure: Wiens 2003, "A fixed sequence
Bonferroni procedure for testing multiple endpoints", Pharmaceutical Statistics 2). Where no point
of the path passes, a surer one is tested on further replications, with what was kept for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from valmatch.kernels.arrays import Floats
from valmatch.optimization.certification.selection import (
    MOST,
    AdjustedOutcomes,
    Evaluate,
    FeasibilityTest,
)
from valmatch.optimization.controls import Controls
from valmatch.optimization.solvers.noise import Noise

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
