"""Fitting the process of arrivals to a queue log by maximum likelihood."""

import math
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy import stats
from scipy.special import ndtr, ndtri

from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.models.valorant.arrivals import ArrivingPlayers
from valmatch.models.valorant.queue_log import DAY, wall_hours


class Fit(NamedTuple):
    """The arrival process that is fitted to a log."""

    rates: list[
        float
    ]  # players per hour in each hour of the day, or of the log where it is shorter
    quantiles: list[tuple[float, float]]  # probabilities and ratings
    hours: int  # hours of the log


class HourlyCounts(NamedTuple):
    """Arrivals in each hour that a log covers."""

    hours: Ints  # (n,): hours since the first midnight, by the clock, in the order of time
    arrivals: Ints  # (n,): players who arrived in each

    @property
    def expected(self) -> Floats:
        """(n,): the arrivals expected in each hour, by the mean of that hour of the day."""
        of_day = self.hours % DAY
        covered = np.bincount(of_day, minlength=DAY)
        total = np.bincount(of_day, self.arrivals, minlength=DAY)
        return (total / np.maximum(covered, 1))[of_day]


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
    arrivals = np.bincount(np.floor(times).astype(np.int64) - begin, minlength=end - begin)
    hours = wall_hours(midnight, np.arange(begin, end))
    kept = days(hours // DAY)
    return HourlyCounts(hours[kept], arrivals[kept])


def fit_arrivals(
    players: ArrivingPlayers, days: Days = all_days, midnight: datetime | None = None
) -> Fit:
    """Estimate hourly rates, by maximum likelihood, and the distribution of ratings."""
    # The log is taken to cover whole hours, from that of its first arrival to that of its last.
    period = min(DAY, math.floor(players.times[-1]) + 1)
    counts = hourly_counts(players.times, days, midnight)
    covered = np.bincount(counts.hours % DAY, minlength=DAY)[:period]
    total = np.bincount(counts.hours % DAY, counts.arrivals, minlength=DAY)[:period]
    rates = (total / np.maximum(covered, 1)).tolist()
    ratings = players.ratings[days(days_of(players.times, midnight))]
    # Quantiles at equal distances on the scale of a normal, with ten players between two, and five
    # beyond the outer ones, whose tails are straight lines.
    most = float(ndtri(1.0 - min(0.25, 5 / ratings.size)))
    count = max(2, min(41, ratings.size // 10))
    shares = ndtr(np.linspace(-most, most, count))
    values = np.quantile(ratings, shares, method="median_unbiased")
    pairs = zip(shares.tolist(), np.maximum.accumulate(values).tolist(), strict=True)
    quantiles = [(float(f"{share:.9g}"), float(f"{value:.9g}")) for share, value in pairs]
    return Fit([float(f"{rate:.6g}") for rate in rates], quantiles, counts.hours.size)


def days_of(times: Floats, midnight: datetime | None) -> Ints:
    """Return the day of each time, counted from the midnight before the first, by the clock."""
    return wall_hours(midnight, np.floor(times).astype(np.int64)) // DAY


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
    """Return the trend of the days of a log by quasi-likelihood; None of fewer than five days."""
    # Days of which the log has a part count for that part. The variance is that of the days
    # around the trend, not less than that of a Poisson process.
    days, expected, seen = _by_day(counts)
    if days.size < FEWEST_DAYS:
        return None
    center = days - np.average(days, weights=expected)
    size = float(expected @ center**2)
    slope = float((seen - expected) @ center) / size
    around = expected * (1.0 + slope * center)
    dispersion = max(1.0, float(((seen - around) ** 2 / around).sum()) / (days.size - 2))
    half = float(stats.t.isf(LEVEL / 2.0, days.size - 2)) * math.sqrt(dispersion / size)
    return Trend(slope, slope - half, slope + half)


def dispersion_of_hours(counts: HourlyCounts, slope: float = 0.0) -> Dispersion | None:
    """Return how much the counts of hours vary around their rates; None of a day or less."""
    expected, seen = counts.expected, counts.arrivals.astype(np.float64)
    busy = expected > 0.0
    degrees = int(busy.sum()) - np.unique(counts.hours[busy] % DAY).size - (slope != 0.0)
    return (
        _dispersion(counts.hours / DAY, expected, seen, slope, degrees) if degrees >= DAY else None
    )


def dispersion_of_days(counts: HourlyCounts, slope: float = 0.0) -> Dispersion | None:
    """Return how much the counts of days vary around what is expected; None of fewer than five."""
    by_day = _by_day(counts)
    n = by_day[0].size
    return _dispersion(*by_day, slope, n - 1 - (slope != 0.0)) if n >= FEWEST_DAYS else None


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
    of_hours, of_days = dispersion_of_hours(counts, slope), dispersion_of_days(counts, slope)
    dispersions = ("an hour", of_hours), ("a day", of_days)
    ratios = [
        f"{of} is {dispersion.ratio:.1f}"
        for of, dispersion in dispersions
        if dispersion and dispersion.beyond_noise
    ]
    if ratios:
        yield (
            f"the variance of arrivals of {', of '.join(ratios)} times that of a Poisson process:"
            " your days vary more than the fitted model, whose intervals will be too narrow"
            " (log.resample=block of the log itself keeps its variation)"
        )


def _by_day(counts: HourlyCounts) -> tuple[Floats, Floats, Floats]:
    number = counts.hours // DAY - counts.hours[0] // DAY
    expected: Floats = np.bincount(number, counts.expected).astype(np.float64)
    seen: Floats = np.bincount(number, counts.arrivals).astype(np.float64)
    busy = expected > 0.0
    return np.flatnonzero(busy).astype(np.float64), expected[busy], seen[busy]


def _dispersion(
    days: Floats, expected: Floats, seen: Floats, slope: float, degrees: int
) -> Dispersion:
    """Return Pearson's statistic around a trend by its degrees of freedom, and if it is noise."""
    # Of few arrivals the statistic varies more than chi-squared: by 1 / expected for each count
    # (McCullagh and Nelder, Generalized Linear Models, 1989, section 4.5.1); its law is taken to
    # be a gamma of the same mean and variance.
    center, busy = days - np.average(days, weights=expected), expected > 0.0
    around = np.maximum(expected * (1.0 + slope * center), 1e-9)[busy]
    statistic = float(((seen[busy] - around) ** 2 / around).sum())
    variance = 2.0 * degrees + float((1.0 / around).sum())
    scale = variance / degrees
    beyond = statistic > float(stats.gamma.isf(LEVEL, degrees / scale, scale=scale))
    return Dispersion(statistic / degrees, bool(beyond))
