"""Time of rating 100,000 rows of duels, of 5 against 5 or of 8 for themselves, CSV included."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from valmatch.game_logs.rating import rate_games

N_ROWS, N_PLAYERS = 100_000, 5_000
SHAPES = {"1v1": (2, 1), "5v5": (2, 5), "free_for_all": (8, 1)}  # sides and their size


@pytest.fixture(scope="module", params=SHAPES)
def log(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a log in long format."""
    sides, size = SHAPES[request.param]
    n = sides * size
    rng = np.random.default_rng(1)
    path: Path = tmp_path_factory.mktemp("log") / f"{request.param}.csv"
    lines = ["game,player,team,score,minutes"]
    for game in range(N_ROWS // n):
        players = rng.choice(N_PLAYERS, n, replace=False).tolist()
        scores, minutes = rng.poisson(20, n), rng.integers(5, 31, n)
        lines += [
            f"match{game},player_{player},team{k // size},{scores[k]},{minutes[k]}"
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
    if system in ("trueskill", "openskill") and log.stem == "free_for_all":
        pytest.skip("rated through the library, which takes minutes")
    out = tmp_path / "out" if files else None
    rate_games(log, system, out=out)  # compile outside the measurement
    result = benchmark(rate_games, log, system, out=out)
    assert result.rows == N_ROWS
