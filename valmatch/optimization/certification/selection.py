"""Tests of points on fresh replications, and the choice of the finalists that are tested.

A point is called feasible if the upper confidence bound of every constraint's excess is <= 0: all
constraints must pass (an intersection-union test), each with the whole error probability. The
bounds (`factor`, `of_few_values`) are around means that are adjusted by control variates where the
model has them: these take out much of what days have in common whatever the rule.

Searches without a model of all points have finalists. Stage 1 simulates them and picks two: the
best of those likely to pass a test, and the best of those nearly certain to. What the search knows
of them counts as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.optimization.solvers.noise import OFTEN, Controls, Noise, regression
from valmatch.optimization.solvers.search import PointEstimates
from valmatch.statistics.control_variates import Regression, regress
from valmatch.statistics.estimates import (
    Estimate,
    cantelli_factor,
    clopper_pearson,
    is_skewed,
    johnson_shift,
    t_quantile,
)

# Bounds of mean excesses: for what is normal, for what is skewed, and for what has few values.
#
# Student's bounds are moved for skewness as in Johnson (1978), "Modified t tests and confidence
# intervals for asymmetrical populations", JASA 73. Where samples are too small for that, they go
# over to Cantelli's, which hold for all distributions of that variance. Where there are two values,
# bounds are those of Clopper and Pearson (1934).

RESERVE = 0.7  # share of alpha at which the bounds are taken
ENOUGH = 28.0  # times the squared skewness: the least replications for Johnson's bound alone

TAIL = 10.0
"""A sample of this many times 2, 3, ... replications has Cantelli's bound where it has 2, 3, ...
times fewer than enough: the smaller, the less of its tail it shows. Between the two the bound moves
with the logarithm.
"""


def factor(skewness: float, known: float, n: int, degrees: int, alpha: float) -> float:
    """Return how many errors an upper bound lies above the mean of a sample."""
    quantile = t_quantile(1.0 - RESERVE * alpha, max(1, degrees))
    narrow = quantile + max(0.0, johnson_shift(skewness, n, quantile))
    most = max(skewness, known)
    if most <= 0.0 or not is_skewed(most, n, ENOUGH):
        return narrow
    lacking = min(1.0, math.log(ENOUGH * most**2 / n) / math.log(max(2.0, n / TAIL)))
    return narrow + lacking * max(0.0, cantelli_factor(RESERVE * alpha) - narrow)


def of_few_values(column: Floats, noise: Noise, k: int, alpha: float) -> tuple[float, float] | None:
    """Return the bounds of the mean of a constraint's excesses that have one value or two.

    None if they have more; infinite where nothing can be said.
    """
    values, counts = np.unique(column, return_counts=True)
    if len(values) > 2:
        return None
    if len(values) == 1 and noise.constant[k]:
        return float(values[0]), float(values[0])
    n, limits = len(column), noise.constraints[k].limits_of_excess
    known = float(noise.low[k]), float(noise.high[k])
    pairs = [pair for pair in (known, limits) if np.isin(values, pair).all()]
    if len(values) == 2 and counts.min() >= OFTEN:
        pairs.append((float(values[0]), float(values[1])))
    if pairs:
        low, high = pairs[0]
        least, most = clopper_pearson(int((column == high).sum()), n, alpha)
        return low + (high - low) * least, low + (high - low) * most
    if len(values) == 2:
        return -math.inf, math.inf
    value, rest = float(values[0]), 1.0 - alpha ** (1.0 / n)
    return value + rest * (limits[0] - value), value + rest * (limits[1] - value)


Evaluate = Callable[[Floats, int], Floats]
"""(point of the unit cube, n) -> (n, 1 + constraints) outcomes of its first n replications."""

SAFE, BOLD = (0.97, 0.25), (0.5, 0.75)
"""The two candidates: least probability of passing, share of the replications of a test."""

STAGE_1_SHARE = 0.4
LEAST = 5  # replications of a finalist in stage 1, at least
MOST = (2_000, 20_000)  # replications of a point in either stage beyond which more would be idle


@dataclass(frozen=True)
class Certificate:
    """The point that a run came to and what fresh replications say about it."""

    unit: Floats  # the point in the unit cube
    outcomes: Floats  # (n, 1 + constraints): of stage 2
    # the same, such that their mean and its standard error are those that control variates give
    adjusted: Floats
    # true, False (every candidate violates a constraint, by its lower confidence bound), or None
    # for undecided
    feasible: bool | None
    undefined: int  # replications of the point in which a response is undefined
    spent: int  # replications of both stages
    alpha: float  # probability of calling an infeasible point feasible, at most
    first: int = 0  # place of the first of the outcomes among the replications of stage 2
    name: str = ""  # what the point is called, where the config gives it: "start" or "today's rule"
    # where such a point is what a run came to though another one is certified: by how much that
    # one changes the objective, which is not less beyond this interval
    unbeaten: Estimate | None = None
    # how many of the outcomes the test was of; the others were left when it was over
    tested: int = 0


def replications_of_test(budget: int) -> int:
    """Return the replications of the longer test in stage 2, of a budget for both stages."""
    return _lengths(budget - int(STAGE_1_SHARE * budget))[1]


def _lengths(budget: int) -> tuple[int, int]:
    """Return the replications of the two candidates, of the budget of stage 2."""
    safe = min(MOST[1], int(SAFE[1] * budget))
    return max(1, safe), max(1, min(MOST[1], budget - safe))


def pick(
    finalists: PointEstimates,
    evaluate: Evaluate,
    controls: Controls,
    budget: int,
    alpha: float,
    noise: Noise,
) -> tuple[list[Floats], int]:
    """Return the finalists that are to be tested, the safer one first, with what that took."""
    count = min(len(finalists.units), max(1, int(STAGE_1_SHARE * budget) // LEAST))
    if count == 1:
        return [finalists.units[0]], 0
    first = min(MOST[0], int(STAGE_1_SHARE * budget) // count)
    seen = [
        _Finalist(
            finalists.take([k]),
            AdjustedOutcomes(evaluate(finalists.units[k], first), controls),
            noise,
        )
        for k in range(count)
    ]
    safe, bold = (
        _best_of_likely(seen, least, n, alpha)
        for (least, _), n in zip((SAFE, BOLD), _lengths(budget - first * count), strict=True)
    )
    return [safe.unit] if safe is bold else [safe.unit, bold.unit], first * count


class AdjustedOutcomes:
    """Outcomes of a point, with their means and errors as control variates adjust them."""

    def __init__(
        self, outcomes: Floats, controls: Controls, beside: AdjustedOutcomes | None = None
    ) -> None:
        # outcomes: (n, 1 + constraints)
        # beside: a point that met the same replications and more of them: its outcomes are the
        # controls
        self.outcomes, self.beside = outcomes, beside
        # replications in which one is undefined; then there is nothing else
        self.undefined = int(np.isnan(outcomes).any(axis=1).sum())
        if self.undefined:
            return
        fits = regression(outcomes, controls) if beside is None else _along(outcomes, beside)
        residuals = np.array([fit.residuals for fit in fits])
        # mean, deviation, skewness: (1 + constraints,): adjusted means; of the residuals
        self.mean = np.array([fit.mean for fit in fits])
        self.residuals = residuals  # (1 + constraints, n): what the controls leave, of mean 0
        # (1 + constraints,): variance of a mean over that of a residual
        self.leverage = np.array([fit.leverage for fit in fits])
        # degrees of freedom of the residuals
        self.degrees = max(1, min(fit.degrees for fit in fits))
        self.deviation = np.sqrt((residuals**2).sum(axis=1) / self.degrees)
        # About 0, as the third moment: residuals of equal outcomes are rounding errors, all alike.
        spread = np.maximum(np.sqrt((residuals**2).mean(axis=1)), 1e-100)
        self.skewness = (residuals**3).mean(axis=1) / spread**3
        # (1 + constraints,): by how much a mean moves with that of the point beside
        self.slopes = np.zeros(len(fits))
        if beside is not None:
            self.slopes = _slopes(outcomes, beside.outcomes[: len(outcomes)])

    @property
    def errors(self) -> Floats:
        """(1 + constraints,): standard errors of the means."""
        errors: Floats = self.deviation * np.sqrt(self.leverage)
        if self.beside is not None:
            errors = np.hypot(errors, self.slopes * self.beside.errors)
        return errors

    @property
    def adjusted(self) -> Floats:
        """Outcomes whose mean and standard error are the adjusted ones."""
        n = len(self.outcomes)
        if self.undefined or (self.beside is None and self.degrees >= n - 1):
            return self.outcomes
        # Next to nothing is left of what another point explains: then as the outcomes deviate.
        away = self.residuals.T
        if self.beside is not None:
            away = self.outcomes - self.outcomes.mean(axis=0)
        plain = np.sqrt((away**2).sum(axis=0) / max(1, n - 1) / n)
        adjusted: Floats = self.mean + away * (self.errors / np.where(plain > 0.0, plain, 1.0))
        return adjusted

    def margins(self, alpha: float, noise: Noise, n: int = 0) -> tuple[Floats, Floats]:
        """Return how far one-sided bounds of the excesses lie below and above their means.

        Of this sample, or of one of `n` replications that is like it.
        """
        lost = len(self.outcomes) - self.degrees
        errors = self.deviation * (1.0 / math.sqrt(n) if n else np.sqrt(self.leverage))
        n = n or len(self.outcomes)
        sides, ones = [], np.ones(len(self.mean) - 1)
        for sign in (-1.0, 1.0):
            # What is known is of outcomes, not of what another point leaves of them.
            known = noise.skewness if sign > 0.0 and not self.beside else -np.inf * ones
            factors = [
                factor(sign * skew, most, n, n - lost, alpha)
                for skew, most in zip(self.skewness[1:], known, strict=True)
            ]
            sides.append(errors[1:] * factors)
        if self.beside is not None:
            of_other = self.beside.margins(alpha, noise)
            same = self.slopes[1:] >= 0.0
            for side, one, other in zip(sides, of_other, of_other[::-1], strict=True):
                side[:] = np.hypot(side, self.slopes[1:] * np.where(same, one, other))
        return sides[0], sides[1]


def _along(outcomes: Floats, beside: AdjustedOutcomes) -> list[Regression]:
    """Regress each outcome of a point on that of another one, whose mean is known better."""
    return [
        regress(column[:, None], other[: len(column), None], np.array([mean]))[0]
        for column, other, mean in zip(outcomes.T, beside.outcomes.T, beside.mean, strict=True)
    ]


def _slopes(outcomes: Floats, others: Floats) -> Floats:
    """Return the slope of each outcome of a point on that of another one."""
    away = others - others.mean(axis=0)
    squares = (away**2).sum(axis=0)
    slopes: Floats = (away * outcomes).sum(axis=0) / np.where(squares > 0.0, squares, 1.0)
    return slopes


class FeasibilityTest:
    """The test of a point on fresh outcomes."""

    def __init__(self, unit: Floats, sample: AdjustedOutcomes, alpha: float, noise: Noise) -> None:
        self.unit, self.outcomes, self.sample = unit, sample.outcomes, sample
        self.undefined = sample.undefined
        self.objective, self.violation = math.inf, math.inf
        self.passes, self.fails = False, True
        if self.undefined:
            return
        excess = sample.mean[1:].copy()
        below, above = sample.margins(alpha, noise)
        low, high = excess - below, excess + above
        for k, column in enumerate(sample.outcomes[:, 1:].T):
            bounds = of_few_values(column, noise, k, alpha)
            if bounds:
                excess[k], (low[k], high[k]) = column.mean(), bounds
        self.objective = float(sample.mean[0])
        self.violation = float(excess.max(initial=0.0))
        self.passes = bool((high <= 0.0).all())
        self.fails = bool((low > 0.0).any())

    @property
    def seems_to_hold(self) -> bool:
        """Whether its means hold by a standard error."""
        sample = self.sample
        return not self.undefined and bool((sample.mean + sample.errors <= 0.0)[1:].all())


def chance_by_search(known: PointEstimates, tested: int, n: int, alpha: float) -> float:
    """Return how likely a point is to pass a test, by what a search knows of it."""
    error = known.test[1:] * math.sqrt(tested / n)
    skewness = known.noise.skewness if known.noise else np.zeros(len(error))
    factors = np.array([factor(one, one, n, n - 1, alpha) for one in skewness])
    return _chance(known.means[0, 1:] + factors * error, np.hypot(known.errors[0, 1:], error))


def _chance(needed: Floats, error: Floats) -> float:
    """Return how likely normal values of these means and errors are all below 0, at most."""
    score = float((-needed / np.maximum(error, 1e-300)).min(initial=40.0))
    return 0.5 * math.erfc(-score / math.sqrt(2.0))


class _Finalist:
    """A finalist after stage 1."""

    def __init__(self, known: PointEstimates, sample: AdjustedOutcomes, noise: Noise) -> None:
        self.unit, self._sample, self._noise = known.units[0], sample, noise
        self.objective, self.violation = math.inf, math.inf
        if sample.undefined:
            return
        variance = sample.errors**2
        means, errors = known.means[0], known.errors[0]
        if known.units_of:
            means, errors = known.units_of.undo(means, errors)
        # Weighted with what the search found; an error of 0 says that it knows of none.
        before = errors**2
        weight = np.where(before > 0.0, before / np.maximum(before + variance, 1e-300), 1.0)
        self._mean = weight * sample.mean + (1.0 - weight) * means
        self._variance = weight * variance
        self.objective = float(self._mean[0])
        self.violation = float(self._mean[1:].max(initial=0.0))

    def chance(self, n: int, alpha: float) -> float:
        """Return how likely it is to pass a test of `n` replications."""
        if self._sample.undefined:
            return 0.0
        needed = self._mean[1:] + self._sample.margins(alpha, self._noise, n)[1]
        error = np.sqrt(self._variance + self._sample.deviation**2 / n)
        return _chance(needed, error[1:])


def _best_of_likely(seen: Sequence[_Finalist], least: float, n: int, alpha: float) -> _Finalist:
    """Return the best of those likely to pass a test of `n` replications.

    The likeliest where none is; of several, that of least violation.
    """
    chances = [finalist.chance(n, alpha) for finalist in seen]
    likely = [finalist for finalist, chance in zip(seen, chances, strict=True) if chance >= least]
    if likely:
        return min(likely, key=lambda finalist: finalist.objective)
    order = [(-c, one.violation, one.objective) for one, c in zip(seen, chances, strict=True)]
    return seen[order.index(min(order))]
