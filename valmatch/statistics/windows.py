"""Windows of games: means under each policy, paired differences between policies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, NamedTuple, TypeVar

from valmatch.kernels.arrays import Floats
from valmatch.statistics.estimates import Estimate, Limits, estimate, limits_of_difference

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
