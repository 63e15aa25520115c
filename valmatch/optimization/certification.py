"""Tests on fresh replications that certify what a search recommends."""

# A point is called feasible if the upper confidence bound of every constraint's excess is <= 0: all
# constraints must pass (an intersection-union test), each with all of the error probability. Bounds
# are around means adjusted by control variates, which take out much of what days have in common.

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.optimization.problem import Problem
from valmatch.optimization.solvers.search import (
    OFTEN,
    Controls,
    NextTest,
    Noise,
    PointEstimates,
    Proposal,
    Propose,
    Search,
    regression,
)
from valmatch.statistics.control_variates import regress
from valmatch.statistics.estimates import (
    Estimate,
    cantelli_factor,
    clopper_pearson,
    estimate,
    is_skewed,
    johnson_shift,
    t_quantile,
)

# (point of the unit cube, n) -> (n, 1 + constraints) outcomes of its first n replications.
Evaluate: TypeAlias = Callable[[Floats, int], Floats]

# Index of the first replication of a test -> evaluations on those from there on, with controls.
Fresh: TypeAlias = Callable[[int], tuple[Evaluate, Controls]]


@dataclass(frozen=True)
class Certificate:
    """The point that a run came to and what fresh replications say about it."""

    unit: Floats  # the point in the unit cube
    outcomes: Floats  # (n, 1 + constraints): of the replications that it was tested on, and more
    # the same, such that their mean and its standard error are those that control variates give
    adjusted: Floats
    # true, False (every candidate violates a constraint, by its lower confidence bound), or None
    # for undecided
    feasible: bool | None
    undefined: int  # replications of the point in which a response is undefined
    spent: int  # replications of all tests
    alpha: float  # probability of calling an infeasible point feasible, at most
    first: int = 0  # index of the first of the outcomes among the fresh replications of tests
    name: str = ""  # what the point is called, where the config gives it: "start" or "today's rule"
    # where such a point is what a run came to though another one is certified: by how much that
    # one changes the objective, which is not less beyond this interval
    unbeaten: Estimate | None = None
    # how many of the outcomes the test was of; the others were left when it was over
    tested: int = 0


# Bounds of mean excesses: for what is normal, for what is skewed, and for what has few values.
#
# Student's bounds are moved for skewness as in Johnson (1978), "Modified t tests and confidence
# intervals for asymmetrical populations", JASA 73. Where samples are too small for that, they go
# over to Cantelli's, which hold for all distributions of that variance. Where there are two values,
# bounds are those of Clopper and Pearson (1934).

RESERVE = 0.7  # share of alpha at which the bounds are taken
ENOUGH = 28.0  # times the squared skewness: the least replications for Johnson's bound alone

# A sample of this many times 2, 3, ... replications has Cantelli's bound where it has 2, 3, ...
# times fewer than enough; between the two the bound moves with the logarithm.
TAIL = 10.0


def factor(skewness: float, known: float, n: int, degrees: int, alpha: float) -> float:
    """Return how many errors an upper bound lies above the mean of a sample."""
    quantile = t_quantile(1.0 - RESERVE * alpha, max(1, degrees))
    narrow = quantile + max(0.0, johnson_shift(skewness, n, quantile))
    most = max(skewness, known)
    if most <= 0.0 or not is_skewed(most, n, ENOUGH):
        return narrow
    lacking = min(1.0, math.log(ENOUGH * most**2 / n) / math.log(max(2.0, n / TAIL)))
    return narrow + lacking * max(0.0, cantelli_factor(RESERVE * alpha) - narrow)


def _factors(noise: Noise, n: int, alpha: float) -> Floats:
    """Return how many errors the bound of each constraint will lie above its mean."""
    return np.array([factor(skew, skew, n, n - 1, alpha) for skew in noise.skewness])


def of_few_values(column: Floats, noise: Noise, k: int, alpha: float) -> tuple[float, float] | None:
    """Return the bounds of the mean of excesses that have one or two values; None if more."""
    values, counts = np.unique(column, return_counts=True)
    if len(values) > 2:
        return None
    if len(values) == 1 and noise.constant[k]:
        return float(values[0]), float(values[0])
    n, limits = len(column), (float(noise.limits[k, 0]), float(noise.limits[k, 1]))
    known = float(noise.low[k]), float(noise.high[k])
    pairs = [pair for pair in (known, limits) if np.isin(values, pair).all()]
    if len(values) == 2 and counts.min() >= OFTEN:
        pairs.append((float(values[0]), float(values[1])))
    if pairs:
        low, high = pairs[0]
        least, most = clopper_pearson(int((column == high).sum()), n, alpha)
        return low + (high - low) * least, low + (high - low) * most
    if len(values) == 2:
        return -math.inf, math.inf  # nothing can be said
    value, rest = float(values[0]), 1.0 - alpha ** (1.0 / n)
    return value + rest * (limits[0] - value), value + rest * (limits[1] - value)


class AdjustedOutcomes:
    """Outcomes of a point, with their means and errors as control variates adjust them."""

    def __init__(
        self, outcomes: Floats, controls: Controls, beside: "AdjustedOutcomes | None" = None
    ) -> None:
        # outcomes: (n, 1 + constraints)
        # beside: a point that met the same replications and more of them: its outcomes are the
        # controls
        self.outcomes, self.beside = outcomes, beside
        # replications in which one is undefined; then there is nothing else
        self.undefined = int(np.isnan(outcomes).any(axis=1).sum())
        if self.undefined:
            return
        # all of these (1 + constraints,): by how much a mean moves with that of the point beside
        self.slopes = np.zeros(outcomes.shape[1])
        if beside is None:
            fits = regression(outcomes, controls)
        else:
            others = beside.outcomes[: len(outcomes)]
            fits = [
                regress(column[:, None], other[:, None], np.array([mean]))[0]
                for column, other, mean in zip(outcomes.T, others.T, beside.mean, strict=True)
            ]
            away = others - others.mean(axis=0)
            squares = (away**2).sum(axis=0)
            self.slopes = (away * outcomes).sum(axis=0) / np.where(squares > 0.0, squares, 1.0)
        self.mean: Floats = np.array([fit.mean for fit in fits])
        # (1 + constraints, n): what the controls leave, of mean 0
        self.residuals = residuals = np.array([fit.residuals for fit in fits])
        # variance of a mean over that of a residual
        self.leverage = np.array([fit.leverage for fit in fits])
        self.degrees = max(1, min(fit.degrees for fit in fits))  # of freedom
        self.deviation = np.sqrt((residuals**2).sum(axis=1) / self.degrees)
        # About 0, as the third moment: residuals of equal outcomes are rounding errors, all alike.
        spread = np.maximum(np.sqrt((residuals**2).mean(axis=1)), 1e-100)
        self.skewness = (residuals**3).mean(axis=1) / spread**3

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
        return self.mean + away * (self.errors / np.where(plain > 0.0, plain, 1.0))

    def margins(self, alpha: float, noise: Noise, n: int = 0) -> tuple[Floats, Floats]:
        """Return how far one-sided bounds of the excesses lie below and above their means."""
        # Of this sample, or of one of `n` replications that is like it.
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
            below, above = self.beside.margins(alpha, noise)
            same = self.slopes[1:] >= 0.0
            for side, near, far in zip(sides, (below, above), (above, below), strict=True):
                side[:] = np.hypot(side, self.slopes[1:] * np.where(same, near, far))
        return sides[0], sides[1]


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


def _chance(needed: Floats, error: Floats) -> float:
    """Return how likely normal values of these means and errors are all below 0, at most."""
    score = float((-needed / np.maximum(error, 1e-300)).min(initial=40.0))
    return 0.5 * math.erfc(-score / math.sqrt(2.0))


# Where a search has no model of all points, stage 1 simulates finalists and picks two: the best of
# those likely to pass a test, and the best of those nearly certain to.

# The two candidates: least probability of passing, share of the replications of a test.
SAFE, BOLD = (0.97, 0.25), (0.5, 0.75)

STAGE_1_SHARE = 0.4
FEWEST = 5  # replications of a finalist in stage 1, at least
MOST = (2_000, 20_000)  # replications of a point in either stage beyond which more would be idle


def replications_of_test(budget: int) -> int:
    """Return the replications of the longer test in stage 2, of a budget for both stages."""
    return _of_candidates(budget - int(STAGE_1_SHARE * budget))[1]


def _of_candidates(budget: int) -> tuple[int, int]:
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
    count = min(len(finalists.units), max(1, int(STAGE_1_SHARE * budget) // FEWEST))
    if count == 1:
        return [finalists.units[0]], 0
    first = min(MOST[0], int(STAGE_1_SHARE * budget) // count)
    seen = [
        _Finalist(finalists.take([k]), AdjustedOutcomes(evaluate(unit, first), controls), noise)
        for k, unit in enumerate(finalists.units[:count])
    ]
    chosen: dict[_Finalist, None] = {}
    for (least, _), n in zip((SAFE, BOLD), _of_candidates(budget - first * count), strict=True):
        chances = {finalist: finalist.chance(n, alpha) for finalist in seen}
        likely = [finalist for finalist in seen if chances[finalist] >= least]
        likeliest = min(seen, key=lambda f: (-chances[f], f.violation, f.objective))
        chosen[min(likely, key=lambda f: f.objective, default=likeliest)] = None
    return [finalist.unit for finalist in chosen], first * count


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
        # Weighted with what the search knows; an error of 0 says that it knows of none.
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
        return _chance(needed, np.sqrt(self._variance + self._sample.deviation**2 / n)[1:])


# Certification along a path of points fixed before any test, the surest first: all meet the same
# fresh replications, the first of them many, the others a few, and what these leave open is read
# off the first point by regression (double sampling). Each test along the path has all of the error
# probability, and the first that is not passed ends it: a fixed sequence needs no independence
# (Maurer, Hothorn & Lehmacher 1995). Points beside the path are tested before it, each with a share
# of what is left of alpha, which one that passes hands on (a fallback procedure: Wiens 2003, "A
# fixed sequence Bonferroni procedure for testing multiple endpoints", Pharmaceutical Statistics 2).

FIRST = 0.8  # share of alpha by which tests along the path may err, where a surer point may follow
LEAST = 10  # replications of a point, at least, where there are several
SHORT = 20  # replications of a point beside the path that is not likely to be the best one
KEPT = 8  # points of a path that replications are kept for: a bolder one seldom passes
ALIKE = 0.5  # correlation from which on a point is read off another one that has more replications

# (the test that failed, replications and alpha of the next) -> a point that is surer to pass, which
# is tested on further replications with what was kept for it.
Surer: TypeAlias = Callable[[FeasibilityTest, int, float], Floats]


class Beside(NamedTuple):
    """A point that is tested beside the path."""

    unit: Floats
    share: float  # of the alpha left, by which its test may err
    short: bool = False  # whether a few replications will do


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
        path = self.all[len(self.beside) :]
        return next((test for test in reversed(path) if test.passes), None)

    @property
    def all(self) -> list[FeasibilityTest]:
        """Every test."""
        return [*self.beside, *self.path, *([self.last] if self.last else [])]


def lengths(budget: int, points: int, common: float) -> tuple[int, int]:
    """Return the replications of the first point of a path and of each other one."""
    # The more they have in common, the more the first point gets: as many times more as make the
    # variance of the others least.
    if points < 2:
        return (min(MOST[1], budget),) * 2
    ratio = common / math.sqrt(max(1e-9, 1.0 - common**2)) * math.sqrt(points - 1)
    few = max(min(LEAST, budget // points), int(budget / (max(1.0, ratio) + points - 1)))
    few = max(1, min(MOST[1], few))
    return max(1, min(MOST[1], budget - (points - 1) * few)), few


def certify_along(
    path: Sequence[Floats],
    fresh: Fresh,
    budget: int,
    alpha: float,
    noise: Noise,
    beside: Sequence[Beside] = (),
    surer: Surer | None = None,
) -> PathTests:
    """Test points, fixed before any test, until one along the path, surest first, is not passed."""
    brief = sum(point.short for point in beside)
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
    error = FIRST * alpha if surer else alpha
    for unit in path:
        if unit is not path[0] and tests.spent + few > budget:
            break
        tests.path.append(test(unit, error))
        if not tests.path[-1].passes:
            break
    # A surer point is also compared with one that is certified already.
    left = min(MOST[1], budget - tests.spent - least * any(of.passes for of in tests.beside))
    if surer and not tests.passed and left >= LEAST:
        unit = surer(tests.path[0], left, alpha - error)
        evaluate, controls = fresh(many)
        sample = AdjustedOutcomes(evaluate(unit, left), controls)
        tests.last = FeasibilityTest(unit, sample, alpha - error, noise)
        tests.spent += left
    return tests


FINALISTS = 4

# How sure the points of a path are to pass: where points have little in common, and much.
SURENESS = (1.6, 0.5), (4.0, 3.0, 2.2, 1.5, 0.9, 0.4, -0.1, -0.6, -1.1, -1.7, -2.4, -3.2)

MUCH = 0.9  # the correlation that is much
SURER = 2.0  # how sure a point is to pass that is tested where no other one did
CLEARLY = 3.0  # standard errors by which the search sees a point beaten that needs no long test
LIKELY = 0.1  # chance of passing of a point that gets one, at least

# Shares of alpha that the test of a point beside the path may err by, at least and at most.
ERROR = 0.05, 0.8


@dataclass(frozen=True)
class FreshReplications:
    """The replications that points are tested on, none of which the search used."""

    first: Fresh  # those that finalists are chosen by
    second: Fresh  # those that points are tested on
    budget: int  # replications for both
    alpha: float  # probability of calling an infeasible point feasible, at most
    tested: int  # replications of a test, as the search knew them


def certify_run(problem: Problem, search: Search, fresh: FreshReplications) -> Certificate:
    """Test what a search recommends beside the points that the config gives."""
    # The start, today's rule and the best point that the search has evaluated are tested beside the
    # path of points that its model places, or of its finalists without one. What the config gives
    # stays unless the best of the others is better beyond the interval of the paired differences.
    known, propose = search.task.archive.estimates(), search.task.propose
    noise = known.noise or Noise.unknown(problem.limits_of_excesses)
    best, spent, surer = search.incumbent(), 0, None
    points = list(problem.baselines.values())
    if propose and noise.two_valued:
        path = [best]  # no model follows yes and no
        # Where two events fail a test: all replications and all of alpha for the best point of the
        # config that the search does not clearly see violate.
        seen = [of for unit in points if (of := known.of(unit)) is not None]
        holding = [of for of in seen if (of.means <= CLEARLY * of.errors)[0, 1:].all()]
        if holding:
            most = clopper_pearson(OFTEN, fresh.budget // 2, ERROR[1] * fresh.alpha)[1]
            shares = -noise.low / (noise.high - noise.low)  # NaN where values are more
            if (most > shares).any():
                path, points = [min(holding, key=lambda of: float(of.means[0, 0])).units[0]], []
    elif propose:
        path, surer = _placed(propose, known, noise, fresh)
        points.append(best)
    else:
        finalists = search.finalists(FINALISTS)
        path, spent = pick(finalists, *fresh.first(0), fresh.budget, fresh.alpha, noise)
    left = fresh.budget - spent
    # With few replications there are enough for the first of them.
    further = others(problem, points, path)[: max(0, left // LEAST - len(path))]
    n = max(1, left // (len(path) + len(further)))
    beside = [_beside(unit, known, known.of(best), fresh, n) for unit in further]
    tests = certify_along(path, fresh.second, left, fresh.alpha, noise, beside, surer)
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


def others(problem: Problem, points: Iterable[Floats], path: Iterable[Floats]) -> list[Floats]:
    """Return the points that are not on the path, each once."""
    known, new = {problem.values(unit) for unit in path}, dict[tuple[float, ...], Floats]()
    for unit in points:
        new.setdefault(problem.values(unit), unit)
    return [unit for values, unit in new.items() if values not in known]


def _beside(
    unit: Floats,
    known: PointEstimates,
    best: PointEstimates | None,
    fresh: FreshReplications,
    n: int,
) -> Beside:
    """Return a point that is tested beside the path, by what is known of it and of the best."""
    # The likelier it passes, the larger is its share of alpha. Few replications show that it holds
    # where it has much to spare; it needs more where it may be the best one.
    seen = known.of(unit)
    if seen is None:
        return Beside(unit, ERROR[0], short=bool((known.units == unit).all(axis=1).any()))
    noise = known.noise
    error = known.test[1:] * math.sqrt(fresh.tested / n)
    factors = _factors(noise, n, fresh.alpha) if noise else factor(0.0, 0.0, n, n - 1, fresh.alpha)
    chance = _chance(seen.means[0, 1:] + factors * error, np.hypot(seen.errors[0, 1:], error))
    share = min(ERROR[1], max(ERROR[0], chance))
    if best is None or (best.means[0, 1:] > 0.0).any():
        return Beside(unit, share)
    unsure = CLEARLY * np.hypot(seen.errors[0, 0], best.errors[0, 0])
    worse = seen.means[0, 0] - best.means[0, 0] > unsure
    two_valued = noise is not None and noise.two_valued
    itself = bool((unit == best.units[0]).all())
    return Beside(unit, share, bool(not two_valued and (worse or itself or chance < LIKELY)))


def _certificate(
    problem: Problem, tests: PathTests, fresh: FreshReplications, budget: int
) -> Certificate:
    """Return what a run comes to; replications that are left tell more of it."""
    # A baseline that seems to hold without having passed stays, too, if no point that passed is
    # better: undecided.
    tested = [*tests.beside, *(test for test in tests.path if problem.name_of(test.unit))]
    passed = [test for test in tested if test.passes]
    baselines = [test for test in passed if problem.name_of(test.unit)]
    others = [test for test in [*passed, tests.passed] if test and test not in baselines]
    seeming = [test for test in tested if problem.name_of(test.unit) and test.seems_to_hold]
    rivals, left = baselines or seeming, budget - tests.spent
    if not rivals or not others:
        every = baselines or others or tests.all
        best = min(every, key=lambda test: (test.violation, test.objective))
        return _shown(best, tests, fresh, len(best.outcomes), left)
    stays, best = (min(side, key=lambda test: test.objective) for side in (rivals, others))
    common = 0 if best is tests.last else min(len(stays.outcomes), len(best.outcomes))
    n = common + left // 2 if common else min(len(stays.outcomes), left)
    tests.spent += max(0, n - len(stays.outcomes))
    tests.spent += max(0, n - len(best.outcomes)) if common else n
    # By how much it changes the objective of the baseline, day by day.
    evaluate, _ = fresh.second(0)
    days = evaluate(best.unit, n)[:, 0] - evaluate(stays.unit, n)[:, 0]
    change = estimate(days, 1.0 - fresh.alpha)
    least = change.ci_high if baselines else change.mean
    better = not change.undefined and least is not None and least < 0.0
    chosen = best if better else stays
    known = len(chosen.outcomes) if chosen is tests.last else max(n, len(chosen.outcomes))
    shown = _shown(chosen, tests, fresh, known, budget - tests.spent)
    return shown if better else replace(shown, unbeaten=change)


def _shown(
    test: FeasibilityTest, tests: PathTests, fresh: FreshReplications, known: int, left: int
) -> Certificate:
    """Return the certificate of a point by the replications that it has, and those left."""
    first = tests.start if test is tests.last else 0
    evaluate, controls = fresh.second(first)
    beside, tested = test.sample.beside, len(test.outcomes)
    n = max(known, min(known + left, len(beside.outcomes) if beside else MOST[1]))
    sample = AdjustedOutcomes(evaluate(test.unit, n), controls, beside)
    return Certificate(
        test.unit,
        sample.outcomes,
        sample.adjusted,
        True if test.passes else False if all(of.fails for of in tests.all) else None,
        sample.undefined,
        tests.spent + n - known,
        fresh.alpha,
        first,
        tested=tested,
    )
