"""Commands that are stopped at any moment end at once, leave nobody behind and lose nothing.

Hundreds of signals are sent by ``tests/verification/test_signals.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.support.signals import Interruption, Undisturbed, broken_promises, undisturbed


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Undisturbed]:
    """Return a function that makes an undisturbed run of a command, once."""
    return cache(lambda command: undisturbed(command, tmp_path_factory.mktemp("undisturbed")))


LONG = pytest.mark.long


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "signals", "share", "to_group"),
    [
        ("curves", "SIGTERM", 0.3, False),
        pytest.param("curves", "SIGINT", 0.7, True, marks=LONG),
        pytest.param("replicate, 2 workers", "SIGINT", 0.7, True, marks=LONG),
        ("replicate, 2 workers", "SIGKILL", 0.8, False),
        pytest.param("replicate, 2 workers", "two SIGINT", 0.6, True, marks=LONG),
        pytest.param("replicate, 2 processes", "SIGINT", 0.7, True, marks=LONG),
        ("replicate, 2 processes", "SIGKILL", 0.8, False),
        pytest.param("replicate, 2 processes", "SIGUSR1", 0.7, True, marks=LONG),
        ("replicate, dask", "SIGUSR1", 0.8, True),
        pytest.param("replicate, 2 workers", "three SIGXCPU", 0.6, False, marks=LONG),
        ("optimize", "two SIGINT", 0.7, False),
        pytest.param("optimize", "SIGTERM", 0.5, True, marks=LONG),
        pytest.param("rate", "SIGINT", 0.8, False, marks=LONG),
        ("rate", "SIGKILL", 0.95, True),
    ],
)
def test_a_stopped_command_ends_at_once_and_loses_nothing(
    command: str,
    signals: str,
    share: float,
    to_group: bool,
    run: Callable[[str], Undisturbed],
    tmp_path: Path,
) -> None:
    whole = run(command)
    one = Interruption(command, signals, share * whole.seconds, 0.1, to_group)
    assert broken_promises(one, whole, tmp_path) == []
