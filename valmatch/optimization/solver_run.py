"""One run of one solver: search, then certification, within a budget of replications.

Where evaluations are exact, as on one log, the best of the evaluated points needs no certification.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

import numpy as np

from valmatch.config.config import Config
from valmatch.draws.streams import Streams
from valmatch.execution.interruption import Stopped
from valmatch.kernels.arrays import Floats
from valmatch.optimization.certification.certify_run import FreshReplications, certify_run
from valmatch.optimization.certification.selection import (
    AdjustedOutcomes,
    Certificate,
    Evaluate,
    FeasibilityTest,
    replications_of_test,
)
from valmatch.optimization.evaluation import HERE, BudgetSpent, Evaluator, Execution
from valmatch.optimization.problem import Problem
from valmatch.optimization.solvers.front_search import FrontSearch
from valmatch.optimization.solvers.noise import Controls, Noise
from valmatch.optimization.solvers.registry import make, search_budget
from valmatch.optimization.solvers.search import Archive, PointEstimates, Search, SearchTask
from valmatch.optimization.solvers.user_solvers import SolverFactory

SOLVER_SOURCE = 1_000_000  # source of a solver's own random numbers, beyond those of any model

RUN, STAGE = 1 << 40, 1 << 38
"""Replications of a run, and of each of its stages, start at multiples of these."""


@dataclass(frozen=True)
class RunSpec:
    """A run of a solver that is to be made."""

    solver: str  # its name
    # index of the run among those of this solver; runs of the same index meet the same
    # replications, whatever the solver
    macrorep: int
    factory: SolverFactory | None = None  # makes the solver, if it was given as a function


@dataclass(frozen=True)
class Settings:
    """What all runs of a study have in common."""

    budget: int  # replications of a run, search and certification, as many as `RANGES` allow
    seed: int  # seed of all random numbers
    alpha: float  # probability of calling an infeasible point feasible, at most


@dataclass(frozen=True)
class Evaluation:
    """One evaluation that a search requested."""

    unit: Floats  # the point in the unit cube
    n: int  # replications it has now
    mean: Floats  # (1 + constraints,): mean outcomes; NaN where a replication is undefined
    spent: int  # replications that the search has taken so far
    incumbent: Floats  # what the solver would recommend now


@dataclass(frozen=True)
class Evaluated:
    """Points whose responses are known exactly, as on one log."""

    names: Sequence[str]  # the responses
    units: Floats  # (points, variables): in the unit cube, in the order of their evaluation
    responses: Floats  # (points, responses)

    @classmethod
    def of(cls, names: Sequence[str], points: Sequence[tuple[Floats, Floats]]) -> Evaluated:
        """Return points, each given with its responses; the same unit counts once."""
        once: dict[bytes, tuple[Floats, Floats]] = {point[0].tobytes(): point for point in points}
        units, responses = (np.array(side) for side in zip(*once.values(), strict=True))
        return cls(names, units, responses)

    def followed_by(self, others: Sequence[Evaluated]) -> Evaluated:
        """Return these points, then those of others."""
        several = [self, *others]
        return Evaluated(
            self.names,
            np.vstack([points.units for points in several]),
            np.vstack([points.responses for points in several]),
        )

    def best(self, problem: Problem, alpha: float) -> Certificate:
        """Return the best feasible point of a problem; without one, that of least violation."""
        outcomes = problem.outcomes(dict(zip(self.names, self.responses.T, strict=True)))
        defined = np.logical_not(np.isnan(outcomes).any(axis=1))
        means = np.where(defined[:, None], outcomes, 0.0)
        none, counts = np.zeros_like(means), np.ones(len(means), np.int64)
        known = PointEstimates(self.units, counts, means, none, none[0], defined)
        place = int(known.ranking()[0])
        row = outcomes[place : place + 1]
        feasible = bool((row <= 0.0)[:, 1:].all() and defined[place])
        return Certificate(self.units[place], row, row, feasible, int(not defined[place]), 0, alpha)


@dataclass(frozen=True)
class SolverRun:
    """A finished run of a solver."""

    task: RunSpec  # what was run
    evaluations: list[Evaluation]  # the requests of the search in order
    certificate: Certificate  # the point that the run came to and its test
    spent: int  # replications in all
    failure: str = ""  # what ended the search too early, "" if nothing did
    ended: str = ""  # why budget is left where evaluations are exact, "" if none is
    exact: Evaluated | None = None  # all that was evaluated, where evaluations are exact


def failures(runs: Sequence[SolverRun]) -> list[str]:
    """Return a line for each solver whose searches something ended too early."""
    lines = []
    for name in dict.fromkeys(run.task.solver for run in runs if run.failure):
        first, *others = (run for run in runs if run.task.solver == name and run.failure)
        also = f"; so did {len(others):,} more of its searches" if others else ""
        spent = first.evaluations[-1].spent
        lines.append(
            f"solver {name}: {first.failure} (this ended its search after {spent:,} replications,"
            f" which count{also})"
        )
    return lines


def run_solver(
    config: Config,
    problem: Problem,
    task: RunSpec,
    settings: Settings,
    execution: Execution = HERE,
) -> SolverRun:
    """Search with one solver and certify what it found."""
    budget, exact = settings.budget, config.one_history

    def evaluator(stage: int, limit: int, start: int = 0) -> Evaluator:
        first = task.macrorep * RUN + stage * STAGE + start
        return Evaluator(config, problem, settings.seed, first, limit, execution)

    # The search of a user may never look at today's rule.
    unseen = len(problem.given) - 1 if task.factory else 0
    search = evaluator(0, budget - unseen if exact else search_budget(budget))
    # Where evaluations are exact, there is nothing fresh to test on.
    tested = 0 if exact else replications_of_test(budget - search.budget)
    archive = Archive(problem, tested, search.controls, search.parts)
    rng = Streams(settings.seed).stream(task.macrorep, SOLVER_SOURCE)
    given = SearchTask(problem, search.budget, rng, problem.start, archive)
    solver = make(task.solver, given, task.factory)
    evaluations = _search(solver, search, execution.progress)
    known, ended = None, ""
    if exact:
        search.budget = budget
        known = _evaluated(search, problem, [evaluation.unit for evaluation in evaluations])
        certificate = known.best(problem, settings.alpha)
    else:

        def fresh(stage: int) -> Callable[[int], tuple[Evaluate, Controls]]:
            @cache
            def evaluations_from(start: int) -> tuple[Evaluate, Controls]:
                test = evaluator(stage, left, start)
                return test.evaluate, test.controls

            return evaluations_from

        left = budget - search.spent  # with what the solver left where it stopped early
        replications = FreshReplications(fresh(1), fresh(2), left, settings.alpha, tested)
        certificate = certify_run(problem, solver, replications)
    execution.progress(certificate.spent)
    spent = search.spent + certificate.spent
    if exact and search.spent < budget and not solver.failure:
        ended = f"after {spent:,} of {budget:,} evaluations the search knew no new point to look at"
    return SolverRun(task, evaluations, certificate, spent, solver.failure, ended, known)


def _search(solver: Search, search: Evaluator, progress: Callable[[int], None]) -> list[Evaluation]:
    """Evaluate what a solver asks for until it has done or the budget is spent."""
    evaluations: list[Evaluation] = []
    while (request := solver.ask()) is not None:
        before = search.spent
        try:
            outcomes = search.evaluate(request.unit, request.n)
        except BudgetSpent:
            break
        solver.tell(request, outcomes)
        incumbent, mean = solver.incumbent(), outcomes.mean(axis=0)
        evaluations.append(Evaluation(request.unit, request.n, mean, search.spent, incumbent))
        progress(search.spent - before)
    return evaluations


def _evaluated(search: Evaluator, problem: Problem, units: Sequence[Floats]) -> Evaluated:
    """Return the points that a search has evaluated, and those that the config gives."""
    given = list(problem.given.values())
    for unit in given:
        search.evaluate(unit, 1)
    points = [(unit, search.responses(unit)) for unit in [*units, *given]]
    return Evaluated.of(problem.responses, points)


# The run that looks for a Pareto front: search, then tests, within a budget of replications.

TEST_REPLICATIONS, FINALISTS = 20, (3, 24)
"""Fresh replications of a point, about; fewest and most points that are tested."""

MOST = 20_000  # fresh replications of a point beyond which more would be idle


@dataclass(frozen=True)
class CandidatePoint:
    """A point and its outcomes on fresh replications: the objectives, then the excesses."""

    unit: Floats  # the point in the unit cube
    sample: AdjustedOutcomes  # what the control variates make of the outcomes
    certified: bool  # whether it passes the test of the constraints


@dataclass(frozen=True)
class FrontRun:
    """The run that looked for a front."""

    tested: Sequence[CandidatePoint]  # points that were tested; none if it was stopped before
    spent: int  # replications that were made
    finished: bool  # whether it came to its end


@dataclass(frozen=True)
class FrontJob:
    """The search for a front, and the tests of what it found."""

    config: Config  # what is simulated, with budget and seed
    settings: Settings
    # what is searched: its outcomes are the objectives, then the excesses over the bounds
    problem: Problem
    objectives: int  # number of objectives
    index: int = 0  # there is only one such job, from the first replication on
    first: int = 0

    def make(self, execution: Execution) -> FrontRun:
        """Search, then test; a stop leaves nothing tested."""
        budget, seed = self.settings.budget, self.settings.seed
        search, fresh = (
            Evaluator(self.config, self.problem, seed, stage * STAGE, budget, execution)
            for stage in (0, 1)
        )
        tested: list[CandidatePoint] = []
        finished = False
        with suppress(Stopped):
            part = budget if self.config.one_history else search_budget(budget)
            units, noise = self._search(search, part, execution.progress)
            left = budget - search.spent
            exact = self.config.one_history
            tested = self._seen(units, search) if exact else self._test(units, fresh, left, noise)
            execution.progress(fresh.spent)
            finished = True
        return FrontRun(tested, search.spent + fresh.spent, finished)

    def _search(
        self, evaluator: Evaluator, budget: int, progress: Callable[[int], None]
    ) -> tuple[Floats, Noise]:
        """Search; return the points worth testing, all where evaluations are exact.

        With them goes what is known of the noise of the constraints.
        """
        problem, exact = self.problem, self.config.one_history
        test = 0 if exact else max(1, (budget // 2) // TEST_REPLICATIONS)
        rng = Streams(self.settings.seed).stream(0, SOLVER_SOURCE)
        archive = Archive(problem, test, evaluator.controls)
        task = SearchTask(problem, budget, rng, problem.start, archive)
        front = FrontSearch(task, self.objectives)
        search = Search(task, front.steps)
        while (request := search.ask()) is not None:
            before = evaluator.spent
            search.tell(request, evaluator.evaluate(request.unit, request.n))
            progress(evaluator.spent - before)
        known = archive.estimates()
        noise = known.noise or Noise.unknown(problem.constraints)
        noise = noise.take(slice(self.objectives - 1, None))
        if exact:
            return known.units, noise
        fewest, most = FINALISTS
        left = self.settings.budget - budget
        count = left // TEST_REPLICATIONS - len(problem.given)
        return front.finalists(min(most, max(fewest, count))), noise

    def _test(
        self, units: Floats, evaluator: Evaluator, left: int, noise: Noise
    ) -> list[CandidatePoint]:
        """Test points on fresh replications, and those that the config gives if enough are left."""
        points = [self.problem.point(unit) for unit in units]
        given = self.problem.given.values()
        others = [unit for unit in given if self.problem.point(unit) not in points]
        units = np.vstack([units, *others[: max(0, left - len(units))]])
        n, tested = min(MOST, left // len(units)), []
        for unit in units:
            outcomes = evaluator.evaluate(unit, n)
            bounded = np.delete(outcomes, range(1, self.objectives), 1)
            alone = AdjustedOutcomes(bounded, evaluator.controls)
            test = FeasibilityTest(unit, alone, self.settings.alpha, noise)
            sample = AdjustedOutcomes(outcomes, evaluator.controls)
            tested.append(CandidatePoint(unit, sample, test.passes))
        return tested

    def _seen(self, units: Floats, evaluator: Evaluator) -> list[CandidatePoint]:
        """Return evaluated points, whose outcomes are exact: the constraints hold or do not."""
        tested = []
        for unit in units:
            outcomes = evaluator.evaluate(unit, 1)
            # Not where one is undefined.
            holds = bool((outcomes[:, self.objectives :] <= 0.0).all())
            sample = AdjustedOutcomes(outcomes, evaluator.controls)
            tested.append(CandidatePoint(unit, sample, holds))
        return tested
