"""Steps from the recommended point to a tighter and to a looser bound on a response.

They go where the search saw the response change most, in proportion to how far the search went: a
search is long where the objective is flat, so that this is about the path of the optimum as the
bound moves. Pilot replications, used for nothing else, say how long steps must be to change the
response clearly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.optimization.certification.selection import Evaluate
from valmatch.optimization.solver_run import Evaluation

NEAR = 4  # points near the recommended one that are looked at, for each variable and one more
PILOT = 10  # replications that tell how long steps must be

TRIALS = 7
GROWTH = 3.0  # by which factor steps are made longer or shorter, at most

CLEAR, LEAST_CLEAR = 20.0, 6.0
"""Change of the response between both points, in its standard errors: wanted, and at least."""

SAME = 0.4  # logarithm of two lengths that are as good as one

EDGE = 1e-3  # nearer to the edge of the unit cube, a variable is held by its bound

SHORTEST, LONGEST = 1e-3, 0.5
"""Lengths of a step in the unit cube."""


class Neighbourhood(NamedTuple):
    """The points that a search has seen near the recommended one."""

    # units, means: (points, variables) in the unit cube; (points, 1 + constraints) mean outcomes
    units: Floats
    means: Floats
    weights: Floats  # (points,): more replications and less distance count more; their sum is 1

    @classmethod
    def of(cls, evaluations: Sequence[Evaluation], unit: Floats) -> Neighbourhood | None:
        """Return the points near `unit` as they were seen last; None if there are too few."""
        last = {tuple(evaluation.unit.tolist()): evaluation for evaluation in evaluations}
        seen = [evaluation for evaluation in last.values() if not np.isnan(evaluation.mean).any()]
        if len(seen) < 2 * (1 + len(unit)):
            return None
        units = np.array([evaluation.unit for evaluation in seen])
        distances = np.linalg.norm(units - unit, axis=1)
        order = np.argsort(distances, kind="stable")
        nearest = order[: NEAR * (1 + len(unit))]
        reach = distances[order[min(len(nearest), len(order) - 1)]] * (1.0 + 1e-9)
        weights = (
            np.array([seen[k].n for k in nearest]) * (1.0 - (distances[nearest] / reach) ** 3) ** 3
        )
        means = np.array([seen[k].mean for k in nearest])
        return cls(units[nearest], means, weights / weights.sum())


def steps_along(
    around: Neighbourhood, k: int, unit: Floats, evaluate: Evaluate, n: int, least: float
) -> Floats | None:
    """Return the points before and after `unit` between which outcome `k` changes clearly.

    By `least`, if they can. None if there are none. One of them is `unit` where a bound of a
    variable leaves no room.
    """
    direction = _direction(around, k, unit)
    if direction is None:
        return None
    spread = math.sqrt(float(around.weights @ ((around.units - unit) @ direction) ** 2))
    length, steps, clearest = min(LONGEST / 4.0, max(SHORTEST, spread)), None, LEAST_CLEAR
    for _ in range(TRIALS):
        points = _points(unit, direction, length)
        before, after = (evaluate(point, PILOT)[:, k] for point in points)
        change = after - before
        error, size = float(change.std(ddof=1)) / math.sqrt(n), abs(float(change.mean()))
        clear = size / max(error, 1e-12 * size) if size else 0.0
        if min(CLEAR, clear) >= clearest:
            steps, clearest = points, min(CLEAR, clear)
        # Undefined outcomes are as bad as a change that is far too large.
        wanted = max(CLEAR / clear, least / size) if clear > 0.0 else GROWTH if size == 0.0 else 0.0
        longer = length * min(GROWTH, max(1.0 / GROWTH, wanted))
        longer = min(LONGEST, max(SHORTEST, longer))
        if abs(math.log(longer / length)) < SAME:
            break
        length = longer
    return steps


def _direction(around: Neighbourhood, k: int, unit: Floats) -> Floats | None:
    """Return the direction in which outcome `k` changed, of length 1; None if it did not.

    Variables at their bounds stay there, unless no other is left.
    """
    away = around.units - around.weights @ around.units
    excess = around.means[:, k] - around.weights @ around.means[:, k]
    direction = np.ones(1) if len(unit) == 1 else (around.weights * excess) @ away
    held = (unit < EDGE) | (unit > 1.0 - EDGE)
    if (direction[~held] != 0.0).any():
        direction[held] = 0.0
    else:  # into the cube, either all that do so forwards or all that do so backwards
        inward = direction * np.where(unit < 0.5, 1.0, -1.0)
        sides = np.where(inward > 0.0, direction, 0.0), np.where(inward < 0.0, direction, 0.0)
        direction = max(sides, key=lambda side: float(np.linalg.norm(side)))
    norm = float(np.linalg.norm(direction))
    return direction / norm if norm > 0.0 else None


def _points(unit: Floats, direction: Floats, length: float) -> Floats:
    """Return a point on each side, equally far; on one side alone if that is where the room is."""
    moving = direction != 0.0
    far = (np.where(direction > 0.0, 1.0, 0.0) - unit)[moving] / direction[moving]
    back = (np.where(direction > 0.0, 0.0, 1.0) - unit)[moving] / direction[moving]
    up, down = float(far.min()), float(-back.max())
    if min(up, down) >= 0.5 * min(length, max(up, down)):
        ends = -min(length, up, down), min(length, up, down)
    else:
        ends = (0.0, min(length, up)) if up > down else (-min(length, down), 0.0)
    return np.array([np.clip(unit + end * direction, 0.0, 1.0) for end in ends])
