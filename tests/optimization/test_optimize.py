"""`valmatch optimize`: problems, evaluations, runs, files, interruption."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from tests.support.command import valmatch
from tests.support.sectioned_model import SHOTS
from valmatch.config.config import Constraint
from valmatch.config.loading import load_config
from valmatch.errors import InputError
from valmatch.execution.chunks import build, run
from valmatch.optimization import solver_run
from valmatch.optimization.problem import Problem, problem_of
from valmatch.optimization.solver_run import BudgetSpent, Evaluator
from valmatch.optimization.studies.solver_study import optimize

SMALL = ["--budget", "120", "--solver", "random"]
PARETO = ("--pareto", "avg_team_diff,avg_wait_time")


def posed(source: str = "valorant-20min") -> Problem:
    config = load_config(source)
    return problem_of(config, build(config))


def test_the_problem_is_that_of_the_source() -> None:
    problem = posed("valorant-1")
    names = ["player_diff", "team_diff", "wait_thresh", "player_slack", "team_slack"]
    assert [v.name for v in problem.variables] == names
    assert [(v.low, v.high) for v in problem.variables] == [
        (0, 10 if v.name == "wait_thresh" else 2400) for v in problem.variables
    ]
    assert problem.point(problem.start) == dict(zip(names, [150, 200, 0.15, 100, 100], strict=True))
    assert [v.mean for v in problem.variables] == [200, 400, 0.2, 200, 200]
    variances = [v.std**2 for v in problem.variables]
    assert variances == pytest.approx([10, 20, 0.05, 10, 10], rel=1e-12)
    assert [(t.response, t.weight) for t in problem.terms] == [
        ("avg_team_diff", 1),
        ("avg_player_diff", 1),
    ]
    assert problem.constraints == {"upper_time": Constraint.of("avg_wait_time", 1, 10)}


@pytest.mark.parametrize("kept", [solver_run.STORED_INPUTS, 3])
def test_controls_are_those_of_the_simulator(kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver_run, "STORED_INPUTS", kept)
    evaluator = Evaluator(load_config("valorant-20min"), posed(), 5, 100, budget=12)
    model = build(load_config("valorant-start"))
    seen, expectations = evaluator.controls(6)
    np.testing.assert_array_equal(seen, run(model, 5, range(100, 106), controls=True).controls)
    np.testing.assert_array_equal(expectations, list(model.controls.values()))
    np.testing.assert_array_equal(evaluator.controls(4)[0], seen[:4])
    evaluator.evaluate(posed().start, 6)
    np.testing.assert_array_equal(evaluator.controls(6)[0], seen)


def test_variables_that_enter_the_draws_have_no_controls() -> None:
    config = load_config(
        "valorant-20min", {"optimize.variables": {"rate_multiplier": {"low": 1, "high": 2}}}
    )
    evaluator = Evaluator(config, problem_of(config, build(config)), 5, 100, budget=12)
    assert [part.shape for part in evaluator.controls(6)] == [(6, 0), (0,)]


@pytest.mark.parametrize("kept", [solver_run.STORED_INPUTS, 3])
def test_evaluations_are_those_of_the_simulator_and_made_once(
    kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solver_run, "STORED_INPUTS", kept)
    config = load_config("valorant-20min")
    problem = posed()
    evaluator = Evaluator(config, problem, 5, 100, budget=12)
    outcomes = evaluator.evaluate(problem.start, 6)
    assert evaluator.spent == 6
    model = build(load_config("valorant-start"))
    names = [response.name for response in model.responses]
    table = run(model, 5, range(100, 106)).responses
    column = {name: table[:, k] for k, name in enumerate(names)}
    expected = column["avg_team_diff"] + column["avg_player_diff"]
    np.testing.assert_allclose(outcomes[:, 0], expected, rtol=1e-9)
    np.testing.assert_allclose(outcomes[:, 1], column["avg_wait_time"] - 20.0, rtol=1e-9)
    evaluator.evaluate(problem.start, 4)
    assert evaluator.spent == 6
    evaluator.evaluate(problem.start, 10)
    assert evaluator.spent == 10
    with pytest.raises(BudgetSpent):
        evaluator.evaluate(np.full(5, 0.5), 3)
    assert evaluator.spent == 10


def test_nothing_is_recommended_where_nothing_feasible_was_found(tmp_path: Path) -> None:
    done = valmatch("optimize", "valorant-1", *SMALL, "--out", tmp_path)
    assert done.code == 3
    assert "feasible: no; " in done.out
    assert re.search(r"^variable +least violation +start$", done.out, re.MULTILINE)
    document = json.loads((tmp_path / "summary.json").read_text())
    assert (document["feasible"], document["recommended"]) == (False, None)
    assert document["least_violation"]["constraints"]["upper_time"]["ci_low"] > 10
    assert "by theory it cannot fall below 12.51 while everybody is matched" in document["why"]
    swept = valmatch("optimize", "valorant-1", *SMALL, "--sweep", "upper_time=8:10:2")
    assert swept.code == 3
    assert "recommended" not in done.out + swept.out


GROWN = ("summary.json", "evaluations.csv", "trajectory.csv", "candidates.csv", "progress.csv")


@pytest.mark.slow
@pytest.mark.usefixtures("sectioned")
@pytest.mark.parametrize("budget", [150, 200])
def test_a_finished_study_grows_to_what_would_have_been_made_at_once(
    tmp_path: Path, budget: int
) -> None:
    (tmp_path / "c.yaml").write_text(json.dumps(SHOTS))
    whole, grown = tmp_path / "whole", tmp_path / "grown"
    command = ["optimize", tmp_path / "c.yaml", "--solver", "random,spsa"]
    larger = ["--budget", budget, "--macroreps", 3]
    assert valmatch(*command, "--budget", 150, "--macroreps", 1, "--out", grown).code == 0
    made = (grown / "evaluations.csv").read_text().count("\n")
    assert valmatch(*command, *larger, "--out", grown, "--resume").code == 0
    assert valmatch(*command, *larger, "--out", whole).code == 0
    assert made < (grown / "evaluations.csv").read_text().count("\n")
    for name in GROWN:
        assert (grown / name).read_bytes() == (whole / name).read_bytes(), name
    manifests = [json.loads((one / "manifest.json").read_text()) for one in (grown, whole)]
    for key in ("budget", "macroreps", "runs", "status", "solver"):
        assert manifests[0][key] == manifests[1][key]
    for fewer in (["--macroreps", 1, "--budget", budget], ["--macroreps", 3, "--budget", 100]):
        done = valmatch(*command, *fewer, "--out", grown, "--resume")
        assert done.code == 2
        assert "holds a larger run" in done.err


@pytest.mark.slow
@pytest.mark.parametrize("torn", [0, 9])
@pytest.mark.parametrize(
    "kind", [(), ("--macroreps", 2), ("--sweep", "upper_time=30:60:15"), PARETO], ids=str
)
def test_a_study_that_was_cut_short_gives_the_same_answer(
    tmp_path: Path, kind: tuple[object, ...], torn: int
) -> None:
    of_solver = SMALL[:2] if kind == PARETO else SMALL
    command = ("optimize", "valorant-30min", *of_solver, *kind, "--out")
    whole, part = tmp_path / "whole", tmp_path / "part"
    for out in (whole, part):
        valmatch(*command, out)
    path = part / "evaluations.csv"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:50]) + lines[50][:torn])
    (part / "summary.json").unlink()
    valmatch(*command, part, "--resume")
    for file in whole.glob("*.csv"):
        assert (part / file.name).read_bytes() == file.read_bytes(), file.name
    assert (part / "summary.json").read_bytes() == (whole / "summary.json").read_bytes()


def test_another_problem_never_overwrites_results(tmp_path: Path) -> None:
    valmatch("optimize", "valorant-30min", *SMALL, "--out", tmp_path)
    done = valmatch("optimize", "valorant-20min", *SMALL, "--out", tmp_path)
    assert done.code == 2
    assert "holds the results of another run (problem_id" in done.err


@pytest.mark.slow
def test_time_is_up(tmp_path: Path) -> None:
    small = ["optimize", "valorant-30min", *SMALL, "--macroreps", 2]
    whole = valmatch(*small, "--json")
    stopped = valmatch(*small, "--max-time", "0.02", "--out", tmp_path)
    swept = valmatch(*small[:-2], "--sweep", "upper_time=20:30:5", "--max-time", "0.02")
    assert "out of time; --resume goes on" in stopped.err
    for done in (stopped, swept):
        assert (done.code, "out of time" in done.err) == (75, True)
    assert valmatch(*small, "--out", tmp_path, "--resume", "--json").out == whole.out
    # Also inside a single evaluation of any length.
    study = optimize("valorant-20min", "random", 10**9, max_seconds=1.0, out=tmp_path / "out")
    assert (study.status, study.summary()["runs"]) == ("out of time", 0)
    assert (tmp_path / "out" / "evaluations.csv").read_bytes().count(b"\n") > 10
    assert optimize("valorant-20min", "random", 100, max_seconds=600.0).status == "complete"


def test_a_damaged_journal_is_refused_where_it_is_damaged(tmp_path: Path) -> None:
    config = load_config("valorant-20min")
    optimize(config, "random", 100, out=tmp_path)
    path = tmp_path / "evaluations.csv"
    whole = path.read_text()
    lines = whole.splitlines(keepends=True)
    for bad in ("x\n", lines[9].replace(",", ";", 1), lines[9].rpartition(",")[0] + ",inf\n"):
        path.write_text("".join([*lines[:9], bad, *lines[10:]]))
        with pytest.raises(InputError, match=r"evaluations.csv:10: damaged"):
            optimize(config, "random", 100, out=tmp_path, resume=True)
    path.write_text(whole[1:])
    with pytest.raises(InputError, match=r"evaluations.csv:1: not the header"):
        optimize(config, "random", 100, out=tmp_path, resume=True)
    assert path.read_text() == whole[1:]


@pytest.mark.usefixtures("sectioned")
def test_sections_that_enter_the_draws_are_drawn_anew() -> None:
    for name, low, high in (("noise.std", 1.0, 2.0), ("noise.bias.0", 0.0, 3.0)):
        given = f"{{low: {low}, high: {high}, start: {low}}}"
        variables = f"optimize.variables={{{name}: {given}}}"
        config = load_config(SHOTS, [variables])
        evaluator = Evaluator(config, problem_of(config, build(config)), 1, 0, budget=10)
        assert (
            evaluator.evaluate(np.array([0.0]), 1)[0, 0]
            == run(build(config), 1, [0]).responses[0, 0]
        )
        changed = build(load_config(SHOTS, [f"{name}={high}"]))
        assert evaluator.evaluate(np.array([1.0]), 1)[0, 0] == run(changed, 1, [0]).responses[0, 0]


def test_what_is_recommended_is_a_config_that_runs(tmp_path: Path) -> None:
    problem = {
        "model": "valorant",
        "optimize": {
            "variables": {
                "poisson_rate.3": {"low": 10, "high": 40, "start": 20},
                "team_diff": {"low": 100, "high": 500, "start": 300},
            },
            "objective": {"diff": {"response": "avg_team_diff"}},
        },
    }
    study = optimize(problem, budget=100, out=tmp_path)
    assert study.verdict is not None
    factors = load_config(tmp_path / "recommended.yaml").factors.model_dump()
    rates = [*load_config("valorant").factors.model_dump()["poisson_rate"]]
    rates[3] = study.verdict.point["poisson_rate.3"]
    assert [*factors["poisson_rate"]] == rates
    assert factors["team_diff"] == study.verdict.point["team_diff"]
    impossible = load_config("valorant-30min", {"upper_time": 0.1})
    optimize(impossible, budget=120, out=tmp_path / "none")
    assert not (tmp_path / "none" / "recommended.yaml").exists()
