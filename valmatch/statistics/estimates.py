"""Estimates of responses from independent replications.

Sources of bounds: Clopper and Pearson (1934), "The use of confidence or fiducial limits illustrated
in the case of the binomial"; Johnson (1978), "Modified t tests and confidence intervals for
asymmetrical populations"; Cantelli's inequality, as in Boucheron, Lugosi and Massart (2013),
"Concentration inequalities", exercise 2.3.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any, Self, TypeAlias

import numpy as np

from valmatch.kernels.arrays import Floats

Limits: TypeAlias = tuple[float, float]  # the least and the largest possible value
UNLIMITED = (-math.inf, math.inf)  # limits of values that may be any number
FEW_VALUES, SKEWED = "few_values", "skewed"  # remarks on an estimate
COMMON = 30  # times that each of two values is seen from which on Student's interval does for them

PER_SKEWNESS = 50
"""Values for each unit of squared skewness with which it does for skewed ones.

Twice those of Cochran's rule ("Sampling Techniques", 1977, section 2.15)."""

# Values other than the most frequent one below which (and below a third) they are few.
OFF_MODE = 10

# The ends of an interval, and remarks on it.
Interval: TypeAlias = tuple[float, float, tuple[str, ...]]


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
        Confidence interval of the mean; see `estimate`.
    confidence : float
        Its level.
    min, max : float or None
        Extremes.
    remarks : tuple of str
        Why the interval may hold less often than its level says: ``few_values`` (all values are
        the same, or nearly all), ``skewed`` (a few large deviations on one side make up the mean).
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
    remarks: tuple[str, ...] = ()

    @property
    def half_width(self) -> float | None:
        """Half the length of the confidence interval; its longer arm where they differ."""
        arms = self.arms
        return None if arms is None else max(arms) if self.asymmetric else arms[1]

    @property
    def arms(self) -> tuple[float, float] | None:
        """How far the confidence interval reaches below and above the mean."""
        if self.ci_low is None or self.ci_high is None or self.mean is None:
            return None
        return self.mean - self.ci_low, self.ci_high - self.mean

    @property
    def asymmetric(self) -> bool:
        """Whether one arm of the confidence interval is longer than the other."""
        least = 1e-9 * abs(self.mean or 0.0)
        return self.arms is not None and not math.isclose(*self.arms, rel_tol=1e-6, abs_tol=least)

    def within(self, limits: Limits) -> "Estimate":
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

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes by name, ready for JSON."""
        return {**asdict(self), "remarks": list(self.remarks)}

    @classmethod
    def read(cls, entry: Mapping[str, Any]) -> Self:
        """Return what `as_dict` gave, read from JSON, where NaN stands for None."""
        keys = ("mean", "std", "std_error", "ci_low", "ci_high", "min", "max")
        values = (entry.get(key) for key in keys)
        numbers = [None if x is None or math.isnan(float(x)) else float(x) for x in values]
        return cls(
            n=int(entry["n"]),
            undefined=int(entry.get("undefined", 0)),
            **dict(zip(keys, numbers, strict=True)),
            confidence=float(entry["confidence"]),
            remarks=tuple(entry.get("remarks", ())),
        )

    def as_row(self) -> dict[str, Any]:
        """Return the attributes by name, but for the extremes, ready for a row of a table."""
        facts = {**asdict(self), "remarks": " ".join(self.remarks)}
        del facts["min"], facts["max"]
        return facts


def limits_of_difference(limits: Limits) -> Limits:
    """Return the least and the largest difference of two values that have limits."""
    low, high = limits
    return low - high, high - low


def t_quantile(probability: float, degrees: float) -> float:
    """Return the quantile of Student's t distribution."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, probability))


def range_quantile(probability: float, n: int, degrees: float = math.inf) -> float:
    """Return the quantile of the range of `n` normal means over their estimated deviation."""
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(probability, n, degrees))


def estimate(values: Floats, confidence: float = 0.95, limits: Limits = UNLIMITED) -> Estimate:
    """Estimate the mean of a response.

    The interval is Student's with n - 1 degrees of freedom, except:

    - All values are one or both of two finite `limits`, one of them seen less than 30 times: the
      exact interval of Clopper and Pearson for the share of the upper limit, scaled.
    - There are two other values, one of them seen less than 30 times: both ends are the outer ones
      of these two intervals, as there may be values that have not been seen.
    - The skewness g is larger than 5.05 / sqrt(n + 8.5) and n is less than 50 g^2: the arm towards
      the tail is longer by twice Johnson's shift.

    Sums are exact, and rounded once, so that the result depends neither on the platform nor on the
    order of the replications.

    Parameters
    ----------
    values : (n,) ndarray of float64
        One value a replication; NaN where undefined.
    confidence : float
        Level of the interval, in (0, 1).
    limits : tuple of float
        The least and the largest possible value; the interval ends there.

    Examples
    --------
    >>> import numpy as np
    >>> mean = estimate(np.array([1.0, 2.0, 4.0, np.nan]))
    >>> mean.n, mean.undefined, round(mean.mean, 3), round(mean.half_width, 3)
    (3, 1, 2.333, 3.795)
    >>> never = estimate(np.zeros(10), limits=(0.0, 1.0))
    >>> never.ci_low, round(never.ci_high, 3), never.remarks
    (0.0, 0.308, ())
    >>> estimate(np.zeros(10)).remarks
    ('few_values',)
    """
    sums = sums_of(values)
    plain = student(sums, confidence)
    if plain.ci_low is None or plain.ci_high is None or math.isnan(plain.ci_low):
        return plain
    ends = plain.ci_low, plain.ci_high
    binary = _of_two_values(sums, ends, confidence, limits)
    numbers = values[~np.isnan(values)]
    low, high, remarks = binary or _of_many_values(sums, ends, confidence, numbers)
    return replace(plain, ci_low=low, ci_high=high, remarks=remarks).within(limits)


def student(sums: "ExactSums", confidence: float) -> Estimate:
    """Estimate a mean with Student's interval, whatever the values are."""
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


def _of_two_values(
    sums: "ExactSums", ends: tuple[float, float], confidence: float, limits: Limits
) -> Interval | None:
    """Return the interval where values are one or two; None if more, or each of two is common."""
    at_limits = {sums.low, sums.high} <= {*limits} and all(map(math.isfinite, limits))
    low, high = limits if at_limits else (sums.low, sums.high)
    if low == high:
        return *ends, (FEW_VALUES,)
    count = sums.count_of(high, low)
    if count is None or min(count, sums.n - count) >= COMMON:
        return None
    shares = clopper_pearson(count, sums.n, (1.0 - confidence) / 2.0)
    bottom, top = ((1.0 - share) * low + share * high for share in shares)
    if at_limits:
        return bottom, top, ()
    return min(bottom, ends[0]), max(top, ends[1]), ()


def _of_many_values(
    sums: "ExactSums", ends: tuple[float, float], confidence: float, values: Floats
) -> Interval:
    """Return the interval of more than two values, whose arm towards a heavy tail is longer."""
    n, (low, high) = sums.n, ends
    # Where more than half are the most frequent value, that is the median.
    off_mode = np.count_nonzero(values != np.partition(values, n // 2)[n // 2])
    remarks = [FEW_VALUES] if off_mode < min(OFF_MODE, n / 3.0) else []
    skewness = 0.0
    # No skewness exceeds the largest deviation over the standard deviation.
    reach = max(sums.high - sums.mean, sums.mean - sums.low)
    if reach > math.sqrt((n - 1) / PER_SKEWNESS) * sums.std:
        _, (second, third) = central_moments(values, 3)
        skewness = third / second**1.5
    if is_skewed(skewness, n, PER_SKEWNESS):
        remarks.append(SKEWED)
        quantile = t_quantile((1.0 + confidence) / 2.0, n - 1)
        shift = 2.0 * johnson_shift(skewness, n, quantile) * sums.std / math.sqrt(n)
        low, high = low + min(shift, 0.0), high + max(shift, 0.0)
    return low, high, tuple(remarks)


def central_moments(values: Floats, most: int) -> tuple[float, list[float]]:
    """Return the largest deviation from the mean, and in its units the moments from 2 to `most`."""
    n = values.size
    deviations = values - math.fsum(values.tolist()) / n
    # In units of the largest deviation, so that no power overflows or vanishes.
    unit = float(np.abs(deviations).max())
    deviations /= unit
    return unit, [math.fsum((deviations**k).tolist()) / n for k in range(2, most + 1)]


def clopper_pearson(count: int, n: int, tail: float) -> tuple[float, float]:
    """Return exact bounds of a probability, each wrong with at most probability `tail`."""
    from scipy.special import betaincinv

    low = float(betaincinv(count, n - count + 1, tail)) if count else 0.0
    high = 1.0 - float(betaincinv(n - count, count + 1, tail)) if count < n else 1.0
    return low, high


def is_skewed(skewness: float, n: int, least: float) -> bool:
    """Return whether a sample is skewed beyond chance and too small for Student's t."""
    # Of samples of normal values at most 5 % are beyond it, at 14 to 16 values the most.
    return abs(skewness) > 5.05 / math.sqrt(n + 8.5) and n < least * skewness**2


def johnson_shift(skewness: float, n: int, quantile: float) -> float:
    """Return by how many standard errors skewness moves a bound that lies `quantile` away."""
    return (1.0 + 2.0 * quantile**2) / (6.0 * math.sqrt(n)) * skewness


def cantelli_factor(tail: float) -> float:
    """Return how many standard errors any distribution exceeds with at most probability `tail`."""
    return math.sqrt((1.0 - tail) / tail)


# Exact sums of numbers and of their squares, without a rounding.

UNIT = 1074 + 53  # numbers are whole multiples of 2**-UNIT, squares of 2**-(2 * UNIT)

_ONE, _SQUARED, _DIGIT = 1 << UNIT, 1 << (2 * UNIT), (1 << 18) - 1


@dataclass
class ExactSums:
    """The sum of some numbers, and that of their squares, before anything is rounded."""

    n: int = 0  # numbers that are there
    undefined: int = 0  # those that are NaN
    total: int = 0  # the sum, in units of 2**-UNIT
    squares: int = 0  # in units of 2**-(2 * UNIT)
    low: float = math.inf  # extremes; infinite where there is no number
    high: float = -math.inf

    @property
    def mean(self) -> float:
        """The sum, rounded once, over the number; of some at least."""
        if math.isinf(self.low) or math.isinf(self.high):
            return self.low + self.high
        return self.total / _ONE / self.n

    @property
    def std(self) -> float:
        """The standard deviation (n - 1), of two at least: the variance is rounded once."""
        if math.isinf(self.low) or math.isinf(self.high):
            return math.nan
        excess = self.n * self.squares - self.total * self.total
        return math.sqrt(excess / (self.n * (self.n - 1) * _SQUARED))

    def count_of(self, high: float, low: float) -> int | None:
        """Return how many are `high` if all others are `low`; None if some lie between them."""
        top, bottom = (_ONE * Fraction(end) for end in (high, low))
        if (top + bottom) * self.total != self.squares + self.n * top * bottom:
            return None  # (x - low) (high - x) is 0 at the ends alone
        return int((self.total - self.n * bottom) / (top - bottom))


def sums_of(values: Floats) -> ExactSums:
    """Return the exact sums of numbers, of which those that are NaN are undefined."""
    known = values[~np.isnan(values)]
    sums = ExactSums(len(known), len(values) - len(known))
    sums.low, sums.high = float(known.min(initial=math.inf)), float(known.max(initial=-math.inf))
    significands, exponents = np.frexp(known[np.isfinite(known)])
    integers = np.ldexp(significands, 53).astype(np.int64)
    for exponent in np.unique(exponents).tolist():
        alike, shift = integers[exponents == exponent], exponent - 53 + UNIT
        # In digits of 18 bits, of whose products 2**27 have a sum of 63 bits.
        digits = np.array([alike & _DIGIT, alike >> 18 & _DIGIT, alike >> 36])
        products = enumerate((digits @ digits.T).ravel().tolist())
        sums.total += sum(n << 18 * k for k, n in enumerate(digits.sum(axis=1).tolist())) << shift
        sums.squares += sum(n << 18 * (k // 3 + k % 3) for k, n in products) << 2 * shift
    return sums


# Means in words, with as many digits as their intervals leave them.

DECIMALS = 12  # most decimals of a number; with more it is written with a power of ten


def mean_and_half(estimate: Estimate) -> tuple[str, str]:
    """Return a mean and its half-width with two digits of the half-width."""
    if estimate.mean is None:
        return "undefined", ""
    mean, half = rounded(estimate.mean, estimate.half_width)
    return mean, arms_of(estimate.arms, half) if estimate.asymmetric else half


def rounded(mean: float, half: float | None) -> tuple[str, str]:
    """Return a mean and its half-width; without one, four digits of what is below 1."""
    most = decimals(max(abs(mean), half or 0.0), 4)
    digits = max(4, most) if not half else min(max(6, most), decimals(half, 2))
    if digits > DECIMALS:
        return f"{mean:z.3e}", formatted(half, ".1e")
    return f"{mean:z.{digits}f}", formatted(half, f".{digits}f")


def decimals(value: float, digits: int) -> int:
    """Return after how many decimals a number has so many digits."""
    if not value or not math.isfinite(value):
        return 0
    return max(0, digits - 1 - math.floor(math.log10(abs(value))))


def arms_of(arms: tuple[float, float] | None, half: str) -> str:
    """Return both arms of an interval that limits have cut, with the digits of the longer one."""
    assert arms is not None
    digits = len(half.partition(".")[2])
    below, above = (f"{abs(arm):.{digits}f}" for arm in arms)
    return f"{'-' if float(below) else ''}{below}/{'+' if float(above) else ''}{above}"


def formatted(value: float | None, form: str) -> str:
    """Return a number in a format of `format`; "" for none."""
    return "" if value is None else f"{value:{form}}"
