"""Choice of the best finalist and certification of its feasibility on fresh replications.

Stage 1 simulates all finalists and picks two of them: the best of those likely to pass the test,
and the best of those nearly certain to. What the search knows of them counts as well. Stage 2
simulates these candidates on replications that nothing was chosen by, and tests them one after the
other, the safer one first: a candidate is called feasible if the upper confidence bound of every
constraint's excess is <= 0, and the first that is not ends the tests. Each test has the full error
probability alpha (a fixed-sequence procedure: Maurer, Hothorn & Lehmacher 1995), and all
constraints of a point must pass (an intersection-union test): calling any infeasible point feasible
takes passing the test of the first infeasible one, which happens with probability at most alpha.

The bounds are Student's, around means that are adjusted by control variates where the model has
them (`valmatch.statistics.control_variates`): these take out much of what days have in common
whatever the rule. They are widened for skewed outcomes as in Johnson (1978), "Modified t tests and
confidence intervals for asymmetrical populations", JASA 73: the waits of a day are skewed to the
right, and uncorrected bounds fail on up to 6 % of samples instead of 5 %. `RESERVE` covers what
that leaves on small samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.optimization.controls import Controls, regression, without_controls
from valmatch.optimization.solvers.search import PointEstimates
from valmatch.statistics.estimates import Estimate, t_quantile

Evaluate = Callable[[Floats, int], Floats]
"""(point of the unit cube, n) -> (n, 1 + constraints) outcomes of its first n replications."""

SAFE, BOLD = (0.97, 0.25), (0.5, 0.75)
"""The two candidates: least probability of passing, share of the replications of stage 2."""

STAGE_1_SHARE = 0.4
LEAST = 5
"""Replications of a finalist in stage 1, at least."""

RESERVE = 0.7
"""Share of alpha at which the bounds are taken."""

MOST = (2_000, 20_000)
"""Replications of a point in either stage beyond which more would be idle."""


@dataclass(frozen=True)
class Certificate:
    """The point that a run came to and what fresh replications say about it.

    Attributes
    ----------
    unit : numpy.ndarray
        The point in the unit cube.
    outcomes : numpy.ndarray
        (n, 1 + constraints): of stage 2.
    adjusted : numpy.ndarray
        The same, such that their mean and its standard error are those that control variates give.
    feasible : bool or None
        True, False (every candidate violates a constraint, by its lower confidence bound), or None
        for undecided.
    undefined : int
        Replications of the point in which a response is undefined.
    spent : int
        Replications of both stages.
    alpha : float
        Probability of calling an infeasible point feasible, at most.
    first : int
        Place of the first of the outcomes among the replications of stage 2.
    name : str
        What the point is called, where the config gives it: "start" or "today's rule".
    unbeaten : Estimate or None
        Where such a point is what a run came to though another one is certified: by how much that
        one changes the objective, which is not less beyond this interval.
    """

    unit: Floats
    outcomes: Floats
    adjusted: Floats
    feasible: bool | None
    undefined: int
    spent: int
    alpha: float
    first: int = 0
    name: str = ""
    unbeaten: Estimate | None = None


def replications_of_test(budget: int) -> int:
    """Return the replications of the longer test in stage 2, of a budget for both stages."""
    return _lengths(budget - int(STAGE_1_SHARE * budget))[1]


def _lengths(budget: int) -> tuple[int, int]:
    """Return the replications of the two candidates, of the budget of stage 2."""
    safe = min(MOST[1], int(SAFE[1] * budget))
    return max(1, safe), max(1, min(MOST[1], budget - safe))


def certify(
    finalists: PointEstimates,
    stages: tuple[Evaluate, Evaluate],
    budget: int,
    alpha: float,
    controls: tuple[Controls, Controls] = (without_controls, without_controls),
) -> Certificate:
    """Pick the best finalist and test whether it is feasible.

    Parameters
    ----------
    finalists : PointEstimates
        Distinct points, best guess first, with what the search knows of them; at least one.
    stages : tuple of callable
        Evaluations on replications of stage 1 and of stage 2, neither of which the
        search used.
    budget : int
        Replications for both stages, at least 10.
    alpha : float
        Probability of calling an infeasible point feasible, at most.
    controls : tuple of callable
        The control variates of the replications of stage 1 and of stage 2.
    """
    count = min(len(finalists.units), max(1, int(STAGE_1_SHARE * budget) // LEAST))
    spent, candidates = 0, [(finalists.units[0], min(MOST[1], budget))]
    if count > 1:
        first = min(MOST[0], int(STAGE_1_SHARE * budget) // count)
        spent = first * count
        seen = [
            _Finalist(
                finalists.take([k]),
                AdjustedOutcomes(stages[0](finalists.units[k], first), controls[0]),
            )
            for k in range(count)
        ]
        candidates = _pick(seen, _lengths(budget - spent), alpha)
    tests = [
        FeasibilityTest(unit, stages[1](unit, n), alpha, controls[1]) for unit, n in candidates
    ]
    passed = []
    for test in tests:
        if not test.passes:
            break
        passed.append(test)
    chosen = min(passed or tests, key=lambda test: (test.violation, test.objective))
    feasible = True if passed else None
    if all(test.fails for test in tests):
        feasible = False
    spent += sum(n for _, n in candidates)
    return Certificate(
        chosen.unit,
        chosen.outcomes,
        chosen.adjusted,
        feasible,
        chosen.undefined,
        spent,
        alpha,
    )


class AdjustedOutcomes:
    """Outcomes of a point, with their means and errors as control variates adjust them.

    Attributes
    ----------
    outcomes : numpy.ndarray
        (n, 1 + constraints).
    undefined : int
        Replications in which one is undefined; then there is nothing else.
    mean, deviation, skewness : numpy.ndarray
        (1 + constraints,): adjusted means; of the residuals.
    residuals : numpy.ndarray
        (1 + constraints, n): what the controls leave, of mean 0.
    leverage : float
        Variance of a mean over that of a residual.
    controls : int
        How many are used.
    """

    def __init__(self, outcomes: Floats, controls: Controls) -> None:
        self.outcomes = outcomes
        self.undefined = int(np.isnan(outcomes).any(axis=1).sum())
        self.controls = 0
        if self.undefined:
            return
        found = regression(outcomes, controls)
        residuals = np.array([fit.residuals for fit in found])
        self.mean = np.array([fit.mean for fit in found])
        self.residuals = residuals
        self.leverage, degrees = found[0].leverage, found[0].degrees
        self.controls = len(outcomes) - 1 - degrees
        self.deviation = np.sqrt((residuals**2).sum(axis=1) / max(1, degrees))
        # About 0, as the third moment: residuals of equal outcomes are rounding errors, all alike.
        spread = np.maximum(np.sqrt((residuals**2).mean(axis=1)), 1e-100)
        self.skewness = (residuals**3).mean(axis=1) / spread**3

    @property
    def errors(self) -> Floats:
        """(1 + constraints,): standard errors of the means."""
        errors: Floats = self.deviation * math.sqrt(self.leverage)
        return errors

    @property
    def adjusted(self) -> Floats:
        """Outcomes whose mean and standard error are the adjusted ones."""
        n = len(self.outcomes)
        if self.undefined or not self.controls:
            return self.outcomes
        degrees = n - 1 - self.controls
        wider = math.sqrt(self.leverage * n * (n - 1) / degrees)
        return (self.mean[:, None] + wider * self.residuals).T

    def margins(self, alpha: float, n: int = 0) -> tuple[Floats, Floats]:
        """Return how far one-sided confidence bounds lie below and above the means.

        Of this sample, or of one of `n` replications that is like it.
        """
        leverage = 1.0 / n if n else self.leverage
        n = n or len(self.outcomes)
        quantile = t_quantile(1.0 - RESERVE * alpha, n - 1 - self.controls)
        shift = self.skewness * (1.0 + 2.0 * quantile**2) / (6.0 * math.sqrt(n))
        error = self.deviation * math.sqrt(leverage)
        below, above = (error * (quantile + np.maximum(side, 0.0)) for side in (-shift, shift))
        return below, above


class FeasibilityTest:
    """The test of a candidate on its outcomes in stage 2."""

    def __init__(
        self, unit: Floats, outcomes: Floats, alpha: float, controls: Controls = without_controls
    ) -> None:
        self.unit, self.outcomes = unit, outcomes
        self.sample = sample = AdjustedOutcomes(outcomes, controls)
        self.undefined, self.adjusted = sample.undefined, sample.adjusted
        self.objective, self.violation = math.inf, math.inf
        self.passes, self.fails = False, True
        if self.undefined:
            return
        excess = sample.mean[1:]
        below, above = (margin[1:] for margin in sample.margins(alpha))
        self.objective = float(sample.mean[0])
        self.violation = float(excess.max(initial=0.0))
        self.passes = bool((excess + above <= 0.0).all())
        self.fails = bool((excess - below > 0.0).any())


def chance_by_search(known: PointEstimates, tested: int, n: int, alpha: float) -> float:
    """Return how likely a point is to pass a test, by what a search knows of it.

    Parameters
    ----------
    known : PointEstimates
        Of the point.
    tested : int
        Replications that `known.test` is for.
    n, alpha : int, float
        Replications of the test, and the probability with which it may err.
    """
    error = known.test[1:] * math.sqrt(tested / n)
    needed = known.means[0, 1:] + t_quantile(1.0 - RESERVE * alpha, max(1, n - 1)) * error
    return _chance(needed, np.hypot(known.errors[0, 1:], error))


def _chance(needed: Floats, error: Floats) -> float:
    """Return how likely normal values of these means and errors are all below 0, at most."""
    score = float((-needed / np.maximum(error, 1e-300)).min(initial=40.0))
    return 0.5 * math.erfc(-score / math.sqrt(2.0))


class _Finalist:
    """A finalist after stage 1."""

    def __init__(self, known: PointEstimates, sample: AdjustedOutcomes) -> None:
        self.unit, self._sample = known.units[0], sample
        self.objective, self.violation = math.inf, math.inf
        if sample.undefined:
            return
        variance = sample.deviation**2 * sample.leverage
        # Weighted with what the search found; an error of 0 says that it knows of none.
        before = known.errors[0] ** 2
        weight = np.where(before > 0.0, before / np.maximum(before + variance, 1e-300), 1.0)
        self._mean = weight * sample.mean + (1.0 - weight) * known.means[0]
        self._variance = weight * variance
        self.objective = float(self._mean[0])
        self.violation = float(self._mean[1:].max(initial=0.0))

    def chance(self, n: int, alpha: float) -> float:
        """Return how likely it is to pass a test of `n` replications."""
        if self._sample.undefined:
            return 0.0
        needed = self._mean + self._sample.margins(alpha, n)[1]
        error = np.sqrt(self._variance + self._sample.deviation**2 / n)
        return _chance(needed[1:], error[1:])


def _pick(
    seen: Sequence[_Finalist], lengths: tuple[int, int], alpha: float
) -> list[tuple[Floats, int]]:
    """Return the candidates for stage 2 with their replications, the safer one first.

    One that is both gets the replications of both.
    """
    safe, bold = (
        _best_of_likely(seen, least, n, alpha)
        for (least, _), n in zip((SAFE, BOLD), lengths, strict=True)
    )
    if safe is bold:
        return [(bold.unit, min(MOST[1], sum(lengths)))]
    return [(safe.unit, lengths[0]), (bold.unit, lengths[1])]


def _best_of_likely(seen: Sequence[_Finalist], least: float, n: int, alpha: float) -> _Finalist:
    """Return the best of those likely to pass a test of `n` replications.

    The likeliest where none is; of several, that of least violation.
    """
    chances = [finalist.chance(n, alpha) for finalist in seen]
    likely = [finalist for finalist, chance in zip(seen, chances, strict=True) if chance >= least]
    if likely:
        return min(likely, key=lambda finalist: finalist.objective)
    order = [
        (-c, finalist.violation, finalist.objective)
        for finalist, c in zip(seen, chances, strict=True)
    ]
    return seen[order.index(min(order))]
