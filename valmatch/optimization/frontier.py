"""The trade-off between the objective and a bound or weight: one solution for each value."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from valmatch.config import arguments
from valmatch.config.config import Config
from valmatch.config.identity import config_id, problem_id
from valmatch.config.limits import LARGEST
from valmatch.config.numerals import real_number
from valmatch.config.spans import MOST, span
from valmatch.durations import in_unit
from valmatch.errors import InputError, option
from valmatch.execution.interruption import Stopped, stop_on_signal
from valmatch.model import Model
from valmatch.nearest import hint
from valmatch.optimization.journal import open_journal
from valmatch.optimization.prices import quotients
from valmatch.optimization.problem import Problem
from valmatch.optimization.problem_of_config import problem_of
from valmatch.optimization.run import RunSpec, Settings, SolverRun, failures, run_solver
from valmatch.optimization.solvers.registry import algorithm, check
from valmatch.optimization.verdict import Verdict, verdict
from valmatch.printable import shortened, shown
from valmatch.simulator import build
from valmatch.statistics.estimates import Estimate
from valmatch.storage.output import to_json, write_atomically, write_csv
from valmatch.storage.results import Result

__all__ = ["Frontier", "Sweep", "parse_sweep", "trace_frontier"]


@dataclass(frozen=True)
class Sweep:
    """The values of one bound or weight.

    Attributes
    ----------
    text : str
        As it was given.
    name : str
        The constraint or the term of the objective.
    points : sequence of float
        The values in order.
    """

    text: str
    name: str
    points: Sequence[float]


@dataclass(frozen=True, repr=False)
class Frontier(Result):
    """The best certified point for each value.

    Attributes
    ----------
    config, sweep, solver, settings : Config
        What was asked for.
    verdicts : sequence of Verdict
        One for each value; fewer if the sweep was stopped.
    failures : sequence of str
        A line if a solver of one's own did what it may not.
    stopped : str
        Why it was stopped, "" if it was not.
    prices : sequence of tuple
        Where a bound is swept: each two certified values that follow one another, and the change
        of the objective per unit of the bound between them.
    """

    config: Config
    sweep: Sweep
    solver: str
    settings: Settings
    verdicts: Sequence[Verdict]
    failures: Sequence[str] = ()
    stopped: str = ""
    folder: Path | None = None
    prices: Sequence[tuple[float, float, Estimate]] = ()

    @property
    def title(self) -> str:
        """What was solved for, in one line."""
        of = f"{self.config.model}, config {config_id(self.config)}, seed {self.settings.seed}"
        return f"{of}, {self.solver} for each {self.sweep.name}"

    @property
    def complete(self) -> bool:
        """Whether all values were solved for."""
        return len(self.verdicts) == len(self.sweep.points)

    @property
    def status(self) -> str:
        """The status "complete", or why it is not; "failed" where a solver of one's own did."""
        if not self.complete:
            return self.stopped
        return "failed" if self.failures else "complete"

    @property
    def feasible(self) -> list[bool]:
        """Whether each point is certified."""
        return [one.feasible is True for one in self.verdicts]

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        values = zip(self.sweep.points, self.verdicts, strict=False)
        return {
            "model": self.config.model,
            "config_id": config_id(self.config),
            "problem_id": problem_id(self.config),
            "seed": self.settings.seed,
            "solver": self.solver,
            "algorithm": algorithm(self.solver),
            "budget": self.settings.budget,
            "sweep": self.sweep.name,
            "frontier": [{self.sweep.name: value, **one.as_dict()} for value, one in values],
            "prices": [
                {"from": low, "to": high, "objective_per_unit_of_bound": slope.as_dict()}
                for low, high, slope in self.prices
            ],
        }

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of ``frontier.csv``: a row for each value."""
        rows = []
        for value, one in zip(self.sweep.points, self.verdicts, strict=False):
            found = one.objective
            row = {
                f"sweep.{self.sweep.name}": value,
                "feasible": one.as_dict()["feasible"],
                **one.point,
                "objective": found.mean,
                "objective_low": found.ci_low,
                "objective_high": found.ci_high,
            }
            for constraint, mean in one.constraints:
                row[constraint.response] = mean.mean
                row[f"{constraint.response}_low"] = mean.ci_low
                row[f"{constraint.response}_high"] = mean.ci_high
            rows.append({**row, "n": found.n})
        return {name: [row[name] for row in rows] for name in (rows[0] if rows else [])}


def parse_sweep(config: Config, text: str) -> Sweep:
    """Parse ``NAME=FIRST:LAST:STEP`` or ``NAME=VALUE,VALUE,...``; durations may have a unit.

    LAST belongs to the values if a step ends there.

    Raises
    ------
    InputError
        If it is not of either form, or NAME is neither a constraint nor a term of the objective.
    """
    name, _, ends = text.partition("=")
    names = [*config.optimize.constraints, *config.optimize.objective]
    if name not in names:
        what = f"{shown(name)} is no constraint and no term ({hint(name, names)})"
        raise InputError(f"{option('sweep')} {shortened(text)}: {what}")
    between = ":" if ":" in ends else ","
    values = ends.split(between)
    if any(real_number(one.strip()) is None for one in values):
        unit = _unit(config, name)
        values = [str(in_unit(one, unit)) for one in values]
    points = span(between.join(values)) if between == ":" else _listed(values)
    if points is None:
        raise InputError(
            f"{option('sweep')} {shortened(text)}: not of the form NAME=FIRST:LAST:STEP (as in"
            " 10:60:5; numbers up to 1e100, at most 10,000 values) or NAME=VALUE,VALUE,..., each"
            " once"
        )
    return Sweep(text, name, points)


def _unit(config: Config, name: str) -> str:
    """Return the unit of a bound; "" for a weight."""
    bounds = config.optimize.constraints
    if name not in bounds:
        return ""
    units = {one.name: one.unit for one in build(config).responses}
    return units.get(bounds[name].response, "")


def _listed(values: Sequence[str]) -> list[float] | None:
    """Return values that are written one by one, each once; None if that is not what they are."""
    numbers = [real_number(value.strip()) for value in values]
    if not all(number is not None and abs(number) <= LARGEST for number in numbers):
        return None
    points = [number for number in numbers if number is not None]
    return points if len(set(points)) == len(points) <= MOST else None


def trace_frontier(
    config: Config,
    sweep: Sweep,
    solver: str,
    budget: int,
    seed: int,
    *,
    workers: int = 1,
    confidence: float = 0.95,
    max_seconds: float = math.inf,
    out: Path | None = None,
    resume: bool = False,
    progress: Callable[[int], None] = lambda done: None,
    warn: Callable[[str], None] = lambda text: None,
) -> Frontier:
    """Solve a problem for each value of a sweep, each search starting from the last solution.

    Parameters are those of `valmatch.optimize`; the searches follow one another,
    so that `workers` are of no use here.
    """
    model = build(config, warn=warn)
    if workers > 1:
        warn(
            f"{option('workers')} has no effect on a sweep: each search starts from the last"
            " solution"
        )
    problem = problem_of(config, model)
    check([solver])
    arguments.whole("budget", budget)
    settings = Settings(budget, seed, 1.0 - confidence)
    identity = {
        "problem_id": problem_id(config),
        "seed": seed,
        "solver": solver,
        "budget": budget,
        "sweep": sweep.text,
    }
    verdicts: list[Verdict] = []
    runs: list[SolverRun] = []
    start = None
    with ExitStack() as stack:
        folder, journal = open_journal(stack, out, config, problem, identity, resume)
        stop = stack.enter_context(stop_on_signal(max_seconds))
        with suppress(Stopped):
            for value in sweep.points:
                posed, task = _posed(problem, sweep.name, value), RunSpec(solver, 0, start)
                run = run_solver(config, posed, task, settings, journal, progress, stop.check)
                found = verdict(model, posed, [run], confidence)
                assert found is not None
                verdicts.append(found)
                runs.append(run)
                start = run.certificate.unit
        frontier = Frontier(
            config,
            sweep,
            solver,
            settings,
            verdicts,
            failures(runs),
            stop.reason,
            out,
            _prices(config, model, sweep, verdicts, runs, confidence),
        )
        if folder:
            write_csv(folder.path / "frontier.csv", frontier.columns())
            with write_atomically(folder.path / "summary.json") as file:
                file.write(to_json(frontier.summary()))
            folder.close(frontier.status, points=len(verdicts))
    return frontier


def _prices(
    config: Config,
    model: Model[object],
    sweep: Sweep,
    verdicts: Sequence[Verdict],
    runs: Sequence[SolverRun],
    confidence: float,
) -> list[tuple[float, float, Estimate]]:
    """Return what a swept bound costs; the runs tested their points on the same replications."""
    if sweep.name not in config.optimize.constraints:
        return []
    made = zip(sweep.points, verdicts, runs, strict=False)
    certified = [(value, run) for value, found, run in made if found.feasible is True]
    objectives = [run.certificate.outcomes[:, 0] for _, run in certified]
    if config.one_history:
        objectives = [one[:1] for one in objectives]
    return quotients([value for value, _ in certified], objectives, model.sampling, confidence)


def _posed(problem: Problem, name: str, value: float) -> Problem:
    """Return the problem with another bound or weight."""
    terms = [replace(t, weight=value) if t.name == name else t for t in problem.terms]
    constraints = [replace(c, bound=value) if c.name == name else c for c in problem.constraints]
    return replace(problem, terms=terms, constraints=constraints)
