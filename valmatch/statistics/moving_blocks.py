"""Moving blocks: how long they are, how much they say of a spread, and what skewness costs."""

from __future__ import annotations

import math

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.statistics.skewed import central_moments

SHORT = 8  # days below which a log is resampled day by day: fewer blocks say too little of a spread


def block_days(days: float) -> int:
    """Return how many days the blocks of a series of so many days are long.

    The cube root of its length, the rate that is best for the variance of a mean (Künsch 1989,
    "The jackknife and the bootstrap for general stationary observations", section 3.3): longer
    blocks keep more of the dependence between days, shorter ones are more. One below `SHORT`.

    Examples
    --------
    >>> [block_days(days) for days in (7, 21, 90, 365)]
    [1, 3, 4, 7]
    """
    return 1 if days < SHORT else round(math.cbrt(days))


def overlapping_degrees(days: float, length: float) -> float:
    """Return the degrees of freedom of a spread that is taken over overlapping blocks.

    Means of blocks that begin k days apart are correlated by 1 - k / b, their squares by
    (1 - k / b)^2, so that N days say as much of the spread as N / sum of (1 - k / b)^2 over
    -b < k < b, which is N 3b / (2b^2 + 1), independent blocks: about 3/2 as many as do not overlap.
    These are the degrees of freedom of Bartlett's window, of which the moving-block bootstrap is a
    version (Priestley 1981, "Spectral Analysis and Time Series", section 6.2.4; Künsch 1989).

    Parameters
    ----------
    days : float
        Length of the series, N.
    length : float
        Length of the blocks in days, b >= 1.

    Returns
    -------
    float
        One less than the blocks, as their mean is an estimate; at least 1.

    Examples
    --------
    >>> overlapping_degrees(days=90, length=1), round(overlapping_degrees(days=90, length=4), 1)
    (89.0, 31.7)
    """
    return max(1.0, days * 3.0 * length / (2.0 * length**2 + 1.0) - 1.0)


def widening(resamples: Floats, confidence: float, n: int = 1) -> float:
    """Return by which factor the skewness of resamples widens an interval around the log.

    Means and spreads of skewed values go together, with covariance (third central moment) / n: a
    log whose mean is z standard errors low understates them by a factor of about 1 - γ z / 2, with
    the skewness γ of the mean, and Student's interval ends before the truth on the side of the long
    tail (Johnson 1978, "Modified t tests and confidence intervals for asymmetrical populations";
    Hall 1992, "The Bootstrap and Edgeworth Expansion", section 2.3). That arm would have to be
    longer by γ z / 2 of itself. The interval stays symmetric: both arms get half of it, whichever
    side the tail is on; none is shortened.

    Parameters
    ----------
    resamples : (n,) ndarray of float64
        A response in resamples of the log, NaN where undefined; or, with `n`, single values.
    confidence : float
        Level of the interval, in (0, 1).
    n : int
        Values of which a mean is taken, whose skewness is that of the values over sqrt(n).

    Returns
    -------
    float
        1 + γ z / 4, where γ^2 is that of the resamples less what chance makes of none.
    """
    from scipy.special import ndtri

    skewness = _skewness(resamples) / math.sqrt(n)
    return 1.0 + skewness * float(ndtri((1.0 + confidence) / 2.0)) / 4.0


def _skewness(values: Floats) -> float:
    """Return the size of the skewness that is beyond chance.

    The squared skewness of n normal values is 6 (n - 2) / ((n + 1) (n + 3)) on average (Fisher
    1930), about 6 / n.
    """
    defined = values[~np.isnan(values)]
    n = defined.size
    if n < 3 or defined.min() == defined.max():
        return 0.0
    _, (second, third) = central_moments(defined, 3)
    by_chance = 6.0 * (n - 2) / ((n + 1) * (n + 3))
    return math.sqrt(max(0.0, third**2 / second**3 - by_chance))
