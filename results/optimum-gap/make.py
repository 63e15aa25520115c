"""Measure how far above the best known value `optimize` ends, and write the table of the page.

    python results/optimum-gap/make.py RUNS BUDGET [PROBLEM ...]

Every run counts: one without a certified point has a gap of infinity. Points are judged by fresh
replications, common to all. Runs are made two at a time. With PROBLEMs only their rows are made
anew.
"""

from __future__ import annotations

import csv
import math
import re
import sys
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from pathlib import Path

import numpy as np

from valmatch.config.config import Config
from valmatch.config.loading import load
from valmatch.optimization.best_known import best_known
from valmatch.optimization.evaluation import Evaluator
from valmatch.optimization.problem import Problem
from valmatch.optimization.problem_of_config import problem_of
from valmatch.optimization.run import RunSpec, Settings, run_solver
from valmatch.simulator import build
from valmatch.storage.output import cell, write_csv

PAGE = Path(__file__).parent / "README.md"
TABLE = PAGE.with_name("gaps.csv")
TUNED = "valorant-20min", "valorant-x2"
"""Problems that settings of the default solver were chosen on, by runs of other random numbers."""

OTHERS = "valorant-trios", "valorant-evening", "valorant-p90", "valorant-two-limits"
"""Problems that were measured between changes of the solver: seen, if not tuned on."""

ALPHA = 0.05
JUDGED, JUDGE = 2_000, 987_654
"""Replications that judge a point, and their seed."""

Row = Mapping[str, object]


def judged(judge: Evaluator, unit: np.ndarray) -> np.ndarray:
    """Return the mean outcomes of a point in fresh replications."""
    means: np.ndarray = judge.evaluate(unit, JUDGED).mean(axis=0)
    return means


@cache
def posed(name: str) -> tuple[Config, Problem, float]:
    """Return a shipped problem with its best known objective."""
    config = load(name)
    best = best_known(config)
    assert best is not None
    return config, problem_of(config, build(config)), best


def row_of(name: str, budget: int, k: int) -> Row:
    """Return the row of a run."""
    config, problem, best = posed(name)
    run = run_solver(config, problem, RunSpec("auto", k), Settings(budget, 1, ALPHA))
    judge = Evaluator(config, problem, JUDGE, 0, 1 << 62)
    objective, *excess = judged(judge, run.certificate.unit).tolist()
    certified = run.certificate.feasible is True
    return {
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
        f"`{name}`{' (tuned on)' if name in TUNED else ' (seen)' if name in OTHERS else ''}",
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
    kept: dict[tuple[str, str], list[Row]] = {}
    if TABLE.exists():
        with TABLE.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                kept.setdefault((row["problem"], row["budget"]), []).append(dict(row))
    for name in names or (*TUNED, *OTHERS):
        with ProcessPoolExecutor(2) as pool:
            made = [*pool.map(partial(row_of, name, int(budget)), range(int(runs)))]
        kept[name, budget] = [{k: cell(v) for k, v in row.items()} for row in made]
        write(kept)


def write(kept: Mapping[tuple[str, str], list[Row]]) -> None:
    """Write the CSV file and the table of the page."""
    rows = [row for rows in kept.values() for row in rows]
    write_csv(TABLE, {name: [row[name] for row in rows] for name in rows[0]})
    head = "| problem | budget | runs | median gap | nine of ten below | certified | wrongly |"
    lines = [head, "|---" * 7 + "|", *map(line, kept.values())]
    page = PAGE.read_text("utf-8")
    PAGE.write_text(re.sub(r"\| problem .*\n(\|.*\n)*", "\n".join(lines) + "\n", page), "utf-8")


if __name__ == "__main__":
    main()
