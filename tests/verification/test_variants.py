"""Joint intervals of several variants: those that are not said to be doubtful hold."""

from __future__ import annotations

import math

import numpy as np
import pytest

import valmatch as library
from valmatch.experiments.compare import ENOUGH
from valmatch.statistics.pairs import differing, paired
from valmatch.statistics.sampling import Widened

REPLICATIONS = 60_000

BASE: dict[str, object] = {}

VARIANTS: dict[int, list[dict[str, object]]] = {
    101: [{"team_diff": 150}, {"player_diff": 200}],
    102: [{"team_diff": 380}, {"team_diff": 300}],
    103: [{"wait_thresh": "25 min"}, {"player_diff": 500}, {"team_diff": 800}],
    104: [{"player_diff": 280}, {"player_diff": 320}],
}


@pytest.mark.parametrize("seed", VARIANTS)
def test_intervals_of_days_hold_or_are_said_to_be_doubtful(seed: int) -> None:
    """Misses without a word, of each response, at 40 to 200 days: at most 5 %, by 3.5 errors."""
    runs = [
        library.replicate(library.load_config("valorant", one), REPLICATIONS, seed)
        for one in [BASE, *VARIANTS[seed]]
    ]
    names = [one.name for one in runs[0].responses]
    base, *others = (run.values for run in runs)
    level = 1.0 - 0.05 / len(others)
    truths = [np.nanmean(values - base, axis=0) for values in others]
    for n in (40, 100, 200):
        batches = REPLICATIONS // n
        missed, silent, trusted = (np.zeros(len(names)) for _ in range(3))
        for k in range(batches):
            part = slice(k * n, (k + 1) * n)
            miss, rare = np.zeros(len(names), bool), np.zeros(len(names), bool)
            for values, truth in zip(others, truths, strict=True):
                found = paired(base[part], values[part], level, (Widened(), Widened()))
                miss |= [
                    not one.difference.ci_low <= mean <= one.difference.ci_high
                    for one, mean in zip(found, truth.tolist(), strict=True)
                ]
                rare |= np.array(differing(base[part], values[part])) < ENOUGH
            missed += miss
            silent += miss & ~rare
            trusted += ~rare
        for name, *shares in zip(names, missed, silent, trusted, strict=True):
            held, missing, said_nothing = (share / batches for share in shares)
            print(f"{seed} n={n} {name}: held {1 - held:.3f}, silent misses {missing:.3f} of"
                  f" {said_nothing:.2f}")  # fmt: skip
        assert (silent / batches <= 0.05 + 3.5 * math.sqrt(0.05 * 0.95 / batches)).all()
