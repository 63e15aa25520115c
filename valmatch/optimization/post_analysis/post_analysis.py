"""Analysis of the recommended point after a study, beyond its budget.

It is compared with a baseline, the start or today's rule, on replications by which neither was
chosen, and its constraints are priced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
from valmatch.statistics.no_interval import why_no_interval
from valmatch.statistics.pairs import PairedDifference, paired
from valmatch.storage.output import write_csv

AGAINST_START, AGAINST_TODAY = "start_and_recommended.csv", "today_and_recommended.csv"
"""Files of the two comparisons."""

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

    @property
    def key(self) -> str:
        """The name as keys and columns have it."""
        return "today" if self.name == TODAY else self.name

    def as_dict(self) -> dict[str, Any]:
        """Return the part of ``summary.json`` that holds it."""
        rows = zip(self.responses, self.compared, strict=True)
        return {
            "replications": self.n,
            self.key: dict(self.start),
            "recommended": dict(self.recommended),
            **({"no_interval": self.no_interval} if self.no_interval else {}),
            "responses": {
                response.name: {
                    self.key: pair.a.mean,
                    "recommended": pair.b.mean,
                    "difference": pair.difference.as_dict(),
                }
                for response, pair in rows
            },
        }

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of the file of the comparison: a row for each response."""
        rows = [
            {
                "response": response.name,
                self.key: pair.a.mean,
                "recommended": pair.b.mean,
                "difference": pair.difference.mean,
                "std_error": pair.difference.std_error,
                "ci_low": pair.difference.ci_low,
                "ci_high": pair.difference.ci_high,
                "confidence": pair.difference.confidence,
                "n": pair.difference.n,
                "undefined": pair.difference.undefined,
                "unit": response.unit,
            }
            for response, pair in zip(self.responses, self.compared, strict=True)
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
        of = units["objective"]
        return {
            "start_and_recommended": self.against_start.as_dict(),
            **({"today_and_recommended": today.as_dict()} if today else {}),
            "prices": {
                price.constraint.name: price.as_dict(units.get(price.constraint.response, ""), of)
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
    n, seed = post_analysis_replications(config, settings.budget), settings.seed
    point, confidence = problem.point(run.certificate.unit), 1.0 - settings.alpha
    how = config, problem, point, n, seed, confidence, check
    compared, today, made = compare_with_baseline(*how), None, 2 * n
    if problem.today:
        today, made = compare_with_baseline(*how, TODAY), made + n
    if config.one_history:
        why = "its cost is not known, as one log shows no slope (a sweep of bounds does)"
        priced = [Price(constraint, why=why) for constraint in problem.constraints]
        return PostAnalysis(compared, priced, made, today)
    evaluator = Evaluator(config, problem, seed, POST_ANALYSIS, 1 << 62, Execution(check=check))
    priced = prices(
        problem.constraints,
        run.evaluations,
        run.certificate.unit,
        evaluator.evaluate,
        max(PILOT, n // 2),
        model.sampling,
        confidence,
    )
    return PostAnalysis(compared, priced, made + evaluator.spent, today)


def post_analysis_replications(config: Config, budget: int) -> int:
    """Return how many replications of a point are made after a study."""
    return 1 if config.one_history else min(MOST, max(LEAST, budget // SHARE))


def compare_with_baseline(
    config: Config,
    problem: Problem,
    point: Mapping[str, float],
    n: int,
    seed: int,
    confidence: float,
    check: Callable[[], None] = lambda: None,
    name: str = START,
) -> BaselineComparison:
    """Simulate the start, or today's rule, and a point on the same `n` replications."""
    start = problem.today if name == TODAY and problem.today else problem.point(problem.start)
    models = [build(config, with_factors(config, values)) for values in (start, point)]
    made = [_responses(model, n, seed, check) for model in models]
    first, second = (model.responses for model in models)
    common = [response for response in first if response.name in second.names]
    both = []
    for model, rows in zip(models, made, strict=True):
        by_name = dict(zip(model.responses.names, rows.T, strict=True))
        objective = problem.outcomes(by_name)[:, 0]
        both.append(np.column_stack([objective, *(by_name[response.name] for response in common)]))
    samplings = models[0].sampling, models[1].sampling
    unit = unit_of_objective(problem, common)
    limits = limits_of_objective(problem.terms, common)
    weighted = Response("objective", unit, "what is minimised", limits=limits)
    responses = [weighted, *common]
    ends = [response.limits for response in responses]
    pairs = paired(both[0], both[1], confidence, samplings, limits=ends)
    changes = {
        response.name: pair.difference for response, pair in zip(responses, pairs, strict=True)
    }
    reason = why_no_interval(changes, models[0].sampling.no_interval(n))
    return BaselineComparison(start, dict(point), n, responses, pairs, name, reason)


def _responses(model: Model[object], n: int, seed: int, check: Callable[[], None]) -> Floats:
    """Return the responses of `n` replications, one by one as searches make them."""
    streams, rows = Streams(seed), []
    for replication in range(POST_ANALYSIS, POST_ANALYSIS + n):
        check()
        inputs = model.draw(streams, replication)
        rows.append(row_of(model, model.run(inputs).responses))
    return np.array(rows)


def unit_of_objective(problem: Problem, responses: Sequence[Response]) -> str:
    """Return the unit that all terms of the objective have, "" where they differ."""
    units = {response.name: response.unit for response in responses}
    found = {units.get(term.response, "") for term in problem.terms}
    return found.pop() if len(found) == 1 else ""
