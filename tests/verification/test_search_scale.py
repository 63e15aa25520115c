"""Search scales that no one gave, against scales that suit the problem and against linear search.

Six variables in wide ranges, noisy, with one binding constraint and a known optimum: low, in the
middle, high, near the upper end, and several of these at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import valmatch
from tests.support.wide_model import ENTRY, PROBLEMS, gap, posed
from valmatch.models.registry import OWN

RUNS, BUDGET = 10, 1000

LINEAR = 1e9
"""A scale far above the bounds."""

WORSE = 0.12
"""By how much the median gap may be above that with a scale that suits the problem."""


def median_gap(config: dict[str, Any], solver: str, budget: int = BUDGET) -> float:
    """Return the median gap of the points that runs end with, by the formulas of the model."""
    found = []
    for seed in range(1, RUNS + 1):
        verdict = valmatch.optimize(config, solver, budget, seed).verdict
        assert verdict is not None
        found.append(gap(config, list(verdict.point.values())))
    return float(np.median(found))


def linear(config: dict[str, Any]) -> dict[str, Any]:
    """Return a problem that is searched linearly."""
    for one in config["optimize"]["variables"].values():
        one["scale"] = LINEAR
    return config


@pytest.mark.parametrize("name", PROBLEMS)
def test_about_as_good_as_with_a_scale(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(OWN, "wide", ENTRY)
    found = median_gap(posed(name), "auto")
    given = median_gap(posed(name, scaled=True), "auto")
    before = median_gap(linear(posed(name)), "auto")
    shown = f"found {found:.1%}, given {given:.1%}, linear {before:.1%}"
    print(f"\n{name}: median gap of {RUNS} runs: {shown}")
    assert found < min(given, before) + WORSE, shown


@pytest.mark.parametrize("solver", ["random", "nelder-mead", "cobyqa", "spsa"])
def test_other_solvers_gain_as_well(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(OWN, "wide", ENTRY)
    found = median_gap(posed("low"), solver)
    before = median_gap(linear(posed("low")), solver)
    print(f"\n{solver}: median gap of {RUNS} runs: found {found:.1%}, linear {before:.1%}")
    assert found < 0.7 * before
