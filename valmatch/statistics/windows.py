"""Windows of games: means under each policy, paired differences between policies."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from valmatch.statistics.estimates import estimate

__all__ = ["compare_windows"]

Floats = NDArray[np.float64]

W = TypeVar("W", bound=tuple[str, str, str])


def compare_windows(windows: Mapping[W, Floats], confidence: float) -> dict[str, Any]:
    """Return the parts ``windows`` and ``paired`` of ``summary.json``.

    Parameters
    ----------
    windows : mapping of (policy, measure, games) to (n,) float64
        One number a replication; all policies of a replication meet the same random numbers.
    confidence : float
        Level of the intervals.

    Returns
    -------
    dict
        ``windows[policy][measure][games]`` and ``paired[policy][other][measure][games]``, the
        policy minus another that stands before it; {} without a window.
    """
    means: dict[str, Any] = {}
    columns: dict[str, dict[tuple[str, str], Floats]] = {}
    for (policy, measure, games), column in windows.items():
        columns.setdefault(policy, {})[measure, games] = column
    for policy, own in columns.items():
        means[policy] = _facts(own, confidence)
    paired: dict[str, Any] = {}
    for other, policy in combinations(columns, 2):
        differences = {key: own - columns[other][key] for key, own in columns[policy].items()}
        paired.setdefault(policy, {})[other] = _facts(differences, confidence)
    return {"windows": means, "paired": paired} if means else {}


def _facts(columns: dict[tuple[str, str], Floats], confidence: float) -> dict[str, Any]:
    """Estimate the mean of each column."""
    facts: dict[str, Any] = {}
    for (measure, games), column in columns.items():
        one = estimate(column, confidence)
        facts.setdefault(measure, {})[games] = {
            "mean": one.mean,
            "std_error": one.std_error,
            "ci_low": one.ci_low,
            "ci_high": one.ci_high,
        }
    return facts
