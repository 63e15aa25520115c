"""Windows of games: means under each policy, paired differences between policies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple, TypeVar

from valmatch.kernels.arrays import Floats
from valmatch.statistics.estimates import Estimate

W = TypeVar("W", bound=tuple[str, str, str])

FACTS = ("mean", "std_error", "ci_low", "ci_high", "remarks")  # what a summary says of an estimate


class PolicyDifference(NamedTuple):
    """The mean of a measure over a window of games under a policy, minus that under another."""

    policy: str
    other: str
    measure: str
    games: str
    estimate: Estimate


class PolicyPair(NamedTuple):
    """The columns of a measure over a window of games under a policy, and under another."""

    policy: str
    other: str
    measure: str
    games: str
    column: int  # under the policy
    of_other: int


def policy_pairs(windows: Sequence[W | None]) -> list[PolicyPair]:
    """Return the pairs of each policy with those that stand before it."""
    columns: dict[str, dict[tuple[str, str], int]] = {}
    for column, window in enumerate(windows):
        if window:
            policy, measure, games = window
            columns.setdefault(policy, {})[measure, games] = column
    return [
        PolicyPair(policy, other, *key, column, columns[other][key])
        for other, policy in combinations(columns, 2)
        for key, column in columns[policy].items()
    ]


def pair_values(rows: Floats, pairs: Sequence[PolicyPair]) -> Floats:
    """Return the difference of each pair (column) in each replication (row)."""
    # All policies of a replication meet the same random numbers.
    return rows[:, [pair.column for pair in pairs]] - rows[:, [pair.of_other for pair in pairs]]


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
        pair = part.setdefault(policy, {}).setdefault(other, {})
        pair.setdefault(measure, {})[games] = _facts(difference)
    return part


def _facts(mean: Estimate) -> dict[str, Any]:
    facts = mean.as_dict()
    return {name: facts[name] for name in FACTS}
