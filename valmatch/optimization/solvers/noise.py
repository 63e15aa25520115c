"""Units in which the noise of the evaluated points is the same for all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from valmatch.kernels.arrays import Bools, Floats
from valmatch.optimization.problem import Constraint
from valmatch.statistics.control_variates import Regression, regress

LEAST_POINTS = 3  # points by which it is seen how noise goes with the mean, at least
OFTEN = 2  # times that each of two values is seen, at least, where there is no third


@dataclass(frozen=True)
class Noise:
    """What is known of the noise of the constraints."""

    constraints: Sequence[Constraint]
    skewness: Floats  # of the points with the most replications; 0 where nothing is known
    low: Floats  # the lesser excess where there are two, NaN where there are more
    high: Floats  # the greater one
    constant: Bools  # whether the replications of each point were alike
    common: float = 0.0  # correlation of two good points, the least of all constraints

    @classmethod
    def unknown(cls, constraints: Sequence[Constraint]) -> Noise:
        """Return what is known before any replication: nothing."""
        none, no = np.full(len(constraints), np.nan), np.zeros(len(constraints), np.bool_)
        return cls(constraints, np.zeros(len(constraints)), none, none.copy(), no)

    def take(self, places: slice) -> Noise:
        """Return what is known of some of the constraints."""
        return replace(
            self,
            constraints=self.constraints[places],
            skewness=self.skewness[places],
            low=self.low[places],
            high=self.high[places],
            constant=self.constant[places],
        )


@dataclass(frozen=True)
class Units:
    """Units of outcomes in which the noise of all points is alike.

    The excess of a response whose noise goes with its mean is the logarithm of its share of the
    bound; errors are shares of the mean.
    """

    constraints: Sequence[Constraint]
    relative: Sequence[int]  # columns of the outcomes

    @classmethod
    def of(
        cls, constraints: Sequence[Constraint], outcomes: Sequence[Floats], deviations: Floats
    ) -> Units:
        """Return the units of points by their outcomes, which are all defined.

        Noise goes with the mean where its deviations vary less as shares of the means than by
        themselves; means must have been above 0 throughout.
        """
        relative = []
        for k, constraint in enumerate(constraints, 1):
            noise = deviations[:, k]
            if constraint.bound <= 0.0 or (noise > 0.0).sum() < LEAST_POINTS:
                continue
            columns = [constraint.bound + constraint.sign * rows[:, k] for rows in outcomes]
            means = np.array([column.mean() for column in columns])
            if min(column.min() for column in columns) < 0.0 or means.min() <= 0.0:
                continue
            some = noise > 0.0
            logarithms = np.log(noise[some])
            if (logarithms - np.log(means[some])).std() < logarithms.std():
                relative.append(k)
        return cls(constraints, relative)

    def _level(self, means: Floats, k: int) -> Floats:
        """Return the mean responses of a constraint, above 0."""
        one = self.constraints[k - 1]
        level: Floats = np.maximum(one.bound + one.sign * means[..., k], 1e-12 * one.bound)
        return level

    def convert(self, means: Floats, errors: Floats) -> tuple[Floats, Floats]:
        """Return mean outcomes, with their deviations or errors, in these units."""
        means, errors = means.copy(), errors.copy()
        for k in self.relative:
            one, level = self.constraints[k - 1], self._level(means, k)
            means[..., k] = one.sign * np.log(level / one.bound)
            errors[..., k] /= level
        return means, errors

    def undo(self, means: Floats, errors: Floats) -> tuple[Floats, Floats]:
        """Return means and errors in these units as those of the outcomes."""
        means, errors = means.copy(), errors.copy()
        for k in self.relative:
            one = self.constraints[k - 1]
            level = one.bound * np.exp(one.sign * means[..., k])
            means[..., k] = one.sign * (level - one.bound)
            errors[..., k] *= level
        return means, errors

    def mean(self, outcomes: Floats) -> Floats:
        """Return the means of the outcomes of points, (..., n, 1 + constraints), in these units."""
        mean = outcomes.mean(axis=-2)
        return self.convert(mean, mean)[0]

    def deviating(self, outcomes: Floats) -> Floats:
        """Return by how much the outcomes of a point deviate from their mean, in these units."""
        mean = outcomes.mean(axis=0)
        away: Floats = outcomes - mean
        for k in self.relative:
            away[:, k] /= self._level(mean, k)
        return away


# Control variates of the replications that all points meet.

Controls: TypeAlias = Callable[[int], tuple[Floats, Floats]]
"""n -> (n, controls) control variates of the first n replications, with their expectations."""

PER_CONTROL = 5
"""Replications for each control variate, at least: with fewer, slopes cost more than they gain."""


def without_controls(n: int) -> tuple[Floats, Floats]:
    """Return the control variates of a model that has none."""
    return np.empty((n, 0)), np.empty(0)


def regression(outcomes: Floats, controls: Controls) -> list[Regression]:
    """Regress each of the outcomes of a point on the controls of its replications.

    Shapes: `outcomes` (n, 1 + constraints).
    """
    n = len(outcomes)
    seen, expectations = controls(n)
    if n < PER_CONTROL * (1 + expectations.size):
        seen, expectations = without_controls(n)
    return regress(outcomes, seen, expectations)
