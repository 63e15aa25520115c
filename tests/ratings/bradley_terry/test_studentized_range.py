"""Quantiles of the studentized range, against scipy and what is known."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from valmatch.ratings.bradley_terry.studentized_range import quantile


@pytest.mark.parametrize("n", [2, 3, 10, 60])
@pytest.mark.parametrize("degrees", [3.0, 20.0, 122.0, math.inf])
@pytest.mark.parametrize("level", [0.9, 0.99])
def test_quantiles_are_those_of_scipy(n: int, degrees: float, level: float) -> None:
    found = stats.studentized_range.cdf(quantile(level, n, degrees), n, degrees)
    assert found == pytest.approx(level, abs=1e-6)


@pytest.mark.parametrize("degrees", [1.0, 2.0, 7.0, math.inf])
def test_of_two_it_is_that_of_a_difference(degrees: float) -> None:
    expected = math.sqrt(2.0) * (
        stats.t.ppf(0.975, degrees) if math.isfinite(degrees) else stats.norm.ppf(0.975)
    )
    assert quantile(0.95, 2, degrees) == pytest.approx(expected, rel=1e-6)
