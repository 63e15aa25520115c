"""Random histories of kills and tears, and signals at every moment of commands.

pytest tests/verification/test_kills.py (some run in ``tests/cli/test_signals.py``,
``tests/experiments/test_crashes.py``)
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.support.crashes import CASES, contents, run_and_kill, suffer
from tests.support.signals import (
    COMMANDS,
    STARTING,
    broken_promises,
    ended_badly,
    interruption,
    moments,
    starting,
    undisturbed,
)
from valmatch.config.loading import load_config
from valmatch.experiments.replicate import replicate

INTERRUPTIONS = 510
"""Some twenty-five of each command."""


@pytest.mark.parametrize("name", list(CASES))
def test_two_hundred_histories(tmp_path: Path, name: str) -> None:
    source, overrides, n = CASES[name]
    config = load_config(source, overrides)
    replicate(config, n, out=tmp_path / "undisturbed")
    whole = contents(tmp_path / "undisturbed")
    for seed in range(200):
        suffer(config, n, tmp_path / str(seed), Random(seed))
        assert contents(tmp_path / str(seed)) == whole, seed


def test_fifty_kills_of_one_run(tmp_path: Path) -> None:
    config, n, rng = load_config("valorant"), 20_000, Random(1)
    replicate(config, n, out=tmp_path / "undisturbed")
    for _ in range(50):
        run_and_kill(config, n, tmp_path / "killed", rng.uniform(0.0, 0.2))
    replicate(config, n, out=tmp_path / "killed", resume=True)
    assert contents(tmp_path / "killed") == contents(tmp_path / "undisturbed")


def test_stopped_commands_end_at_once_and_lose_nothing(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    runs = {one: undisturbed(one, tmp_path_factory.mktemp("undisturbed")) for one in COMMANDS}
    broken = []
    for number in range(INTERRUPTIONS):
        one, folder = interruption(number, runs), tmp_path / str(number)
        folder.mkdir()
        if problems := broken_promises(one, runs[one.command], folder):
            broken.append(f"{number}: {one}: {problems}")
    assert not broken, "\n".join(broken)


@pytest.mark.parametrize("name", STARTING)
def test_a_command_may_end_at_any_moment_of_its_start(name: str, tmp_path: Path) -> None:
    command = starting(name, tmp_path)
    wrong = {
        f"{wanted.name} after {seconds:.3f} s": problems
        for seconds, wanted in moments(0.03)
        if (problems := ended_badly(command, seconds, wanted))
    }
    assert wrong == {}
