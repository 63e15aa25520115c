"""Simultaneous-perturbation stochastic approximation, with a penalty."""

from __future__ import annotations

import numpy as np

from valmatch.optimization.solvers.penalty import Scales, first_looks
from valmatch.optimization.solvers.search import Request, SearchTask, Steps

# Exponents of the gains and the share of the iterations that stabilises them: Spall (1998),
# "Implementation of the simultaneous perturbation algorithm", section III.
ALPHA = 0.602
GAMMA = 0.101
STABILITY = 0.1

PERTURBATION = 0.1
FIRST_STEP = 0.1


def spsa(task: SearchTask) -> Steps:
    """Follow gradients estimated from pairs of points on opposite sides of the current one.

    The first step moves each coordinate by `FIRST_STEP` on average; steps shrink from there.
    """
    n = task.replications()
    yield from first_looks(task, n)
    scales = Scales.of(task.archive)
    estimates = task.archive.estimates()
    unit = estimates.units[estimates.ranking()[0]]
    iterations = max(1, task.left // (3 * n))
    stability = STABILITY * iterations
    gain = 0.0
    for k in range(iterations):
        width = PERTURBATION / (k + 1) ** GAMMA
        signs = task.rng.choice([-1.0, 1.0], task.dimensions)
        values = []
        for side in (1.0, -1.0):
            outcomes = yield Request(np.clip(unit + side * width * signs, 0.0, 1.0), n)
            values.append(scales.penalised(outcomes))
        slope = (values[0] - values[1]) / (2 * width)
        if gain == 0.0 and slope != 0.0:
            gain = FIRST_STEP / abs(slope) * (k + 1 + stability) ** ALPHA
        step = gain / (k + 1 + stability) ** ALPHA * slope * signs
        unit = np.clip(unit - np.clip(step, -FIRST_STEP, FIRST_STEP), 0.0, 1.0)
        yield Request(unit, n)
