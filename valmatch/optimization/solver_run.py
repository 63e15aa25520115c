"""One run of one solver: search, then certification, within a budget of replications.

Where evaluations are exact, as on one log, the best of the evaluated points needs no certification.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

import numpy as np

from valmatch.config.config import Config
from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Floats
from valmatch.optimization.certification import (
    Certificate,
    Evaluate,
    Fresh,
    FreshReplications,
    certify_run,
    replications_of_test,
)
from valmatch.optimization.evaluation import HERE, BudgetSpent, Evaluator, Execution
from valmatch.optimization.problem import Problem
from valmatch.optimization.solvers.archive import Archive, Controls, PointEstimates
from valmatch.optimization.solvers.registry import SolverFactory, make, search_budget
from valmatch.optimization.solvers.search import Search, SearchTask

SOLVER_SOURCE = 1_000_000  # source of a solver's own random numbers, beyond those of any model

# Replications of a run, and of each of its stages, start at multiples of these.
RUN, STAGE = 1 << 40, 1 << 38


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

    def followed_by(self, others: Sequence[Evaluated]) -> Evaluated:
        """Return these points, then those of others."""
        units, responses = zip(*((p.units, p.responses) for p in (self, *others)), strict=True)
        return Evaluated(self.names, np.vstack(units), np.vstack(responses))

    def best(self, problem: Problem, alpha: float) -> Certificate:
        """Return the best feasible point of a problem; without one, that of least violation."""
        outcomes = problem.outcomes(dict(zip(self.names, self.responses.T, strict=True)))
        defined = np.logical_not(np.isnan(outcomes).any(axis=1))
        means = np.where(defined[:, None], outcomes, 0.0)
        none, counts = np.zeros_like(means), np.ones(len(means), np.int64)
        known = PointEstimates(self.units, counts, means, none, none[0], defined)
        best = int(known.ranking()[0])
        row = outcomes[best : best + 1]
        feasible = bool((row <= 0.0)[:, 1:].all() and defined[best])
        return Certificate(self.units[best], row, row, feasible, int(not defined[best]), 0, alpha)


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
    """Search with one solver and certify what it recommends."""
    budget, exact, baselines = settings.budget, config.one_history, problem.baselines

    def evaluator(stage: int, limit: int, start: int = 0) -> Evaluator:
        first = task.macrorep * RUN + stage * STAGE + start
        return Evaluator(config, problem, settings.seed, first, limit, execution)

    # The search of a user may never look at today's rule.
    unseen = len(baselines) - 1 if task.factory else 0
    evaluated = evaluator(0, budget - unseen if exact else search_budget(budget))
    # Where evaluations are exact, there is nothing fresh to test on.
    tested = 0 if exact else replications_of_test(budget - evaluated.budget)
    archive = Archive(problem, tested, evaluated.controls, evaluated.parts)
    rng = Streams(settings.seed).stream(task.macrorep, SOLVER_SOURCE)
    search = make(
        task.solver,
        SearchTask(problem, evaluated.budget, rng, problem.start, archive),
        task.factory,
    )
    evaluations = run_search(search, evaluated, execution)
    known, failure, ended = None, search.task.failure, ""
    if exact:
        evaluated.budget = budget
        for unit in baselines.values():
            evaluated.evaluate(unit, 1)
        units = [*(evaluation.unit for evaluation in evaluations), *baselines.values()]
        units = list({unit.tobytes(): unit for unit in units}.values())  # each once
        responses = np.array([evaluated.responses(unit) for unit in units])
        known = Evaluated(problem.responses, np.array(units), responses)
        certificate = known.best(problem, settings.alpha)
    else:

        def fresh(stage: int) -> Fresh:
            @cache
            def evaluations_from(start: int) -> tuple[Evaluate, Controls]:
                test = evaluator(stage, left, start)
                return test.evaluate, test.controls

            return evaluations_from

        left = budget - evaluated.spent  # with what the solver left where it stopped early
        replications = FreshReplications(fresh(1), fresh(2), left, settings.alpha, tested)
        certificate = certify_run(problem, search, replications)
    execution.progress(certificate.spent)
    spent = evaluated.spent + certificate.spent
    if exact and evaluated.spent < budget and not failure:
        ended = f"after {spent:,} of {budget:,} evaluations the search knew no new point to look at"
    return SolverRun(task, evaluations, certificate, spent, failure, ended, known)


def run_search(search: Search, evaluator: Evaluator, execution: Execution) -> list[Evaluation]:
    """Evaluate what a solver asks for until it has done or the budget is spent."""
    evaluations: list[Evaluation] = []
    before = evaluator.spent
    with suppress(BudgetSpent):
        for request, outcomes in search.run(evaluator.evaluate):
            mean, spent = outcomes.mean(axis=0), evaluator.spent
            evaluations.append(Evaluation(request.unit, request.n, mean, spent, search.incumbent()))
            execution.progress(spent - before)
            execution.best(_best_so_far(evaluations))
            before = spent
    return evaluations


def _best_so_far(evaluations: Sequence[Evaluation]) -> str:
    """Say what the point that a search would recommend now has, by what it has seen."""
    incumbent = evaluations[-1].incumbent
    seen = (of.mean for of in reversed(evaluations) if np.array_equal(of.unit, incumbent))
    objective, *excesses = next(seen, evaluations[-1].mean).tolist()
    return f"best so far {objective:.4g}{'' if max(excesses, default=0.0) <= 0 else ', infeasible'}"
