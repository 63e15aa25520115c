"""Simulated Wiener paths of strengths, and how often the intervals of their rating hold them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from tests.oracles.bradley_terry import B
from tests.support.contests import duels_of
from valmatch.kernels.arrays import Floats
from valmatch.ratings.bradley_terry.connections import levels_of, link
from valmatch.ratings.bradley_terry.rating import estimate
from valmatch.ratings.whole_history.rating import PathModel, player_days

LEVELS = (0.5, 0.8, 0.95)
PLAYERS, GAMES = 10, 250


class PathLeague(NamedTuple):
    """Players whose strengths move; the rating knows the drift and the first deviation."""

    name: str
    drift: float
    deviation: float


PATH_LEAGUES = (PathLeague("even games", 5.0, 80.0), PathLeague("lopsided games", 20.0, 350.0))


def path_shares(league: PathLeague, seed: int) -> Floats:
    """Return (levels, 2) shares of intervals that hold: of days, and of the last differences."""
    rng = np.random.default_rng(seed)
    paths, now = league.deviation * rng.normal(size=PLAYERS), 0
    players, points, days, truth = [], [], [], {}
    for _ in range(GAMES):
        step = int(rng.geometric(0.5)) - 1
        now += step
        paths = paths + league.drift * math.sqrt(step) * rng.normal(size=PLAYERS)
        a, b = rng.permutation(PLAYERS)[:2].tolist()
        won = rng.random() < 1.0 / (1.0 + math.exp(B * (paths[b] - paths[a])))
        players += [a, b]
        points += [float(won), float(not won)]
        days.append(now)
        truth[a, now], truth[b, now] = paths[a], paths[b]
    contests = duels_of(PLAYERS, players, points)
    known = player_days(contests, np.array(days))
    model = PathModel(days=known, drift=league.drift, deviation=league.deviation, mean=0.0)
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
    pairs = np.triu_indices(PLAYERS, 1)
    errors = np.sqrt(own[:, np.newaxis] + own - 2.0 * sure.covariance)[pairs]
    leads = (found.ratings[:, np.newaxis] - found.ratings)[pairs]
    wrong = np.abs(leads - (paths[:, np.newaxis] - paths)[pairs]) / errors
    reaches = [float(norm.ppf(0.5 + 0.5 * level)) for level in LEVELS]
    return np.array([[(away <= z).mean(), (wrong <= z).mean()] for z in reaches])
