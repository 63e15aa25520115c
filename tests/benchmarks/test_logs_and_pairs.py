"""Speed of ratings of logs and of choices; ``pytest tests/benchmarks --benchmark-only -n 0``."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import valmatch
from tests.support.matchmaker_case import LichessPool, Steps
from valmatch.matching.living import bar, lichess
from valmatch.matching.living.pairing import pair
from valmatch.matching.living.registry import kernel_numbers
from valmatch.policies.joint.batch import Choice, choose_batch
from valmatch.policies.joint.belief import Belief
from valmatch.policies.registry import GOALS

N_ROWS, N_RATED = 100_000, 5_000
SHAPES = {"1v1": (2, 1), "5v5": (2, 5), "free_for_all": (8, 1)}  # sides and their size


@pytest.fixture(scope="module", params=SHAPES)
def log(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a log in long format."""
    sides, size = SHAPES[request.param]
    n = sides * size
    rng = np.random.default_rng(1)
    path: Path = tmp_path_factory.mktemp("log") / f"{request.param}.csv"
    lines = ["game,player,team,score,minutes"]
    for game in range(N_ROWS // n):
        players = rng.choice(N_RATED, n, replace=False).tolist()
        scores, minutes = rng.poisson(20, n), rng.integers(5, 31, n)
        lines += [
            f"match{game},player_{player},team{k // size},{scores[k]},{minutes[k]}"
            for k, player in enumerate(players)
        ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("files", [False, True], ids=["ratings", "with_files"])
@pytest.mark.parametrize("system", ["zonestats", "elo", "trueskill", "openskill"])
def test_rate(
    benchmark: BenchmarkFixture, system: str, files: bool, log: Path, tmp_path: Path
) -> None:
    """Time the rating of 100,000 rows, reading included."""
    if system in ("trueskill", "openskill") and log.stem == "free_for_all":
        pytest.skip("rated through the library, which takes minutes")
    out = tmp_path / "out" if files else None
    valmatch.rate_games(log, system, out=out)  # compile outside the measurement
    result = benchmark(valmatch.rate_games, log, system, out=out)
    assert result.rows == N_ROWS


GRADIENT = "knowledge_gradient"


@pytest.mark.parametrize("goal", GOALS)
def test_a_batch_of_200_players(benchmark: BenchmarkFixture, goal: str) -> None:
    """Time the choice of pairs after some even play: ratings apart, errors alike."""
    rng, n = np.random.default_rng(3), 200
    belief = Belief(rng.normal(1500.0, 100.0, n), 60.0**2 * (np.eye(n) - 1.0 / n))
    size = 5 if goal == "order" else 20
    choose_batch(belief, Choice(GRADIENT, goal), 1)  # compile outside the measurement
    batch = benchmark(choose_batch, belief, Choice(GRADIENT, goal), size)
    assert batch.first.size == size


def test_a_wave_of_300_of_lichess(benchmark: BenchmarkFixture) -> None:
    rng, everybody = random.Random(3), np.arange(300)
    ratings = [{"user": str(k), "rating": round(rng.gauss(1500, 250))} for k in range(300)]
    state = LichessPool(ratings, lichess.Numbers()).state
    numbers = kernel_numbers(lichess.Numbers())

    def wave() -> int:
        partners = pair(lichess.score_pairs(everybody, state, numbers))
        return int((partners >= 0).sum()) // 2

    wave()
    assert benchmark(wave) > 140


def test_a_tick_of_bar_with_20_waiting_where_nothing_fits(benchmark: BenchmarkFixture) -> None:
    skills = [40.0 * 2.0**k for k in range(20)]
    random.Random(3).shuffle(skills)
    tickets = [{"players": [{"rating": skill, "deviation": 3.0}]} for skill in skills]
    steps = Steps({"rule": "bar", "tickets": tickets, "constants": {}}, bar.Numbers(team_size=5))

    def tick() -> int:
        steps.state.counters["fresh"] = 20
        return len(steps.until(5.0, 5.0))

    tick()
    assert benchmark(tick) == 0
