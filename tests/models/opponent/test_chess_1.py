"""The config `chess-1` against SimOpt's CHESS-1 in plain Python, on the same players, exactly."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.oracles.chess_1 import chess_1
from valmatch.config.loading import load_config
from valmatch.execution.chunks import build, record, run

RESPONSES = ("avg_team_diff", "avg_wait_time_all")


def responses(n: int, *overrides: str) -> NDArray[np.float64]:
    """Return the two responses of CHESS-1 of each replication."""
    model = build(load_config("chess-1", overrides))
    names = [response.name for response in model.responses]
    return run(model, 1, range(n)).responses[:, [names.index(name) for name in RESPONSES]]


@pytest.mark.parametrize("gaps", ["poisson", "exponential"])
@pytest.mark.parametrize("diff", [0.0, 1.0, 50.0, 150.0, 2400.0])
def test_responses_are_those_of_the_plain_program(diff: float, gaps: str) -> None:
    overrides = (f"team_diff={diff}", f"gaps={gaps}", "num_players=301")
    found = responses(5, *overrides)
    model = build(load_config("chess-1", overrides))
    for k in range(5):
        players = record(model, 1, k).tables[0].columns
        times, ratings = np.array(players["arrival_hours"]), np.array(players["rating"])
        assert times.size == 301
        np.testing.assert_array_equal(found[k], chess_1(times.tolist(), ratings.tolist(), diff))


@pytest.mark.slow
def test_players_are_those_of_simopt_in_law() -> None:
    n, model = 100, build(load_config("chess-1"))
    tables = [record(model, 1, k).tables[0].columns for k in range(n)]
    ratings = np.array([table["rating"] for table in tables])
    size = ratings.size
    assert ratings.min() >= 0.0
    assert ratings.max() <= 2400.0
    assert abs(ratings.mean() - 1200.0) <= 4 * ratings.std() / math.sqrt(size)
    # P(rating <= 600) of the normal between its cuts.
    low, at, high = (0.5 * math.erfc((1200 - x) / 515.8 / math.sqrt(2)) for x in (0, 600, 2400))
    share = (at - low) / (high - low)
    error = math.sqrt(share * (1.0 - share) / size)
    assert abs(np.mean(ratings <= 600.0) - share) <= 4 * error
