"""Make the table of best known solutions.

    python results/best-known/make.py [PROBLEM ...]

solves the problems again, each in six runs that take from some minutes to an hour or so. Runs go to
`runs/`; those that are finished there are not made again. A row gives way to better ones alone:
delete that of a problem that has changed.
"""

import json
import math
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from results.study import CONFIDENCE, Row, Study, counted, read, run_command, two_digits
from valmatch.optimization.problem import shipped_problems, table_file
from valmatch.optimization.verdict import PointResult
from valmatch.storage.output import cell, write_csv

study = Study(globals())
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
PROBLEMS = shipped_problems()
# Problems that differ from others in their random solutions alone have the row of these.
SAME = {"valorant-20min-n150": "valorant-20min"}
# Searches end in different basins: each solver starts from each of these seeds.
SEARCHES = [(solver, seed) for seed in (1, 2, 3) for solver in ("auto", "cobyqa")]
# First columns of the table; the means follow, then the values of the variables.
FACTS = ("config", "feasible", "solver", "replications", "date", "n")


def solved(config: str, search: tuple[str, int]) -> dict[str, Any]:
    """Return the summary of one run, made unless it is there, with the day it was made."""
    solver, seed = search
    out = study.folder / "runs" / f"{config}-{solver}-{seed}"
    if not (out / "summary.json").exists():
        words = ["optimize", config, "--solver", solver, "--seed", str(seed), "--out", str(out)]
        run_command(*words, "--budget", str(SMALLER.get(config, BUDGET)))
        (out / "evaluations.csv").unlink()
    result: dict[str, Any] = json.loads((out / "summary.json").read_text())
    manifest = json.loads((out / "manifest.json").read_text())
    return {**result, "config": config, "date": manifest["started"][:10]}


def point_of(summary: dict[str, Any]) -> PointResult | None:
    """Return the recommended point, or that of least violation.

    None if nothing was defined, or anything undefined in a fresh replication of the point: a
    solution has a value in every replication of its row.
    """
    point = PointResult.read_verdict(summary)
    return None if point and any(one.undefined for one in point.means.values()) else point


def rank(row: Row) -> tuple[bool, float]:
    """Sort feasible solutions by objective, others by the largest violation."""
    if row["feasible"] == "True":
        return False, float(row["objective"])
    bounds = PROBLEMS[row["config"]].optimize.constraints.values()
    excesses = [one.sign * (float(row[one.response]) - one.bound) for one in bounds]
    return True, max(excesses, default=0.0)


def row_of(summary: dict[str, Any], spent: int) -> Row:
    """Return the row of a run; `spent` is the effort of all runs of its problem."""
    found = point_of(summary)
    assert found
    names = (summary[name] for name in ("config", "feasible", "algorithm"))
    facts = (*names, spent, summary["date"], found.objective.n)
    row = dict(zip(FACTS, facts, strict=True)) | found.row()
    return {name: cell(value) for name, value in row.items()}


def write(rows: dict[str, Row]) -> None:
    """Write the table, in the order of the shipped configs."""
    rows |= {name: {**rows[other], "config": name} for name, other in SAME.items()}
    kept = [rows[name] for name in PROBLEMS if name in rows]
    names = list(dict.fromkeys(name for row in kept for name in row))
    variables = {name for config in PROBLEMS.values() for name in config.optimize.variables}
    names.sort(key=variables.__contains__)
    write_csv(table_file(), {name: [row.get(name, "") for row in kept] for name in names})


def make(config: str) -> None:
    """Make the runs of a problem two at a time, and write its row if they are better."""
    with ThreadPoolExecutor(2) as pool:
        made = counted(config, pool.map(partial(solved, config), SEARCHES), len(SEARCHES))
        runs = [run for run in made if point_of(run)]
    rows = {row["config"]: row for row in read(table_file())}
    spent = sum(run["spent"] for run in runs)
    known = [rows[config]] if config in rows else []
    rows[config] = min([*known, *(row_of(run, spent) for run in runs)], key=rank)
    write(rows)


# ---- the page ----


def mean_of(row: Row, name: str) -> str:
    """Return a mean with the half-width of its interval."""
    mean = float(row[name])
    return two_digits(mean, float(row[f"{name}_high"]) - mean)


def rarer(days: str) -> int:
    """Return how rare a day is of which none of so many was seen: one in how many days.

    It is rarer than p where (1 - p)^n is what is left of the confidence.
    """
    return math.floor(-1.0 / math.expm1(math.log(1.0 - CONFIDENCE) / int(days)))


study.parts |= {name: partial(make, name) for name in PROBLEMS if name not in SAME}

if __name__ == "__main__":
    study.main()
