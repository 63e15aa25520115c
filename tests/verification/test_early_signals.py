"""Signals at every moment of the start of commands; some run in `tests/cli/test_early_signals.py`.

pytest tests/verification/test_early_signals.py
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.signals import STARTING, ended_badly, moments, starting


@pytest.mark.parametrize("name", STARTING)
def test_a_command_may_end_at_any_moment_of_its_start(name: str, tmp_path: Path) -> None:
    command = starting(tmp_path)[name]
    wrong = {
        f"{wanted.name} after {seconds:.3f} s": problems
        for seconds, wanted in moments(0.03)
        if (problems := ended_badly(command, seconds, wanted))
    }
    assert wrong == {}
