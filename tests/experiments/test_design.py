"""Designs: their points, their files, their shards."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tests.support.command import refusal, success, valmatch
from tests.support.folders import results, rows
from valmatch.config.loading import load_config
from valmatch.errors import InputError
from valmatch.execution.run_options import RunOptions
from valmatch.experiments.replicate import Plan
from valmatch.experiments.sweep import Design, design_of, parse_levels, run_design, span
from valmatch.models.registry import MODELS

SMALL = ["--set", "rate_multiplier=0.2"]


def test_spans_are_taken_in_decimals() -> None:
    spans = {"0.1:0.3:0.1": [0.1, 0.2, 0.3], "10:60:25": [10, 35, 60], "10:59:25": [10, 35]}
    for text, values in {**spans, "3:1:-1": [3, 2, 1], "2:2:1": [2]}.items():
        assert span(text) == values
    wrong = "1:2 1:2:0 2:1:1 a:2:1 0:1:0.00001 nan:1:1 0:inf:1 0:1:Infinity 0:1:٣ 0:1e200:1e199"
    assert {span(ends) for ends in wrong.split()} == {None}
    for tiny in ("0:1:1e-999999999", "0:1e-999999999:1"):
        assert span(tiny) in (None, [0.0])


@pytest.mark.usefixtures("command_line_words")
def test_levels_are_yaml() -> None:
    lists = {"1,2.5,x": [1, 2.5, "x"], "true,false": [True, False], "[1, 2],[3]": [[1, 2], [3]]}
    # The last is a string, not minutes and seconds.
    for text, values in {**lists, "1:3:1": [1, 2, 3], "1:2": ["1:2"]}.items():
        assert parse_levels(f"a={text}") == ("a", values)
    factors = MODELS["valorant"].factors
    units = {"3,6,12min": [0.05, 0.1, 0.2], "30min,1": [0.5, 1], "6:12:3 min": [0.1, 0.15, 0.2]}
    for text, values in units.items():
        assert parse_levels(f"wait_thresh={text}", "over", factors) == ("wait_thresh", values)
    for wrong in ("a", "a=", "=1", "a=1,,2", "a=1:2:0", "a=["):
        with pytest.raises(InputError, match=r"--sweep .*: not of the form KEY=VALUE"):
            parse_levels(wrong)


def test_a_grid_has_every_combination_in_order() -> None:
    design = design_of(load_config("valorant"), ["team_diff=1,2", "wait_thresh=0.1,0.2,0.3"])
    assert design == Design(["team_diff", "wait_thresh"], list(product([1, 2], [0.1, 0.2, 0.3])))
    assert design_of(load_config("valorant"), []) is None
    with pytest.raises(InputError, match="twice"):
        design_of(load_config("valorant"), ["team_diff=1,2", "team_diff=3"])


@pytest.mark.parametrize("sample", ["latin-hypercube", "sobol"])
def test_samples_fill_their_ranges_evenly(sample: str) -> None:
    ranges = (
        "{team_diff: {low: 100, high: 300}, wait_thresh: {low: 0.01, high: 1, log: true},"
        " team_num: {low: 1, high: 4}}"
    )
    overrides = [f"design={{ranges: {ranges}, points: 64, sample: {sample}, seed: 3}}"]
    design = design_of(load_config("valorant", overrides), [])
    assert design is not None
    again = design_of(load_config("valorant", overrides), [])
    assert design == again
    diffs, waits, sizes = (np.array(column) for column in zip(*design.points, strict=True))
    # Both have one point in each of 64 equal strata of every factor.
    assert sorted(((diffs - 100) / 200 * 64).astype(int)) == list(range(64))
    assert sorted(((np.log10(waits) + 2) / 2 * 64).astype(int)) == list(range(64))
    assert np.bincount(sizes).tolist() == [0, 16, 16, 16, 16]
    assert sizes.dtype.kind == "i"


@pytest.mark.slow
def test_files_of_a_design(tmp_path: Path) -> None:
    sweeps = ["--sweep", "team_diff=100,400", "--sweep", "review=arrivals,continuous"]
    done = success("replicate", "valorant", "-n", 6, *sweeps, "--out", tmp_path, "--json", *SMALL)
    document = json.loads(done.out)
    assert document == json.loads((tmp_path / "summary.json").read_text())
    table = rows(tmp_path / "design.csv")
    assert list(table[0])[:5] == ["point", "config_id", "team_diff", "review", "response"]
    assert len(table) == 4 * len(document["points"][0]["responses"])
    assert len({row["config_id"] for row in table}) == 4
    for number, (diff, review) in enumerate(product((100, 400), ("arrivals", "continuous"))):
        chosen = ["--set", f"team_diff={diff}", "--set", f"review={review}", *SMALL]
        alone = json.loads(valmatch("replicate", "valorant", "-n", 6, *chosen, "--json").out)
        own = [row for row in table if row["point"] == str(number)]
        assert {row["config_id"] for row in own} == {alone["config_id"]}
        assert {row["response"]: row["mean"] for row in own} == {
            name: repr(one["mean"]) for name, one in alone["responses"].items()
        }
        for name in ("replications.csv", "summary.csv"):
            assert (tmp_path / "points" / alone["config_id"] / name).exists()


@pytest.mark.slow
def test_a_stopped_design_goes_on(tmp_path: Path) -> None:
    sweep = ["replicate", "valorant", "-n", 3000, "--sweep", "team_diff=100:400:100"]
    whole = success(*sweep, "--out", tmp_path / "a", "--json")
    stopped = valmatch(*sweep, "--out", tmp_path / "b", "--max-time", "0.5s")
    assert stopped.code == 75
    assert "--resume goes on" in stopped.err
    assert valmatch(*sweep, "--out", tmp_path / "b").code == 2
    resumed = valmatch(*sweep, "--out", tmp_path / "b", "--resume", "--json")
    assert (resumed.code, resumed.out) == (0, whole.out)
    for name in ("design.csv", "summary.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


@pytest.mark.slow
def test_shards_of_a_design_combine(tmp_path: Path) -> None:
    sweep = ["replicate", "valorant", "-n", 7, "--sweep", "team_diff=100,200", *SMALL]
    whole = valmatch(*sweep, "--out", tmp_path / "whole", "--json")
    for index in range(3):
        for part in (tmp_path / f"s{index}", tmp_path / "together"):
            assert valmatch(*sweep, "--shard", f"{index}/3", "--out", part).code == 0
    parts = [tmp_path / f"s{index}" for index in (2, 0, 1)]
    checked = valmatch("combine", tmp_path / "x", *parts[:2], "--check")
    assert (checked.code, checked.out.count("shard 1/3 owes 2 replications: 1, 4\n")) == (75, 2)
    document = json.loads(valmatch("combine", tmp_path / "x", *parts[:2], "--check", "--json").out)
    assert list(document["missing"].values()) == [{"shard 1/3": [1, 4]}] * 2
    assert not (tmp_path / "x").exists()
    for part in parts[:2]:  # one by one
        assert valmatch("combine", tmp_path / "all", part).code == 75
    done = valmatch("combine", tmp_path / "all", parts[2], "--json")
    assert (done.code, done.out) == (0, whole.out)
    assert valmatch("combine", tmp_path / "together").code == 0
    assert results(tmp_path / "all") == results(tmp_path / "together")
    assert results(tmp_path / "all") == results(tmp_path / "whole")
    assert len(list((tmp_path / "whole" / "points").glob("*/summary.csv"))) == 2
    refusal("combine", tmp_path / "y", *parts, tmp_path / "nothing")


def test_equal_points_are_simulated_once() -> None:
    config = load_config("valorant")
    made: list[int] = []
    design = Design(["team_diff"], [(400,), (100,), (400,)])
    configs = [load_config("valorant", (), design.levels(point)) for point in design.points]
    found = run_design(config, design, configs, Plan(5), RunOptions(progress=made.append))
    assert sum(made) == 10
    assert [one.values.shape for one in found.results] == [(5, 15)] * 3
    np.testing.assert_array_equal(found.results[0].values, found.results[2].values)
