"""Nothing is lost and nothing counted twice: kills, tears, workers, executors, shards, targets."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import numpy as np
import pytest

from tests.support.command import refusal, success, valmatch
from tests.support.crashes import CASES, contents, run_and_kill, start, suffer
from tests.support.signals import living
from valmatch.config.config import Config
from valmatch.config.loading import load_config
from valmatch.errors import InputError
from valmatch.execution.shards import Shard
from valmatch.experiments.combine import combine
from valmatch.experiments.replicate import replicate
from valmatch.statistics.precision import looks

Case: TypeAlias = tuple[Config, int, dict[str, bytes]]
"""A config, a number of replications and the files of an undisturbed run."""


def undisturbed(name: str, folder: Path, part: int = 1) -> Case:
    """Return a case, or a part of its replications."""
    source, overrides, n = CASES[name]
    config, n = load_config(source, overrides), n // part
    replicate(config, n, out=folder)
    return config, n, contents(folder)


@pytest.fixture(scope="module", params=list(CASES))
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    return undisturbed(request.param, tmp_path_factory.mktemp("undisturbed"))


@pytest.fixture(scope="module", params=list(CASES))
def part(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    return undisturbed(request.param, tmp_path_factory.mktemp("serial"), 7)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_kills_tears_and_duplicates_change_nothing(case: Case, seed: int, tmp_path: Path) -> None:
    config, n, whole = case
    suffer(config, n, tmp_path, Random(seed))
    assert contents(tmp_path) == whole


def test_a_kill_costs_at_most_the_chunk_in_flight(tmp_path: Path) -> None:
    config = load_config("valorant")
    run_and_kill(config, 10**6, tmp_path, 0.5, lines=200)
    lines = (tmp_path / "replications.csv").read_text().count("\n") - 1
    done: list[int] = []
    before = (tmp_path / "replications.csv").read_bytes()
    with pytest.raises(InputError, match="replications that this run is not to make"):
        replicate(config, lines - 5, out=tmp_path, resume=True)
    assert (tmp_path / "replications.csv").read_bytes() == before
    replicate(config, 10**6, out=tmp_path, resume=True, max_seconds=1e-6, progress=done.append)
    assert lines > 100
    assert done[0] == lines


@pytest.mark.parametrize("cut", [0, 1, 5, 60, 100_000])
def test_a_torn_tail_is_dropped_with_a_warning(tmp_path: Path, cut: int) -> None:
    config = load_config("valorant")
    replicate(config, 20, out=tmp_path)
    path = tmp_path / "replications.csv"
    before = path.read_bytes()
    path.write_bytes(before[: max(0, len(before) - cut)])
    warnings: list[str] = []
    replicate(config, 20, out=tmp_path, resume=True, warn=warnings.append)
    assert path.read_bytes() == before
    # A cut at the end of a line leaves nothing torn, and neither does an empty file.
    assert len(warnings) == (0 < cut < 100_000)
    assert all("torn" in warning for warning in warnings)


def test_damage_in_the_middle_is_refused_by_its_place(tmp_path: Path) -> None:
    config = load_config("valorant")
    replicate(config, 5, out=tmp_path)
    path = tmp_path / "replications.csv"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:2], lines[2][:30] + "\n", *lines[3:]]))
    with pytest.raises(InputError, match=r"replications\.csv:3: damaged"):
        replicate(config, 5, out=tmp_path, resume=True)
    path.write_text("".join([*lines[:2], lines[2].replace(",1,1,", ",1,0,"), *lines[3:]]))
    with pytest.raises(InputError, match=r"replications\.csv:3: contradicts .* replication 0"):
        replicate(config, 5, out=tmp_path, resume=True)


def test_a_gap_is_filled(tmp_path: Path) -> None:
    config = load_config("valorant")
    replicate(config, 8, out=tmp_path)
    path = tmp_path / "replications.csv"
    before = path.read_bytes()
    lines = before.splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:4] + lines[5:]))
    warnings: list[str] = []
    replicate(config, 8, out=tmp_path, resume=True, warn=warnings.append)
    assert path.read_bytes() == before
    assert "4 replications after a gap are made again" in warnings[0]


def test_resume_extends_a_finished_run(tmp_path: Path) -> None:
    config = load_config("kg-fig1-top", ["n_opponents=4", "n_games=20", "rank=1"])
    replicate(config, 30, out=tmp_path / "a")
    replicate(config, 70, out=tmp_path / "a", resume=True)
    replicate(config, 70, out=tmp_path / "b", resume=True)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


@pytest.mark.slow
def test_an_unfinished_run_is_not_started_over(tmp_path: Path) -> None:
    out = tmp_path / "o"
    first = valmatch("replicate", "valorant", "-n", 10**6, "--max-time", "0.2s", "--out", out)
    assert first.code == 75
    assert "out of time after" in first.err
    manifest = json.loads((out / "manifest.json").read_text())
    assert (manifest["status"], manifest["requested"]) == ("out of time", 10**6)
    before = (out / "replications.csv").read_bytes()
    assert manifest["replications"] == before.count(b"\n") - 1 > 0
    again = refusal("replicate", "valorant", "-n", 10**6, "--out", out)
    assert "--resume goes on with it" in again
    assert (out / "replications.csv").read_bytes() == before


@pytest.mark.slow
def test_two_processes_on_one_folder_are_refused(tmp_path: Path) -> None:
    command = ["replicate", "valorant", "-n", 1000000, "--out", tmp_path]
    process = start(*command)
    refused = refusal(*command, "--resume")
    assert f"in use by process {process.pid} on {os.uname().nodename}" in refused
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in err  # no more, where the machine is slow
    assert json.loads((tmp_path / "manifest.json").read_text())["status"] == "interrupted"
    done = valmatch(*command, "--resume", "--max-time", "0.01")
    assert done.code == 75


@pytest.mark.slow
def test_workers_end_with_a_killed_parent(tmp_path: Path) -> None:
    workers = ("--workers", 2, "--executor", "processes")
    process = start("replicate", "valorant", "-n", 1000000, *workers, "--out", tmp_path)
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and living(process.pid):
        time.sleep(0.1)
    assert living(process.pid) == []


@pytest.mark.slow
@pytest.mark.parametrize(("executor", "workers"), [("local", 3), ("dask", 2)])
def test_any_workers(part: Case, executor: str, workers: int, tmp_path: Path) -> None:
    config, n, serial = part
    options: dict[str, Any] = {"executor": executor, "workers": workers, "out": tmp_path}
    if executor == "dask":
        distributed = pytest.importorskip("distributed")
        with distributed.LocalCluster(workers, dashboard_address=None) as cluster:
            replicate(config, n, scheduler=cluster.scheduler_address, **options)
    else:
        replicate(config, n, **options)
    assert contents(tmp_path) == serial


@pytest.mark.slow
def test_shards_in_any_order(part: Case, tmp_path: Path) -> None:
    config, n, serial = part
    rng = Random(n)
    for count in (2, 5):
        folders = [tmp_path / f"{count}-{index}" for index in range(count)]
        together = tmp_path / f"{count}-together"
        for index, folder in enumerate(folders):
            for out in (folder, together):
                replicate(config, n, shard=Shard(index, count), out=out)
        rng.shuffle(folders)
        combine(together, [])
        assert contents(together) == serial
        assert not list(together.glob("*-of-*"))
        out = tmp_path / f"{count}-all"
        # Some of them twice, and the whole once more with itself.
        for given in (folders + folders[:2], folders[:1], [out]):
            combine(out, given)
            assert contents(out) == serial


def test_overlapping_shards_count_once(part: Case, tmp_path: Path) -> None:
    config, n, serial = part
    replicate(config, n, shard=Shard(0, 2), out=tmp_path / "half")
    replicate(config, n, shard=Shard(1, 3), out=tmp_path / "third")
    replicate(config, n - 10, out=tmp_path / "first")
    replicate(config, n, shard=Shard(1, 2), out=tmp_path / "other")
    names = ("third", "half", "first", "other")
    combine(tmp_path / "all", [tmp_path / name for name in names])
    assert contents(tmp_path / "all") == serial


def test_a_combination_with_gaps_says_who_owes_and_is_completed(part: Case, tmp_path: Path) -> None:
    config, n, serial = part
    for index in (0, 2):
        for name in (str(index), "together"):
            replicate(config, n, shard=Shard(index, 3), out=tmp_path / name)
    found = combine(tmp_path / "all", [tmp_path / "0", tmp_path / "2"])
    missing = list(range(1, n, 3))
    assert found.missing == {
        "missing": {"shard 1/3": missing},
        "missing_counts": {"shard 1/3": len(missing)},
    }
    for name in ("all", "together"):
        replicate(config, n, out=tmp_path / name, resume=True)
        assert contents(tmp_path / name) == serial
        assert not list((tmp_path / name).glob("*-of-*"))


@pytest.mark.slow
def test_combine_at_the_command_line(tmp_path: Path) -> None:
    doubtful = ["--set", "wait_thresh=30"]  # of which a warning says so
    for index in range(3):
        shard = [*doubtful, "--shard", f"{index}/3", "--out", tmp_path / f"s{index}"]
        assert valmatch("replicate", "valorant", "-n", 10, *shard).code == 0
    out, folders = tmp_path / "all", [tmp_path / f"s{index}" for index in range(3)]
    checked = valmatch("combine", out, *folders[:2], "--check", "--expect", 11)
    missing = ["shard 1/3 owes 1 replication: 10", "shard 2/3 owes 3 replications: 2, 5, 8"]
    assert (checked.code, checked.out.splitlines()) == (75, missing)
    assert valmatch("combine", tmp_path / "part", *folders[:2]).code == 75
    assert not out.exists()
    nothing = valmatch("combine", out, *folders, "--check")
    assert (nothing.code, nothing.out, nothing.err) == (0, "", "")
    document = json.loads(valmatch("combine", out, *folders, "--check", "--json").out)
    assert document == {"missing": {}, "missing_counts": {}}
    assert not out.exists()
    done = success("combine", out, *folders, "--expect", 10, "--json")
    alone = json.loads(valmatch("replicate", "valorant", "-n", 10, *doubtful, "--json").out)
    assert json.loads(done.out) == alone
    assert "setting" in [one["kind"] for one in alone["warnings"]]
    manifest = json.loads((out / "manifest.json").read_text())
    assert (manifest["status"], manifest["replications"]) == ("complete", 10)


@pytest.mark.slow
def test_what_does_not_belong_together_is_refused(tmp_path: Path) -> None:
    runs = {
        "a": ["valorant", "--seed", "1"],
        "seed": ["valorant", "--seed", "2"],
        "rules": ["valorant", "--set", "team_diff=399", "--set", "wait_thresh=0.3"],
        "model": ["kg-fig1-top", "--set", "n_games=5"],
    }
    for name, arguments in runs.items():
        assert valmatch("replicate", *arguments, "-n", 3, "--out", tmp_path / name).code == 0
    for name, shown in {
        "seed": "different seeds, 1 and 2",
        "rules": "(factors.team_diff: 400.0 and 399.0; factors.wait_thresh: 0.2 and 0.3)",
        "model": "(model: valorant and opponent)",
        "nowhere": "no such folder",
    }.items():
        assert shown in refusal("combine", tmp_path / "all", tmp_path / "a", tmp_path / name)
        assert not (tmp_path / "all").exists()


def test_a_config_that_means_something_else_now_is_refused(tmp_path: Path) -> None:
    replicate(load_config("valorant"), 2, out=tmp_path / "a")
    path = tmp_path / "a" / "manifest.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps(manifest | {"config_id": "0123456789ab"}))
    now = manifest["config_id"]
    with pytest.raises(InputError, match=f"knew this config as 0123456789ab .now {now}."):
        combine(tmp_path / "all", [tmp_path / "a"])
    del manifest["seed"]
    path.write_text(json.dumps(manifest))
    with pytest.raises(InputError, match=r"a.manifest.json: damaged: there is no 'seed'"):
        combine(tmp_path / "all", [tmp_path / "a"])
    assert not (tmp_path / "all").exists()


def test_contradictions_are_refused(tmp_path: Path) -> None:
    for name in "ab":
        replicate(load_config("valorant"), 5, out=tmp_path / name)
    path = tmp_path / "b" / "replications.csv"
    *rows, last = path.read_text().splitlines(keepends=True)
    path.write_text("".join(rows) + last.replace(",4,", ",4,1", 1))
    with pytest.raises(InputError, match=r"contradict .* replication 4 \(avg_team_diff 2.* 12"):
        combine(tmp_path / "all", [tmp_path / "a", tmp_path / "b"])


@pytest.mark.slow
def test_a_killed_shard_is_combined_as_far_as_it_got(tmp_path: Path) -> None:
    config = load_config("valorant")
    run_and_kill(config, 10**6, tmp_path / "killed", 0.3, lines=20)
    with (tmp_path / "killed" / "replications.csv").open("a") as file:
        file.write("ba9486b58175,1,99999,22")
    (tmp_path / "empty").mkdir()
    warnings: list[str] = []
    folders = [tmp_path / "killed", tmp_path / "empty"]
    found = combine(tmp_path / "all", folders, warn=warnings.append)
    (count,) = found.missing["missing_counts"].values()
    assert count == 10**6 - len(found.result.values)
    assert len(found.result.values) > 10
    assert [text.rpartition(": ")[2] for text in warnings] == [
        "its run has not ended, or was killed",
        "no manifest.json, so no run has begun here",
        "the last line is torn and dropped",
    ]


def test_more_shards_than_replications(tmp_path: Path) -> None:
    done = success("replicate", "valorant", "-n", 2, "--shard", "3/5", "--out", tmp_path, "--json")
    assert json.loads(done.out)["replications"] == 0
    assert refusal("report", tmp_path, "-o", "-").endswith(
        f"put them together: valmatch combine {tmp_path}"
    )


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
