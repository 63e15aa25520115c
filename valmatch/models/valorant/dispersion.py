"""Tests of a queue log against the Poisson process that is fitted to it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.models.valorant.fitting import HourlyCounts
from valmatch.models.valorant.wall_clock import DAY

LEVEL = 0.01  # probability with which a Poisson process is said to be none
FEWEST_DAYS = 5  # days from which on a trend can be told from noise


class Trend(NamedTuple):
    """Change of the arrivals from day to day, as a share of their mean, with its interval."""

    slope: float
    low: float
    high: float


class Dispersion(NamedTuple):
    """Variance of counts in units of that of a Poisson process."""

    ratio: float  # the variance over that of Poisson counts
    beyond_noise: bool  # whether a Poisson process has so much with a probability below `LEVEL`


def daily_trend(counts: HourlyCounts) -> Trend | None:
    """Return the trend of the days of a log by quasi-likelihood; None of fewer than five days.

    Days of which the log has a part count for that part. The variance is that of the days around
    the trend, not less than that of a Poisson process.
    """
    from scipy.stats import t

    days, expected, seen = _by_day(counts)
    if days.size < FEWEST_DAYS:
        return None
    center = days - np.average(days, weights=expected)
    size = float(expected @ center**2)
    slope = float((seen - expected) @ center) / size
    dispersion = max(1.0, _pearson(seen, expected * (1.0 + slope * center)) / (days.size - 2))
    half = float(t.isf(LEVEL / 2.0, days.size - 2)) * math.sqrt(dispersion / size)
    return Trend(slope, slope - half, slope + half)


def dispersion_of_hours(counts: HourlyCounts, slope: float = 0.0) -> Dispersion | None:
    """Return how much the counts of hours vary around their rates; None of a day or less."""
    expected = _expected(counts)
    center = counts.hours / DAY - np.average(counts.hours / DAY, weights=expected)
    busy = expected > 0.0
    around = np.maximum(expected * (1.0 + slope * center), 1e-9)[busy]
    of_day = np.unique(counts.hours[busy] % DAY).size
    degrees = int(busy.sum()) - of_day - (slope != 0.0)
    arrivals = counts.arrivals[busy].astype(np.float64)
    return _dispersion(arrivals, around, degrees) if degrees >= DAY else None


def dispersion_of_days(counts: HourlyCounts, slope: float = 0.0) -> Dispersion | None:
    """Return how much the counts of days vary around what is expected; None of fewer than five."""
    days, expected, seen = _by_day(counts)
    if days.size < FEWEST_DAYS:
        return None
    center = days - np.average(days, weights=expected)
    around = np.maximum(expected * (1.0 + slope * center), 1e-9)
    return _dispersion(seen, around, days.size - 1 - (slope != 0.0))


def remarks_on(counts: HourlyCounts) -> Iterator[str]:
    """Yield a line on each way in which a log is no Poisson process of daily rhythm."""
    trend, slope = daily_trend(counts), 0.0
    if trend is not None and not trend.low <= 0.0 <= trend.high:
        slope = trend.slope
        low, high = sorted(100.0 * abs(end) for end in (trend.low, trend.high))
        yield (
            f"arrivals {'grow' if slope > 0 else 'fall'} by {100.0 * abs(slope):.2g} % of their"
            f" mean a day ({low:.2g} to {high:.2g}, {1.0 - LEVEL:.0%} interval): the fitted day has"
            " the mean rates"
        )
    found = {
        "an hour": dispersion_of_hours(counts, slope),
        "a day": dispersion_of_days(counts, slope),
    }
    said = [f"{of} is {one.ratio:.1f}" for of, one in found.items() if one and one.beyond_noise]
    if said:
        yield (
            f"the variance of arrivals of {', of '.join(said)} times that of a Poisson process:"
            " days of the fitted config are too much alike, its intervals too narrow (the log with"
            " log.resample=block has its own days)"
        )


def _expected(counts: HourlyCounts) -> Floats:
    """Return the arrivals expected in each hour, by the mean of that hour of the day."""
    of_day = counts.hours % DAY
    covered = np.bincount(of_day, minlength=DAY)
    total = np.bincount(of_day, counts.arrivals, minlength=DAY)
    return np.asarray((total / np.maximum(covered, 1))[of_day])


def _by_day(counts: HourlyCounts) -> tuple[Floats, Floats, Floats]:
    """Return the days of which something is expected, with what is, and what came."""
    number = counts.hours // DAY - counts.hours[0] // DAY
    expected: Floats = np.bincount(number, _expected(counts)).astype(np.float64)
    seen: Floats = np.bincount(number, counts.arrivals).astype(np.float64)
    busy = expected > 0.0
    return np.flatnonzero(busy).astype(np.float64), expected[busy], seen[busy]


def _pearson(seen: Floats, expected: Floats) -> float:
    """Return Pearson's statistic."""
    return float(((seen - expected) ** 2 / expected).sum())


def _dispersion(seen: Floats, expected: Floats, degrees: int) -> Dispersion:
    """Return Pearson's statistic by its degrees of freedom, and whether that is beyond noise.

    Of few arrivals the statistic varies more than chi-squared: by 1 / expected for each count
    (McCullagh and Nelder, Generalized Linear Models, 1989, section 4.5.1); its law is taken to be
    a gamma of the same mean and variance.
    """
    from scipy.stats import gamma

    statistic = _pearson(seen, expected)
    variance = 2.0 * degrees + float((1.0 / expected).sum())
    scale = variance / degrees
    beyond = statistic > float(gamma.isf(LEVEL, degrees / scale, scale=scale))
    return Dispersion(statistic / degrees, bool(beyond))
