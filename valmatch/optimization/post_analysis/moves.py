"""Small moves through the recommended point, along which a constrained response changes.

The direction is the one along which the search saw the response change most, in proportion to how
far the search went: a search is long where the objective is flat, so that this is about the path
of the optimum as the bound moves. The length is chosen on pilot replications, which are used for
nothing else: long enough for a clear change of the response and, if it can be, to reach the
bound; short enough for objective and response to be nearly straight.
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
PILOT = 10  # replications that tell whether a move is of the size that it should be

TRIALS = 7

GROWTH = 3.0  # by which factor moves are made longer or shorter

CLEAR, LEAST_CLEAR = 20.0, 6.0
"""Change of the response, in its standard errors: where bends can be seen, and at least."""

BENT, MOST_BENT = 0.3, 0.6
"""Difference between the slopes of both halves of a move, as a share of their sum: where it tells
how much slopes change, and the most that a response may have."""

CURVED = 0.15
"""Square of that share times `_Trial.clear`: about the bias of a price in standard errors."""

EXACT = 1e6  # more standard errors than these are not made use of
EDGE = 1e-3  # nearer to the edge of the unit cube, a variable is held by its bound

SHORTEST, LONGEST = 1e-3, 0.5
"""Lengths of a half of a move in the unit cube: of the first trial at least, of any at most."""


class Near(NamedTuple):
    """The points near the recommended one."""

    # units, means: (points, variables) in the unit cube; (points, 1 + constraints) mean outcomes
    units: Floats
    means: Floats
    weights: Floats  # (points,): more replications and less distance count more; their sum is 1


class _Trial(NamedTuple):
    """What pilot replications say of a move."""

    points: Floats  # (3, variables): the move
    length: float  # its length
    clear: float  # change of the response, in standard errors of the final estimate
    # how much the slope of the response and that of the objective change along it, see `BENT`
    bends: tuple[float, float]
    reaches: bool  # whether the bound lies between its ends

    @property
    def bent(self) -> bool:
        """Whether slopes are seen to change along it."""
        return self.clear >= CLEAR and max(self.bends) > BENT

    @property
    def usable(self) -> bool:
        """Whether it shows a slope at all; the objective may be bent, as where it is least."""
        return self.clear >= LEAST_CLEAR and self.bends[0] <= MOST_BENT

    @property
    def best_length(self) -> float:
        """The length at which error and bias of a slope are balanced, if it is not longer.

        Bends are taken to be proportional to the length, and so is how clear a change is.
        """
        clear = min(EXACT, max(self.clear, LEAST_CLEAR))
        bend = max(max(self.bends), 1e-9)
        straight = (CURVED / (bend**2 * clear)) ** (1.0 / 3.0)
        return float(self.length * min(1.0, max(straight, 1.3 * LEAST_CLEAR / clear)))


def near(evaluations: Sequence[Evaluation], unit: Floats) -> Near | None:
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
    return Near(units[nearest], means, weights / weights.sum())


def find_move(
    around: Near, k: int, unit: Floats, evaluate: Evaluate, n: int, slack: bool
) -> Floats | None:
    """Return a move through `unit` along which outcome `k` changes clearly; None if none does.

    Its three points lie on a line, in their order there; `unit` is the middle one, or an end where
    a variable is held.
    """
    found = _direction(around, k, unit)
    if found is None:
        return None
    direction, length = found

    def tried(length: float) -> _Trial | None:
        points = _points(unit, direction, length)
        outcomes = [evaluate(point, PILOT) for point in points]
        return _tried(points, length, outcomes, k, n, slack)

    # A long move tells how much slopes change; undefined outcomes are as bad as a bent move.
    trials = [tried(length)]
    growth = 1.0 / GROWTH if trials[0] is None or trials[0].bent else GROWTH
    while len(trials) < TRIALS and length < LONGEST:
        length = min(LONGEST, growth * length)
        trials.append(last := tried(length))
        if (last is None or last.bent) == (growth > 1.0):
            if growth > 1.0 or last is None or last.clear >= LEAST_CLEAR or trials[0] is None:
                break
            growth, length = GROWTH, trials[0].length  # it was noise that looked bent
    made = sorted((trial for trial in trials if trial), key=lambda trial: trial.length)
    if not made:
        return None
    telling = made[-1]
    for trial in reversed(made):
        if not trial.bent:
            break
        telling = trial
    length = telling.best_length
    best = tried(length) if length < telling.length else telling
    # One that comes to the bound is better, if it is not bent.
    longer = [trial for trial in made if trial.reaches and not trial.bent and trial.length > length]
    if best and best.reaches:
        longer = []
    options = [*longer, best, *made]
    return next((trial.points for trial in options if trial and trial.usable), None)


def _direction(around: Near, k: int, unit: Floats) -> tuple[Floats, float] | None:
    """Return the direction of the move for outcome `k`, of length 1, and a length to begin with.

    Variables at their bounds stay there, unless no other is left. None where the search saw no
    change.
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
    if not norm > 0.0:
        return None
    direction = direction / norm
    along = (around.units - unit) @ direction
    spread = math.sqrt(float(around.weights @ along**2))
    return direction, min(LONGEST / 4.0, max(SHORTEST, spread))


def _points(unit: Floats, direction: Floats, length: float) -> Floats:
    """Return a move of this length, to one side where the other is not in the unit cube."""
    moving = direction != 0.0
    far = (np.where(direction > 0.0, 1.0, 0.0) - unit)[moving] / direction[moving]
    back = (np.where(direction > 0.0, 0.0, 1.0) - unit)[moving] / direction[moving]
    up, down = float(far.min()), float(-back.max())
    length = min(length, max(up, down))
    if min(up, down) >= 0.5 * length:
        steps, center = (-min(down, length), 0.0, min(up, length)), 1
    elif up >= down:
        length = min(length, up / 2.0)
        steps, center = (0.0, length, 2.0 * length), 0
    else:
        length = min(length, down / 2.0)
        steps, center = (-2.0 * length, -length, 0.0), 2
    points = np.array([np.clip(unit + step * direction, 0.0, 1.0) for step in steps])
    points[center] = unit
    return points


def _tried(
    points: Floats, length: float, outcomes: Sequence[Floats], k: int, n: int, slack: bool
) -> _Trial | None:
    """Return what the pilot outcomes of the points of a move say of it; None if undefined."""
    made = np.array(outcomes)
    sizes = np.linalg.norm(np.diff(points, axis=0), axis=1)
    if np.isnan(made).any() or not sizes.all():
        return None
    steps = np.diff(made[:, :, [k, 0]], axis=0)  # (2, replications, response and objective)
    first, second = steps[:, :, 0].mean(axis=1).tolist()
    change = abs(first + second) if first * second > 0.0 else 0.0
    # The final estimate has more replications.
    error = _error(steps[:, :, 0].sum(axis=0)) * math.sqrt(len(outcomes[0]) / n)
    clear = change / error if error > 0.0 else math.inf if change else 0.0
    own, other = (_bend(steps[:, :, j] / sizes[:, None]) for j in (0, 1))
    levels = made[:, :, k].mean(axis=1)
    reaches = bool(levels.min() <= 0.0 <= levels.max())
    if slack and float(steps[0, :, 1].mean()) < 0.0 < float(steps[1, :, 1].mean()):
        other = 0.0  # the objective is least here, away from the bound
    return _Trial(points, length, clear, (own, other), reaches)


def _bend(slopes: Floats) -> float:
    """Return the difference of the slopes of both halves as a share of their sum, beyond chance.

    Shapes: `slopes` (2, replications).
    """
    difference, total = slopes[1] - slopes[0], slopes[1] + slopes[0]
    beyond = float(difference.mean()) ** 2 - _error(difference) ** 2
    if beyond <= 0.0:
        return 0.0
    size = abs(float(total.mean()))
    return min(1.0, math.sqrt(beyond) / size) if size > 0.0 else 1.0


def _error(values: Floats) -> float:
    """Return the standard error of a mean; 0 beside rounding."""
    if len(values) < 2:
        return 0.0
    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    return error if error > 1e-12 * float(np.abs(values).max()) else 0.0
