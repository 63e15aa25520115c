"""Files of runs of solvers: what they looked at, and the config of the recommended point."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

from valmatch.config.config import Config
from valmatch.config.factor_paths import parts, replaced
from valmatch.config.identity import config_id, identity
from valmatch.config.writing import document
from valmatch.optimization.problem import Problem
from valmatch.optimization.problem_of_config import with_factors
from valmatch.optimization.solver_run import SolverRun
from valmatch.optimization.studies.solver_comparison import columns_of
from valmatch.storage.output import write_atomically

RECOMMENDED = "recommended.yaml"

REWRITTEN = ("tuned_rules.json",)
"""Files that models write with the values of the recommended point; see `Factors.rewritten`."""


def write_recommended(folder: Path, config: Config, point: Mapping[str, float], why: str) -> None:
    """Write the config with the variables of a point, ready to run, and files with its values."""
    factors = identity(config)["factors"]
    whole = config.factors.model_dump(mode="json")
    for name, value in point.items():
        whole = replaced(whole, parts(name), value)
        *sections, last = takewhile(lambda part: isinstance(part, str), parts(name))
        given, values = factors, whole
        for section in sections:
            given, values = given.setdefault(section, {}), values[section]
        given[last] = values[last]  # a list as a whole, though one entry is a variable
    files = {key: os.path.relpath(file.path, folder) for key, file in config.files.items()}
    head = f"Recommended by valmatch optimize for config {config_id(config)}: {why}."
    with write_atomically(folder / RECOMMENDED) as file:
        file.write(document(head, config.model, factors, **files))
    read = {key: file.path for key, file in config.files.items()}
    for name, text in with_factors(config, point).rewritten(read).items():
        with write_atomically(folder / name) as file:
            file.write(text)


def trajectory(problem: Problem, runs: Sequence[SolverRun]) -> dict[str, list[Any]]:
    """Return a row for each change of a run's incumbent, and for the point it came to."""
    names = [variable.name for variable in problem.variables]
    rows: list[tuple[Any, ...]] = []
    for run in runs:
        incumbent = None
        changes = []
        for evaluation in run.evaluations:
            if incumbent is None or (evaluation.incumbent != incumbent).any():
                incumbent = evaluation.incumbent
                changes.append((evaluation.spent, incumbent))
        for spent, unit in [*changes, (run.spent, run.certificate.unit)]:
            rows.append((run.task.solver, run.task.macrorep, spent, *problem.point(unit).values()))
    return columns_of(("solver", "macrorep", "replications", *names), rows)


def candidates(problem: Problem, runs: Sequence[SolverRun]) -> dict[str, list[Any]]:
    """Return a row for each point of a search, with its last means, and for each final one."""
    names = [variable.name for variable in problem.variables]
    means = ["objective", *(constraint.name for constraint in problem.constraints)]
    rows: list[tuple[Any, ...]] = []
    for run in runs:
        head = run.task.solver, run.task.macrorep
        last = {tuple(problem.point(seen.unit).values()): seen for seen in run.evaluations}
        for point, seen in last.items():
            rows.append((*head, "search", *point, seen.n, *problem.shown(seen.mean)))
        final = run.certificate
        point = tuple(problem.point(final.unit).values())
        shown = problem.shown(final.adjusted.mean(axis=0))
        rows.append((*head, "certified", *point, len(final.outcomes), *shown))
    return columns_of(("solver", "macrorep", "stage", *names, "n", *means), rows)
