"""Noises of known mean, and how often intervals of few replications of them hold that mean."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.models.model import ANY, NOT_NEGATIVE, SHARE
from valmatch.statistics.estimates import estimate, student, sums_of

DIFFERENCE = (-1.0, 1.0)


class Noise(NamedTuple):
    """Random values of known mean and limits."""

    draw: Callable[[np.random.Generator, int], Floats]
    mean: float
    limits: tuple[float, float] = ANY


class Held(NamedTuple):
    """Shares of samples: whose intervals hold the mean, that have remarks, that are as by t."""

    student: float
    rule: float
    remarked: float
    same: float


def _yes(share: float) -> Callable[[np.random.Generator, int], Floats]:
    return lambda rng, n: (rng.random(n) < share).astype(np.float64)


def _lognormal(sigma: float) -> Noise:
    return Noise(lambda rng, n: rng.lognormal(0.0, sigma, n), math.exp(sigma**2 / 2), NOT_NEGATIVE)


NOISES: Mapping[str, Noise] = {
    "normal": Noise(lambda rng, n: rng.normal(0.0, 1.0, n), 0.0),
    "exponential": Noise(lambda rng, n: rng.exponential(1.0, n), 1.0, NOT_NEGATIVE),
    "lognormal 1": _lognormal(1.0),
    "lognormal 1.5": _lognormal(1.5),
    "yes/no .05": Noise(_yes(0.05), 0.05, SHARE),
    "no limits .05": Noise(_yes(0.05), 0.05),
    "counts 1": Noise(lambda rng, n: rng.poisson(1.0, n).astype(np.float64), 1.0, NOT_NEGATIVE),
    "rare differences": Noise(
        lambda rng, n: _yes(0.05)(rng, n) - _yes(0.05)(rng, n), 0.0, DIFFERENCE
    ),
    "skewed differences": Noise(
        lambda rng, n: rng.exponential(1.0, n) - rng.normal(0.0, 0.3, n), 1.0
    ),
}


def held(noise: Noise, n: int, runs: int) -> Held:
    """Take samples of `n` values and count which intervals hold the mean."""
    rng, counts = np.random.default_rng([n, 1]), np.zeros(4)
    for _ in range(runs):
        values = noise.draw(rng, n)
        plain, found = (
            student(sums_of(values), 0.95).within(noise.limits),
            estimate(values, 0.95, noise.limits),
        )
        counts += (
            holds(plain.ci_low, noise.mean, plain.ci_high),
            holds(found.ci_low, noise.mean, found.ci_high),
            bool(found.remarks),
            (plain.ci_low, plain.ci_high) == (found.ci_low, found.ci_high),
        )
    return Held(*(counts / runs).tolist())


def holds(low: float | None, mean: float, high: float | None) -> bool:
    """Return whether an interval holds a mean."""
    assert low is not None
    assert high is not None
    return low <= mean <= high
