"""Hundreds of signals at random moments; a few are sent in ``tests/cli/test_signals.py``.

pytest tests/verification/test_signals.py
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.signals import COMMANDS, Undisturbed, broken_promises, interruption, undisturbed

INTERRUPTIONS = 510
"""Thirty of each command."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Undisturbed]:
    return {one: undisturbed(one, tmp_path_factory.mktemp("undisturbed")) for one in COMMANDS}


def test_stopped_commands_end_at_once_and_lose_nothing(
    runs: Mapping[str, Undisturbed], tmp_path: Path
) -> None:
    broken = []
    for number in range(INTERRUPTIONS):
        one, folder = interruption(number, runs), tmp_path / str(number)
        folder.mkdir()
        if problems := broken_promises(one, runs[one.command], folder):
            broken.append(f"{number}: {one}: {problems}")
    assert not broken, "\n".join(broken)
