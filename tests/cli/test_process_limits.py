"""Commands under limits of the system: little memory, few open files, closed streams."""

from __future__ import annotations

import os
import sys

import pytest

from tests.support.command import python

resource = pytest.importorskip("resource")

COMMANDS = (
    "replicate smoke",
    "simulate valorant --set matching=joint",
    "replicate zonestats -n 2 --workers 2 --executor processes",
    "optimize valorant-20min --budget 100",
)


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of Linux")
@pytest.mark.parametrize("megabytes", [300, 410, 600])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_low_limit_on_memory_is_one_line(command: str, megabytes: int) -> None:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * 10**6, megabytes * 10**6))

    done = python("-m", "valmatch", *command.split(), preexec_fn=limited, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert f"{megabytes} MB of address space (ulimit -v)" in line


@pytest.mark.long
@pytest.mark.parametrize("files", [12, 16, 20, 24])
@pytest.mark.parametrize("command", ["replicate smoke", COMMANDS[2]])
def test_few_open_files_are_one_line_or_enough(command: str, files: int) -> None:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    done = python("-m", "valmatch", *command.split(), preexec_fn=limited, timeout=60)
    if command == COMMANDS[0] or done.returncode == 0:
        assert (done.returncode, bool(done.stdout)) == (0, True)
    else:
        assert (done.returncode, done.stdout) == (1, "")
        (line,) = done.stderr.splitlines()
        assert line.startswith("worker processes cannot be started")


@pytest.mark.slow
@pytest.mark.parametrize("stream", [0, 1, 2])
@pytest.mark.parametrize("command", ["replicate smoke", COMMANDS[2]])
def test_a_closed_stream_ends_no_run(command: str, stream: int) -> None:
    words = ("-m", "valmatch", *command.split())
    done = python(*words, preexec_fn=lambda: os.close(stream), timeout=60)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
