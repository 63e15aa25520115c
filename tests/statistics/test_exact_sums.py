"""Exact sums against fractions, whatever the order and the size of the numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from tests.support.interpreted import interpreted
from valmatch.kernels.arrays import Floats
from valmatch.statistics.estimates import estimate
from valmatch.statistics.exact_sums import UNIT, ExactSums, sums_of

SAMPLES = {
    "normal": np.random.default_rng(1).normal(1.0, 2.0, 500),
    "skewed": np.random.default_rng(2).lognormal(0.0, 9.0, 500),
    "any bits": np.random.default_rng(3).integers(-(2**62), 2**62, 500).view(np.float64),
    "ends": np.array([5e-324, -5e-324, 2.2e-308, 1.7e308, -1.7e308, 1.7e308, 0.0, -0.0]),
    "cancelling": np.array([1e100, 1.0, -1e100, 2.0**-1000]),
    "one": np.array([-0.1]),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_sums_are_those_of_fractions(name: str) -> None:
    values = SAMPLES[name]
    numbers = [Fraction(value) for value in values.tolist()]
    found = sums_of(values)
    assert (found.n, found.undefined) == (len(numbers), 0)
    assert Fraction(found.total, 1 << UNIT) == sum(numbers)
    assert Fraction(found.squares, 1 << 2 * UNIT) == sum(x * x for x in numbers)
    assert (found.low, found.high) == (values.min(), values.max())


def test_a_mean_and_a_variance_are_rounded_once() -> None:
    numbers = [Fraction(value) for value in SAMPLES["normal"].tolist()]
    n, mean = len(numbers), sum(numbers) / len(numbers)
    variance = sum((x - mean) ** 2 for x in numbers) / (n - 1)
    found = estimate(SAMPLES["normal"])
    assert found.mean == math.fsum(SAMPLES["normal"].tolist()) / n
    assert found.std == math.sqrt(float(variance))


def test_equal_values_have_no_deviation() -> None:
    assert estimate(np.full(7, 0.1)).std == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_no_order_changes_a_sum(seed: int) -> None:
    values = np.concatenate([SAMPLES["normal"], SAMPLES["skewed"], np.full(20, np.nan)])
    shuffled = np.random.default_rng(seed).permutation(values)
    assert sums_of(shuffled) == sums_of(values)
    assert sums_of(shuffled).undefined == 20
    assert estimate(shuffled) == estimate(values)


def test_nothing_and_nan_alone() -> None:
    assert sums_of(np.empty(0)) == ExactSums()
    assert sums_of(np.full(3, np.nan)) == ExactSums(undefined=3)


def test_infinite_values_have_an_infinite_mean() -> None:
    one = estimate(np.array([1.0, np.inf, 2.0]))
    assert (one.n, one.mean, one.max) == (3, math.inf, math.inf)
    assert math.isnan(one.std or 0.0)


def totals(values: list[float]) -> list[int]:
    """Return the sums of numbers, as plain Python may be asked for them."""
    found = sums_of(np.array(values))
    return [found.total, found.squares]


def test_the_plain_twin_agrees() -> None:
    values: Floats = np.concatenate(list(SAMPLES.values()))
    assert interpreted(__name__, "totals", values.tolist()) == repr(totals(values.tolist()))
