"""Estimates of responses from independent replications."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace

from valmatch.kernels.arrays import Floats
from valmatch.statistics.exact_sums import ExactSums, sums_of


@dataclass(frozen=True)
class Estimate:
    """What replications say about the mean of a response; None where they say nothing.

    Attributes
    ----------
    n : int
        Replications in which the response is defined.
    undefined : int
        Replications in which it is not.
    mean, std, std_error : float or None
        Sample mean, standard deviation (n - 1), std / sqrt(n).
    ci_low, ci_high : float or None
        Confidence interval of the mean by Student's t with n - 1 degrees, see also `within`.
    confidence : float
        Its level.
    min, max : float or None
        Extremes.
    """

    n: int
    undefined: int
    mean: float | None
    std: float | None
    std_error: float | None
    ci_low: float | None
    ci_high: float | None
    confidence: float
    min: float | None
    max: float | None

    @property
    def half_width(self) -> float | None:
        """Half the length of the confidence interval; its longer arm where limits cut one."""
        arms = self.arms
        return None if arms is None else arms[1] if self._even(arms) else max(arms)

    @property
    def arms(self) -> tuple[float, float] | None:
        """How far the confidence interval reaches below and above the mean."""
        if self.ci_low is None or self.ci_high is None or self.mean is None:
            return None
        return self.mean - self.ci_low, self.ci_high - self.mean

    @property
    def cut(self) -> bool:
        """Whether limits have cut an arm of the confidence interval."""
        arms = self.arms
        return arms is not None and not self._even(arms)

    def _even(self, arms: tuple[float, float]) -> bool:
        return math.isclose(*arms, rel_tol=1e-6, abs_tol=1e-9 * abs(self.mean or 0.0))

    def within(self, limits: tuple[float, float]) -> Estimate:
        """Return the same with an interval that ends where values do.

        The mean of values that cannot leave an interval is in it too, so that what is cut off never
        holds the mean: the interval is right as often as before. Values that do leave their limits
        keep at least their own mean.

        Parameters
        ----------
        limits : tuple of float
            The least and the largest value.
        """
        if self.ci_low is None or self.ci_high is None or self.mean is None:
            return self
        low, high = min(limits[0], self.mean), max(limits[1], self.mean)
        return replace(self, ci_low=max(self.ci_low, low), ci_high=min(self.ci_high, high))

    def as_dict(self) -> dict[str, float | int | None]:
        """Return the attributes by name, ready for JSON."""
        return asdict(self)


def limits_of_difference(limits: tuple[float, float]) -> tuple[float, float]:
    """Return the least and the largest difference of two values that have limits."""
    low, high = limits
    return low - high, high - low


def t_quantile(probability: float, degrees: float) -> float:
    """Return the quantile of Student's t distribution."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, probability))


def estimate(values: Floats, confidence: float = 0.95) -> Estimate:
    """Estimate the mean of a response.

    Sums are exact, and rounded once, so that the result depends neither on the platform nor on the
    order of the replications.

    Parameters
    ----------
    values : (n,) ndarray of float64
        One value a replication; NaN where undefined.
    confidence : float
        Level of the interval, in (0, 1).

    Examples
    --------
    >>> import numpy as np
    >>> found = estimate(np.array([1.0, 2.0, 4.0, np.nan]))
    >>> found.n, found.undefined, round(found.mean, 3), round(found.half_width, 3)
    (3, 1, 2.333, 3.795)
    """
    return estimate_of_sums(sums_of(values), confidence)


def estimate_of_sums(sums: ExactSums, confidence: float = 0.95) -> Estimate:
    """Estimate the mean of a response of which exact sums are known; see `estimate`."""
    n, undefined = sums.n, sums.undefined
    if n == 0:
        return Estimate(0, undefined, None, None, None, None, None, confidence, None, None)
    low, high, mean = sums.low, sums.high, sums.mean
    if n == 1:
        return Estimate(1, undefined, mean, None, None, None, None, confidence, low, high)
    std = sums.std
    error = std / math.sqrt(n)
    half = t_quantile((1.0 + confidence) / 2.0, n - 1) * error
    return Estimate(n, undefined, mean, std, error, mean - half, mean + half, confidence, low, high)
