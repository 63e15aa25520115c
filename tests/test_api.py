"""The Python API refuses what the command line refuses, in its own words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import valmatch
from tests.support.case_tables import cases
from valmatch.kernels.lazy_exports import names_of

LOG = "game,winner,loser\n1,ann,bob\n2,ann,cy\n3,cy,bob\n"

ALLOWED = {
    "COUNT": "a whole number from 1 to 1000000000",
    "SEED": "a whole number from 0 to 18446744073709551615",
    "LEVEL": "a number from 1e-09 to 0.999999999",
}
"""What arguments may be, by the name that stands for it here."""

SMALL = {"model": "valorant", "factors": {"horizon": 2.0}}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    path.write_text(LOG)
    return path


@pytest.mark.parametrize(
    ("call", "message"),
    cases("""
replicate(SMALL, 0) | n: 0 (allowed: COUNT)
replicate(SMALL, 3, -1) | seed: -1 (allowed: SEED)
replicate(SMALL, 3, workers=0) | workers: 0 (allowed: a whole number from 1 to 1000)
replicate(SMALL, 3, executor="locl") | executor: 'locl' (allowed: local or processes or dask; did
  you mean local?)
replicate(SMALL, 3, out="") | out: '' (allowed: a path)
replicate(SMALL, 3, shard="4/4") | shard 4/4: allowed is I/K with I from 0 to K - 1, such as 0/4
replicate(SMALL, 3, targets=["avg_wait_time=1%"], shard="0/2") | targets: a shard cannot know when
  all of them together may stop
replicate("zonestats", 3, control_variates=True) | control_variates: zonestats has none with these
  arrivals
optimize("valorant-20min", budget=99) | budget: 99 (allowed: a whole number from 100 to 1000000000)
rate_games("-", "elo", tune="T") | tune T: elo has no such parameter (allowed: scale, K,
  home_advantage, draw_probability)
rate_games("-", "elo", parameters={"K": -1.0}) | parameters K=-1.0: out of range (allowed: 1e-06 to
  1000000.0)
load_config("valorant", {"team_dif": 3}) | overrides team_dif=3: factors.team_dif: unknown key (did
  you mean team_diff?)
"""),
)
def test_what_the_command_line_refuses_is_refused(call: str, message: str) -> None:
    with pytest.raises(valmatch.InputError) as error:
        eval(f"valmatch.{call}")
    for name, values in ALLOWED.items():
        message = message.replace(name, values)
    assert str(error.value) == message


def test_a_run_says_in_words_of_python_how_to_go_on(tmp_path: Path) -> None:
    valmatch.replicate(SMALL, 3, out=tmp_path)
    with pytest.raises(valmatch.InputError) as error:
        valmatch.replicate(SMALL, 3, 7, out=tmp_path)
    assert str(error.value) == (
        f"out {tmp_path}: holds the results of another run (seed 1, this run has 7); choose"
        " another folder"
    )
    manifest = tmp_path / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"complete"', '"running"'))
    with pytest.raises(valmatch.InputError, match="resume=True goes on with it"):
        valmatch.replicate(SMALL, 3, out=tmp_path)


# Results


def test_results_give_equally_long_arrays(log: Path) -> None:
    runs: list[Any] = [
        valmatch.simulate(SMALL),
        valmatch.replicate(SMALL, 5),
        valmatch.compare(SMALL, SMALL, 5),
        valmatch.optimize("valorant-20min", "random", 100),
        valmatch.rate_games(log, "trueskill"),
    ]
    for result in runs:
        columns = result.to_dict()
        assert len({column.shape for column in columns.values()}) == 1
        assert all(isinstance(column, np.ndarray) for column in columns.values())
        assert all(column.dtype != object for column in columns.values())
    assert runs[1].to_dict()["replication"].tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(runs[1].to_dict()["n_players"], runs[1]["n_players"])


def test_tables_of_a_day_are_arrays() -> None:
    day = valmatch.simulate(SMALL)
    players = day["players"]
    assert players["rating"].dtype == np.float64
    assert players["player"].dtype == np.int64
    # A player without a team has none, not the team -1.
    assert np.isnan(players["team"]).sum() == np.isnan(players["match"]).sum() > 0
    assert set(day["matches"]["match"]) == set(players["match"][~np.isnan(players["match"])])
    with pytest.raises(KeyError, match="did you mean players"):
        day["player"]


# Exports


def test_every_export_of_the_stub_is_there() -> None:
    stub = Path(valmatch.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    homes = names_of(stub)
    assert set(valmatch.__all__) == set(dir(valmatch)) == set(homes)
    assert stub.count("import") == len(homes)
    for name in homes:
        assert getattr(valmatch, name) is not None
    assert valmatch.__version__.count(".") == 2
