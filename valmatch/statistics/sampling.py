"""What replications are samples of, and what they therefore say about a mean."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from valmatch.statistics.estimates import Estimate, estimate, t_quantile

__all__ = ["INDEPENDENT", "OneHistory", "Resampled", "Sampling"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Sampling:
    """Replications are independent samples.

    Attributes
    ----------
    of : str
        What is said of results that hold for less than the system itself, such as "on this log".
    """

    of: str = ""

    def estimate(self, values: Floats, confidence: float) -> Estimate:
        """Estimate the mean of a response, one value a replication; NaN where undefined."""
        return estimate(values, confidence)


@dataclass(frozen=True)
class OneHistory(Sampling):
    """Every replication is the same: nothing is known of how far the mean may be off."""

    of: str = "on this log"

    def estimate(self, values: Floats, confidence: float) -> Estimate:
        """Return the value without any interval, however often it was made."""
        found = estimate(values, confidence)
        return replace(found, std=None, std_error=None, ci_low=None, ci_high=None)


@dataclass(frozen=True)
class Resampled(Sampling):
    """Replications are resamples of one log, each as long as the log.

    How far they spread is how far the log itself may be from the mean; more replications do not
    make that less.

    Attributes
    ----------
    candidates : int
        Blocks from which one is drawn, on average: resamples vary less than logs do, by the share
        (candidates - 1) / candidates of the variance.
    degrees : float
        Degrees of freedom of the spread.
    """

    of: str = "on resamples of this log"
    candidates: float = math.inf
    degrees: float = math.inf

    def estimate(self, values: Floats, confidence: float) -> Estimate:
        """Return the mean with the interval of the bootstrap; without one of one replication."""
        found = estimate(values, confidence)
        if found.mean is None or found.std is None:
            return found
        error = found.std * math.sqrt(self.candidates / (self.candidates - 1.0))
        half = error * t_quantile((1.0 + confidence) / 2.0, self.degrees)
        return replace(found, std_error=error, ci_low=found.mean - half, ci_high=found.mean + half)


INDEPENDENT = Sampling()
