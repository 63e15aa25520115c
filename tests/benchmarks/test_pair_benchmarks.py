"""Time of the look-ahead of pairs, a ticket that waits."""

from __future__ import annotations

import numpy as np
from pytest_benchmark.fixture import BenchmarkFixture

from tests.support.mean_orders import ordered
from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import at, kernel
from valmatch.policies.mean_order import prepare
from valmatch.policies.pair_lookahead import pair_knowledge_gradient
from valmatch.policies.waiting import MeanOrder

WAITING, BAND = 1_000, 8


@kernel
def weigh_all(order: MeanOrder, worth: Floats) -> None:
    """Weigh all pairs in the band."""
    prepare(order)
    for i in range(order.means.size):
        for k in range(min(order.band, order.means.size - 1 - i)):
            worth[at(i), at(k)] = pair_knowledge_gradient(i, i + 1 + k, order, 19.0)


def test_a_look_ahead_with_1_000_waiting(benchmark: BenchmarkFixture) -> None:
    rng = np.random.default_rng(1)
    means, variances = rng.normal(1500.0, 300.0, WAITING), rng.uniform(40.0, 300.0, WAITING) ** 2
    order = ordered(np.sort(means), variances, rng.permutation(WAITING), BAND, 150.0**2)
    worth = np.zeros((WAITING, BAND))
    weigh_all(order, worth)
    benchmark.pedantic(weigh_all, (order, worth), rounds=100)  # type: ignore[no-untyped-call]
    assert worth[:-1, 0].min() > 0.0
    assert benchmark.stats is not None
    least = float(benchmark.stats["min"])
    benchmark.extra_info["nanoseconds_per_ticket"] = 1e9 * least / WAITING
