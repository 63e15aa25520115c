"""The study of the next pair rates its worlds as it should."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

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


def test_the_zero_stays_where_it_is_held(update: Callable[..., Belief]) -> None:
    n = 4
    held = 100.0**2 * (np.eye(n) - 1.0 / n)
    games = np.ones((n, n), np.int64) - np.eye(n, dtype=np.int64)
    after = update(
        Belief(np.full(n, 1500.0), held), games, np.triu(games).astype(float), np.zeros(n)
    )
    assert after.mean.mean() == pytest.approx(1500.0)
    assert (np.diff(after.mean) < 0.0).all()
    assert after.covariance.sum() == pytest.approx(0.0, abs=1e-6)


def test_ratings_do_not_depend_on_the_number_of_threads(update: Callable[..., Belief]) -> None:
    n, rng = 200, np.random.default_rng(7)
    games = np.triu(rng.poisson(0.3, (n, n)), 1)
    won = rng.binomial(games, 0.5)
    scores = won + (games - won).T * 1.0
    start = Belief(np.zeros(n), 350.0**2 * (np.eye(n) - 1.0 / n))
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            found.append(update(start, games + games.T, scores, start.mean))
    assert found[0].mean.tobytes() == found[1].mean.tobytes()
    assert found[0].covariance.tobytes() == found[1].covariance.tobytes()
