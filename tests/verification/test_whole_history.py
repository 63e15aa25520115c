"""How often intervals by player and day hold the truth, over simulated Wiener paths.

Differences of strengths are moderate. Where games are lopsided, the density is skewed, and its
curvature at the maximum (Laplace) makes intervals a few per cent too narrow, as the page
`results/batch-coverage` says.
"""

from __future__ import annotations

import math

import numpy as np

from tests.support.path_leagues import LEVELS, PATH_LEAGUES, path_shares

WORLDS = 100


def test_intervals_of_days_and_of_the_last_differences_hold_as_often_as_they_say() -> None:
    found = np.array([path_shares(PATH_LEAGUES[0], seed) for seed in range(WORLDS)])
    means = found.mean(axis=0)
    errors = found.std(axis=0, ddof=1) / math.sqrt(WORLDS)
    for k, level in enumerate(LEVELS):
        for what, mean, error in zip(("days", "differences"), means[k], errors[k], strict=True):
            print(f"{what}: {level:.0%} intervals hold {mean:.4f} +- {error:.4f}")
            assert abs(mean - level) < 3.0 * error
