"""Where noisy curves reach a value."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from valmatch.statistics.crossing import crossing, crossing_interval, monotone


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
    shares, held, worlds = np.array([0.5, 0.6, 0.7, 0.8]), 0, 100
    for _ in range(worlds):
        values = (rng.random((300, 1)) < shares).astype(float)
        low, high = crossing_interval(games, values, 0.65, True, 0.9, rng)
        assert low <= crossing(games, values.mean(axis=0), 0.65, True) <= high
        held += low <= math.sqrt(200 * 400) <= high
    assert abs(held / worlds - 0.9) < 3.0 * math.sqrt(0.9 * 0.1 / worlds)
