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
from valmatch.storage.output import write_bytes

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
MOVING = {**DUELS, "warmup_days": 0, "rating.K": 8}
KNOWN = {**DUELS, "rating.system": "known"}


def options(factors: dict[str, Any]) -> list[str]:
    return [word for item in factors.items() for word in ("--set", f"{item[0]}={item[1]}")]


def manifest(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return found


@pytest.mark.parametrize(
    ("stretches", "moves"),
    [
        ([7, 20, 21], False),
        ([7, 20, 21.001], True),
        ([7, 20, 19], False),
        ([7, 20, 18.999], True),
        ([1, 2, 20, 20, 21, 21], False),
        ([1, 2, 20, 20, 21, 21.01], True),
        # The first thirds are the longer ones; means, not last values, are compared.
        ([9, 9, 10, 30, 20], False),
        ([9, 9, 9, 10, 30, 20, 20], False),
        ([9, 9, 9, 20, 30, 20, 20], True),
        # What is undefined does not count.
        ([7, 7, 20, NAN, NAN, 21], False),
        ([7, 7, 20, NAN, NAN, 22], True),
        ([7, 7, NAN, NAN, 20, 30], False),
        ([7, 7, 20, 30, NAN, NAN], False),
        ([0, 0, 0], False),
        ([0, 0, 1], True),
        ([1, 2], False),
        ([1], False),
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


def test_a_scale_that_moves_is_a_warning_and_in_the_manifest(tmp_path: Path) -> None:
    done = command("simulate", "ladder", *options(MOVING), "--out", tmp_path)
    assert done.code == 0
    assert f"warning: {SCALE_MOVES}\n" in done.err
    assert SCALE_MOVES not in done.out
    (warning,) = manifest(tmp_path)["remarks"]
    assert warning == {"kind": "scale_moves", "count": 1, "text": SCALE_MOVES}
    assert "5 % " in SCALE_MOVES


def test_nothing_is_said_of_a_scale_that_stays(tmp_path: Path) -> None:
    for name in ("simulate", "replicate"):
        n = ["-n", 2] * (name == "replicate")
        done = command(name, "ladder", *options(KNOWN), *n, "--out", tmp_path / name)
        assert done.code == 0
        assert "scale_stretch of" not in done.err
        assert "remarks" not in manifest(tmp_path / name)


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


def test_replications_whose_curves_alone_are_made_again_are_not_counted(tmp_path: Path) -> None:
    run = ["replicate", "ladder", *options(MOVING), "--out", tmp_path, "-n", 2]
    assert command(*run).code == 0
    said = manifest(tmp_path)["remarks"]
    assert [one["text"] for one in said] == [f"2 of 2 replications: {SCALE_MOVES}"]
    write_bytes(tmp_path / "curves.npz", b"")
    assert command(*run, "--resume").code == 0
    assert manifest(tmp_path)["remarks"] == said


@pytest.mark.slow
def test_of_several_runs_each_is_named(tmp_path: Path) -> None:
    line = f"2 of 2 replications: {SCALE_MOVES}"
    done = command("replicate", "ladder", *options(MOVING), "-n", 2, "--out", tmp_path / "a")
    assert done.code == 0
    known = {**MOVING, "rating.system": "known"}
    done = command("replicate", "ladder", *options(known), "-n", 2, "--out", tmp_path / "b")
    assert done.code == 0
    done = command("compare", tmp_path / "b", tmp_path / "a")
    assert f"warning: b: {line}\n" in done.err
    assert done.err.count("scale_stretch of") == 1
    mine = tmp_path / "mine.json"
    mine.write_text(json.dumps(manifest(tmp_path / "a")["config"]))
    done = command("compare", mine, "--set", "rating.system=known", "-n", 2)
    assert f"warning: a: {line}\n" in done.err
    assert done.err.count("scale_stretch of") == 1
    sweep = ["--sweep", "rating.system=elo,known"]
    done = command("replicate", "ladder", *options(MOVING), *sweep, "-n", 2)
    assert f"warning: rating.system=elo: {line}\n" in done.err
    assert done.err.count("scale_stretch of") == 1
