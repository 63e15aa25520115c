"""Speed of the draws; run with ``pytest tests/benchmarks --benchmark-only -n 0``."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from tests.oracles.arrivals import drawn_by_numpy
from valmatch.draws.distributions import fill_exponential, fill_normal, fill_uniform
from valmatch.draws.streams import Streams
from valmatch.models.valorant.arrivals import ArrivalProcess
from valmatch.models.valorant.factors import ValorantFactors

FILLS = {
    "random": fill_uniform,
    "standard_exponential": fill_exponential,
    "standard_normal": fill_normal,
}


def fastest(ours: Callable[[], object], numpys: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds of the fastest call of each; they take turns, as machines are noisy."""
    seconds: tuple[list[float], list[float]] = [], []
    for _ in range(400):
        for taken, call in zip(seconds, (ours, numpys), strict=True):
            start = time.perf_counter()
            call()
            taken.append(time.perf_counter() - start)
    return min(seconds[0]), min(seconds[1])


def test_default_day(benchmark: BenchmarkFixture) -> None:
    """Time the players of 100 default days."""
    factors, streams = ValorantFactors(), Streams(1)
    assert factors.horizon is not None
    process = ArrivalProcess(
        factors.poisson_rate,
        factors.horizon,
        factors.mean_matrix,
        factors.cov_matrix,
        factors.multiplier_matrix,
    )

    def ours() -> int:
        return sum(chunk.times.size for k in range(100) for chunk in process.chunks(streams, k))

    def numpys() -> int:
        days = (drawn_by_numpy(process, streams, k) for k in range(100))
        return sum(chunk.times.size for day in days for chunk in day)

    assert benchmark(ours) == numpys()
    mine, theirs = fastest(ours, numpys)
    benchmark.extra_info["microseconds_per_day"] = 1e6 * mine / 100
    benchmark.extra_info["microseconds_per_day_by_numpy"] = 1e6 * theirs / 100
    benchmark.extra_info["times_as_fast_as_numpy"] = theirs / mine


@pytest.mark.parametrize("name", FILLS)
def test_thousand_numbers(benchmark: BenchmarkFixture, name: str) -> None:
    """Time 1,000 numbers of a stream that is open."""
    streams, out = Streams(1), np.empty(1000)
    words, generator = streams.words(0, 0), streams.stream(0, 0)
    draw = getattr(generator, name)
    benchmark(FILLS[name], words, out)
    mine, theirs = fastest(lambda: FILLS[name](words, out), lambda: draw(out=out))
    benchmark.extra_info["nanoseconds_per_number"] = 1e6 * mine
    benchmark.extra_info["times_as_fast_as_numpy"] = theirs / mine
