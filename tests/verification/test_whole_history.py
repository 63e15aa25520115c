"""How often intervals by player and day hold the truth, over simulated Wiener paths.

Differences of strengths are moderate. Where games are lopsided, the density is skewed, and its
curvature at the maximum (Laplace) makes intervals a few per cent too narrow.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import norm

from tests.oracles.bradley_terry import B
from valmatch.ratings.bradley_terry.connections import levels_of, link
from valmatch.ratings.bradley_terry.contests import Contests
from valmatch.ratings.bradley_terry.estimating import estimate
from valmatch.ratings.whole_history.days import player_days
from valmatch.ratings.whole_history.rating import PathModel

N, GAMES, WORLDS = 10, 250, 100
DRIFT, DEVIATION = 5.0, 80.0
LEVELS = (0.5, 0.8, 0.95)


def shares(seed: int) -> list[tuple[float, float]]:
    """Return which share of the intervals of days, and of the last differences, hold by level."""
    rng = np.random.default_rng(seed)
    paths, now = DEVIATION * rng.normal(size=N), 0
    players, points, days, truth = [], [], [], {}
    for _ in range(GAMES):
        step = int(rng.geometric(0.5)) - 1
        now += step
        paths = paths + DRIFT * math.sqrt(step) * rng.normal(size=N)
        a, b = rng.permutation(N)[:2].tolist()
        won = rng.random() < 1.0 / (1.0 + math.exp(B * (paths[b] - paths[a])))
        players += [a, b]
        points += [float(won), float(not won)]
        days.append(now)
        truth[a, now], truth[b, now] = paths[a], paths[b]
    sides = np.arange(2 * GAMES + 1)
    contests = Contests(
        N,
        sides[::2],
        sides,
        np.array(points),
        np.array(players),
        np.zeros((2 * GAMES, 0)),
        np.ones(GAMES),
        np.arange(GAMES),
    )
    known = player_days(contests, np.array(days))
    model = PathModel(days=known, drift=DRIFT, deviation=DEVIATION, mean=0.0)
    levels, weights = levels_of(contests), contests.weights
    linked = link(contests, levels, weights, np.zeros(0, np.int64), all_rated=True)
    found = estimate(model.design(contests), levels, model, linked, weights)
    sure = model.uncertainty(found, False, rng)
    assert found.days is not None
    assert sure.days is not None
    assert sure.covariance is not None
    true = np.array([truth[key] for key in zip(known.players, known.days, strict=True)])
    true = true - true[known.first].mean()
    away = np.abs(found.days - true) / sure.days
    own = np.diag(sure.covariance)
    pairs = np.triu_indices(N, 1)
    errors = np.sqrt(own[:, np.newaxis] + own - 2.0 * sure.covariance)[pairs]
    leads = (found.ratings[:, np.newaxis] - found.ratings)[pairs]
    wrong = np.abs(leads - (paths[:, np.newaxis] - paths)[pairs]) / errors
    reaches = [float(norm.ppf(0.5 + 0.5 * level)) for level in LEVELS]
    return [(float((away <= z).mean()), float((wrong <= z).mean())) for z in reaches]


def test_intervals_of_days_and_of_the_last_differences_hold_as_often_as_they_say() -> None:
    found = np.array([shares(seed) for seed in range(WORLDS)])
    means = found.mean(axis=0)
    errors = found.std(axis=0, ddof=1) / math.sqrt(WORLDS)
    for k, level in enumerate(LEVELS):
        for what, mean, error in zip(("days", "differences"), means[k], errors[k], strict=True):
            print(f"{what}: {level:.0%} intervals hold {mean:.4f} +- {error:.4f}")
            assert abs(mean - level) < 3.0 * error
