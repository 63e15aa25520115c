"""Estimates against hand-worked numbers and against theory; bounds against their definitions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import isotonic_regression

import valmatch as library
from tests.support.noises import NOISES, held
from tests.support.refusals import defined
from valmatch.models.model import ANY, NOT_NEGATIVE, SHARE
from valmatch.optimization.problem import Term
from valmatch.optimization.verdict import limits_of_objective
from valmatch.statistics.control_variates import Adjusted
from valmatch.statistics.curves import CurveSums, crossing, crossing_interval, monotone
from valmatch.statistics.estimates import (
    UNIT,
    arms_of,
    cantelli_factor,
    clopper_pearson,
    estimate,
    is_skewed,
    johnson_shift,
    limits_of_difference,
    range_quantile,
    student,
    sums_of,
    t_quantile,
)
from valmatch.statistics.sampling import Resampled, block_days, overlapping_degrees, widening


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


@pytest.mark.parametrize("rising", [True, False])
def test_pooling_is_isotonic_regression(rising: bool) -> None:
    rng = np.random.default_rng(1)
    for size in (1, 2, 5, 40):
        values = rng.normal(size=size)
        expected = isotonic_regression(values, increasing=rising).x
        assert monotone(values, rising) == pytest.approx(expected, abs=1e-12)


def test_a_curve_is_interpolated_in_the_logarithm_of_games() -> None:
    games = np.array([10, 100, 1000])
    assert crossing(games, np.array([0.2, 0.4, 0.8]), 0.6, True) == pytest.approx(10**2.5)
    assert crossing(games, np.array([8.0, 4.0, 2.0]), 7.0, False) == pytest.approx(10**1.25)
    assert crossing(games, np.array([0.2, 0.4, 0.8]), 0.1, True) == 10.0
    assert crossing(games, np.array([0.2, 0.4, 0.8]), 0.4, True) == 100.0
    assert crossing(games, np.array([0.2, 0.4, 0.8]), 0.9, True) == math.inf
    assert crossing(games[:0], np.zeros(0), 0.9, True) == math.inf


@pytest.mark.slow
def test_an_interval_holds_the_truth_as_often_as_it_says() -> None:
    """Shares p = .5, .6, .7, .8: a share of .65 is reached at the middle of 200 and 400 in logs."""
    rng, games = np.random.default_rng(2), np.array([100, 200, 400, 800])
    shares, held, worlds = np.array([0.5, 0.6, 0.7, 0.8]), 0, 50
    for _ in range(worlds):
        values = (rng.random((300, 1)) < shares).astype(float)
        low, high = crossing_interval(games, values, 0.65, True, 0.9, rng)
        assert low <= crossing(games, values.mean(axis=0), 0.65, True) <= high
        held += low <= math.sqrt(200 * 400) <= high
    assert abs(held / worlds - 0.9) < 3.0 * math.sqrt(0.9 * 0.1 / worlds)


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


@pytest.mark.parametrize("seed", range(5))
def test_no_order_changes_a_sum(seed: int) -> None:
    values = np.concatenate([SAMPLES["normal"], SAMPLES["skewed"], np.full(20, np.nan)])
    shuffled = np.random.default_rng(seed).permutation(values)
    assert sums_of(shuffled) == sums_of(values)
    assert sums_of(shuffled).undefined == 20
    assert estimate(shuffled) == estimate(values)


def test_infinite_values_have_an_infinite_mean() -> None:
    one = estimate(np.array([1.0, np.inf, 2.0]))
    assert (one.n, one.mean, one.max) == (3, math.inf, math.inf)
    assert math.isnan(one.std or 0.0)


@pytest.mark.parametrize(
    ("days", "length"),
    [(2, 1), (7, 1), (7.96, 1), (8, 2), (15, 2), (16, 3), (27, 3), (40, 3), (120, 5), (1000, 10)],
)
def test_blocks_are_the_cube_root_of_the_days_long(days: float, length: int) -> None:
    assert block_days(days) == length


@pytest.mark.parametrize(("days", "length"), [(40, 3), (120, 5), (30, 2), (12, 1)])
def test_overlapping_blocks_say_less_than_so_many_apart(days: int, length: int) -> None:
    shared = [1.0 - abs(k) / length for k in range(1 - length, length)]
    expected = days / math.fsum(one**2 for one in shared) - 1.0
    assert overlapping_degrees(days, length) == pytest.approx(expected, rel=1e-12)
    # Of blocks of a day it is the days less one; of longer ones more than of those apart.
    assert overlapping_degrees(days, length) >= days / length - 1.0
    assert overlapping_degrees(4, 3) == 1.0


def test_degrees_are_those_of_a_spread_of_independent_days() -> None:
    # The variance of a variance with f degrees of freedom is 2 / f of its square.
    days, length, samples = 400, 4, 4000
    values = np.random.default_rng(3).standard_normal((samples, days + length - 1))
    sums = np.cumsum(np.pad(values, ((0, 0), (1, 0))), axis=1)
    blocks = (sums[:, length:] - sums[:, :-length]) / length**0.5
    spreads = blocks.var(axis=1)
    found = 2.0 * spreads.mean() ** 2 / spreads.var(ddof=1)
    error = found * math.sqrt(2.0 / samples)
    assert abs(found - overlapping_degrees(days, length)) <= 4.0 * error


def test_skewness_widens_by_a_hand_computation() -> None:
    # Mean 1/4, second and third central moment 3/16 and 3/32: squared skewness 4/3; chance makes
    # 12/35 of none.
    values = np.array([0.0, 0.0, 0.0, 1.0])
    wide = 1.0 + math.sqrt(4 / 3 - 12 / 35) * 1.959963984540054 / 4
    assert wide == pytest.approx(1.48765, abs=1e-5)
    for same in (values, 1.0 - values, values * 1e300, values * 1e-300, values * 7.0 - 5.0):
        assert widening(same, 0.95) == pytest.approx(wide, rel=1e-9)
    assert widening(np.append(values, math.nan), 0.95) == pytest.approx(wide, rel=1e-12)
    more = 1.0 + (wide - 1.0) * 2.5758293035489004 / 1.959963984540054
    assert widening(values, 0.99) == pytest.approx(more, rel=1e-12)


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 2.0], [3.0] * 9, [math.nan, 1.0, 5.0]])
def test_what_shows_no_skewness_widens_nothing(values: list[float]) -> None:
    assert widening(np.array(values), 0.95) == 1.0


def test_skewness_within_chance_widens_nothing() -> None:
    even = np.linspace(-1.0, 1.0, 199)
    assert widening(even, 0.95) == 1.0
    skewed = even + 0.05 * even**2
    assert 0.0 < stats.skew(skewed) ** 2 < 6 / 199
    assert widening(skewed, 0.95) == 1.0


def test_the_interval_is_as_much_wider() -> None:
    values = np.random.default_rng(2).exponential(size=60)
    own, resamples = values[0], values[1:]
    found = Resampled(candidates=5.0, degrees=4.0).estimate(values, 0.9, range(60))
    squared = stats.skew(resamples) ** 2 - 6 * 57 / (60 * 62)
    assert squared > 1.0
    half = stats.t.ppf(0.95, 4) * resamples.std(ddof=1) * (5 / 4) ** 0.5
    half *= 1.0 + squared**0.5 * stats.norm.ppf(0.95) / 4.0
    assert found.half_width == pytest.approx(half, rel=1e-9)
    assert own - defined(found.ci_low) == pytest.approx(half, rel=1e-9)


MODELS = ("valorant", "ladder", "zonestats", "kg-fig1-top", "targeting")


def test_an_interval_ends_at_the_limits_and_holds_its_mean() -> None:
    wide = estimate(np.array([0.0, 0.0, 9.0]))
    assert defined(wide.ci_low) < 0.0
    cut = wide.within(NOT_NEGATIVE)
    assert (cut.ci_low, cut.ci_high, cut.mean) == (0.0, wide.ci_high, wide.mean)
    assert (cut.asymmetric, wide.asymmetric) == (True, False)
    assert cut.half_width == wide.half_width
    assert wide.within(ANY) == wide
    beyond = estimate(np.array([-3.0, -1.0])).within(NOT_NEGATIVE)  # a model that declares wrongly
    assert defined(beyond.ci_high) > 0.0
    assert beyond.ci_low == beyond.mean == -2.0
    alone = estimate(np.array([2.0]))
    assert alone.within(SHARE) == alone
    assert limits_of_difference(SHARE) == (-1.0, 1.0)
    assert limits_of_difference(NOT_NEGATIVE) == ANY
    adjusted = Adjusted(1.01, 0.1, 0.8, 1.2, 2.0).within(SHARE)
    assert (adjusted.mean_cv, adjusted.ci_low_cv, adjusted.ci_high_cv) == (1.0, 0.8, 1.0)


def test_limits_of_an_objective() -> None:
    responses = {"share": SHARE, "wait": NOT_NEGATIVE}
    assert limits_of_objective([Term("a", "share", -2.0)], responses) == (-2.0, 0.0)
    both = [Term("a", "share", -2.0), Term("b", "wait", 3.0)]
    assert limits_of_objective(both, responses) == (-2.0, math.inf)
    assert limits_of_objective([Term("a", "wait", 0.0)], responses) == (0.0, 0.0)
    assert limits_of_objective([Term("a", "other", 1.0)], responses) == ANY


@pytest.mark.parametrize("model", MODELS)
def test_values_and_intervals_of_models_keep_what_is_declared(model: str) -> None:
    few = {"n_games": 20} if model.startswith("kg") else {}
    found = library.replicate(library.load_config(model, few), 2)
    waits = [one for one in found.responses if one.unit == "minutes"]
    shares = [one for one in found.responses if one.meaning.startswith("share of")]
    assert all(one.limits == NOT_NEGATIVE for one in waits)
    assert all(one.limits == SHARE for one in shares)
    for one, values in zip(found.responses, found.values.T, strict=True):
        low, high = one.limits
        defined = values[~np.isnan(values)]
        assert (defined >= low).all(), one
        assert (defined <= high).all(), one
        interval = found.estimates[one.name]
        if interval.ci_low is not None and interval.ci_high is not None:
            assert low <= interval.ci_low <= interval.ci_high <= high, one
