"""Make the tables and the page of this folder, as PLAN.md says: policies that look for a target.

    python results/targeting/make.py

takes half a minute on one core, and up to two minutes more where kernels have to be compiled
first. `cells` after it makes the tables of the plan, `gains` that of the gains that the look-ahead
computes, `page` fills the page, and `--check` says whether the page holds the tables. How far it is
is said on stderr.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from results import opponent_priors as priors
from results.pages import counted, fill, make_parts, read, table, where
from valmatch.config.loading import load
from valmatch.draws.streams import Streams
from valmatch.execution.simulator import build, run
from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import unallocating
from valmatch.models.model import Model
from valmatch.policies.target.aim import expected_quality
from valmatch.policies.target.lookahead import target_gain
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


def model_of(cell: Cell, policies: Sequence[str]) -> Model[Any]:
    """Return the model of a cell."""
    words = [f"target={cell.target}", f"prior={cell.prior}", f"policies=[{', '.join(policies)}]"]
    return build(load(CONFIG, words))


def simulate(cell: Cell) -> dict[str, Floats]:
    """Return the responses of the sample paths of a cell by name."""
    model = model_of(cell, POLICIES)
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


@unallocating
def largest_gains(
    means: Floats,
    variances: Floats,
    chosen: Ints,
    after: Floats,
    limits: tuple[float, float, float],
    gains: Floats,
) -> None:
    """Fill in the largest gain before each measurement of a path; `after` are beliefs after it."""
    target, tolerance, noise_variance = limits
    for step in range(chosen.size):
        best, second, place = 0.0, 0.0, -1
        for j in range(means.size):
            quality = expected_quality(means[j], variances[j], target, tolerance)
            if quality > best:
                best, second, place = quality, best, j
            elif quality > second:
                second = quality
        gains[step] = 0.0
        for j in range(means.size):
            rival = second if j == place else best
            gain = target_gain(means[j], variances[j], rival, target, tolerance, noise_variance)
            gains[step] = max(gains[step], gain)
        means[chosen[step]], variances[chosen[step]] = after[0, step], after[1, step]


def gains_of(cell: Cell) -> Floats:
    """Return the largest gain that the knowledge gradient sees, path by path and step by step."""
    model, streams = model_of(cell, [KG]), Streams(cell.seed)
    factors: Any = load(CONFIG, [f"target={cell.target}"]).factors
    limits = (float(factors.target), float(factors.tolerance), float(factors.noise_variance))
    gains = np.empty((PATHS, factors.n_measurements))
    for path in range(PATHS):
        record = model.record(model.draw(streams, path))
        known, made = (table.columns for table in record.tables)
        largest_gains(
            known["prior_mean"].copy(),
            known["prior_variance"].copy(),
            made["measured"],
            np.array([made["mean"], made["variance"]]),
            limits,
            gains[path],
        )
    return gains


def gains() -> None:
    """Make gains.csv: how often the knowledge gradient computes a gain of 0, and early gains."""
    rows = []
    for cell, found in counted("cells", ((cell, gains_of(cell)) for cell in CELLS), len(CELLS)):
        facts = {"target": cell.target, "prior": cell.prior, "decisions": found.size}
        zeros, early = (found == 0.0).sum(), float(np.median(found[:, AFTER[0] - 1]))
        rows.append(facts | {"zero": int(zeros), "median_50": float(f"{early:.3g}")})
    write_csv(HERE / "gains.csv", {key: [row[key] for row in rows] for key in rows[0]})


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


PARTS: dict[str, Callable[[], object]] = {"cells": cells, "gains": gains, "page": page}


if __name__ == "__main__":
    make_parts(__doc__, PARTS)
