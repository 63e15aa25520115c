"""Commands that are stopped, or under limits, end at once, leave nobody behind, lose nothing.

Hundreds of signals are sent by ``tests/verification/test_kills.py``.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.support.command import python
from tests.support.signals import (
    Interruption,
    Undisturbed,
    broken_promises,
    ended_badly,
    starting,
    undisturbed,
)
from valmatch import __main__ as main
from valmatch.execution import interruption


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Undisturbed]:
    """Return a function that makes an undisturbed run of a command, once."""
    return cache(lambda command: undisturbed(command, tmp_path_factory.mktemp("undisturbed")))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "name", "share", "to_group"),
    [
        ("curves", "SIGTERM", 0.3, False),
        ("replicate, 2 workers", "SIGKILL", 0.8, False),
        ("optimize", "SIGINT", 0.7, False),
        ("rate", "SIGKILL", 0.95, True),
    ],
)
def test_a_stopped_command_ends_at_once_and_loses_nothing(
    command: str,
    name: str,
    share: float,
    to_group: bool,
    run: Callable[[str], Undisturbed],
    tmp_path: Path,
) -> None:
    whole = run(command)
    one = Interruption(command, name, share * whole.seconds, to_group)
    assert broken_promises(one, whole, tmp_path) == []


# While they start they end with 130 and say nothing.

SWALLOWED = """
import signal, sys, types

def run():
    try:
        signal.raise_signal({number})
    except BaseException as error:
        raise ValueError("a library makes another error of it") from error

sys.modules["valmatch.cli"] = types.SimpleNamespace(main=run)
{before}
from valmatch.__main__ import main
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("number", main.SIGNALS)
def test_a_library_cannot_make_another_error_of_a_signal(number: signal.Signals) -> None:
    code = SWALLOWED.format(number=int(number), before="")
    done = python("-c", code)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_a_command_catches_from_its_start_what_ends_a_run() -> None:
    assert main.SIGNALS == interruption.SIGNALS
    if os.name == "posix":
        assert set(main.SIGNALS) >= {signal.SIGUSR1, signal.SIGXCPU}


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_what_has_begun_is_ended_in_order() -> None:
    begin = "from valmatch.execution.interruption import begin; begin()"
    code = SWALLOWED.format(number=int(signal.SIGINT), before=begin)
    done = python("-c", code)
    assert done.returncode == 1
    assert "KeyboardInterrupt" in done.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize(
    ("name", "seconds", "wanted"),
    [
        ("bad input", 0.25, signal.SIGTERM),
        ("replicate", 0.15, signal.SIGUSR1),
        ("processes", 0.6, signal.SIGXCPU),
        ("optimize", 0.3, signal.SIGINT),
        ("rate", 0.3, signal.SIGTERM),
    ],
)
def test_a_command_may_end_while_it_starts(
    name: str, seconds: float, wanted: signal.Signals, tmp_path: Path
) -> None:
    assert ended_badly(starting(name, tmp_path), seconds, wanted) == []


resource = pytest.importorskip("resource")

LIMITED = (
    "replicate smoke",
    "simulate valorant --set matching=joint",
    "replicate zonestats -n 2 --workers 2 --executor processes",
    "optimize valorant-20min --budget 100",
)


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of Linux")
@pytest.mark.parametrize(
    ("command", "megabytes"), list(zip(LIMITED, (300, 410, 600, 410), strict=True))
)
def test_a_low_limit_on_memory_is_one_line(command: str, megabytes: int) -> None:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * 10**6, megabytes * 10**6))

    done = python("-m", "valmatch", *command.split(), preexec_fn=limited, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert f"{megabytes} MB of address space (ulimit -v)" in line


@pytest.mark.long
@pytest.mark.parametrize("files", [12, 16, 20, 24])
@pytest.mark.parametrize("command", ["replicate smoke", LIMITED[2]])
def test_few_open_files_are_one_line_or_enough(command: str, files: int) -> None:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    done = python("-m", "valmatch", *command.split(), preexec_fn=limited, timeout=60)
    if command == LIMITED[0] or done.returncode == 0:
        assert (done.returncode, bool(done.stdout)) == (0, True)
    else:
        assert (done.returncode, done.stdout) == (1, "")
        (line,) = done.stderr.splitlines()
        assert line.startswith("worker processes cannot be started")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "stream"), [*((LIMITED[0], stream) for stream in range(3)), (LIMITED[2], 1)]
)
def test_a_closed_stream_ends_no_run(command: str, stream: int) -> None:
    words = ("-m", "valmatch", *command.split())
    done = python(*words, preexec_fn=lambda: os.close(stream), timeout=60)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
