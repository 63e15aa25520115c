"""Time of choosing pairs to play next, and of plans."""

from __future__ import annotations

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import valmatch
from valmatch.policies.joint.batch import choose_batch
from valmatch.policies.joint.belief import Belief
from valmatch.policies.registry import GOALS

GRADIENT = "knowledge_gradient"


def believed(n: int) -> Belief:
    """Return a belief after some even play: ratings apart, errors alike, with their mean held."""
    rng = np.random.default_rng(3)
    return Belief(rng.normal(1500.0, 100.0, n), 60.0**2 * (np.eye(n) - 1.0 / n))


@pytest.mark.parametrize("goal", GOALS)
def test_a_batch_of_200_players(benchmark: BenchmarkFixture, goal: str) -> None:
    belief, size = believed(200), 5 if goal == "order" else 20
    choose_batch(belief, GRADIENT, goal, 1)  # compile outside the measurement
    batch = benchmark(choose_batch, belief, GRADIENT, goal, size)
    assert batch.first.size == size


@pytest.mark.parametrize("policy", ["uniform", GRADIENT])
def test_a_plan_of_12_players(benchmark: BenchmarkFixture, policy: str) -> None:
    given = {"players": 12, "spread": 100.0, "best": 0.6, "replications": 2, "max_games": 2_000}
    valmatch.plan_games(**given, policy=policy)  # type: ignore[arg-type]
    found = benchmark(valmatch.plan_games, **given, policy=policy)
    assert found.players == 12
