"""Rounds of a local search, each finer and more precise than the one before."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.optimization.solvers.inversion import EvaluateRequest, inverted
from valmatch.optimization.solvers.penalty import Scales, first_looks
from valmatch.optimization.solvers.search import Request, SearchTask, Steps

RADIUS = 0.2
FINEST = 0.02

# Minimises from a point within a radius; asks for the outcomes of points.
Local: TypeAlias = Callable[[Callable[[Floats], Floats], Floats, float, Scales], None]


def rounds(task: SearchTask, local: Local) -> Steps:
    """Search around the best of the first points, again with more replications, until the end.

    Where evaluations are exact, more replications show nothing: once a search is as fine as it
    gets, the next one starts from a random point.
    """
    n = task.replications()
    yield from first_looks(task, n)
    scales = Scales.of(task.archive)

    def minimise(evaluate: EvaluateRequest) -> None:
        count, radius, first = n, RADIUS, 0
        while True:
            estimates = task.archive.estimates()
            estimates = estimates.take(range(first, len(estimates.units)))
            start = estimates.units[estimates.ranking()[0]]
            local(_outcomes(evaluate, count), start, radius, scales)
            if task.exact and radius == FINEST:
                evaluate(Request(task.rng.random(task.dimensions), n))
                count, radius, first = n, RADIUS, len(task.archive) - 1
            else:
                count, radius = 2 * count, max(FINEST, radius / 2)

    yield from inverted(minimise)


def _outcomes(evaluate: EvaluateRequest, n: int) -> Callable[[Floats], Floats]:
    return lambda unit: evaluate(Request(np.clip(unit, 0.0, 1.0), n))
