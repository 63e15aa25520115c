"""Commands told to end while they start: ``python -m tests.support.early_signals --step 0.05``."""

from __future__ import annotations

import argparse
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.support.game_logs import random_rows, write
from tests.support.machine import slowness, times
from tests.support.signals import SECONDS, living, wait_for_first_line

COMMANDS: Mapping[str, Sequence[str]] = {
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
"""Commands by name; `commands` makes the log."""

BY_THEMSELVES = (0, 2, 3)
"""Exit codes of a command that has ended before the signal came."""

GIVEN_UP = 60.0


def commands(folder: Path) -> Mapping[str, Sequence[str]]:
    """Return the commands, and make what they read."""
    log = str(write(folder / "log.csv", random_rows(1, games=3000, players=300)))
    return {name: [log if w == "LOG" else w for w in words] for name, words in COMMANDS.items()}


def moments(step: float, last: float = 1.5) -> Iterator[tuple[float, signal.Signals]]:
    """Yield each moment in seconds with each signal."""
    for number in range(int(last / step) + 1):
        for wanted in (signal.SIGINT, signal.SIGTERM):
            yield number * step, wanted


def ended_badly(
    command: Sequence[str], seconds: float, wanted: signal.Signals, warnings: Sequence[str] = ()
) -> list[str]:
    """Send a command a signal so long after its first line; return what is wrong with its end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "valmatch", *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_for_first_line(process)
    time.sleep(seconds)
    process.send_signal(wanted)
    sent, then = time.monotonic(), times()
    try:
        _, err = process.communicate(timeout=GIVEN_UP)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return [f"did not end within {GIVEN_UP} s"]
    late, problems = time.monotonic() - sent, []
    if process.returncode not in (130, *BY_THEMSELVES):
        problems.append(f"exit code {process.returncode}")
    said = [line for line in err.splitlines() if line not in warnings]
    if process.returncode == 130 and not all(map(SAID.fullmatch, said)):
        problems.append(f"says {err[-300:]!r}")
    if late > SECONDS * slowness(then):
        problems.append(f"ended {late:.1f} s after the signal")
    deadline = time.monotonic() + GIVEN_UP  # the server of workers ends with its imports
    while (orphans := living(process.pid)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return [*problems, *orphans]


SAID = re.compile(r"(warning: )?interrupted( after \d+ of 300 replications)?")
"""What a command may say that has begun its work; nothing before."""


def main() -> None:
    """Send all signals and print what was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--step", type=float, default=0.05)
    parser.add_argument("--command", choices=list(COMMANDS), action="append")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, command in commands(Path(folder)).items():
            if not given.command or name in given.command:
                wrong = 0
                for seconds, wanted in moments(given.step):
                    if problems := ended_badly(command, seconds, wanted):
                        wrong += 1
                        print(f"{name}, {wanted.name} after {seconds:.2f} s: {problems}")
                print(f"{name}: {wrong} wrong", flush=True)


if __name__ == "__main__":
    main()
