"""Moving blocks: their length, their degrees of freedom, and what skewness does to intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from tests.support.refusals import defined
from valmatch.statistics.sampling import Resampled, block_days, overlapping_degrees, widening


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
