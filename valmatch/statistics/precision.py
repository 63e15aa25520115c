"""Sequential stopping: replicate until means are known to a stated precision."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from valmatch.errors import InputError, option
from valmatch.kernels.arrays import Floats
from valmatch.statistics.estimates import (
    FEW_VALUES,
    OFF_MODE,
    PER_SKEWNESS,
    UNLIMITED,
    Estimate,
    Limits,
    central_moments,
    estimate,
    t_quantile,
)
from valmatch.text.numerals import real_number
from valmatch.text.suggestions import hint

LEAST = 100  # fewest defined values on which stopping is decided

# Level of the upper confidence limit of the variance that the half-width is decided with.
UPPER_LIMIT = 0.8


@dataclass(frozen=True)
class Precision:
    """How precisely a mean is known, against what was wanted.

    Attributes
    ----------
    response : str
        Name.
    kind : str
        "relative" to the size of the mean, or "absolute" in the unit of the response.
    wanted : float
        Largest half-width of the confidence interval.
    achieved : float or None
        Half-width of the interval as reported; None where there is none.
    reached : bool
        Whether replicating may stop.
    why : str or None
        What is still missing; None if reached.
    """

    response: str
    kind: Literal["relative", "absolute"]
    wanted: float
    achieved: float | None
    reached: bool
    why: str | None

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes by name, ready for JSON."""
        return asdict(self)

    @property
    def shown(self) -> str:
        """The half-width that is reached and the wanted one, such as ``wait ± 1.4% (1%)``."""
        scale, unit = (100.0, "%") if self.kind == "relative" else (1.0, "")
        reached = "?" if self.achieved is None else f"{scale * self.achieved:.2g}"
        return f"{self.response} ± {reached}{unit} ({scale * self.wanted:g}{unit})"


@dataclass(frozen=True)
class Target:
    """A half-width that the confidence interval of the mean of a response is to have."""

    # Looking again and again, and stopping at the first good look, favours samples that understate
    # the spread. Against that stand a least number of values; `PER_SKEWNESS` values for each unit
    # of squared skewness (Cochran 1977, "Sampling Techniques", 2.15); and a half-width by the
    # `UPPER_LIMIT` confidence limit of the variance. A relative target g is met when the half-width
    # is at most g / (1 + g) of the mean (Law, Kelton, "Simulation Modeling and Analysis", 9.4.1).

    response: str  # name
    column: int  # its column in an array of replications
    size: float  # wanted half-width, > 0; a fraction of the size of the mean if `relative`
    relative: bool
    limits: Limits = UNLIMITED

    def reached(self, values: Floats, confidence: float = 0.95) -> bool:
        """Return whether replicating may stop; see `assess`."""
        return self.assess(values, confidence).reached

    def assess(self, values: Floats, confidence: float = 0.95) -> Precision:
        """Compare what is known of the mean, by values that may be NaN, with what is wanted."""
        mean = estimate(values, confidence, self.limits)
        achieved = mean.half_width
        if achieved is not None and self.relative:
            achieved = achieved / abs(mean.mean) if mean.mean else None
        why = self._missing(values[~np.isnan(values)], mean)
        kind: Literal["relative", "absolute"] = "relative" if self.relative else "absolute"
        return Precision(self.response, kind, self.size, achieved, why is None, why)

    def _missing(self, values: Floats, known: Estimate) -> str | None:
        """Return why it is too early to stop, given the defined values; None if it is not."""
        n = values.size
        if n < LEAST:
            return f"{n} defined values are too few (at least {LEAST})"
        mean, half = known.mean or 0.0, known.half_width or 0.0
        if self.relative and mean == 0.0:
            return "the mean is 0, so that no half-width is small against it"
        most = self.size / (1.0 + self.size) * abs(mean) if self.relative else self.size
        if FEW_VALUES in known.remarks:
            if known.min == known.max:
                return f"all {n} values are equal, which says nothing of how far their mean is off"
            return f"of {n} values fewer than {OFF_MODE} differ from the most frequent one"
        if known.min == known.max:
            return _too_wide(half, most)
        from scipy.special import ndtri

        unit, (second, third, fourth) = central_moments(values, 4)
        enough = math.ceil(PER_SKEWNESS * third * third / second**3)
        if n < enough:
            return f"{n} values are too few for values this skewed (at least {enough})"
        spread = math.sqrt(max(fourth - second * second, 0.0) / n)
        upper = second * n / (n - 1) + float(ndtri(UPPER_LIMIT)) * spread
        half = t_quantile((1.0 + known.confidence) / 2.0, n - 1) * unit * math.sqrt(upper / n)
        return _too_wide(half, most)


def _too_wide(half: float, most: float) -> str | None:
    """Return why a half-width does not reach a wanted one; None if it does."""
    return f"the half-width may be {half:.4g} (at most {most:.4g})" if half > most else None


def looks(first: int, most: int) -> Iterator[int]:
    """Yield the numbers of replications at which stopping is considered, a fifth more each time."""
    # Few looks, hence little to gain from a lucky one, and at most a fifth more replications than
    # needed; neither workers nor the size of chunks decide where a run stops.
    n = first
    while n < most:
        yield n
        n += -(-n // 5)
    yield most


def sequential_estimate(
    draw: Callable[[int, int], ArrayLike],
    size: float,
    *,
    relative: bool = False,
    confidence: float = 0.95,
    first: int = LEAST,
    most: int = 1_000_000,
) -> tuple[Estimate, Precision]:
    """Replicate until a mean is known to a wanted half-width, or there are enough replications.

    Parameters
    ----------
    draw : callable
        Given start and stop, returns the values of replications start..stop-1; NaN where
        undefined.
    size : float
        Wanted half-width, > 0; a fraction of the size of the mean if `relative`.
    relative : bool
        Whether it is.
    confidence : float
        Level of the interval, in (0, 1).
    first, most : int
        Replications before the first look and at the last one, see `looks`.

    Returns
    -------
    Estimate
        Of all replications made.
    Precision
        Whether the half-width is reached, and if not, why.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.random.default_rng(1).exponential(5.0, 100_000)
    >>> mean, precision = sequential_estimate(lambda a, b: values[a:b], 0.05, relative=True)
    >>> mean.n, round(mean.mean, 2), precision.reached
    (1864, 5.01, True)
    """
    target = Target("mean", 0, size, relative)
    values = np.empty(0)
    for n in looks(first, most):
        values = np.concatenate([values, np.asarray(draw(values.size, n), np.float64)])
        if target.reached(values, confidence):
            break
    return estimate(values, confidence), target.assess(values, confidence)


def parse_target(text: str, limits: Mapping[str, Limits]) -> Target:
    """Read ``NAME=1%`` (of the mean) or ``NAME=0.05``; responses are in order of their columns."""
    name, equals, size = (part.strip() for part in text.rpartition("="))
    if not equals:
        raise InputError(
            f"{option('targets')} {text}: not a target (allowed: NAME=1% or NAME=0.05)"
        )
    names = list(limits)
    if name not in limits:
        raise InputError(f"{option('targets')} {text}: no response {name!r} ({hint(name, names)})")
    relative = size.endswith("%")
    width = (real_number(size.removesuffix("%").strip()) or 0.0) / (100.0 if relative else 1.0)
    if width <= 0.0:
        raise InputError(
            f"{option('targets')} {text}: half-width {size!r} (allowed: a number > 0, or N%)"
        )
    return Target(name, names.index(name), width, relative, limits[name])
