"""One number for the worth of a point, for minimisers that know no constraints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.optimization.solvers.search import Archive, Request, SearchTask, Steps, spread

# A violation of one standard deviation of a constraint costs as much as this many of the objective.
PENALTY = 3.0


def latin_hypercube(rng: np.random.Generator, points: int, dimensions: int) -> Floats:
    """Return points of the unit cube whose every coordinate is evenly spread."""
    strata = rng.permuted(np.tile(np.arange(points), (dimensions, 1)), axis=1).T
    return (strata + rng.random((points, dimensions))) / points


def first_looks(task: SearchTask, n: int) -> Steps:
    """Evaluate the start and today's rule, then a few points spread over the cube."""
    for unit in task.problem.given.values():
        yield Request(unit, n)
    points = min(2 * task.dimensions + 1, task.left // (2 * n))
    for unit in latin_hypercube(task.rng, points, task.dimensions):
        yield Request(unit, n)


@dataclass(frozen=True)
class Scales:
    """Outcomes in comparable units, with a finite stand-in where they are undefined."""

    unit: Floats  # (1 + constraints,): standard deviation of each outcome over the first points
    worst: Floats  # (1 + constraints,): largest mean outcome of these points

    @classmethod
    def of(cls, archive: Archive) -> Scales:
        """Measure the points evaluated so far."""
        estimates = archive.estimates()
        means = estimates.means[estimates.defined]
        unit = spread(means)
        # Where nothing is defined, an undefined point counts as infeasible by one unit.
        return cls(unit, means.max(axis=0) if len(means) else np.ones(len(unit)))

    def scaled(self, outcomes: Floats) -> Floats:
        """Return the mean outcomes in these units; undefined ones are the worst, plus one."""
        if np.isnan(outcomes).any():
            return self.worst / self.unit + 1.0
        mean: Floats = outcomes.mean(axis=0) / self.unit
        return mean

    def penalised(self, outcomes: Floats) -> float:
        """Return the objective plus a penalty for each violation."""
        objective, *excesses = self.scaled(outcomes).tolist()
        return float(objective + PENALTY * sum(max(0.0, excess) for excess in excesses))
