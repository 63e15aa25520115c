"""Make the tables and the page of this folder, as PLAN.md says: policies that look for a target.

    python results/targeting/make.py

takes half a minute on one core, and up to two minutes more where kernels have to be compiled
first. `cells` after it makes the two tables, `page` fills the page, and `--check` says whether the
page holds the tables. How far it is is said on stderr.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

from results import opponent_priors as priors
from results.pages import counted, fill, make_parts, read, table, where
from valmatch.config.loading import load
from valmatch.execution.simulator import build, run
from valmatch.kernels.arrays import Floats
from valmatch.storage.output import write_csv

HERE = Path(__file__).parent
CONFIG = "targeting"

KG = "knowledge_gradient"
OTHERS = ("point_estimate", "draw_chance", "ucb", "bold", "uniform")
POLICIES = (KG, *OTHERS)
AFTER = (50, 500)
PRIMARY, SECONDARY = "excess_distance", "nearest_found"
MEASURED = "measured_distance"
"""Not of the plan: says where policies measure."""

MEASURES = (PRIMARY, SECONDARY, MEASURED)
PATHS = 1000

Row = dict[str, object]


class Cell(NamedTuple):
    """A kind of world, with a seed of its own."""

    target: int
    prior: str
    seed: int


CELLS = tuple(
    Cell(target, prior, seed)
    for (target, prior), seed in zip(
        product((0, 5), ("informative", "equal")), (11, 12, 13, 14), strict=True
    )
)
COMPARISONS = len(CELLS) * len(AFTER) * len(OTHERS)
WIDTH, ONE_WIDTH = priors.half_widths(COMPARISONS), priors.half_widths(1)
"""Standard errors of half an interval: of differences, which hold together; of a mean alone."""


def simulate(cell: Cell) -> dict[str, Floats]:
    """Return the responses of the sample paths of a cell by name."""
    words = [f"target={cell.target}", f"prior={cell.prior}", f"policies=[{', '.join(POLICIES)}]"]
    model = build(load(CONFIG, words))
    values = run(model, cell.seed, range(PATHS)).responses.T
    return dict(zip([one.name for one in model.responses], values, strict=True))


def interval(values: Floats, width: float) -> tuple[float, float, float]:
    """Return the mean of independent values and the ends of its interval."""
    mean = float(values.mean())
    half = width * float(values.std(ddof=1)) / math.sqrt(values.size)
    return mean, mean - half, mean + half


def verdict(low: float, high: float) -> str:
    """Say of a difference in distance, of which less is better, what its interval shows."""
    if high < 0:
        return "better"
    return "worse" if low > 0 else "open"


def head(cell: Cell, after: int) -> Row:
    """Return the columns that both tables begin with."""
    return {"target": cell.target, "prior": cell.prior, "after": after, "n": PATHS}


def rounded(values: Sequence[float], names: Sequence[str]) -> Row:
    """Return numbers by their names, in five digits."""
    return {name: float(f"{one:.5g}") for name, one in zip(names, values, strict=True)}


def alone(cell: Cell, found: dict[str, Floats]) -> list[Row]:
    """Return the outcomes of each policy, each with an interval of its own."""
    return [
        head(cell, after)
        | {"policy": policy, "measure": measure}
        | rounded(
            interval(found[f"{measure}.{policy}.{after}"], ONE_WIDTH), ("mean", "low", "high")
        )
        for after, policy, measure in product(AFTER, POLICIES, MEASURES)
    ]


def compared(cell: Cell, found: dict[str, Floats]) -> list[Row]:
    """Return the knowledge gradient's excess distance less that of each other, path by path."""
    rows = []
    for after, other in product(AFTER, OTHERS):
        less = found[f"{PRIMARY}.{KG}.{after}"] - found[f"{PRIMARY}.{other}.{after}"]
        mean, low, high = interval(less, WIDTH)
        numbers = rounded((mean, low, high), ("less", "low", "high"))
        rows.append(
            head(cell, after) | {"other": other} | numbers | {"verdict": verdict(low, high)}
        )
    return rows


def cells() -> None:
    """Make policies.csv and compared.csv."""
    tables: dict[str, list[Row]] = {"policies": [], "compared": []}
    for cell, found in counted("cells", ((cell, simulate(cell)) for cell in CELLS), len(CELLS)):
        tables["policies"] += alone(cell, found)
        tables["compared"] += compared(cell, found)
    for name, rows in tables.items():
        write_csv(HERE / f"{name}.csv", {key: [row[key] for row in rows] for key in rows[0]})


def title(cell: Cell) -> str:
    """Return how a column of a cell is headed."""
    return f"target {cell.target}, {cell.prior}"


def policies_table(measure: str, after: int) -> str:
    """Return a measure of each policy in each cell."""
    rows = where(read(HERE / "policies.csv"), measure=measure, after=after)

    def shown(policy: str, cell: Cell) -> str:
        (row,) = where(rows, policy=policy, target=cell.target, prior=cell.prior)
        return f"{float(row['mean']):.3f} [{float(row['low']):.3f}, {float(row['high']):.3f}]"

    lines = ([f"`{policy}`", *(shown(policy, cell) for cell in CELLS)] for policy in POLICIES)
    return table(["policy", *map(title, CELLS)], lines)


def compared_table(after: int) -> str:
    """Return what the knowledge gradient is less each other, in bold where it is not open."""
    rows = where(read(HERE / "compared.csv"), after=after)

    def shown(other: str, cell: Cell) -> str:
        (row,) = where(rows, other=other, target=cell.target, prior=cell.prior)
        less, low, high = (float(row[name]) for name in ("less", "low", "high"))
        text = f"{less:+.4f} [{low:+.4f}, {high:+.4f}]"
        return text if row["verdict"] == "open" else f"**{text}** {row['verdict']}"

    lines = ([f"`{other}`", *(shown(other, cell) for cell in CELLS)] for other in OTHERS)
    return table(["against", *map(title, CELLS)], lines)


def verdicts() -> str:
    """Count, for each other policy, in how many comparisons the knowledge gradient is what."""
    rows = read(HERE / "compared.csv")
    lines = []
    for other, after in product(OTHERS, AFTER):
        own = Counter(row["verdict"] for row in where(rows, other=other, after=after))
        counts = [str(own[word]) for word in ("better", "open", "worse")]
        lines.append([f"`{other}`", str(after), *counts])
    return table(["against", "after", "better", "open", "worse"], lines)


def page() -> None:
    """Put the tables and numbers into the page."""
    texts = {"verdicts": verdicts()}
    for after in AFTER:
        texts[f"compared {after}"] = compared_table(after)
        for measure in MEASURES:
            texts[f"{measure} {after}"] = policies_table(measure, after)
    fill(HERE / "README.md", {name: f"\n{text}\n" for name, text in texts.items()})


PARTS: dict[str, Callable[[], object]] = {"cells": cells, "page": page}


if __name__ == "__main__":
    make_parts(__doc__, PARTS)
