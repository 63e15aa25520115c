"""Sequential runs on data of known mean, and how often the final interval covers it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.statistics.estimates import estimate
from valmatch.statistics.precision import LEAST, Target, looks

Draw = Callable[[int], Floats]
"""Returns so many further values."""


class Source(NamedTuple):
    """Data of known mean and standard deviation; `new` starts a run of a random generator."""

    new: Callable[[np.random.Generator], Draw]
    mean: float
    std: float


class Tally(NamedTuple):
    """Shares of runs whose final interval covers the mean, and whose error is within the target."""

    covered: float
    met: float
    reached: float
    replications: float


def _bernoulli(p: float) -> Source:
    return Source(
        lambda rng: lambda n: (rng.random(n) < p).astype(np.float64), p, math.sqrt(p - p * p)
    )


DATA: Mapping[str, Source] = {
    "normal": Source(lambda rng: lambda n: rng.normal(10.0, 1.0, n), 10.0, 1.0),
    "exponential": Source(lambda rng: lambda n: rng.exponential(1.0, n), 1.0, 1.0),
    "bernoulli-0.3": _bernoulli(0.3),
    "bernoulli-0.1": _bernoulli(0.1),
    "bernoulli-0.02": _bernoulli(0.02),
}


def tally(
    target: Target, new: Callable[[int], Draw], mean: float, runs: int, most: int = 20_000
) -> Tally:
    """Run to the target `runs` times and compare with the true mean."""
    covered = met = reached = replications = 0
    for run in range(runs):
        draw, values, done = new(run), np.empty(0), False
        for n in looks(LEAST, most):
            values = np.concatenate([values, draw(n - values.size)])
            done = target.reached(values)
            if done:
                break
        one = estimate(values)
        assert one.mean is not None
        assert one.half_width is not None
        error = abs(one.mean - mean)
        covered += error <= one.half_width
        met += error <= target.size * (abs(mean) if target.relative else 1.0)
        reached += done
        replications += values.size
    return Tally(covered / runs, met / runs, reached / runs, replications / runs)
