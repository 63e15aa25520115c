"""The trade-off between the objective and a bound or weight: one solution for each value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np

from valmatch.config.config import Config, Constraint
from valmatch.errors import InputError, option
from valmatch.execution.chunks import build
from valmatch.execution.interruption import Stopped
from valmatch.execution.run_options import SearchArguments
from valmatch.execution.shards import WHOLE
from valmatch.experiments.sweep import MOST_LEVELS, span
from valmatch.inputs.arguments import LARGEST
from valmatch.optimization.certification import Certificate
from valmatch.optimization.problem import Problem, scales_by_default
from valmatch.optimization.solver_run import (
    STAGE,
    Evaluated,
    Evaluator,
    Execution,
    Journal,
    RunSpec,
    SolverRun,
    failures,
    run_solver,
)
from valmatch.optimization.solvers.registry import algorithm, check
from valmatch.optimization.studies.study import (
    Job,
    Outcome,
    Runs,
    StudySpec,
    common_fields,
)
from valmatch.optimization.verdict import PointResult, verdict
from valmatch.statistics.estimates import Estimate
from valmatch.statistics.no_interval import reason_of_each, why_no_interval
from valmatch.text.durations import in_unit
from valmatch.text.numerals import real_number
from valmatch.text.suggestions import hint
from valmatch.text.terminal import shortened, shown


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
        solver_names=[solver],
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
