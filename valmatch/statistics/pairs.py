"""Paired differences between systems, and policies, that met the same random numbers."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple, TypeVar

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.statistics.estimates import (
    UNLIMITED,
    Estimate,
    Limits,
    estimate,
    limits_of_difference,
)
from valmatch.statistics.sampling import INDEPENDENT, OneHistory, Sampling

# A difference that varies by less than this share of what it is taken of is constant; one that is
# itself a smaller share of a value is what rounding leaves, and is 0.
ROUNDING, LEFT_BY_ROUNDING = 1e-9, 1e-14


@dataclass(frozen=True)
class PairedDifference:
    """What common replications say about one response of systems A and B.

    All is taken over the replications in which the response is defined under both; the others
    are counted as undefined.

    Attributes
    ----------
    a, b : Estimate
        The mean under each.
    difference : Estimate
        The mean of b - a, whose interval is that of paired differences.
    variance_ratio : float or None
        (variance of a + variance of b) / variance of the difference: how many times more
        replications independent sampling would need; None where the difference is constant.
    """

    a: Estimate
    b: Estimate
    difference: Estimate
    variance_ratio: float | None

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes by name, ready for JSON."""
        return {
            "a": self.a.as_dict(),
            "b": self.b.as_dict(),
            "difference": self.difference.as_dict(),
            "variance_ratio": self.variance_ratio,
        }


def differing(values_a: Floats, values_b: Floats) -> list[int]:
    """Return in how many replications (rows) each response differs in another way than mostly."""
    columns = (values_b - values_a).T
    counts = [np.unique(column[~np.isnan(column)], return_counts=True)[1] for column in columns]
    return [int(count.sum() - count.max(initial=0)) for count in counts]


def paired(
    values_a: Floats,
    values_b: Floats,
    confidence: float = 0.95,
    samplings: tuple[Sampling, Sampling] = (INDEPENDENT, INDEPENDENT),
    replications: Sequence[int] = (),
    limits: Sequence[Limits] = (),
) -> list[PairedDifference]:
    """Compare systems A and B, response by response.

    Parameters
    ----------
    values_a, values_b : (n, r) ndarray of float64
        One row a replication, one column a response; NaN where undefined. Row k of both comes of
        the same random numbers.
    confidence : float
        Level of the intervals, in (0, 1).
    samplings : tuple of Sampling
        What the replications of each are samples of. Where it is the same, so are the differences.
    replications : sequence of int
        Which replications they are, where that is known.
    limits : sequence of (float, float)
        The least and the largest possible value of each response, where that is known.

    Raises
    ------
    ValueError
        If the arrays differ in shape.

    Examples
    --------
    >>> import numpy as np
    >>> common = np.random.default_rng(1).normal(size=(50, 1))
    >>> [pair] = paired(common, common + 0.1 + 0.01 * common**2)
    >>> round(pair.difference.mean, 2), pair.variance_ratio > 1000.0
    (0.11, True)
    """
    if values_a.shape != values_b.shape:
        raise ValueError(f"shapes {values_a.shape} and {values_b.shape} cannot be paired")
    columns = zip(values_a.T, values_b.T, limits or [UNLIMITED] * values_a.shape[1], strict=True)
    return [_compare(a, b, confidence, samplings, replications, ends) for a, b, ends in columns]


def _compare(
    a: Floats,
    b: Floats,
    confidence: float,
    samplings: tuple[Sampling, Sampling],
    replications: Sequence[int],
    limits: Limits,
) -> PairedDifference:
    undefined = np.isnan(a) | np.isnan(b)
    # Of a log and something else: neither says how far the difference may be off.
    common = samplings[0] if samplings[0] == samplings[1] else OneHistory()
    change = np.where(
        np.abs(b - a) <= LEFT_BY_ROUNDING * np.maximum(np.abs(a), np.abs(b)), 0.0, b - a
    )
    sides = (*samplings, common), (a, b, change), (limits, limits, limits_of_difference(limits))
    first, second, difference = (
        sampling.estimate(np.where(undefined, np.nan, values), confidence, replications, ends)
        for sampling, values, ends in zip(*sides, strict=True)
    )
    ratio = None
    if first.std is not None and second.std is not None and difference.std is not None:
        apart = math.hypot(first.std, second.std)
        if difference.std > ROUNDING * apart:
            ratio = (apart / difference.std) ** 2
    return PairedDifference(first, second, difference, ratio)


# Windows of games: means under each policy, and differences between policies.

W = TypeVar("W", bound=tuple[str, str, str])

FACTS = ("mean", "std_error", "ci_low", "ci_high", "remarks")  # what a summary says of an estimate


class PolicyDifference(NamedTuple):
    """The mean of a measure over a window of games under a policy, minus that under another."""

    policy: str
    other: str
    measure: str
    games: str
    estimate: Estimate


def policy_differences(
    windows: Sequence[W | None], rows: Floats, limits: Sequence[Limits], confidence: float
) -> list[PolicyDifference]:
    """Return the differences of each policy and those before it, of columns that are windows."""
    columns: dict[str, dict[tuple[str, str], int]] = {}
    for column, window in enumerate(windows):
        if window:
            policy, measure, games = window
            columns.setdefault(policy, {})[measure, games] = column
    differences = []
    for other, policy in combinations(columns, 2):
        for key, column in columns[policy].items():
            # All policies of a replication meet the same random numbers.
            values = rows[:, column] - rows[:, columns[other][key]]
            mean = estimate(values, confidence, limits_of_difference(limits[column]))
            differences.append(PolicyDifference(policy, other, *key, mean))
    return differences


def nested_facts(means: Iterable[tuple[Sequence[str], Estimate]]) -> dict[str, Any]:
    """Return the part of ``summary.json`` that has means by all of their keys, one in another."""
    part: dict[str, Any] = {}
    for keys, mean in means:
        inner = part
        for key in keys[:-1]:
            inner = inner.setdefault(key, {})
        facts = mean.as_dict()
        inner[keys[-1]] = {name: facts[name] for name in FACTS}
    return part
