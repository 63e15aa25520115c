"""The trust-region method COBYQA, as implemented in scipy, with the constraints as they are."""

from __future__ import annotations

from collections.abc import Callable

from valmatch.kernels.arrays import Floats
from valmatch.optimization.solvers.penalty import Scales
from valmatch.optimization.solvers.rounds import FINEST, rounds
from valmatch.optimization.solvers.search import SearchTask, Steps


def cobyqa(task: SearchTask) -> Steps:
    """Run COBYQA in rounds of growing precision."""
    return rounds(task, _local)


def _local(
    evaluate: Callable[[Floats], Floats], start: Floats, radius: float, scales: Scales
) -> None:
    from scipy.optimize import NonlinearConstraint, minimize

    known: dict[bytes, Floats] = {}

    def scaled(unit: Floats) -> Floats:
        key = unit.tobytes()
        if key not in known:
            known[key] = scales.scaled(evaluate(unit))
        return known[key]

    constraints = len(scales.unit) - 1
    bounded = NonlinearConstraint(lambda unit: scaled(unit)[1:], [-float("inf")] * constraints, 0.0)
    minimize(
        lambda unit: scaled(unit)[0],
        start,
        method="COBYQA",
        bounds=[(0.0, 1.0)] * len(start),
        constraints=[bounded] if constraints else [],
        options={
            "initial_tr_radius": radius,
            "final_tr_radius": FINEST / 2,
            "maxfev": 40 * len(start),
        },
    )
