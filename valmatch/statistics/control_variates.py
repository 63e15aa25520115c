"""Control variates: means adjusted by what is known of the random inputs."""

import math
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.statistics.estimates import Limits, t_quantile

ROUNDING = 1e-12  # what varies by less than this share of its size does not vary
DISTINCT = 1e-4  # least share of a control that is not explained by the controls before it


@dataclass(frozen=True)
class Adjusted:
    """The mean of a response, adjusted by controls of known expectation; None where there is none.

    Attributes
    ----------
    mean_cv, std_error_cv : float or None
        The adjusted mean and its standard error.
    ci_low_cv, ci_high_cv : float or None
        Confidence interval of the mean by Student's t.
    variance_reduction : float or None
        Squared standard error of the plain mean over that of the adjusted one: how many times more
        replications the plain mean needs; None also where either is 0.
    """

    mean_cv: float | None = None
    std_error_cv: float | None = None
    ci_low_cv: float | None = None
    ci_high_cv: float | None = None
    variance_reduction: float | None = None

    def within(self, limits: Limits) -> "Adjusted":
        """Return the same with a mean and an interval that do not leave the limits of values."""
        if self.mean_cv is None or self.ci_low_cv is None or self.ci_high_cv is None:
            return self
        mean, low, high = (
            min(max(value, limits[0]), limits[1])
            for value in (self.mean_cv, self.ci_low_cv, self.ci_high_cv)
        )
        return replace(self, mean_cv=mean, ci_low_cv=low, ci_high_cv=high)

    def as_dict(self) -> dict[str, float | None]:
        """Return the attributes by name, ready for JSON."""
        return asdict(self)


class Regression(NamedTuple):
    """What a regression on controls leaves of one response."""

    mean: float  # the adjusted mean
    residuals: Floats  # (n,): of mean 0
    degrees: int  # degrees of freedom of the residuals
    leverage: float  # the variance of the adjusted mean over that of a residual


def adjust(
    values: Floats, controls: Floats, expectations: Floats, confidence: float = 0.95
) -> list[Adjusted]:
    """Estimate the mean of each response by regression on controls.

    The adjusted mean is the intercept of the least-squares fit on the controls minus their
    expectations. With n replications and q controls its interval has n - q - 1 degrees of
    freedom and is exact if response and controls are jointly normal; otherwise the bias is of
    order 1 / n.

    A response that is undefined in some replications has no adjusted mean: given that it is
    defined, the controls no longer have the expectations that are known. Nor has one in fewer
    than q + 2 replications.

    Parameters
    ----------
    values : (n, r) ndarray of float64
        One row a replication, one column a response; NaN where undefined.
    controls : (n, q) ndarray of float64
        The controls in the same replications. One that is constant or a combination of those
        before it is left out.
    expectations : (q,) ndarray of float64
        Their expectations.
    confidence : float
        Level of the intervals, in (0, 1).

    Notes
    -----
    Source: Lavenberg and Welch (1981), "A perspective on the use of control variables to
    increase the efficiency of Monte Carlo simulations", Management Science 27.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> control = rng.normal(size=(100, 1))
    >>> values = 3.0 + 2.0 * control + 0.1 * rng.normal(size=(100, 1))
    >>> [mean] = adjust(values, control, expectations=np.zeros(1))
    >>> round(mean.mean_cv, 1), mean.variance_reduction > 100.0
    (3.0, True)
    """
    basis, offsets = _orthonormal(controls, expectations)
    return [_adjusted(column, basis, offsets, confidence) for column in values.T]


def regress(values: Floats, controls: Floats, expectations: Floats) -> list[Regression]:
    """Regress each response, defined throughout, on as many of the first controls as rows allow."""
    basis, offsets = _orthonormal(controls, expectations)
    most = max(0, len(values) - 2)
    return [_regressed(column, basis[:most], offsets[:most]) for column in values.T]


def _orthonormal(controls: Floats, expectations: Floats) -> tuple[list[Floats], list[float]]:
    """Return an orthonormal basis of the centred controls, with its own known deviations."""
    # By Gram and Schmidt, in the order of the controls and with sums that are rounded once: no
    # library decides which control is dropped, or the last digit.
    basis: list[Floats] = []
    offsets: list[float] = []  # "mean minus expectation" of the same combinations
    for column, expectation in zip(controls.T, expectations.tolist(), strict=True):
        if column.size < 2:
            continue
        mean = math.fsum(column.tolist()) / column.size
        vector, offset = column - mean, mean - expectation
        length = math.sqrt(_dot(vector, vector))
        if length <= ROUNDING * math.sqrt(_dot(column, column)):
            continue
        for _ in range(2):  # a second pass takes out what rounding left
            for other, shift in zip(basis, offsets, strict=True):
                part = _dot(other, vector)
                vector, offset = vector - part * other, offset - part * shift
        rest = math.sqrt(_dot(vector, vector))
        if rest > DISTINCT * length:
            basis.append(vector / rest)
            offsets.append(offset / rest)
    return basis, offsets


def _regressed(column: Floats, basis: list[Floats], offsets: list[float]) -> Regression:
    """Return the regression of one response without undefined values."""
    n = column.size
    mean = math.fsum(column.tolist()) / n
    rest = deviations = column - mean
    slopes = [_dot(vector, deviations) for vector in basis]
    for slope, vector in zip(slopes, basis, strict=True):
        rest = rest - slope * vector
    adjusted = mean - math.fsum(s * d for s, d in zip(slopes, offsets, strict=True))
    leverage = 1.0 / n + math.fsum(d * d for d in offsets)
    return Regression(adjusted, rest, n - len(basis) - 1, leverage)


def _adjusted(
    column: Floats, basis: list[Floats], offsets: list[float], confidence: float
) -> Adjusted:
    """Return the adjusted mean of one response."""
    n = column.size
    if n - len(basis) < 2 or np.isnan(column).any():
        return Adjusted()
    mean, residuals, degrees, leverage = _regressed(column, basis, offsets)
    deviations = column - math.fsum(column.tolist()) / n
    unexplained = _dot(residuals, residuals)
    if unexplained <= ROUNDING**2 * _dot(column, column):
        unexplained = 0.0  # a combination of the controls
    variance = unexplained / degrees * leverage
    error = math.sqrt(variance)
    half = t_quantile((1.0 + confidence) / 2.0, degrees) * error
    plain = _dot(deviations, deviations) / (n - 1) / n
    return Adjusted(mean, error, mean - half, mean + half, plain / variance if variance else None)


def _dot(a: Floats, b: Floats) -> float:
    return math.fsum((a * b).tolist())
