"""Time of choosing pairs to play next, of worlds that play on, and of plans."""

from __future__ import annotations

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import valmatch
from valmatch.draws.streams import Streams
from valmatch.game_logs.next_pairs.world import Plan, play_world
from valmatch.policies.joint.batch import choose_batch
from valmatch.policies.joint.belief import GOALS, Belief
from valmatch.policies.registry import JOINT

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


@pytest.mark.parametrize("policy", JOINT)
def test_a_world_of_12_players(benchmark: BenchmarkFixture, policy: str) -> None:
    n, streams = 12, Streams(1)
    start = Belief(np.zeros(n), 350.0**2 * (np.eye(n) - 1.0 / n))
    allowed = ~np.eye(n, dtype=np.bool_)
    games = np.zeros((n, n), np.int64)
    plan = Plan(start, games, allowed, np.arange(n), "best", 10, False, 0.0, (0, 200))
    play_world(plan, policy, streams, 0, lambda: None)
    measures = benchmark(play_world, plan, policy, streams, 0, lambda: None)
    assert measures.shape == (2, 3)


@pytest.mark.parametrize("policy", ["uniform", GRADIENT])
def test_a_plan_of_12_players(benchmark: BenchmarkFixture, policy: str) -> None:
    given = {"players": 12, "spread": 100.0, "best": 0.6, "replications": 2, "max_games": 2_000}
    valmatch.plan_games(**given, policy=policy)  # type: ignore[arg-type]
    found = benchmark(valmatch.plan_games, **given, policy=policy)
    assert found.players == 12
