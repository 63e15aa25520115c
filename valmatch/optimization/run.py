"""One run of one solver: search, then certification, within a budget of replications."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from valmatch.arrays import Floats
from valmatch.config.config import Config
from valmatch.draws.streams import Streams
from valmatch.optimization.certification import Bench, certify_run
from valmatch.optimization.controls import Controls
from valmatch.optimization.crew import Crew
from valmatch.optimization.evaluation import BudgetSpent, Evaluator, Journal
from valmatch.optimization.exact import Evaluated
from valmatch.optimization.problem import Problem
from valmatch.optimization.selection import Certificate, Evaluate, replications_of_test
from valmatch.optimization.solvers.own import SolverFactory
from valmatch.optimization.solvers.registry import make, search_budget

SOLVER_SOURCE = 1_000_000
"""Source of a solver's own random numbers, beyond those of any model."""

RUN, STAGE = 1 << 40, 1 << 38
"""Replications of a run, and of each of its stages, start at multiples of these."""


@dataclass(frozen=True)
class RunSpec:
    """One run to be made.

    Attributes
    ----------
    solver : str
        Its name.
    macrorep : int
        Index of the run among those of this solver; runs of the same index meet the same
        replications, whatever the solver.
    factory : callable or None
        Makes the solver, if it was given as a function.
    """

    solver: str
    macrorep: int
    factory: SolverFactory | None = None


@dataclass(frozen=True)
class Settings:
    """What all runs have in common.

    Attributes
    ----------
    budget : int
        Replications of a run, search and certification, as many as `RANGES` allow.
    seed : int
        Seed of all random numbers.
    alpha : float
        Probability of calling an infeasible point feasible, at most.
    """

    budget: int
    seed: int
    alpha: float


@dataclass(frozen=True)
class Evaluation:
    """One request of the search.

    Attributes
    ----------
    unit : numpy.ndarray
        The point in the unit cube.
    n : int
        Replications it has now.
    mean : numpy.ndarray
        (1 + constraints,): mean outcomes; NaN where a replication is undefined.
    spent : int
        Replications that the search has taken so far.
    incumbent : numpy.ndarray
        What the solver would recommend now.
    """

    unit: Floats
    n: int
    mean: Floats
    spent: int
    incumbent: Floats


@dataclass(frozen=True)
class SolverRun:
    """A finished run.

    Attributes
    ----------
    task : RunSpec
        What was run.
    evaluations : list of Evaluation
        The requests of the search in order.
    certificate : Certificate
        The point that the run came to and its test.
    spent : int
        Replications in all.
    failure : str
        What ended the search too early, "" if nothing did.
    ended : str
        Why budget is left where evaluations are exact, "" if none is.
    exact : Evaluated or None
        All that was evaluated, where evaluations are exact.
    """

    task: RunSpec
    evaluations: list[Evaluation]
    certificate: Certificate
    spent: int
    failure: str = ""
    ended: str = ""
    exact: Evaluated | None = None


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
    journal: Journal | None = None,
    progress: Callable[[int], None] = lambda done: None,
    check: Callable[[], None] = lambda: None,
    crew: Crew | None = None,
) -> SolverRun:
    """Search with one solver and certify what it found.

    Parameters
    ----------
    config : Config
        What is simulated.
    problem : Problem
        What is optimised.
    task : RunSpec
        The solver and the index of the run.
    settings : Settings
        What all runs have in common.
    journal : Journal or None
        Replications made before; new ones are added.
    progress : callable
        Called with the number of further replications done.
    check : callable
        Called before each replication; ends the run by what it raises.
    crew : Crew or None
        Makes the replications of large evaluations; None: all are made here.
    """
    budget, seed = settings.budget, settings.seed
    base = task.macrorep * RUN

    def evaluator(stage: int, limit: int, start: int = 0) -> Evaluator:
        first = base + stage * STAGE + start
        return Evaluator(config, problem, seed, first, limit, journal, check, crew)

    exact, known = config.one_history, None  # where exact, there is nothing fresh to test on
    # A search of one's own may never look at today's rule.
    unseen = len(problem.given) - 1 if task.factory else 0
    search = evaluator(0, budget - unseen if exact else search_budget(budget))
    rng = Streams(seed).stream(task.macrorep, SOLVER_SOURCE)
    test = 0 if exact else replications_of_test(budget - search.budget)
    solver = make(
        task.solver,
        problem,
        search.budget,
        rng,
        problem.start,
        test,
        task.factory,
        search.controls,
        search.parts,
    )
    evaluations: list[Evaluation] = []
    while (request := solver.ask()) is not None:
        before = search.spent
        try:
            outcomes = search.evaluate(request.unit, request.n)
        except BudgetSpent:
            break
        solver.tell(request, outcomes)
        incumbent = solver.incumbent()
        mean = outcomes.mean(axis=0)
        evaluations.append(Evaluation(request.unit, request.n, mean, search.spent, incumbent))
        progress(search.spent - before)
    # Where the solver stops early, what it leaves goes to certification.
    left = budget - search.spent
    if exact:
        search.budget = budget
        known = _evaluated(search, problem, [one.unit for one in evaluations])
        certificate = known.best(problem, settings.alpha)
        left = budget - search.spent
    else:

        def fresh(stage: int) -> Callable[[int], tuple[Evaluate, Controls]]:
            @cache
            def of(start: int) -> tuple[Evaluate, Controls]:
                tested = evaluator(stage, left, start)
                return tested.evaluate, tested.controls

            return of

        bench = Bench(fresh(1), fresh(2), left, settings.alpha, test)
        certificate = certify_run(problem, solver, bench)
    progress(certificate.spent)
    spent, ended = search.spent + certificate.spent, ""
    if exact and left and not solver.failure:
        ended = f"after {spent:,} of {budget:,} evaluations the search knew no new point to look at"
    return SolverRun(task, evaluations, certificate, spent, solver.failure, ended, known)


def _evaluated(search: Evaluator, problem: Problem, units: Sequence[Floats]) -> Evaluated:
    """Return the points that a search has evaluated, and those that the config gives."""
    given = list(problem.given.values())
    for unit in given:
        search.evaluate(unit, 1)
    points = [(unit, search.responses(unit)) for unit in [*units, *given]]
    return Evaluated.of(problem.responses, points)
