"""Prices of constraints: the change of the best objective per unit of its bound.

Where a sweep has solved for several bounds, that is the difference quotient of their objectives.
After a single run it is the multiplier of the constraint at the recommended point: at an optimum
all small moves that change a binding response by a unit change the objective by as much, so that
any of them shows it. A move has three points (see `moves`), which meet the same
fresh replications. The price is the derivative, at the bound, of the parabola that gives the
objective by the response along the move: a point that certification has kept a little short of
the bound shows the slope at the bound nevertheless. The interval is that of this derivative,
linearised in the replications, of which all points of the moves have the same.

A price is given where its interval lies on the side on which prices lie: a bound that is loosened
makes no optimum worse. A constraint is called not binding on evidence alone: its response is short
of the bound beyond its interval, and going there could gain no more than a hundredth of the
objective, nor more than the objective is known to. Everything else is not distinguishable from 0,
with the interval, or not known, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np

from valmatch.inputs.fields import plain_number
from valmatch.kernels.arrays import Floats
from valmatch.optimization.certification.selection import Evaluate
from valmatch.optimization.post_analysis.moves import PILOT, find_move, near
from valmatch.optimization.problem import Constraint
from valmatch.optimization.solver_run import Evaluation
from valmatch.statistics.estimates import Estimate
from valmatch.statistics.sampling import Sampling

MOST_ALIKE = 25.0  # condition of the moves beyond which constraints cannot be told apart
FAR = 10.0  # a bound is out of reach this many times the range of the response in the search away

NOTHING, LITTLE = 1e-3, 1e-2
"""Shares of the objective that are as good as nothing: always, and if it is known no better."""

SOME = 0.1  # share of the change along a move that a slack counts for at least

UNKNOWN = "its cost is not known, as"


@dataclass(frozen=True)
class Price:
    """What one constraint costs."""

    constraint: Constraint  # the constraint
    # change of the best objective when its bound is one larger; None where it is not known, not
    # distinguishable from 0, or 0 as the constraint is not binding
    slope: Estimate | None = None
    why: str = ""  # why it is not known; "" where it is, is 0, or is not distinguishable from 0
    # the interval of a change that is not distinguishable from 0; one of its ends is 0
    between: tuple[float, float] | None = None

    def as_dict(self, unit: str = "", of_objective: str = "") -> dict[str, Any]:
        """Return the part of ``summary.json`` that holds it."""
        bound = self.constraint
        known = not self.why and self.between is None
        return {
            "response": bound.response,
            "sense": "<=" if bound.sign > 0 else ">=",
            "bound": bound.bound,
            "binding": self.slope is not None if known else None,
            "objective_per_unit_of_bound": self.slope.as_dict() if self.slope else None,
            **({"not_distinguishable_from_0": list(self.between)} if self.between else {}),
            "in_words": self.in_words(unit, of_objective),
        }

    def in_words(self, unit: str = "", of_objective: str = "") -> str:
        """Say what the constraint costs."""
        bound = self.constraint
        sense = "<=" if bound.sign > 0 else ">="
        head = f"{bound.name} ({bound.response} {sense} {plain_number(bound.bound)})"
        if self.why:
            return f"{head}: {self.why}"
        if self.slope is None and self.between is None:
            return f"{head}: not binding, it costs nothing"
        # A share is not changed by a whole.
        step = 1.0 if abs(bound.bound) > 1.0 or bound.bound == 0.0 else 0.01
        more = "more allowed" if bound.sign > 0 else "less demanded"
        named = unit.removesuffix("s") if step == 1.0 else unit
        what = f"{plain_number(step)}{_after(named)} {more} changes the objective by"
        objective = _after(of_objective)
        if self.between:
            low, high = sorted(step * end * bound.sign for end in self.between)
            return (
                f"{head}: its cost is not distinguishable from 0 ({what} between"
                f" {_digits(low)} and {_digits(high)}{objective})"
            )
        assert self.slope is not None
        assert self.slope.mean is not None
        half = self.slope.half_width
        spread = "" if half is None else f" ± {step * half:.2g}"
        return f"{head}: {what} {step * self.slope.mean * bound.sign:+.3g}{spread}{objective}"


def _after(unit: str) -> str:
    return f" {unit}" if unit else ""


def _digits(value: float) -> str:
    """Return three digits of a number, with no exponent where it is of a common size."""
    return plain_number(float(f"{value:.3g}")) if value else "0"


@dataclass(frozen=True, eq=False)
class _Local:
    """A constraint and what fresh replications say of it along its move."""

    k: int  # its outcome, from 1
    outcomes: Floats  # (3, n, 1 + constraints), of the points of the move
    # how far the recommended point is from the bound, 0 unless that is beyond its interval
    slack: float

    @property
    def levels(self) -> Floats:
        """(3,): the mean excess at the points of its move."""
        levels: Floats = self.outcomes[:, :, self.k].mean(axis=1)
        return levels

    @property
    def clear(self) -> bool:
        """Whether the response only rises or only falls along the move."""
        steps = np.diff(self.levels)
        return bool((steps > 0.0).all() or (steps < 0.0).all())

    @property
    def range(self) -> float:
        """How far the response changes along the move."""
        return float(np.ptp(self.levels))

    @property
    def reaches(self) -> bool:
        """Whether the bound lies between the ends of the move."""
        return bool(self.levels.min() <= 0.0 <= self.levels.max())

    @property
    def weights(self) -> Floats:
        """(3,): means of the points times these are a derivative, taken nearest to the bound."""
        levels = self.levels
        return _derivative(levels, float(min(max(0.0, levels.min()), levels.max())))

    def slope(self, values: Floats) -> Floats:
        """Return (n,) values whose mean is the derivative of a mean by that of the response.

        Their spread is the error of the derivative.

        Shapes: `values` (3, n).
        """
        means, levels = values.mean(axis=1), self.levels
        weights = self.weights
        slopes = np.array([_derivative(levels, level) @ means for level in levels.tolist()])
        # An error of the response moves a point along the parabola.
        errors = values - means[:, None]
        errors -= slopes[:, None] * (self.outcomes[:, :, self.k] - levels[:, None])
        result: Floats = weights @ means + weights @ errors
        return result


def _derivative(levels: Floats, at: float) -> Floats:
    """Return the weights of three values at `levels` in the derivative of their parabola."""
    a, b, c = levels.tolist()
    return np.array(
        [
            (2.0 * at - b - c) / ((a - b) * (a - c)),
            (2.0 * at - a - c) / ((b - a) * (b - c)),
            (2.0 * at - a - b) / ((c - a) * (c - b)),
        ]
    )


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

    Notes
    -----
    With several binding constraints there is a move for each. Along each the objective changes by
    what the constraints that change cost together, which are as many equations as multipliers.
    """
    around = near(evaluations, unit)
    if around is None:
        few = f"{UNKNOWN} the search looked at too few points"
        return [Price(bound, why=few) for bound in constraints]
    center = evaluate(unit, PILOT + n)[PILOT:]
    found: dict[int, Price] = {}
    shown: list[_Local] = []
    for k, bound in enumerate(constraints, 1):
        slack = _slack(sampling.estimate(center[:, k], confidence))
        if slack > FAR * _range(evaluations, k):
            found[k] = Price(bound)
            continue
        move = find_move(around, k, unit, evaluate, n, slack > 0.0)
        points = move if move is not None else ()
        outcomes = np.array([evaluate(point, PILOT + n)[PILOT:] for point in points])
        if len(outcomes) and not np.isnan(outcomes).any():
            local = _Local(k, outcomes, slack)
            if local.clear:
                shown.append(local)
                continue
        found[k] = Price(bound, why=f"{UNKNOWN} no small move of the variables shows it")
    known = sampling.estimate(center[:, 0], confidence)
    active = _active(shown, sampling, confidence)
    for local in shown:
        found[local.k] = _price(constraints[local.k - 1], local, active, known, sampling)
    return [found[k] for k in range(1, 1 + len(constraints))]


def _slack(excess: Estimate) -> float:
    """Return how far a response is from its bound, 0 unless that is beyond its interval."""
    if excess.mean is None or excess.ci_high is None or excess.ci_high >= 0.0:
        return 0.0
    return -excess.mean


def _range(evaluations: Sequence[Evaluation], k: int) -> float:
    """Return over how much the search saw outcome `k` change."""
    seen = np.array([evaluation.mean[k] for evaluation in evaluations])
    seen = seen[~np.isnan(seen)]
    return float(np.ptp(seen)) if len(seen) else 0.0


def _active(shown: Sequence[_Local], sampling: Sampling, confidence: float) -> dict[_Local, Floats]:
    """Return the constraints that may hold up the objective together, and their multipliers.

    These are as (n,) values, whose means are the multipliers and whose spread is their error. The
    constraints are those whose bound is reached, nearest first, and can be told apart; one that the
    recommended point is short of is left out where its multiplier is not above 0.
    """
    candidates = [local for local in shown if local.slack == 0.0 or local.reaches]
    candidates.sort(key=lambda local: local.slack / local.range)
    while True:
        chosen: list[_Local] = []
        for local in candidates:
            if _distinguishable([*chosen, local]):
                chosen.append(local)
        multipliers = _multipliers(chosen)
        doubtful = []
        for local, values in multipliers.items():
            found = sampling.estimate(values, confidence)
            if local.slack > 0.0 and not (found.ci_low is not None and found.ci_low > 0.0):
                doubtful.append(((found.mean or 0.0) / (found.std_error or 1.0), local))
        if not doubtful:
            return multipliers
        candidates.remove(min(doubtful, key=itemgetter(0))[1])


def _moves(chosen: Sequence[_Local]) -> Floats:
    """Return how the response of each constraint changes by that of another along its move."""
    return np.array(
        [[a.weights @ a.outcomes[:, :, b.k].mean(axis=1) for b in chosen] for a in chosen]
    )


def _distinguishable(chosen: Sequence[_Local]) -> bool:
    sizes = np.array([local.range for local in chosen])
    return bool(np.linalg.cond(_moves(chosen) * sizes / sizes[:, None]) <= MOST_ALIKE)


def _multipliers(chosen: Sequence[_Local]) -> dict[_Local, Floats]:
    """Return (n,) values for each constraint, whose mean is its multiplier."""
    if not chosen:
        return {}
    moves = _moves(chosen)
    gains = [local.weights @ local.outcomes[:, :, 0].mean(axis=1) for local in chosen]
    means = -np.linalg.solve(moves, np.array(gains))
    fixed = {local: np.array([mean]) for local, mean in zip(chosen, means.tolist(), strict=True)}
    rest = []
    for local in chosen:
        others = {other: mean for other, mean in fixed.items() if other is not local}
        rest.append(local.slope(_reduced(local, others)))
    errors = np.array(rest) + means[:, None]
    values = means[:, None] - np.linalg.solve(moves, errors)
    return dict(zip(chosen, values, strict=True))


def _reduced(local: _Local, multipliers: Mapping[_Local, Floats]) -> Floats:
    """Return (3, n): the objective along a move, less what constraints let it change.

    That is the Lagrangian; the error of a multiplier counts by the mean of its response.
    """
    values: Floats = local.outcomes[:, :, 0]
    for other, multiplier in multipliers.items():
        mean, excess = multiplier.mean(), local.outcomes[:, :, other.k]
        values = values + mean * excess + (multiplier - mean) * excess.mean(axis=1)[:, None]
    return values


def _price(
    bound: Constraint,
    local: _Local,
    active: Mapping[_Local, Floats],
    known: Estimate,
    sampling: Sampling,
) -> Price:
    """Say what a constraint costs, given the multipliers of those that are active."""
    tight = local.slack == 0.0
    if tight and local not in active:
        return Price(
            bound, why=f"{UNKNOWN} it cannot be told apart from that of another constraint"
        )
    values = active[local] if local in active else -local.slope(_reduced(local, active))
    found = sampling.estimate(values, known.confidence)
    if found.ci_low is None or found.ci_high is None:
        return Price(bound, why=f"{UNKNOWN} it has no interval")
    if not tight and local not in active:
        # What all of the slack could gain; where that is next to nothing, so would be the gain.
        gain = found.ci_high * max(local.slack, SOME * local.range)
        size, half = abs(known.mean or 0.0), known.half_width or 0.0
        if gain <= max(NOTHING * size, min(LITTLE * size, half)):
            return Price(bound)
        if found.ci_low > 0.0:
            what = "the point is short of its bound although the objective falls towards it"
            return Price(bound, why=f"{UNKNOWN} {what}")
    if found.ci_high <= 0.0 and found.ci_low < 0.0:
        what = "the objective also falls where the response moves away from its bound"
        return Price(bound, why=f"{UNKNOWN} {what}")
    if found.ci_low <= 0.0:
        low, high = sorted((0.0, -bound.sign * found.ci_high))
        return Price(bound, between=(low, high))
    return Price(bound, sampling.estimate(-bound.sign * values, known.confidence))


def quotients(
    bounds: Sequence[float],
    objectives: Sequence[Floats],
    sampling: Sampling,
    confidence: float,
) -> list[tuple[float, float, Estimate]]:
    """Return what a frontier costs between each two bounds that follow one another."""
    found = []
    for k in range(1, len(bounds)):
        n = min(len(objectives[k - 1]), len(objectives[k]))
        rise = (objectives[k][:n] - objectives[k - 1][:n]) / (bounds[k] - bounds[k - 1])
        found.append((bounds[k - 1], bounds[k], sampling.estimate(rise, confidence)))
    return found
