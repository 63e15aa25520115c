"""Intervals of resampled logs cover the truth; fitted configs are like what the log came from."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.support.log_inference import coverage, fit_errors


@pytest.mark.parametrize(("days", "logs"), [(40, 400), (120, 150)])
def test_intervals_of_resamples_cover_the_true_mean(days: int, logs: int, tmp_path: Path) -> None:
    names = ("avg_wait_time", "avg_team_diff", "avg_player_diff", "wait_p90", "n_players")
    found = coverage(tmp_path, names, days=days, logs=logs, resamples=200)
    print(f"{logs} logs of {days} days:", found)
    error = math.sqrt(0.95 * 0.05 / logs)
    waits = found.pop("avg_wait_time")
    assert 0.93 - 2 * error <= waits <= 0.97 + 2 * error
    # Others may be held more often: who meets whom differs more between resamples than logs.
    assert min(found.values()) >= 0.93


def test_a_fitted_config_reproduces_every_response(tmp_path: Path) -> None:
    found = fit_errors(tmp_path, days=400, n=5000)
    print(found)
    assert max(map(abs, found.values())) <= 4.0
