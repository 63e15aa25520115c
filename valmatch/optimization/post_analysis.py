"""Analysis of the recommended point after a study, beyond its budget.

It is compared with a baseline, the start or today's rule, on replications by which neither was
chosen, and its constraints are priced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from valmatch.config.config import Config
from valmatch.draws.streams import Streams
from valmatch.execution.chunks import build
from valmatch.kernels.arrays import Floats
from valmatch.models.model import Model, Response, row_of
from valmatch.optimization.evaluation import Evaluator, Execution
from valmatch.optimization.prices import PILOT, Price, prices
from valmatch.optimization.problem import START, TODAY, Problem
from valmatch.optimization.problem_of_config import with_factors
from valmatch.optimization.solver_run import STAGE, Settings, SolverRun
from valmatch.optimization.verdict import limits_of_objective
from valmatch.statistics.estimates import Estimate
from valmatch.statistics.no_interval import why_no_interval
from valmatch.statistics.pairs import PairedDifference, paired
from valmatch.storage.output import write_csv

# Files of the two comparisons.
AGAINST_START, AGAINST_TODAY = "start_and_recommended.csv", "today_and_recommended.csv"

# What these files have of each change, after its mean.
COLUMNS = "std_error", "ci_low", "ci_high", "confidence", "n", "undefined"

# Index of the first replication of the post-analysis, used by no search and no test.
POST_ANALYSIS = 3 * STAGE

# A point gets this part of the budget, and at least and at most so many replications.
SHARE, LEAST, MOST = 20, 10, 1000


# The model at a point, with its responses and the objective in each replication.
Replications: TypeAlias = tuple[Model[object], Mapping[str, Floats]]


@dataclass(frozen=True)
class BaselineComparison:
    """The recommended point and a baseline, compared replication by replication."""

    start: Mapping[str, float]  # the baseline: the start, or today's rule
    recommended: Mapping[str, float]  # the recommended point
    n: int  # replications of each, the same for both, beyond the budget
    responses: Sequence[Response]  # the objective, then every response of the model
    compared: Sequence[PairedDifference]  # for each of them; ``b`` is the recommended point
    name: str = START  # "start" or "today's rule"
    no_interval: str = ""  # why changes have no interval, "" if all have one

    @property
    def _key(self) -> str:
        """What files call the baseline."""
        return "today" if self.name == TODAY else self.name

    def _rows(self) -> list[tuple[Response, dict[str, float | None], Estimate]]:
        """Return each response with the means of both points and the change between them."""
        return [
            (response, {self._key: pair.a.mean, "recommended": pair.b.mean}, pair.difference)
            for response, pair in zip(self.responses, self.compared, strict=True)
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return the part of ``summary.json`` that holds it."""
        return {
            "replications": self.n,
            self._key: dict(self.start),
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

    def replications(values: Mapping[str, float]) -> Replications:
        """Make the replications of a point one by one, as searches make them."""
        at_point = build(config, with_factors(config, values))
        streams, rows = Streams(settings.seed), []
        for replication in range(POST_ANALYSIS, POST_ANALYSIS + n):
            check()
            outcome = at_point.run(at_point.draw(streams, replication))
            rows.append(row_of(at_point, outcome.responses))
        columns = dict(zip(at_point.responses.names, np.array(rows).T, strict=True))
        return at_point, {"objective": problem.outcomes(columns)[:, 0], **columns}

    point = problem.point(unit)
    baselines = {START: problem.point(problem.start)}
    if problem.today:
        baselines[TODAY] = dict(problem.today)
    recommended = replications(point)
    against = []
    for name, values in baselines.items():
        responses, pairs, why = _compared(problem, replications(values), recommended, confidence)
        against.append(BaselineComparison(values, point, n, responses, pairs, name, why))
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


def _compared(
    problem: Problem, baseline: Replications, point: Replications, confidence: float
) -> tuple[list[Response], list[PairedDifference], str]:
    """Compare a point with a baseline in the objective and in every response that both have."""
    (model, before), (other, after) = baseline, point
    common = [response for response in model.responses if response.name in after]
    units = {response.name: response.unit for response in common}
    of_terms = {units.get(term.response, "") for term in problem.terms}
    unit = of_terms.pop() if len(of_terms) == 1 else ""
    limits = limits_of_objective(problem.terms, common)
    responses = [Response("objective", unit, "what is minimised", limits=limits), *common]
    first, second = (
        np.column_stack([values[response.name] for response in responses])
        for values in (before, after)
    )
    samplings, ends = (model.sampling, other.sampling), [response.limits for response in responses]
    pairs = paired(first, second, confidence, samplings, limits=ends)
    changes = {one.name: pair.difference for one, pair in zip(responses, pairs, strict=True)}
    return responses, pairs, why_no_interval(changes, model.sampling.no_interval(len(first)))
