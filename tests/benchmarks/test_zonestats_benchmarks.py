"""Time of one replication of the zonestats model: a million contests, per kind of game."""

from __future__ import annotations

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from valmatch.execution.chunks import run
from valmatch.models.zonestats.factors import ZoneStatsFactors
from valmatch.models.zonestats.model import ZoneStatsModel

KINDS = {"duel": (2, 1), "teams": (2, 8), "free-for-all": (8, 1)}


@pytest.mark.parametrize("kind", KINDS)
def test_a_million_contests(benchmark: BenchmarkFixture, kind: str) -> None:
    n_teams, team_size = KINDS[kind]
    contests_per_seat = (n_teams - 1) * team_size / 2
    games = round(1_000_000 / 100 / contests_per_seat)
    model = ZoneStatsModel(
        ZoneStatsFactors(n_teams=n_teams, team_size=team_size, games_per_player=games)
    )
    run(model, 1, [0])  # compile outside the measurement
    benchmark(run, model, 1, [1])
