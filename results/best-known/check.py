"""Check every row of the table of best known solutions against every point in any table of results.

    python results/best-known/check.py [CONFIG ...]

A point is a row of a CSV file under ``results/`` with a column for each variable of the problem, or
what `readings.csv` says of one run. It beats a row if, on fresh replications common to both, all
responses are defined, all bounds hold by their one-sided 95 % bounds, and the objective is lower by
more than three standard errors. A look at few replications comes first; what passes it gets as many
as the row has. Exit code 1 where a row is beaten.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from results.study import Row, group, outcomes_of, read
from valmatch.config.config import Config
from valmatch.kernels.arrays import Floats
from valmatch.optimization.problem import shipped_problems, table_file

RESULTS = Path(__file__).parents[1]
# Replications of the first look; the seed of all.
LOOK, SEED = 100, 424_242
# Standard errors by which an objective is lower; that a bound keeps.
CERTAIN, ONE_SIDED = 3.0, 1.645
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


def better(config: Config, row: Row) -> tuple[float, Point] | None:
    """Return the best point of the tables that beats a row, after its objective, or None."""
    own = {name: float(row[name]) for name in config.optimize.variables}
    n, best, old = int(row["n"]), None, None
    for point in points(config):
        if point == own:
            continue
        for count in (min(LOOK, n), n):
            new = outcomes_of(config, point, SEED, range(count))
            if row["feasible"] == "True" and (old is None or len(old) < count):
                old = outcomes_of(config, own, SEED, range(count))
            if not beats(new, old):
                break
        else:
            objective = float(new[:, 0].mean())
            if best is None or objective < best[0]:
                best = objective, point
    return best


def main() -> None:
    """Check the rows of some problems, or of all, and say what was found."""
    problems, beaten = shipped_problems(), False
    rows = {row["config"]: row for row in read(table_file())}
    for name in sys.argv[1:] or rows:
        found = better(problems[name], rows[name])
        beaten |= found is not None
        finding = f"beaten: {found[0]:.4f} at {found[1]}" if found else "not beaten by any point"
        print(f"{name}: {rows[name]['objective']}: {finding} in the tables", flush=True)
    sys.exit(beaten)


if __name__ == "__main__":
    main()
