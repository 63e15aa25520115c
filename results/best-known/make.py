"""Make the table of best known solutions.

    python results/best-known/make.py SCRATCH

SCRATCH takes the runs; those that are finished there are not made again.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from valmatch.storage.output import write_csv

HERE = Path(__file__).parent
CONFIGS = (
    "valorant-1",
    "valorant-1-published",
    "valorant-15min",
    "valorant-20min",
    "valorant-30min",
    "valorant-x2",
    "valorant-x10",
)
# Enough for 20,000 fresh replications of the recommended point.
BUDGET = 350_000
# Replications of ten times the players take ten times as long: just enough.
SMALLER = {"valorant-x10": 190_000}
SOLVERS = ("bayes", "cobyqa")


def solved(task: tuple[str, str, Path]) -> dict[str, Any]:
    """Return the summary of one run, made unless it is there."""
    config, solver, scratch = task
    out = scratch / f"{config}-{solver}"
    if not (out / "summary.json").exists():
        command = [sys.executable, "-m", "valmatch", "optimize", config, "--solver", solver]
        command += ["--budget", str(SMALLER.get(config, BUDGET)), "--out", str(out)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 3):
            sys.exit(done.stderr)
        (out / "evaluations.csv").unlink()
    result: dict[str, Any] = json.loads((out / "summary.json").read_text())
    return {**result, "config": config}


def point_of(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the recommended point, or that of least violation where none is feasible."""
    point: dict[str, Any] = summary["recommended"] or summary["least_violation"]
    return point


def rank(summary: dict[str, Any]) -> tuple[bool, float]:
    """Sort feasible solutions by objective, others by the wait."""
    found = point_of(summary)
    wait = found["constraints"]["upper_time"]["mean"]
    feasible = summary["feasible"] is True
    return not feasible, found["objective"]["mean"] if feasible else wait


def columns(best: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Return the columns of ``best-known.csv``."""
    rows = []
    for summary in best:
        found = point_of(summary)
        objective, wait = found["objective"], found["constraints"]["upper_time"]
        rows.append(
            {
                "config": summary["config"],
                "feasible": summary["feasible"],
                "solver": summary["solver"],
                **found["point"],
                "objective": objective["mean"],
                "objective_low": objective["ci_low"],
                "objective_high": objective["ci_high"],
                "avg_wait_time": wait["mean"],
                "avg_wait_time_low": wait["ci_low"],
                "avg_wait_time_high": wait["ci_high"],
                "upper_time": wait["bound"],
                "n": objective["n"],
            }
        )
    return {name: [row[name] for row in rows] for name in rows[0]}


def table(best: list[dict[str, Any]]) -> str:
    """Return the table of the page."""
    names = list(point_of(best[0])["point"])
    lines = [
        "| problem | objective | mean wait (limit) | n | " + " | ".join(names) + " |",
        "|---|---|---|---|" + "---|" * len(names),
    ]
    for summary in best:
        found = point_of(summary)
        objective, wait = found["objective"], found["constraints"]["upper_time"]
        value = f"{objective['mean']:.2f} ± {objective['ci_high'] - objective['mean']:.2f}"
        if summary["feasible"] is not True:
            value = "infeasible"
        waits = f"{wait['mean']:.3f} ± {wait['ci_high'] - wait['mean']:.3f} ({wait['bound']:g})"
        point = " | ".join(f"{x:.4g}" for x in found["point"].values())
        lines.append(f"| `{summary['config']}` | {value} | {waits} | {objective['n']} | {point} |")
    return "\n".join(lines)


def main() -> None:
    """Make the runs two at a time, then the CSV file and the table of the page."""
    scratch = Path(sys.argv[1])
    tasks = [(config, solver, scratch) for config in CONFIGS for solver in SOLVERS]
    with ThreadPoolExecutor(2) as pool:
        summaries = list(pool.map(solved, tasks))
    best = [
        min((one for one in summaries if one["config"] == config), key=rank) for config in CONFIGS
    ]
    write_csv(HERE / "best-known.csv", columns(best))
    page = HERE / "README.md"
    marks = r"(<!-- table -->\n).*(<!-- end -->)"
    text = re.sub(marks, rf"\1{table(best)}\n\2", page.read_text(), flags=re.DOTALL)
    page.write_text(text)


if __name__ == "__main__":
    main()
