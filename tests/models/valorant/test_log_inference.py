"""A fast part of `tests/verification/test_log_inference.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.log_inference import coverage, fit_errors


@pytest.mark.slow
def test_intervals_of_resamples_cover_the_true_mean(tmp_path: Path) -> None:
    names = ("avg_wait_time", "avg_team_diff", "n_players")
    found = coverage(tmp_path, names, days=14, logs=16, resamples=20)
    assert all(share >= 0.68 for share in found.values()), found  # 11 of 16 at least


@pytest.mark.slow
def test_a_fitted_config_reproduces_every_response(tmp_path: Path) -> None:
    found = fit_errors(tmp_path, days=60, n=400)
    assert max(map(abs, found.values())) <= 4.0, found
