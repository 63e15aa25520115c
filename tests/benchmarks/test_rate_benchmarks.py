"""Time of rating 100,000 rows of 5 against 5, CSV reading included."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from valmatch.rate import rate

N_GAMES, SIZE, N_PLAYERS = 10_000, 5, 5_000


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a log in long format."""
    rng = np.random.default_rng(1)
    path = tmp_path_factory.mktemp("log") / "log.csv"
    lines = ["game,player,team,score,minutes"]
    for game in range(N_GAMES):
        players = rng.choice(N_PLAYERS, 2 * SIZE, replace=False).tolist()
        scores, minutes = rng.poisson(20, 2 * SIZE), rng.integers(5, 31, 2 * SIZE)
        lines += [
            f"match{game},player_{player},{'red' if k < SIZE else 'blue'},{scores[k]},{minutes[k]}"
            for k, player in enumerate(players)
        ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("files", [False, True], ids=["ratings", "with_files"])
@pytest.mark.parametrize("system", ["zonestats", "elo", "trueskill", "openskill"])
def test_rate(
    benchmark: BenchmarkFixture, system: str, files: bool, log: Path, tmp_path: Path
) -> None:
    if system == "openskill":
        pytest.importorskip("openskill")
    out = tmp_path / "out" if files else None
    rate(log, system, out=out)  # compile outside the measurement
    result = benchmark(rate, log, system, out=out)
    assert result.rows == 2 * SIZE * N_GAMES
