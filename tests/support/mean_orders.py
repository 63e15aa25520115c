"""Players in order of the means of their beliefs, prepared for the policies of pairs."""

from __future__ import annotations

import numpy as np

from valmatch.kernels.arrays import Floats, Ints
from valmatch.policies.mean_order import prepare
from valmatch.policies.waiting import MeanOrder, order_of


def ordered(
    means: Floats, variances: Floats, tickets: Ints, band: int, noise_variance: float
) -> MeanOrder:
    """Return those who wait, prepared in memory that is not clean."""
    order = order_of(means, variances, tickets, band, noise_variance)
    for memory in (order.nearby, order.starts, order.best):
        memory[:] = 7
    prepare(order)
    return order


def random_order(rng: np.random.Generator, n: int, band: int, noise_variance: float) -> MeanOrder:
    """Return players of random beliefs; at times many are alike, and means lie far apart."""
    kind = rng.integers(4)
    means: Floats
    variances: Floats
    if kind == 0:
        means = 100.0 * rng.integers(0, 4, n).astype(np.float64)
        variances = 9e3 * rng.integers(0, 3, n).astype(np.float64)
    elif kind == 1:
        means, variances = rng.standard_cauchy(n) * 50.0, rng.uniform(0.0, 9e4, n)
    elif kind == 2:
        means, variances = np.full(n, 1500.0), np.full(n, 9e4)
    else:
        means, variances = rng.normal(1500.0, 300.0, n), rng.uniform(40.0, 300.0, n) ** 2
    tickets = rng.permutation(n)
    place = np.lexsort((tickets, means))
    return ordered(means[place], variances[place] * 1.0, tickets[place], band, noise_variance)
