"""Sequential tests of points that a search's model places, the surest first.

Each test has replications of its own, which nothing was chosen by. The first may err with
probability `FIRST` alpha. If it is passed, each of the others may err with alpha, and the first of
them that is not passed ends them. If it is not, a second point gets what is left of alpha and of
the replications (a fallback procedure: Wiens 2003, "A fixed sequence Bonferroni procedure for
testing multiple endpoints", Pharmaceutical Statistics 2). Points that the search itself holds for
the best, its rivals, are tested where it takes what is proposed to be worse: in place of the last
point, and with what a point that is not passed has left. Which point is proposed may depend on all
tests before: whatever they were, an infeasible point passes with at most the probability that its
test has, and these add up to alpha only along tests that fail. The tests themselves are those of
`valmatch.optimization.certification.selection`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.optimization.certification.selection import (
    MOST,
    RESERVE,
    Certificate,
    Evaluate,
    FeasibilityTest,
    chance_by_search,
)
from valmatch.optimization.controls import Controls
from valmatch.optimization.solvers.proposals import Level, NextTest, Proposal, Propose
from valmatch.optimization.solvers.search import PointEstimates
from valmatch.statistics.estimates import Estimate, estimate, t_quantile

TESTS = (0.2, 2.0), (0.3, 1.3), (0.5, 0.6)
"""The tests: shares of the replications, and how sure their points are to pass."""

FIRST = 0.8
"""Share of alpha by which the first of several tests may err."""

SURER = 2.0
"""How much surer than the first a second point is to pass, where the first did not."""

LEAST = 20
"""Replications of a test, at least, where there are several."""

CLEARLY = 2.0
"""Standard errors by which a rival is better that takes the place of the last point."""

TRUSTED = 0.5
"""Chance of passing of a rival that is tested, at least, by what the search knows."""

LIKELY = 0.05
"""The same of a point that the config gives."""

Fresh: TypeAlias = Callable[[int], tuple[Evaluate, Controls]]
"""Index of the first replication of a test -> evaluations on those from there on, with controls."""


@dataclass(frozen=True)
class Rival:
    """A point that the search may hold for better than what is proposal.

    Attributes
    ----------
    unit : numpy.ndarray
        In the unit cube.
    known : PointEstimates
        What the search knows of it.
    tested : int
        Replications that `known.test` is for.
    given : bool
        Whether the config gives it: then it must be beaten beyond an interval.
    """

    unit: Floats
    known: PointEstimates
    tested: int
    given: bool = False

    @property
    def objective(self) -> float:
        """Its mean objective."""
        return float(self.known.means[0, 0])

    def beats(self, test: FeasibilityTest, doubts: float = 0.0) -> bool:
        """Return whether it is better than a point that was tested, by so many doubts.

        One that the config gives need only not be worse by as many.
        """
        error = float(np.hypot(self.known.errors[0, 0], test.sample.errors[0]))
        if self.given:
            return self.objective - CLEARLY * error <= test.objective
        return self.objective + doubts * error < test.objective

    def may_pass(self, n: int, alpha: float) -> bool:
        """Return whether it is likely enough to pass a test of `n` replications."""
        chance = chance_by_search(self.known, self.tested, n, alpha)
        return chance >= (LIKELY if self.given else TRUSTED)


@dataclass
class _Tests:
    """The tests that were made, with what they leave for the next one.

    Attributes
    ----------
    alpha : float
        Probability of error that is left.
    reserved : float
        Share of it that is reserved for a rival.
    start, spent : int
        Place of the next replication, and replications so far.
    level : Level or None
        What the tests have shown of the level of all points.
    undefined : numpy.ndarray or None
        The last point whose outcomes were undefined.
    passed, failed : list of tuple
        The tests by their outcome, each with the place of its first replication.
    unbeaten : Estimate or None
        See `Certificate`.
    """

    alpha: float
    reserved: float = 0.0
    start: int = 0
    spent: int = 0
    level: Level | None = None
    undefined: Floats | None = None
    passed: list[tuple[int, FeasibilityTest]] = field(default_factory=list)
    failed: list[tuple[int, FeasibilityTest]] = field(default_factory=list)
    unbeaten: Estimate | None = None

    def make(self, proposal: Proposal, n: int, alpha: float, fresh: Fresh) -> bool:
        """Test a proposed point; return whether it passed."""
        test = self.add(proposal.unit, n, alpha, fresh)
        if test.undefined:
            self.undefined = proposal.unit
        else:
            sample = test.sample
            self.level = proposal.level.after(proposal, sample.mean[1:], sample.errors[1:])
        return test.passes

    def add(self, unit: Floats, n: int, alpha: float, fresh: Fresh) -> FeasibilityTest:
        """Test a point."""
        evaluate, controls = fresh(self.start)
        test = FeasibilityTest(unit, evaluate(unit, n), alpha, controls)
        (self.passed if test.passes else self.failed).append((self.start, test))
        self.start += n
        self.spent += n
        if not test.passes:
            self.alpha -= alpha
        return test

    def add_rival(self, rival: Rival, n: int, alpha: float, fresh: Fresh) -> None:
        """Test a rival with what is left of alpha; it is the last that passed only if it is better.

        Both meet the same replications, half of `n` each. A rival that the config gives is better
        unless the other one is beyond the interval of level 1 - alpha.
        """
        if not self.passed:
            self.add(rival.unit, n, self.alpha, fresh)
            return
        (_, other), (evaluate, _) = self.passed[-1], fresh(self.start)
        test = self.add(rival.unit, n // 2, self.alpha, fresh)
        if not test.passes:
            return
        self.spent += n // 2
        change = estimate(evaluate(other.unit, n // 2)[:, 0] - test.outcomes[:, 0], 1.0 - alpha)
        if is_better(change, beyond=rival.given):
            self.passed.insert(0, self.passed.pop())
        elif rival.given:
            self.unbeaten = change

    def next_test(self, n: int, sure: float, alpha: float) -> NextTest:
        """Return what the next test is."""
        quantile = t_quantile(1.0 - RESERVE * alpha, max(1, n - 1))
        return NextTest(n, quantile, sure, self.level, self.undefined)

    def certificate(self, alpha: float) -> Certificate:
        """Return the last point that passed; the one of least violation if none did."""
        if self.passed:
            first, chosen = self.passed[-1]
        else:
            first, chosen = min(
                self.failed, key=lambda made: (made[1].violation, made[1].objective)
            )
        seen_to_fail = all(test.fails for _, test in self.failed)
        return Certificate(
            chosen.unit,
            chosen.outcomes,
            chosen.adjusted,
            True if self.passed else (False if seen_to_fail else None),
            chosen.undefined,
            self.spent,
            alpha,
            first,
            unbeaten=self.unbeaten,
        )


def certify_in_turn(
    propose: Propose,
    fresh: Fresh,
    budget: int,
    alpha: float,
    rivals: Sequence[Rival] = (),
    level: Level | None = None,
    anchored: bool = False,
) -> Certificate:
    """Test points that are proposed, and return the last that passed.

    Parameters
    ----------
    propose : callable
        Says which point to test next.
    fresh : callable
        Evaluations on replications that the search did not use.
    budget : int
        Replications for all tests, at least 1.
    alpha : float
        Probability of calling an infeasible point feasible, at most.
    rivals : sequence of Rival
        Points that the search may hold for better than those that are proposal.
    level : Level or None
        What tests before these have shown.
    anchored : bool
        Whether another point is certified already, so that the surest test is not needed.
    """
    tests, plan = _Tests(alpha, level=level), [*_plan(budget, TESTS[1:] if anchored else TESTS)]
    while plan:
        n, sure = plan.pop(0)
        error = tests.alpha - tests.reserved
        if plan and (rivals or not tests.passed):
            error = FIRST * alpha
        proposal = propose(tests.next_test(n, sure, error))
        if not plan and _rival_of(tests, rivals, n, error, proposal):
            break
        if not proposal.holds and tests.start == 0:
            # Hardly any point passes: the most likely one gets all that there is.
            n, error, plan = min(MOST[1], budget), alpha, []
            if _best(rivals, budget // 2, 0.5 * alpha):
                n, error = budget // 2, 0.5 * alpha
            proposal = propose(tests.next_test(n, sure, error))
        if tests.make(proposal, n, error, fresh):
            plan = plan if proposal.holds else []
        else:
            # What the search knows is not as good as it takes itself to be.
            n = budget - tests.start
            if _best([rival for rival in rivals if rival.given], n // 2, tests.alpha / 2):
                n, tests.reserved = n // 2, tests.alpha / 2
            plan = [(min(MOST[1], n), SURER * sure)] if plan and not tests.passed else []
    left = min(MOST[1], budget - tests.spent)
    if left >= LEAST and tests.alpha > 0.0:
        rival = _rival_of(tests, rivals, left, tests.alpha)
        if rival:
            tests.add_rival(rival, left, alpha, fresh)
    return tests.certificate(alpha)


def is_better(change: Estimate, beyond: bool = True) -> bool:
    """Return whether an objective that is changed is less, beyond the interval if it must be."""
    least = change.ci_high if beyond else change.mean
    return not change.undefined and least is not None and least < 0.0


def _rival_of(
    tests: _Tests, rivals: Sequence[Rival], n: int, alpha: float, proposal: Proposal | None = None
) -> Rival | None:
    """Return the best rival of the last point that passed, or any if none did.

    Where a point is proposed that would be tested in its stead, it must be clearly better than the
    last one, and better than what is proposed unless the config gives it.
    """
    if not tests.passed:
        return None if proposal else _best(rivals, n // 2, alpha)
    last = tests.passed[-1][1]
    if proposal is None:
        return _best(rivals, n // 2, alpha, lambda rival: rival.beats(last))
    expected = proposal.objective
    return _best(
        rivals,
        n // 2,
        alpha,
        lambda rival: rival.beats(last, CLEARLY) and (rival.given or rival.objective < expected),
    )


def _best(
    rivals: Sequence[Rival],
    n: int,
    alpha: float,
    allowed: Callable[[Rival], bool] = lambda rival: True,
) -> Rival | None:
    """Return the best of the rivals that may pass a test of `n` replications, and are allowed."""
    promising = [rival for rival in rivals if n > 1 and rival.may_pass(n, alpha) and allowed(rival)]
    return min(promising, key=lambda rival: (not rival.given, rival.objective), default=None)


def _plan(budget: int, tests: Sequence[tuple[float, float]]) -> Iterator[tuple[int, float]]:
    """Yield the replications of each test with how sure its point is to pass."""
    sure = [sureness for _, sureness in tests]
    shares = [share for share, _ in tests]
    while len(shares) > 1 and budget * shares[0] / sum(shares) < LEAST:
        shares.pop(0)
        sure.pop(1)
    left = budget
    for k, sureness in enumerate(sure):
        n = max(1, int(left * shares[k] / sum(shares[k:])))
        yield min(MOST[1], n), sureness
        left -= n
