"""Speed of the models; run with ``pytest tests/benchmarks --benchmark-only -n 0``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from valmatch.config.loading import load_config
from valmatch.draws.distributions import fill_exponential, fill_normal
from valmatch.draws.streams import Streams
from valmatch.execution.chunks import build, run
from valmatch.models.curves import Prior
from valmatch.models.ladder.model import LadderModel
from valmatch.models.ladder.state import new_log
from valmatch.models.opponent.model import BELIEFS, MEASURES, Course, path_by
from valmatch.models.zonestats.factors import ZoneStatsFactors
from valmatch.models.zonestats.model import ZoneStatsModel
from valmatch.policies.knowledge import Knowledge, workspace
from valmatch.policies.registry import OPPONENT

FILLS: dict[str, Any] = {"standard_exponential": fill_exponential, "standard_normal": fill_normal}


def best(benchmark: BenchmarkFixture) -> float:
    """Return the seconds of the fastest round."""
    assert benchmark.stats is not None
    return float(benchmark.stats["min"])


@pytest.mark.parametrize("name", FILLS)
def test_thousand_numbers(benchmark: BenchmarkFixture, name: str) -> None:
    """Time 1,000 numbers of a stream that is open."""
    words, out = Streams(1).words(0, 0), np.empty(1000)
    benchmark(FILLS[name], words, out)
    benchmark.extra_info["nanoseconds_per_number"] = 1e6 * best(benchmark)


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


KINDS = {"duel": (2, 1), "teams": (2, 8), "free-for-all": (8, 1)}


@pytest.mark.parametrize("kind", KINDS)
def test_a_million_contests(benchmark: BenchmarkFixture, kind: str) -> None:
    """Time one replication of the zonestats model."""
    n_teams, team_size = KINDS[kind]
    contests_per_seat = (n_teams - 1) * team_size / 2
    games = round(1_000_000 / 100 / contests_per_seat)
    model = ZoneStatsModel(
        ZoneStatsFactors(n_teams=n_teams, team_size=team_size, games_per_player=games)
    )
    run(model, 1, [0])  # compile outside the measurement
    benchmark(run, model, 1, [1])


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


N_PLAYERS, N_GAMES, NOISE = 50, 500, 2.5


@pytest.mark.parametrize("policy", list(OPPONENT), ids=[name.upper() for name in OPPONENT])
def test_sample_path(benchmark: BenchmarkFixture, policy: str) -> None:
    """Time a sample path: 500 games against 49 opponents, of the player with the best prior."""
    rng = np.random.default_rng(1)
    means, variances = rng.normal(0, 2, N_PLAYERS), rng.uniform(2, 3, N_PLAYERS)
    truths = rng.normal(means, np.sqrt(variances))
    beliefs = np.empty(N_PLAYERS), np.empty(N_PLAYERS)
    player, space = int(np.argmax(means)), workspace(N_PLAYERS)
    arguments = (
        Knowledge(player, N_GAMES, *beliefs, truths, NOISE, 0.99, False, space),
        Prior(means, variances),
        rng.normal(size=(N_GAMES, 2)),
        rng.random(N_GAMES),
        Course(
            np.empty(N_GAMES, dtype=np.int64),
            np.empty((len(BELIEFS), N_GAMES)),
            np.empty((len(MEASURES), N_GAMES)),
        ),
    )
    play_path = path_by(policy)
    play_path(*arguments)  # compile outside the measurement
    benchmark(play_path, *arguments)
