"""Durations with their unit, wherever a factor is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.case_tables import cases
from tests.support.command import success
from valmatch.config.factor_paths import flat
from valmatch.config.identity import problem_id
from valmatch.config.loading import load_config
from valmatch.errors import InputError
from valmatch.optimization.studies.sweep import parse_sweep


def factor(model: str, name: str, text: str) -> object:
    return flat(load_config({"model": model}, [f"{name}={text}"]).factors.model_dump(mode="json"))[
        name
    ]


@pytest.mark.parametrize(
    ("model", "name", "text", "value"),
    [
        ("valorant", "wait_thresh", "12 min", 0.2),
        ("valorant", "wait_thresh", "0.2 h", 0.2),
        ("valorant", "horizon", "1 day", 24.0),
        ("ladder", "rule.wait_thresh", "6 minutes", 0.1),
        ("ladder", "sessions.patience_minutes", "0.5 h", 30.0),
        ("ladder", "days", "672 hours", 28.0),
    ],
)
def test_a_duration_is_read_in_the_unit_of_its_factor(
    model: str, name: str, text: str, value: float
) -> None:
    assert factor(model, name, text) == value


@pytest.mark.parametrize("text", ["12 fortnights", "-3 min", "nan h"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(InputError) as error:
        load_config("valorant", [f"wait_thresh={text}"])
    assert "factors.wait_thresh" in str(error.value)
    assert ", in hours, or with a unit, such as 12 min (got " in str(error.value)


def test_other_factors_take_no_units() -> None:
    with pytest.raises(InputError, match="should be a valid number"):
        load_config("valorant", ["team_diff=12 min"])


def test_a_sweep_takes_units() -> None:
    sweep = ("--sweep", "wait_thresh=6 min,0.2 h", "--set", "horizon=2")
    assert "6 min" in success("replicate", "valorant", "-n", 2, *sweep).out


def test_minutes_in_place_of_hours_are_remarked_upon() -> None:
    (remark,) = load_config("valorant", ["wait_thresh=12"]).warnings
    assert "factors.wait_thresh: 12 hours; 12 minutes is 0.2 (a bare number is hours" in remark
    assert not load_config("valorant", ["wait_thresh=2"]).warnings
    (remark,) = load_config({"model": "ladder"}, ["rule.wait_thresh=12"]).warnings
    assert "12 minutes is 0.2" in remark


PROBLEM = """
model: valorant
factors: {measure: [bands]}
optimize:
  variables:
    wait_thresh: {low: 3 min, high: 1 h, start: 12 min, scale: 60 s}
    team_diff: {low: 5, high: 1000, start: 200}
  objective: {gap: {response: avg_team_diff}}
  constraints:
    top: {response: wait_p95.top_1%, at_most: 0.5 h}
    wait: {response: avg_wait_time, at_most: 25}
design: {ranges: {wait_thresh: {low: 3 min, high: 12 min}}, points: 3}
"""


@pytest.fixture
def problem(tmp_path: Path) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(PROBLEM)
    return path


@pytest.mark.slow
def test_a_problem_takes_units(problem: Path) -> None:
    config = load_config(problem)
    wait = config.optimize.variables["wait_thresh"]
    assert (wait.low, wait.high, wait.start, wait.scale) == (0.05, 1.0, 0.2, 1.0 / 60.0)
    assert config.optimize.constraints["top"].at_most == 30.0
    assert (config.design.ranges["wait_thresh"].low, config.design.ranges["wait_thresh"].high) == (
        0.05,
        0.2,
    )
    plain = load_config(
        problem,
        ["optimize.variables.wait_thresh={low: 0.05, high: 1, start: 0.2, scale: 60 s}", "top=30"],
    )
    assert problem_id(plain) == problem_id(config)
    assert load_config(problem, ["wait=0.3 h"]).optimize.constraints["wait"].at_most == 18.0
    inner = load_config(problem, ["optimize.variables.wait_thresh.high=30 min"])
    assert inner.optimize.variables["wait_thresh"].high == 0.5
    ladder = {"rule.wait_thresh": {"low": "1 min", "high": "0.5 h"}}
    sectioned = load_config({"model": "ladder", "optimize": {"variables": ladder}})
    assert sectioned.optimize.variables["rule.wait_thresh"].low == 1.0 / 60.0


@pytest.mark.parametrize(
    ("old", "new", "where", "what"),
    cases("""
high: 1 h, | high: 1 fortnight, | 6:37: optimize.variables.wait_thresh.high | number, in hours, or
  with a unit, such as 12 min (got '1 fortnight')
at_most: 25 | at_most: 25 points | 11:46: optimize.constraints.wait.at_most | , in minutes, or with
  a unit, such as 12 min (got '25 points')
high: 1000 | high: 1 h | 7:31: optimize.variables.team_diff.high | should be a valid number, in Elo
  points (got '1 h')
avg_team_diff} | avg_team_diff, weight: 3 min} | 8:54: optimize.objective.gap.weight | should be a
  valid number (got '3 min')
low: 3 min, high: 12 | low: 3 parsec, high: 12 | 12:38: design.ranges.wait_thresh.low | in hours,
  or with a unit, such as 12 min (got '3 parsec')
model: valorant | model: valorent | 2:8: model | did you mean valorant?
"""),
)
def test_errors_of_a_problem_name_the_place(
    old: str, new: str, where: str, what: str, problem: Path
) -> None:
    problem.write_text(PROBLEM.replace(old, new))
    with pytest.raises(InputError) as error:
        load_config(problem)
    (line,) = error.value.args
    assert line.startswith(f"{problem}:{where}: ")
    assert what in line


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("top=2min,3 min", [2.0, 3.0]),
        ("top=120 s", [2.0]),
        ("top=10 min:0.5 h:5 min", [10.0, 15.0, 20.0, 25.0, 30.0]),
        ("wait=20,15,12.5", [20.0, 15.0, 12.5]),
        ("gap=1,2", [1.0, 2.0]),
    ],
)
def test_a_sweep_of_bounds_takes_units_and_lists(
    text: str, points: list[float], problem: Path
) -> None:
    assert parse_sweep(load_config(problem), text).points == points


@pytest.mark.parametrize("text", ["top=1,1", "top=", "gap=1 min,2 min", "top=2 min,3 parsec"])
def test_what_is_no_sweep_of_bounds_is_refused(text: str, problem: Path) -> None:
    with pytest.raises(InputError, match=r"not of the form NAME=FIRST:LAST:STEP .* each once$"):
        parse_sweep(load_config(problem), text)
