"""Two systems under common random numbers."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import numpy as np
import pytest

import valmatch as library
from tests.support.command import refusal, success, valmatch
from tests.support.crashes import contents
from tests.support.folders import rows
from valmatch.config.loading import load_config
from valmatch.errors import InputError
from valmatch.execution.shards import Shard
from valmatch.experiments.compare import compare, compare_runs
from valmatch.experiments.replicate import replicate


def test_differences_are_those_of_the_two_runs() -> None:
    a, b = load_config("valorant"), load_config("valorant", ["team_diff=150"])
    found = compare(a, b, 60, seed=4)
    first, second = replicate(a, 60, 4), replicate(b, 60, 4)
    for name, one in found.comparisons.items():
        change = second[name] - first[name]
        assert one.difference.mean == pytest.approx(np.mean(change), rel=1e-12, abs=1e-15)
        assert one.difference.n == 60
    # Both met the same players, and the rule brings teams together.
    assert found.comparisons["n_players"].difference.max == 0.0
    teams = found.comparisons["avg_team_diff"]
    assert teams.difference.ci_high is not None
    assert teams.difference.ci_high < 0.0
    assert teams.variance_ratio is not None
    assert teams.variance_ratio > 1.0


@pytest.mark.slow
def test_files_of_a_comparison(tmp_path: Path) -> None:
    change = ["--set", "team_diff=150"]
    done = valmatch("compare", "valorant", *change, "-n", 9, "--out", tmp_path, "--json")
    assert (done.code, done.err) == (0, "")
    document = json.loads(done.out)
    assert document == json.loads((tmp_path / "summary.json").read_text())
    assert document["changed"] == {"team_diff": {"a": 400.0, "b": 150.0}}
    table = {row["response"]: row for row in rows(tmp_path / "differences.csv")}
    assert list(table) == list(document["differences"])
    assert float(table["avg_wait_time"]["mean"]) == document["differences"]["avg_wait_time"]["mean"]
    valmatch("replicate", "valorant", "-n", 9, *change, "--out", tmp_path / "alone")
    assert contents(tmp_path / "b") == contents(tmp_path / "alone")
    # Two configs are changed alike; two folders need no simulation.
    both = valmatch("compare", "valorant", "valorant", *change, "-n", 9, "--json")
    assert json.loads(both.out)["differences"]["avg_wait_time"]["max"] == 0.0
    folders = valmatch("compare", tmp_path / "a", tmp_path / "b", "--json")
    assert json.loads(folders.out)["differences"] == document["differences"]


@pytest.mark.slow
def test_what_stops_the_first_run_stops_the_second(tmp_path: Path) -> None:
    def interrupt(done: int) -> None:
        if done:
            signal.raise_signal(signal.SIGINT)

    change = load_config("valorant", ["team_diff=150"])
    found = compare("valorant", change, 3000, progress=interrupt, out=tmp_path)
    assert 0 < len(found.base.values) < 3000
    other = found.variants[0].run
    assert (len(other.values), other.status, found.status) == (0, "interrupted", "interrupted")
    assert found.comparisons["avg_wait_time"].difference.mean is None
    late = compare("valorant", change, 10, max_seconds=0.0)
    assert (len(late.base.values), len(late.variants[0].run.values)) == (0, 0)
    assert late.status == "out of time"
    resumed = compare("valorant", change, 3000, out=tmp_path, resume=True)
    assert (resumed.n, resumed.status) == (3000, "complete")


def test_undefined_pairs_are_counted() -> None:
    none = ("--set", "player_diff=0", "--set", "player_slack=0")
    done = success("compare", "valorant", *none, "-n", 4)
    assert "avg_wait_time, wait_p50 and 4 more are undefined in 4 of 4 pairs" in done.err
    assert "undefined" in done.out


def test_what_cannot_be_compared(tmp_path: Path) -> None:
    assert "give a second config" in refusal("compare", "valorant")
    small = ["n_games=5", "n_opponents=3", "rank=1"]
    with pytest.raises(InputError, match="no response in common"):
        compare("valorant", load_config("kg-fig1-top", small), 2, out=tmp_path / "none")
    assert not (tmp_path / "none").exists()
    a = replicate("valorant", 4, seed=1)
    with pytest.raises(InputError, match="seeds 1 and 2"):
        compare_runs(a, [replicate("valorant", 4, seed=2)])
    folders = refusal("compare", tmp_path, tmp_path, "--set", "team_diff=3")
    assert "without --set and --out" in folders
    for command in (("compare", "valorant"), ("replicate",), ("optimize",)):
        assert refusal(*command, "smoke", "--resume").startswith("--resume: needs --out")
    halves = [replicate("valorant", 4, shard=Shard(k, 2)) for k in (0, 1)]
    assert compare_runs(halves[0], [halves[1]]).n == 0
    assert compare_runs(a, [halves[1]]).n == 2


def test_the_library_is_the_command() -> None:
    change = {"factors.team_diff": 150, "wait_thresh": np.float64(0.1)}
    config = library.load_config("valorant", change)
    same = library.load_config(
        {"model": "valorant", "factors": {"team_diff": 150, "wait_thresh": 0.1}}
    )
    assert config.factors == same.factors
    result = library.replicate(config, 5)
    assert result["avg_wait_time"].shape == (5,)
    found = library.compare("valorant", config, 5)
    np.testing.assert_array_equal(found.variants[0].run.values, result.values)
    day = library.simulate("valorant", replication=2)
    assert day.values[2] == library.replicate("valorant", 3)["avg_wait_time"][2]
    with pytest.raises(KeyError, match="did you mean avg_wait_time"):
        result["avg_wait_tim"]


@pytest.mark.slow
def test_control_variates_on_any_workers_shards_and_after_a_resume(tmp_path: Path) -> None:
    command = ["replicate", "valorant", "-n", 40, "--control-variates"]
    whole = valmatch(*command, "--out", tmp_path / "whole", "--json")
    one = json.loads(whole.out)["responses"]["avg_wait_time"]
    assert one["variance_reduction"] > 1.0
    assert one["ci_low_cv"] < one["mean_cv"] < one["ci_high_cv"]
    valmatch(*command, "--workers", 2, "--out", tmp_path / "two")
    for index in range(3):
        valmatch(*command, "--shard", f"{index}/3", "--out", tmp_path / str(index))
    parts = [tmp_path / str(index) for index in (1, 2, 0)]
    valmatch("combine", tmp_path / "all", *parts)
    # A run without them is resumed with them.
    valmatch(*command[:-1], "--out", tmp_path / "late")
    valmatch(*command, "--out", tmp_path / "late", "--resume")
    wanted = contents(tmp_path / "whole")
    controls = (tmp_path / "whole" / "controls.csv").read_bytes()
    for name in ("two", "all", "late"):
        assert contents(tmp_path / name) == wanted, name
        assert (tmp_path / name / "controls.csv").read_bytes() == controls
    small = ["kg-fig1-top", "--set", "n_games=5"]
    assert "opponent has none" in refusal("replicate", *small, "-n", 2, "--control-variates")
