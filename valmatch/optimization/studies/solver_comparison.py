"""Comparison of solvers: the true objectives of their recommended points, run by run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from valmatch.config.config import Config
from valmatch.kernels.arrays import Floats
from valmatch.optimization.best_known import best_known
from valmatch.optimization.certification import replications_of_test
from valmatch.optimization.evaluation import Evaluator, Execution, Journal
from valmatch.optimization.problem import Problem
from valmatch.optimization.solver_run import Settings, SolverRun
from valmatch.optimization.solvers.registry import search_budget

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
    """Compare what runs recommended, in the end and on the way, by common post-replications.

    A point counts as truly feasible if the mean excess over every bound is <= 0. Gaps are relative
    to the best known objective of the problem, or else to the best point of the experiment. Returns
    a part of ``summary.json`` and the columns of ``progress.csv``.
    """
    post = post_replications(settings.budget)
    evaluator = Evaluator(config, problem, settings.seed, POST_FIRST, 1 << 62, execution)
    truth_of = _truth_of(problem, evaluator, post, {} if truths is None else truths)
    finals = [truth_of(run.certificate.unit) for run in runs]
    known = best_known(config)
    feasible = [truth.objective for truth in finals if truth.feasible]
    best = known if known is not None else min(feasible, default=None)
    progress, areas = _progress(runs, settings.budget, truth_of, best)
    outcomes = list(zip(runs, finals, areas, strict=True))
    lines = {
        name: _line([outcome for outcome in outcomes if outcome[0].task.solver == name], best)
        for name in dict.fromkeys(run.task.solver for run in runs)
    }
    start = truth_of(problem.start)
    entry = {
        "best_known": best,
        "gap_to": BEST_OF_STUDY if known is None else BEST_KNOWN,
        "start_objective": start.objective if start.feasible else None,
        "post_replications": post,
        **lines,
    }
    return entry, progress


def _progress(
    runs: Sequence[SolverRun],
    budget: int,
    truth_of: Callable[[Floats], _Truth],
    best: float | None,
) -> tuple[dict[str, list[Any]], list[float]]:
    """Return the columns of ``progress.csv``, and the mean gap of each run over the budget."""
    marks = np.linspace(0, budget, CHECKPOINTS + 1)[1:].round().astype(int).tolist()
    rows: list[tuple[Any, ...]] = []
    areas = []
    for run in runs:
        gaps = []
        for mark in marks:
            truth = truth_of(_recommended(run, mark))
            gap = truth.gap(best)
            gaps.append(min(1.0, gap) if gap is not None else 1.0)
            rows.append((run.task.solver, run.task.macrorep, mark, *truth, gap))
        areas.append(float(np.mean(gaps)))
    header = "solver", "macrorep", "replications", "objective", "violation", "gap"
    return columns_of(header, rows), areas


def columns_of(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    """Return rows as columns by name."""
    return {name: [row[k] for row in rows] for k, name in enumerate(header)}


def post_replications(budget: int) -> int:
    """Return the post-replications of a point that a run of `budget` replications recommends."""
    # They are common to all points, in no budget, and five times as many as the runs' own tests
    # have, so that they are not what limits the comparison.
    tested = replications_of_test(budget - search_budget(budget))
    return min(max(POST[0], 5 * tested), POST[1])


def _truth_of(
    problem: Problem, evaluator: Evaluator, post: int, truths: Journal
) -> Callable[[Floats], _Truth]:
    """Return a function that finds the truth about a point, about each point once."""

    def truth_of(unit: Floats) -> _Truth:
        address = (*problem.values(unit), float(post))
        if address not in truths:
            mean = evaluator.evaluate(unit, post).mean(axis=0)
            truths[address] = float(mean[0]), float(mean[1:].max(initial=0.0))
        objective, violation = truths[address]
        if np.isnan([objective, violation]).any():
            return _Truth(np.nan, np.inf)
        return _Truth(objective, violation)

    return truth_of


def _recommended(run: SolverRun, spent: int) -> Floats:
    """Return what a run would have recommended after `spent` replications."""
    if spent >= run.spent or not run.evaluations:
        return run.certificate.unit
    before = [evaluation for evaluation in run.evaluations if evaluation.spent <= spent]
    return (before[-1] if before else run.evaluations[0]).incumbent


def _line(runs: Sequence[tuple[SolverRun, _Truth, float]], best: float | None) -> dict[str, Any]:
    """Return the numbers of one solver, each with a 95 % bootstrap interval over its runs."""
    gaps = (truth.gap(best) for _, truth, _ in runs)
    distances = np.array([np.inf if gap is None else gap for gap in gaps])
    claimed = np.array([run.certificate.feasible is True for run, _, _ in runs])
    truly = np.array([truth.feasible for _, truth, _ in runs])
    objectives = np.array([t.objective if t.feasible else np.inf for _, t, _ in runs])
    areas = np.array([area for _, _, area in runs])
    measures: dict[str, tuple[Callable[..., Any], Floats]] = {
        "median_objective": (np.median, np.where(claimed, objectives, np.inf)),
        "area_under_curve": (np.mean, areas),
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
