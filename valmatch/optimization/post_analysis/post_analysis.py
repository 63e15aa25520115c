"""Analysis of the recommended point after a study, beyond its budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from valmatch.config.config import Config
from valmatch.model import Model
from valmatch.optimization.evaluation import Evaluator, Execution
from valmatch.optimization.post_analysis.baseline import (
    POST_ANALYSIS,
    BaselineComparison,
    compare_with_baseline,
    post_analysis_replications,
)
from valmatch.optimization.post_analysis.moves import PILOT
from valmatch.optimization.post_analysis.prices import Price, prices
from valmatch.optimization.problem import TODAY, Problem
from valmatch.optimization.solver_run import Settings, SolverRun
from valmatch.storage.output import write_csv

AGAINST_START, AGAINST_TODAY = "start_and_recommended.csv", "today_and_recommended.csv"


@dataclass(frozen=True)
class PostAnalysis:
    """The recommended point beside the start and today's rule, and what each constraint costs.

    Attributes
    ----------
    against_start : BaselineComparison
        Both points on the same fresh replications.
    prices : sequence of Price
        One for each constraint.
    spent : int
        Replications that this took, beyond the budget.
    against_today : BaselineComparison or None
        Today's rule and the recommended point on the same replications, where the config has values
        of its own for the variables.
    """

    against_start: BaselineComparison
    prices: Sequence[Price]
    spent: int
    against_today: BaselineComparison | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the part of ``summary.json`` that holds it."""
        today = self.against_today
        return {
            "start_and_recommended": self.against_start.as_dict(),
            **({"today_and_recommended": today.as_dict()} if today else {}),
            "prices": {price.constraint.name: price.as_dict() for price in self.prices},
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
    """Compare the point that a run came to with what the config gives; price the constraints there.

    Parameters
    ----------
    config, model, problem, settings
        What was optimised, and how.
    run : SolverRun
        The run whose point is recommended.
    check : callable
        Called before each replication; ends the work by what it raises.
    """
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
