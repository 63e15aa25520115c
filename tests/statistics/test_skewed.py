"""Bounds for means of skewed and of two-valued samples, against their definitions."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from tests.support.noises import NOISES, held
from tests.support.refusals import defined
from valmatch.models.model import SHARE
from valmatch.statistics.estimates import (
    cantelli_factor,
    clopper_pearson,
    estimate,
    is_skewed,
    johnson_shift,
    student,
)
from valmatch.statistics.exact_sums import sums_of


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
