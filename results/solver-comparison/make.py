"""Make the comparison of solvers at a budget of 1,000 replications.

    python results/solver-comparison/make.py SCRATCH [PROBLEM ...] [--simopt PYTHON] [--runs 20]

SCRATCH takes the runs; those that are finished there are not made again. With PROBLEMs only their
rows are made anew, and all others stay. PYTHON is an interpreter with the extra `simopt`, whose
solvers are then compared too, on the problems that `auto` was tuned on. A problem takes some
minutes, one of the ladder a quarter of an hour.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from results import capacity
from results.pages import add_page, fill, read, where
from valmatch.optimization.best_known import table_file
from valmatch.storage.output import cell, write_csv

HERE = Path(__file__).parent
PAGE, TABLE = HERE / "README.md", HERE / "comparison.csv"
TUNED = ("valorant-20min", "valorant-x2")
"""Problems that settings of `auto` were chosen on, by runs of other random numbers."""

UNSEEN = ("ladder-duos", "ladder-pairs", "valorant-fours", "valorant-log")
"""Problems posed before the last change of a solver, and measured once, after it."""

PROBLEMS = dict.fromkeys(TUNED, "tuned on") | dict.fromkeys(UNSEEN, "unseen")
SOLVERS = ("auto", "random", "nelder-mead", "cobyqa", "spsa", "cma-es", "bayes")
SIMOPT = "simopt"


def best_known(problem: str) -> float:
    """Return the best known objective of a problem."""
    return next(float(row["objective"]) for row in where(read(table_file()), config=problem))


def ours(problem: str, best: float, scratch: Path, runs: int) -> list[dict[str, Any]]:
    """Return a line for each solver of `valmatch optimize`."""
    out = scratch / problem
    if not (out / "summary.json").exists():
        command = [sys.executable, "-m", "valmatch", "optimize", problem, "--workers", "2"]
        command += ["--solver", ",".join(SOLVERS), "--macroreps", str(runs)]
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


def theirs(
    problem: str, best: float, scratch: Path, runs: int, python: str
) -> list[dict[str, Any]]:
    """Return a line for each of SimOpt's solvers on the penalised variant."""
    path = scratch / f"{problem}-{SIMOPT}.json"
    if not path.exists():
        command = [python, str(HERE / "simopt_runs.py"), problem, str(runs)]
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


def table(lines: Sequence[Mapping[str, str]]) -> str:
    """Return the table of the page from rows of the CSV file."""
    text = [
        "| problem | solver | median objective | within 5 % | within 10 % | area | infeasible |",
        "|---|---|---|---|---|---|---|",
    ]
    for line in lines:
        median, area = line["median_objective"], line.get("area_under_curve")
        cells = [
            f"`{line['problem']}` ({PROBLEMS[line['problem']]})",
            line["solver"],
            f"{float(median):#.4g}" if median else "none",
            f"{float(line['within_5_percent']):.0%}",
            f"{float(line['within_10_percent']):.0%}",
            f"{float(area):.3f}" if area else "",
            f"{float(line['wrongly_called_feasible']):.0%}",
        ]
        text.append("| " + " | ".join(cells) + " |")
    return "\n".join(text)


def large_table(rows: Sequence[Mapping[str, str]]) -> str:
    """Return the table of the runs of `large.py` from rows of its CSV file."""
    text = [
        "| problem | budget | solver | runs | median gap | interval | worst | infeasible |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [
            f"`{row['problem']}`",
            f"{int(row['budget']):,}",
            row["solver"],
            row["runs"],
            f"{float(row['median_gap']):.1%}",
            f"{float(row['median_low']):.1%} to {float(row['median_high']):.1%}",
            f"{float(row['worst_gap']):.1%}",
            row["wrongly_certified"],
        ]
        text.append("| " + " | ".join(cells) + " |")
    return "\n".join(text)


def made_before() -> dict[str, list[Mapping[str, str]]]:
    """Return the rows of the CSV file by problem."""
    rows: dict[str, list[Mapping[str, str]]] = {}
    for row in read(TABLE):
        rows.setdefault(row["problem"], []).append(row)
    return rows


def write(rows: Mapping[str, list[Mapping[str, str]]]) -> None:
    """Write the CSV file and the table of the page."""
    lines = [line for name in PROBLEMS for line in rows.get(name, [])]
    names = list(dict.fromkeys(name for line in lines for name in line))
    write_csv(TABLE, {name: [line.get(name, "") for line in lines] for name in names})
    page()


def page() -> None:
    """Put the tables into the page, and how far medians are above the best known."""
    rows, text = read(TABLE), PAGE.read_text("utf-8")
    gaps = {
        f"gap: {row['problem']}, {row['solver']}": float(row["median_objective"])
        / best_known(row["problem"])
        - 1.0
        for row in rows
        if row["median_objective"]
    }
    found = {name: f"{gap:.1%}" for name, gap in gaps.items() if f"<!-- {name} -->" in text}
    large = large_table(read(HERE / "large.csv"))
    tables = {"table": f"{table(rows)}\n", "large": f"{large}\n"}
    fill(PAGE, {**tables, "capacity": capacity.runs_table(), **found})


def main() -> None:
    """Make the runs, the CSV file and the table of the page."""
    usage, about = str(__doc__).split("\n\n", 1)
    problems = f"\nProblems: {', '.join(PROBLEMS)}."
    parser = ArgumentParser(
        description=usage, epilog=about + problems, formatter_class=RawDescriptionHelpFormatter
    )
    add_page(parser, page)
    parser.add_argument("scratch", type=Path, metavar="SCRATCH", help="folder of the runs")
    parser.add_argument("problems", nargs="*", metavar="PROBLEM", help="all without any")
    parser.add_argument("--simopt", metavar="PYTHON", help="interpreter with the extra `simopt`")
    parser.add_argument("--runs", type=int, default=20, help="runs of each solver; 20")
    given = parser.parse_args()
    if strange := set(given.problems) - PROBLEMS.keys():
        parser.error(f"no problem of this page: {', '.join(sorted(strange))}")
    given.scratch.mkdir(parents=True, exist_ok=True)
    rows = made_before()
    for problem in given.problems or PROBLEMS:
        started, best = time.monotonic(), best_known(problem)
        lines = ours(problem, best, given.scratch, given.runs)
        if given.simopt and problem in TUNED:
            python = str(Path(given.simopt).absolute())
            lines += theirs(problem, best, given.scratch, given.runs, python)
        rows[problem] = [{key: cell(value) for key, value in line.items()} for line in lines]
        write(rows)
        took = (time.monotonic() - started) / 60.0
        print(f"{problem}: done after {took:.1f} min", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
