"""Time of one sample path: 500 games against 49 opponents, per policy, prior and update."""

from __future__ import annotations

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from valmatch.models.curves import Prior
from valmatch.models.opponent.model import (
    BELIEFS,
    MEASURES,
    Course,
    Draws,
    path_by,
)
from valmatch.policies.knowledge import Knowledge, workspace
from valmatch.policies.registry import OPPONENT

N_PLAYERS, N_GAMES, NOISE = 50, 500, 2.5


@pytest.mark.parametrize("printed", [False, True], ids=["corrected", "as_printed"])
@pytest.mark.parametrize("prior", ["top", "middle", "bottom", "equal"])
@pytest.mark.parametrize("policy", list(OPPONENT), ids=[name.upper() for name in OPPONENT])
def test_sample_path(benchmark: BenchmarkFixture, policy: str, prior: str, printed: bool) -> None:
    rng = np.random.default_rng(1)
    means, variances = rng.normal(0, 2, N_PLAYERS), rng.uniform(2, 3, N_PLAYERS)
    player = int(np.argsort(-means)[{"top": 0, "bottom": N_PLAYERS - 1}.get(prior, 24)])
    truths = rng.normal(means, np.sqrt(variances))
    beliefs = np.empty(N_PLAYERS), np.empty(N_PLAYERS)
    known = Knowledge(player, N_GAMES, *beliefs, truths, NOISE, 0.99, printed, workspace(N_PLAYERS))
    arguments = (
        known,
        Prior(np.zeros(N_PLAYERS) if prior == "equal" else means, variances),
        Draws(rng.normal(size=(N_GAMES, 2)), rng.random(N_GAMES)),
        Course(
            np.empty(N_GAMES, dtype=np.int64),
            np.empty((len(BELIEFS), N_GAMES)),
            np.empty((len(MEASURES), N_GAMES)),
        ),
    )
    play_path = path_by(policy)
    play_path(*arguments)  # compile outside the measurement
    benchmark(play_path, *arguments)
