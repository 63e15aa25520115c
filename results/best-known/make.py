"""Make the table of best known solutions.

    python results/best-known/make.py SCRATCH [CONFIG ...]

SCRATCH takes the runs; those that are finished there are not made again. With CONFIGs only these
problems are solved anew, and the other rows of the table stay as they are; with none, all are.
"""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from valmatch.optimization.best_known import shipped_problems, table_file
from valmatch.storage.output import cell, write_csv

PAGE = Path(__file__).parent / "README.md"
# Enough for 20,000 fresh replications of the recommended point.
BUDGET = 350_000
# Where replications take longer: what they are worth in an hour or so.
SMALLER = {
    "valorant-x10": 190_000,
    "kg-tune": 100_000,
    "ladder-tune": 5_000,
    "zonestats-tune": 20_000,
}
SOLVERS = ("auto", "cobyqa")
FACTS = ("config", "feasible", "solver", "replications", "date", "n")
"""First columns of the table; the means follow, then the values of the variables."""


def solved(task: tuple[str, str, Path]) -> dict[str, Any]:
    """Return the summary of one run, made unless it is there, with the day it was made."""
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
    manifest = json.loads((out / "manifest.json").read_text())
    return {**result, "config": config, "date": manifest["started"][:10]}


def point_of(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the recommended point, or that of least violation where none is feasible."""
    point: dict[str, Any] = summary["recommended"] or summary["least_violation"]
    return point


def rank(summary: dict[str, Any]) -> tuple[bool, float]:
    """Sort feasible solutions by objective, others by the largest violation."""
    found = point_of(summary)
    if summary["feasible"] is True:
        return False, found["objective"]["mean"]
    signs = {"<=": 1.0, ">=": -1.0}
    excesses = [
        signs[one["sense"]] * (one["mean"] - one["bound"]) for one in found["constraints"].values()
    ]
    return True, max(excesses, default=0.0)


def row_of(summaries: list[dict[str, Any]]) -> dict[str, str]:
    """Return the row of a problem: the best of its runs, and the effort of all of them."""
    best = min(summaries, key=rank)
    found = point_of(best)
    spent = sum(one["spent"] for one in summaries)
    facts = (best["config"], best["feasible"], best["algorithm"], spent, best["date"])
    row: dict[str, Any] = dict(zip(FACTS, (*facts, found["objective"]["n"]), strict=True))
    means = {"objective": found["objective"]}
    means |= {one["response"]: one for one in found["constraints"].values()}
    for name, mean in means.items():
        row |= {name: mean["mean"], f"{name}_low": mean["ci_low"], f"{name}_high": mean["ci_high"]}
    return {name: cell(value) for name, value in {**row, **found["point"]}.items()}


def ordered(names: list[str]) -> list[str]:
    """Return the columns: facts, means, then variables."""
    means = [name for name in names if name.removesuffix("_low").removesuffix("_high") != name]
    means += [name for name in names if f"{name}_low" in names]
    return sorted(names, key=lambda name: (name not in FACTS, name not in means))


def table(rows: list[dict[str, str]]) -> str:
    """Return the table of the page."""
    posed = shipped_problems()
    lines = ["| problem | objective | constraints | n | effort | date | point |", "|---" * 7 + "|"]
    for row in rows:
        value = _mean(row, "objective", 2) if row["feasible"] == "True" else "infeasible"
        given = posed[row["config"]].optimize
        bounds = [
            f"{one.response} {_mean(row, one.response, 3)} (limit"
            f" {one.at_least if one.at_most is None else one.at_most:g})"
            for one in given.constraints.values()
        ]
        point = " ".join(f"{name}={float(row[name]):.4g}" for name in given.variables)
        effort = f"{int(row['replications']):,}"
        cells = [f"`{row['config']}`", value, ", ".join(bounds) or "none", row["n"], effort]
        lines.append("| " + " | ".join([*cells, row["date"], f"`{point}`"]) + " |")
    return "\n".join(lines)


def _mean(row: dict[str, str], name: str, digits: int) -> str:
    mean, high = float(row[name]), float(row[f"{name}_high"])
    return f"{mean:.{digits}f} ± {high - mean:.{digits}f}"


def write(rows: dict[str, dict[str, str]]) -> None:
    """Write the CSV file and the table of the page, in the order of the shipped configs."""
    kept = [rows[name] for name in shipped_problems() if name in rows]
    names = ordered(list(dict.fromkeys(name for row in kept for name in row)))
    write_csv(table_file(), {name: [row.get(name, "") for row in kept] for name in names})
    marks = r"(<!-- table -->\n).*(<!-- end -->)"
    text = re.sub(marks, rf"\1{table(kept)}\n\2", PAGE.read_text(), flags=re.DOTALL)
    PAGE.write_text(text)


def main() -> None:
    """Make the runs two at a time; write what they change after each problem."""
    scratch, chosen = Path(sys.argv[1]), sys.argv[2:] or list(shipped_problems())
    with table_file().open(newline="") as file:
        rows = {row["config"]: dict(row) for row in csv.DictReader(file)}
    with ThreadPoolExecutor(2) as pool:
        for config in chosen:
            tasks = [(config, solver, scratch) for solver in SOLVERS]
            rows[config] = row_of(list(pool.map(solved, tasks)))
            write(rows)


if __name__ == "__main__":
    main()
