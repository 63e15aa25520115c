"""Measure how far above the best known value `optimize` ends, and write the table of the page.

    python results/optimum-gap/make.py RUNS BUDGET [PROBLEM ...]

Every run counts: one without a certified point has a gap of infinity. Points are judged by fresh
replications, common to all. Runs are made two at a time. With PROBLEMs only their rows are made
anew, and all others stay. On 2 free cores 100 runs of a problem take about 1 minute at a budget of
1,000 and 3 at 5,000, of the ladder about 6 and 15. What is done is said on stderr.
"""

from __future__ import annotations

import math
import sys
import time
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from pathlib import Path
from statistics import median

import numpy as np

from results import capacity
from results.pages import add_page, fill, read
from valmatch.config.config import Config
from valmatch.config.loading import load
from valmatch.execution.simulator import build
from valmatch.optimization.best_known import best_known
from valmatch.optimization.evaluation import Evaluator
from valmatch.optimization.problem import Problem
from valmatch.optimization.problem_of_config import problem_of
from valmatch.optimization.solver_run import RunSpec, Settings, run_solver
from valmatch.storage.output import cell, write_csv

PAGE = Path(__file__).parent / "README.md"
TABLE = PAGE.with_name("gaps.csv")
TUNED = "valorant-20min", "valorant-x2"
"""Problems that settings of the default solver were chosen on, by runs of other random numbers."""

SEEN = "valorant-trios", "valorant-evening", "valorant-p90", "valorant-two-limits"
"""Problems that were measured between changes of the solver: seen, if not tuned on."""

UNSEEN = "ladder-duos", "ladder-pairs", "valorant-fours", "valorant-log"
"""Problems posed before the last change of the solver, and measured once, after it."""

MARKS = {"tuned on": TUNED, "seen": SEEN, "unseen": UNSEEN}

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
        f"`{name}`{''.join(f' ({mark})' for mark, names in MARKS.items() if name in names)}",
        f"{int(str(rows[0]['budget'])):,}",
        str(len(rows)),
        f"{np.median(gaps):.2f} % [{low:.2f}, {high:.2f}]",
        f"{np.quantile(gaps, 0.9, method='nearest'):.2f} %",
        f"{len(certified)}",
        f"{wrong}",
    )
    return "| " + " | ".join(cells) + " |"


def asked() -> Namespace:
    """Return what the command line asks for."""
    known = [name for names in MARKS.values() for name in names]
    usage, about = str(__doc__).split("\n\n", 1)
    problems = f"\nProblems: {', '.join(known)}."
    parser = ArgumentParser(
        description=usage, epilog=about + problems, formatter_class=RawDescriptionHelpFormatter
    )
    add_page(parser, page)
    parser.add_argument("runs", type=int, metavar="RUNS", help="runs of each problem, from 1")
    parser.add_argument("budget", type=int, metavar="BUDGET", help="replications of a run")
    parser.add_argument("problems", nargs="*", metavar="PROBLEM", help="all without any")
    given = parser.parse_args()
    given.problems = given.problems or known
    if strange := set(given.problems) - {*known}:
        parser.error(f"no problem of this page: {', '.join(sorted(strange))}")
    return given


def measured(name: str, budget: int, runs: int) -> list[Row]:
    """Return the rows of all runs of a problem; say how many are made, ten times."""
    started, made = time.monotonic(), list[Row]()
    with ProcessPoolExecutor(2) as pool:
        for row in pool.map(partial(row_of, name, budget), range(runs)):
            made.append(row)
            if len(made) % max(1, runs // 10) == 0 or len(made) == runs:
                took = (time.monotonic() - started) / 60.0
                left = took * (runs / len(made) - 1.0)
                print(
                    f"{name}, budget {budget:,}: {len(made)} of {runs} runs after {took:.1f} min,"
                    f" {left:.1f} min to go",
                    file=sys.stderr,
                    flush=True,
                )
    return [{key: cell(value) for key, value in row.items()} for row in made]


def main() -> None:
    """Measure and write."""
    given = asked()
    kept = made_before() if TABLE.exists() else {}
    for name in given.problems:
        kept[name, str(given.budget)] = measured(name, given.budget, given.runs)
        write(kept)


def made_before() -> dict[tuple[str, str], list[Row]]:
    """Return the rows of the CSV file by problem and budget."""
    kept: dict[tuple[str, str], list[Row]] = {}
    for row in read(TABLE):
        kept.setdefault((row["problem"], row["budget"]), []).append(row)
    return kept


def write(kept: Mapping[tuple[str, str], list[Row]]) -> None:
    """Write the CSV file and the table of the page."""
    order = [name for names in MARKS.values() for name in names]
    groups = sorted(
        kept.values(),
        key=lambda rows: (int(str(rows[0]["budget"])), order.index(str(rows[0]["problem"]))),
    )
    rows = [row for rows in groups for row in rows]
    write_csv(TABLE, {name: [row[name] for row in rows] for name in rows[0]})
    page()


def page() -> None:
    """Put the table and what sentences say into the page."""
    groups = made_before().values()
    texts = {f"unseen {budget}": unseen(budget) for budget in ("1000", "5000")}
    texts |= {f"distance {budget}": distance(budget) for budget in ("1000", "5000")}
    # From a limit of 15 minutes to one of 20.
    ends = [posed(name)[2] for name in ("valorant-15min", "valorant-20min")]
    texts["fall"] = f"{(ends[0] - ends[1]) / (20.0 - 15.0):.0f}"
    head = "| problem | budget | runs | median gap | nine of ten below | certified | wrongly |"
    lines = [head, "|---" * 7 + "|", *map(line, groups)]
    texts["capacity"] = capacity.runs_table("auto")
    fill(PAGE, {"table": "\n".join(lines) + "\n", **texts})


def unseen(budget: str) -> str:
    """Return the least and the largest median gap of the problems that nothing was chosen on."""
    medians = [
        median(float(str(row["gap_percent"])) for row in rows)
        for (name, own), rows in made_before().items()
        if name in UNSEEN and own == budget
    ]
    return f"{min(medians):.1f} to {max(medians):.1f}"


def distance(budget: str) -> str:
    """Return the median distance from the limit on the wait that runs of a problem keep."""
    rows = made_before()["valorant-20min", budget]
    return f"{-median(float(str(row['worst_excess'])) for row in rows):.2f}"


if __name__ == "__main__":
    main()
