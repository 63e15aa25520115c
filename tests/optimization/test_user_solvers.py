"""Solvers of users: entry points, functions from Python, and all that they may do wrong."""

from __future__ import annotations

import json
import re
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import valmatch
from tests.support.command import success
from tests.support.command import valmatch as command
from tests.support.refusals import defined
from tests.support.sectioned_model import SHOTS
from valmatch import InputError, Problem
from valmatch.execution.run_options import OptimizeArguments
from valmatch.kernels.arrays import Floats
from valmatch.optimization.solver_run import HERE, SolverRun
from valmatch.optimization.solvers import registry
from valmatch.optimization.solvers.registry import SOLVERS
from valmatch.optimization.studies.solver_study import study_spec

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "own-solver.md"

pytestmark = pytest.mark.usefixtures("sectioned")


class Watched:
    """Proposes random points, five at a time, and keeps what it is told."""

    def __init__(self, problem: Problem, budget: int, rng: np.random.Generator) -> None:
        self.problem, self.budget, self.rng = problem, budget, rng
        self.told: list[tuple[Floats, Floats]] = []
        made.append(self)

    def propose(self) -> Any:  # noqa: ANN401
        """Return five points."""
        return self.rng.random((5, len(self.problem.variables)))

    def observe(self, points: Floats, values: Floats) -> None:
        """Note what it is told."""
        self.told.append((points, values))


made: list[Watched] = []


def runs_of(solvers: Any, macroreps: int = 1) -> list[SolverRun]:  # noqa: ANN401
    """Return the runs of solvers, of 200 replications each."""
    options = OptimizeArguments(budget=200, macroreps=macroreps)
    spec = study_spec(valmatch.load_config(SHOTS), options, solvers)
    return [job.make(HERE) for job in spec.jobs()]


def variant(name: str, **methods: Any) -> type[Watched]:  # noqa: ANN401
    """Return a solver with some methods replaced."""
    return type(name, (Watched,), methods)


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def test_a_solver_proposes_and_observes_until_its_budget_is_spent() -> None:
    made.clear()
    (run,) = runs_of([Watched])
    (solver,) = made
    assert [points.shape for points, _ in solver.told[:3]] == [(1, 2), (5, 2), (5, 2)]
    assert np.array_equal(solver.told[0][0][0], solver.problem.start)
    assert all(values.shape == (len(points), 2) for points, values in solver.told)
    looks = [one.n for one in run.evaluations]
    assert set(looks) == {looks[0]}
    assert run.evaluations[-1].spent + looks[0] > 140  # nothing more would have fitted
    assert solver.budget == 140 - looks[0]
    study = valmatch.optimize(SHOTS, Watched, 200)
    assert study.summary()["solver"] == "Watched"
    assert study.status == "complete"
    point = solver.told[1][0][2]
    mean = next(one.mean for one in run.evaluations if np.array_equal(one.unit, point))
    assert np.array_equal(mean, solver.told[1][1][2])


def _raise(self: Watched, *told: Any) -> Any:  # noqa: ANN401
    raise ZeroDivisionError("no luck")


def _leave(self: Watched) -> Any:  # noqa: ANN401
    sys.exit("gone")


BAD: list[tuple[dict[str, Any], str]] = [
    ({"propose": lambda self: [[0.5, 1.5]]}, "proposed 1.5 for rule.shots (allowed: from 0 to 1, "),
    ({"propose": lambda self: [[0.5, np.nan]]}, "proposed nan for rule.shots (allowed: from 0 "),
    ({"propose": lambda self: None}, "propose returned nothing (allowed: rows of 2 numbers from "),
    ({"propose": lambda self: [[1.0], [0.5, 0.5]]}, "propose returned [[1.0], [0.5, 0.5]] (allow"),
    ({"propose": lambda self: np.zeros((2, 2, 2))}, "propose returned an array of shape (2, 2, 2"),
    ({"propose": _raise}, "propose: ZeroDivisionError: no luck (this ended its search after "),
    ({"propose": _leave}, "propose: SystemExit: gone"),
    ({"observe": _raise}, "observe: ZeroDivisionError: no luck"),
    ({"__init__": _raise}, "ZeroDivisionError: no luck"),
    ({"replications": 0}, "replications is 0 (allowed: a whole number >= 1)"),
]


@pytest.mark.parametrize(("methods", "message"), BAD)
def test_what_a_solver_does_wrong_ends_its_search_and_is_said_in_one_line(
    methods: dict[str, Any], message: str
) -> None:
    study = valmatch.optimize(SHOTS, variant("Bad", **methods), 200)
    (line,) = study.failures
    assert line.startswith(f"solver Bad: {message}")
    assert "which count" in line
    assert "\n" not in line
    assert study.status == "failed"
    assert defined(study.verdict).objective.n > 10


def test_solvers_given_as_functions_need_names_of_their_own() -> None:
    for solvers in ([variant("random")], [variant("Twice"), variant("Twice")]):
        with pytest.raises(InputError, match="as is another solver"):
            valmatch.optimize(SHOTS, solvers, 200)
    for wrong in (7, [], [3]):
        with pytest.raises(InputError, match="solvers: "):
            valmatch.optimize(SHOTS, wrong, 200)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"<lambda>' cannot be sent to worker processes"):
        valmatch.optimize(SHOTS, lambda *given: Watched(*given), 200, macroreps=2, workers=2)


def _install(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """Let a solver be found as if its package were installed."""
    point = EntryPoint(name, value, registry.GROUP)
    monkeypatch.setitem(vars(SOLVERS), "others", {name: point})


@pytest.mark.slow
def test_a_solver_of_another_package_is_used_listed_and_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cloud.py").write_text(blocks("python")[0])
    monkeypatch.syspath_prepend(tmp_path)
    (name, value), *_ = re.findall(r'^(\w+) = "(.*)"$', blocks("toml")[0], re.MULTILINE)
    _install(monkeypatch, name, value)
    config = tmp_path / "c.yaml"
    config.write_text(json.dumps(SHOTS))
    out = tmp_path / "out"
    options = ["--solver", "random,cloud", "--budget", 200, "--macroreps", 2, "--out", out]
    done = success("optimize", config, *options)
    assert "solver: random, cloud\n" in done.out
    assert set(json.loads((out / "summary.json").read_text())["solvers"]) > {"random", "cloud"}
    assert "Normal steps around the best point, ever smaller." in command("solvers").out
    from valmatch.cli.options import complete_solver

    assert complete_solver("random,cl") == ["random,cloud"]


def test_a_solver_that_fails_on_the_command_line_is_one_line_and_exit_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lost.py").write_text("def Lost(problem, budget, rng):\n    raise OSError('no')\n")
    monkeypatch.syspath_prepend(tmp_path)
    _install(monkeypatch, "lost", "lost:Lost")
    config = tmp_path / "c.yaml"
    config.write_text(json.dumps(SHOTS))
    out = tmp_path / "out"
    options = ["--solver", "lost", "--budget", 200, "--out", out]
    done = command("optimize", config, *options)
    assert done.code == 1
    lines = done.err.splitlines()
    assert lines[0] == f"results in {out}"
    assert lines[1].startswith("solver lost: OSError: no (this ended its search after ")
    assert len(lines) == 2
    assert json.loads((out / "manifest.json").read_text())["status"] == "failed"
