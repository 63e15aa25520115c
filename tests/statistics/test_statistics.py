"""Estimates against hand-worked numbers and against theory."""

from __future__ import annotations

import math

import numpy as np
import pytest

from valmatch.statistics.curve_sums import CurveSums
from valmatch.statistics.estimates import estimate, range_quantile, t_quantile


def test_hand_worked_estimate() -> None:
    # 1, 2, 3, 6: mean 3, squared deviations 4 + 1 + 0 + 9 = 14, variance 14 / 3.
    one = estimate(np.array([1.0, 2.0, np.nan, 3.0, 6.0]))
    assert (one.n, one.undefined, one.mean, one.min, one.max) == (4, 1, 3.0, 1.0, 6.0)
    assert one.std == pytest.approx(math.sqrt(14 / 3), rel=1e-15)
    assert one.std_error == pytest.approx(math.sqrt(14 / 12), rel=1e-15)
    # The 97.5 % point of t with 3 degrees of freedom is 3.182446305284263 (published tables).
    assert one.half_width == pytest.approx(3.182446305284263 * math.sqrt(14 / 12), rel=1e-12)
    assert one.ci_low == pytest.approx(3.0 - 3.182446305284263 * math.sqrt(14 / 12), rel=1e-12)


def test_nothing_defined_says_nothing() -> None:
    one = estimate(np.array([np.nan, np.nan]))
    assert (one.n, one.undefined) == (0, 2)
    nothing = (one.mean, one.std, one.std_error, one.ci_low, one.ci_high, one.min, one.max)
    assert nothing == (None,) * 7
    assert one.half_width is None


def test_one_value_has_no_spread() -> None:
    one = estimate(np.array([5.0]))
    assert (one.n, one.mean, one.std, one.ci_low, one.min) == (1, 5.0, None, None, 5.0)


@pytest.mark.parametrize("degrees", [1.0, 2.0, 7.0, math.inf])
def test_the_range_of_two_is_that_of_a_difference(degrees: float) -> None:
    expected = math.sqrt(2.0) * t_quantile(0.975, degrees)
    assert range_quantile(0.95, 2, degrees) == pytest.approx(expected, rel=1e-9)


def test_t_quantiles_of_published_tables() -> None:
    assert t_quantile(0.975, 1) == pytest.approx(12.7062047364, rel=1e-10)
    assert t_quantile(0.95, 10) == pytest.approx(1.8124611228, rel=1e-9)
    assert range_quantile(0.95, 3, 10) == pytest.approx(3.877, abs=5e-4)


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_coverage_is_the_confidence(confidence: float) -> None:
    rng = np.random.default_rng(1)
    runs = 4000
    intervals = (estimate(rng.normal(7.0, 3.0, 6), confidence) for _ in range(runs))
    covered = sum(one.ci_low <= 7.0 <= one.ci_high for one in intervals)  # type: ignore[operator]
    error = math.sqrt(confidence * (1 - confidence) / runs)
    assert abs(covered / runs - confidence) <= 4 * error


def test_order_of_the_values_does_not_matter() -> None:
    values = np.random.default_rng(2).lognormal(0, 5, 1000)
    assert estimate(values) == estimate(values[::-1].copy())


def test_curve_sums_are_means_and_standard_errors() -> None:
    rows = np.random.default_rng(3).normal(1.0, 2.0, (50, 2, 3))
    sums = CurveSums.zeros((2, 3))
    for row in rows:
        sums.add(row)
    np.testing.assert_allclose(sums.mean, rows.mean(axis=0), atol=1e-9)
    errors = rows.std(axis=0, ddof=1) / math.sqrt(50)
    np.testing.assert_allclose(sums.std_error, errors, atol=1e-8)


def test_curve_sums_do_not_depend_on_chunks_or_order() -> None:
    rows = np.random.default_rng(4).normal(0.0, 1.0, (60, 4))
    whole, parts = CurveSums.zeros((4,)), [CurveSums.zeros((4,)) for _ in range(3)]
    for k, row in enumerate(rows):
        whole.add(row)
        parts[k % 3].add(row)
    merged = CurveSums.zeros((4,))
    for part in reversed(parts):
        merged.merge(part)
    assert merged.mean.tolist() == whole.mean.tolist()
    assert merged.std_error.tolist() == whole.std_error.tolist()


def test_curve_sums_over_too_little_are_undefined() -> None:
    sums = CurveSums.zeros((2,))
    assert np.isnan(sums.mean).all()
    sums.add(np.array([1.0, 2.0]))
    assert sums.mean.tolist() == [1.0, 2.0]
    assert np.isnan(sums.std_error).all()


def test_curve_sums_count_who_defines_a_value() -> None:
    sums = CurveSums.zeros((3,))
    for values in ([1.0, np.nan, np.nan], [2.0, 5.0, np.nan], [6.0, np.nan, np.nan]):
        sums.add(np.array(values))
    other = CurveSums.zeros((3,))
    other.add(np.array([3.0, 7.0, np.nan]))
    sums.merge(other)
    assert sums.n == 4
    assert sums.defined.tolist() == [4, 2, 0]
    np.testing.assert_allclose(sums.mean, [3.0, 6.0, np.nan])
    deviation = float(np.std([1.0, 2.0, 6.0, 3.0], ddof=1))
    np.testing.assert_allclose(sums.std_error, [deviation / 2.0, 1.0, np.nan])
