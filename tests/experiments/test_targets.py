"""Runs that go on until means are precise enough."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from tests.support.command import valmatch
from tests.support.crashes import contents
from valmatch.config.loading import load_config
from valmatch.experiments.combine import combine
from valmatch.experiments.replicate import replicate
from valmatch.statistics.precision import looks

TARGET = "avg_wait_time=1%"


def test_a_target_is_reached_at_a_look_whoever_works(tmp_path: Path) -> None:
    config = load_config("valorant")
    one = replicate(config, 100, targets=[TARGET], out=tmp_path / "1")
    assert one.complete
    n = len(one.values)
    assert n in looks(100, 10**6)
    estimate = one.estimates["avg_wait_time"]
    assert estimate.half_width is not None
    assert estimate.mean is not None
    assert estimate.half_width <= 0.01 * estimate.mean
    before = max(look for look in looks(100, 10**6) if look < n)
    assert not replicate(config, before, targets=[TARGET], max_reps=before).complete
    replicate(config, 100, targets=[TARGET], workers=2, out=tmp_path / "2")
    assert contents(tmp_path / "2") == contents(tmp_path / "1")
    np.testing.assert_array_equal(one.values, replicate(config, n).values)
    found = combine(tmp_path / "all", [tmp_path / "1"])
    assert not found.owed
    files = [contents(tmp_path / name)["replications.csv"] for name in ("all", "1")]
    assert files[0] == files[1]


def test_a_target_is_resumed_and_tightened(tmp_path: Path) -> None:
    config = load_config("valorant")
    replicate(config, 100, targets=[TARGET], out=tmp_path / "whole")
    stopped = replicate(config, 100, targets=[TARGET], out=tmp_path / "o", max_seconds=1e-9)
    assert stopped.status == "out of time"
    replicate(config, 100, targets=[TARGET], out=tmp_path / "o", resume=True)
    assert contents(tmp_path / "o") == contents(tmp_path / "whole")
    tighter = ["avg_wait_time=0.8%"]
    replicate(config, 100, targets=tighter, out=tmp_path / "o", resume=True)
    replicate(config, 100, targets=tighter, out=tmp_path / "at once")
    assert contents(tmp_path / "o") == contents(tmp_path / "at once")


def test_a_missed_target_is_said(tmp_path: Path) -> None:
    target = ["--target", "avg_wait_time=0.01%", "--max-reps", 150]
    missed = valmatch("replicate", "valorant", *target, "--out", tmp_path, "--json")
    assert missed.code == 3
    document = json.loads(missed.out)
    assert document["replications"] == 150
    (one,) = document["targets"]
    assert (one["response"], one["reached"]) == ("avg_wait_time", False)
    assert one["achieved"] > one["wanted"] == 0.0001
    assert "target of avg_wait_time missed: the half-width may be" in missed.err
    assert json.loads((tmp_path / "manifest.json").read_text())["status"] == "target missed"
