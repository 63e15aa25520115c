"""Windows of games: means under each policy, paired differences between policies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple, TypeVar

from valmatch.kernels.arrays import Floats
from valmatch.statistics.estimates import Estimate, estimate

W = TypeVar("W", bound=tuple[str, str, str])

FACTS = ("mean", "std_error", "ci_low", "ci_high")
"""What a summary says of an estimate."""


class PolicyDifference(NamedTuple):
    """The mean of a measure over a window of games under a policy, minus that under another."""

    policy: str
    other: str
    measure: str
    games: str
    estimate: Estimate


def policy_differences(windows: Mapping[W, Floats], confidence: float) -> list[PolicyDifference]:
    """Return the paired differences between each policy and those that stand before it.

    Parameters
    ----------
    windows : mapping of (policy, measure, games) to (n,) float64
        One number a replication; all policies of a replication meet the same random numbers.
    confidence : float
        Level of the intervals.
    """
    columns: dict[str, dict[tuple[str, str], Floats]] = {}
    for (policy, measure, games), column in windows.items():
        columns.setdefault(policy, {})[measure, games] = column
    return [
        PolicyDifference(policy, other, *key, estimate(own - columns[other][key], confidence))
        for other, policy in combinations(columns, 2)
        for key, own in columns[policy].items()
    ]


def window_means(means: Mapping[W, Estimate]) -> dict[str, Any]:
    """Return the part ``windows[policy][measure][games]`` of ``summary.json``."""
    part: dict[str, Any] = {}
    for (policy, measure, games), mean in means.items():
        part.setdefault(policy, {}).setdefault(measure, {})[games] = _facts(mean)
    return part


def paired_means(differences: Sequence[PolicyDifference]) -> dict[str, Any]:
    """Return the part ``paired[policy][other][measure][games]`` of ``summary.json``."""
    part: dict[str, Any] = {}
    for policy, other, measure, games, difference in differences:
        own = part.setdefault(policy, {}).setdefault(other, {})
        own.setdefault(measure, {})[games] = _facts(difference)
    return part


def _facts(difference: Estimate) -> dict[str, float | None]:
    return {name: getattr(difference, name) for name in FACTS}
