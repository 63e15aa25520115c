"""Analysis of the recommended point after a study, beyond its budget.

It is compared with a baseline, the start or today's rule, on replications by which neither was
chosen, and its constraints are priced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from valmatch.config.config import Config
from valmatch.draws.streams import Streams
from valmatch.execution.chunks import build
from valmatch.kernels.arrays import Floats
from valmatch.models.model import Model, Response, row_of
from valmatch.optimization.evaluation import Evaluator, Execution
from valmatch.optimization.post_analysis.constraint_steps import PILOT
from valmatch.optimization.post_analysis.prices import Price, prices
from valmatch.optimization.problem import START, TODAY, Problem
from valmatch.optimization.problem_of_config import with_factors
from valmatch.optimization.solver_run import STAGE, Settings, SolverRun
from valmatch.optimization.verdict import limits_of_objective
from valmatch.statistics.estimates import Estimate
from valmatch.statistics.no_interval import why_no_interval
from valmatch.statistics.pairs import PairedDifference, paired
from valmatch.storage.output import write_csv

AGAINST_START, AGAINST_TODAY = "start_and_recommended.csv", "today_and_recommended.csv"
"""Files of the two comparisons."""

COLUMNS = "std_error", "ci_low", "ci_high", "confidence", "n", "undefined"
"""What these files have of each change, after its mean."""

POST_ANALYSIS = 3 * STAGE
"""Index of the first replication of the post-analysis, used by no search and no test."""

SHARE, LEAST, MOST = 20, 10, 1000
"""A point gets this part of the budget, and at least and at most so many replications."""


@dataclass(frozen=True)
class BaselineComparison:
    """The recommended point and a baseline, compared replication by replication."""

    # start, recommended: the points: the start is the baseline, or today's rule in its place
    start: Mapping[str, float]
    recommended: Mapping[str, float]
    n: int  # replications of each, the same for both, beyond the budget
    responses: Sequence[Response]  # the objective, then every response of the model
    compared: Sequence[PairedDifference]  # for each of them; ``b`` is the recommended point
    name: str = START  # "start" or "today's rule"
    no_interval: str = ""  # why changes have no interval, "" if all have one

    def _rows(self) -> list[tuple[Response, dict[str, float | None], Estimate]]:
        """Return each response with the means of both points and the change between them."""
        key = "today" if self.name == TODAY else self.name
        return [
            (response, {key: pair.a.mean, "recommended": pair.b.mean}, pair.difference)
            for response, pair in zip(self.responses, self.compared, strict=True)
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return the part of ``summary.json`` that holds it."""
        return {
            "replications": self.n,
            "today" if self.name == TODAY else self.name: dict(self.start),
            "recommended": dict(self.recommended),
            **({"no_interval": self.no_interval} if self.no_interval else {}),
            "responses": {
                response.name: {**means, "difference": change.as_dict()}
                for response, means, change in self._rows()
            },
        }

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of the file of the comparison: a row for each response."""
        rows = [
            {
                "response": response.name,
                **means,
                "difference": change.mean,
                **{name: getattr(change, name) for name in COLUMNS},
                "unit": response.unit,
            }
            for response, means, change in self._rows()
        ]
        return {name: [row[name] for row in rows] for name in rows[0]}


@dataclass(frozen=True)
class PostAnalysis:
    """The recommended point beside the start and today's rule, and what each constraint costs."""

    against_start: BaselineComparison  # both points on the same fresh replications
    prices: Sequence[Price]  # one for each constraint
    spent: int  # replications that this took, beyond the budget
    # today's rule and the recommended point on the same replications, where the config has values
    # of its own for the variables
    against_today: BaselineComparison | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the part of ``summary.json`` that holds it."""
        today = self.against_today
        units = {response.name: response.unit for response in self.against_start.responses}
        return {
            "start_and_recommended": self.against_start.as_dict(),
            **({"today_and_recommended": today.as_dict()} if today else {}),
            "prices": {
                price.constraint.name: price.as_dict(
                    units.get(price.constraint.response, ""), units["objective"]
                )
                for price in self.prices
            },
            "spent_beyond_budget": self.spent,
        }

    def write(self, folder: Path) -> None:
        """Write ``start_and_recommended.csv``, and the same of today's rule."""
        write_csv(folder / AGAINST_START, self.against_start.columns())
        if self.against_today:
            write_csv(folder / AGAINST_TODAY, self.against_today.columns())


def post_analysis(
    config: Config,
    model: Model[object],
    problem: Problem,
    run: SolverRun,
    settings: Settings,
    check: Callable[[], None],
) -> PostAnalysis:
    """Compare the point of a run with what the config gives; price the constraints there."""
    n = 1 if config.one_history else min(MOST, max(LEAST, settings.budget // SHARE))
    unit, confidence = run.certificate.unit, 1.0 - settings.alpha
    baselines = {START: problem.point(problem.start)}
    if problem.today:
        baselines[TODAY] = dict(problem.today)
    point, *given = (
        _replications(config, problem, values, n, settings.seed, check)
        for values in (problem.point(unit), *baselines.values())
    )
    against = [
        _compared(problem, name, baseline, point, confidence)
        for name, baseline in zip(baselines, given, strict=True)
    ]
    made = n * (1 + len(against))
    against_start, against_today = against[0], against[1] if problem.today else None
    if config.one_history:
        why = "its cost is not known, as one log shows no slope (a sweep of bounds does)"
        priced = [Price(constraint, why=why) for constraint in problem.constraints]
        return PostAnalysis(against_start, priced, made, against_today)
    how = Execution(check=check)
    evaluator = Evaluator(config, problem, settings.seed, POST_ANALYSIS, 1 << 62, how)
    priced = prices(
        problem.constraints,
        run.evaluations,
        unit,
        evaluator.evaluate,
        max(PILOT, n // 2),
        model.sampling,
        confidence,
    )
    return PostAnalysis(against_start, priced, made + evaluator.spent, against_today)


class _Replications(NamedTuple):
    """A point with its objectives and all responses in the replications of the post-analysis."""

    values: Mapping[str, float]
    model: Model[object]
    objective: Floats
    responses: Mapping[str, Floats]

    def table(self, responses: Sequence[Response]) -> Floats:
        """Return (n, 1 + responses): the objective, then these responses."""
        return np.column_stack([self.objective, *(self.responses[one.name] for one in responses)])


def _replications(
    config: Config,
    problem: Problem,
    values: Mapping[str, float],
    n: int,
    seed: int,
    check: Callable[[], None],
) -> _Replications:
    """Make the replications of a point one by one, as searches make them."""
    model = build(config, with_factors(config, values))
    streams, rows = Streams(seed), []
    for replication in range(POST_ANALYSIS, POST_ANALYSIS + n):
        check()
        rows.append(row_of(model, model.run(model.draw(streams, replication)).responses))
    columns = dict(zip(model.responses.names, np.array(rows).T, strict=True))
    return _Replications(values, model, problem.outcomes(columns)[:, 0], columns)


def _compared(
    problem: Problem,
    name: str,
    baseline: _Replications,
    point: _Replications,
    confidence: float,
) -> BaselineComparison:
    """Compare a point with a baseline in the objective and in every response that both have."""
    common = [one for one in baseline.model.responses if one.name in point.responses]
    units = {one.name: one.unit for one in common}
    of_terms = {units.get(term.response, "") for term in problem.terms}
    unit = of_terms.pop() if len(of_terms) == 1 else ""
    limits = limits_of_objective(problem.terms, common)
    responses = [Response("objective", unit, "what is minimised", limits=limits), *common]
    samplings = baseline.model.sampling, point.model.sampling
    ends = [one.limits for one in responses]
    first, second = baseline.table(common), point.table(common)
    pairs = paired(first, second, confidence, samplings, limits=ends)
    changes = {one.name: pair.difference for one, pair in zip(responses, pairs, strict=True)}
    n = len(point.objective)
    reason = why_no_interval(changes, baseline.model.sampling.no_interval(n))
    return BaselineComparison(baseline.values, point.values, n, responses, pairs, name, reason)
