"""Estimates against hand-worked numbers and against theory; bounds against their definitions."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from tests.support.noises import NOISES, held
from tests.support.refusals import defined
from valmatch.models.model import SHARE
from valmatch.statistics.curve_sums import CurveSums
from valmatch.statistics.estimates import (
    cantelli_factor,
    clopper_pearson,
    estimate,
    is_skewed,
    johnson_shift,
    range_quantile,
    student,
    t_quantile,
)
from valmatch.statistics.exact_sums import sums_of
from valmatch.statistics.rounding import arms_of


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


def test_curve_sums_are_means_and_standard_errors_in_any_order() -> None:
    rows = np.random.default_rng(3).normal(1.0, 2.0, (50, 2, 3))
    rows[:48, 0, 0], rows[:, 0, 1] = np.nan, np.nan  # values that few or no replications define
    whole, parts = CurveSums.zeros((2, 3)), [CurveSums.zeros((2, 3)) for _ in range(3)]
    assert np.isnan(whole.mean).all()
    for k, row in enumerate(rows):
        whole.add(row)
        parts[k % 3].add(row)
        if k == 0:
            np.testing.assert_allclose(whole.mean, row, atol=1e-9)
            assert np.isnan(whole.std_error).all()
    assert (whole.n, whole.defined.tolist()) == (50, [[2, 0, 50], [50, 50, 50]])
    for index in np.ndindex(2, 3):
        values = rows[(slice(None), *index)]
        mean = estimate(values)
        expected = mean.mean or np.nan, mean.std_error or np.nan
        np.testing.assert_allclose((whole.mean[index], whole.std_error[index]), expected, atol=1e-8)
    merged = CurveSums.zeros((2, 3))
    for part in reversed(parts):
        merged.merge(part)
    for name in ("mean", "std_error"):
        np.testing.assert_array_equal(getattr(merged, name), getattr(whole, name))


@pytest.mark.parametrize("count", [0, 1, 7, 10])
@pytest.mark.parametrize("tail", [0.025, 1e-9])
def test_clopper_pearson_bounds_leave_the_tails_of_the_binomial(count: int, tail: float) -> None:
    n = 10
    low, high = clopper_pearson(count, n, tail)
    assert low == 0.0 if count == 0 else stats.binom.sf(count - 1, n, low) == pytest.approx(tail)
    assert high == 1.0 if count == n else stats.binom.cdf(count, n, high) == pytest.approx(tail)


def test_shifts_and_factors_are_those_of_their_sources() -> None:
    assert johnson_shift(2.0, 9, 2.0) == pytest.approx(1.0)
    assert cantelli_factor(0.025) == pytest.approx(6.245, abs=1e-3)
    assert cantelli_factor(0.5) == 1.0


@pytest.mark.parametrize(
    ("skewness", "n", "skewed"),
    [(2.0, 10, True), (-2.0, 10, True), (1.0, 10, False), (2.0, 199, True), (2.0, 200, False)],
)
def test_a_sample_is_skewed_until_it_is_large(skewness: float, n: int, skewed: bool) -> None:
    assert is_skewed(skewness, n, 50.0) is skewed


@pytest.mark.parametrize(
    ("name", "n", "least", "before"),
    [
        ("normal", 10, 0.95, 1.0),
        ("exponential", 30, 0.955, 0.94),
        ("lognormal 1", 20, 0.92, 0.89),
        ("yes/no .05", 10, 0.975, 0.5),
        ("counts 1", 5, 0.95, 1.0),
        ("rare differences", 10, 0.98, 1.0),
    ],
)
def test_intervals_hold(name: str, n: int, least: float, before: float) -> None:
    runs = 1000  # more of each, and more noises and sizes, are in tests/verification
    found = held(NOISES[name], n, runs)
    error = math.sqrt(least * (1.0 - least) / runs)
    assert found.rule >= least - 3.0 * error
    assert found.student <= before
    if name == "normal":
        assert found.rule <= least + 3.0 * error
        assert found.remarked <= 0.05 + 3.0 * error
        assert found.same == 1.0 - found.remarked


def test_hand_worked_intervals_of_two_values() -> None:
    # No event in 10: 1 - 0.025^(1 / 10); between limits the other value has been seen or not.
    none = 1.0 - 0.025**0.1
    for values, limits, ends in (
        (np.zeros(10), SHARE, (0.0, none)),
        (np.ones(10), SHARE, (1.0 - none, 1.0)),
        (np.full(10, 3.0), (3.0, 5.0), (3.0, 3.0 + 2.0 * none)),
    ):
        found = estimate(values, limits=limits)
        assert (found.ci_low, found.ci_high) == pytest.approx(ends, rel=1e-12)
        assert found.remarks == ()
    # 1 of 10: published bounds of Clopper and Pearson 0.0025 and 0.4450.
    rare = np.repeat([0.0, 1.0], [9, 1])
    within, without = estimate(rare, limits=SHARE), estimate(rare)
    assert (within.ci_low, within.ci_high) == pytest.approx((0.0025286, 0.4450161), abs=1e-7)
    assert without.ci_low == student(sums_of(rare), 0.95).ci_low
    assert without.ci_high == within.ci_high
    both = np.repeat([0.0, 1.0], [30, 30])
    assert estimate(both, limits=SHARE) == student(sums_of(both), 0.95)
    assert estimate(both[1:], limits=SHARE) != student(sums_of(both[1:]), 0.95)


def test_hand_worked_interval_of_skewed_values() -> None:
    values = np.array([*range(9), 30.0])
    plain, found = student(sums_of(values), 0.95), estimate(values)
    quantile = stats.t.ppf(0.975, 9)
    shift = (1.0 + 2.0 * quantile**2) / (6.0 * math.sqrt(10)) * stats.skew(values)
    assert found.remarks == ("skewed",)
    assert found.ci_low == plain.ci_low
    assert found.ci_high == pytest.approx(plain.ci_high + 2.0 * shift * plain.std_error, rel=1e-12)
    mirrored = estimate(-values)
    assert found.arms == defined(mirrored.arms)[::-1]
    assert found.asymmetric
    assert found.half_width == found.arms[1]


@pytest.mark.parametrize(
    ("counts", "few"),
    [
        ((10,), True),
        ((28, 1, 1), True),
        ((21, 5, 4), True),
        ((20, 5, 5), False),
        ((4, 1, 1), False),
    ],
)
def test_few_values_are_remarked(counts: Sequence[int], few: bool) -> None:
    values = np.repeat([0.0, 1.0, -1.0][: len(counts)], counts)
    assert ("few_values" in estimate(values).remarks) is few


def test_one_replication_has_no_remark() -> None:
    assert estimate(np.zeros(1), limits=SHARE).remarks == ()
    assert estimate(np.array([math.inf, 1.0, 2.0])).remarks == ()


@pytest.mark.parametrize(
    ("arms", "text"),
    [
        ((0.00004, 0.0037), "0.0000/+0.0037"),
        ((-1e-17, 0.2), "0.0000/+0.2000"),
        ((0.1, 0.0), "-0.1000/0.0000"),
    ],
)
def test_an_arm_that_rounds_to_nothing_has_no_sign(arms: tuple[float, float], text: str) -> None:
    assert arms_of(arms, "0.0037") == text
