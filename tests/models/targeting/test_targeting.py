"""The targeting model: beliefs, policies, random inputs, and what the commands write."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

from tests.oracles import targeting as plain
from valmatch.config.loading import load_config
from valmatch.draws.streams import Streams
from valmatch.models.targeting.factors import TargetingFactors
from valmatch.models.targeting.model import MEASURES, TargetingModel, marks
from valmatch.policies.registry import TARGET
from valmatch.policies.target import expected_quality, target_gain


def model(**changes: Any) -> TargetingModel:  # noqa: ANN401
    return TargetingModel(TargetingFactors(**changes))


def density(z: float) -> float:
    """Return the density of a standard normal."""
    return math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)


def test_expected_quality_is_the_integral_of_the_bell() -> None:
    def weighted(s: float, mean: float, variance: float, target: float, tolerance: float) -> float:
        scaled = (s - mean) / math.sqrt(variance)
        return (
            math.exp(-0.5 * ((s - target) / tolerance) ** 2) * density(scaled) / math.sqrt(variance)
        )

    for case in [(0.5, 2.0, 0.0, 1.0), (-3.0, 0.3, 1.0, 0.4), (1.0, 4.0, 1.0, 3.0)]:
        ends = sorted({case[0], case[2]})
        whole, _ = quad(weighted, -30, 30, args=case, points=ends, epsabs=1e-13, limit=400)
        assert expected_quality(*case) == pytest.approx(whole, abs=1e-11)


@pytest.mark.parametrize("seed", range(40))
def test_the_gain_is_the_look_ahead_by_quadrature(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mean, target = rng.normal(0, 2), rng.normal(0, 2)
    variance, noise_variance = rng.uniform(0.05, 4), rng.uniform(0.1, 4)
    tolerance, rival = rng.uniform(0.2, 3), rng.uniform(0.01, 0.95)
    spread = variance**2 / (variance + noise_variance)
    left = variance * noise_variance / (variance + noise_variance)

    def after(z: float) -> float:
        later = expected_quality(mean + math.sqrt(spread) * z, left, target, tolerance)
        return max(later, rival) * density(z)

    def lead(z: float) -> float:
        later = expected_quality(mean + math.sqrt(spread) * z, left, target, tolerance)
        return later - rival

    # The kinks of the maximum, found by no formula of the kernel; between them it is smooth.
    grid = [*np.linspace(-9, 9, 901).tolist(), (target - mean) / math.sqrt(spread)]
    grid.sort()
    edges = [-9.0, 9.0]
    for low, high in itertools.pairwise(grid):
        if lead(low) * lead(high) < 0.0:
            edges.insert(-1, brentq(lead, low, high, xtol=1e-14))
    whole = sum(
        quad(after, low, high, epsabs=1e-12, limit=400)[0]
        for low, high in itertools.pairwise(edges)
    )
    now = max(expected_quality(mean, variance, target, tolerance), rival)
    found = target_gain(mean, variance, rival, target, tolerance, noise_variance)
    assert found == pytest.approx(whole - now, abs=1e-9)


@pytest.mark.parametrize("policy", TARGET)
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"target": 5.0, "tolerance": 0.3},
        {"prior": "equal", "tolerance": 2.0, "kappa": 0.3},
        {"n_alternatives": 1},
        {"n_alternatives": 2, "noise_variance": 0.01},
        {"n_alternatives": 3, "tolerance": 0.01, "target": 30.0},  # qualities underflow
    ],
)
def test_paths_are_those_of_the_plain_program(policy: str, changes: dict[str, Any]) -> None:
    factors = TargetingFactors(
        **{"n_alternatives": 7, "n_measurements": 60, "policies": (policy,), **changes}
    )
    study = TargetingModel(factors)
    for replication in range(3):
        drawn = study.draw(Streams(4), replication)
        tables = {table.name: table.columns for table in study.record(drawn).tables}
        found = tables["measurements"]
        expected = plain.follow(
            plain.World(
                tables["alternatives"]["prior_mean"].tolist(),
                drawn.prior.variances.tolist(),
                drawn.values.tolist(),
                drawn.noise.tolist(),
                factors.target,
                factors.tolerance,
                factors.noise_variance,
                factors.kappa,
            ),
            policy,
        )
        names = ("measured", "selected", "mean", "variance", *MEASURES.names)
        columns = [found[name].astype(np.float64) for name in names]
        assert np.column_stack(columns).tobytes() == np.array(expected).tobytes()


def test_bold_balances_as_its_theory_has_it() -> None:
    """Shares of large runs: the squared count of the nearest, and equal rates of the others."""
    changes = {
        "n_alternatives": 4,
        "n_measurements": 100_000,
        "policies": ("bold",),
        "prior_means": (0.0, 0.0, 0.0, 0.0),
        "prior_variances": (9.0, 9.0, 9.0, 9.0),
    }
    study = model(**changes)
    drawn = study.draw(Streams(1), 0)._replace(values=np.array([0.25, -0.75, 1.0, -1.5]))
    (_, table) = study.record(drawn).tables
    counts = np.bincount(table.columns["measured"], minlength=4)
    assert counts[0] ** 2 == pytest.approx((counts[1:] ** 2).sum(), rel=0.02)
    gaps = np.array([0.5, 0.75, 1.25])
    rates = gaps**2 / (1 / counts[0] + 1 / counts[1:])
    assert rates == pytest.approx(rates.mean(), rel=0.15)


def test_the_shipped_config_is_the_defaults() -> None:
    assert load_config("targeting").factors == TargetingFactors()
    assert marks(500) == [10, 20, 50, 100, 200, 500]
    assert marks(7) == [7]
