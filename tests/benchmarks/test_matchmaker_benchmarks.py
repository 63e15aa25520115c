"""Speed of living matchmakers; run with ``pytest tests/benchmarks --benchmark-only -n 0``."""

from __future__ import annotations

import random

import numpy as np
from pytest_benchmark.fixture import BenchmarkFixture

from tests.support.matchmaker_case import LichessPool, Steps
from valmatch.matching.living import bar, lichess
from valmatch.matching.living.pairing import pair
from valmatch.matching.living.registry import kernel_numbers


def test_a_wave_of_300_of_lichess(benchmark: BenchmarkFixture) -> None:
    rng, everybody = random.Random(3), np.arange(300)
    ratings = [{"user": str(k), "rating": round(rng.gauss(1500, 250))} for k in range(300)]
    state = LichessPool(ratings, lichess.Numbers()).state
    numbers = kernel_numbers("lichess", lichess.Numbers())

    def wave() -> int:
        partners = pair(lichess.score_pairs(everybody, state, numbers))
        return int((partners >= 0).sum()) // 2

    wave()
    assert benchmark(wave) > 140


def test_a_tick_of_bar_with_20_waiting_where_nothing_fits(benchmark: BenchmarkFixture) -> None:
    skills = [40.0 * 2.0**k for k in range(20)]
    random.Random(3).shuffle(skills)
    tickets = [{"players": [{"rating": one, "deviation": 3.0}]} for one in skills]
    steps = Steps("bar", bar.Numbers(team_size=5), {"tickets": tickets, "constants": {}})

    def tick() -> int:
        steps.state.counters["fresh"] = 20
        return len(steps.until(5.0, 5.0))

    tick()
    assert benchmark(tick) == 0
