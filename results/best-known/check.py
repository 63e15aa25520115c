"""Check every row of the table of best known solutions against every point in any table of results.

    python results/best-known/check.py [--adopt] [CONFIG ...]

A point is a row of a CSV file under ``results/`` with a column for each variable of the problem, or
what `readings.csv` says of one run. It beats a row if, on fresh replications common to both, all
responses are defined, all bounds hold by their one-sided 95 % bounds, and the objective is lower by
more than three standard errors. A look at few replications comes first; what passes it gets as many
as the row has. Exit code 1 where a row is beaten; with --adopt the point takes its place in the CSV
file (`make.py --page` brings it to the page).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from make import write  # type: ignore[import-not-found]

from results.study import Row, group, read
from valmatch.config.config import Config
from valmatch.execution.chunks import build, run
from valmatch.kernels.arrays import Floats
from valmatch.optimization.best_known import shipped_problems, table_file
from valmatch.optimization.problem_of_config import problem_of, with_factors
from valmatch.statistics.estimates import estimate
from valmatch.storage.output import cell

RESULTS = Path(__file__).parents[1]
LOOK, CHUNK, SEED = 100, 2_000, 424_242
"""Replications of the first look; those made at once; the seed of all."""

CERTAIN, ONE_SIDED = 3.0, 1.645
"""Standard errors by which an objective is lower; that a bound keeps."""

Point = dict[str, float]


def rows_of_tables() -> Iterator[Row]:
    """Yield the rows of all tables, the long ones put together by run."""
    for path in sorted(RESULTS.glob("*/*.csv")):
        if path.name == "readings.csv":
            for rows in group(read(path), "name").values():
                yield {row["measure"]: row["reading"] for row in rows}
        else:
            yield from read(path)


def points(config: Config) -> list[Point]:
    """Return the points of the tables that are points of a problem, each once."""
    variables = config.optimize.variables
    found = []
    for row in rows_of_tables():
        if all(row.get(name) for name in variables):
            point = {name: float(row[name]) for name in variables}
            if all(one.low <= point[name] <= one.high for name, one in variables.items()):
                found.append(point)
    return [dict(one) for one in dict.fromkeys(tuple(point.items()) for point in found)]


def outcomes(config: Config, point: Point, n: int) -> Floats:
    """Return the outcomes of a point, up to the first chunk in which one is undefined."""
    problem, model = problem_of(config, build(config)), build(config, with_factors(config, point))
    parts: list[Floats] = []
    for first in range(0, n, CHUNK):
        responses = run(model, SEED, range(first, min(n, first + CHUNK))).responses
        parts.append(problem.outcomes(dict(zip(model.responses.names, responses.T, strict=True))))
        if np.isnan(parts[-1]).any():
            break
    return np.concatenate(parts)


def beats(new: Floats, old: Floats | None) -> bool:
    """Return whether a point is defined, feasible and better; outcomes are paired.

    A row that is not feasible, which has no outcomes here, is beaten by any point that is.
    """
    if np.isnan(new).any():
        return False
    error = new.std(axis=0, ddof=1) / len(new) ** 0.5
    if (new[:, 1:].mean(axis=0) + ONE_SIDED * error[1:] > 0.0).any():
        return False
    if old is None or np.isnan(old).any():
        return True
    less = new[:, 0] - old[: len(new), 0]
    return bool(less.mean() < -CERTAIN * less.std(ddof=1) / len(less) ** 0.5)


def better(config: Config, row: Row) -> tuple[Point, Floats] | None:
    """Return the best point of the tables that beats a row, and its outcomes, or None."""
    own = {name: float(row[name]) for name in config.optimize.variables}
    n, best, old = int(row["n"]), None, None
    for point in points(config):
        if point == own:
            continue
        for count in (min(LOOK, n), n):
            new = outcomes(config, point, count)
            if row["feasible"] == "True" and (old is None or len(old) < count):
                old = outcomes(config, own, count)
            if not beats(new, old):
                break
        else:
            if best is None or new[:, 0].mean() < best[1][:, 0].mean():
                best = point, new
    return best


def adopted(config: Config, row: Row, point: Point, made: Floats) -> Row:
    """Return the row of a better point."""
    means = {"objective": made[:, 0]}
    for k, one in enumerate(problem_of(config, build(config)).constraints, 1):
        means[one.response] = one.bound + one.sign * made[:, k]
    new: dict[str, Any] = {**row, "feasible": True, "n": len(made), **point}
    new["date"] = datetime.now(UTC).date().isoformat()
    for name, values in means.items():
        found = estimate(values, 0.95)
        new |= {name: found.mean, f"{name}_low": found.ci_low, f"{name}_high": found.ci_high}
    return {name: cell(value) for name, value in new.items()}


def main() -> None:
    """Check, say what was found, and adopt it if asked."""
    adopt, names = "--adopt" in sys.argv, [one for one in sys.argv[1:] if one != "--adopt"]
    problems = shipped_problems()
    rows = {row["config"]: row for row in read(table_file())}
    beaten = 0
    for name in names or rows:
        found = better(problems[name], rows[name])
        finding = "not beaten by any point in the tables"
        if found is not None:
            beaten += 1
            finding = f"beaten: {found[1][:, 0].mean():.4f} at {found[0]}"
            if adopt:
                rows[name] = adopted(problems[name], rows[name], *found)
        print(f"{name}: {rows[name]['objective']}: {finding}", flush=True)
    if adopt and beaten:
        write(rows)
    sys.exit(1 if beaten and not adopt else 0)


if __name__ == "__main__":
    main()
