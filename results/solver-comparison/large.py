"""Compare solvers at large budgets and with limits on percentiles.

    python results/solver-comparison/large.py SCRATCH [CASE ...]

SCRATCH takes a file for each run; runs that are there are not made again. With CASEs only their
missing runs are made; `large.csv` and the table of the page are made of all runs that are there.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from valmatch.config.config import Config
from valmatch.config.loading import load
from valmatch.execution.simulator import build
from valmatch.models.model import Model
from valmatch.optimization.evaluation import Evaluator
from valmatch.optimization.problem_of_config import problem_of
from valmatch.optimization.solver_run import RunSpec, Settings, run_solver
from valmatch.optimization.studies.solver_comparison import POST_FIRST, bootstrapped
from valmatch.storage.output import write_atomically, write_csv

HERE = Path(__file__).parent
TABLE = HERE / "large.csv"

JUDGED, JUDGE = 4_000, 1_000_003
"""Fresh replications that judge every point, and the seed that they are drawn by."""

TAIL = {"tail": {"response": "wait_p95", "at_most": 50}}
"""Minutes within which 95 % of the trios wait, in place of the limit on their mean wait."""


@dataclass(frozen=True)
class Case:
    """Runs of some solvers on a problem.

    Attributes
    ----------
    problem : str
        Name of a shipped problem.
    budget, runs : int
        Replications of a run; runs of each solver, of the seeds from 1 on.
    solvers : sequence of str
        Names of the solvers. `auto` is `bayes`.
    tail : bool
        Whether its constraints are replaced by a limit on a percentile.
    """

    problem: str
    budget: int
    runs: int
    solvers: Sequence[str] = ("bayes", "cobyqa")
    tail: bool = False

    @property
    def posed(self) -> str:
        """The problem by name."""
        return f"{self.problem}-p95" if self.tail else self.problem

    @property
    def name(self) -> str:
        """The case by name."""
        return f"{self.posed}-{self.budget}"

    def config(self) -> Config:
        """Return the config of the problem."""
        if not self.tail:
            return load(self.problem)
        shipped = load(self.problem)
        posed = shipped.optimize.model_dump(mode="json", exclude_none=True) | {"constraints": TAIL}
        factors = shipped.factors.model_dump(mode="json", exclude_unset=True)
        return load({"model": shipped.model, "factors": factors, "optimize": posed})


CASES = {
    case.name: case
    for case in (
        Case("valorant-trios", 1_000, 20, tail=True),
        Case("valorant-trios", 5_000, 20, tail=True),
        Case("valorant-20min", 40_000, 5),
        Case("valorant-trios", 40_000, 5, tail=True),
        Case("valorant-p90", 40_000, 5),
    )
}


def made(case: Case, solver: str, seed: int) -> dict[str, Any]:
    """Return what a run came to, and what its point is truly worth."""
    config = case.config()
    model: Model[object] = build(config)
    problem = problem_of(config, model)
    run = run_solver(config, problem, RunSpec(solver, 0), Settings(case.budget, seed, 0.05))
    judge = Evaluator(config, problem, JUDGE, POST_FIRST, budget=JUDGED)
    outcomes = judge.evaluate(run.certificate.unit, JUDGED)
    objective, *excesses = outcomes.mean(axis=0).tolist()
    return {
        "certified": run.certificate.feasible,
        "spent": run.spent,
        "objective": objective,
        "excess": max(excesses),
        "point": problem.point(run.certificate.unit),
    }


def kept(case: Case, scratch: Path) -> Iterator[tuple[str, int, Path]]:
    """Give solver, seed and file of every run of a case; all solvers of a seed follow."""
    for seed in range(1, case.runs + 1):
        for solver in case.solvers:
            yield solver, seed, scratch / f"{case.name}-{solver}-{seed}.json"


def lines(scratch: Path) -> list[dict[str, Any]]:
    """Return a line for each case and solver of which there are runs."""
    found: dict[Case, dict[str, list[dict[str, Any]]]] = {}
    for case in CASES.values():
        for solver, _, path in kept(case, scratch):
            if path.exists():
                runs = found.setdefault(case, {}).setdefault(solver, [])
                runs.append(json.loads(path.read_text("utf-8")))
    best: dict[str, float] = {}
    for case, solvers in found.items():
        for run in (run for runs in solvers.values() for run in runs if run["excess"] <= 0.0):
            best[case.posed] = min(best.get(case.posed, np.inf), run["objective"])
    return [
        _line(case, solver, runs, best[case.posed])
        for case, solvers in found.items()
        for solver, runs in solvers.items()
    ]


def _line(case: Case, solver: str, runs: list[dict[str, Any]], best: float) -> dict[str, Any]:
    """Return what runs of a solver came to, beside the best point of all runs on the problem."""
    gaps = np.array([run["objective"] / best - 1.0 for run in runs])
    median = bootstrapped(np.median, gaps)
    return {
        "problem": case.posed,
        "budget": case.budget,
        "solver": solver,
        "runs": len(runs),
        "best": best,
        "median_gap": median["value"],
        "median_low": median["ci_low"],
        "median_high": median["ci_high"],
        "worst_gap": float(gaps.max()),
        "not_certified": sum(run["certified"] is not True for run in runs),
        "wrongly_certified": sum(run["certified"] is True and run["excess"] > 0.0 for run in runs),
    }


def write(rows: Sequence[dict[str, Any]]) -> None:
    """Write the CSV file and the table of the page."""
    write_csv(TABLE, {name: [row[name] for row in rows] for name in rows[0]})
    subprocess.run([sys.executable, str(HERE / "make.py"), "--page"], check=True)


def main() -> None:
    """Make the runs that are missing, then the table."""
    usage, about = str(__doc__).split("\n\n", 1)
    cases = f"\nCases: {', '.join(CASES)}."
    parser = ArgumentParser(
        description=usage, epilog=about + cases, formatter_class=RawDescriptionHelpFormatter
    )
    parser.add_argument("scratch", type=Path, metavar="SCRATCH", help="folder of the runs")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="all without any")
    parser.add_argument("--seeds", type=int, default=20, help="seeds of each case at most; 20")
    given = parser.parse_args()
    if strange := set(given.cases) - CASES.keys():
        parser.error(f"no case of this study: {', '.join(sorted(strange))}")
    given.scratch.mkdir(parents=True, exist_ok=True)
    for case in (CASES[name] for name in given.cases or CASES):
        for solver, seed, path in kept(case, given.scratch):
            if path.exists() or seed > given.seeds:
                continue
            started = time.monotonic()
            run = made(case, solver, seed)
            with write_atomically(path) as file:
                file.write(json.dumps(run))
            took = time.monotonic() - started
            print(f"{case.name}: {solver}, seed {seed}, {took:.0f} s", file=sys.stderr, flush=True)
    write(lines(given.scratch))


if __name__ == "__main__":
    main()
