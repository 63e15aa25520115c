"""Commands stopped by signals: while they start, in the middle, near their end."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from tests.support.command import valmatch
from tests.support.folders import results
from tests.support.game_logs import random_rows, write
from tests.support.machine import slowness

SECONDS = 3.0  # in which a command ends after a signal, on a machine that does nothing else

CAUGHT = 1 << (signal.SIGXCPU - 1)  # of a signal that a command catches last at its start

GIVEN_UP = 60.0  # seconds after which a command is killed, and its workers are orphans

SIGNALS = ("SIGINT", "SIGTERM", "SIGKILL", "SIGUSR1", "SIGXCPU")

TWO = ("--workers", "2")
PROCESSES = ("--executor", "processes", *TWO)
REPLICATE = ("replicate", "valorant", "-n", "1000")
CURVES = ("replicate", "kg-fig1-top", "--set", "n_opponents=9", "--set", "n_games=50")
DESIGN = ("replicate", "valorant", "-n", "500", "--sweep", "team_diff=200,300,400")
COMPARE = ("compare", "valorant", "--set", "team_diff=300", "-n", "800")
OPTIMIZE = ("optimize", "valorant-20min", "--budget", "500")

COMMANDS: Mapping[str, Sequence[str]] = {
    "replicate": REPLICATE,
    "replicate, 2 workers": (*REPLICATE, *TWO),
    "replicate, 2 processes": (*REPLICATE, *PROCESSES),
    "curves": (*CURVES, "--set", "rank=1", "-n", "300"),
    "curves, 2 workers": (*CURVES, "--set", "rank=1", "-n", "300", *TWO),
    "controls": (*REPLICATE, "--control-variates"),
    "shard": (*REPLICATE, "--shard", "1/2"),
    "design": DESIGN,
    "design, 2 workers": (*DESIGN, *TWO),
    "design, 2 processes": (*DESIGN, *PROCESSES),
    "compare": COMPARE,
    "compare, 2 workers": (*COMPARE, *TWO),
    "optimize": OPTIMIZE,
    "macroreps, 2 workers": (*OPTIMIZE, "--macroreps", "3", *TWO),
    "frontier, 2 workers": (*OPTIMIZE, "--sweep", "upper_time=20:30:5", *TWO),
    "combine": ("combine",),
    "rate": ("rate",),
    "simulate": ("simulate", "valorant-x10"),
    "simulate, tickets": ("simulate", "tickets", "--set", "arrivals.per_hour=6000"),
}
"""Commands by name; what they read comes with `undisturbed`."""

RESUMABLE = ("replicate", "compare", "optimize")

STARTING: Mapping[str, Sequence[str]] = {
    "version": ("--version",),
    "help": ("--help",),
    "factors": ("factors", "valorant"),
    "bad input": ("replicate", "nowhere"),
    "simulate": ("simulate", "valorant"),
    "joint": ("simulate", "valorant-x2"),
    "replicate": ("replicate", "valorant", "-n", "300"),
    "processes": ("replicate", "valorant", "-n", "300", "--executor", "processes"),
    "optimize": ("optimize", "valorant-20min", "--budget", "100"),
    "rate": ("rate", "LOG", "--system", "elo"),
}
"""Commands that are told to end while they start; `starting` makes the log."""

SAID = re.compile(r"(warning: )?interrupted( after \d+ of 300 replications)?")
"""What a command may say that has begun its work; nothing before."""


class Undisturbed(NamedTuple):
    """A command that ended by itself."""

    argv: Sequence[str]  # the command, without its folder of results
    files: Mapping[str, bytes]  # what it wrote
    code: int
    ready: float  # when its folder was there, in seconds after its first line
    seconds: float  # when it ended

    def at(self, out: Path, *further: str) -> list[str]:
        """Return the command with a folder of results."""
        command, *options = self.argv
        folder = [str(out)] if command == "combine" else ["--out", str(out)]
        return [command, *folder, *options, *further]


class Interruption(NamedTuple):
    """A signal to a command: which, when after its first line, and to whom."""

    command: str
    signal: str
    seconds: float
    to_group: bool


class Stopped(NamedTuple):
    """How a command ended that was sent a signal."""

    code: int | None  # None if it had to be killed
    late: float  # seconds that it took after the signal
    allowed: float  # seconds that it may have taken
    orphans: Sequence[str]  # its workers that did not end
    err: str  # what it said


def undisturbed(command: str, folder: Path) -> Undisturbed:
    """Run a command to its end in an empty folder, in which what it reads is made first."""
    argv = list(COMMANDS[command])
    if argv == ["combine"]:
        for shard in range(3):
            part = ("--shard", f"{shard}/3", "--out", folder / "parts")
            made = valmatch(*REPLICATE, *part)
            assert made.code == 0, made.err
        argv.append(str(folder / "parts"))
    elif argv == ["rate"]:
        argv.append(str(write(folder / "log.csv", random_rows(1, games=10_000, players=500))))
    out, ready = folder / "out", 0.0
    run = Undisturbed(argv, {}, 0, 0.0, 0.0)
    with (folder / "err").open("w") as err:
        process = _start(run.at(out), err.fileno())
        started = time.monotonic()
        while process.poll() is None:
            if not ready and out.exists():
                ready = time.monotonic() - started
            time.sleep(0.01)
    assert process.returncode in (0, 3), (folder / "err").read_text()
    seconds = time.monotonic() - started
    return run._replace(
        files=results(out), code=process.returncode, ready=ready or seconds, seconds=seconds
    )


def interruption(number: int, run: Mapping[str, Undisturbed]) -> Interruption:
    """Return what happens to a command: in turn while it starts, in the middle, near its end."""
    rng, names = Random(number), list(run)
    name = names[number % len(names)]
    moments = run[name]
    first, last = rng.choice(
        [
            (0.0, moments.ready),
            (moments.ready, moments.seconds),
            (0.8 * moments.seconds, 1.1 * moments.seconds),
        ]
    )
    seconds = rng.uniform(first, max(first, last))
    return Interruption(name, rng.choice(SIGNALS), seconds, rng.random() < 0.5)


def broken_promises(one: Interruption, run: Undisturbed, folder: Path) -> list[str]:
    """Interrupt a command in an empty folder and finish it; return what is wrong."""
    out = folder / "out"
    stopped = stop(run.at(out), signal.Signals[one.signal], one.seconds, one.to_group)
    problems = [*_judge(one, stopped), *_left_behind(one, run, out)]
    # In this process, with the same results.
    further = ["--resume"] if run.argv[0] in RESUMABLE else []
    further += ["--workers", "1"] if "--workers" in run.argv else []
    further += ["--executor", "local"] if "--executor" in run.argv else []
    again = valmatch(*run.at(out, *further, "--quiet"))
    if again.code != run.code:
        return [*problems, f"made again, it ends with {again.code}: {again.err[-300:]}"]
    found = results(out)
    different = [name for name in run.files if found.get(name) != run.files[name]]
    return problems + [f"made again, it differs in {name}" for name in different]


def _start(argv: Sequence[str], err: int) -> subprocess.Popen[bytes]:
    """Start a command; wait until it has come to where it catches signals, or has ended."""
    process = subprocess.Popen(
        [sys.executable, "-m", "valmatch", *argv],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=err,
        start_new_session=True,
    )
    wait_for_first_line(process)
    return process


def wait_for_first_line(process: subprocess.Popen[Any]) -> None:
    """Wait until a command has come to where it catches signals, or has ended."""
    status = Path("/proc", str(process.pid), "status")
    while process.poll() is None:
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        if int(lines.get("SigCgt", "0"), 16) & CAUGHT:
            return
        time.sleep(0.005)


def stop(
    argv: Sequence[str], wanted: signal.Signals, seconds: float, to_group: bool = False
) -> Stopped:
    """Send a command a signal after its first line; wait until it and its workers are gone."""
    with tempfile.TemporaryFile("w+", errors="replace") as err:
        process = _start(argv, err.fileno())
        time.sleep(seconds)
        if process.poll() is None:
            (os.killpg if to_group else os.kill)(process.pid, wanted)
        sent = time.monotonic()
        try:
            code: int | None = process.wait(GIVEN_UP)
        except subprocess.TimeoutExpired:
            code = None
        ended, allowed = time.monotonic(), SECONDS * slowness()
        # The server of workers ends with its imports.
        while (orphans := living(process.pid)) and time.monotonic() < ended + GIVEN_UP:
            time.sleep(0.05)
        if orphans:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        err.seek(0)
        return Stopped(code, ended - sent, allowed, orphans, err.read())


def living(session: int) -> list[str]:
    """Return the processes of a session that are not zombies, by their command lines."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == session and fields[0] not in "ZX":
                words = (folder / "cmdline").read_bytes().split(b"\0")
                found.append(b" ".join(words).decode(errors="replace")[:120])
        except OSError:
            continue
    return found


def moments(step: float, last: float = 1.5) -> Iterator[tuple[float, signal.Signals]]:
    """Yield each moment in seconds with each signal."""
    for number in range(int(last / step) + 1):
        for wanted in (signal.SIGINT, signal.SIGTERM):
            yield number * step, wanted


def starting(name: str, folder: Path) -> list[str]:
    """Return a command of `STARTING`, and make what it reads."""
    log = folder / "log.csv"
    if "LOG" in STARTING[name]:
        write(log, random_rows(1, games=3000, players=300))
    return [str(log) if word == "LOG" else word for word in STARTING[name]]


def ended_badly(command: Sequence[str], seconds: float, wanted: signal.Signals) -> list[str]:
    """Send a command a signal while it starts; return what is wrong with its end."""
    stopped = stop(command, wanted, seconds)
    problems = _wrong_end(stopped, (130, 0, 2, 3))
    if stopped.code == 130 and not all(map(SAID.fullmatch, stopped.err.splitlines())):
        problems.append(f"says {stopped.err[-300:]!r}")
    return problems


def _wrong_end(stopped: Stopped, allowed: Sequence[int]) -> list[str]:
    """Return what is wrong with the exit code, the time and the workers of a command."""
    problems = []
    if stopped.code not in allowed:
        shown = " / ".join(stopped.err.splitlines()[-3:])[-300:]
        problems.append(f"exit code {stopped.code}: {shown}")
    if stopped.late > stopped.allowed:
        problems.append(f"ended {stopped.late:.1f} s after the signal")
    if stopped.orphans:
        problems.append(f"orphans: {'; '.join(stopped.orphans)}")
    return problems


def _judge(one: Interruption, stopped: Stopped) -> list[str]:
    """Return what is wrong with how a command ended."""
    # Shells show the end by SIGINT as 130, too.
    others = {"SIGKILL": (-signal.SIGKILL,), "SIGINT": (130, -signal.SIGINT)}
    problems = _wrong_end(stopped, (*others.get(one.signal, (130,)), 0, 3))
    # Of a process that is killed Python itself says what it has left.
    bad = ["Traceback", *(["UserWarning"] if one.signal != "SIGKILL" else [])]
    return problems + [f"{word}: {stopped.err[-300:]}" for word in bad if word in stopped.err]


def _left_behind(one: Interruption, run: Undisturbed, out: Path) -> list[str]:
    """Return what is wrong with the files of a command that has ended."""
    found = results(out)
    problems = []
    torn = sorted(name for name in found if Path(name).name.startswith("."))
    if torn and one.signal != "SIGKILL":
        problems.append(f"left {', '.join(torn)}")
    if run.argv[0] == "rate":
        there = {name for name in found if name not in torn}
        if different := [name for name in sorted(there) if found[name] != run.files.get(name)]:
            problems.append(f"other contents: {', '.join(different)}")
        # They appear one after the other; a kill may come in between, but not once all is said.
        some = one.signal == "SIGKILL" and not _complete(out)
        if there != set(run.files) and there and not some:
            problems.append(f"wrote only {', '.join(sorted(there))}")
    return problems


def _complete(out: Path) -> bool:
    """Return whether a folder says that it holds all of a run."""
    manifest = out / "manifest.json"
    return manifest.exists() and json.loads(manifest.read_text())["status"] == "complete"
