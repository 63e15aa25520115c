"""A ladder recorded in files gives what one recorded in memory does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import valmatch
from valmatch.kernels import scratch

SMALL = {
    "population.players": 150,
    "days": 2,
    "warmup_days": 1,
    "sessions.patience_minutes": 5,
    "rule.team_num": 1,
    "rule.team_diff": 300,
}


def test_files_are_the_same_wherever_the_log_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = valmatch.load_config("ladder", SMALL)
    in_memory = valmatch.simulate(config, out=tmp_path / "a")
    monkeypatch.setattr(scratch, "LEAST_BYTES", 1)
    monkeypatch.setattr("valmatch.experiments.simulate.ROWS_AT_ONCE", 100)
    in_files = valmatch.simulate(config, out=tmp_path / "b")
    names = sorted(path.name for path in (tmp_path / "a").glob("*.csv"))
    assert names == ["days.csv", "games.csv", "players.csv", "tickets.csv"]
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
    for name in ("games", "tickets"):
        for column, values in in_memory[name].items():
            np.testing.assert_array_equal(values, in_files[name][column])
    assert len(in_files["games"]["game"]) > 200
    assert list((tmp_path / "b").glob(".*")) == list((tmp_path / "a").glob(".*"))
    waits = in_files["tickets"]
    assert np.isnan(waits["match"]).any()  # some gave up, or wait still
