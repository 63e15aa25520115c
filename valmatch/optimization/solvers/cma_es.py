"""The evolution strategy CMA-ES, as implemented in the package cmaes, with a penalty."""

from __future__ import annotations

import numpy as np

from valmatch.optimization.solvers.penalty import Scales, first_looks
from valmatch.optimization.solvers.search import Request, SearchTask, Steps

STEP = 0.2


def cma_es(task: SearchTask) -> Steps:
    """Run CMA-ES, restarted with twice the replications where it has converged."""
    from cmaes import CMA

    n = task.replications()
    yield from first_looks(task, n)
    scales = Scales.of(task.archive)
    # The strategy needs two dimensions; a second one that does nothing serves a single variable.
    dimensions = max(2, task.dimensions)
    while True:
        estimates = task.archive.estimates()
        best = estimates.units[estimates.ranking()[0]]
        strategy = CMA(
            mean=np.resize(best, dimensions),
            sigma=STEP,
            bounds=np.tile([0.0, 1.0], (dimensions, 1)),
            seed=int(task.rng.integers(2**31)),
        )
        while not strategy.should_stop():
            generation = []
            for _ in range(strategy.population_size):
                unit = strategy.ask()
                outcomes = yield Request(unit[: task.dimensions], n)
                generation.append((unit, scales.penalised(outcomes)))
            strategy.tell(generation)
        n *= 2
