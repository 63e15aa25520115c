"""Make the table of best known solutions.

    python results/best-known/make.py SCRATCH [CONFIG ...]

SCRATCH takes the runs; those that are finished there are not made again. With CONFIGs only these
problems are solved anew, and the other rows of the table stay as they are; with none, all are. A
row gives way to better ones alone: delete that of a problem that has changed. Each of the six runs
of a problem takes from some minutes to an hour or so. What is done is said on stderr.
"""

from __future__ import annotations

import csv
import json
import math
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from results.pages import add_page, counted, fill, parser, read
from valmatch.optimization.best_known import shipped_problems, table_file
from valmatch.storage.output import cell, write_csv

PAGE = Path(__file__).parent / "README.md"
# Enough for 20,000 fresh replications of the recommended point.
BUDGET = 350_000
# Where replications take longer: what they are worth in an hour or so, or some minutes.
SMALLER = {
    "valorant-x10": 190_000,
    "kg-tune": 100_000,
    "ladder-tune": 5_000,
    "zonestats-tune": 20_000,
    "ladder-duos": 20_000,
    "ladder-pairs": 10_000,
    "valorant-1-bounds": 60_000,
    "valorant-1-hours": 60_000,
    "valorant-20min-pairs": 40_000,
    "valorant-fours": 40_000,
    "valorant-log": 40_000,
    "tickets-tune": 200,
}
SAME = {"valorant-20min-n150": "valorant-20min"}
"""Problems that differ from others in their random solutions alone have the row of these."""

SOLVERS = ("auto", "cobyqa")
SEEDS = 1, 2, 3
"""Searches end in different basins: each solver starts from each of these seeds."""

CONFIDENCE = 0.95
"""Of what is said of days of which none was seen."""

FACTS = ("config", "feasible", "solver", "replications", "date", "n")
"""First columns of the table; the means follow, then the values of the variables."""


def solved(task: tuple[str, str, int, Path]) -> dict[str, Any]:
    """Return the summary of one run, made unless it is there, with the day it was made."""
    config, solver, seed, scratch = task
    out = scratch / f"{config}-{solver}-{seed}"
    if not (out / "summary.json").exists():
        command = [sys.executable, "-m", "valmatch", "optimize", config, "--solver", solver]
        command += ["--budget", str(SMALLER.get(config, BUDGET)), "--seed", str(seed)]
        command += ["--out", str(out)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 3):
            sys.exit(done.stderr)
        (out / "evaluations.csv").unlink()
    result: dict[str, Any] = json.loads((out / "summary.json").read_text())
    manifest = json.loads((out / "manifest.json").read_text())
    return {**result, "config": config, "date": manifest["started"][:10]}


def point_of(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the recommended point, or that of least violation.

    Empty if nothing was defined, or anything undefined in a fresh replication of the point: a
    solution has a value in every replication of its row.
    """
    point: dict[str, Any] = summary["recommended"] or summary["least_violation"]
    means = [point["objective"], *point["constraints"].values()] if point else []
    return {} if any(one["undefined"] for one in means) else point


def rank(row: dict[str, str]) -> tuple[bool, float]:
    """Sort feasible solutions by objective, others by the largest violation."""
    if row["feasible"] == "True":
        return False, float(row["objective"])
    excesses = []
    for one in shipped_problems()[row["config"]].optimize.constraints.values():
        mean = float(row[one.response])
        if one.at_most is not None:
            excesses.append(mean - one.at_most)
        if one.at_least is not None:
            excesses.append(one.at_least - mean)
    return True, max(excesses, default=0.0)


def row_of(summary: dict[str, Any], spent: int) -> dict[str, str]:
    """Return the row of a run; `spent` is the effort of all runs of its problem."""
    found = point_of(summary)
    facts = (
        *(summary[name] for name in ("config", "feasible", "algorithm")),
        spent,
        summary["date"],
    )
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
        value = _mean(row, "objective") if row["feasible"] == "True" else "infeasible"
        given = posed[row["config"]].optimize
        bounds = [
            f"{one.response} {_mean(row, one.response)} (limit"
            f" {one.at_least if one.at_most is None else one.at_most:g})"
            for one in given.constraints.values()
        ]
        point = " ".join(f"{name}={float(row[name]):.4g}" for name in given.variables)
        effort = f"{int(row['replications']):,}"
        cells = [f"`{row['config']}`", value, ", ".join(bounds) or "none", row["n"], effort]
        lines.append("| " + " | ".join([*cells, row["date"], f"`{point}`"]) + " |")
    return "\n".join(lines)


def _mean(row: dict[str, str], name: str) -> str:
    """Return a mean to the two leading digits of the half-width of its interval."""
    mean, high = float(row[name]), float(row[f"{name}_high"])
    digits = 1 - math.floor(math.log10(high - mean)) if high > mean else 3
    return f"{mean:.{max(0, digits)}f} ± {high - mean:.{max(0, digits)}f}"


def write(rows: dict[str, dict[str, str]]) -> None:
    """Write the CSV file and the table of the page, in the order of the shipped configs."""
    rows |= {name: {**rows[other], "config": name} for name, other in SAME.items()}
    kept = [rows[name] for name in shipped_problems() if name in rows]
    names = ordered(list(dict.fromkeys(name for row in kept for name in row)))
    write_csv(table_file(), {name: [row.get(name, "") for row in kept] for name in names})
    page()


def page() -> None:
    """Put the table into the page, and how rare a day is of which a row has seen none."""
    rows = read(table_file())
    days = next(int(row["n"]) for row in rows if row["config"] == "valorant-1-hours")
    # None of n days: rarer than p where (1 - p)^n is what is left of the confidence.
    rarer = math.floor(-1.0 / math.expm1(math.log(1.0 - CONFIDENCE) / days))
    fill(PAGE, {"table": f"{table(rows)}\n", "rarer": f"{rarer:,}"})


def main() -> None:
    """Make the runs two at a time; write what they change after each problem."""
    given = parser(__doc__)
    add_page(given, page)
    given.add_argument("scratch", type=Path, metavar="SCRATCH")
    given.add_argument("configs", nargs="*", metavar="CONFIG")
    asked = given.parse_args()
    scratch = asked.scratch
    chosen = [SAME.get(name, name) for name in asked.configs or shipped_problems()]
    with table_file().open(newline="") as file:
        rows = {row["config"]: dict(row) for row in csv.DictReader(file)}
    with ThreadPoolExecutor(2) as pool:
        for config in dict.fromkeys(chosen):
            tasks = [(config, solver, seed, scratch) for seed in SEEDS for solver in SOLVERS]
            made = counted(config, pool.map(solved, tasks), len(tasks))
            runs = [run for run in made if point_of(run)]
            spent = sum(run["spent"] for run in runs)
            known = [rows[config]] if config in rows else []
            rows[config] = min([*known, *(row_of(run, spent) for run in runs)], key=rank)
            write(rows)


if __name__ == "__main__":
    main()
