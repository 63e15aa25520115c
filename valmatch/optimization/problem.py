"""An optimisation problem over the factors of a model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from valmatch.config.config import Constraint
from valmatch.kernels.arrays import Floats
from valmatch.models.model import ANY

START, TODAY = "start", "today's rule"  # the points that a config gives, by their names
EDGE = 1e-3  # as near to the edge of the unit cube, the value of a variable is at its bound
HALVINGS = 52  # that find a value on a scale whose inverse has no formula


@dataclass(frozen=True)
class Variable:
    """A decision variable: a numeric factor of the model."""

    name: str  # the factor
    low: float  # bounds, in the unit of the factor
    high: float
    # values far above `scale` are spaced logarithmically, values far below it linearly; inf for
    # linear spacing throughout
    scale: float
    start: float  # value in the starting solution
    # random solutions draw the variable from this normal distribution, then clip it; with an
    # infinite std they draw it uniformly on the search scale
    mean: float
    std: float
    integer: bool = False  # whether it takes whole numbers only
    # where no scale was given in a range of many sizes: half of the values are spaced linearly,
    # half logarithmically beyond these distances from `low` and from `high`. Then `scale` says
    # nothing
    ends: tuple[float, float] | None = None

    def to_unit(self, value: float) -> float:
        """Map [low, high] to [0, 1]."""
        span, distance = self.high - self.low, value - self.low
        if self.ends:
            below, above = self.ends
            low, high = math.log1p(distance / below), math.log1p((self.high - value) / above)
            of_low, of_high = math.log1p(span / below), math.log1p(span / above)
            return 0.5 * (distance / span + (low + of_high - high) / (of_low + of_high))
        if math.isinf(self.scale):
            return distance / span
        return math.log1p(distance / self.scale) / math.log1p(span / self.scale)

    def from_unit(self, unit: float) -> float:
        """Map [0, 1] to [low, high]; the inverse of `to_unit`, whole where the factor is."""
        unit, span = min(1.0, max(0.0, unit)), self.high - self.low
        if self.ends:
            value = self.low + self._from_ends(unit, self.ends)
        elif math.isinf(self.scale):
            value = self.low + unit * span
        else:
            value = self.low + self.scale * math.expm1(unit * math.log1p(span / self.scale))
        # Twelve digits, so that 200 comes back as 200.
        value = min(self.high, max(self.low, float(f"{value:.12g}")))
        return float(round(value)) if self.integer else value

    def _from_ends(self, unit: float, ends: tuple[float, float]) -> float:
        """Return the distance from `low` of the value that is at `unit`, by halving."""
        (below, above), span = ends, self.high - self.low
        if unit in (0.0, 1.0):
            return unit * span
        logarithm = math.log1p(span / below) + math.log1p(span / above)

        def distance(share: float) -> float:
            grown = math.expm1(logarithm * share)
            return grown / (1.0 / below + (grown + 1.0) / (above + span))

        least, most = 0.0, 1.0  # shares of the logarithmic scale
        for _ in range(HALVINGS):
            middle = 0.5 * (least + most)
            if 0.5 * (distance(middle) / span + middle) < unit:
                least = middle
            else:
                most = middle
        return distance(0.5 * (least + most))


@dataclass(frozen=True)
class Term:
    """One weighted response of the objective."""

    name: str
    response: str
    weight: float


@dataclass(frozen=True)
class Problem:
    """Minimise a weighted sum of mean responses subject to bounds on mean responses.

    Attributes
    ----------
    variables : sequence of Variable
        The decision variables; a point is a vector of their values.
    terms : sequence of Term
        The objective; minimised.
    constraints : mapping of str to Constraint
        Bounds by name, all of which must hold: each has a `response`, a `bound`, and a `sign` of 1
        for an upper and -1 for a lower one.
    today : mapping of str to float or None
        The values that the config itself has for the variables; None where it gives none, or those
        of the start.
    limits : mapping of str to (float, float)
        The least and the largest value of each response that has any.
    """

    variables: Sequence[Variable]
    terms: Sequence[Term]
    constraints: Mapping[str, Constraint]
    today: Mapping[str, float] | None = None
    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def start(self) -> Floats:
        """The starting solution in the unit cube."""
        return np.array([v.to_unit(v.start) for v in self.variables])

    @property
    def baselines(self) -> dict[str, Floats]:
        """The points of the unit cube that the config gives, by name: the start comes first.

        Today's rule is one of them where it is another point within the bounds.
        """
        points, today = {START: self.start}, self.today
        if today and all(v.low <= today[v.name] <= v.high for v in self.variables):
            points[TODAY] = np.array([v.to_unit(today[v.name]) for v in self.variables])
        return points

    def name_of(self, unit: Floats) -> str:
        """Return the name of a point that the config gives, "" for any other."""
        point = self.point(unit)
        return next((n for n, base in self.baselines.items() if self.point(base) == point), "")

    def at_bounds(self, point: Mapping[str, float]) -> dict[str, str]:
        """Return which variables of a point are at a bound, ``"low"`` or ``"high"``."""
        units = {v.name: v.to_unit(point[v.name]) for v in self.variables}
        edges = {name: unit for name, unit in units.items() if min(unit, 1.0 - unit) <= EDGE}
        return {name: "low" if unit < 0.5 else "high" for name, unit in edges.items()}

    @property
    def responses(self) -> list[str]:
        """The responses that the problem names, each once."""
        names = [term.response for term in self.terms]
        return list(dict.fromkeys(names + [bound.response for bound in self.constraints.values()]))

    def random_solution(self, rng: np.random.Generator) -> Floats:
        """Draw a random solution of the source: normal, clipped to the bounds; in the unit cube."""
        unit = np.empty(len(self.variables))
        for k, v in enumerate(self.variables):
            if math.isinf(v.std):
                unit[k] = rng.random()
            else:
                unit[k] = v.to_unit(min(v.high, max(v.low, rng.normal(v.mean, v.std))))
        return unit

    def point(self, unit: Floats) -> dict[str, float]:
        """Return the factors at a point of the unit cube."""
        return dict(zip(self.names, self.values(unit), strict=True))

    def values(self, unit: Floats) -> tuple[float, ...]:
        """Return the values of the factors at a point of the unit cube."""
        return tuple(v.from_unit(u) for v, u in zip(self.variables, unit.tolist(), strict=True))

    @property
    def names(self) -> list[str]:
        """The factors."""
        return [v.name for v in self.variables]

    def outcomes(self, responses: Mapping[str, Floats]) -> Floats:
        """Return (n, 1 + constraints): objective and excess over each bound, per replication.

        A constraint holds where the mean of its excess is <= 0. NaN marks a replication in which
        a response is undefined.
        """
        objective = sum(self._weighted(responses), np.float64(0.0))
        bounds = self.constraints.values()
        excesses = [c.sign * (responses[c.response] - c.bound) for c in bounds]
        return np.column_stack([objective, *excesses])

    @property
    def limits_of_excesses(self) -> Floats:
        """(constraints, 2): the least and the largest excess over each bound that there can be."""
        rows = [
            sorted(c.sign * (limit - c.bound) for limit in self.limits.get(c.response, ANY))
            for c in self.constraints.values()
        ]
        return np.array(rows).reshape(-1, 2)

    def parts(self, responses: Mapping[str, Floats]) -> Floats:
        """Return (n, terms): what the terms add to the objective, per replication."""
        return np.column_stack(self._weighted(responses))

    def _weighted(self, responses: Mapping[str, Floats]) -> list[Floats]:
        return [term.weight * responses[term.response] for term in self.terms]
