"""An optimisation as a user asks for it: runs of solvers, their files, their summary."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from valmatch.config.config import Config
from valmatch.config.identity import config_id, problem_id
from valmatch.config.loading import ConfigLike, load
from valmatch.execution.interruption import stop_on_signal
from valmatch.optimization.journal import open_journal
from valmatch.optimization.parallel_runs import run_all
from valmatch.optimization.problem import Problem
from valmatch.optimization.problem_of_config import problem_of
from valmatch.optimization.run import Run, Settings, Task, check_budget
from valmatch.optimization.solver_comparison import Experiment, compare
from valmatch.optimization.solvers.registry import check
from valmatch.optimization.verdict import Verdict, verdict
from valmatch.simulator import build
from valmatch.storage.output import to_json, write_atomically, write_csv
from valmatch.storage.run_folder import RunFolder

__all__ = ["Study", "optimize"]


@dataclass(frozen=True)
class Study:
    """The runs of one or several solvers on one problem.

    Attributes
    ----------
    config, problem, settings : what was asked for
    tasks : the runs asked for
    runs : those that were made; fewer if the study was interrupted
    verdict : the best recommended point and what is known of it; None if no run was finished
    experiment : comparison of the solvers, if there are several runs
    stopped : why the study was stopped, "" if it was not
    """

    config: Config
    problem: Problem
    settings: Settings
    tasks: Sequence[Task]
    runs: Sequence[Run]
    verdict: Verdict | None
    experiment: Experiment | None
    stopped: str = ""

    @property
    def complete(self) -> bool:
        """Whether all runs were made."""
        return len(self.runs) == len(self.tasks)

    @property
    def status(self) -> str:
        """The status "complete", or why it is not."""
        return "complete" if self.complete else self.stopped

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        found = self.verdict.as_dict() if self.verdict else {"recommended": None, "feasible": None}
        result = {
            "model": self.config.model,
            "config_id": config_id(self.config),
            "problem_id": problem_id(self.config),
            "seed": self.settings.seed,
            "solver": ",".join(dict.fromkeys(task.solver for task in self.tasks)),
            "budget": self.settings.budget,
            "spent": sum(run.spent for run in self.runs),
            "runs": len(self.runs),
            "requested": len(self.tasks),
            **found,
        }
        if self.experiment:
            result["solvers"] = self.experiment.as_dict()
        return result


def optimize(
    config: ConfigLike,
    solvers: Sequence[str] = ("auto",),
    budget: int = 1000,
    seed: int = 1,
    *,
    macroreps: int = 1,
    workers: int = 1,
    confidence: float = 0.95,
    max_seconds: float = math.inf,
    out: Path | None = None,
    resume: bool = False,
    progress: Callable[[int], None] = lambda done: None,
    warn: Callable[[str], None] = lambda text: None,
) -> Study:
    """Solve the problem of a config's `optimize` section by simulation.

    Parameters
    ----------
    config : Config or what `valmatch.load` takes
        What to optimise.
    solvers : sequence of str
        Names of solvers.
    budget : int
        Replications of a run, search and certification.
    seed : int
        Seed of all random numbers, >= 0.
    macroreps : int
        Independent runs of each solver.
    workers : int
        Worker processes, one run each; no result depends on it.
    confidence : float
        Probability with which a point called feasible is so; level of the intervals.
    max_seconds : float
        Time after which to stop.
    out : Path or None
        Folder for the results.
    resume : bool
        Use the replications that an interrupted study left in `out`.
    progress, warn : callables
        Called with the number of further replications done; with each remark on the input.

    Raises
    ------
    InputError
        If problem, solvers, budget or folder cannot be used.
    RunError
        If the run fails.
    """
    config = load(config)
    model = build(config, warn=warn)
    problem = problem_of(config, model)
    for name in solvers:
        check(name)
    check_budget(budget)
    settings = Settings(budget, seed, 1.0 - confidence)
    tasks = [Task(solver, run) for solver, run in product(solvers, range(macroreps))]
    identity = {
        "problem_id": problem_id(config),
        "seed": seed,
        "solver": ",".join(solvers),
        "budget": budget,
        "macroreps": macroreps,
    }
    with ExitStack() as stack:
        folder, journal = open_journal(stack, out, config, problem, identity, resume)
        stop = stack.enter_context(stop_on_signal(max_seconds))
        made = run_all(config, problem, tasks, settings, workers, journal, progress, stop)
        runs = list(made)
        experiment = compare(config, problem, settings, runs) if len(runs) > 1 else None
        study = Study(
            config,
            problem,
            settings,
            tasks,
            runs,
            verdict(model, problem, runs, confidence),
            experiment,
            stop.reason,
        )
        if folder:
            _write(folder, study)
            folder.close(study.status, runs=len(runs))
    return study


def _write(folder: RunFolder, study: Study) -> None:
    """Write trajectory, candidates, progress and summary."""
    write_csv(folder.path / "trajectory.csv", _trajectory(study))
    write_csv(folder.path / "candidates.csv", _candidates(study))
    if study.experiment:
        write_csv(folder.path / "progress.csv", study.experiment.progress)
    with write_atomically(folder.path / "summary.json") as file:
        file.write(to_json(study.summary()))


def _trajectory(study: Study) -> dict[str, list[Any]]:
    """Return a row for each change of a run's incumbent, and for its recommended point."""
    names = [variable.name for variable in study.problem.variables]
    columns: dict[str, list[Any]] = {
        name: [] for name in ("solver", "macrorep", "replications", *names)
    }

    def add(run: Run, spent: int, unit: np.ndarray[Any, Any]) -> None:
        point = study.problem.point(unit)
        row = (run.task.solver, run.task.macrorep, spent, *point.values())
        for column, value in zip(columns.values(), row, strict=True):
            column.append(value)

    for run in study.runs:
        incumbent = None
        for one in run.evaluations:
            if incumbent is None or (one.incumbent != incumbent).any():
                incumbent = one.incumbent
                add(run, one.spent, incumbent)
        add(run, run.spent, run.certificate.unit)
    return columns


def _candidates(study: Study) -> dict[str, list[Any]]:
    """Return a row for each point of a search, with its last means, and each recommended one."""
    problem = study.problem
    names = [variable.name for variable in problem.variables]
    means = ["objective", *(constraint.name for constraint in problem.constraints)]
    rows: list[tuple[Any, ...]] = []
    for run in study.runs:
        last = {tuple(problem.point(one.unit).values()): one for one in run.evaluations}
        for point, one in last.items():
            shown = problem.shown(one.mean)
            rows.append((run.task.solver, run.task.macrorep, "search", *point, one.n, *shown))
        final = run.certificate
        shown = problem.shown(final.outcomes.mean(axis=0))
        point = tuple(problem.point(final.unit).values())
        head = (run.task.solver, run.task.macrorep, "certified")
        rows.append((*head, *point, len(final.outcomes), *shown))
    header = ("solver", "macrorep", "stage", *names, "n", *means)
    return {name: [row[k] for row in rows] for k, name in enumerate(header)}
