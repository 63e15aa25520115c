"""What each constraint costs: the change of the best objective per unit of its bound.

Where a sweep has solved for several bounds, that is the difference quotient of their objectives.
After a single run it is a finite difference at the recommended point: at an optimum all small moves
that change a binding response by a unit change the objective by as much, the multiplier of the
constraint, so that any of them shows it. The move is the one along which the search saw the
response change most; both of its ends meet the same fresh replications, whose spread gives the
interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.fields import plain_number
from valmatch.optimization.problem import Constraint
from valmatch.optimization.run import Evaluation
from valmatch.statistics.estimates import Estimate
from valmatch.statistics.sampling import Sampling

__all__ = ["Price", "prices", "quotients"]

Floats = NDArray[np.float64]
Evaluate = Callable[[Floats, int], Floats]

NEAR = 4
"""Points near the recommended one that are looked at, for each variable and one more."""

STEP = 1.0
"""Change of a response at either end of a move, in standard deviations among the points near."""

PILOT = 10
"""Replications that tell whether a move is of the size that it should be."""

TRIALS = 4

GOOD, FAR = 2.0, 5.0
"""Times that a move may be too large or too small: at once, and as the best of all trials."""

MOST_ALIKE = 1e4
"""Condition of the moves beyond which constraints cannot be told apart."""

EDGE = 1e-3
"""Nearer to the edge of the unit cube, a variable is held by its bound."""


@dataclass(frozen=True)
class Price:
    """What one constraint costs.

    Attributes
    ----------
    constraint : Constraint
        The constraint.
    slope : Estimate or None
        Change of the best objective when its bound is one larger; None where it is not known, or
        known to be 0 as the constraint is not binding.
    why : str
        Why it is not known; "" where it is, or is 0.
    """

    constraint: Constraint
    slope: Estimate | None = None
    why: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the part of ``summary.json`` that holds it."""
        one = self.constraint
        return {
            "response": one.response,
            "sense": "<=" if one.sign > 0 else ">=",
            "bound": one.bound,
            "binding": None if self.why else self.slope is not None,
            "objective_per_unit_of_bound": self.slope.as_dict() if self.slope else None,
            "in_words": self.in_words(),
        }

    def in_words(self, unit: str = "", of_objective: str = "") -> str:
        """Say what the constraint costs.

        Parameters
        ----------
        unit, of_objective : str
            Units of the response and of the objective.
        """
        one = self.constraint
        sense = "<=" if one.sign > 0 else ">="
        head = f"{one.name} ({one.response} {sense} {plain_number(one.bound)})"
        if self.why:
            return f"{head}: {self.why}"
        if self.slope is None:
            return f"{head}: not binding, it costs nothing"
        assert self.slope.mean is not None
        # A share is not changed by a whole.
        step = 1.0 if abs(one.bound) > 1.0 or one.bound == 0.0 else 0.01
        half = self.slope.half_width
        spread = "" if half is None else f" ± {step * half:.2g}"
        change = f"{step * self.slope.mean * one.sign:+.3g}{spread}{_after(of_objective)}"
        more = "more allowed" if one.sign > 0 else "less demanded"
        named = unit.removesuffix("s") if step == 1.0 else unit
        return (
            f"{head}: {plain_number(step)}{_after(named)} {more} changes the objective by {change}"
        )


def _after(unit: str) -> str:
    return f" {unit}" if unit else ""


def prices(
    constraints: Sequence[Constraint],
    evaluations: Sequence[Evaluation],
    unit: Floats,
    evaluate: Evaluate,
    n: int,
    sampling: Sampling,
    confidence: float,
) -> list[Price]:
    """Estimate what each constraint costs at the point that a run came to.

    Parameters
    ----------
    constraints : sequence of Constraint
        Those of the problem.
    evaluations : sequence of Evaluation
        The requests of the search.
    unit : numpy.ndarray
        The point in the unit cube.
    evaluate : callable
        Evaluation on fresh replications: (point, n) -> (n, 1 + constraints) outcomes.
    n : int
        Replications of either end of a move, >= 2.
    sampling : Sampling
        What replications are samples of.
    confidence : float
        Level of the intervals.

    Notes
    -----
    With several binding constraints there is a move for each. Their changes of the objective are
    those of the constraints times the multipliers; the interval is that of the multipliers
    linearised in the replications. A constraint is binding if the search saw it violated among the
    points near.
    """
    near = _near(evaluations, unit)
    if near is None:
        few = "its cost is not known, as the search looked at too few points"
        return [Price(one, why=few) for one in constraints]
    binding = [k for k, means in enumerate(near.means.T[1:], 1) if (means > 0.0).any()]
    ends = [_ends(near, k, unit, evaluate, min(PILOT, n)) for k in binding]
    found = [one for one in ends if one is not None]
    moves = np.array([evaluate(up, n) - evaluate(down, n) for down, up in found])
    multipliers = _multipliers(moves, binding) if len(found) == len(ends) else None
    result = []
    for k, one in enumerate(constraints, 1):
        if k not in binding:
            result.append(Price(one))
        elif multipliers is None:
            what = "its cost is not known, as no small move of the variables shows it"
            result.append(Price(one, why=what))
        else:
            slopes = -one.sign * multipliers[:, binding.index(k)]
            result.append(Price(one, sampling.estimate(slopes, confidence)))
    return result


class _Near(NamedTuple):
    """The points near the recommended one.

    Attributes
    ----------
    units, means : numpy.ndarray
        (points, variables) in the unit cube; (points, 1 + constraints) mean outcomes.
    weights : numpy.ndarray
        (points,): more replications and less distance count more; their sum is 1.
    """

    units: Floats
    means: Floats
    weights: Floats


def _near(evaluations: Sequence[Evaluation], unit: Floats) -> _Near | None:
    """Return the points near `unit` as they were seen last; None if there are too few."""
    last = {tuple(one.unit.tolist()): one for one in evaluations}
    seen = [one for one in last.values() if not np.isnan(one.mean).any()]
    if len(seen) < 2 * (1 + len(unit)):
        return None
    units = np.array([one.unit for one in seen])
    distances = np.linalg.norm(units - unit, axis=1)
    order = np.argsort(distances, kind="stable")
    nearest = order[: NEAR * (1 + len(unit))]
    reach = distances[order[min(len(nearest), len(order) - 1)]] * (1.0 + 1e-9)
    weights = (
        np.array([seen[k].n for k in nearest]) * (1.0 - (distances[nearest] / reach) ** 3) ** 3
    )
    means = np.array([seen[k].mean for k in nearest])
    return _Near(units[nearest], means, weights / weights.sum())


def _ends(
    near: _Near, k: int, unit: Floats, evaluate: Evaluate, n: int
) -> tuple[Floats, Floats] | None:
    """Return the ends of a move around `unit` along which outcome `k` changes moderately.

    None where no such move is found.
    """
    away = near.units - near.weights @ near.units
    excess = near.means[:, k] - near.weights @ near.means[:, k]
    direction = (near.weights * excess) @ away
    direction[(unit < EDGE) | (unit > 1.0 - EDGE)] = 0.0
    norm = np.linalg.norm(direction)
    wanted = STEP * float(np.sqrt(near.weights @ excess**2))
    if not (norm > 0.0 and wanted > 0.0):
        return None
    direction /= norm
    along = away @ direction
    length = wanted * float((near.weights * along) @ along / ((near.weights * excess) @ along))
    tried: list[tuple[float, Floats, Floats]] = []
    for _ in range(TRIALS):
        down, up = (np.clip(unit + side * length * direction, 0.0, 1.0) for side in (-1.0, 1.0))
        change = abs(float((evaluate(up, n) - evaluate(down, n))[:, k].mean())) / (2.0 * wanted)
        off = math.inf if not change > 0.0 else max(change, 1.0 / change)
        tried.append((off, down, up))
        if off <= GOOD:
            break
        # A move is made up to four times smaller or larger; smaller where a response is undefined.
        length *= 0.25 if math.isnan(change) else max(0.25, 1.0 / max(change, 0.25))
    off, down, up = min(tried, key=itemgetter(0))
    return (down, up) if off <= FAR else None


def _multipliers(moves: Floats, binding: Sequence[int]) -> Floats | None:
    """Return (n, binding) values whose means are the multipliers and whose spread is their error.

    Parameters
    ----------
    moves : numpy.ndarray
        (binding, n, 1 + constraints): the change of each outcome by each move in each replication.
    binding : sequence of int
        The outcomes of the constraints that bind.
    """
    if not len(binding) or np.isnan(moves).any():
        return None
    gains, excesses = moves[:, :, 0].T, moves[:, :, binding].transpose(1, 0, 2)
    slopes = excesses.mean(axis=0)
    if np.linalg.cond(slopes) > MOST_ALIKE:
        return None
    multipliers = -np.linalg.solve(slopes, gains.mean(axis=0))
    errors = gains + excesses @ multipliers
    return multipliers - np.linalg.solve(slopes, errors.T).T


def quotients(
    bounds: Sequence[float],
    objectives: Sequence[Floats],
    sampling: Sampling,
    confidence: float,
) -> list[tuple[float, float, Estimate]]:
    """Return what a frontier costs between each two bounds that follow one another.

    Parameters
    ----------
    bounds : sequence of float
        The bounds, each with a certified point.
    objectives : sequence of numpy.ndarray
        Of each point, the objective in the same fresh replications, as many as it has.

    Returns
    -------
    list of tuple
        Two bounds, and the change of the objective per unit of the bound between them.
    """
    found = []
    for k in range(1, len(bounds)):
        n = min(len(objectives[k - 1]), len(objectives[k]))
        rise = (objectives[k][:n] - objectives[k - 1][:n]) / (bounds[k] - bounds[k - 1])
        found.append((bounds[k - 1], bounds[k], sampling.estimate(rise, confidence)))
    return found
