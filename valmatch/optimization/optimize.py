"""An optimisation as a user asks for it: runs of solvers, their files, their summary."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from valmatch.config.config import Config
from valmatch.config.identity import config_id, problem_id
from valmatch.config.loading import ConfigLike, load
from valmatch.errors import InputError, option
from valmatch.execution.interruption import Stop, stop_on_signal
from valmatch.execution.listeners import Listeners
from valmatch.execution.run_options import RunOptions, ShardKeywords, split
from valmatch.execution.shards import WHOLE, Shard
from valmatch.execution.simulator import build
from valmatch.inputs import arguments
from valmatch.kernels.halting import Stopped
from valmatch.models.model import Model
from valmatch.optimization.afterwards import AGAINST_START, AGAINST_TODAY, Afterwards, afterwards
from valmatch.optimization.asked import Asked, Kept
from valmatch.optimization.crew import Crew
from valmatch.optimization.parallel_runs import hire, run_all
from valmatch.optimization.problem import Problem
from valmatch.optimization.problem_of_config import found_scales, problem_of
from valmatch.optimization.recommended import RECOMMENDED, write_recommended
from valmatch.optimization.run import RunSpec, Settings, SolverRun, failures
from valmatch.optimization.solver_comparison import SolverComparison, compare
from valmatch.optimization.solvers.own import SolverFactory
from valmatch.optimization.solvers.registry import AUTO, algorithm, check
from valmatch.optimization.verdict import Verdict, best_run, verdict
from valmatch.storage.output import to_json, write_atomically, write_csv
from valmatch.storage.results import Result
from valmatch.storage.run_folder import RunFolder
from valmatch.text.terminal import shown

DEFAULT_BUDGET = 1000


@dataclass(frozen=True, repr=False)
class Study(Result):
    """The runs of one or several solvers on one problem.

    Attributes
    ----------
    config, problem, settings : Config
        What was asked for.
    solvers : sequence of str
        Names of the solvers.
    tasks : sequence of RunSpec
        The runs asked for, of the shard.
    runs : sequence of SolverRun
        Those that were made; fewer if the study was interrupted.
    verdict : Verdict or None
        The best point found and what is known of it; None if no run was finished.
    comparison : SolverComparison or None
        Comparison of the solvers, if there are several runs.
    stopped : str
        Why the study was stopped, "" if it was not.
    afterwards : Afterwards or None
        The recommended point beside the start, and what constraints cost; None where nothing is
        recommended, or the study was stopped before.
    shard : Shard
        The part of the runs that this study makes.
    requested : int
        The number of runs in all shards together.
    """

    config: Config
    problem: Problem
    settings: Settings
    solvers: Sequence[str]
    tasks: Sequence[RunSpec]
    runs: Sequence[SolverRun]
    verdict: Verdict | None
    comparison: SolverComparison | None
    stopped: str = ""
    folder: Path | None = None
    afterwards: Afterwards | None = None
    shard: Shard = WHOLE
    requested: int = 1

    @property
    def title(self) -> str:
        """What was optimised and what came of it, in one line."""
        found = self.summary()
        feasible = {True: "yes", False: "no"}.get(found["feasible"], str(found["feasible"]))
        return (
            f"{self.config.model}, config {config_id(self.config)}, seed {self.settings.seed},"
            f" budget {self.settings.budget:,}, {len(self.runs)} of {len(self.tasks)} runs;"
            f" feasible: {feasible}"
        )

    def columns(self) -> dict[str, list[Any]]:
        """Return the point that was found, then its means on fresh replications."""
        if self.verdict is None:
            return {"name": [], "value": [], "ci_low": [], "ci_high": []}
        found = self.verdict
        means = [("objective", found.objective)]
        means += [(constraint.response, mean) for constraint, mean in found.constraints]
        return {
            "name": [*found.point, *(name for name, _ in means)],
            "value": [*found.point.values(), *(mean.mean for _, mean in means)],
            "ci_low": [None] * len(found.point) + [mean.ci_low for _, mean in means],
            "ci_high": [None] * len(found.point) + [mean.ci_high for _, mean in means],
        }

    @property
    def complete(self) -> bool:
        """Whether all runs were made, compared if there are several, and looked back upon."""
        compared = self.comparison is not None or self.requested < 2 or not self.tasks
        looked_back = self.afterwards is not None or not self.recommends
        return len(self.runs) == len(self.tasks) and compared and looked_back

    @property
    def recommends(self) -> bool:
        """Whether the point that was found is recommended, which a shard leaves to the whole."""
        found = self.verdict
        return self.shard == WHOLE and found is not None and found.feasible is not False

    @property
    def failures(self) -> list[str]:
        """A line for each solver of one's own that did what it may not."""
        return failures(self.runs)

    @property
    def status(self) -> str:
        """The status "complete", or why it is not; "failed" where a solver of one's own did."""
        if not self.complete:
            return self.stopped
        return "failed" if self.failures else "complete"

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        found = self.verdict.as_dict() if self.verdict else {"recommended": None, "feasible": None}
        result = {
            "model": self.config.model,
            "config_id": config_id(self.config),
            "problem_id": problem_id(self.config),
            "seed": self.settings.seed,
            "solver": ",".join(self.solvers),
            "algorithm": ",".join(map(algorithm, self.solvers)),
            "budget": self.settings.budget,
            "spent": sum(run.spent for run in self.runs),
            "runs": len(self.runs),
            "requested": self.requested,
            **({} if self.shard == WHOLE else {"shard": str(self.shard)}),
            **found_scales(self.config),
            **found,
            **(self.afterwards.as_dict() if self.afterwards else {}),
        }
        if self.comparison:
            result["solvers"] = self.comparison.as_dict()
        return result


def optimize(
    config: ConfigLike,
    solvers: str | SolverFactory | Sequence[str | SolverFactory] = AUTO,
    budget: int = DEFAULT_BUDGET,
    seed: int = 1,
    *,
    macroreps: int = 1,
    confidence: float = 0.95,
    **keywords: Unpack[ShardKeywords],
) -> Study:
    """Solve the problem of a config's `optimize` section by simulation.

    Parameters
    ----------
    config : Config or what `valmatch.load` takes
        What to optimise.
    solvers : str, callable or sequence of them
        Names of solvers; or functions (also classes) that are called with the `Problem`, the
        replications that the search may spend and a numpy Generator, and return an object with
        the methods `propose` and `observe`.
    budget : int
        Replications of a run, search and certification. When a study is over, the point that it
        recommends and the start get a twentieth of that each (10 to 1,000) beyond the budget, and
        the price of each constraint one and a half times as many and up to 170 more; see
        `Study.afterwards`.
    seed : int
        Seed of all random numbers, >= 0.
    macroreps : int
        Independent runs of each solver.
    confidence : float
        Probability with which a point called feasible is so; level of the intervals.
    **keywords
        How to work and whom to tell:

        workers : int
            Workers: several runs are made at once, in processes; a single run has the replications
            of its larger evaluations shared among them. No result depends on it.
        executor, scheduler : str or None
            As of `valmatch.replicate`; on Dask, too, several runs are made at once.
        shard : Shard or str
            The runs to make, ``"I/K"``: every K-th one of each solver from I on.
        max_seconds : float
            Time after which to stop.
        out : PathLike or None
            Folder for the results.
        resume : bool
            Use the replications that an interrupted study left in `out`, or a finished one with
            fewer `macroreps` or a smaller `budget`.
        progress, warn, detail : callables
            Called with the number of further replications done; with each remark on the input;
            with the number of workers.

    Raises
    ------
    InputError
        If problem, solvers, budget or folder cannot be used.
    RunError
        If the run fails.
    """
    config = load(config)
    options, listeners = split(keywords, ShardKeywords)
    return optimize_config(config, solvers, budget, seed, macroreps, confidence, options, listeners)


def optimize_config(
    config: Config,
    solvers: str | SolverFactory | Sequence[str | SolverFactory],
    budget: int,
    seed: int,
    macroreps: int,
    confidence: float,
    options: RunOptions,
    listeners: Listeners,
) -> Study:
    """Solve the problem of a config; see `optimize`."""
    named = _named(solvers, options.elsewhere)
    arguments.whole("budget", budget)
    arguments.whole("seed", seed)
    arguments.whole("macroreps", macroreps)
    arguments.level("confidence", confidence)
    model = build(config, warn=listeners.warn)
    problem = problem_of(config, model)
    settings = Settings(budget, seed, 1.0 - confidence)
    asked = Asked(config, problem, settings, named, macroreps, confidence, options.shard)
    jobs = [(problem, task) for task in asked.tasks]
    with ExitStack() as stack:
        stop = stack.enter_context(stop_on_signal(options.max_seconds))
        hired = stack.enter_context(hire(config, len(jobs), stop, options, listeners))
        kept = stack.enter_context(asked.kept_in(options.out, options.resume))
        made = run_all(config, jobs, settings, hired, kept.journal, listeners.progress, stop)
        return conclude(asked, model, list(made), kept, stop, hired.crew)


def conclude(
    asked: Asked,
    model: Model[object],
    runs: Sequence[SolverRun],
    kept: Kept,
    stop: Stop,
    crew: Crew | None = None,
    stopped: str = "",
) -> Study:
    """Compare runs and say what they came to; write that if there is a folder.

    Parameters
    ----------
    asked : Asked
        What was asked for.
    model : Model
        Of its config.
    runs : sequence of SolverRun
        The runs that were made, in their order.
    kept : Kept
        Where files go.
    stop : Stop
        Says when it is time, and why the study was stopped.
    crew : Crew or None
        Shares the replications by which solvers are compared.
    stopped : str
        Why runs are missing, if that is not for `stop` to say.
    """
    comparison = None
    if runs and asked.requested > 1:
        with suppress(Stopped):
            comparison = compare(
                asked.config, asked.problem, asked.settings, runs, stop.check, crew, kept.judged
            )
    study = Study(
        asked.config,
        asked.problem,
        asked.settings,
        list(asked.solvers),
        asked.tasks,
        runs,
        verdict(model, asked.problem, runs, asked.confidence),
        comparison,
        folder=kept.folder.path if kept.folder else None,
        shard=asked.shard,
        requested=asked.requested,
    )
    if study.recommends:
        with suppress(Stopped):
            stop.check()
            best = best_run(runs)
            found = afterwards(asked.config, model, asked.problem, best, asked.settings, stop.check)
            study = replace(study, afterwards=found)
    study = replace(study, stopped=stopped or stop.reason)
    if kept.folder:
        if study.complete:
            kept.settle()
        _write(kept.folder, study)
        kept.folder.close(study.status, runs=len(runs))
    return study


def _named(
    solvers: str | SolverFactory | Sequence[str | SolverFactory], elsewhere: bool
) -> Mapping[str, SolverFactory | None]:
    """Return the solvers by name, those that are given as functions with them."""
    several: Sequence[Any] = solvers if isinstance(solvers, list | tuple) else [solvers]
    if not several or not all(isinstance(one, str) or callable(one) for one in several):
        what = "a name or a function, or several in a list"
        raise InputError(f"{option('solvers')}: {shown(solvers)} (allowed: {what})")
    named = check(several)
    for name, factory in named.items():
        if elsewhere and factory is not None and not _travels(factory):
            raise InputError(
                f"{option('solvers')}: {shown(name)} cannot be sent to worker processes (allowed: a"
                f" function or class that a module defines, or {option('workers=1')})"
            )
    return named


def _travels(factory: SolverFactory) -> bool:
    """Return whether other processes can be given a function."""
    try:
        pickle.dumps(factory)
    except Exception:
        return False
    return True


def _write(folder: RunFolder, study: Study) -> None:
    """Write trajectory, candidates, progress, the recommended config and summary."""
    write_csv(folder.path / "trajectory.csv", _trajectory(study))
    write_csv(folder.path / "candidates.csv", _candidates(study))
    if study.comparison:
        write_csv(folder.path / "progress.csv", study.comparison.progress)
    # One from before, of a smaller budget, may be recommended no more.
    for name in (RECOMMENDED, AGAINST_START, AGAINST_TODAY):
        (folder.path / name).unlink(missing_ok=True)
    if study.verdict and study.recommends:
        found = study.verdict
        write_recommended(folder.path, study.config, found.point, found.why)
    if study.afterwards:
        study.afterwards.write(folder.path)
    with write_atomically(folder.path / "summary.json") as file:
        file.write(to_json(study.summary()))


def _trajectory(study: Study) -> dict[str, list[Any]]:
    """Return a row for each change of a run's incumbent, and for the point it came to."""
    names = [variable.name for variable in study.problem.variables]
    columns: dict[str, list[Any]] = {
        name: [] for name in ("solver", "macrorep", "replications", *names)
    }

    def add(run: SolverRun, spent: int, unit: np.ndarray[Any, Any]) -> None:
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
    """Return a row for each point of a search, with its last means, and for each final one."""
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
        shown = problem.shown(final.adjusted.mean(axis=0))
        point = tuple(problem.point(final.unit).values())
        head = (run.task.solver, run.task.macrorep, "certified")
        rows.append((*head, *point, len(final.outcomes), *shown))
    header = ("solver", "macrorep", "stage", *names, "n", *means)
    return {name: [row[k] for row in rows] for k, name in enumerate(header)}
