"""Dask: who may reach it, and what a run does when a part of it is lost, frozen or not there."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from socket import create_server
from typing import NamedTuple

import numpy as np
import pytest

from tests.support.command import started, success, valmatch
from tests.support.crashes import contents, start
from tests.support.machine import slowness
from valmatch.config.loading import load_config
from valmatch.errors import InputError, RunError
from valmatch.execution.chunks import Chunks
from valmatch.execution.executors import open_pool
from valmatch.execution.interruption import Stop
from valmatch.experiments.replicate import replicate

pytest.importorskip("distributed")

SLOW = ("replicate", "valorant", "--set", "rate_multiplier=10")
"""A command whose replications take long enough for something to happen between them."""

SHORT = 250
"""Replications of it that are soon made."""

SCHEDULER = "valmatch.execution.dask"


class Cluster(NamedTuple):
    """A Dask scheduler and its workers, processes of their own."""

    address: str
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]]

    @contextmanager
    def run(
        self, folder: Path, n: int = 10**5, *options: object
    ) -> Iterator[subprocess.Popen[str]]:
        """Start a run on the workers and wait until it has some replications."""
        arguments = ("-n", n, *options, "--scheduler", self.address, "--out", folder)
        with start(*SLOW, *arguments) as process:
            try:
                yield process
            finally:
                process.kill()


@contextmanager
def _cluster(folder: Path, workers: int = 2, keeper: str = "--no-nanny") -> Iterator[Cluster]:
    with _port() as port:
        pass
    address = f"tcp://127.0.0.1:{port}"
    commands = [
        ["scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"],
        *[["worker", address, keeper, "--nthreads", "1", "--no-dashboard"]] * workers,
    ]
    processes = []
    try:
        for command in commands:
            processes.append(
                subprocess.Popen(
                    [sys.executable, "-m", "distributed.cli.dask_" + command[0], *command[1:]],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd=folder,
                )
            )
            time.sleep(0.5)
        yield Cluster(address, processes[0], processes[1:])
    finally:
        for process in processes[::-1]:
            process.send_signal(signal.SIGCONT)
            process.terminate()  # a keeper ends what it has started
            with suppress(subprocess.TimeoutExpired):
                process.wait(5)
            process.kill()
            process.wait()


@contextmanager
def _port() -> Iterator[int]:
    """Listen on a port and say nothing."""
    with create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def _rows(folder: Path) -> int:
    return (folder / "replications.csv").read_bytes().count(b"\n") - 1


# A scheduler that is lost


CLOSED, SILENT = "has closed the connection", "has not answered for 20 s"


@pytest.mark.parametrize(
    ("number", "how"),
    [
        pytest.param(signal.SIGTERM, CLOSED, marks=pytest.mark.slow),
        pytest.param(signal.SIGSTOP, SILENT, marks=pytest.mark.long),
    ],
)
def test_a_lost_scheduler_ends_a_run_that_can_be_resumed(
    number: signal.Signals, how: str, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    with _cluster(tmp_path) as cluster, cluster.run(folder, SHORT) as process:
        cluster.scheduler.send_signal(number)
        _, err = process.communicate(timeout=30 * slowness())
        lost = f"the Dask scheduler {cluster.address} {how}; what is finished is kept, --resume"
        assert (process.returncode, err) == (1, f"{lost} goes on\n")
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["replications"] == _rows(folder) > 0
    success(*SLOW, "-n", SHORT, "--workers", 2, "--resume", "--out", folder)
    success(*SLOW, "-n", SHORT, "--workers", 2, "--out", tmp_path / "whole")
    assert contents(folder) == contents(tmp_path / "whole")


@pytest.mark.long
def test_a_run_on_a_frozen_scheduler_can_be_stopped(tmp_path: Path) -> None:
    with (
        _cluster(tmp_path) as cluster,
        cluster.run(tmp_path / "limited", 10**5, "--max-time", "10s") as limited,
        cluster.run(tmp_path / "stopped") as stopped,
    ):
        cluster.scheduler.send_signal(signal.SIGSTOP)
        stopped.send_signal(signal.SIGTERM)
        _, err = stopped.communicate(timeout=15)
        assert stopped.returncode == 130
        rows = _rows(tmp_path / "stopped")
        assert f"warning: interrupted after {rows} of 100000 replications" in err
        _, err = limited.communicate(timeout=20)
        assert limited.returncode == 75
        rows = _rows(tmp_path / "limited")
        assert err.splitlines()[1:] == [
            f"warning: out of time after {rows} of 100000 replications; --resume goes on"
        ]


# Workers that are lost, or not there


@pytest.mark.long
def test_a_lost_worker_costs_a_retry(tmp_path: Path) -> None:
    # Long enough for the loss to be noticed before all is done.
    config, n = load_config("valorant", ["rate_multiplier=10"]), 3000
    killed: list[int] = []
    details: list[str] = []
    with _cluster(tmp_path) as cluster:

        def kill_one(done: int) -> None:
            if done and not killed and details[-1:] == ["executor: dask, 2 workers"]:
                cluster.workers[0].kill()
                killed.append(done)

        result = replicate(
            config,
            n,
            scheduler=cluster.address,
            progress=kill_one,
            out=tmp_path / "dask",
            detail=details.append,
        )
    assert killed
    assert result.complete
    assert details[-2:] == ["executor: dask, 2 workers", "executor: dask, 1 workers (1 lost)"]
    serial = replicate(config, n)
    np.testing.assert_array_equal(result.values, serial.values)


@pytest.mark.long
def test_work_that_ends_every_worker_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its keeper starts a worker anew for as long as it is asked to."""
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "0")

    def take_all_memory(chunk: range) -> tuple[range, float]:
        time.sleep(1.0)  # a keeper gives up what ends before it is quite there
        os.kill(os.getpid(), signal.SIGKILL)
        return chunk, 0.0

    with _cluster(tmp_path, 1, "--nanny") as cluster, open_pool(None, 1, cluster.address) as pool:
        made = Chunks(pool, take_all_memory).run(range(5), Stop(100 * slowness()))
        with pytest.raises(RunError) as caught:
            list(made)
    assert str(caught.value) == (
        "3 times the workers were lost with replications 0 to 0 (out of memory, or killed from"
        " outside)"
    )


@pytest.mark.slow
def test_waiting_without_workers_is_said_once_and_can_be_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{SCHEDULER}.ASK_SECONDS", 0.01)
    monkeypatch.setattr(f"{SCHEDULER}.IDLE_ANSWERS", 2)
    warnings: list[str] = []
    with _cluster(tmp_path, workers=0) as cluster:
        result = replicate(
            "valorant", 5, scheduler=cluster.address, max_seconds=4.0, warn=warnings.append
        )
    assert (result.status, len(result.values)) == ("out of time", 0)
    assert warnings == ["no Dask worker is there; waiting for one"]


# A scheduler that is not there


@pytest.mark.slow
def test_no_scheduler_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{SCHEDULER}.CONNECT_SECONDS", 3)
    with _port() as silent:
        refused = valmatch("replicate", "valorant", "--scheduler", f"tcp://127.0.0.1:{silent}")
        shown = f"--scheduler tcp://127.0.0.1:{silent}: no Dask scheduler answers within 3 s\n"
        assert (refused.code, refused.err) == (2, shown)
    refused = valmatch("replicate", "valorant", "--scheduler", f"127.0.0.1:{silent}")
    assert refused.code == 2
    # The last attempt may be cut short, and then says nothing of why.
    shown = rf"--scheduler 127.0.0.1:{silent}: no Dask scheduler answers within 3 s"
    assert re.fullmatch(rf"{shown}(: .*Connection refused)?\n", refused.err)


@pytest.mark.slow
def test_connecting_can_be_stopped() -> None:
    psutil = pytest.importorskip("psutil")
    with _port() as port:
        process = started(*SLOW, "--scheduler", f"tcp://127.0.0.1:{port}")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not any(
            member.raddr and member.raddr.port == port
            for member in psutil.Process(process.pid).net_connections("inet")
        ):
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=5)
    assert (process.returncode, err) == (130, "")


@pytest.mark.slow
def test_encryption_required_by_the_configuration_is_demanded() -> None:
    import dask

    with (
        dask.config.set({"distributed.comm.require-encryption": True}),
        pytest.raises(InputError, match="encryption required by Dask configuration"),
    ):
        replicate("valorant", 2, scheduler="tcp://127.0.0.1:1")
