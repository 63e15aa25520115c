"""Waits in order as far as their quantiles go, against sorting them all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from valmatch.models.valorant.days import FEW, order, order_waits

Law = Callable[[np.random.Generator, int], NDArray[Any]]

LAWS: dict[str, Law] = {
    "exponential": lambda rng, n: rng.exponential(4.0, n),
    "all the same": lambda _, n: np.full(n, 2.5, np.float64),
    "none": lambda _, n: np.zeros(n),
    "many ties": lambda rng, n: rng.choice([0.1, 0.3, 2.0], n),
    "one large": lambda rng, n: np.append(rng.random(n - 1), 1e12),
    "few large": lambda rng, n: rng.pareto(0.4, n),
    "very near": lambda rng, n: 1.0 + 1e-15 * rng.integers(0, 9, n),
    "tiny": lambda rng, n: 5e-324 * rng.integers(0, 9, n),
    "half none": lambda rng, n: rng.random(n) * (rng.random(n) < 0.5),
}


@pytest.mark.parametrize("n", [1, 2, FEW, FEW + 1, 5000, 70_001])
@pytest.mark.parametrize("law", LAWS)
def test_wanted_ranks_hold_what_sorting_puts_there(law: str, n: int) -> None:
    rng = np.random.default_rng([n, len(law)])
    for _ in range(3):
        waits = LAWS[law](rng, n)
        ranks = np.unique(rng.integers(0, n, 8))
        expected = np.sort(waits)[ranks]
        order(waits, ranks)
        np.testing.assert_array_equal(waits[ranks], expected)


@pytest.mark.parametrize("n", [1, 2, 3, 99, FEW + 1, 30_000])
def test_quantiles_are_those_of_numpy(n: int) -> None:
    waits = np.random.default_rng(n).gamma(2.0, 3.0, n)
    expected = np.quantile(waits, [0.5, 0.9, 0.95, 0.99])
    order_waits(waits)
    last = n - 1
    for q, value in zip([0.5, 0.9, 0.95, 0.99], expected.tolist(), strict=True):
        low = int(q * last)
        high = min(low + 1, last)
        found = waits[low] + (waits[high] - waits[low]) * (q * last - low)
        assert found == pytest.approx(value, rel=1e-12)


def test_nothing_has_no_order() -> None:
    waits = np.empty(0)
    order_waits(waits)
    assert waits.size == 0
