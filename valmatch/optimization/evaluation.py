"""Evaluation of points by replications with common random numbers, each made once."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping

import numpy as np
from numpy.typing import NDArray

from valmatch.config.config import Config
from valmatch.model import Model, row_of
from valmatch.optimization.problem import Problem
from valmatch.optimization.problem_of_config import with_factors
from valmatch.simulator import build
from valmatch.streams import Streams

__all__ = ["BudgetSpent", "Evaluator", "Journal"]

Floats = NDArray[np.float64]

Journal = MutableMapping[tuple[float, ...], tuple[float, ...]]
"""(values of the variables, index of the replication) -> the responses that the problem names."""


KEPT = 1_000
"""Replications whose inputs are kept; later ones, which few points reach, are drawn anew."""


class BudgetSpent(Exception):  # noqa: N818 - it is an event, not an error
    """Raised when an evaluation would take more replications than are left."""


class Evaluator:
    """Runs replications of points; all points meet the same replications.

    Parameters
    ----------
    config : Config
        The config whose factors the points replace.
    problem : Problem
        What is optimised.
    seed : int
        Seed of all random numbers.
    first : int
        Index of the first replication: a point's k-th replication has the index first + k.
    budget : int
        Replications that may be run.
    journal : Journal or None
        Replications made by an earlier run, to which new ones are added.
    check : callable
        Called before each replication; ends the evaluation by what it raises.

    Attributes
    ----------
    budget : int
        As given.
    spent : int
        Replications of points so far.
    """

    def __init__(
        self,
        config: Config,
        problem: Problem,
        seed: int,
        first: int,
        budget: int,
        journal: Journal | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self.budget = budget
        self.spent = 0
        self._config, self._problem, self._journal = config, problem, journal
        self._check = check
        self._streams, self._first = Streams(seed), first
        model = build(config)
        self._names = problem.responses
        self._columns = [model.responses.names.index(name) for name in self._names]
        self._redraw = any(model.draws_by(v.name) for v in problem.variables)
        self._inputs: dict[int, object] = {}
        self._known: dict[tuple[float, ...], Floats] = {}

    def evaluate(self, unit: Floats, n: int) -> Floats:
        """Return the outcomes of the first `n` replications of a point of the unit cube.

        Replications of the point that were made before cost nothing; where all are the same, one
        is made.

        Returns
        -------
        (n, 1 + constraints) float64
            See `Problem.outcomes`.

        Raises
        ------
        BudgetSpent
            If the budget does not allow them; nothing is run then.
        """
        values = self._problem.point(unit)
        point = tuple(values.values())
        known = self._known.get(point, np.empty((0, len(self._names))))
        made = 1 if self._config.one_history else n
        missing = made - len(known)
        if missing > self.budget - self.spent:
            raise BudgetSpent
        if missing > 0:
            model = build(self._config, with_factors(self._config, values))
            rows = [self._replication(model, point, k) for k in range(len(known), made)]
            known = np.concatenate([known, np.array(rows)])
            self._known[point] = known
            self.spent += missing
        outcomes = self._problem.outcomes(dict(zip(self._names, known[:made].T, strict=True)))
        return np.repeat(outcomes, n, axis=0) if made < n else outcomes

    def _replication(
        self, model: Model[object], point: tuple[float, ...], k: int
    ) -> tuple[float, ...]:
        """Return the responses of a point's k-th replication: from the journal, or made."""
        self._check()
        address = (*point, self._first + k)
        if self._journal is not None and address in self._journal:
            return self._journal[address]
        responses = row_of(model, model.run(self._draw(model, k)).responses)
        row = tuple(responses[self._columns].tolist())
        if self._journal is not None:
            self._journal[address] = row
        return row

    def _draw(self, model: Model[object], k: int) -> object:
        """Return the inputs of a point's k-th replication, kept unless the point enters them."""
        if self._redraw or k >= KEPT:
            return model.draw(self._streams, self._first + k)
        if k not in self._inputs:
            self._inputs[k] = model.keep(model.draw(self._streams, self._first + k))
        return self._inputs[k]
