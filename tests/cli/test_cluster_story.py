"""A run on a cluster from its array to its numbers: killed, looked at, resumed, combined."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.command import valmatch
from tests.support.crashes import contents

TASKS = 3
N = 1500
RUN = ("replicate", "valorant-x10", "-n", N)


def slurm(task: int) -> Mapping[str, str]:
    """Return what SLURM gives a task of ``--array=0-2``."""
    return {
        "SLURM_ARRAY_TASK_ID": str(task),
        "SLURM_ARRAY_TASK_COUNT": str(TASKS),
        "SLURM_ARRAY_TASK_MIN": "0",
        "SLURM_ARRAY_TASK_STEP": "1",
    }


def submitted(out: Path, variables: Mapping[str, str], *further: str) -> subprocess.Popen[str]:
    """Start a task as the job script of an array does."""
    argv = [*map(str, RUN), "--resume", "--out", str(out), *further]
    return subprocess.Popen(
        [sys.executable, "-m", "valmatch", *argv],
        env={**os.environ, **variables},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Return the exit code of a task and what it has said."""
    _, err = process.communicate(timeout=120)
    return process.returncode, err


def stopped(out: Path, variables: Mapping[str, str], how: signal.Signals) -> int:
    """Start a task, stop it by a signal once it has made something, and return its exit code."""
    process = submitted(out, variables)
    rows, deadline = out / "replications.csv", time.monotonic() + 60
    while time.monotonic() < deadline and not (
        rows.exists() and rows.read_bytes().count(b"\n") > 1
    ):
        time.sleep(0.005)
    process.send_signal(how)
    return ended(process)[0]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_a_cluster_run(tmp_path: Path) -> None:
    shards = [tmp_path / str(task) for task in range(TASKS)]
    code, said = ended(submitted(shards[0], slurm(0)))
    assert (code, said.splitlines()[0]) == (0, f"shard 0/{TASKS}: 500 of {N:,} replications")
    # The node of one task is lost; the time of another is nearly up, as the scheduler says.
    assert stopped(shards[1], slurm(1), signal.SIGKILL) == -signal.SIGKILL
    assert stopped(shards[2], slurm(2), signal.SIGUSR1) == 130
    runs = json.loads(valmatch("status", *shards, "--json").out)["runs"]
    assert [run["state"] for run in runs] == ["complete", "not ended", "interrupted"]
    assert [run["wanted"] for run in runs] == [500] * TASKS
    done = [run["done"] for run in runs]
    assert done[0] == 500
    assert all(0 < count < 500 for count in done[1:])

    checked = valmatch("combine", tmp_path / "all", *shards, "--check")
    lines = checked.out.splitlines()
    assert checked.code == 75
    assert [line.split(":")[0] for line in lines] == [
        f"shard {task}/{TASKS} owes {500 - done[task]} replications" for task in (1, 2)
    ]
    assert f"to run again: --array=1-2 with --shard $SLURM_ARRAY_TASK_ID/{TASKS}" in checked.err
    assert not (tmp_path / "all").exists()

    # A time that is too short is another reason to run again.
    assert ended(submitted(shards[1], slurm(1), "--max-time", "0.001"))[0] == 75
    for task in (1, 2):
        assert ended(submitted(shards[task], slurm(task)))[0] == 0
    nothing = valmatch("combine", tmp_path / "all", *shards, "--check")
    assert (nothing.code, nothing.out) == (0, "")
    assert valmatch("combine", tmp_path / "all", *shards).code == 0
    assert valmatch(*RUN, "--out", tmp_path / "one").code == 0
    assert contents(tmp_path / "all") == contents(tmp_path / "one")
