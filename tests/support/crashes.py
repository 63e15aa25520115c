"""Runs that are killed, torn, duplicated and resumed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import time
from pathlib import Path
from random import Random

from tests.support.command import started
from valmatch.config.config import Config
from valmatch.experiments.replicate import replicate

CASES = {
    "valorant": ("valorant", (), 600),
    "opponent": ("kg-fig1-top", ("n_opponents=4", "n_games=20", "rank=1"), 120),
}
"""Configs of a model without and one with curves: source, overrides, replications."""

FILES = ("replications.csv", "summary.json", "summary.csv", "paired.csv", "curves.csv")


def contents(folder: Path) -> dict[str, bytes]:
    """Return the result files of a folder."""
    return {name: (folder / name).read_bytes() for name in FILES if (folder / name).exists()}


def start(*arguments: object) -> subprocess.Popen[str]:
    """Start a command with ``--out`` last, and wait until it has written some replications."""
    process = started(*arguments, start_new_session=True)
    wait_for(Path(str(arguments[-1])) / "replications.csv", 10)
    return process


def wait_for(path: Path, lines: int) -> None:
    """Wait until a file has some lines, a minute at the longest."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (
        path.exists() and path.read_bytes().count(b"\n") >= lines
    ):
        time.sleep(0.05)


def run_and_kill(config: Config, n: int, folder: Path, seconds: float, lines: int = 0) -> None:
    """Resume a run in a process of its own; kill it after a while, and not before some lines."""
    pid = os.fork()
    if pid == 0:
        try:
            replicate(config, n, out=folder, resume=True)
        finally:
            os._exit(0)
    if lines:
        wait_for(folder / "replications.csv", lines)
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def kill_a_worker() -> None:
    """Kill a worker process of this one, once a run, and wait until it has died."""
    worker = multiprocessing.active_children()[0]
    worker.kill()
    worker.join(60)


def tear(path: Path, rng: Random) -> None:
    """Cut the last bytes off a file, sometimes leaving zeros, as a crash of a machine may."""
    if not path.exists():
        return
    content = path.read_bytes()
    cut = rng.randrange(min(len(content), 400) + 1)
    zeros = b"\0" * rng.choice((0, 0, cut))
    path.write_bytes(content[: len(content) - cut] + zeros)


def duplicate(path: Path, rng: Random) -> None:
    """Append some whole lines of a file to it once more."""
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    whole = [line for line in lines[1:] if line.endswith(b"\n")]
    if whole and lines[-1].endswith(b"\n"):
        with path.open("ab") as file:
            file.writelines(rng.choices(whole, k=rng.randrange(1, 4)))


def suffer(config: Config, n: int, folder: Path, rng: Random) -> None:
    """Run a config through a random sequence of kills, tears and duplications to its end."""
    rows = folder / "replications.csv"
    for _ in range(rng.randrange(1, 6)):
        event = rng.choice(("kill", "kill", "tear", "duplicate", "sums"))
        if event == "kill":
            run_and_kill(config, n, folder, rng.uniform(0.0, 0.12))
        elif event == "tear":
            tear(rows, rng)
        elif event == "duplicate":
            duplicate(rows, rng)
        else:
            tear(folder / "curves.npz", rng)
    replicate(config, n, out=folder, resume=True)
