"""Fitting the process of arrivals to a queue log by maximum likelihood."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from valmatch.arrays import Floats
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


def fit_arrivals(players: ArrivingPlayers) -> Fit:
    """Estimate hourly rates, by maximum likelihood, and the distribution of ratings.

    The log is taken to cover whole hours, from that of its first arrival to that of its last.
    """
    begin, end = math.floor(players.times[0]), math.floor(players.times[-1]) + 1
    period = min(DAY, end)
    covered = np.bincount(np.arange(begin, end) % DAY, minlength=DAY)[:period]
    counts = np.bincount(np.floor(players.times).astype(np.int64) % DAY, minlength=DAY)[:period]
    rates = counts / np.maximum(covered, 1)
    return Fit(
        [float(f"{rate:.6g}") for rate in rates.tolist()], _quantiles(players.ratings), end - begin
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
