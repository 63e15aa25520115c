"""The common frame of all solvers: asking for evaluations, keeping them, choosing finalists."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from valmatch.kernels.arrays import Bools, Floats
from valmatch.optimization.problem import Problem
from valmatch.optimization.solvers.noise import (
    OFTEN,
    Controls,
    Noise,
    Units,
    regression,
    without_controls,
)

# Points proposed for the next test, by what a search and the tests before have shown.


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
    holds: bool  # whether it is as likely to pass as was wanted; if not, no point is known that is
    objective: float = -math.inf  # its expected objective; -inf where nothing is said of it


Propose: TypeAlias = Callable[[NextTest], Proposal]  # says which point to test


@dataclass(frozen=True)
class Level:
    """By how much the excesses of all points are higher than a search made them out to be.

    All points of a search meet the same replications: what these have in common shows in no
    comparison of points.
    """

    shift: Floats  # (constraints,): the expectation with its standard deviation
    doubt: Floats

    def after(self, proposal: Proposal, excess: Floats, error: Floats) -> Level:
        """Return what is known after a test on fresh replications, by the rule of Bayes."""
        before = self.doubt**2
        whole = np.maximum(before + proposal.doubt**2 + error**2, 1e-300)
        shift = self.shift + before / whole * (excess - proposal.excess - self.shift)
        return Level(shift, np.sqrt(before - before / whole * before))


# A search that asks for this many known results in a row has nothing left to learn.
REPEATS = 1000
# Finalists hold every constraint with these many doubts to spare, in this order.
MARGINS = (0.4, 1.2, 2.0, 0.0, 3.5, 5.0)
# Beyond these they have room for the bound of the test: its distance in standard errors.
NEEDED = 1.8
# The point that would be recommended on the way holds every constraint with these many doubts.
SAFE = 1.2
# What sets points apart is measured on this many of those with the most replications.
NEAR = 20
# Two points have less than this in common, at most.
MOST_COMMON = 0.999
# A finalist at a margin has at least this share of the replications of the point with the most.
SEEN = 0.25


@dataclass(frozen=True)
class Request:
    """What a solver wants to know."""

    unit: Floats  # point of the unit cube
    n: int  # its first `n` replications are wanted


class Solver(Protocol):
    """A search that is over, as certification sees it."""

    def incumbent(self) -> Floats:
        """Return the point that would be recommended if the search ended now."""

    def finalists(self, k: int) -> PointEstimates:
        """Return up to `k` distinct points worth certifying on fresh replications, best first."""

    def estimates(self) -> PointEstimates:
        """Return what is known of all points."""

    @property
    def propose(self) -> Propose | None:
        """Says which points to test; None where they are chosen from the finalists."""


Steps: TypeAlias = Generator[Request, Floats, None]


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
        doubts: Floats = np.hypot(self.errors, self.test)
        return doubts

    def take(self, places: Sequence[int]) -> PointEstimates:
        """Return the estimates of some of the points."""
        rows = np.array(places, np.intp)
        return replace(
            self,
            units=self.units[rows],
            counts=self.counts[rows],
            means=self.means[rows],
            errors=self.errors[rows],
            defined=self.defined[rows],
        )

    def of(self, unit: Floats) -> PointEstimates | None:
        """Return the estimates of one point; None if it is unknown or undefined."""
        places = np.flatnonzero((self.units == unit).all(axis=1) & self.defined)
        return self.take([int(places[0])]) if len(places) else None

    @property
    def shared(self) -> Floats:
        """Standard errors that all points have in common, as they met the same replications."""
        least = self.errors[self.defined].min(axis=0, initial=np.inf)
        return np.where(np.isinf(least), 0.0, least)

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


class _Level(NamedTuple):
    """What control variates say of the replications that all points share."""

    shift: Floats  # (1 + constraints,): to be added to all means
    left: Floats  # (1 + constraints,): share of the deviation that they do not explain
    leverage: float  # variance of a mean over that of a replication

    @classmethod
    def of(cls, outcomes: Floats, controls: Controls) -> _Level:
        """Regress the outcomes, (n, 1 + constraints), on the controls."""
        fits = regression(outcomes, controls)
        shift = np.array([fit.mean for fit in fits]) - outcomes.mean(axis=0)
        degrees, plain = max(1, fits[0].degrees), max(1, len(outcomes) - 1)
        residual = np.array([(fit.residuals**2).sum() for fit in fits]) / degrees
        whole = ((outcomes - outcomes.mean(axis=0)) ** 2).sum(axis=0) / plain
        left = np.sqrt(residual / np.where(whole > 0.0, whole, 1.0))
        return cls(shift, np.where(whole > 0.0, left, 1.0), fits[0].leverage)


Parts: TypeAlias = Callable[[Floats, int], Floats]
"""(point of the unit cube, n) -> (n, terms) what each term adds to the objective."""


def whole(unit: Floats, n: int) -> Floats:
    """Return no parts: the objective is not known to be a sum."""
    return np.empty((n, 0))


@dataclass
class Archive:
    """All outcomes told so far, by point."""

    problem: Problem  # what is optimised; says which points of the unit cube are the same
    test: int  # replications by which finalists will be tested; 0 where one replication is exact
    controls: Controls = without_controls  # the control variates of the replications
    parts: Parts = whole  # what the terms add to the objective
    _units: list[Floats] = field(default_factory=list)
    _outcomes: list[Floats] = field(default_factory=list)
    _means: list[Floats] = field(default_factory=list)
    _deviations: list[Floats] = field(default_factory=list)
    _places: dict[tuple[float, ...], int] = field(default_factory=dict)
    _levels: dict[tuple[int, ...], _Level] = field(default_factory=dict)
    _estimates: tuple[PointEstimates, Floats] | None = None

    def __len__(self) -> int:
        return len(self._units)

    def outcomes(self, unit: Floats) -> Floats:
        """Return the outcomes known of a point, (n, 1 + constraints); n is 0 for a new one."""
        place = self._places.get(self._key(unit))
        width = 1 + len(self.problem.constraints)
        return np.empty((0, width)) if place is None else self._outcomes[place][:, :width]

    def record(self, unit: Floats, outcomes: Floats) -> None:
        """Keep the outcomes of the first replications of a point."""
        self._keep(unit, np.hstack([outcomes, self.parts(unit, len(outcomes))]))

    def exclude(self, unit: Floats) -> None:
        """Take a point to be undefined."""
        least = min(self._outcomes, key=len)
        self._keep(unit, np.full_like(least, np.nan))

    def _keep(self, unit: Floats, outcomes: Floats) -> None:
        """Keep outcomes with the parts of the objective beside them."""
        self._estimates = None
        place = self._places.setdefault(self._key(unit), len(self._units))
        if place == len(self._units):
            self._units.append(unit.copy())
            for kept in (self._outcomes, self._means, self._deviations):
                kept.append(outcomes[0])
        self._outcomes[place] = outcomes
        self._means[place] = outcomes.mean(axis=0)
        self._deviations[place] = outcomes.std(axis=0, ddof=min(1, len(outcomes) - 1))

    def _key(self, unit: Floats) -> tuple[float, ...]:
        return tuple(self.problem.point(unit).values())

    def estimates(self) -> PointEstimates:
        """Return means with their standard errors, all points on an equal footing.

        Points with few replications met other random numbers than points with many. What the
        missing replications would have added is read off all points that have made them, and what
        control variates say of the level of all off the points that have the most.
        """
        return self.estimates_and_parts()[0]

    def estimates_and_parts(self) -> tuple[PointEstimates, Floats]:
        """Return these with (points, terms): the parts of the mean objectives."""
        if self._estimates is None:
            self._estimates = self._estimate()
        return self._estimates

    def _estimate(self) -> tuple[PointEstimates, Floats]:
        counts = np.array([len(rows) for rows in self._outcomes])
        means, deviations = np.array(self._means), np.array(self._deviations)
        defined: Bools = np.logical_not(np.isnan(means).any(axis=1))
        noise = self._noise(counts, means, deviations, defined)
        several = [self._outcomes[i] for i in np.flatnonzero(defined & (counts > 1))]
        units_of = Units.of(self.problem.constraints, several, deviations[defined & (counts > 1)])
        # Of yes and no, shares of the mean mean nothing.
        units_of = replace(
            units_of, relative=[k for k in units_of.relative if np.isnan(noise.low[k - 1])]
        )
        means, deviations = units_of.convert(means, deviations)
        most = counts[defined].max(initial=0)
        longest = [self._outcomes[i] for i in np.flatnonzero(defined & (counts == most))]
        for n, more in pairwise(np.unique(counts[defined]).tolist()):
            longer = np.flatnonzero(defined & (counts >= more))
            rows = np.array([self._outcomes[i][:more] for i in longer])
            missing = units_of.mean(rows) - units_of.mean(rows[:, :n])
            means[defined & (counts <= n)] += missing.mean(axis=0)
        away = [units_of.deviating(rows) for rows in longest]
        level = self._level(away, units_of)
        means += level.shift
        means[~defined] = 0.0
        errors, test, common = self._errors(
            np.where(defined, counts, 0), deviations, level, (longest, units_of)
        )
        common *= bool(np.isnan(noise.low).all())  # no yes is read off another one
        units, width = np.array(self._units), 1 + len(self.problem.constraints)
        noise = replace(noise, common=common, skewness=_skewness(away, width))
        estimates = PointEstimates(
            units,
            counts,
            means[:, :width],
            errors[:, :width],
            test[:width],
            defined,
            noise,
            units_of,
        )
        return estimates, means[:, width:]

    def _noise(
        self, counts: NDArray[np.int64], means: Floats, deviations: Floats, defined: Bools
    ) -> Noise:
        """Return the values of constraints that have two; their deviations are mended in place.

        A point that has shown one of them alone has a deviation, too.
        """
        noise = Noise.unknown(self.problem.constraints)
        if not defined.any() or self.exact:
            return noise
        width = 1 + len(self.problem.constraints)
        rows = np.concatenate([self._outcomes[i][:, :width] for i in np.flatnonzero(defined)])
        longer = deviations[defined & (counts > 1), 1:width]
        noise.constant[:] = len(longer) > 0 and (longer == 0.0).all(axis=0)
        for k in range(1, width):
            values, times = np.unique(rows[:, k], return_counts=True)
            declared = np.isin(values, noise.constraints[k - 1].limits_of_excess).all()
            two = len(values) == 2 and (times.min() >= OFTEN or declared)
            if two and not noise.constant[k - 1]:
                low, high = values
                noise.low[k - 1], noise.high[k - 1] = low, high
                share = ((means[:, k] - low) / (high - low) * counts + 0.5) / (counts + 1.0)
                mended = (high - low) * np.sqrt(np.clip(share * (1.0 - share), 0.0, None))
                deviations[defined, k] = mended[defined]
        return noise

    @property
    def exact(self) -> bool:
        """Whether all replications of a point are the same, so that one says everything."""
        return self.test == 0

    def _level(self, away: Sequence[Floats], units_of: Units) -> _Level:
        """Return what the control variates say of points that have the most replications."""
        if not away:
            return _Level(np.zeros(1), np.ones(1), 1.0)
        address = len(away[0]), len(away), *units_of.relative
        if address not in self._levels:
            self._levels[address] = _Level.of(np.mean(away, axis=0), self.controls)
        return self._levels[address]

    def _errors(
        self,
        counts: NDArray[np.int64],
        deviations: Floats,
        level: _Level,
        longest: tuple[Sequence[Floats], Units],
    ) -> tuple[Floats, Floats, float]:
        """Return the errors of means and of a test, and how much good points have in common.

        All points share the error of the most replications; points with fewer add an error of
        what sets them apart from the points that have the most. `counts` is 0 for undefined points.
        """
        errors: Floats = np.zeros_like(deviations)
        most = counts.max(initial=0)
        if most < 2:
            return errors, np.zeros(errors.shape[1]), 0.0
        nearest = np.argsort(-counts, kind="stable")[:NEAR]
        nearest = nearest[counts[nearest] > 1]
        near = nearest[counts[nearest] < most]
        degrees = counts[nearest] - 1
        shared = np.sqrt(np.average(deviations[nearest] ** 2, axis=0, weights=degrees))
        single, common = errors[0], 0.0
        if len(near) > 0:
            points, units_of = longest
            apart = []
            for i in near:
                rest = units_of.deviating(self._outcomes[i])
                rest -= np.mean([units_of.deviating(rows[: counts[i]]) for rows in points], axis=0)
                apart.append(rest.std(axis=0, ddof=1))
            single = np.median(apart, axis=0)
            bounded = slice(1, 1 + len(self.problem.constraints))
            share = single[bounded] ** 2 / np.maximum(shared[bounded] ** 2, 1e-300) / 2.0
            common = float(np.clip(1.0 - share, 0.0, MOST_COMMON).min(initial=MOST_COMMON))
            common *= bool((shared[bounded] > 0.0).any())  # no noise says nothing
        shared *= level.left
        some = counts > 0
        fewer = (1.0 / counts[some] - 1.0 / most)[:, None]
        errors[some] = np.sqrt(shared**2 * level.leverage + single**2 * fewer)
        return errors, shared / math.sqrt(self.test), common


def _skewness(away: Sequence[Floats], width: int) -> Floats:
    """Return the skewness of the constraints at the points with the most replications."""
    if not away:
        return np.zeros(width - 1)
    rest = np.mean(away, axis=0)[:, 1:width]
    spread = np.maximum(np.sqrt((rest**2).mean(axis=0)), 1e-100)
    skewness: Floats = (rest**3).mean(axis=0) / spread**3
    return skewness


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
        return self.archive.exact

    @property
    def left(self) -> int:
        """Replications left to spend."""
        return self.budget - self.spent

    def replications(self) -> int:
        """Return the replications of a first look at a point.

        They grow with the square root of the budget, as does the number of points: errors of
        search and errors of estimation then shrink together.
        """
        if self.exact:
            return 1
        return max(1, min(self.budget, round(math.sqrt(self.budget / (4 * self.dimensions)))))


class Search:
    """A solver made of the steps of a search: a generator of requests that is sent outcomes.

    Results that are known already are sent without asking; the steps end with the budget.
    """

    def __init__(self, task: SearchTask, steps: Callable[[SearchTask], Steps]) -> None:
        self._task = task
        self._steps = steps(task)
        self._next = self._wanted(next(self._steps, None))

    @property
    def propose(self) -> Propose | None:
        """Says which points to test; None where they are chosen from the finalists."""
        return self._task.propose

    @property
    def failure(self) -> str:
        """What ended the search too early, "" if nothing did."""
        return self._task.failure

    def ask(self) -> Request | None:
        """Return the next request; None when the search is done."""
        for _ in range(REPEATS):
            if self._next is None:
                return None
            known = self._task.archive.outcomes(self._next.unit)
            if len(known) < self._next.n:
                if self._next.n - len(known) <= self._task.left:
                    return self._next
                break
            self._advance(known[: self._next.n])
        self._steps.close()
        self._next = None
        return None

    def tell(self, request: Request, outcomes: Floats) -> None:
        """Take the outcomes of the request that was asked last."""
        archive = self._task.archive
        self._task.spent += request.n - len(archive.outcomes(request.unit))
        archive.record(request.unit, outcomes)
        self._advance(outcomes)

    def _advance(self, outcomes: Floats) -> None:
        try:
            self._next = self._wanted(self._steps.send(outcomes))
        except StopIteration:
            self._next = None

    def _wanted(self, request: Request | None) -> Request | None:
        """Return a request, for one replication where the others would be the same."""
        return replace(request, n=1) if request and self._task.exact else request

    def finalists(self, k: int) -> PointEstimates:
        """Return up to `k` distinct points: the best at several margins, then the next best."""
        estimates = self._task.archive.estimates()
        order: dict[int, None] = {}
        for margin in MARGINS:
            if len(order) < k:
                order[_seen_first(estimates, margin)[0]] = None
        if len(order) < k:
            order |= dict.fromkeys(_seen_first(estimates, MARGINS[0]))
        return estimates.take(list(order)[:k])

    def estimates(self) -> PointEstimates:
        """Return what is known of all points."""
        return self._task.archive.estimates()

    def incumbent(self) -> Floats:
        """Return the best point by a safe margin."""
        estimates = self._task.archive.estimates()
        unit: Floats = estimates.units[_seen_first(estimates, SAFE)[0]]
        return unit


def _seen_first(estimates: PointEstimates, margin: float) -> list[int]:
    """Order points by what they promise at a margin, those that were seen for long first.

    Among many points seen briefly the best is mostly the luckiest.
    """
    seen = estimates.counts >= SEEN * estimates.counts[estimates.defined].max(initial=0)
    ranking = estimates.ranking(margin, NEEDED)
    order: list[int] = ranking[np.argsort(~seen[ranking], kind="stable")].tolist()
    return order
