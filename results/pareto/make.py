"""Compare Pareto fronts with sweeps of a bound by the volume that their true means dominate.

    python results/pareto/make.py SCRATCH [RUNS]

SCRATCH takes the runs; those that are finished there are not made again. RUNS is the number of
seeds, 20 if it is not given, which take five minutes on two cores. What is done is said on stderr.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from results.pages import add_page, counted, fill, parser, read, table
from valmatch.config.loading import load
from valmatch.execution.simulator import build
from valmatch.optimization.evaluation import Evaluator
from valmatch.optimization.nondominated import hypervolume
from valmatch.optimization.problem_of_config import problem_of
from valmatch.optimization.studies.solver_comparison import POST_FIRST, bootstrapped
from valmatch.storage.output import write_csv

HERE = Path(__file__).parent
# Team difference against the mean wait, over the five variables of the source; both methods see
# rules up to the reference point alone.
CONFIG = "valorant-1-published"
REFERENCE = {"avg_team_diff": 200.0, "avg_wait_time": 25.0}
BUDGET = 1000
SWEEP = "upper_time=13:22:1"  # ten values, a tenth of the budget each
VALUES = 10
POST = 500

METHODS: dict[str, tuple[int, list[str]]] = {
    "sweep": (BUDGET, ["--sweep", SWEEP, "--budget", str(BUDGET // VALUES)]),
    "front": (BUDGET, ["--pareto", ",".join(REFERENCE), "--budget", str(BUDGET)]),
    "front, half": (BUDGET // 2, ["--pareto", ",".join(REFERENCE), "--budget", str(BUDGET // 2)]),
}
LIMIT = f"upper_time={REFERENCE['avg_wait_time']:g}"


def found(method: str, seed: int, scratch: Path) -> list[dict[str, float]]:
    """Return the points that a run came to, certified ones only; made unless it is there."""
    out = scratch / f"{method.replace(', ', '-')}-{seed}"
    if not (out / "summary.json").exists():
        command = [sys.executable, "-m", "valmatch", "optimize", CONFIG, "--seed", str(seed)]
        command += ["--set", LIMIT, *METHODS[method][1], "--out", str(out)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 3):
            sys.exit(done.stderr)
        (out / "evaluations.csv").unlink()
    points = json.loads((out / "summary.json").read_text())
    if method == "sweep":
        return [
            one["recommended"]["point"] for one in points["frontier"] if one["feasible"] is True
        ]
    return [one["point"] for one in points["front"]]


@cache
def judge() -> Callable[[dict[str, float]], tuple[float, float]]:
    """Return what gives the true means of a point, by fresh replications common to all points."""
    config = load(CONFIG, [LIMIT])
    problem = problem_of(config, build(config))
    evaluator = Evaluator(config, problem, 1, POST_FIRST, budget=1 << 62)

    def means(point: dict[str, float]) -> tuple[float, float]:
        unit = np.array([v.to_unit(point[v.name]) for v in problem.variables])
        difference, excess = evaluator.evaluate(unit, POST).mean(axis=0).tolist()
        return difference, excess + problem.constraints[0].bound

    return means


def volume(points: list[dict[str, float]]) -> float:
    """Return the share of the box from (0, 0) to the reference that true means dominate."""
    reference = np.array(list(REFERENCE.values()))
    means = np.array([judge()(point) for point in points]).reshape(-1, 2)
    return hypervolume(means, reference) / float(reference.prod())


def volumes_table(rows: list[dict[str, Any]]) -> str:
    """Return the table of the page."""
    lines = []
    volumes = volumes_of(rows)
    for name, (budget, _) in METHODS.items():
        points = np.mean([row["points"] for row in rows if row["method"] == name])
        ratios = volumes[name] / volumes["sweep"]
        cells = [name, f"{budget:,}", str(len(ratios)), f"{points:.1f}"]
        cells += [shown(volumes[name]), shown(ratios)]
        lines.append(cells)
    head = ["method", "replications", "runs", "points", "volume", "volume / that of the sweep"]
    return table(head, lines)


def volumes_of(rows: list[dict[str, Any]]) -> dict[str, np.ndarray[Any, Any]]:
    """Return the volumes of each method, seed by seed."""
    return {
        name: np.array([row["volume"] for row in rows if row["method"] == name]) for name in METHODS
    }


def shown(values: np.ndarray[Any, Any], digits: int = 4) -> str:
    """Return a mean with its bootstrap interval."""
    one = bootstrapped(np.mean, values)
    low, high = (f"{one[end]:.{digits}f}" for end in ("ci_low", "ci_high"))
    return f"{one['value']:.{digits}f} [{low}, {high}]"


def row_of(seed: int, method: str, scratch: Path) -> dict[str, Any]:
    """Return the row of a run in the CSV file."""
    points = found(method, seed, scratch)
    facts = {"seed": seed, "method": method, "replications": METHODS[method][0]}
    return {**facts, "points": len(points), "volume": volume(points)}


def main() -> None:
    """Make the runs, the CSV file and the table of the page."""
    given = parser(__doc__)
    add_page(given, page)
    given.add_argument("scratch", type=Path, metavar="SCRATCH")
    given.add_argument("runs", nargs="?", type=int, default=20, metavar="RUNS")
    chosen = given.parse_args()
    runs = [(seed, method) for seed in range(1, chosen.runs + 1) for method in METHODS]
    made = (row_of(seed, method, chosen.scratch) for seed, method in runs)
    rows = [*counted("runs", made, len(runs))]
    write_csv(HERE / "hypervolume.csv", {name: [row[name] for row in rows] for name in rows[0]})
    page()


def page() -> None:
    """Put the table into the page."""
    numbers = ("seed", "replications", "points", "volume")
    rows = [
        {key: float(text) if key in numbers else text for key, text in row.items()}
        for row in read(HERE / "hypervolume.csv")
    ]
    texts = {"table": volumes_table(rows)}
    volumes = volumes_of(rows)
    for name in METHODS:
        if name != "sweep":
            texts[name] = shown(100.0 * (volumes[name] / volumes["sweep"] - 1.0), 1)
    fill(HERE / "README.md", texts)


if __name__ == "__main__":
    main()
