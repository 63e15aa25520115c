"""The common frame of all solvers: evaluations, estimates of points, requests, finalists."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from valmatch.config.config import Constraint
from valmatch.kernels.arrays import Bools, Floats
from valmatch.optimization.problem import Problem
from valmatch.statistics.control_variates import Regression, regress

# n -> (n, controls) control variates of the first n replications, with their expectations.
Controls: TypeAlias = Callable[[int], tuple[Floats, Floats]]

# Replications for each control variate, at least: with fewer, slopes cost more than they gain.
PER_CONTROL = 5


def without_controls(n: int) -> tuple[Floats, Floats]:
    """Return the control variates of a model that has none."""
    return np.empty((n, 0)), np.empty(0)


def regression(outcomes: Floats, controls: Controls) -> list[Regression]:
    """Regress each column of the outcomes of a point on the controls of its replications."""
    n = len(outcomes)
    values, expectations = controls(n)
    if n < PER_CONTROL * (1 + expectations.size):
        values, expectations = without_controls(n)
    return regress(outcomes, values, expectations)


LEAST_POINTS = 3  # points by which it is seen how noise goes with the mean, at least
OFTEN = 2  # times that each of two values is seen, at least, where there is no third


@dataclass(frozen=True)
class Noise:
    """What is known of the noise of the constraints."""

    limits: Floats  # (constraints, 2): the least and the largest excess that there can be
    skewness: Floats  # of the points with the most replications; 0 where nothing is known
    low: Floats  # the lesser excess where there are two, NaN where there are more
    high: Floats  # the greater one
    constant: Bools  # whether the replications of each point were alike
    common: float = 0.0  # correlation of two good points, the least of all constraints

    @classmethod
    def unknown(cls, limits: Floats) -> Noise:
        """Return what is known before any replication: nothing but the limits."""
        none = np.zeros(len(limits))
        return cls(limits, none, none + np.nan, none + np.nan, none > 0.0)

    @property
    def two_valued(self) -> bool:
        """Whether some constraint is of yes and no."""
        return not np.isnan(self.low).all()

    def take(self, rows: slice) -> Noise:
        """Return what is known of some of the constraints."""
        names = "limits", "skewness", "low", "high", "constant"
        return replace(self, **{name: getattr(self, name)[rows] for name in names})


@dataclass(frozen=True)
class Units:
    """Units of outcomes in which the noise of all points is alike."""

    # In them the excess of a response whose noise goes with its mean is the logarithm of its share
    # of the bound; errors are shares of the mean.
    constraints: Sequence[Constraint]
    relative: Sequence[int]  # columns of the outcomes

    @classmethod
    def of(
        cls, constraints: Sequence[Constraint], outcomes: Sequence[Floats], deviations: Floats
    ) -> Units:
        """Return the units of points by their outcomes, which are all defined."""
        # Noise goes with the mean where its deviations vary less as shares of the means than by
        # themselves; means must have been above 0 throughout.
        relative = []
        for k, constraint in enumerate(constraints, 1):
            noise = deviations[:, k]
            some = noise > 0.0
            if constraint.bound <= 0.0 or some.sum() < LEAST_POINTS:
                continue
            columns = [constraint.bound + constraint.sign * rows[:, k] for rows in outcomes]
            means = np.array([column.mean() for column in columns])
            if min(column.min() for column in columns) < 0.0 or means.min() <= 0.0:
                continue
            logarithms = np.log(noise[some])
            if (logarithms - np.log(means[some])).std() < logarithms.std():
                relative.append(k)
        return cls(constraints, relative)

    def _level(self, means: Floats, k: int) -> Floats:
        """Return the mean responses of a constraint, above 0."""
        c = self.constraints[k - 1]
        level: Floats = np.maximum(c.bound + c.sign * means[..., k], 1e-12 * c.bound)
        return level

    def convert(self, means: Floats, errors: Floats) -> tuple[Floats, Floats]:
        """Return mean outcomes, with their deviations or errors, in these units."""
        means, errors = means.copy(), errors.copy()
        for k in self.relative:
            constraint, level = self.constraints[k - 1], self._level(means, k)
            means[..., k] = constraint.sign * np.log(level / constraint.bound)
            errors[..., k] /= level
        return means, errors

    def undo(self, means: Floats, errors: Floats) -> tuple[Floats, Floats]:
        """Return means and errors in these units as those of the outcomes."""
        means, errors = means.copy(), errors.copy()
        for k in self.relative:
            constraint = self.constraints[k - 1]
            level = constraint.bound * np.exp(constraint.sign * means[..., k])
            means[..., k] = constraint.sign * (level - constraint.bound)
            errors[..., k] *= level
        return means, errors

    def deviating(self, outcomes: Floats) -> Floats:
        """Return by how much the outcomes of a point deviate from their mean, in these units."""
        mean = outcomes.mean(axis=0)
        away: Floats = outcomes - mean
        for k in self.relative:
            away[:, k] /= self._level(mean, k)
        return away


@dataclass(frozen=True)
class PointEstimates:
    """What is known of the evaluated points, in the order in which they were first evaluated."""

    units: Floats  # (points, variables): in the unit cube
    counts: NDArray[np.int64]  # (points,): replications made
    # (points, 1 + constraints): mean outcomes in `units_of`, as if every point had met the same
    # replications; 0 where undefined
    means: Floats
    errors: Floats  # (points, 1 + constraints): standard errors; 0 where undefined
    # (1 + constraints,): standard errors that fresh replications of a finalist will have
    test: Floats
    defined: Bools  # (points,): whether all replications of the point gave all outcomes
    noise: Noise | None = None  # what the noise is like, where that is known
    # in which units means and errors are; None for those of the outcomes
    units_of: Units | None = None

    @property
    def doubts(self) -> Floats:
        """Standard errors of what fresh replications will find, as far as is known now."""
        return np.hypot(self.errors, self.test)

    def take(self, points: Sequence[int]) -> PointEstimates:
        """Return the estimates of some of the points."""
        names = "units", "counts", "means", "errors", "defined"
        rows = np.array(points, np.intp)
        return replace(self, **{name: getattr(self, name)[rows] for name in names})

    def of(self, unit: Floats) -> PointEstimates | None:
        """Return the estimates of one point; None if it is unknown or undefined."""
        rows = np.flatnonzero((self.units == unit).all(axis=1) & self.defined)
        return self.take([int(rows[0])]) if len(rows) else None

    def violation(self, margin: float = 0.0, needed: float = 0.0) -> Floats:
        """Return the sum of the violations, each in units of that constraint's spread."""
        spare = margin * self.doubts[:, 1:] + needed * self.test[1:]
        excess = np.maximum(0.0, self.means[:, 1:] + spare)
        total: Floats = (excess / spread(self.means[self.defined, 1:])).sum(axis=1)
        return np.where(self.defined, total, np.inf)

    def ranking(self, margin: float = 0.0, needed: float = 0.0) -> NDArray[np.intp]:
        """Return the points from best to worst: least violation first, then least objective."""
        return np.lexsort((self.means[:, 0], self.violation(margin, needed)))


def spread(values: Floats) -> Floats:
    """Return the standard deviation of each column, 1 for a column that does not vary."""
    if len(values) == 0:
        return np.ones(values.shape[1])
    deviation: Floats = values.std(axis=0)
    return np.where(deviation > 1e-12 * np.abs(values).max(axis=0), deviation, 1.0)


def _by_controls(outcomes: Floats, controls: Controls) -> tuple[Floats, Floats, float]:
    """Return what controls add to means, what they leave of deviations, and the leverage."""
    # The leverage is the variance of a mean over that of a replication.
    fits = regression(outcomes, controls)
    mean = outcomes.mean(axis=0)
    degrees, plain = max(1, fits[0].degrees), max(1, len(outcomes) - 1)
    residual = np.array([(fit.residuals**2).sum() for fit in fits]) / degrees
    total = ((outcomes - mean) ** 2).sum(axis=0) / plain
    left = np.sqrt(residual / np.where(total > 0.0, total, 1.0))
    shift = np.array([fit.mean for fit in fits]) - mean
    return shift, np.where(total > 0.0, left, 1.0), fits[0].leverage


NEAR = 20  # what sets points apart is measured on this many of those with the most replications
MOST_COMMON = 0.999  # two points have less than this in common, at most


@dataclass
class Archive:
    """All outcomes told so far, by point."""

    problem: Problem  # what is optimised; says which points of the unit cube are the same
    test: int  # replications by which finalists will be tested; 0 where one replication is exact
    controls: Controls = without_controls  # the control variates of the replications
    # (point of the unit cube, n) -> (n, terms) what each term adds to the objective
    parts: Callable[[Floats, int], Floats] = lambda unit, n: np.empty((n, 0))
    _units: list[Floats] = field(default_factory=list)
    # of each point its outcomes, with the parts of the objective beside them; their means and
    # standard deviations
    _outcomes: list[Floats] = field(default_factory=list)
    _moments: list[Floats] = field(default_factory=list)
    _rows: dict[tuple[float, ...], int] = field(default_factory=dict)
    _estimates: PointEstimates | None = None
    # (points, terms): the parts of the mean objectives that `estimates` returned
    mean_parts: Floats = field(default_factory=lambda: np.empty((0, 0)))

    def __len__(self) -> int:
        return len(self._units)

    def outcomes(self, unit: Floats) -> Floats:
        """Return the outcomes known of a point, (n, 1 + constraints); n is 0 for a new one."""
        row = self._rows.get(self.problem.values(unit))
        return np.empty((0, self._width)) if row is None else self._outcomes[row][:, : self._width]

    def unseen(self, units: Floats) -> Iterator[Floats]:
        """Yield the points of which nothing is known."""
        return (unit for unit in units if self.problem.values(unit) not in self._rows)

    def record(self, unit: Floats, outcomes: Floats | None) -> None:
        """Keep the outcomes of the first replications of a point; None takes it to be undefined."""
        if outcomes is None:
            outcomes = np.full_like(min(self._outcomes, key=len), np.nan)
        else:
            outcomes = np.hstack([outcomes, self.parts(unit, len(outcomes))])
        self._estimates = None
        row = self._rows.setdefault(self.problem.values(unit), len(self._units))
        deviations = outcomes.std(axis=0, ddof=min(1, len(outcomes) - 1))
        moments = np.array([outcomes.mean(axis=0), deviations])
        if row == len(self._units):
            self._units.append(unit.copy())
        self._outcomes[row : row + 1], self._moments[row : row + 1] = [outcomes], [moments]

    @property
    def _width(self) -> int:
        """Number of outcomes: the objective and the excesses."""
        return 1 + len(self.problem.constraints)

    def estimates(self) -> PointEstimates:
        """Return means with their standard errors, all points on an equal footing."""
        # Points with few replications met other random numbers than points with many. What the
        # missing replications would have added is read off all points that have made them, and
        # what control variates say of the level of all off the points that have the most.
        if self._estimates is not None:
            return self._estimates
        width = self._width
        counts = np.array([len(rows) for rows in self._outcomes])
        means, deviations = np.stack(self._moments, axis=1)
        defined: Bools = np.logical_not(np.isnan(means).any(axis=1))
        noise = self._noise(counts, means, deviations, defined)
        several = [self._outcomes[i] for i in np.flatnonzero(defined & (counts > 1))]
        units_of = Units.of(
            [*self.problem.constraints.values()], several, deviations[defined & (counts > 1)]
        )
        # Of yes and no, shares of the mean mean nothing.
        numbers = [k for k in units_of.relative if np.isnan(noise.low[k - 1])]
        units_of = replace(units_of, relative=numbers)
        means, deviations = units_of.convert(means, deviations)
        most = counts[defined].max(initial=0)
        longest = [self._outcomes[i] for i in np.flatnonzero(defined & (counts == most))]
        for n, more in pairwise(np.unique(counts[defined]).tolist()):
            longer = np.flatnonzero(defined & (counts >= more))
            rows = np.array([self._outcomes[i][:more] for i in longer])
            after, before = rows.mean(axis=1), rows[:, :n].mean(axis=1)
            missing = units_of.convert(after, after)[0] - units_of.convert(before, before)[0]
            means[defined & (counts <= n)] += missing.mean(axis=0)
        left, leverage = np.ones(1), 1.0
        if longest:
            away = np.mean([units_of.deviating(rows) for rows in longest], axis=0)
            shift, left, leverage = _by_controls(away, self.controls)
            means += shift
            rest = away[:, 1:width]
            deviation = np.maximum(np.sqrt((rest**2).mean(axis=0)), 1e-100)
            noise = replace(noise, skewness=(rest**3).mean(axis=0) / deviation**3)
        means[~defined] = 0.0
        errors, test, common = self._errors(
            np.where(defined, counts, 0), deviations, left, leverage, longest, units_of
        )
        noise = replace(noise, common=common * (not noise.two_valued))  # no yes is read off another
        points, self.mean_parts = np.array(self._units), means[:, width:]
        means, errors, test = means[:, :width], errors[:, :width], test[:width]
        self._estimates = PointEstimates(
            points, counts, means, errors, test, defined, noise, units_of
        )
        return self._estimates

    def _noise(
        self, counts: NDArray[np.int64], means: Floats, deviations: Floats, defined: Bools
    ) -> Noise:
        """Return the values of constraints that have two; their deviations are mended in place."""
        # A point that has shown one of them alone has a deviation, too.
        noise, width = Noise.unknown(self.problem.limits_of_excesses), self._width
        if not defined.any() or self.test == 0:
            return noise
        rows = np.concatenate([self._outcomes[i][:, :width] for i in np.flatnonzero(defined)])
        longer = deviations[defined & (counts > 1), 1:width]
        noise.constant[:] = len(longer) > 0 and (longer == 0.0).all(axis=0)
        for k in range(1, width):
            values, times = np.unique(rows[:, k], return_counts=True)
            declared = np.isin(values, noise.limits[k - 1]).all()
            two = len(values) == 2 and (times.min() >= OFTEN or declared)
            if two and not noise.constant[k - 1]:
                low, high = values
                noise.low[k - 1], noise.high[k - 1] = low, high
                share = ((means[:, k] - low) / (high - low) * counts + 0.5) / (counts + 1.0)
                mended = (high - low) * np.sqrt(np.clip(share * (1.0 - share), 0.0, None))
                deviations[defined, k] = mended[defined]
        return noise

    def _errors(
        self,
        counts: NDArray[np.int64],
        deviations: Floats,
        left: Floats,
        leverage: float,
        longest: Sequence[Floats],
        units_of: Units,
    ) -> tuple[Floats, Floats, float]:
        """Return the errors of means and of a test, and how much good points have in common."""
        # All points share the error of the most replications; points with fewer add an error of
        # what sets them apart from the points that have the most. `counts` is 0 for undefined ones.
        errors: Floats = np.zeros_like(deviations)
        most = counts.max(initial=0)
        if most < 2:
            return errors, np.zeros(errors.shape[1]), 0.0
        nearest = np.argsort(-counts, kind="stable")[:NEAR]
        nearest = nearest[counts[nearest] > 1]
        near = nearest[counts[nearest] < most]
        shared = np.sqrt(np.average(deviations[nearest] ** 2, axis=0, weights=counts[nearest] - 1))
        single, common = errors[0], 0.0
        if len(near) > 0:
            apart = []
            for i in near:
                rest = units_of.deviating(self._outcomes[i])
                rest -= np.mean([units_of.deviating(rows[: counts[i]]) for rows in longest], axis=0)
                apart.append(rest.std(axis=0, ddof=1))
            single = np.median(apart, axis=0)
            bounded = slice(1, self._width)
            share = single[bounded] ** 2 / np.maximum(shared[bounded] ** 2, 1e-300) / 2.0
            common = float(np.clip(1.0 - share, 0.0, MOST_COMMON).min(initial=MOST_COMMON))
            common *= bool((shared[bounded] > 0.0).any())  # no noise says nothing
        shared *= left
        some = counts > 0
        fewer = (1.0 / counts[some] - 1.0 / most)[:, None]
        errors[some] = np.sqrt(shared**2 * leverage + single**2 * fewer)
        return errors, shared / math.sqrt(self.test), common


@dataclass(frozen=True)
class Level:
    """By how much the excesses of all points are higher than a search made them out to be."""

    # All points of a search meet the same replications: what these have in common shows in no
    # comparison of points.
    shift: Floats  # (constraints,): the expectation with its standard deviation
    doubt: Floats

    def after(self, proposal: Proposal, excess: Floats, error: Floats) -> Level:
        """Return what is known after a test on fresh replications, by the rule of Bayes."""
        before = self.doubt**2
        total = np.maximum(before + proposal.doubt**2 + error**2, 1e-300)
        shift = self.shift + before / total * (excess - proposal.excess - self.shift)
        return Level(shift, np.sqrt(before - before / total * before))


class NextTest(NamedTuple):
    """What the next test is, and how likely its point is to pass it."""

    n: int  # fresh replications
    factors: Floats  # (constraints,): standard errors between a mean and its confidence bound
    # standard deviations of what the bound may turn out to be, but for the doubts of the point,
    # that are left below 0; fewer than 0 for a bold one
    sure: float
    level: Level | None = None  # what the tests before have shown; None before the first
    undefined: Floats | None = None  # the point of a test before whose outcomes are undefined


class Proposal(NamedTuple):
    """A point to be tested."""

    unit: Floats  # in the unit cube
    # (constraints,): expected excesses, in the units of the search, with the standard deviations
    # of what sets this point apart from all others
    excess: Floats
    doubt: Floats
    level: Level  # what was known of the excesses of all points
    objective: float = -math.inf  # its expected objective; -inf where nothing is said of it


Propose: TypeAlias = Callable[[NextTest], Proposal]  # says which point to test
REPEATS = 1000  # a search that asks for so many known results in a row has nothing left to learn
MARGINS = (0.4, 1.2, 2.0, 0.0, 3.5, 5.0)  # doubts that finalists have to spare, in this order
NEEDED = 1.8  # standard errors beyond these: room for the bound of the test
SAFE = 1.2  # doubts that the point has to spare that would be recommended on the way
SEEN = 0.25  # share of the most replications that a finalist at a margin has, at least


@dataclass(frozen=True)
class Request:
    """What a solver wants to know."""

    unit: Floats  # point of the unit cube
    n: int  # its first `n` replications are wanted


Steps: TypeAlias = Generator[Request, Floats, None]


@dataclass
class SearchTask:
    """What a search is given."""

    problem: Problem  # what is optimised
    budget: int  # replications that the search may spend
    rng: np.random.Generator  # the source of all its random numbers
    start: Floats  # first point, in the unit cube
    archive: Archive  # all that was evaluated
    spent: int = 0  # replications spent
    propose: Propose | None = None  # says which points to test, if the search has a model of all
    failure: str = ""  # what ended the search too early, "" if nothing did

    @property
    def dimensions(self) -> int:
        """Number of decision variables."""
        return len(self.problem.variables)

    @property
    def exact(self) -> bool:
        """Whether all replications of a point are the same, so that one says everything."""
        return self.archive.test == 0

    @property
    def left(self) -> int:
        """Replications left to spend."""
        return self.budget - self.spent

    def replications(self) -> int:
        """Return the replications of a first look at a point."""
        # They grow with the square root of the budget, as does the number of points: errors of
        # search and errors of estimation then shrink together.
        if self.exact:
            return 1
        return max(1, min(self.budget, round(math.sqrt(self.budget / (4 * self.dimensions)))))


class Search:
    """A solver made of the steps of a search: a generator of requests that is sent outcomes."""

    def __init__(self, task: SearchTask, steps: Callable[[SearchTask], Steps]) -> None:
        self.task, self._steps = task, steps

    def run(self, evaluate: Callable[[Floats, int], Floats]) -> Iterator[tuple[Request, Floats]]:
        """Yield what is evaluated, with its outcomes, until the steps or the budget end."""
        # Results that are known already are sent without evaluation.
        task, repeats = self.task, 0
        with closing(self._steps(task)) as steps:
            request = next(steps, None)
            while request is not None and repeats < REPEATS:
                # Where evaluations are exact, all other replications would be the same.
                request = replace(request, n=1) if task.exact else request
                outcomes = task.archive.outcomes(request.unit)
                missing, repeats = request.n - len(outcomes), repeats + 1
                if missing > task.left:
                    return
                if missing > 0:
                    outcomes, repeats = evaluate(request.unit, request.n), 0
                    task.spent += missing
                    task.archive.record(request.unit, outcomes)
                    yield request, outcomes
                try:
                    request = steps.send(outcomes[: request.n])
                except StopIteration:
                    return

    def finalists(self, k: int) -> PointEstimates:
        """Return up to `k` distinct points: the best at several margins, then the next best."""
        estimates = self.task.archive.estimates()
        best = [_seen_first(estimates, margin)[0] for margin in MARGINS]
        return estimates.take(list(dict.fromkeys([*best, *_seen_first(estimates, MARGINS[0])]))[:k])

    def incumbent(self) -> Floats:
        """Return the best point by a safe margin: what would be recommended now."""
        estimates = self.task.archive.estimates()
        unit: Floats = estimates.units[_seen_first(estimates, SAFE)[0]]
        return unit


def _seen_first(estimates: PointEstimates, margin: float) -> list[int]:
    """Order points by what they promise at a margin, those that were seen for long first."""
    # Among many points seen briefly the best is mostly the luckiest.
    seen = estimates.counts >= SEEN * estimates.counts[estimates.defined].max(initial=0)
    ranking = estimates.ranking(margin, NEEDED)
    order: list[int] = ranking[np.argsort(~seen[ranking], kind="stable")].tolist()
    return order


# A violation of one standard deviation of a constraint costs as much as this many of the objective.
PENALTY = 3.0


def latin_hypercube(rng: np.random.Generator, points: int, dimensions: int) -> Floats:
    """Return points of the unit cube whose every coordinate is evenly spread."""
    strata = rng.permuted(np.tile(np.arange(points), (dimensions, 1)), axis=1).T
    return (strata + rng.random((points, dimensions))) / points


def first_looks(task: SearchTask, n: int) -> Steps:
    """Evaluate the start and today's rule, then a few points spread over the cube."""
    for unit in task.problem.baselines.values():
        yield Request(unit, n)
    points = min(2 * task.dimensions + 1, task.left // (2 * n))
    for unit in latin_hypercube(task.rng, points, task.dimensions):
        yield Request(unit, n)


class Scales:
    """Outcomes in units of the points evaluated so far, finite where they are undefined."""

    def __init__(self, archive: Archive) -> None:
        estimates = archive.estimates()
        means = estimates.means[estimates.defined]
        self.unit = spread(means)  # (1 + constraints,): standard deviation of each outcome
        # Where nothing is defined, an undefined point counts as infeasible by one unit.
        self._worst = means.max(axis=0) if len(means) else np.ones(len(self.unit))

    def scaled(self, outcomes: Floats) -> Floats:
        """Return the mean outcomes in these units; undefined ones are the worst, plus one."""
        if np.isnan(outcomes).any():
            return self._worst / self.unit + 1.0
        mean: Floats = outcomes.mean(axis=0) / self.unit
        return mean

    def penalised(self, outcomes: Floats) -> float:
        """Return the objective plus a penalty for each violation."""
        objective, *excesses = self.scaled(outcomes).tolist()
        return float(objective + PENALTY * sum(max(0.0, excess) for excess in excesses))
