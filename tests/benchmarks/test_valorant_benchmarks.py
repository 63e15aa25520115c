"""Speed of the valorant model; run with ``pytest tests/benchmarks --benchmark-only -n 0``."""

from __future__ import annotations

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from tests.benchmarks.plain_day import in_plain_days
from valmatch.config.loading import load_config
from valmatch.execution.chunks import build, run

RULES = {
    "team_first": ("valorant",),
    "joint": ("valorant", "matching=joint"),
    "start": ("valorant-start",),
    "start-joint": ("valorant-start", "matching=joint"),
    "published": ("valorant-published",),
    "continuous": ("valorant", "review=continuous"),
}


def best(benchmark: BenchmarkFixture) -> float:
    """Return the seconds of the fastest round."""
    assert benchmark.stats is not None
    return float(benchmark.stats["min"])


@pytest.mark.parametrize("rules", RULES)
def test_replications(benchmark: BenchmarkFixture, rules: str) -> None:
    """Time 200 replications, random numbers included; in plain days of the same moment, too."""
    source, *overrides = RULES[rules]
    model = build(load_config(source, overrides))
    run(model, 1, range(2))
    batch = benchmark(run, model, 1, range(200))
    benchmark.extra_info["replications_per_second"] = 200 / best(benchmark)
    benchmark.extra_info["plain_days"] = in_plain_days(lambda: run(model, 1, range(200)), 200)
    assert len(batch.responses) == 200


@pytest.mark.parametrize("multiplier", [1, 10, 100, 1000, 10000])
def test_cost_per_player(benchmark: BenchmarkFixture, multiplier: int) -> None:
    """Time the cost per player as the rate grows; some 500,000 players a round at least."""
    model = build(load_config("valorant", [f"rate_multiplier={multiplier}"]))
    replications = range(max(1, 1000 // multiplier))
    run(model, 1, range(1))
    batch = benchmark.pedantic(run, (model, 1, replications), rounds=3)  # type: ignore[no-untyped-call]
    names = [response.name for response in model.responses]
    players = batch.responses[:, names.index("n_players")].sum()
    benchmark.extra_info["nanoseconds_per_player"] = 1e9 * best(benchmark) / players
    assert players > 400_000
