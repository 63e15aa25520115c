"""Runs of one or several solvers on the problem of a config: `valmatch.optimize`."""

from __future__ import annotations

import os
import pickle
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

from valmatch.config.config import Config
from valmatch.config.factor_paths import parts, replaced
from valmatch.config.identity import config_id, identity
from valmatch.config.loading import ConfigLike, load_config
from valmatch.config.writing import document
from valmatch.errors import InputError, option
from valmatch.execution.interruption import Stopped
from valmatch.execution.run_options import OptimizeArguments, first_given
from valmatch.execution.shards import WHOLE
from valmatch.inputs.options import takes
from valmatch.kernels.arrays import Floats
from valmatch.optimization.evaluation import Execution, Journal
from valmatch.optimization.post_analysis import COMPARISONS, post_analysis
from valmatch.optimization.problem import Problem
from valmatch.optimization.problem_of_config import scales_by_default, with_factors
from valmatch.optimization.solver_run import RUN, RunSpec, SolverRun, failures, run_solver
from valmatch.optimization.solvers.registry import AUTO, SolverFactory, algorithm, check
from valmatch.optimization.studies.parallel_runs import Job
from valmatch.optimization.studies.solver_comparison import columns_of, compare
from valmatch.optimization.studies.study import (
    BuiltProblem,
    Outcome,
    Runs,
    Study,
    StudySpec,
    common_fields,
    execute,
)
from valmatch.optimization.verdict import best_run, verdict
from valmatch.storage.output import write_atomically
from valmatch.text.terminal import shown

# Files of runs of solvers: what they looked at, and the config of the recommended point.

RECOMMENDED = "recommended.yaml"

# Files that models write with the values of the recommended point; see `Factors.rewritten`.
REWRITTEN = ("tuned_rules.json",)


def write_recommended(folder: Path, config: Config, point: Mapping[str, float], why: str) -> None:
    """Write the config with the variables of a point, ready to run, and files with its values."""
    factors = identity(config)["factors"]
    changed = config.factors.model_dump(mode="json")
    for name, value in point.items():
        changed = replaced(changed, parts(name), value)
        *sections, last = takewhile(lambda part: isinstance(part, str), parts(name))
        target, values = factors, changed
        for section in sections:
            target, values = target.setdefault(section, {}), values[section]
        target[last] = values[last]  # all of a list, though one entry is a variable
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
    rows: list[tuple[Any, ...]] = []
    for run in runs:
        changes: list[tuple[int, Floats]] = []
        for evaluation in run.evaluations:
            if not changes or (evaluation.incumbent != changes[-1][1]).any():
                changes.append((evaluation.spent, evaluation.incumbent))
        for spent, unit in [*changes, (run.spent, run.certificate.unit)]:
            rows.append((run.task.solver, run.task.macrorep, spent, *problem.values(unit)))
    return columns_of(("solver", "macrorep", "replications", *problem.names), rows)


def candidates(problem: Problem, runs: Sequence[SolverRun]) -> dict[str, list[Any]]:
    """Return a row for each point of a search, with its last means, and for each final one."""
    rows: list[tuple[Any, ...]] = []

    def add(run: SolverRun, stage: str, unit: Floats, n: int, mean: Floats) -> None:
        excesses = zip(problem.constraints.values(), mean[1:].tolist(), strict=True)
        means = [float(mean[0]), *(c.bound + c.sign * excess for c, excess in excesses)]
        point = problem.values(unit)
        rows.append((run.task.solver, run.task.macrorep, stage, *point, n, *means))

    for run in runs:
        last = {problem.values(seen.unit): seen for seen in run.evaluations}
        for seen in last.values():
            add(run, "search", seen.unit, seen.n, seen.mean)
        final = run.certificate
        add(run, "certified", final.unit, len(final.outcomes), final.adjusted.mean(axis=0))
    header = "solver", "macrorep", "stage", *problem.names, "n", "objective", *problem.constraints
    return columns_of(header, rows)


@dataclass(frozen=True, kw_only=True)
class SolverStudySpec(StudySpec):
    """Runs of one or several solvers that are to be made."""

    # the solvers by name, with what makes those that were given as functions
    solvers: Mapping[str, SolverFactory | None]

    def jobs(self, built: BuiltProblem) -> list[Job]:
        """Return the runs of the shard."""
        run = partial(run_solver, self.config, built.problem)
        return [
            Job(task.macrorep, task.macrorep * RUN, partial(run, task, self.settings))
            for task in self.tasks
        ]

    @property
    def tasks(self) -> list[RunSpec]:
        """The runs of the shard."""
        indices = self.shard.indices(self.size)
        return [
            RunSpec(name, index, factory)
            for name, factory in self.solvers.items()
            for index in indices
        ]

    def identity(self, built: BuiltProblem) -> dict[str, object]:
        """Return what two folders of one study have in common."""
        return {"solver": ",".join(self.solvers)}

    def summarise(
        self, built: BuiltProblem, made: Runs, execution: Execution, truths: Journal | None
    ) -> Outcome:
        """Compare the runs and say what they came to."""
        model, problem, runs = built.model, built.problem, [run for _, run in made]
        compared, analysed = not self.compares or not self.tasks, True
        tables = {"trajectory": trajectory(problem, runs), "candidates": candidates(problem, runs)}
        best = verdict(model, problem, runs, self.confidence)
        empty = {"recommended": None, "feasible": None}
        document: dict[str, Any] = {
            "solver": ",".join(self.solvers),
            "algorithm": ",".join(map(algorithm, self.solvers)),
            "budget": self.settings.budget,
            "spent": sum(run.spent for run in runs),
            "runs": len(runs),
            "requested": len(self.solvers) * self.size,
            **self.shard_entry,
            **scales_by_default(problem),
            **(best.verdict_entry() if best else empty),
        }
        solvers = {}
        if runs and self.compares:
            task = best_run(runs).task
            document["from"] = {"solver": task.solver, "run": task.macrorep}
            with suppress(Stopped):
                entry, tables["progress"] = compare(
                    self.config, problem, self.settings, runs, execution, truths
                )
                solvers, compared = {"solvers": entry}, True
        if best and self.shard == WHOLE:  # shards leave it to the whole
            analysed = False
            with suppress(Stopped):
                execution.check()
                entries, comparisons = post_analysis(
                    self.config, model, problem, best_run(runs), self.settings, execution.check
                )
                document, tables, analysed = document | entries, tables | comparisons, True
        complete = len(runs) == len(self.tasks) and compared and analysed
        counts = {"runs": len(runs)}
        return Outcome(document | solvers, complete, counts, tables, failures(runs))

    def write(self, study: Study, folder: Path) -> None:
        """Write the config of the recommended point."""
        # One from before, of a smaller budget, may be recommended no more.
        for name in (RECOMMENDED, *REWRITTEN, *COMPARISONS):
            (folder / name).unlink(missing_ok=True)
        best = study.verdict
        if best and best.feasible is not False:
            write_recommended(folder, self.config, best.point, best.why)


def study_spec(
    config: Config, options: OptimizeArguments, solvers: Sequence[str | SolverFactory]
) -> SolverStudySpec:
    """Return the study that runs solvers."""
    macroreps = first_given(options.macroreps, config.optimize.macroreps, 1)
    common, named = common_fields(config, options), check(solvers)
    return SolverStudySpec(
        **common,
        solvers=named,
        solver_names=list(named),
        size=macroreps,
        parts_in_words="runs of each solver",
        compares=len(named) * macroreps > 1,
        grows={"budget": common["settings"].budget, "macroreps": macroreps},
    )


def named_solvers(config: Config, solvers: str | None) -> list[str]:
    """Return the solvers that are named, by commas: as an option, in a config, or the default."""
    text = config.optimize.solver or AUTO if solvers is None else solvers
    return [name.strip() for name in text.split(",")]


@takes(OptimizeArguments)
def optimize(
    config: ConfigLike,
    solvers: str | SolverFactory | Sequence[str | SolverFactory] | None = None,
    budget: int | None = None,
    seed: int | None = None,
    **options: Any,  # noqa: ANN401
) -> Study:
    """Solve the problem of a config's `optimize` section by simulation.

    What is not given, the section may give.

    Parameters
    ----------
    config : Config or what `valmatch.load_config` takes
        What to optimise.
    solvers : str, callable or sequence of them
        Names of solvers; or functions (also classes) that are called with the `Problem`, the
        replications that the search may spend and a numpy Generator, and return an object with
        the methods `propose` and `observe`.
    budget : int or None
        Replications of a run, search and certification; None: 1000. When a study is over, the
        point that it recommends and the start get a twentieth of that each (10 to 1,000) beyond the
        budget; prices of constraints take half as many, and each as many and up to 140 more.
    seed : int or None
        Seed of all random numbers, >= 0; None: 1.
    **options

    Raises
    ------
    InputError
        If problem, solvers, budget or folder cannot be used.
    RunError
        If the run fails.
    """
    config = load_config(config)
    how = OptimizeArguments(budget=budget, seed=seed, **options).in_config(config.optimize)
    wanted = named_solvers(config, None) if solvers is None else solvers
    spec = study_spec(config, how, _several(wanted, how.uses_workers))
    assert not isinstance(how.shard, str)
    return execute(replace(spec, shard=how.shard or WHOLE), how)


def _several(
    solvers: str | SolverFactory | Sequence[str | SolverFactory], uses_workers: bool
) -> Sequence[str | SolverFactory]:
    """Return the names and functions that are given, of which workers can be given all."""
    several: Sequence[Any] = solvers if isinstance(solvers, list | tuple) else [solvers]
    if not several or not all(isinstance(solver, str) or callable(solver) for solver in several):
        what = "a name or a function, or several in a list"
        raise InputError(f"{option('solvers')}: {shown(solvers)} (allowed: {what})")
    for name, factory in check(several).items() if uses_workers else ():
        try:
            pickle.dumps(factory)
        except Exception:
            raise InputError(
                f"{option('solvers')}: {shown(name)} cannot be sent to worker processes (allowed: a"
                f" function or class that a module defines, or {option('workers=1')})"
            ) from None
    return several
