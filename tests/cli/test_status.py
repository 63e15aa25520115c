"""How far runs are, while they go on, on a cluster, and when they have ended."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import refusal, started, success, valmatch
from tests.support.crashes import contents
from valmatch.cli import console
from valmatch.cli.console import Bar
from valmatch.kernels.first_run import compiling

SMALL = ("--set", "horizon=2")
DESIGN = ("replicate", "valorant", "-n", 6, "--sweep", "team_diff=100,200,300", *SMALL)


def told(*folders: Path) -> list[dict[str, Any]]:
    """Return what is said of folders, in which nothing may change."""
    before = [_state(folder) for folder in folders]
    done = success("status", *folders, "--json")
    assert [_state(folder) for folder in folders] == before
    runs: list[dict[str, Any]] = json.loads(done.out)["runs"]
    return runs


def _state(folder: Path) -> dict[str, tuple[int, int, int]]:
    facts = {str(path): path.stat() for path in folder.rglob("*")}
    return {name: (f.st_size, f.st_mtime_ns, f.st_ino) for name, f in facts.items()}


@pytest.mark.parametrize(
    ("argv", "command", "counts"),
    [
        (("replicate", "valorant", "-n", 7, "--shard", "1/3", *SMALL), "replicate", (2, 2)),
        (DESIGN, "design", (18, 18)),
        (("compare", "valorant", "--set", "team_diff=90", "-n", 5, *SMALL), "compare", (10, 10)),
        (("simulate", "valorant", *SMALL), "simulate", (1, 1)),
        (("optimize", "valorant-30min", "--budget", 100, "--solver", "random"), "optimize", None),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_runs_that_have_ended(
    argv: Sequence[object], command: str, counts: tuple[int, int] | None, tmp_path: Path
) -> None:
    out = tmp_path / "o"
    assert valmatch(*argv, "--out", out).code in (0, 3)
    (one,) = told(out)
    assert (one["command"], one["state"]) == (command, "complete")
    assert (one["done"], one["wanted"]) == (counts or (one["done"], one["done"]))
    assert one["done"] > 0
    table = valmatch("status", out).out.splitlines()
    assert [word for word in table[0].split() if word != "shard"] == [
        *("folder", "command", "state", "done", "of")
    ]
    assert [word for word in table[1].split()[1:4] if word != "1/3"][:2] == [command, "complete"]
    assert max(map(len, table)) <= 80


def test_shards_that_no_folder_holds_are_named(tmp_path: Path) -> None:
    argv = ("replicate", "valorant", "-n", 9, *SMALL)
    folders = [tmp_path / str(index) for index in range(4)]
    for index in (0, 2):
        done = success(*argv, "--shard", f"{index}/4", "--out", folders[index])
    half = ("--shard", "1/2", "--seed", 2, "--out", folders[3])
    assert valmatch(*argv, *half).code == 0
    done = valmatch("status", folders[0], folders[2], folders[3], "--json")
    assert json.loads(done.out)["missing_shards"] == ["1/4", "3/4", "0/2"]
    assert done.err == "in none of these folders: shards 1/4, 3/4, 0/2\n"
    assert valmatch("status", folders[0], folders[2]).err.endswith(": shards 1/4, 3/4\n")


def test_folders_that_are_not_ours_are_refused(tmp_path: Path) -> None:
    ours = tmp_path / "ours"
    assert valmatch("simulate", "valorant", "--out", ours, *SMALL).code == 0
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "manifest.json").write_text('{"command": "make"}')
    for folder, said in (
        (tmp_path / "nowhere", "no such folder"),
        (tmp_path, "no manifest.json, so no run has begun here"),
        (theirs, "its manifest.json is that of another program"),
    ):
        assert said in refusal("status", ours, folder)


TASKS = 3
N = 600
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
    assert (code, said.splitlines()[0]) == (0, f"shard 0/{TASKS}: 200 of {N:,} replications")
    # The node of one task is lost; the time of another is nearly up, as the scheduler says.
    assert stopped(out, 1, signal.SIGKILL) == -signal.SIGKILL
    assert stopped(out, 2, signal.SIGUSR1) == 130
    runs = json.loads(valmatch("status", out, "--json").out)["runs"]
    assert [run["state"] for run in runs] == ["complete", "not ended", "interrupted"]
    assert [run["wanted"] for run in runs] == [200] * TASKS
    done = [run["done"] for run in runs]
    assert done[0] == 200
    assert all(0 < count < 200 for count in done[1:])

    checked = valmatch("combine", out, "--check")
    lines = checked.out.splitlines()
    assert checked.code == 75
    assert [line.split(":")[0] for line in lines] == [
        f"shard {task}/{TASKS} owes {200 - done[task]} replications" for task in (1, 2)
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


@pytest.fixture
def _always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Report at every step."""
    monkeypatch.setattr(console, "EVERY", 0.0)


@pytest.mark.usefixtures("_always")
def test_a_line_says_how_far_a_run_is() -> None:
    command = ("replicate", "valorant", *SMALL, "-n", 30, "--sweep", "team_diff=100,200")
    done = valmatch(*command)
    told = [line for line in done.err.splitlines() if line.startswith("replications: ")]
    assert re.fullmatch(r"replications: 60 of 60, [\d.,]+/s, 0 s left", told[-1])
    assert done.out == valmatch(*command, "-v").out
    quiet = valmatch(*command, "-q")
    assert (quiet.out, quiet.err) == ("", "")


@pytest.mark.parametrize("compiled", [0.0, 600.0])
def test_reports_come_at_most_every_half_minute(
    compiled: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time in which kernels are compiled counts for no pace."""
    clock, said = [100.0], list[str]()
    monkeypatch.setattr("valmatch.cli.console.time.monotonic", lambda: clock[0])
    told = Bar("replications", 1000, said.append)
    told.found(200)  # by an earlier run, which says nothing of the pace
    for steps in (200, 60, 30, 30, 80):
        told(steps)
        compiling.begin("")
        clock[0] += compiled
        compiling.end()
        clock[0] += 12.0
    assert said == ["replications: 320 of 1,000, 3.3/s, 3 min 24 s left"]
