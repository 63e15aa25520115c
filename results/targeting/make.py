"""Make the tables and the page of this folder, as PLAN.md says: policies that look for a target.

    python results/targeting/make.py

takes half a minute on one core, and up to two minutes more where kernels have to be compiled first.
"""

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from results.study import Row, Study, difference, ends, grid, half_widths, simulate
from valmatch.config.loading import load_config
from valmatch.execution.chunks import build, record
from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import kernel
from valmatch.policies.target import expected_quality, target_gain

study = Study(globals())
CONFIG = "targeting"

KG = "knowledge_gradient"
OTHERS = ("point_estimate", "draw_chance", "ucb", "bold", "uniform")
POLICIES = (KG, *OTHERS)
AFTER = (50, 500)
PRIMARY = "excess_distance"
# The last one is not of the plan: it says where policies measure.
MEASURES = (PRIMARY, "nearest_found", "measured_distance")
PATHS = 1000
CELLS = grid(target=(0, 5), prior=("informative", "equal"))
SEEDS = (11, 12, 13, 14)  # of the cells
# Standard errors of half an interval: of differences, which hold together; of a mean alone.
WIDTH, ONE_WIDTH = half_widths(len(CELLS) * len(AFTER) * len(OTHERS)), half_widths(1)


def seed_of(target: int, prior: str) -> int:
    """Return the seed of a cell."""
    return SEEDS[CELLS.index({"target": target, "prior": prior})]


def words_of(target: int, prior: str, *policies: str) -> list[str]:
    """Return what a cell sets."""
    return [f"target={target}", f"prior={prior}", f"policies=[{', '.join(policies)}]"]


@cache
def outcomes(target: int, prior: str) -> dict[str, Floats]:
    """Return the responses of the sample paths of a cell by name."""
    words = words_of(target, prior, *POLICIES)
    return simulate(CONFIG, words, seed_of(target, prior), PATHS)


@study.table(CELLS)
def policies(target: int, prior: str) -> list[Row]:
    """Return the outcomes of each policy, each with an interval of its own."""
    return [
        {"after": after, "n": PATHS, "policy": policy, "measure": measure}
        | ends(outcomes(target, prior)[f"{measure}.{policy}.{after}"], "mean", ONE_WIDTH)
        for after, policy, measure in product(AFTER, POLICIES, MEASURES)
    ]


@study.table(CELLS)
def compared(target: int, prior: str) -> Iterator[Row]:
    """Return the knowledge gradient's excess distance less that of each other, path by path."""
    found = outcomes(target, prior)
    for after, other in product(AFTER, OTHERS):
        less = found[f"{PRIMARY}.{KG}.{after}"] - found[f"{PRIMARY}.{other}.{after}"]
        yield {"after": after, "n": PATHS, "other": other} | difference(less, WIDTH)


@kernel
def gains_of(
    means: Floats,
    variances: Floats,
    chosen: Ints,
    after: Floats,
    limits: tuple[float, float, float],
    gains: Floats,
) -> None:
    """Fill in the gain of each measurement of a path, the largest; `after` are beliefs after it."""
    target, tolerance, noise_variance = limits
    for step in range(chosen.size):
        k, rival = chosen[step], 0.0
        for j in range(means.size):
            if j != k:
                rival = max(rival, expected_quality(means[j], variances[j], target, tolerance))
        gains[step] = target_gain(means[k], variances[k], rival, target, tolerance, noise_variance)
        means[k], variances[k] = after[0, step], after[1, step]


@study.table(CELLS)
def gains(target: int, prior: str) -> list[Row]:
    """Return how often the knowledge gradient computes a gain of 0, and early gains."""
    config = load_config(CONFIG, words_of(target, prior, KG))
    model, factors = build(config), config.factors.model_dump()
    names = ("target", "tolerance", "noise_variance")
    limits: Any = tuple(float(factors[name]) for name in names)
    found = np.empty((PATHS, factors["n_measurements"]))
    for path in range(PATHS):
        tables = record(model, seed_of(target, prior), path).tables
        known, made = (table.columns for table in tables)
        beliefs = known["prior_mean"].copy(), known["prior_variance"].copy()
        after = np.array([made["mean"], made["variance"]])
        gains_of(*beliefs, made["measured"], after, limits, found[path])
    early = float(np.median(found[:, AFTER[0] - 1]))
    zeros = int((found == 0.0).sum())
    return [{"decisions": found.size, "zero": zeros, "median_50": float(f"{early:.3g}")}]


if __name__ == "__main__":
    study.main()
