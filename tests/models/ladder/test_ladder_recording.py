"""A ladder whose tables are written some rows at a time has the same files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import valmatch
from valmatch.models.model import LargeTable, Table

SMALL = {
    "population.players": 150,
    "days": 2,
    "warmup_days": 1,
    "sessions.patience_minutes": 5,
    "rule.team_num": 1,
    "rule.team_diff": 300,
}


def test_files_are_the_same_however_many_rows_are_written_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = valmatch.load_config("ladder", SMALL)
    whole_tables = valmatch.simulate(config, out=tmp_path / "a")
    monkeypatch.setattr("valmatch.experiments.simulate.ROWS_AT_ONCE", 100)
    parts = valmatch.simulate(config, out=tmp_path / "b")
    names = sorted(path.name for path in (tmp_path / "a").glob("*.csv"))
    assert names == ["days.csv", "games.csv", "players.csv", "tickets.csv"]
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
    for name in ("games", "tickets"):
        for column, values in whole_tables[name].items():
            np.testing.assert_array_equal(values, parts[name][column])
    assert len(parts["games"]["game"]) > 200
    assert list((tmp_path / "b").glob(".*")) == list((tmp_path / "a").glob(".*"))
    waits = parts["tickets"]
    assert np.isnan(waits["match"]).any()  # some gave up, or wait still


def test_a_large_table_gives_its_rows_in_parts() -> None:
    columns = {"x": np.arange(10), "y": np.arange(10) / 4}
    small = Table("t", columns, whole=("x",))
    large = LargeTable("t", 10, lambda rows: {k: v[rows] for k, v in columns.items()}, ("x",))
    assert (large.names, len(large), large.whole) == (small.names, 10, small.whole)
    for count in (1, 3, 10, 20):
        pieces = [list(table.parts(count)) for table in (small, large)]
        assert [len(part["x"]) for part in pieces[0]] == [len(part["x"]) for part in pieces[1]]
        for name in columns:
            whole = [np.concatenate([part[name] for part in of]) for of in pieces]
            assert whole[0].tolist() == whole[1].tolist() == columns[name].tolist()
    assert large.columns["y"].tolist() == columns["y"].tolist()
    assert large.part(slice(-2, None))["x"].tolist() == [8, 9]
    assert repr(large) == repr(small)
