"""Run the solvers on capacity problems, which nothing was chosen on and whose best point is known.

    python results/solver-comparison/capacity_runs.py [RUNS]

makes RUNS runs (20) of each solver at a budget of 1,000, and of `auto` at 5,000, two at a time.
That takes some ten minutes on two free cores. Points are judged by what is expected of them.
`capacity.csv` has every run; the tables of this page and of `optimum-gap` are made of it.
"""

from __future__ import annotations

import math
import subprocess
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from results import capacity
from results.pages import counted
from valmatch.execution.simulator import build
from valmatch.optimization.problem_of_config import problem_of
from valmatch.optimization.solver_run import RunSpec, Settings, run_solver
from valmatch.storage.output import cell, write_csv

HERE = Path(__file__).parent
TABLE = HERE / "capacity.csv"
PAGES = HERE / "make.py", HERE.parent / "optimum-gap" / "make.py"

SOLVERS = "auto", "random", "nelder-mead", "cobyqa", "spsa", "cma-es"
"""`bayes` is `auto`."""

KINDS = (*((1_000, solver) for solver in SOLVERS), (5_000, "auto"))
SEED, ALPHA = 1, 0.05

Task = tuple[str, int, str, int]


def row_of(task: Task) -> Mapping[str, object]:
    """Return the row of a run; without a certified point its gap is infinite."""
    name, budget, solver, k = task
    posed = capacity.PROBLEMS[name]
    with capacity.registered():
        config = capacity.config_of(name)
        problem = problem_of(config, build(config))
        run = run_solver(config, problem, RunSpec(solver, k), Settings(budget, SEED, ALPHA))
    point = problem.point(run.certificate.unit)
    cost, load = posed.expected(np.array([point[one] for one in posed.names]))
    certified = run.certificate.feasible is True
    gap = 100.0 * (cost / posed.best - 1.0) if certified else math.inf
    found = {"certified": certified, "gap_percent": gap, "load": load}
    return {"problem": name, "budget": budget, "solver": solver, "run": k, **found}


def main() -> None:
    """Make the runs, then the tables of both pages."""
    usage, about = str(__doc__).split("\n\n", 1)
    given = ArgumentParser(
        description=usage, epilog=about, formatter_class=RawDescriptionHelpFormatter
    )
    given.add_argument("runs", nargs="?", type=int, default=20, metavar="RUNS")
    runs = range(given.parse_args().runs)
    tasks = [(name, *kind, k) for name in capacity.PROBLEMS for kind in KINDS for k in runs]
    with ProcessPoolExecutor(2) as pool:
        rows = [*counted("runs", pool.map(row_of, tasks), len(tasks))]
    write_csv(TABLE, {key: [cell(row[key]) for row in rows] for key in rows[0]})
    for page in PAGES:
        subprocess.run([sys.executable, str(page), "--page"], check=True)


if __name__ == "__main__":
    main()
