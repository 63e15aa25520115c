"""Bounds for means of skewed and of two-valued samples, against their definitions."""

from __future__ import annotations

import pytest
from scipy.stats import binom

from valmatch.statistics.skewed import (
    cantelli_factor,
    clopper_pearson,
    is_skewed,
    johnson_shift,
)


@pytest.mark.parametrize("count", [0, 1, 7, 10])
@pytest.mark.parametrize("tail", [0.025, 1e-9])
def test_clopper_pearson_bounds_leave_the_tails_of_the_binomial(count: int, tail: float) -> None:
    n = 10
    low, high = clopper_pearson(count, n, tail)
    assert low == 0.0 if count == 0 else binom.sf(count - 1, n, low) == pytest.approx(tail)
    assert high == 1.0 if count == n else binom.cdf(count, n, high) == pytest.approx(tail)


def test_shifts_and_factors_are_those_of_their_sources() -> None:
    assert johnson_shift(2.0, 9, 2.0) == pytest.approx(1.0)
    assert cantelli_factor(0.025) == pytest.approx(6.245, abs=1e-3)
    assert cantelli_factor(0.5) == 1.0


@pytest.mark.parametrize(
    ("skewness", "n", "skewed"),
    [(2.0, 10, True), (-2.0, 10, True), (1.0, 10, False), (2.0, 199, True), (2.0, 200, False)],
)
def test_a_sample_is_skewed_beyond_chance_until_it_is_large(
    skewness: float, n: int, skewed: bool
) -> None:
    assert is_skewed(skewness, n, 50.0) is skewed
