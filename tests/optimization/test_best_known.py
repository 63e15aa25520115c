"""The shipped problems and the best that is known of them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from tests.support.command import success
from tests.support.folders import rows
from valmatch.config.loading import load_config
from valmatch.execution.chunks import build, run
from valmatch.optimization import problem as module
from valmatch.optimization.problem import (
    best_known,
    listed,
    problem_of,
    shipped_problems,
    table_file,
    with_factors,
)


def table() -> dict[str, dict[str, str]]:
    return {row["config"]: row for row in rows(table_file())}


def test_every_shipped_problem_has_a_row_inside_its_bounds() -> None:
    problems = shipped_problems()
    assert json.loads(success("problems", "--json").out)["problems"] == listed()
    assert set(table()) == set(problems)
    for name, row in table().items():
        config = problems[name]
        for variable, given in config.optimize.variables.items():
            assert given.low <= float(row[variable]) <= given.high, (name, variable)
        for constraint in config.optimize.constraints.values():
            if row["feasible"] == "True" and constraint.at_most is not None:
                assert float(row[f"{constraint.response}_low"]) <= constraint.at_most
        assert int(row["replications"]) > int(row["n"]) > 0
        assert row["date"].count("-") == 2


@pytest.mark.parametrize("name", ["valorant-20min", "valorant-30min"])
def test_known_values_hold_on_other_replications(name: str) -> None:
    config, row = load_config(name), table()[name]
    point = {variable: float(row[variable]) for variable in config.optimize.variables}
    problem = problem_of(config, build(config))
    model = build(config, with_factors(config, point))
    values = dict(zip(model.responses.names, run(model, 99, range(400)).responses.T, strict=True))
    outcomes = problem.outcomes(values)
    (facts,) = (one for one in listed() if one["problem"] == name)
    noise = facts["best_known"]["noise"]
    error = noise["objective"] * math.sqrt(1 / 400 + 1 / int(row["n"]))
    assert abs(outcomes[:, 0].mean() - float(row["objective"])) < 4 * error
    assert noise["objective"] == pytest.approx(float(np.std(outcomes[:, 0])), rel=0.15)
    assert noise["avg_wait_time"] == pytest.approx(float(np.std(outcomes[:, 1])), rel=0.15)


@pytest.mark.slow
def test_a_problem_is_known_by_what_it_asks_for() -> None:
    known = {name: float(row["objective"]) for name, row in table().items()}
    assert best_known(load_config("valorant-20min")) == known["valorant-20min"]
    assert best_known(load_config("valorant-20min", ["upper_time=15"])) == known["valorant-15min"]
    assert best_known(load_config("valorant-20min", ["optimize.best_known=7"])) == 7.0
    for other in ("upper_time=16", "w_team=2", "rate_multiplier=3", "optimize.budget=200"):
        value = best_known(load_config("valorant-20min", [other]))
        assert value == (known["valorant-20min"] if "budget" in other else None)
    assert best_known(load_config("valorant-1")) is None  # nothing feasible is known
    assert best_known(load_config("chess-1", ["upper_time=4.5"])) is None


def test_an_installed_package_has_the_table_beside_its_configs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "valmatch" / "configs"
    inside.mkdir(parents=True)
    (inside / "best-known.csv").write_text("config\n")
    monkeypatch.setattr(module, "__file__", str(tmp_path / "valmatch" / "optimization" / "x.py"))
    assert table_file() == inside / "best-known.csv"
