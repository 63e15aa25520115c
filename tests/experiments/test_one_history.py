"""A queue log is one history, without interval; which responses there are, and those chosen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import valmatch as library
from tests.support.command import refusal, success, valmatch
from tests.support.folders import rows
from valmatch.models.registry import MODELS

PROBLEM = """\
model: valorant
arrivals: log.csv
factors: {team_num: 2}
optimize:
  variables: {team_diff: {low: 0, high: 500, start: 300}}
  objective: {fair: {response: avg_team_diff}}
  constraints: {p95: {response: wait_p95, at_most: LIMIT}}
replicate: {n: 500}
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    times, ratings = np.sort(rng.uniform(0.0, 8.0, 160)), rng.normal(1500.0, 200.0, 160)
    lines = [f"{t!r},{r!r}\n" for t, r in zip(times.tolist(), ratings.tolist(), strict=True)]
    (tmp_path / "log.csv").write_text("arrival_hours,rating\n" + "".join(lines))
    path = tmp_path / "mine.yaml"
    path.write_text(PROBLEM.replace("LIMIT", "60"))
    return path


def test_replicate_makes_one_and_knows_no_interval(config: Path, tmp_path: Path) -> None:
    made = success("replicate", config, "--out", tmp_path / "out", "--json")
    found = json.loads(made.out)
    assert found["replications"] == 1
    more = library.replicate(config, 5)
    for name, one in more.estimates.items():
        assert (one.n, one.std, one.std_error, one.ci_low, one.ci_high) == (5, *[None] * 4)
        assert one.mean == pytest.approx(found["responses"][name]["mean"], rel=1e-15)
    assert library.replicate(config).requested == 1
    assert more.sampling.of == "on this log"
    target = valmatch("replicate", config, "--target", "avg_wait_time=1%")
    assert (target.code, target.err.splitlines()[-1]) == (
        2,
        "--target: every replication is the same: there is no interval to narrow",
    )


def test_compare_makes_one_pair(config: Path) -> None:
    found = compared(config, "--set", "team_diff=50")
    assert found["replications"] == 1
    two = library.compare(config, library.load_config(config, {"team_diff": 50}), 3)
    difference = two.comparisons["avg_team_diff"].difference
    assert difference.mean == found["differences"]["avg_team_diff"]["mean"]
    assert difference.ci_low is None
    # Against random arrivals there is something to average, on one side.
    mixed = library.compare(config, "valorant", 5)
    assert mixed.comparisons["avg_wait_time"].a.ci_low is None
    assert mixed.comparisons["avg_wait_time"].b.ci_low is not None
    assert mixed.comparisons["avg_wait_time"].difference.ci_low is None


@pytest.mark.slow
def test_optimize_evaluates_a_point_once(config: Path, tmp_path: Path) -> None:
    made = success("optimize", config, "--budget", "100", "--out", tmp_path / "out", "--json")
    found = json.loads(made.out)
    assert "which resamples of the log show" in found["why"]
    assert found["recommended"]["objective"]["n"] == 1
    back = library.load_result(tmp_path / "out")
    assert [one["text"] for one in found["warnings"]] == list(back.warnings)
    assert found["warnings"][0]["kind"] == "one_history"
    assert found["recommended"]["objective"]["ci_low"] is None
    same = "every replication is the same; log.resample=block makes resamples of a log"
    assert found["no_interval"] == same
    points = [row["team_diff"] for row in rows(tmp_path / "out" / "evaluations.csv")]
    assert len(points) == len(set(points)) > 5
    point = found["recommended"]["point"]
    alone = library.replicate(library.load_config(config, point))
    assert alone.estimates["avg_team_diff"].mean == found["recommended"]["objective"]["mean"]


def compared(*arguments: object) -> dict[str, Any]:
    return dict(json.loads(success("compare", *arguments, "--json").out))


@pytest.mark.parametrize("model", list(MODELS))
def test_every_response_is_listed_with_unit_and_meaning(model: str) -> None:
    found = json.loads(success("responses", model, "--json").out)
    assert all(one["meaning"] for one in found.values())
    table, first = success("responses", model, "--all"), success("responses", model)
    assert max(map(len, [*table.out.splitlines(), *first.out.splitlines()])) <= 80
    assert all(name in table.out for name in found)
    assert set(first.out.split()) & {"POLICY", *found}


def test_the_first_responses_are_shown_and_a_word_finds_others() -> None:
    first = success("responses", "tickets").out
    assert "step_used" in first
    assert "313 more (--all, or --search WORD), in groups of the factor measure: sizes" in first
    named = success("responses", "valorant", "--search", "Matched teams").out
    assert "avg_player_diff" in named
    assert "avg_wait_time" not in named
    line = refusal("responses", "--search", "zzz")
    assert line == "--search: no response of valorant has 'zzz' in its name or meaning"


@pytest.mark.slow
def test_the_chosen_are_computed_and_shown_alone() -> None:
    how = ("--set", "horizon=4", "--responses", "wait_p95.bottom_10%,avg_wait_time")
    made = success("replicate", "valorant", "-n", "3", *how)
    shown = [line.split()[0] for line in made.out.splitlines()[2:]]
    assert shown == ["avg_wait_time", "wait_p95.bottom_10%"]
    config = library.load_config("valorant", {"horizon": 4, "measure": ["bands"]})
    mean = library.replicate(config, 3).estimates["avg_wait_time"].mean
    assert f"{mean:.1f}" in made.out
    for command in (
        ("simulate", "valorant"),
        ("replicate", "valorant", "-n", "2", "--sweep", "team_diff=100,200"),
        ("compare", "valorant", "valorant-start", "-n", "2"),
        ("compare", "valorant", "--set", "team_diff=100", "-n", "2"),
    ):
        made = success(*command, *how)
        assert "wait_p95.bottom_10%" in made.out
        assert "avg_player_diff" not in made.out
