"""Tests of the Valorant factors: the source's defaults, the checks across factors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.support.case_tables import cases
from valmatch.models.valorant.factors import ValorantFactors


def refused(**factors: object) -> str:
    with pytest.raises(ValidationError) as info:
        ValorantFactors.model_validate(factors)
    (error,) = info.value.errors()
    keys = error["loc"] or error["ctx"]["at"]
    return f"{next(key for key in keys if key in factors)}: {error['msg']}"


IDENTITY = ((1, 0, 0), (0, 1, 0), (0, 0, 1))

REFUSED = """
poisson_rate=(0, 5), horizon=1 | poisson_rate: every rate before 1 hours is 0, nobody would
  ever arrive
horizon=None | horizon: null needs an arrivals file or num_players (allowed: a number > 0)
cov_matrix=((1, 0, 0), (0, 1, 2), (0, 2, 1)) | cov_matrix: not positive semi-definite: some
  combination of the components has a negative variance (a covariance is at most the square root of
  the product of both variances)
mean_matrix=(-3.11, 9, 9), cov_matrix=IDENTITY | mean_matrix: hardly any player drawn with
  mean_matrix and cov_matrix would have elo, k/d ratio and win rate >= 0: probability about 0.0009
  (at least 0.001)
mean_matrix=(9, 9, 9), cov_matrix=IDENTITY, elo_max=5.875 | elo_max: hardly any player drawn with
  mean_matrix and cov_matrix would have elo, k/d ratio and win rate >= 0, and elo <= 5.875:
  probability about 0.0009 (at least 0.001)
"""


@pytest.mark.parametrize(("factors", "message"), cases(REFUSED))
def test_factors_that_do_not_go_together_are_refused(factors: str, message: str) -> None:
    assert refused(**eval(f"dict({factors})")) == message


@pytest.mark.slow
@settings(max_examples=300)
@given(
    st.tuples(*[st.floats(-1, 1)] * 3), st.tuples(*[st.sampled_from([1e-6, 0.2, 1.0, 200.0])] * 3)
)
def test_semidefiniteness_agrees_with_eigenvalues(
    correlations: tuple[float, float, float], scales: tuple[float, float, float]
) -> None:
    a, b, c = correlations
    correlation = np.array([[1, a, b], [a, 1, c], [b, c, 1]])
    lowest = float(np.linalg.eigvalsh(correlation)[0])
    if abs(lowest) < 1e-6:  # too close to call
        return
    covariance = correlation * np.outer(scales, scales)
    factors = {"cov_matrix": covariance.tolist(), "mean_matrix": [1e4, 1e4, 1e4]}
    if lowest > 0:
        ValorantFactors.model_validate(factors)
    else:
        assert "not positive semi-definite" in refused(**factors)


@given(
    st.lists(st.floats(-10, 10), min_size=3, max_size=3),
    st.lists(st.floats(-10, 10), min_size=3, max_size=3),
    st.integers(1, 2),
)
def test_singular_covariances_pass(u: list[float], v: list[float], rank: int) -> None:
    rows = [np.round(u, 2), np.round(v, 2)][:rank]
    covariance = sum(np.outer(row, row) for row in rows)
    factors = {"cov_matrix": np.asarray(covariance).tolist(), "mean_matrix": [1e4, 1e4, 1e4]}
    assert ValorantFactors.model_validate(factors).mean_matrix == (1e4, 1e4, 1e4)


def test_acceptance_below_the_largest_elo() -> None:
    ValorantFactors(mean_matrix=(9, 9, 9), cov_matrix=IDENTITY, elo_max=9 - 3.07)
    # The range is as narrow as the density at 1, 0.242, allows: P is 0.242 times its width.
    wide = ((1e6, 0, 0), (0, 1, 0), (0, 0, 1))
    ValorantFactors(mean_matrix=(1000, 9, 9), cov_matrix=wide, elo_max=4.3)
    assert "elo <= 3.9" in refused(mean_matrix=(1000, 9, 9), cov_matrix=wide, elo_max=3.9)
    constant = ((0, 0, 0), (0, 1, 0), (0, 0, 1))
    ValorantFactors(mean_matrix=(5, 9, 9), cov_matrix=constant, elo_max=5)
    assert refused(mean_matrix=(5, 9, 9), cov_matrix=constant, elo_max=4.9).startswith("elo_max: ")
    for bad in (0, -1, math.inf, math.nan, "5"):
        assert refused(elo_max=bad).startswith("elo_max: ")


@pytest.mark.parametrize(
    ("correlation", "accepted"),
    [(-0.99, True), (-0.9999, True), (-0.99999999, False), (-1.0, False)],
)
def test_acceptance_of_a_combination(correlation: float, accepted: bool) -> None:
    # Mean zero: P(both >= 0) = 1/4 + asin(correlation) / 2 pi, exactly.
    probability = 0.25 + math.asin(correlation) / (2 * math.pi)
    assert (probability >= 1e-3) == accepted
    covariance = ((1, correlation, 0), (correlation, 1, 0), (0, 0, 1))
    if accepted:
        ValorantFactors(mean_matrix=(0, 0, 9), cov_matrix=covariance)
    else:
        assert "hardly any player" in refused(mean_matrix=(0, 0, 9), cov_matrix=covariance)


def test_absurd_numbers_of_players() -> None:
    assert ValorantFactors(rate_multiplier=1e6).rate_multiplier == 1e6
    refused(poisson_rate=(1e308,) * 24)
    # The last hour counts only up to the horizon.
    assert ValorantFactors(poisson_rate=(1.9e9,), horizon=0.5).horizon == 0.5
    refused(poisson_rate=(2.1e9,), horizon=0.5)
