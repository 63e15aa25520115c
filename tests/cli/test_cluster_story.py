"""A run on a cluster from its array to its numbers: killed, looked at, resumed, combined."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.command import started, valmatch
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
    return started(*RUN, "--resume", "--out", out, *further, env={**os.environ, **variables})


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Return the exit code of a task and what it has said."""
    _, err = process.communicate(timeout=120)
    return process.returncode, err


def stopped(out: Path, task: int, how: signal.Signals) -> int:
    """Start a task, stop it by a signal once it has made something, and return its exit code."""
    process = submitted(out, slurm(task))
    rows, deadline = out / f"replications-{task}-of-{TASKS}.csv", time.monotonic() + 60
    while time.monotonic() < deadline and not (
        rows.exists() and rows.read_bytes().count(b"\n") > 1
    ):
        time.sleep(0.005)
    process.send_signal(how)
    return ended(process)[0]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_a_cluster_run(tmp_path: Path) -> None:
    out = tmp_path / "all"
    code, said = ended(submitted(out, slurm(0)))
    assert (code, said.splitlines()[0]) == (0, f"shard 0/{TASKS}: 500 of {N:,} replications")
    # The node of one task is lost; the time of another is nearly up, as the scheduler says.
    assert stopped(out, 1, signal.SIGKILL) == -signal.SIGKILL
    assert stopped(out, 2, signal.SIGUSR1) == 130
    runs = json.loads(valmatch("status", out, "--json").out)["runs"]
    assert [run["state"] for run in runs] == ["complete", "not ended", "interrupted"]
    assert [run["wanted"] for run in runs] == [500] * TASKS
    done = [run["done"] for run in runs]
    assert done[0] == 500
    assert all(0 < count < 500 for count in done[1:])

    checked = valmatch("combine", out, "--check")
    lines = checked.out.splitlines()
    assert checked.code == 75
    assert [line.split(":")[0] for line in lines] == [
        f"shard {task}/{TASKS} owes {500 - done[task]} replications" for task in (1, 2)
    ]
    assert f"to run again: --array=1-2 with --shard $SLURM_ARRAY_TASK_ID/{TASKS}" in checked.err
    assert not (out / "summary.json").exists()
    assert valmatch("combine", out).code == 75  # no matter: what is missing may follow
    assert json.loads(valmatch("status", out, "--json").out)["runs"] == runs

    # A time that is too short is another reason to run again; at once, in the same folder.
    assert ended(submitted(out, slurm(1), "--max-time", "0.001"))[0] == 75
    tasks = [submitted(out, slurm(task)) for task in (1, 2)]
    assert [ended(task)[0] for task in tasks] == [0, 0]
    nothing = valmatch("combine", out, "--check")
    assert (nothing.code, nothing.out) == (0, "")
    assert valmatch("combine", out).code == 0
    assert valmatch(*RUN, "--out", tmp_path / "one").code == 0
    assert contents(out) == contents(tmp_path / "one")
