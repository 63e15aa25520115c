"""Sequential stopping: where it looks, and what stops it."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from tests.support.refusals import defined
from valmatch import replicate
from valmatch.models.model import NOT_NEGATIVE, SHARE
from valmatch.statistics.estimates import UNLIMITED
from valmatch.statistics.precision import LEAST, Precision, Target, looks, parse_target

pytestmark = pytest.mark.usefixtures("command_line_words")

LIMITS = {"avg_wait_time": NOT_NEGATIVE, "quality.draw_chance.1-100": SHARE}


def normal(n: int, mean: float = 10.0, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(mean, 1.0, n)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("avg_wait_time=1%", Target("avg_wait_time", 0, 0.01, True, NOT_NEGATIVE)),
        ("avg_wait_time=0.05", Target("avg_wait_time", 0, 0.05, False, NOT_NEGATIVE)),
        (
            " quality.draw_chance.1-100 = 2.5e-3 ",
            Target("quality.draw_chance.1-100", 1, 0.0025, False, SHARE),
        ),
        ("avg_wait_time=200 %", Target("avg_wait_time", 0, 2.0, True, NOT_NEGATIVE)),
    ],
)
def test_targets_are_read(text: str, expected: Target) -> None:
    assert parse_target(text, LIMITS) == expected


def test_hand_worked_looks() -> None:
    assert list(looks(100, 300)) == [100, 120, 144, 173, 208, 250, 300]
    assert list(looks(100, 100)) == list(looks(200, 100)) == [100]
    assert list(looks(1, 8)) == [1, 2, 3, 4, 5, 6, 8]


@given(st.integers(1, 10_000), st.integers(1, 10**9))
def test_looks_grow_by_a_fifth_up_to_the_most(first: int, most: int) -> None:
    at = list(looks(first, most))
    assert at[0] == min(first, most)
    assert at[-1] == most
    steps = list(pairwise(at))
    assert all(a < b <= math.ceil(1.2 * a + 1e-9) for a, b in steps)
    assert all(b >= 1.2 * a for a, b in steps[:-1])


def upper_half_width(values: np.ndarray) -> float:
    """Return the half-width with the 80 % upper limit of the variance, by scipy."""
    n = values.size
    second, fourth = scipy.stats.moment(values, 2), scipy.stats.moment(values, 4)
    limit = np.var(values, ddof=1) + scipy.stats.norm.ppf(0.8) * np.sqrt((fourth - second**2) / n)
    return float(scipy.stats.t.ppf(0.975, n - 1) * np.sqrt(limit / n))


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("relative", [False, True])
def test_a_target_is_reached_at_the_upper_half_width(relative: bool, sign: float) -> None:
    values = sign * normal(250)
    size = upper_half_width(values)
    if relative:  # g with g / (1 + g) = share, for the error of the mean
        size = 1.0 / (abs(values.mean()) / size - 1.0)
    above = Target("x", 0, size * (1 + 1e-9), relative)
    assert above.reached(values)
    assert not above.reached(values, 0.96)  # a higher confidence asks for more
    missed = Target("x", 0, size * (1 - 1e-9), relative).assess(values)
    assert not missed.reached
    assert defined(missed.why).startswith("the half-width may be")


@pytest.mark.parametrize("unit", [1e-150, 1.0, 1e150])
def test_the_unit_of_a_response_does_not_matter(unit: float) -> None:
    values = np.random.default_rng(3).exponential(1.0, 900)
    sizes = np.geomspace(0.01, 1.0, 30)
    plain = [Target("x", 0, size, False).reached(values) for size in sizes]
    assert [Target("x", 0, size * unit, False).reached(values * unit) for size in sizes] == plain
    assert True in plain
    assert False in plain


def test_too_few_defined_values_are_not_enough() -> None:
    values = np.append(normal(LEAST - 1), [np.nan] * 500)
    loose = Target("x", 0, 100.0, False)
    result = loose.assess(values)
    assert (result.reached, result.why) == (False, "99 defined values are too few (at least 100)")
    assert result.achieved is not None
    assert loose.reached(np.append(values, 10.0))
    nothing = loose.assess(np.full(500, np.nan))
    assert (nothing.reached, nothing.achieved) == (False, None)


def test_no_half_width_is_small_against_a_mean_of_zero() -> None:
    values = np.tile([-1.0, 1.0], 5000)
    relative = Target("x", 0, 5.0, True).assess(values)
    assert (relative.reached, relative.achieved) == (False, None)
    assert "the mean is 0" in defined(relative.why)
    assert Target("x", 0, 0.1, False).reached(values)


def test_equal_values_stop_where_limits_bound_their_mean() -> None:
    # 1 - 0.025^(1 / n) is at most 0.01 from n = 368 on.
    within = Target("x", 0, 0.01, False, SHARE)
    for value in (0.0, 1.0):
        assert not within.reached(np.full(367, value))
        assert within.reached(np.full(368, value))
    assert not Target("x", 0, 0.1, True, SHARE).reached(np.zeros(1000))
    for limits in (UNLIMITED, NOT_NEGATIVE, SHARE):
        target = Target("x", 0, 0.1, False, limits)
        assert not target.reached(np.full(20_000, 0.7))
    rare = np.repeat([0.0, 1.0, -1.0], [990, 5, 4])
    few = Target("x", 0, 0.1, False).assess(rare)
    assert few.why == "of 999 values fewer than 10 differ from the most frequent one"
    assert Target("x", 0, 0.1, False).reached(np.append(rare, -1.0))


def test_skewed_values_need_their_number() -> None:
    # Ones among zeros: squared skewness (1 - 2p)^2 / (p (1 - p)), 9.33 at p = 0.08.
    loose = Target("x", 0, 10.0, False)
    ones = np.tile(np.repeat([0.0, 1.0], [23, 2]), 30)
    assert 50 * scipy.stats.skew(ones) ** 2 == pytest.approx(50 * 0.84**2 / (0.08 * 0.92))
    few = loose.assess(ones[:475])
    assert few.why == "475 values are too few for values this skewed (at least 480)"
    assert loose.reached(ones[:500])


def test_every_look_says_how_far_the_targets_are() -> None:
    said: list[str] = []
    run = replicate(
        "valorant",
        targets=["avg_wait_time=3%", "matched_fraction=0.01"],
        looked=lambda found: said.append(", ".join(one.shown for one in found)),
    )
    assert len(said) >= 1
    wait, matched = run.precision
    assert said[-1] == (
        f"avg_wait_time ± {100 * defined(wait.achieved):.2g}% (3%),"
        f" matched_fraction ± {defined(matched.achieved):.2g} (0.01)"
    )
    assert Precision("wait", "relative", 0.01, None, False, "").shown == "wait ± ?% (1%)"
