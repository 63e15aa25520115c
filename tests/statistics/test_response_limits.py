"""Intervals end where responses do: no negative wait, no share above 1."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest

import valmatch as library
from tests.support.command import success
from tests.support.refusals import defined
from valmatch.models.model import ANY, NOT_NEGATIVE, SHARE
from valmatch.optimization.problem import Term
from valmatch.optimization.verdict import limits_of_objective
from valmatch.statistics.control_variates import Adjusted
from valmatch.statistics.estimates import estimate, limits_of_difference

MODELS = ("valorant", "ladder", "zonestats", "kg-fig1-top", "targeting")


def test_an_interval_ends_at_the_limits_and_holds_its_mean() -> None:
    wide = estimate(np.array([0.0, 0.0, 9.0]))
    assert defined(wide.ci_low) < 0.0
    cut = wide.within(NOT_NEGATIVE)
    assert (cut.ci_low, cut.ci_high, cut.mean) == (0.0, wide.ci_high, wide.mean)
    assert (cut.asymmetric, wide.asymmetric) == (True, False)
    assert cut.half_width == wide.half_width
    assert wide.within(ANY) == wide
    beyond = estimate(np.array([-3.0, -1.0])).within(NOT_NEGATIVE)  # a model that declares wrongly
    assert defined(beyond.ci_high) > 0.0
    assert beyond.ci_low == beyond.mean == -2.0
    alone = estimate(np.array([2.0]))
    assert alone.within(SHARE) == alone
    assert limits_of_difference(SHARE) == (-1.0, 1.0)
    assert limits_of_difference(NOT_NEGATIVE) == ANY
    adjusted = Adjusted(1.01, 0.1, 0.8, 1.2, 2.0).within(SHARE)
    assert (adjusted.mean_cv, adjusted.ci_low_cv, adjusted.ci_high_cv) == (1.0, 0.8, 1.0)


def test_no_coverage_is_lost() -> None:
    rng = np.random.default_rng(1)
    for _ in range(2000):
        found = estimate((rng.random(8) < 0.9).astype(float))
        cut = found.within(SHARE)
        assert cut.ci_low is not None
        assert cut.ci_high is not None
        assert (defined(found.ci_low) <= 0.9 <= defined(found.ci_high)) == (
            cut.ci_low <= 0.9 <= cut.ci_high
        )
        assert 0.0 <= cut.ci_low <= cut.ci_high <= 1.0


def test_limits_of_an_objective() -> None:
    responses = {"share": SHARE, "wait": NOT_NEGATIVE}
    assert limits_of_objective([Term("a", "share", -2.0)], responses) == (-2.0, 0.0)
    both = [Term("a", "share", -2.0), Term("b", "wait", 3.0)]
    assert limits_of_objective(both, responses) == (-2.0, math.inf)
    assert limits_of_objective([Term("a", "wait", 0.0)], responses) == (0.0, 0.0)
    assert limits_of_objective([Term("a", "other", 1.0)], responses) == ANY


@pytest.mark.parametrize("model", MODELS)
def test_values_and_intervals_of_models_keep_what_is_declared(model: str) -> None:
    few = {"n_games": 20} if model.startswith("kg") else {}
    found = library.replicate(library.load_config(model, few), 2)
    waits = [one for one in found.responses if one.unit == "minutes"]
    shares = [one for one in found.responses if one.meaning.startswith("share of")]
    assert all(one.limits == NOT_NEGATIVE for one in waits)
    assert all(one.limits == SHARE for one in shares)
    for one, values in zip(found.responses, found.values.T, strict=True):
        low, high = one.limits
        defined = values[~np.isnan(values)]
        assert (defined >= low).all(), one
        assert (defined <= high).all(), one
        interval = found.estimates[one.name]
        if interval.ci_low is not None and interval.ci_high is not None:
            assert low <= interval.ci_low <= interval.ci_high <= high, one


def test_what_is_printed_and_written_keeps_them(tmp_path: Path) -> None:
    done = success("replicate", "valorant", "-n", 2, "--set", "measure=[bands]", "--out", tmp_path)
    with (tmp_path / "summary.csv").open() as file:
        rows = {row["response"]: row for row in csv.DictReader(file)}
    assert float(rows["matched_fraction"]["ci_high"]) <= 1.0
    assert all(float(row["ci_low"]) >= 0.0 for row in rows.values() if row["ci_low"])
    assert any(float(row["ci_low"]) == 0.0 for row in rows.values() if row["ci_low"])
    line = next(one for one in done.out.splitlines() if one.startswith("matched_fraction "))
    assert "/+" in line
    both = library.compare("valorant", library.load_config("valorant", {"team_diff": 20}), 2)
    for name, one in both.comparisons.items():
        if name.endswith("fraction"):
            assert -1.0 <= defined(one.difference.ci_low) <= defined(one.difference.ci_high) <= 1.0
            assert defined(one.a.ci_high) <= 1.0
