"""Intervals of resampled logs cover the truth; fitted configs are like what the log came from."""

from __future__ import annotations

from pathlib import Path

from tests.log_inference import coverage, fit_errors


def test_intervals_of_resamples_cover_the_true_mean(tmp_path: Path) -> None:
    names = ("avg_wait_time", "avg_team_diff", "avg_player_diff", "wait_p90", "n_players")
    found = coverage(tmp_path, names, days=60, logs=400, resamples=100)
    print(found)
    for name, share in found.items():
        assert 0.93 <= share <= 0.97, name


def test_a_fitted_config_reproduces_every_response(tmp_path: Path) -> None:
    found = fit_errors(tmp_path, days=400, n=5000)
    print(found)
    assert max(map(abs, found.values())) <= 4.0
