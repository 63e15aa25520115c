"""Random histories of kills, tears and duplicates; some run in `tests/experiments/test_crashes.py`.

pytest tests/verification/test_crashes.py
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.support.crashes import CASES, contents, run_and_kill, suffer
from valmatch.config.loading import load_config
from valmatch.experiments.replicate import replicate


@pytest.mark.parametrize("name", list(CASES))
def test_two_hundred_histories(tmp_path: Path, name: str) -> None:
    source, overrides, n = CASES[name]
    config = load_config(source, overrides)
    replicate(config, n, out=tmp_path / "undisturbed")
    undisturbed = contents(tmp_path / "undisturbed")
    for seed in range(200):
        suffer(config, n, tmp_path / str(seed), Random(seed))
        assert contents(tmp_path / str(seed)) == undisturbed, seed


def test_fifty_kills_of_one_run(tmp_path: Path) -> None:
    config, n, rng = load_config("valorant"), 20_000, Random(1)
    replicate(config, n, out=tmp_path / "undisturbed")
    for _ in range(50):
        run_and_kill(config, n, tmp_path / "killed", rng.uniform(0.0, 0.2))
    replicate(config, n, out=tmp_path / "killed", resume=True)
    assert contents(tmp_path / "killed") == contents(tmp_path / "undisturbed")
