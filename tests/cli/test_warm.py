"""``valmatch warm``: what is compiled beforehand is compiled by no later command."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

import valmatch
from tests.support.command import python, refusal, success
from valmatch.cli import warm
from valmatch.ratings.registry import BATCH_NAMES

NAMES = ("targeting", "elo")


@pytest.mark.slow
def test_a_second_environment_compiles_nothing(tmp_path: Path) -> None:
    """A copy of the package, elsewhere and younger, finds what the first has compiled."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    environment.pop("NUMBA_CACHE_DIR", None)

    def said(*words: str, at: Path) -> list[str]:
        done = python("-m", "valmatch", *words, env={**environment, "PYTHONPATH": str(at)}, cwd=at)
        assert done.returncode == 0, done.stderr
        return done.stderr.splitlines()

    package = Path(valmatch.__file__).parent
    homes = [tmp_path / "one", tmp_path / "two"]
    for home in homes:
        shutil.copytree(package, home / "valmatch")
        if not (package / "configs").is_dir():
            shutil.copytree(package.parent / "configs", home / "configs")
    (line,) = said("warm", *NAMES, at=homes[0])
    compiled = re.fullmatch(r"compiled (\d+) kernels in [\d.]+ s; (\d\.\d) MB in (.*)", line)
    assert compiled
    assert (int(compiled[1]) > 1, float(compiled[2]) > 0.0) == (True, True)
    assert compiled[3] == f"{tmp_path}/cache/valmatch"
    (line,) = said("warm", *NAMES, at=homes[1])
    assert line.startswith("compiled 0 kernels in 0.0 s; ")
    assert said("simulate", "targeting", at=homes[1]) == []
    (homes[1] / "log.csv").write_text(warm.LOG)
    assert said("rate", "log.csv", "--system", "elo", "-q", at=homes[1]) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [*BATCH_NAMES, *warm.COMMANDS])
def test_what_rates_whole_logs_is_compiled_too(name: str) -> None:
    (line,) = success("warm", name).err.splitlines()
    assert re.fullmatch(r"compiled \d+ kernels in [\d.]+ s; [\d.]+ MB in .*", line)


def test_names_that_have_no_kernels_are_refused() -> None:
    assert refusal("warm", "tickest") == (
        "tickest: nothing that has kernels (did you mean tickets?)"
    )


def test_the_log_has_three_players_with_wins_losses_and_draws() -> None:
    rows = [line.split(",") for line in warm.LOG.splitlines()[1:]]
    assert {player for *_, player, _ in rows} == {"a", "b", "c"}
    assert len(rows) == 2 * len({game for game, *_ in rows}) == 18
