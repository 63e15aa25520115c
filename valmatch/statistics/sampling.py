"""Kinds of sampling: independent replications, one history, resamples; what each says of a mean."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.statistics.estimates import (
    FEW_VALUES,
    UNLIMITED,
    Estimate,
    Limits,
    central_moments,
    estimate,
    student,
    sums_of,
    t_quantile,
)

Numbers: TypeAlias = Sequence[int]  # of replications; () where they are not known

# Moving blocks: how long they are, how much they say of a spread, and what skewness costs.

SHORT = 8  # days below which a log is resampled day by day: fewer blocks say too little of a spread


def block_days(days: float) -> int:
    """Return how many days the blocks of a series of so many days are long."""
    # The cube root of its length, the rate that is best for the variance of a mean (Künsch 1989,
    # "The jackknife and the bootstrap for general stationary observations", section 3.3).
    return 1 if days < SHORT else round(math.cbrt(days))


def overlapping_degrees(days: float, length: float) -> float:
    """Return the degrees of freedom, at least 1, of a spread over overlapping blocks of days."""
    # Means of blocks that begin k days apart are correlated by 1 - k / b, their squares by
    # (1 - k / b)^2, so that N days say as much of the spread as N / sum of (1 - k / b)^2 over
    # -b < k < b independent blocks: Bartlett's window (Priestley 1981, "Spectral Analysis and Time
    # Series", section 6.2.4; Künsch 1989). One less, as their mean is an estimate.
    return max(1.0, days * 3.0 * length / (2.0 * length**2 + 1.0) - 1.0)


def widening(resamples: Floats, confidence: float, n: int = 1) -> float:
    """Return by which factor the skewness of resamples, or of `n` values, widens an interval."""
    # A mean that is z standard errors low comes with a spread too small by a factor of about
    # 1 - γ z / 2, with the skewness γ of the mean (Johnson 1978; Hall 1992, "The Bootstrap and
    # Edgeworth Expansion", section 2.3). The arm towards the tail would have to be longer by
    # γ z / 2 of itself; as the interval stays symmetric, both arms get half of it.
    from scipy.special import ndtri

    defined = resamples[~np.isnan(resamples)]
    size = defined.size
    if size < 3 or defined.min() == defined.max():
        return 1.0
    _, (second, third) = central_moments(defined, 3)
    # Of normal values, on average: Fisher (1930).
    by_chance = 6.0 * (size - 2) / ((size + 1) * (size + 3))
    skewness = math.sqrt(max(0.0, third**2 / second**3 - by_chance)) / math.sqrt(n)
    return 1.0 + skewness * float(ndtri((1.0 + confidence) / 2.0)) / 4.0


@dataclass(frozen=True)
class Sampling:
    """Replications are independent samples."""

    # what is said of results that hold for less than the system itself, such as "on this log"
    of: str = ""
    fixed: str = ""  # why no number of replications narrows an interval; "" where they do

    @property
    def facts(self) -> Mapping[str, Any]:
        """What ``summary.json`` says of how intervals are made; {} if nothing."""
        return {}

    def no_interval(self, n: int) -> str:
        """Return why `n` replications give no interval; "" if they do."""
        if n > 1:
            return ""
        return "there is one replication only" if n else "no replication has ended"

    def estimate(
        self, values: Floats, confidence: float, numbers: Numbers = (), limits: Limits = UNLIMITED
    ) -> Estimate:
        """Estimate the mean of a response in replications of these numbers."""
        return estimate(values, confidence, limits)


@dataclass(frozen=True)
class OneHistory(Sampling):
    """Every replication is the same: nothing is known of how far the mean may be off."""

    of: str = "on this log"
    fixed: str = "every replication is the same: there is no interval to narrow"

    def no_interval(self, n: int) -> str:
        """Return why there is none."""
        return "every replication is the same; log.resample=block makes resamples of a log"

    def estimate(
        self, values: Floats, confidence: float, numbers: Numbers = (), limits: Limits = UNLIMITED
    ) -> Estimate:
        """Return the value without any interval, however often it was made."""
        mean = student(sums_of(values), confidence)
        return replace(mean, std=None, std_error=None, ci_low=None, ci_high=None)


@dataclass(frozen=True)
class Resampled(Sampling):
    """Replication 0 is a log, the others are resamples of it, which show how far it may be off."""

    of: str = "on resamples of this log"
    fixed: str = "replications are resamples of one log: more of them narrow no interval"
    # blocks from which one is drawn, on average: resamples vary less than logs do, by the share
    # (candidates - 1) / candidates of the variance
    candidates: float = math.inf
    degrees: float = math.inf  # degrees of freedom of the spread
    block_hours: int | None = None  # length of the blocks

    def no_interval(self, n: int) -> str:
        """Return why `n` replications give no interval; "" if they do."""
        return "" if n > 2 else "there are fewer than two resamples of the log"

    @property
    def facts(self) -> Mapping[str, Any]:
        """The length of the blocks, and how intervals are made."""
        return {
            "method": "moving blocks",
            "block_hours": self.block_hours,
            "degrees": self.degrees,
            "candidates": self.candidates,
            "interval": "around what the log has (replication 0): Student's t times the standard"
            " deviation of its resamples, widened for their skewness",
        }

    def estimate(
        self, values: Floats, confidence: float, numbers: Numbers = (), limits: Limits = UNLIMITED
    ) -> Estimate:
        """Return what the log has, with the interval of the bootstrap around it."""
        # Around the log, not around the mean of its resamples: who meets whom differs between them
        # as it does between logs, so that their mean is nearer to the truth than they tell. Where
        # there is no log, or it has no value, that mean stands for it, and the interval holds more
        # often than it says.
        plain = student(sums_of(values), confidence)
        center, spread, resamples = plain.mean, plain.std, values
        is_log = np.array(numbers) == 0
        if is_log.any() and not np.isnan(values[is_log]).any():
            center, resamples = float(values[is_log][0]), values[~is_log]
            spread = student(sums_of(resamples), confidence).std
        if center is None or spread is None:
            return replace(plain, mean=center, std=None, std_error=None, ci_low=None, ci_high=None)
        error = spread * math.sqrt(self.candidates / (self.candidates - 1.0))
        half = error * t_quantile((1.0 + confidence) / 2.0, self.degrees)
        half *= widening(resamples, confidence)
        return replace(
            plain,
            mean=center,
            std=spread,
            std_error=error,
            ci_low=center - half,
            ci_high=center + half,
            remarks=() if spread else (FEW_VALUES,),
        ).within(limits)


@dataclass(frozen=True)
class Widened(Sampling):
    """Replications are independent samples, and intervals are wider where values are skewed."""

    # Of use at high levels, where the skewness of counts and of long waits is felt most.

    def estimate(
        self, values: Floats, confidence: float, numbers: Numbers = (), limits: Limits = UNLIMITED
    ) -> Estimate:
        """Return the usual interval, whose arms are at least Student's times a factor."""
        usual = estimate(values, confidence, limits)
        plain = student(sums_of(values), confidence)
        if usual.ci_low is None or usual.ci_high is None or plain.mean is None:
            return usual
        half = (plain.half_width or 0.0) * widening(values, confidence, usual.n)
        low, high = plain.mean - half, plain.mean + half
        if usual.remarks or usual.asymmetric:
            low, high = min(usual.ci_low, low), max(usual.ci_high, high)
        return replace(usual, ci_low=low, ci_high=high).within(limits)


INDEPENDENT = Sampling()


def sampling_of(facts: Mapping[str, Any], one_history: bool) -> Sampling:
    """Return the kind of sampling of which a summary has these facts."""
    if facts:
        candidates, degrees = float(facts["candidates"]), float(facts["degrees"])
        return Resampled(candidates=candidates, degrees=degrees, block_hours=facts["block_hours"])
    return OneHistory() if one_history else INDEPENDENT


def no_difference_interval(samplings: Mapping[str, Sampling], n: int) -> str:
    """Return why differences between systems have no interval; "" if they have."""
    first, *others = samplings.values()
    if all(other == first for other in others):
        return first.no_interval(n)
    kinds = []
    for name, sampling in samplings.items():
        hours = sampling.facts.get("block_hours")
        blocks = f", by blocks of {hours} hours" if hours else ""
        kinds.append(f"{name}: {sampling.of or 'independent'}{blocks}")
    return f"replications are not samples of the same ({'; '.join(kinds)})"
