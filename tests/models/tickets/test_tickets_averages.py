"""Averages and percentiles of tickets and matches, held against plain ones."""

from __future__ import annotations

import numpy as np
import pytest

from valmatch.models.tickets.groups import covered, mean, percentile, worst_percentile


def test_percentiles_are_of_what_is_defined() -> None:
    values = np.array([3.0, np.nan, 1.0, 2.0])
    assert percentile(values, 50) == 2.0
    assert values[0] == 3.0
    assert np.isnan(percentile(values[1:2], 50))


def test_the_worst_group_is_that_of_enough_values() -> None:
    slow, quick = np.full(30, 40.0), np.full(300, 10.0)
    values, of = np.concatenate((slow, quick)), np.repeat([0, 1], [30, 300])
    every = np.percentile(values, 90)
    assert worst_percentile(values, [np.zeros_like(of), of], 90, 20) == 40.0 / every
    assert worst_percentile(values, [of], 90, 31) == 10.0 / every
    assert np.isnan(worst_percentile(values, [of], 90, 301))


def test_covered_time_is_that_of_a_fine_grid() -> None:
    rng = np.random.default_rng(9)
    for _ in range(100):
        n = int(rng.integers(0, 12))
        begin = rng.integers(0, 100, n) / 1.0
        end = begin + rng.integers(0, 12, n)
        seconds = np.arange(10, 90)[:, np.newaxis]
        there = ((begin <= seconds) & (seconds < end)).any(axis=1)
        assert covered(begin, end, (10.0, 90.0)) == there.sum()


def test_means_do_not_depend_on_the_order() -> None:
    values = np.random.default_rng(2).lognormal(0.0, 9.0, 1000)
    assert mean(values[::-1]) == mean(values) == pytest.approx(values.mean())
    assert mean(np.append(values, np.nan)) == mean(values)
    assert np.isnan(mean(values[:0]))
