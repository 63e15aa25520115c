"""Coverage of intervals of skewed and two-valued data at few replications, and remarks on them."""

from __future__ import annotations

import math

import pytest

from tests.support.noises import NOISES, held

RUNS = 10_000

NOMINAL = 0.95

LEAST = {
    "normal": (0.95, 0.95, 0.95, 0.95, 0.95),
    "exponential": (0.88, 0.91, 0.94, 0.95, 0.95),
    "lognormal 1": (0.82, 0.865, 0.92, 0.935, 0.955),
    "lognormal 1.5": (0.69, 0.79, 0.86, 0.885, 0.925),
    "yes/no .05": (0.97, 0.97, 0.97, 0.97, 0.97),
    "no limits .05": (0.21, 0.38, 0.62, 0.77, 0.97),
    "counts 1": (0.95, 0.95, 0.945, 0.95, 0.95),
    "rare differences": (0.99, 0.98, 0.98, 0.955, 0.945),
    "skewed differences": (0.9, 0.91, 0.935, 0.945, 0.95),
}
"""Coverage that each noise has with 5, 10, 20, 30 and 100 replications, at least."""

SIZES = (5, 10, 20, 30, 100)


@pytest.mark.parametrize("name", NOISES)
def test_intervals_hold_as_often_as_the_documentation_says(name: str) -> None:
    for n, least in zip(SIZES, LEAST[name], strict=True):
        found = held(NOISES[name], n, RUNS)
        shares = f"t {found.student:.3f} -> {found.rule:.3f}"
        print(f"{name:20} n {n:3}: {shares}, remarks {found.remarked:.3f}, as t {found.same:.3f}")
        error = math.sqrt(least * (1.0 - least) / RUNS)
        assert found.rule >= least - 3.0 * error
        assert found.rule >= found.student - 3.0 * error
        if name == "normal":
            assert abs(found.rule - NOMINAL) <= 4.0 * error
            assert found.remarked <= 0.05 + 3.0 * error
            assert found.same >= 1.0 - found.remarked
