"""Measure how far above the best known value `optimize` ends, and write the table of the page.

    python results/optimum-gap/make.py RUNS BUDGET [PROBLEM ...]

Every run counts: one without a certified point has a gap of infinity. Points are judged by fresh
replications, common to all. With PROBLEMs only their rows are made anew.
"""

from __future__ import annotations

import csv
import math
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from valmatch.config.loading import load
from valmatch.optimization.best_known import best_known
from valmatch.optimization.evaluation import Evaluator
from valmatch.optimization.problem_of_config import problem_of
from valmatch.optimization.run import RunSpec, Settings, run_solver
from valmatch.simulator import build
from valmatch.storage.output import cell, write_csv

HERE = Path(__file__).parent
SHIPPED = "valorant-20min", "valorant-x2", "valorant-30min", "valorant-15min"
TUNED = "valorant-20min", "valorant-x2"
"""Problems that settings of the default solver were chosen on, by runs of other random numbers."""

ALPHA = 0.05
JUDGED, JUDGE = 2_000, 987_654
"""Replications that judge a point, and their seed."""

Row = Mapping[str, object]


def judged(judge: Evaluator, unit: np.ndarray) -> np.ndarray:
    """Return the mean outcomes of a point in fresh replications."""
    means: np.ndarray = judge.evaluate(unit, JUDGED).mean(axis=0)
    return means


def rows_of(name: str, runs: int, budget: int) -> Iterator[Row]:
    """Yield a row for each run."""
    config = load(name)
    problem, best = problem_of(config, build(config)), best_known(config)
    assert best is not None
    judge = Evaluator(config, problem, JUDGE, 0, 1 << 62)
    for k in range(runs):
        run = run_solver(config, problem, RunSpec("auto", k), Settings(budget, 1, ALPHA))
        objective, *excess = judged(judge, run.certificate.unit).tolist()
        certified = run.certificate.feasible is True
        yield {
            "problem": name,
            "budget": budget,
            "run": k,
            "certified": certified,
            "gap_percent": 100.0 * (objective / best - 1.0) if certified else math.inf,
            "worst_excess": max(excess),
            "best_known": best,
        }


def line(rows: list[Row]) -> str:
    """Return a line of the table: a median with its interval by bootstrap, and shares."""
    gaps = np.array([float(str(row["gap_percent"])) for row in rows])
    drawn = np.random.default_rng(0).integers(len(gaps), size=(10_000, len(gaps)))
    low, high = np.quantile(np.median(gaps[drawn], axis=1), [0.025, 0.975], method="nearest")
    certified = [row for row in rows if str(row["certified"]) == "True"]
    wrong = sum(float(str(row["worst_excess"])) > 0.0 for row in certified)
    name = str(rows[0]["problem"])
    cells = (
        f"`{name}`{' (tuned on)' if name in TUNED else ''}",
        f"{int(str(rows[0]['budget'])):,}",
        str(len(rows)),
        f"{np.median(gaps):.2f} % [{low:.2f}, {high:.2f}]",
        f"{np.quantile(gaps, 0.9, method='nearest'):.2f} %",
        f"{len(certified)}",
        f"{wrong}",
    )
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Measure and write."""
    runs, budget, *names = sys.argv[1:]
    table = HERE / "gaps.csv"
    kept: dict[tuple[str, str], list[Row]] = {}
    if table.exists():
        with table.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                kept.setdefault((row["problem"], row["budget"]), []).append(dict(row))
    for name in names or SHIPPED:
        made = [
            {k: cell(v) for k, v in row.items()} for row in rows_of(name, int(runs), int(budget))
        ]
        kept[name, budget] = [*made]
        write_csv(table, {k: [row[k] for rows in kept.values() for row in rows] for k in made[0]})
        head = "| problem | budget | runs | median gap | nine of ten below | certified | wrongly |"
        lines = [head, "|---" * 7 + "|", *map(line, kept.values())]
        page = (HERE / "README.md").read_text("utf-8")
        text = re.sub(r"\| problem .*\n(\|.*\n)*", "\n".join(lines) + "\n", page)
        (HERE / "README.md").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
