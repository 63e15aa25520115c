"""Make the comparison of solvers at a budget of 1,000 replications.

    python results/solver-comparison/make.py SCRATCH [PYTHON]

SCRATCH takes the runs; those that are finished there are not made again. PYTHON is an interpreter
with the extra `simopt`, whose solvers are then compared too.
"""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from valmatch.storage.output import write_csv

HERE = Path(__file__).parent
PROBLEMS = ("valorant-20min", "valorant-x2")
SOLVERS = ("auto", "random", "nelder-mead", "cobyqa", "spsa", "cma-es", "bayes")
MACROREPS = 20
SIMOPT = "simopt"


def best_known(problem: str) -> float:
    """Return the best known objective of a problem."""
    with (HERE.parent / "best-known" / "best-known.csv").open() as file:
        return next(float(r["objective"]) for r in csv.DictReader(file) if r["config"] == problem)


def ours(problem: str, best: float, scratch: Path) -> list[dict[str, Any]]:
    """Return a line for each solver of `valmatch optimize`."""
    out = scratch / problem
    if not (out / "summary.json").exists():
        command = [sys.executable, "-m", "valmatch", "optimize", problem, "--workers", "2"]
        command += ["--solver", ",".join(SOLVERS), "--macroreps", str(MACROREPS)]
        command += ["--set", f"optimize.best_known={best!r}", "--out", str(out)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 3):
            sys.exit(done.stderr)
        (out / "evaluations.csv").unlink()
    solvers = json.loads((out / "summary.json").read_text())["solvers"]
    lines = []
    for name in SOLVERS:
        line = solvers[name]
        values = {k: v["value"] for k, v in line.items() if isinstance(v, dict)}
        median = line["median_objective"]
        interval = {"median_low": median["ci_low"], "median_high": median["ci_high"]}
        lines.append(
            {"problem": problem, "solver": name, "runs": line["runs"], **values, **interval}
        )
    return lines


def theirs(problem: str, best: float, python: str, scratch: Path) -> list[dict[str, Any]]:
    """Return a line for each of SimOpt's solvers on the penalised variant."""
    path = scratch / f"{problem}-{SIMOPT}.json"
    if not path.exists():
        command = [python, str(HERE / "simopt_runs.py"), problem, str(MACROREPS)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=scratch)
        if done.returncode:
            sys.exit(done.stderr)
        path.write_text(done.stdout.splitlines()[-1])
    lines = []
    for name, truths in json.loads(path.read_text()).items():
        worth = np.array([f if excess <= 0 else np.inf for f, excess in truths])
        median = float(np.median(worth))
        lines.append(
            {
                "problem": problem,
                "solver": f"SimOpt {name}",
                "runs": len(worth),
                "median_objective": median if np.isfinite(median) else None,
                "within_5_percent": float(np.mean(worth <= 1.05 * best)),
                "within_10_percent": float(np.mean(worth <= 1.10 * best)),
                "wrongly_called_feasible": float(np.mean(np.isinf(worth))),
            }
        )
    return lines


def table(lines: list[dict[str, Any]]) -> str:
    """Return the table of the page."""
    text = [
        "| problem | solver | median objective | within 5 % | within 10 % | area | infeasible |",
        "|---|---|---|---|---|---|---|",
    ]
    for line in lines:
        median = line["median_objective"]
        area = line.get("area_under_curve")
        cells = [
            f"`{line['problem']}`",
            line["solver"],
            "none" if median is None else f"{median:.1f}",
            f"{line['within_5_percent']:.0%}",
            f"{line['within_10_percent']:.0%}",
            "" if area is None else f"{area:.3f}",
            f"{line['wrongly_called_feasible']:.0%}",
        ]
        text.append("| " + " | ".join(cells) + " |")
    return "\n".join(text)


def main() -> None:
    """Make the runs, the CSV file and the table of the page."""
    scratch = Path(sys.argv[1])
    scratch.mkdir(parents=True, exist_ok=True)
    lines = []
    for problem in PROBLEMS:
        best = best_known(problem)
        lines += ours(problem, best, scratch)
        if len(sys.argv) > 2:
            lines += theirs(problem, best, str(Path(sys.argv[2]).absolute()), scratch)
    names = list(dict.fromkeys(name for line in lines for name in line))
    write_csv(HERE / "comparison.csv", {n: [line.get(n) for line in lines] for n in names})
    page = HERE / "README.md"
    marks = r"(<!-- table -->\n).*(<!-- end -->)"
    text = re.sub(marks, rf"\1{table(lines)}\n\2", page.read_text(), flags=re.DOTALL)
    page.write_text(text)


if __name__ == "__main__":
    main()
