"""Intervals of resampled logs cover the truth; fitted configs are like what the log came from."""

from __future__ import annotations

import math
from pathlib import Path

from tests.log_inference import coverage, fit_errors


def test_intervals_of_resamples_cover_the_true_mean(tmp_path: Path) -> None:
    names = ("avg_wait_time", "avg_team_diff", "avg_player_diff", "wait_p90", "n_players")
    logs = 400
    found = coverage(tmp_path, names, days=40, logs=logs, resamples=60)
    print(found)
    error = math.sqrt(0.95 * 0.05 / logs)
    for name, share in found.items():
        assert 0.93 - 2 * error <= share <= 0.97 + 2 * error, name


def test_a_fitted_config_reproduces_every_response(tmp_path: Path) -> None:
    found = fit_errors(tmp_path, days=400, n=5000)
    print(found)
    assert max(map(abs, found.values())) <= 4.0
