"""Analysis of the recommended point after a study, beyond its budget.

It is compared with a baseline, the start or today's rule, on replications by which neither was
chosen, and its constraints are priced. Where no point is feasible, the one of least violation is
compared in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from valmatch.optimization.verdict import OBJECTIVE, limits_of_objective
from valmatch.statistics.no_interval import why_no_interval
from valmatch.statistics.pairs import PairedDifference, paired

SHORT = {START: START, TODAY: "today"}  # what files call the baselines
RECOMMENDED, LEAST = "recommended", "least_violation"  # what they call the point


def beside(baseline: str, role: str) -> str:
    """Return the key of a summary, and the name of the file, of a comparison with a baseline."""
    return f"{SHORT[baseline]}_and_{role}"


COMPARISONS = [f"{beside(name, role)}.csv" for name in SHORT for role in (RECOMMENDED, LEAST)]


# What these files have of each change, after its mean.
COLUMNS = "std_error", "ci_low", "ci_high", "confidence", "n", "undefined"

# Index of the first replication of the post-analysis, used by no search and no test.
POST_ANALYSIS = 3 * STAGE

# A point gets this part of the budget, and at least and at most so many replications.
SHARE, FEWEST, MOST = 20, 10, 1000


# The model at a point, with its responses and the objective in each replication.
Replications: TypeAlias = tuple[Model[object], Mapping[str, Floats]]

Tables: TypeAlias = dict[str, dict[str, list[Any]]]  # columns of CSV files by name


def post_analysis(
    config: Config,
    model: Model[object],
    problem: Problem,
    run: SolverRun,
    settings: Settings,
    check: Callable[[], None],
) -> tuple[dict[str, Any], Tables]:
    """Compare the point of a run with what the config gives; price the constraints there."""
    # Returns parts of ``summary.json``, and a table of each comparison.
    n = 1 if config.one_history else min(MOST, max(FEWEST, settings.budget // SHARE))
    unit, confidence = run.certificate.unit, 1.0 - settings.alpha
    role = LEAST if run.certificate.feasible is False else RECOMMENDED

    def replications(values: Mapping[str, float]) -> Replications:
        """Make the replications of a point one by one, as searches make them."""
        at_point = build(config, with_factors(config, values))
        streams, rows = Streams(settings.seed), []
        for replication in range(POST_ANALYSIS, POST_ANALYSIS + n):
            check()
            outcome = at_point.run(at_point.draw(streams, replication))
            rows.append(row_of(at_point, outcome.responses))
        columns = dict(zip(at_point.responses.names, np.array(rows).T, strict=True))
        return at_point, {OBJECTIVE: problem.outcomes(columns)[:, 0], **columns}

    point = problem.point(unit)
    baselines = {START: problem.point(problem.start)}
    if problem.today:
        baselines[TODAY] = dict(problem.today)
    recommended = replications(point)
    units: dict[str, str] = {}
    entries: dict[str, Any] = {}
    tables: Tables = {}
    for name, values in baselines.items():
        rows, why = _compared(problem, replications(values), recommended, confidence)
        units = units or {response.name: response.unit for response, _ in rows}
        of, key = SHORT[name], beside(name, role)
        entries[key] = {
            "replications": n,
            of: values,
            role: point,
            **({"no_interval": why} if why else {}),
            "responses": {
                response.name: {
                    of: pair.a.mean,
                    role: pair.b.mean,
                    "difference": pair.difference.as_dict(),
                }
                for response, pair in rows
            },
        }
        tables[key] = {
            "response": [response.name for response, _ in rows],
            of: [pair.a.mean for _, pair in rows],
            role: [pair.b.mean for _, pair in rows],
            "difference": [pair.difference.mean for _, pair in rows],
            **{name: [getattr(pair.difference, name) for _, pair in rows] for name in COLUMNS},
            "unit": [response.unit for response, _ in rows],
        }
    made = n * (1 + len(baselines))
    if role == LEAST:
        return {**entries, "spent_beyond_budget": made}, tables
    if config.one_history:
        why = "cost unknown: not measurable from one log (a sweep of limits shows it)"
        priced = [Price(constraint, why=why) for constraint in problem.constraints.values()]
    else:
        how = Execution(check=check)
        evaluator = Evaluator(config, problem, settings.seed, POST_ANALYSIS, 1 << 62, how)
        bounds, n = list(problem.constraints.values()), max(PILOT, n // 2)
        around, evaluate, sampling = run.evaluations, evaluator.evaluate, model.sampling
        priced = prices(bounds, around, unit, evaluate, n, sampling, confidence)
        made += evaluator.spent
    entries["prices"] = {
        name: price.entry(name, units.get(price.constraint.response, ""), units[OBJECTIVE])
        for name, price in zip(problem.constraints, priced, strict=True)
    }
    entries["spent_beyond_budget"] = made
    return entries, tables


def _compared(
    problem: Problem, baseline: Replications, point: Replications, confidence: float
) -> tuple[list[tuple[Response, PairedDifference]], str]:
    """Compare a point with a baseline in the objective and in every response that both have."""
    # Returns also why changes have no interval, "" if all have one.
    (model, before), (other, after) = baseline, point
    common = [response for response in model.responses if response.name in after]
    units = {response.name: response.unit for response in common}
    of_terms = {units.get(term.response, "") for term in problem.terms}
    unit = of_terms.pop() if len(of_terms) == 1 else ""
    limits = limits_of_objective(problem.terms, problem.limits)
    responses = [Response(OBJECTIVE, unit, "what is minimised", limits=limits), *common]
    first, second = (
        np.column_stack([values[response.name] for response in responses])
        for values in (before, after)
    )
    samplings, ends = (model.sampling, other.sampling), [response.limits for response in responses]
    pairs = paired(first, second, confidence, samplings, limits=ends)
    rows = list(zip(responses, pairs, strict=True))
    changes = {response.name: pair.difference for response, pair in rows}
    return rows, why_no_interval(changes, model.sampling.no_interval(len(first)))
