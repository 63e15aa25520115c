"""Runs of the ladder whose ratings have not found their scale say so."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import valmatch
from tests.support.command import valmatch as command
from valmatch.models.ladder.measures import SCALE_MOVES, scale_moves

NAN = math.nan
DUELS = {
    "population.players": 60,
    "population.newcomers_per_day": 2,
    "rule.team_num": 1,
    "rule.team_diff": 1000,
    "rating.system": "elo",
    "rating.K": 32,
    "days": 9,
    "warmup_days": 3,
}


def options(factors: dict[str, Any]) -> list[str]:
    return [word for item in factors.items() for word in ("--set", f"{item[0]}={item[1]}")]


def manifest(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return found


@pytest.mark.parametrize(
    ("stretches", "moves"),
    [
        ([7, 20, 21.001], True),
        ([7, 20, 18.999], True),
        ([1, 2, 20, 20, 21, 21.01], True),
        # The first thirds are the longer ones; means, not last values, are compared.
        ([9, 9, 9, 10, 30, 20, 20], False),
        ([9, 9, 9, 20, 30, 20, 20], True),
        # What is undefined does not count.
        ([7, 7, 20, NAN, NAN, 22], True),
        ([7, 7, 20, 30, NAN, NAN], False),
        ([0, 0, 1], True),
        ([], False),
    ],
)
def test_the_last_third_is_compared_with_the_middle_one(
    stretches: list[float], moves: bool
) -> None:
    assert scale_moves(stretches) is moves


@pytest.mark.slow
def test_a_run_says_so_if_the_days_of_its_table_do() -> None:
    said = []
    for seed in range(12):
        run = valmatch.simulate(valmatch.load_config("ladder", DUELS), seed)
        days = run["days"]["scale_stretch"].tolist()
        before, after = sum(days[5:7]) / 2.0, sum(days[7:9]) / 2.0
        moves = not 0.95 * before <= after <= 1.05 * before
        assert list(run.warnings) == [SCALE_MOVES] * moves
        said.append(moves)
    assert 0 < sum(said) < 12


@pytest.mark.slow
def test_replications_are_counted(tmp_path: Path) -> None:
    config = valmatch.load_config("ladder", DUELS)
    moved = [bool(valmatch.simulate(config, 1, k).warnings) for k in range(6)]
    assert 0 < sum(moved[:4]) < 4
    line = f"{sum(moved[:4])} of 4 replications: {SCALE_MOVES}"
    assert valmatch.replicate(config, 4).remarks == [line]
    run = ["replicate", "ladder", *options(DUELS), "--out", tmp_path]
    done = command(*run, "-n", 4)
    assert done.code == 0
    assert f"warning: {line}\n" in done.err
    assert [one["text"] for one in manifest(tmp_path)["remarks"]] == [line]
    # A run that goes on speaks of what it makes itself, and repeats what was said.
    done = command(*run, "-n", 6, "--resume")
    further = [f"{sum(moved[4:])} of 2 further replications: {SCALE_MOVES}"] * any(moved[4:])
    assert [one["text"] for one in manifest(tmp_path)["remarks"]] == [line, *further]
    assert all(f"warning: {text}\n" in done.err for text in (line, *further))
