"""Runs of one or several solvers on the problem of a config, their comparison, and sweeps."""

import os
import pickle
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from valmatch.config.config import Config, Constraint
from valmatch.config.factor_paths import parts, replaced
from valmatch.config.identity import config_id, identity
from valmatch.config.loading import ConfigLike, load_config
from valmatch.config.writing import document
from valmatch.errors import InputError, option
from valmatch.execution.chunks import build
from valmatch.execution.interruption import Stopped
from valmatch.execution.run_options import OptimizeArguments, SearchArguments, first_given
from valmatch.execution.shards import WHOLE
from valmatch.experiments.sweep import MOST_LEVELS, span
from valmatch.inputs.arguments import LARGEST
from valmatch.inputs.options import takes
from valmatch.kernels.arrays import Floats
from valmatch.optimization.certification import Certificate, replications_of_test
from valmatch.optimization.problem import Problem, best_known, scales_by_default, with_factors
from valmatch.optimization.solver_run import (
    RUN,
    STAGE,
    Evaluated,
    Evaluator,
    Execution,
    Journal,
    RunSpec,
    Settings,
    SolverRun,
    failures,
    run_solver,
)
from valmatch.optimization.solvers.registry import (
    AUTO,
    SolverFactory,
    algorithm,
    check,
    search_budget,
)
from valmatch.optimization.studies.study import (
    Job,
    Outcome,
    Runs,
    Study,
    StudySpec,
    common_fields,
    execute,
)
from valmatch.optimization.verdict import COMPARISONS, PointResult, best_run, post_analysis, verdict
from valmatch.statistics.estimates import Estimate
from valmatch.statistics.no_interval import reason_of_each, why_no_interval
from valmatch.storage.output import write_atomically
from valmatch.text.numerals import in_unit, real_number
from valmatch.text.suggestions import hint
from valmatch.text.terminal import shortened, shown

RECOMMENDED = "recommended.yaml"

# Files that models write with the values of the recommended point; see `Factors.rewritten`.
REWRITTEN = ("tuned_rules.json",)


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
    return named_columns(("solver", "macrorep", "replications", *problem.names), rows)


def candidates(problem: Problem, runs: Sequence[SolverRun]) -> dict[str, list[Any]]:
    """Return a row for each point of a search, with its last means, and for each final one."""
    rows: list[tuple[Any, ...]] = []

    def add(run: SolverRun, stage: str, unit: Floats, n: int, mean: Floats) -> None:
        excesses = zip(problem.constraints.values(), mean[1:].tolist(), strict=True)
        means = [float(mean[0]), *(c.bound + c.sign * excess for c, excess in excesses)]
        point = problem.values(unit)
        rows.append((run.task.solver, run.task.macrorep, stage, *point, n, *means))

    for run in runs:
        for seen in {problem.values(seen.unit): seen for seen in run.evaluations}.values():
            add(run, "search", seen.unit, seen.n, seen.mean)
        final = run.certificate
        add(run, "certified", final.unit, len(final.outcomes), final.adjusted.mean(axis=0))
    header = "solver", "macrorep", "stage", *problem.names, "n", "objective", *problem.constraints
    return named_columns(header, rows)


@dataclass(frozen=True, kw_only=True)
class SolverStudySpec(StudySpec):
    """Runs of one or several solvers that are to be made."""

    # the solvers by name, with what makes those that were given as functions
    solvers: Mapping[str, SolverFactory | None]

    def jobs(self) -> list[Job]:
        """Return the runs of the shard."""
        run = partial(run_solver, self.config, self.problem)
        return [
            Job(index, index * RUN, partial(run, RunSpec(name, index, factory), self.settings))
            for name, factory in self.solvers.items()
            for index in self.shard.indices(self.size)
        ]

    def identity(self) -> dict[str, object]:
        """Return what two folders of one study have in common."""
        return {"solver": ",".join(self.solvers)}

    def summarise(self, made: Runs, execution: Execution, truths: Journal | None) -> Outcome:
        """Compare the runs and say what they came to."""
        model, problem, runs = self.model, self.problem, [run for _, run in made]
        wanted = len(self.solvers) * len(self.shard.indices(self.size))
        compared, analysed = not self.compares or not wanted, True
        tables = {"trajectory": trajectory(problem, runs), "candidates": candidates(problem, runs)}
        best = verdict(model, problem, runs, self.confidence)
        document: dict[str, Any] = {
            "solver": ",".join(self.solvers),
            "algorithm": ",".join(map(algorithm, self.solvers)),
            "budget": self.settings.budget,
            "spent": sum(run.spent for run in runs),
            "runs": len(runs),
            "requested": len(self.solvers) * self.size,
            **self.shard_entry,
            **scales_by_default(problem),
            **(best.verdict_entry() if best else {"recommended": None, "feasible": None}),
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
        complete = len(runs) == wanted and compared and analysed
        return Outcome(document | solvers, complete, {"runs": len(runs)}, tables, failures(runs))

    def write(self, study: Study, folder: Path) -> None:
        """Write the config of the recommended point."""
        # One from before, of a smaller budget, may be recommended no more.
        for name in (RECOMMENDED, *REWRITTEN, *COMPARISONS):
            (folder / name).unlink(missing_ok=True)
        best, config = study.verdict, self.config
        if not best or best.feasible is False:
            return
        factors, changed = identity(config)["factors"], config.factors.model_dump(mode="json")
        for name, value in best.point.items():
            changed = replaced(changed, parts(name), value)
            *sections, last = takewhile(lambda part: isinstance(part, str), parts(name))
            target, values = factors, changed
            for section in sections:
                target, values = target.setdefault(section, {}), values[section]
            target[last] = values[last]  # all of a list, though one entry is a variable
        files = {key: os.path.relpath(file.path, folder) for key, file in config.files.items()}
        head = f"Recommended by valmatch optimize for config {config_id(config)}: {best.why}."
        read = {key: file.path for key, file in config.files.items()}
        texts = with_factors(config, best.point).rewritten(read)
        texts = {RECOMMENDED: document(head, config.model, factors, **files), **texts}
        for name, text in texts.items():
            with write_atomically(folder / name) as file:
                file.write(text)


def study_spec(
    config: Config, options: OptimizeArguments, solvers: Sequence[str | SolverFactory]
) -> SolverStudySpec:
    """Return the study that runs solvers."""
    macroreps = first_given(options.macroreps, config.optimize.macroreps, 1)
    common, named = common_fields(config, options), check(solvers)
    return SolverStudySpec(
        **common,
        solvers=named,
        searches=len(named),
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
    several: Sequence[Any] = wanted if isinstance(wanted, list | tuple) else [wanted]
    if not several or not all(isinstance(solver, str) or callable(solver) for solver in several):
        what = "a name or a function, or several in a list"
        raise InputError(f"{option('solvers')}: {shown(wanted)} (allowed: {what})")
    spec = study_spec(config, how, several)
    for name, factory in spec.solvers.items() if how.uses_workers else ():
        try:
            pickle.dumps(factory)
        except Exception:
            raise InputError(
                f"{option('solvers')}: {shown(name)} cannot be sent to worker processes (allowed: a"
                f" function or class that a module defines, or {option('workers=1')})"
            ) from None
    assert not isinstance(how.shard, str)
    return execute(replace(spec, shard=how.shard or WHOLE), how)


# Fewest and most post-replications of a point: fresh ones that show its true objective.
POST = 500, 20_000

POST_FIRST = 1 << 62  # index of the first of them, beyond those of any run

# What gaps are relative to.
BEST_KNOWN, BEST_OF_STUDY = "best known objective", "best of this study"

CHECKPOINTS = 20
RESAMPLES = 2000


class _Truth(NamedTuple):
    """A point as the post-replications see it; infeasible points have no objective."""

    objective: float  # its mean objective
    violation: float  # the largest mean excess over a bound

    @property
    def feasible(self) -> bool:
        return self.violation <= 0.0

    def gap(self, best: float | None) -> float | None:
        """Return the relative distance from the best objective; None for an infeasible point."""
        if best is None or not self.feasible:
            return None
        return (self.objective - best) / max(abs(best), 1e-300)


def compare(
    config: Config,
    problem: Problem,
    settings: Settings,
    runs: Sequence[SolverRun],
    execution: Execution,
    truths: Journal | None = None,
) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Compare what runs recommended, in the end and on the way, by common post-replications."""
    # Returns a part of ``summary.json`` and the columns of ``progress.csv``.
    post, judged = post_replications(settings.budget), {} if truths is None else truths
    evaluator = Evaluator(config, problem, settings.seed, POST_FIRST, 1 << 62, execution)

    def truth_of(unit: Floats) -> _Truth:
        address = (*problem.values(unit), float(post))
        if address not in judged:
            mean = evaluator.evaluate(unit, post).mean(axis=0)
            judged[address] = float(mean[0]), float(mean[1:].max(initial=0.0))
        objective, violation = judged[address]
        undefined = np.isnan([objective, violation]).any()
        return _Truth(np.nan, np.inf) if undefined else _Truth(objective, violation)

    finals = [truth_of(run.certificate.unit) for run in runs]
    known = best_known(config)
    feasible = [truth.objective for truth in finals if truth.feasible]
    best = known if known is not None else min(feasible, default=None)
    progress, areas = _progress(runs, settings.budget, truth_of, best)
    outcomes: dict[str, list[tuple[SolverRun, _Truth, float]]] = {}
    for outcome in zip(runs, finals, areas, strict=True):
        outcomes.setdefault(outcome[0].task.solver, []).append(outcome)
    start = truth_of(problem.start)
    entry = {
        "best_known": best,
        "gap_to": BEST_OF_STUDY if known is None else BEST_KNOWN,
        "start_objective": start.objective if start.feasible else None,
        "post_replications": post,
        **{name: _line(of_solver, best) for name, of_solver in outcomes.items()},
    }
    return entry, progress


def _progress(
    runs: Sequence[SolverRun], budget: int, truth_of: Callable[[Floats], _Truth], best: float | None
) -> tuple[dict[str, list[Any]], list[float]]:
    """Return the columns of ``progress.csv``, and the mean gap of each run over the budget."""
    marks = np.linspace(0, budget, CHECKPOINTS + 1)[1:].round().astype(int).tolist()
    rows: list[tuple[Any, ...]] = []
    areas = []
    for run in runs:
        gaps = []
        for mark in marks:
            seen = [evaluation for evaluation in run.evaluations if evaluation.spent <= mark]
            unit = run.certificate.unit
            if mark < run.spent and run.evaluations:
                unit = (seen[-1] if seen else run.evaluations[0]).incumbent
            truth = truth_of(unit)
            gap = truth.gap(best)
            gaps.append(min(1.0, gap) if gap is not None else 1.0)
            rows.append((run.task.solver, run.task.macrorep, mark, *truth, gap))
        areas.append(float(np.mean(gaps)))
    header = "solver", "macrorep", "replications", "objective", "violation", "gap"
    return named_columns(header, rows), areas


def named_columns(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    """Return rows as columns by name."""
    return {name: [row[k] for row in rows] for k, name in enumerate(header)}


def post_replications(budget: int) -> int:
    """Return the post-replications of a point that a run of `budget` replications recommends."""
    # They are common to all points, in no budget, and five times as many as the runs' own tests
    # have, so that they are not what limits the comparison.
    return min(max(POST[0], 5 * replications_of_test(budget - search_budget(budget))), POST[1])


def _line(runs: Sequence[tuple[SolverRun, _Truth, float]], best: float | None) -> dict[str, Any]:
    """Return the numbers of one solver, each with a 95 % bootstrap interval over its runs."""
    gaps = (truth.gap(best) for _, truth, _ in runs)
    distances = np.array([np.inf if gap is None else gap for gap in gaps])
    claimed = np.array([run.certificate.feasible is True for run, _, _ in runs])
    truly = np.array([truth.feasible for _, truth, _ in runs])
    objectives = np.array([t.objective if t.feasible else np.inf for _, t, _ in runs])
    measures: dict[str, tuple[Callable[..., Any], Floats]] = {
        "median_objective": (np.median, np.where(claimed, objectives, np.inf)),
        "area_under_curve": (np.mean, np.array([area for _, _, area in runs])),
        "within_5_percent": (np.mean, (distances <= 0.05) & claimed),
        "within_10_percent": (np.mean, (distances <= 0.10) & claimed),
        "called_feasible": (np.mean, claimed),
        "wrongly_called_feasible": (np.mean, claimed & ~truly),
    }
    return {"runs": len(runs)} | {
        name: bootstrapped(statistic, values.astype(np.float64))
        for name, (statistic, values) in measures.items()
    }


def bootstrapped(statistic: Callable[..., Any], values: Floats) -> dict[str, float | None]:
    """Return a statistic of independent runs with its percentile bootstrap interval."""
    rng = np.random.default_rng(0)
    resampled = values[rng.integers(0, values.size, (RESAMPLES, values.size))]
    ordered = np.sort(statistic(resampled, axis=1))
    ends = statistic(values), ordered[int(0.025 * RESAMPLES)], ordered[int(0.975 * RESAMPLES)]
    # What has no value, such as the median objective of infeasible points, is null.
    finite = (float(end) if np.isfinite(end) else None for end in ends)
    return dict(zip(("value", "ci_low", "ci_high"), finite, strict=True))


# Sweeps: the trade-off between the objective and a bound or weight, one run for each value.


def parse_sweep(config: Config, text: str) -> tuple[str, Sequence[float]]:
    """Return the name and the values of ``NAME=FIRST:LAST:STEP`` or ``NAME=VALUE,VALUE,...``."""
    # LAST belongs to the values if a step ends there; durations may have a unit.
    name, _, ends = text.partition("=")
    names = [*config.optimize.constraints, *config.optimize.objective]
    if name not in names:
        what = f"{shown(name)} is no constraint and no term ({hint(name, names)})"
        raise InputError(f"{option('sweep')} {shortened(text)}: {what}")
    between = ":" if ":" in ends else ","
    values = [value.strip() for value in ends.split(between)]
    if any(real_number(value) is None for value in values):
        bound, unit = config.optimize.constraints.get(name), ""  # a weight has none
        if bound is not None:
            units = {response.name: response.unit for response in build(config).responses}
            unit = units.get(bound.response, "")
        values = [str(in_unit(value, unit)) for value in values]
    numbers = [real_number(value) for value in values]
    points = [number for number in numbers if number is not None and abs(number) <= LARGEST]
    if between == ":":
        points = span(":".join(values)) or []
    elif not len(set(points)) == len(values) <= MOST_LEVELS:
        points = []
    if not points:
        raise InputError(
            f"{option('sweep')} {shortened(text)}: not of the form NAME=FIRST:LAST:STEP (as in"
            " 10:60:5; numbers up to 1e100, at most 10,000 values) or NAME=VALUE,VALUE,..., each"
            " once"
        )
    return name, points


@dataclass(frozen=True, kw_only=True)
class SweepSpec(StudySpec):
    """A sweep that is to be made."""

    text: str  # the sweep as it was given
    name: str  # the constraint or the term of the objective
    points: Sequence[float]  # the values in order
    solver: str  # name of what solves for each of them

    def jobs(self) -> list[Job]:
        """Return the runs of the shard; all start alike, so that none waits for another."""
        config, how = self.config, (RunSpec(self.solver, 0), self.settings)
        indices = self.shard.indices(self.size)
        return [Job(k, 0, partial(run_solver, config, self._with_value(k), *how)) for k in indices]

    def _with_value(self, index: int) -> Problem:
        """Return the problem with the bound or weight of this index."""
        name, value, problem = self.name, self.points[index], self.problem
        terms = [replace(t, weight=value) if t.name == name else t for t in problem.terms]
        bounds = dict(problem.constraints)
        if name in bounds:
            bounds[name] = Constraint.of(bounds[name].response, bounds[name].sign, value)
        return replace(problem, terms=terms, constraints=bounds)

    def identity(self) -> dict[str, object]:
        """Return what two folders of one sweep have in common."""
        return {"solver": self.solver, "budget": self.settings.budget, "sweep": self.text}

    def summarise(self, made: Runs, execution: Execution, truths: Journal | None) -> Outcome:
        """Say what the run of each value came to, and what a bound costs between two values."""
        problems = {job.index: self._with_value(job.index) for job, _ in made}
        runs = {job.index: run for job, run in made}
        shared = _with_shared_points(runs, problems, self.settings.alpha)
        solved = {
            index: point
            for index, run in shared.items()
            if (point := verdict(self.model, problems[index], [run], self.confidence))
        }
        certified = [index for index, point in solved.items() if point.feasible is True]
        tests = {index: shared[index].certificate for index in certified}
        prices = None
        with suppress(Stopped):
            prices = self._prices(tests, execution)
        complete = len(solved) == len(self.shard.indices(self.size))
        why = self._no_interval(solved, prices or [])
        document = {
            "solver": self.solver,
            "algorithm": algorithm(self.solver),
            "budget": self.settings.budget,
            "sweep": self.name,
            **scales_by_default(self.problem),
            **self.shard_entry,
            "frontier": [
                {self.name: self.points[index], **point.verdict_entry()}
                for index, point in solved.items()
            ],
            **({"no_interval": why} if why else {}),
            "prices": [
                {"from": low, "to": high, "objective_per_unit_of_bound": slope.as_dict()}
                for low, high, slope in prices or ()
            ],
        }
        ended, failed = prices is not None and complete, failures(list(runs.values()))
        return Outcome(document, ended, {"points": len(solved)}, failures=failed)

    def _no_interval(
        self, solved: Mapping[int, PointResult], prices: Sequence[tuple[float, float, Estimate]]
    ) -> str:
        """Return why some numbers have no interval, "" if all have one."""
        reasons = {f"{self.name} {self.points[k]:g}": p.no_interval for k, p in solved.items()}
        common = reason_of_each(reasons)
        if common and common in reasons.values():  # that of prices, too
            return common
        reasons |= {
            f"between {low:g} and {high:g}": why_no_interval({"the price": slope}, "")
            for low, high, slope in prices
        }
        return reason_of_each(reasons)

    def _prices(
        self, tests: Mapping[int, Certificate], execution: Execution
    ) -> list[tuple[float, float, Estimate]]:
        """Return what a swept bound costs, by replications common to all certified points."""
        if self.name not in self.config.optimize.constraints or self.shard != WHOLE:
            return []
        values = [self.points[index] for index in tests]
        # The replications of most tests, as many as the shortest of these has.
        starts = [test.first for test in tests.values()]
        start = max(starts, key=starts.count, default=0)
        of_most = [len(test.outcomes) for test in tests.values() if test.first == start]
        count = min([1] * self.config.one_history + of_most, default=0)
        objectives = []
        for index, test in tests.items():
            outcomes = test.outcomes
            if test.first != start:  # it was another test that the point passed
                problem, first = self._with_value(index), 2 * STAGE + start
                fresh = Evaluator(self.config, problem, self.settings.seed, first, count, execution)
                outcomes = fresh.evaluate(test.unit, count)
            objectives.append(outcomes[:count, 0])
        sampling, pairs = self.model.sampling, pairwise(zip(values, objectives, strict=True))
        return [
            (low, high, sampling.estimate((after - before) / (high - low), self.confidence))
            for (low, before), (high, after) in pairs
        ]


def sweep_spec(
    config: Config, options: SearchArguments, solvers: Sequence[str], text: str
) -> SweepSpec:
    """Return the study that solves for each value of a sweep, by the first of the solvers."""
    (name, points), solver = parse_sweep(config, text), next(iter(check(solvers[:1])))
    return SweepSpec(
        **common_fields(config, options),
        text=text,
        name=name,
        points=points,
        solver=solver,
        size=len(points),
        part="point",
        parts_in_words=f"values of {name}",
        table="frontier.csv",
    )


def _with_shared_points(
    runs: Mapping[int, SolverRun], problems: Mapping[int, Problem], alpha: float
) -> dict[int, SolverRun]:
    """Let each run come to the best point that any of them has evaluated exactly."""
    # Each search has seen only its own points, but what is known of a point holds whatever the
    # bound, so that a looser one never has a worse solution.
    shared = {}
    for index, run in runs.items():
        others = [other.exact for other in runs.values() if other is not run and other.exact]
        if run.exact and others:
            units, responses = zip(
                *((p.units, p.responses) for p in (run.exact, *others)), strict=True
            )
            known = Evaluated(run.exact.names, np.vstack(units), np.vstack(responses))
            run = replace(run, certificate=known.best(problems[index], alpha))
        shared[index] = run
    return shared
