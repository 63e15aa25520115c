"""Speed of the models; run with ``pytest tests/benchmarks --benchmark-only -n 0``."""

from __future__ import annotations

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from valmatch.config.loading import load_config
from valmatch.draws.streams import Streams
from valmatch.execution.chunks import build, run
from valmatch.models.ladder.loop import new_log
from valmatch.models.ladder.model import LadderModel


def best(benchmark: BenchmarkFixture) -> float:
    """Return the seconds of the fastest round."""
    assert benchmark.stats is not None
    return float(benchmark.stats["min"])


RULES = {
    "team_first": ("valorant",),
    "joint": ("valorant", "matching=joint"),
    "start": ("valorant-start",),
    "start-joint": ("valorant-start", "matching=joint"),
    "published": ("valorant-published",),
    "continuous": ("valorant", "review=continuous"),
}


@pytest.mark.parametrize("rules", RULES)
def test_replications(benchmark: BenchmarkFixture, rules: str) -> None:
    """Time 200 replications of `valorant`, random numbers included."""
    source, *overrides = RULES[rules]
    model = build(load_config(source, overrides))
    run(model, 1, range(2))
    batch = benchmark(run, model, 1, range(200))
    benchmark.extra_info["replications_per_second"] = 200 / best(benchmark)
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


SIZES = {1_000: 60, 10_000: 12, 100_000: 6, 1_000_000: 3}
"""Days that a ladder is played, by players."""


@pytest.mark.parametrize("players", list(SIZES))
def test_a_players_game(benchmark: BenchmarkFixture, players: int) -> None:
    """Time a game of a ladder, one against one, rated by Elo."""
    factors = (
        f"population.players={players}",
        "population.newcomers_per_day=0",
        f"days={SIZES[players]}",
        "warmup_days=0.25",
    )
    model = build(load_config("ladder-elo", factors))
    assert isinstance(model, LadderModel)
    inputs = model.draw(Streams(1), 0)
    played = model.play(inputs, new_log(0, 0, 1))  # compile outside the measurement
    benchmark.pedantic(model.play, (inputs, new_log(0, 0, 1)), rounds=3)  # type: ignore[no-untyped-call]
    games = 2 * int(played.loop.state["numbered"][0])
    benchmark.extra_info["nanoseconds_per_game"] = 1e9 * best(benchmark) / games
    assert games > 100_000
