"""Counts, averages and percentiles; sums are exact, and NaN is what is undefined."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.statistics.exact_sums import sums_of


def count(which: Bools) -> int:
    """Return how many are True."""
    return int(np.count_nonzero(which))


def mean(values: Floats | Ints | Bools) -> float:
    """Return the mean of the values that are defined; NaN of none."""
    sums = sums_of(np.asarray(values, np.float64))
    return sums.mean if sums.n else math.nan


def percentile(values: Floats, percent: float) -> float:
    """Return a percentile of the values that are defined; NaN of none."""
    known = values[~np.isnan(values)]
    return float(np.percentile(known, percent, overwrite_input=True)) if known.size else math.nan


def worst_percentile(
    values: Floats, divisions: Iterable[Ints], percent: float, enough: int
) -> float:
    """Return a percentile in the worst group over that of all; groups are those with enough values.

    Each division has the number of the group of each value.
    """
    worst = math.nan
    for of in divisions:
        for number in np.unique(of):
            group = values[of == number]
            if group.size >= enough:
                worst = np.fmax(worst, percentile(group, percent))
    every = percentile(values, percent)
    return float(worst / every) if every > 0.0 else math.nan


def time_average(
    begin: Floats, end: Floats, weights: float | Ints, within: tuple[float, float]
) -> float:
    """Return the time average of a number of things that begin and end, each with its weight."""
    start, stop = within
    spent = np.clip(end, start, stop) - np.clip(begin, start, stop)
    return sums_of(weights * spent).sum / (stop - start)


def covered(begin: Floats, end: Floats, within: tuple[float, float]) -> float:
    """Return how long at least one of some things is there."""
    begins, ends = np.clip(begin, *within), np.clip(end, *within)
    order = np.argsort(begins, kind="stable")
    begins, latest = begins[order], np.maximum.accumulate(ends[order])
    apart = np.ones(begins.size, np.bool_)
    apart[1:] = begins[1:] > latest[:-1]
    return sums_of(latest[np.roll(apart, -1)] - begins[apart]).sum
