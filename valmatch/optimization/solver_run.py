"""One run of one solver within a budget of replications, each of which is made once."""

import math
import time
from collections.abc import Callable, Generator, Iterator, Mapping, MutableMapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain

import numpy as np

from valmatch.config.config import Config
from valmatch.draws.streams import Streams
from valmatch.execution.chunks import TARGET, Chunks, build, replicate_chunk
from valmatch.execution.executors import WorkerPool
from valmatch.execution.interruption import Stop, Stopped
from valmatch.kernels.arrays import Floats
from valmatch.models.model import Model, row_of
from valmatch.optimization.certification import (
    Certificate,
    Evaluate,
    Fresh,
    FreshReplications,
    certify_run,
    replications_of_test,
)
from valmatch.optimization.problem import Problem, with_factors
from valmatch.optimization.solvers.registry import SolverFactory, make, search_budget
from valmatch.optimization.solvers.search import (
    Archive,
    Controls,
    PointEstimates,
    Search,
    SearchTask,
    without_controls,
)

Address = tuple[float, ...]
Row = tuple[float, ...]
Rows = dict[Address, Row]

# (values of the variables, index of the replication) -> the responses that the problem names.
Journal = MutableMapping[Address, Row]

# Replications whose inputs stay in memory; later ones, which few points reach, are drawn anew.
STORED_INPUTS = 1_000

# Seconds of work from which on an evaluation is shared: long against handing it out.
LEAST_SECONDS = 0.05


class SharedPool:
    """Makes replications of one point by several workers; no replication depends on them."""

    def __init__(self, pool: WorkerPool, stop: Stop) -> None:
        self._pool, self._stop = pool, stop
        self._seconds = math.inf  # that a replication took here, at least

    def note(self, seconds: float) -> None:
        """Note the time that a replication took here; the first may have loaded compiled code."""
        self._seconds = min(self._seconds, seconds)

    def pays(self, n: int) -> bool:
        """Return whether sharing so many replications is faster, by those made here so far."""
        return n > 1 and LEAST_SECONDS <= n * self._seconds < math.inf

    def make(self, config: Config, seed: int, todo: range) -> Generator[Floats]:
        """Yield the responses of replications in order, as they are made."""
        size, left = max(1, int(TARGET / max(self._seconds, 1e-9))), len(todo)
        work = partial(replicate_chunk, config, seed, False)
        with closing(Chunks(self._pool, work, size).run(todo, self._stop)) as batches:
            for batch in batches:
                left -= len(batch.responses)
                yield batch.responses
        if left:
            raise Stopped


@dataclass(frozen=True)
class Execution:
    """How replications are made, on which no result depends."""

    # replications made by an earlier run, to which new ones are added
    journal: Journal | None = None
    # makes the replications of large evaluations; None: all are made here
    pool: SharedPool | None = None
    # called before each replication; ends the work by what it raises
    check: Callable[[], None] = lambda: None
    # called with the number of further replications done
    progress: Callable[[int], None] = lambda done: None
    # called with the best point so far in words
    best: Callable[[str], None] = lambda text: None


HERE = Execution()  # all replications are made here, and none is reported


class BudgetSpent(Exception):  # noqa: N818 - it is an event, not an error
    """Raised when an evaluation would take more replications than are left."""


class Evaluator:
    """Runs replications of points; all points meet the same replications."""

    def __init__(
        self,
        config: Config,
        problem: Problem,
        seed: int,
        first: int,
        budget: int,
        execution: Execution = HERE,
    ) -> None:
        self.budget = budget  # as given
        self.spent = 0  # replications of points so far
        self._config, self._problem, self._execution = config, problem, execution
        self._streams, self._first = Streams(seed), first
        self._model, self._names = build(config), problem.responses
        self._columns = [self._model.responses.names.index(name) for name in self._names]
        self._redraw = any(self._model.draws_by(v.name) for v in problem.variables)
        self._inputs: dict[int, object] = {}
        self._controls: list[Floats] = []
        self._known: dict[Address, Floats] = {}

    def evaluate(self, unit: Floats, n: int) -> Floats:
        """Return (n, 1 + constraints): the outcomes of the first replications of a point."""
        # Those that were made before cost nothing; where all are the same, one is made.
        values, made = self._problem.point(unit), 1 if self._config.one_history else n
        known = self._known_of(unit)
        missing = made - len(known)
        if missing > self.budget - self.spent:
            raise BudgetSpent
        if missing > 0:
            rows = list(self._rows(values, range(len(known), made)))
            self._known[tuple(values.values())] = np.concatenate([known, np.array(rows)])
            self.spent += missing
        return self._repeated(self._problem.outcomes, unit, n)

    def _known_of(self, unit: Floats) -> Floats:
        return self._known.get(self._problem.values(unit), np.empty((0, len(self._names))))

    def responses(self, units: Sequence[Floats]) -> Floats:
        """Return (points, responses): those of the problem in each point's first replication."""
        return np.array([self._known_of(unit)[0] for unit in units])

    def parts(self, unit: Floats, n: int) -> Floats:
        """Return (n, terms): the parts of the objective at a point that is evaluated."""
        return self._repeated(self._problem.parts, unit, n)

    def _repeated(
        self, outcomes_of: Callable[[Mapping[str, Floats]], Floats], unit: Floats, n: int
    ) -> Floats:
        """Return what follows from the first replications of a point, of which one may be all."""
        made = self._known_of(unit)[: 1 if self._config.one_history else n]
        outcomes = outcomes_of(dict(zip(self._names, made.T, strict=True)))
        return np.repeat(outcomes, n, axis=0) if len(outcomes) < n else outcomes

    def controls(self, n: int) -> tuple[Floats, Floats]:
        """Return (n, controls): the control variates of replications, with their expectations."""
        # They do not depend on the point; there are none where the variables enter the draws.
        model = self._model
        if self._redraw or not model.controls:
            return without_controls(n)
        for k in range(len(self._controls), n):
            self._controls.append(model.observe(self._draw(model, k)))
        return np.array(self._controls[:n]), np.array(list(model.controls.values()))

    def _rows(self, values: Mapping[str, float], todo: range) -> Iterator[Row]:
        """Yield the responses of a point's replications, large evaluations by the pool."""
        model = build(self._config, with_factors(self._config, values))
        point, pool = tuple(values.values()), self._execution.pool
        journal = {} if self._execution.journal is None else self._execution.journal
        while todo:
            if pool and pool.pays(len(todo)):
                known = (n for n, k in enumerate(todo) if (*point, self._first + k) in journal)
                fresh = todo[: next(known, len(todo))]
                if pool.pays(len(fresh)):
                    config = replace(self._config, factors=with_factors(self._config, values))
                    indices = range(self._first + fresh.start, self._first + fresh.stop)
                    made = pool.make(config, self._streams.seed, indices)
                    rows = chain.from_iterable(of[:, self._columns].tolist() for of in made)
                    for row, index in zip(map(tuple, rows), indices, strict=False):
                        journal[(*point, index)] = row
                        yield row
                    todo = todo[len(fresh) :]
                    continue
            yield self._replication(model, point, todo[0])
            todo = todo[1:]

    def _replication(self, model: Model[object], point: Address, k: int) -> Row:
        """Return the responses of a point's k-th replication: from the journal, or made."""
        self._execution.check()
        address, journal = (*point, self._first + k), self._execution.journal
        if journal is not None and address in journal:
            return journal[address]
        started = time.perf_counter()
        responses = row_of(model, model.run(self._draw(model, k)).responses)
        if self._execution.pool:
            self._execution.pool.note(time.perf_counter() - started)
        row = tuple(responses[self._columns].tolist())
        if journal is not None:
            journal[address] = row
        return row

    def _draw(self, model: Model[object], k: int) -> object:
        """Return the inputs of a point's k-th replication, kept unless the point enters them."""
        if self._redraw or k >= STORED_INPUTS:
            return model.draw(self._streams, self._first + k)
        if k not in self._inputs:
            self._inputs[k] = model.draw(self._streams, self._first + k)
        return self._inputs[k]


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

    def best(self, problem: Problem, alpha: float) -> Certificate:
        """Return the best feasible point of a problem; without one, that of least violation."""
        outcomes = problem.outcomes(dict(zip(self.names, self.responses.T, strict=True)))
        defined = np.logical_not(np.isnan(outcomes).any(axis=1))
        means = np.where(defined[:, None], outcomes, 0.0)
        none, counts = np.zeros_like(means), np.ones(len(means), np.int64)
        best = int(PointEstimates(self.units, counts, means, none, none[0], defined).ranking()[0])
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
    config: Config, problem: Problem, task: RunSpec, settings: Settings, execution: Execution = HERE
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
        known = Evaluated(problem.responses, np.array(units), evaluated.responses(units))
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
            best = evaluations[-1].incumbent  # by what was seen of it
            seen = (of.mean for of in reversed(evaluations) if np.array_equal(of.unit, best))
            objective, *excesses = next(seen, mean).tolist()
            infeasible = "" if max(excesses, default=0.0) <= 0 else ", infeasible"
            execution.best(f"best so far {objective:.4g}{infeasible}")
            before = spent
    return evaluations
