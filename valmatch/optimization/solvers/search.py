"""The common frame of all solvers: asking for evaluations, keeping them, choosing finalists."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.optimization.problem import Problem
from valmatch.optimization.solvers.archive import Archive, PointEstimates, spread

# Points proposed for the next test, by what a search and the tests before have shown.


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
        return self.archive.exact

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
        order: dict[int, None] = {}
        for margin in MARGINS:
            if len(order) < k:
                order[_seen_first(estimates, margin)[0]] = None
        if len(order) < k:
            order |= dict.fromkeys(_seen_first(estimates, MARGINS[0]))
        return estimates.take(list(order)[:k])

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


# First looks, and one number for the worth of a point, for minimisers that know no constraints.

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
            worst: Floats = self._worst / self.unit + 1.0
            return worst
        mean: Floats = outcomes.mean(axis=0) / self.unit
        return mean

    def penalised(self, outcomes: Floats) -> float:
        """Return the objective plus a penalty for each violation."""
        objective, *excesses = self.scaled(outcomes).tolist()
        return float(objective + PENALTY * sum(max(0.0, excess) for excess in excesses))
