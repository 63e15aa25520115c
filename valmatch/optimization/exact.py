"""Exact evaluations, as on one log, and the best point among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from valmatch.arrays import Floats
from valmatch.optimization.problem import Problem
from valmatch.optimization.selection import Certificate
from valmatch.optimization.solvers.search import PointEstimates


@dataclass(frozen=True)
class Evaluated:
    """Points whose responses are known exactly.

    Attributes
    ----------
    names : sequence of str
        The responses.
    units : numpy.ndarray
        (points, variables): in the unit cube, in the order of their evaluation.
    responses : numpy.ndarray
        (points, responses).
    """

    names: Sequence[str]
    units: Floats
    responses: Floats

    @classmethod
    def of(cls, names: Sequence[str], points: Sequence[tuple[Floats, Floats]]) -> Evaluated:
        """Return points, each given with its responses; the same unit counts once."""
        once: Mapping[bytes, tuple[Floats, Floats]] = {one[0].tobytes(): one for one in points}
        units, responses = (np.array(side) for side in zip(*once.values(), strict=True))
        return cls(names, units, responses)

    def followed_by(self, others: Sequence[Evaluated]) -> Evaluated:
        """Return these points, then those of others."""
        several = [self, *others]
        return Evaluated(
            self.names,
            np.vstack([one.units for one in several]),
            np.vstack([one.responses for one in several]),
        )

    def best(self, problem: Problem, alpha: float) -> Certificate:
        """Return the best feasible point of a problem; without one, that of least violation.

        Parameters
        ----------
        problem : Problem
            What is optimised, in terms of these responses; of equal points the first is taken.
        alpha : float
            Probability of calling an infeasible point feasible, at most.
        """
        outcomes = problem.outcomes(dict(zip(self.names, self.responses.T, strict=True)))
        defined = np.logical_not(np.isnan(outcomes).any(axis=1))
        means = np.where(defined[:, None], outcomes, 0.0)
        none, counts = np.zeros_like(means), np.ones(len(means), np.int64)
        known = PointEstimates(self.units, counts, means, none, none[0], defined)
        place = int(known.ranking()[0])
        found = outcomes[place : place + 1]
        feasible = bool((found <= 0.0)[:, 1:].all() and defined[place])
        undefined = int(not defined[place])
        return Certificate(self.units[place], found, found, feasible, undefined, 0, alpha)
