"""Evaluation of points by replications with common random numbers, each made once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass

import numpy as np

from valmatch.config.config import Config
from valmatch.draws.streams import Streams
from valmatch.execution.chunks import build
from valmatch.kernels.arrays import Floats
from valmatch.models.model import Model, row_of
from valmatch.optimization.problem import Problem
from valmatch.optimization.problem_of_config import with_factors
from valmatch.optimization.shared_pool import SharedPool

Journal = MutableMapping[tuple[float, ...], tuple[float, ...]]
"""(values of the variables, index of the replication) -> the responses that the problem names."""

STORED_INPUTS = 1_000
"""Replications whose inputs stay in memory; later ones, which few points reach, are drawn anew."""


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
        self._config, self._problem = config, problem
        self._journal, self._pool, self._check = execution.journal, execution.pool, execution.check
        self._streams, self._first = Streams(seed), first
        self._model = model = build(config)
        self._names = problem.responses
        self._columns = [model.responses.names.index(name) for name in self._names]
        self._redraw = any(model.draws_by(v.name) for v in problem.variables)
        self._inputs: dict[int, object] = {}
        self._controls: list[Floats] = []
        self._known: dict[tuple[float, ...], Floats] = {}

    def evaluate(self, unit: Floats, n: int) -> Floats:
        """Return the outcomes of the first `n` replications of a point of the unit cube.

        Replications of the point that were made before cost nothing; where all are the same, one
        is made.

        Shapes: returns (n, 1 + constraints).
        """
        values = self._problem.point(unit)
        point = tuple(values.values())
        known = self._known.get(point, np.empty((0, len(self._names))))
        made = 1 if self._config.one_history else n
        missing = made - len(known)
        if missing > self.budget - self.spent:
            raise BudgetSpent
        if missing > 0:
            rows = list(self._rows(values, point, range(len(known), made)))
            known = np.concatenate([known, np.array(rows)])
            self._known[point] = known
            self.spent += missing
        outcomes = self._problem.outcomes(dict(zip(self._names, known[:made].T, strict=True)))
        return np.repeat(outcomes, n, axis=0) if made < n else outcomes

    def responses(self, unit: Floats) -> Floats:
        """Return the responses that the problem names in a known point's first replication."""
        row: Floats = self._known[tuple(self._problem.point(unit).values())][0]
        return row

    def parts(self, unit: Floats, n: int) -> Floats:
        """Return the parts of the objective in the first `n` replications of an evaluated point.

        Shapes: returns (n, terms).
        """
        known = self._known[tuple(self._problem.point(unit).values())]
        parts = self._problem.parts(dict(zip(self._names, known[:n].T, strict=True)))
        return np.repeat(parts, n, axis=0) if len(parts) < n else parts

    def controls(self, n: int) -> tuple[Floats, Floats]:
        """Return the control variates of the first `n` replications, with their expectations.

        They do not depend on the point; there are none where the variables enter the draws.

        Shapes: returns (n, controls).
        """
        model = self._model
        if self._redraw or not model.controls:
            return np.empty((n, 0)), np.empty(0)
        for k in range(len(self._controls), n):
            inputs, controls = model.observe(self._draw(model, k))
            model.keep(inputs)
            self._controls.append(controls())
        return np.array(self._controls[:n]), np.array(list(model.controls.values()))

    def _rows(
        self, values: Mapping[str, float], point: tuple[float, ...], todo: range
    ) -> Iterator[tuple[float, ...]]:
        """Yield the responses of a point's replications, large evaluations by the pool."""
        model = build(self._config, with_factors(self._config, values))
        pool, journal = self._pool, self._journal or {}
        while todo:
            if pool and pool.pays(len(todo)):
                known = (n for n, k in enumerate(todo) if (*point, self._first + k) in journal)
                fresh = todo[: next(known, len(todo))]
                if pool.pays(len(fresh)):
                    todo = todo[len(fresh) :]
                    yield from self._shared(pool, values, point, fresh)
                    continue
            yield self._replication(model, point, todo[0])
            todo = todo[1:]

    def _shared(
        self, pool: SharedPool, values: Mapping[str, float], point: tuple[float, ...], todo: range
    ) -> Iterator[tuple[float, ...]]:
        """Yield the responses of a point's replications, made by the pool."""
        places = range(self._first + todo.start, self._first + todo.stop)
        index = places.start
        for rows in pool.make(self._config, values, self._streams.seed, self._columns, places):
            for row in map(tuple, rows.tolist()):
                if self._journal is not None:
                    self._journal[(*point, index)] = row
                index += 1
                yield row

    def _replication(
        self, model: Model[object], point: tuple[float, ...], k: int
    ) -> tuple[float, ...]:
        """Return the responses of a point's k-th replication: from the journal, or made."""
        self._check()
        address = (*point, self._first + k)
        if self._journal is not None and address in self._journal:
            return self._journal[address]
        started = time.perf_counter()
        responses = row_of(model, model.run(self._draw(model, k)).responses)
        if self._pool:
            self._pool.note(time.perf_counter() - started)
        row = tuple(responses[self._columns].tolist())
        if self._journal is not None:
            self._journal[address] = row
        return row

    def _draw(self, model: Model[object], k: int) -> object:
        """Return the inputs of a point's k-th replication, kept unless the point enters them."""
        if self._redraw or k >= STORED_INPUTS:
            return model.draw(self._streams, self._first + k)
        if k not in self._inputs:
            self._inputs[k] = model.keep(model.draw(self._streams, self._first + k))
        return self._inputs[k]
