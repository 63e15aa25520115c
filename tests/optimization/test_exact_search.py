"""Optimisation on one log: evaluations are exact, and so is the answer."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.support.command import success, valmatch
from tests.support.folders import rows

PROBLEM = """\
model: valorant
arrivals: log.csv
factors: {team_num: 2}
optimize:
  variables:
    team_diff: {low: 0, high: 2400, start: 100, scale: 20}
    player_diff: {low: 0, high: 2400, start: 150, scale: 20}
  objective: {fair: {response: avg_team_diff}}
  constraints:
    p95: {response: wait_p95, at_most: 45}
    p50: {response: wait_p50, at_most: 12}
"""

SOLVERS = ("auto", "random", "nelder-mead", "cobyqa", "cma-es", "spsa")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two days with a quiet night, and ratings that are skewed to the right."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    weights = 1.0 + 0.8 * np.cos(2.0 * np.pi * (np.arange(48) % 24 - 20) / 24)
    hours = rng.choice(48, 500, p=weights / weights.sum()) + rng.random(500)
    ratings = np.exp(rng.normal(7.2, 0.25, 500))
    lines = [
        f"{t!r},{r!r}\n" for t, r in zip(np.sort(hours).tolist(), ratings.tolist(), strict=True)
    ]
    Path("log.csv").write_text("arrival_hours,rating\n" + "".join(lines))
    Path("mine.yaml").write_text(PROBLEM)
    return tmp_path


def evaluated(path: str) -> list[dict[str, float]]:
    """Return what a run has evaluated."""
    table = rows(Path(path, "evaluations.csv"))
    return [{name: float(x) for name, x in row.items()} for row in table]


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_best_feasible_point_evaluated_is_recommended(
    folder: Path, solver: str, seed: int
) -> None:
    given = ("--budget", 100, "--solver", solver, "--seed", seed, "--out", "out", "--json")
    found = json.loads(success("optimize", "mine.yaml", *given).out)
    points = evaluated("out")
    assert found["spent"] == len(points) <= 100
    assert len(points) == 100 or f"after {len(points)} of 100 evaluations" in found["why"]
    good = [one for one in points if one["wait_p95"] <= 45 and one["wait_p50"] <= 12]
    best = min(good, key=lambda one: one["avg_team_diff"])
    assert found["recommended"]["objective"]["mean"] == best["avg_team_diff"]
    start = next(one for one in points if (one["team_diff"], one["player_diff"]) == (100, 150))
    if start in good:
        assert best["avg_team_diff"] <= start["avg_team_diff"]


@pytest.mark.slow
def test_a_front_is_made_of_all_that_was_evaluated(folder: Path) -> None:
    made = valmatch(
        "optimize", "mine.yaml", "--pareto", "avg_team_diff,wait_p95", "--budget", 100,
        "--out", "out", "--json",
    )  # fmt: skip
    found, points = json.loads(made.out), evaluated("out")
    assert found["spent"] == found["tested"] == len(points) == 100
    good = [one for one in points if one["wait_p95"] <= 45 and one["wait_p50"] <= 12]
    values = {(one["avg_team_diff"], one["wait_p95"]) for one in good}
    front = sorted(
        one
        for one in values
        if not any(a <= one[0] and b <= one[1] and (a, b) != one for a, b in values)
    )
    of_run = [[one["objectives"][k]["mean"] for k in ("avg_team_diff", "wait_p95")]
              for one in found["front"]]  # fmt: skip
    assert of_run == [list(one) for one in front]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("swept", "values"), [("p95", [60.0, 45.0, 30.0, 26.0]), ("fair", [1.0, -1.0, 2.0])]
)
def test_every_value_of_a_sweep_has_the_best_of_all_that_was_evaluated(
    folder: Path, swept: str, values: list[float]
) -> None:
    listed = ",".join(f"{one:g}" for one in values)
    found = {}
    for workers in (1, 2) if swept == "p95" else (1,):
        made = valmatch(
            "optimize", "mine.yaml", "--sweep", f"{swept}={listed}", "--budget", 100,
            "--out", f"out{workers}", "--workers", workers, "--json",
        )  # fmt: skip
        assert made.code in (0, 3), made.err
        found[workers] = json.loads(made.out)
    assert all(one == found[1] for one in found.values())
    points = evaluated("out1")
    for value, one in zip(values, found[1]["frontier"], strict=True):
        limit, weight = (value, 1.0) if swept == "p95" else (45.0, value)
        good = [row for row in points if row["wait_p95"] <= limit and row["wait_p50"] <= 12]
        assert one["feasible"] is bool(good)
        if good:
            best = min(weight * row["avg_team_diff"] for row in good)
            assert one["recommended"]["objective"]["mean"] == best
