"""Fitting the process of arrivals to a queue log by maximum likelihood."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from valmatch.arrays import Bools, Floats, Ints
from valmatch.models.valorant.arrivals import ArrivingPlayers

DAY = 24

MOST_QUANTILES = 41

PLAYERS_A_QUANTILE = 10
"""Players between two quantiles, about, at least."""

BEYOND = 5
"""Players beyond the outer quantiles, about: their tails are straight lines."""


class Fit(NamedTuple):
    """The arrival process that is fitted to a log.

    Attributes
    ----------
    rates : list of float
        Players per hour in each hour of the day, or of the log where it is shorter.
    quantiles : list of tuple
        (probability, rating) pairs of the quantile function of ratings.
    hours : int
        Hours of the log.
    """

    rates: list[float]
    quantiles: list[tuple[float, float]]
    hours: int


class HourlyCounts(NamedTuple):
    """Arrivals in each hour that a log covers.

    Attributes
    ----------
    hours : numpy.ndarray
        (n,) int64: the hours, ascending.
    arrivals : numpy.ndarray
        (n,) int64: players who arrived in each.
    """

    hours: Ints
    arrivals: Ints


Days: TypeAlias = Callable[[Ints], Bools]
"""Says of days, counted from the midnight before the first arrival, which are fitted to."""


def all_days(days: Ints) -> Bools:
    """Return that every day is fitted to."""
    return np.ones(days.shape, np.bool_)


def hourly_counts(times: Floats, days: Days = all_days) -> HourlyCounts:
    """Count arrivals, whose hours are ascending, in the hours of some days that a log covers."""
    begin, end = math.floor(times[0]), math.floor(times[-1]) + 1
    hours = np.arange(begin, end)
    arrivals = np.bincount(np.floor(times).astype(np.int64) - begin, minlength=end - begin)
    kept = days(hours // DAY)
    return HourlyCounts(hours[kept], arrivals[kept])


def fit_arrivals(players: ArrivingPlayers, days: Days = all_days) -> Fit:
    """Estimate hourly rates, by maximum likelihood, and the distribution of ratings.

    The log is taken to cover whole hours, from that of its first arrival to that of its last.

    Parameters
    ----------
    players : ArrivingPlayers
        Those of the log.
    days : callable
        Which days to fit to; some player must have arrived in one.
    """
    period = min(DAY, math.floor(players.times[-1]) + 1)
    counts = hourly_counts(players.times, days)
    covered = np.bincount(counts.hours % DAY, minlength=DAY)[:period]
    total = np.bincount(counts.hours % DAY, counts.arrivals, minlength=DAY)[:period]
    rates = total / np.maximum(covered, 1)
    ratings = players.ratings[days(np.floor(players.times).astype(np.int64) // DAY)]
    return Fit(
        [float(f"{rate:.6g}") for rate in rates.tolist()], _quantiles(ratings), counts.hours.size
    )


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
