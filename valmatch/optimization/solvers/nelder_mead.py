"""The simplex search of Nelder and Mead, as implemented in scipy, with a penalty."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.optimization.solvers.penalty import Scales
from valmatch.optimization.solvers.rounds import FINEST, rounds
from valmatch.optimization.solvers.search import SearchTask, Steps


def nelder_mead(task: SearchTask) -> Steps:
    """Run Nelder-Mead in rounds of growing precision."""
    return rounds(task, _local)


def _local(
    evaluate: Callable[[Floats], Floats], start: Floats, radius: float, scales: Scales
) -> None:
    from scipy.optimize import minimize

    # Each vertex steps towards the middle of the cube, where there is room.
    steps = np.where(start < 0.5, radius, -radius)
    minimize(
        lambda unit: scales.penalised(evaluate(unit)),
        start,
        method="Nelder-Mead",
        bounds=[(0.0, 1.0)] * len(start),
        options={
            "initial_simplex": np.vstack([start, start + np.diag(steps)]),
            "xatol": FINEST / 2,
            "fatol": np.inf,
            "maxfev": 40 * len(start),
        },
    )
