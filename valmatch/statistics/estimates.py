"""Estimates of responses from independent replications."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Estimate", "estimate", "t_quantile"]

Floats = NDArray[np.float64]


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
        Confidence interval of the mean by Student's t with n - 1 degrees.
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
        """Half the length of the confidence interval."""
        if self.ci_high is None or self.mean is None:
            return None
        return self.ci_high - self.mean

    def as_dict(self) -> dict[str, float | int | None]:
        """Return the attributes by name, ready for JSON."""
        return asdict(self)


def t_quantile(probability: float, degrees: float) -> float:
    """Return the quantile of Student's t distribution."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, probability))


def estimate(values: Floats, confidence: float = 0.95) -> Estimate:
    """Estimate the mean of a response.

    Sums are rounded once (`math.fsum`), so that the result depends neither on the platform nor
    on the order of the replications.

    Parameters
    ----------
    values : (n,) ndarray of float64
        One value a replication; NaN where undefined.
    confidence : float
        Level of the interval, in (0, 1).
    """
    defined = values[~np.isnan(values)]
    n, undefined = int(defined.size), int(values.size - defined.size)
    if n == 0:
        return Estimate(0, undefined, None, None, None, None, None, confidence, None, None)
    low, high = float(defined.min()), float(defined.max())
    mean = math.fsum(defined.tolist()) / n
    if n == 1:
        return Estimate(1, undefined, mean, None, None, None, None, confidence, low, high)
    std = math.sqrt(math.fsum(((defined - mean) ** 2).tolist()) / (n - 1))
    error = std / math.sqrt(n)
    half = t_quantile((1.0 + confidence) / 2.0, n - 1) * error
    return Estimate(n, undefined, mean, std, error, mean - half, mean + half, confidence, low, high)
