"""Time of a player's game in a ladder, by the number of its players."""

from __future__ import annotations

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from valmatch.config.loading import load_config
from valmatch.draws.streams import Streams
from valmatch.execution.chunks import build
from valmatch.models.ladder.model import LadderModel
from valmatch.models.ladder.state import new_log

SIZES = {1_000: 60, 10_000: 12, 100_000: 6, 1_000_000: 3}
"""Days that are played, by players."""


@pytest.mark.parametrize("players", list(SIZES))
def test_a_players_game(benchmark: BenchmarkFixture, players: int) -> None:
    """One against one, rated by Elo."""
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
    assert benchmark.stats is not None
    benchmark.extra_info["nanoseconds_per_game"] = 1e9 * float(benchmark.stats["min"]) / games
    assert games > 100_000
