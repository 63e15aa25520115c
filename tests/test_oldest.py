"""A little of everything, for `.ci/oldest` in CI: the other tests run it with present versions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command import python, valmatch
from tests.support.game_logs import rating_command
from valmatch.models.registry import OWN
from valmatch.ratings.registry import BATCH_NAMES, NAMES

pytestmark = pytest.mark.long


def test_the_command_starts_without_a_warning() -> None:
    done = python("-W", "error", "-m", "valmatch", "--version", timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("model", OWN)
def test_each_model_plays_and_is_drawn(model: str, tmp_path: Path) -> None:
    config, run = tmp_path / "own.yaml", tmp_path / "run"
    config.write_text(f"model: {model}\n")
    assert valmatch("replicate", config, "-n", 2, "--out", run).code == 0
    assert len((run / "replications.csv").read_text().splitlines()) == 3
    assert valmatch("plot", run).code == 0
    assert list(run.glob("*.png"))


@pytest.mark.parametrize("system", [*NAMES, *BATCH_NAMES])
def test_each_system_rates(system: str, tmp_path: Path) -> None:
    log = tmp_path / "games.csv"
    games = ("a", "b"), ("b", "c"), ("c", "a"), ("b", "a"), ("c", "b")
    lines = ["game,player,score,minutes,time"]
    for day, (winner, loser) in enumerate(games, start=1):
        lines += (f"{day},{winner},30,20,2026-01-0{day}", f"{day},{loser},20,20,2026-01-0{day}")
    log.write_text("\n".join(lines))
    rate = rating_command(system)
    assert valmatch(rate, log, "--system", system, "--out", tmp_path / "rated").code == 0
    rated = (tmp_path / "rated" / "ratings.csv").read_text().splitlines()
    assert len(rated) == 4
