"""Evaluation of points by replications with common random numbers, each made once."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping, MutableMapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial

import numpy as np

from valmatch.config.config import Config
from valmatch.draws.streams import Streams
from valmatch.execution.chunks import TARGET, Chunks, build, run
from valmatch.execution.executors import WorkerPool
from valmatch.execution.interruption import Stop, Stopped
from valmatch.kernels.arrays import Floats
from valmatch.models.model import Model, row_of
from valmatch.optimization.problem import Problem
from valmatch.optimization.problem_of_config import with_factors

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
        self._seconds: float | None = None  # of a replication made here

    def note(self, seconds: float) -> None:
        """Note the time that a replication took here, recent ones counting most."""
        if self._seconds is None:
            self._seconds = 0.0  # the first one may have loaded the compiled code
        else:
            self._seconds = 0.5 * (self._seconds + seconds) if self._seconds else seconds

    def pays(self, n: int) -> bool:
        """Return whether sharing so many replications is faster, by those made here so far."""
        return n > 1 and n * (self._seconds or 0.0) >= LEAST_SECONDS

    def make(
        self,
        config: Config,
        values: Mapping[str, float],
        seed: int,
        columns: Sequence[int],
        todo: range,
    ) -> Generator[Floats]:
        """Yield the rows of a point's replications in order, as they are made."""
        size = max(1, int(TARGET / (self._seconds or TARGET)))
        work = partial(_replications, config, dict(values), seed, list(columns))
        left = len(todo)
        with closing(Chunks(self._pool, work, size).run(todo, self._stop)) as pieces:
            for rows in pieces:
                left -= len(rows)
                yield rows
        if left:
            raise Stopped


def _replications(
    config: Config,
    values: Mapping[str, float],
    seed: int,
    columns: Sequence[int],
    replications: range,
    check: Callable[[], None] = lambda: None,
) -> tuple[Floats, float]:
    """Make replications of a point in a worker; return them and the seconds they took."""
    started = time.perf_counter()
    model = build(config, with_factors(config, values))
    rows = run(model, seed, replications, check=check).responses[:, columns]
    return rows, time.perf_counter() - started


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
        self._model = model = build(config)
        self._names = problem.responses
        self._columns = [model.responses.names.index(name) for name in self._names]
        self._redraw = any(model.draws_by(v.name) for v in problem.variables)
        self._inputs: dict[int, object] = {}
        self._controls: list[Floats] = []
        self._known: dict[Address, Floats] = {}

    def evaluate(self, unit: Floats, n: int) -> Floats:
        """Return (n, 1 + constraints): the outcomes of the first replications of a point."""
        # Those that were made before cost nothing; where all are the same, one is made.
        values = self._problem.point(unit)
        point = tuple(values.values())
        known = self._known.get(point, np.empty((0, len(self._names))))
        made = 1 if self._config.one_history else n
        missing = made - len(known)
        if missing > self.budget - self.spent:
            raise BudgetSpent
        if missing > 0:
            rows = list(self._rows(values, range(len(known), made)))
            self._known[point] = np.concatenate([known, np.array(rows)])
            self.spent += missing
        return self._repeated(self._problem.outcomes, unit, n)

    def responses(self, unit: Floats) -> Floats:
        """Return the responses that the problem names in a known point's first replication."""
        row: Floats = self._known[self._problem.values(unit)][0]
        return row

    def parts(self, unit: Floats, n: int) -> Floats:
        """Return (n, terms): the parts of the objective at a point that is evaluated."""
        return self._repeated(self._problem.parts, unit, n)

    def _repeated(
        self, outcomes_of: Callable[[Mapping[str, Floats]], Floats], unit: Floats, n: int
    ) -> Floats:
        """Return what follows from the first replications of a point, of which one may be all."""
        point = self._problem.values(unit)
        known = self._known.get(point, np.empty((0, len(self._names))))
        made = known[: 1 if self._config.one_history else n]
        outcomes = outcomes_of(dict(zip(self._names, made.T, strict=True)))
        return np.repeat(outcomes, n, axis=0) if len(outcomes) < n else outcomes

    def controls(self, n: int) -> tuple[Floats, Floats]:
        """Return (n, controls): the control variates of replications, with their expectations."""
        # They do not depend on the point; there are none where the variables enter the draws.
        model = self._model
        if self._redraw or not model.controls:
            return np.empty((n, 0)), np.empty(0)
        for k in range(len(self._controls), n):
            self._controls.append(model.observe(self._draw(model, k)))
        return np.array(self._controls[:n]), np.array(list(model.controls.values()))

    def _rows(self, values: Mapping[str, float], todo: range) -> Iterator[Row]:
        """Yield the responses of a point's replications, large evaluations by the pool."""
        model = build(self._config, with_factors(self._config, values))
        point, pool = tuple(values.values()), self._execution.pool
        journal = self._execution.journal or {}
        while todo:
            if pool and pool.pays(len(todo)):
                known = (n for n, k in enumerate(todo) if (*point, self._first + k) in journal)
                fresh = todo[: next(known, len(todo))]
                if pool.pays(len(fresh)):
                    yield from self._shared(pool, values, fresh)
                    todo = todo[len(fresh) :]
                    continue
            yield self._replication(model, point, todo[0])
            todo = todo[1:]

    def _shared(self, pool: SharedPool, values: Mapping[str, float], todo: range) -> Iterator[Row]:
        """Yield the responses of a point's replications, made by the pool."""
        indices = range(self._first + todo.start, self._first + todo.stop)
        index, journal = indices.start, self._execution.journal
        for rows in pool.make(self._config, values, self._streams.seed, self._columns, indices):
            for row in map(tuple, rows.tolist()):
                if journal is not None:
                    journal[(*values.values(), index)] = row
                index += 1
                yield row

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
