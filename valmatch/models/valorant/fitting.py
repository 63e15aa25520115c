"""Fitting the process of arrivals to a queue log by maximum likelihood."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple, TypeAlias

import numpy as np

from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.models.valorant.arrivals import ArrivingPlayers
from valmatch.models.valorant.wall_clock import DAY, wall_hours

MOST_QUANTILES = 41

PLAYERS_A_QUANTILE = 10  # players between two quantiles, about, at least
BEYOND = 5  # players beyond the outer quantiles, about: their tails are straight lines


class Fit(NamedTuple):
    """The arrival process that is fitted to a log."""

    # players per hour in each hour of the day, or of the log where it is shorter
    rates: list[float]
    # (probability, rating) pairs of the quantile function of ratings
    quantiles: list[tuple[float, float]]
    hours: int  # hours of the log


class HourlyCounts(NamedTuple):
    """Arrivals in each hour that a log covers."""

    # (n,) int64: the hours since the first midnight, by the clock, in the order of time
    hours: Ints
    arrivals: Ints  # (n,) int64: players who arrived in each


Days: TypeAlias = Callable[[Ints], Bools]
"""Says of days, counted from the midnight before the first arrival, which are fitted to."""


def all_days(days: Ints) -> Bools:
    """Return that every day is fitted to."""
    return np.ones(days.shape, np.bool_)


def hourly_counts(
    times: Floats, days: Days = all_days, midnight: datetime | None = None
) -> HourlyCounts:
    """Count arrivals, whose hours are ascending, in the hours of some days that a log covers."""
    begin, end = math.floor(times[0]), math.floor(times[-1]) + 1
    hours = np.arange(begin, end)
    arrivals = np.bincount(np.floor(times).astype(np.int64) - begin, minlength=end - begin)
    hours = wall_hours(midnight, hours)
    kept = days(hours // DAY)
    return HourlyCounts(hours[kept], arrivals[kept])


def fit_arrivals(
    players: ArrivingPlayers, days: Days = all_days, midnight: datetime | None = None
) -> Fit:
    """Estimate hourly rates, by maximum likelihood, and the distribution of ratings.

    The log is taken to cover whole hours, from that of its first arrival to that of its last.
    """
    period = min(DAY, math.floor(players.times[-1]) + 1)
    counts = hourly_counts(players.times, days, midnight)
    covered = np.bincount(counts.hours % DAY, minlength=DAY)[:period]
    total = np.bincount(counts.hours % DAY, counts.arrivals, minlength=DAY)[:period]
    rates = total / np.maximum(covered, 1)
    ratings = players.ratings[days(days_of(players.times, midnight))]
    return Fit(
        [float(f"{rate:.6g}") for rate in rates.tolist()], _quantiles(ratings), counts.hours.size
    )


def days_of(times: Floats, midnight: datetime | None) -> Ints:
    """Return the day of each time, counted from the midnight before the first, by the clock."""
    return wall_hours(midnight, np.floor(times).astype(np.int64)) // DAY


def _quantiles(ratings: Floats) -> list[tuple[float, float]]:
    """Return quantiles at equal distances on the scale of a normal."""
    from scipy.special import ndtr, ndtri

    n = ratings.size
    most = float(ndtri(1.0 - min(0.25, BEYOND / n)))
    count = max(2, min(MOST_QUANTILES, n // PLAYERS_A_QUANTILE))
    shares = ndtr(np.linspace(-most, most, count))
    values = np.quantile(ratings, shares, method="median_unbiased")
    pairs = zip(shares.tolist(), np.maximum.accumulate(values).tolist(), strict=True)
    return [(float(f"{share:.9g}"), float(f"{value:.9g}")) for share, value in pairs]
