"""The study of the next pair rates its worlds as it should."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.oracles import joint_pairs
from valmatch.policies.joint.belief import Belief

STUDY = Path(__file__).parents[1] / "results" / "next-pair" / "make.py"


@pytest.fixture(scope="module")
def update() -> Callable[..., Belief]:
    """Return the function of the study that rates after games."""
    found: Callable[..., Belief] = runpy.run_path(str(STUDY))["update"]
    return found


@pytest.mark.parametrize("nu", [0.0, 0.7])
def test_a_belief_after_games_is_the_mode_and_its_curvature(
    nu: float, update: Callable[..., Belief]
) -> None:
    rng = np.random.default_rng(6)
    for _ in range(20):
        root = rng.normal(size=(5, 6)) * 80.0
        before = Belief(rng.normal(1500.0, 100.0, 5), root @ root.T, nu)
        games = np.triu(rng.integers(0, 30, (5, 5)), 1)
        scores = np.triu(np.minimum(rng.integers(0, 60, (5, 5)) / 2.0, games), 1)
        scores = scores + np.tril((games - scores).T, -1)
        games = games + games.T
        after = update(before, games, scores, before.mean)
        precision = np.linalg.inv(before.covariance)

        def slope(x: np.ndarray, held: tuple = (games, scores, precision, before)) -> np.ndarray:  # type: ignore[type-arg]
            n, own, known, belief = held
            leads = joint_pairs.B * (x[:, None] - x)
            chances = joint_pairs.chances(leads.ravel(), nu)
            expected = (chances[0] + 0.5 * chances[1]).reshape(5, 5)
            found = joint_pairs.B * (own - n * expected).sum(axis=1) - known @ (x - belief.mean)
            return np.asarray(found)

        assert np.abs(slope(after.mean)).max() < 1e-8
        step = 1e-3
        curvature = np.array(
            [
                (slope(after.mean - step * e) - slope(after.mean + step * e)) / (2 * step)
                for e in np.eye(5)
            ]
        )
        assert after.covariance == pytest.approx(np.linalg.inv(curvature), rel=1e-4, abs=1e-3)
