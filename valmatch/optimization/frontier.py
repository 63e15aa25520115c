"""The trade-off between the objective and a bound or weight: one solution for each value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from valmatch.config.config import Config
from valmatch.config.identity import config_id, problem_id
from valmatch.errors import InputError, option
from valmatch.execution.interruption import stop_on_signal
from valmatch.execution.listeners import NO_LISTENERS, Listeners
from valmatch.execution.run_options import DEFAULT_OPTIONS, RunOptions
from valmatch.execution.shards import WHOLE, Shard
from valmatch.execution.simulator import build
from valmatch.experiments.design import MOST_LEVELS, span
from valmatch.inputs import arguments
from valmatch.inputs.limits import LARGEST
from valmatch.models.model import Model
from valmatch.optimization.evaluation import Evaluator
from valmatch.optimization.journal import FileJournal, open_journal
from valmatch.optimization.parallel_runs import Job, hire, run_all
from valmatch.optimization.prices import quotients
from valmatch.optimization.problem import Problem
from valmatch.optimization.problem_of_config import found_scales, problem_of
from valmatch.optimization.run import STAGE, RunSpec, Settings, SolverRun, failures
from valmatch.optimization.selection import Certificate
from valmatch.optimization.solvers.registry import algorithm, check
from valmatch.optimization.verdict import Verdict, verdict
from valmatch.statistics.estimates import Estimate
from valmatch.statistics.no_interval import reason_of_each, why_no_interval
from valmatch.storage.output import to_json, write_atomically, write_csv
from valmatch.storage.results import Result
from valmatch.storage.run_folder import RunFolder
from valmatch.text.durations import in_unit
from valmatch.text.numerals import real_number
from valmatch.text.suggestions import hint
from valmatch.text.terminal import shortened, shown


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
    shard : Shard
        The part of the values that was solved for.
    solved : mapping of int to Verdict
        By the place of the value in the sweep, in order; fewer if the sweep was stopped.
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
    shard: Shard
    solved: Mapping[int, Verdict]
    failures: Sequence[str] = ()
    stopped: str = ""
    folder: Path | None = None
    prices: Sequence[tuple[float, float, Estimate]] = ()

    @property
    def no_interval(self) -> str:
        """Why some numbers have no interval, "" if all have one."""
        reasons = {f"{self.sweep.name} {value:g}": one.no_interval for value, one in self.verdicts}
        common = reason_of_each(reasons)
        if common and common in reasons.values():  # that of prices, too
            return common
        reasons |= {
            f"between {low:g} and {high:g}": why_no_interval({"the price": slope}, "")
            for low, high, slope in self.prices
        }
        return reason_of_each(reasons)

    @property
    def title(self) -> str:
        """What was solved for, in one line."""
        of = f"{self.config.model}, config {config_id(self.config)}, seed {self.settings.seed}"
        return f"{of}, {self.solver} for each {self.sweep.name}"

    @property
    def complete(self) -> bool:
        """Whether all values were solved for."""
        return len(self.solved) == len(self.shard.indices(len(self.sweep.points)))

    @property
    def status(self) -> str:
        """The status "complete", or why it is not; "failed" where a solver of one's own did."""
        if not self.complete:
            return self.stopped
        return "failed" if self.failures else "complete"

    @property
    def verdicts(self) -> list[tuple[float, Verdict]]:
        """The values that were solved for, each with what was found."""
        return [(self.sweep.points[place], found) for place, found in self.solved.items()]

    @property
    def feasible(self) -> list[bool]:
        """Whether each point is certified."""
        return [one.feasible is True for one in self.solved.values()]

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        return {
            "model": self.config.model,
            "config_id": config_id(self.config),
            "problem_id": problem_id(self.config),
            "seed": self.settings.seed,
            "solver": self.solver,
            "algorithm": algorithm(self.solver),
            "budget": self.settings.budget,
            "sweep": self.sweep.name,
            **found_scales(self.config),
            **({} if self.shard == WHOLE else {"shard": str(self.shard)}),
            "frontier": [{self.sweep.name: value, **one.as_dict()} for value, one in self.verdicts],
            **({"no_interval": self.no_interval} if self.no_interval else {}),
            "prices": [
                {"from": low, "to": high, "objective_per_unit_of_bound": slope.as_dict()}
                for low, high, slope in self.prices
            ],
        }

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of ``frontier.csv``: a row for each value."""
        rows = []
        for value, one in self.verdicts:
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
            remarks = "; ".join(one.remarks())
            rows.append({**row, "n": found.n, "remarks": remarks})
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
    return points if len(set(points)) == len(points) <= MOST_LEVELS else None


@dataclass(frozen=True)
class AskedFrontier:
    """What a sweep is to make.

    Attributes
    ----------
    config, problem, settings : Config, Problem, Settings
        What is solved, and what all runs have in common.
    sweep : Sweep
        The values.
    solver : str
        What solves for each of them.
    confidence : float
        Level of the intervals.
    shard : Shard
        The values to solve for.
    """

    config: Config
    problem: Problem
    settings: Settings
    sweep: Sweep
    solver: str
    confidence: float
    shard: Shard = WHOLE

    @property
    def jobs(self) -> dict[int, Job]:
        """The runs of the shard by place; all start alike, so that none waits for another."""
        name, values, task = self.sweep.name, self.sweep.points, RunSpec(self.solver, 0)
        places = self.shard.indices(len(values))
        return {place: (_posed(self.problem, name, values[place]), task) for place in places}

    @contextmanager
    def kept_in(
        self, out: Path | None, resume: bool
    ) -> Iterator[tuple[RunFolder | None, FileJournal | None]]:
        """Claim a folder for the files of the sweep, if there is one."""
        identity = {
            "problem_id": problem_id(self.config),
            "seed": self.settings.seed,
            "solver": self.solver,
            "budget": self.settings.budget,
            "sweep": self.sweep.text,
            "shard": None if self.shard == WHOLE else str(self.shard),
        }
        facts = {"confidence": self.confidence}
        with ExitStack() as stack:
            yield open_journal(stack, out, self.config, self.problem, identity, resume, facts=facts)


def trace_frontier(
    config: Config,
    sweep: Sweep,
    solver: str,
    budget: int,
    seed: int,
    confidence: float = 0.95,
    options: RunOptions = DEFAULT_OPTIONS,
    listeners: Listeners = NO_LISTENERS,
) -> Frontier:
    """Solve a problem for each value of a sweep.

    Parameters are those of `valmatch.optimize`; the shard is one of the values.
    """
    model = build(config, warn=listeners.warn)
    problem = problem_of(config, model)
    check([solver])
    arguments.whole("budget", budget)
    settings = Settings(budget, seed, 1.0 - confidence)
    asked = AskedFrontier(config, problem, settings, sweep, solver, confidence, options.shard)
    jobs = asked.jobs
    with ExitStack() as stack:
        stop = stack.enter_context(stop_on_signal(options.max_seconds))
        hired = stack.enter_context(hire(config, len(jobs), stop, options, listeners))
        folder, journal = stack.enter_context(asked.kept_in(options.out, options.resume))
        progress = listeners.progress
        made = run_all(config, list(jobs.values()), settings, hired, journal, progress, stop)
        runs = dict(zip(jobs, list(made), strict=False))
        return conclude_frontier(asked, model, runs, folder, journal, stop.reason)


def conclude_frontier(
    asked: AskedFrontier,
    model: Model[object],
    runs: Mapping[int, SolverRun],
    folder: RunFolder | None,
    journal: FileJournal | None,
    stopped: str,
) -> Frontier:
    """Say what the runs of a sweep came to, by place; write that if there is a folder."""
    jobs, solved = asked.jobs, {}
    runs = _shared(asked, runs)  # each search has seen only its own points
    for place, run in runs.items():
        found = verdict(model, jobs[place][0], [run], asked.confidence)
        assert found is not None
        solved[place] = found
    frontier = Frontier(
        asked.config,
        asked.sweep,
        asked.solver,
        asked.settings,
        asked.shard,
        solved,
        failures(list(runs.values())),
        stopped,
        folder.path if folder else None,
        _prices(asked, model, solved, runs),
    )
    if folder:
        if journal and frontier.complete:
            journal.settle()
        write_csv(folder.path / "frontier.csv", frontier.columns())
        with write_atomically(folder.path / "summary.json") as file:
            file.write(to_json(frontier.summary()))
        folder.close(frontier.status, points=len(solved))
    return frontier


def _shared(asked: AskedFrontier, runs: Mapping[int, SolverRun]) -> dict[int, SolverRun]:
    """Let each run come to the best point that any of them has evaluated exactly.

    What is known of a point holds whatever the bound, so that a looser one never has a worse
    solution. Where evaluations are not exact, the runs stay as they are.
    """
    shared = {}
    for place, run in runs.items():
        others = [one.exact for one in runs.values() if one is not run and one.exact]
        if run.exact and others:
            known = run.exact.followed_by(others)
            best = known.best(asked.jobs[place][0], asked.settings.alpha)
            run = replace(run, certificate=best)
        shared[place] = run
    return shared


def _prices(
    asked: AskedFrontier,
    model: Model[object],
    solved: Mapping[int, Verdict],
    runs: Mapping[int, SolverRun],
) -> list[tuple[float, float, Estimate]]:
    """Return what a swept bound costs, by replications that are common to all certified points."""
    if asked.sweep.name not in asked.config.optimize.constraints or asked.shard != WHOLE:
        return []
    certified = [place for place, found in solved.items() if found.feasible is True]
    values = [asked.sweep.points[place] for place in certified]
    tests = {place: runs[place].certificate for place in certified}
    common = common_replications(list(tests.values()), asked.config.one_history)
    objectives = []
    for place, test in tests.items():
        outcomes = test.outcomes
        if test.first != common.start:  # it was another test that the point passed
            first = 2 * STAGE + common.start
            seed, whole = asked.settings.seed, len(common)
            again = Evaluator(asked.config, asked.jobs[place][0], seed, first, whole)
            outcomes = again.evaluate(test.unit, whole)
        objectives.append(outcomes[: len(common), 0])
    return quotients(values, objectives, model.sampling, asked.confidence)


def common_replications(tests: Sequence[Certificate], one_history: bool) -> range:
    """Return the replications of most tests, as many as the shortest of these has."""
    starts = [test.first for test in tests]
    start = max(starts, key=starts.count, default=0)
    most = min((len(test.outcomes) for test in tests if test.first == start), default=0)
    return range(start, start + min(most, 1) if one_history else start + most)


def _posed(problem: Problem, name: str, value: float) -> Problem:
    """Return the problem with another bound or weight."""
    terms = [replace(t, weight=value) if t.name == name else t for t in problem.terms]
    constraints = [replace(c, bound=value) if c.name == name else c for c in problem.constraints]
    return replace(problem, terms=terms, constraints=constraints)
