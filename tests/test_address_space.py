"""Commands with too little room for numerical libraries: one line, at once."""

from __future__ import annotations

import subprocess
import sys

import pytest

resource = pytest.importorskip("resource")

COMMANDS = (
    "replicate smoke",
    "simulate valorant --set matching=joint",
    "replicate zonestats -n 2 --workers 2 --executor processes",
    "optimize valorant-20min --budget 100",
)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of Linux")
@pytest.mark.parametrize("megabytes", [300, 410, 600])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_low_limit_on_memory_is_one_line(command: str, megabytes: int) -> None:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * 10**6, megabytes * 10**6))

    done = subprocess.run(
        [sys.executable, "-m", "valmatch", *command.split()],
        preexec_fn=limited,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert f"{megabytes} MB of address space (ulimit -v)" in line


def test_help_needs_little() -> None:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (200 * 10**6, 200 * 10**6))

    command = [sys.executable, "-m", "valmatch", "--help"]
    done = subprocess.run(command, preexec_fn=limited, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
