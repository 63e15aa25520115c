"""Ratings of resampled games, as a check of intervals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.ratings.bradley_terry.connections import ABOVE, BELOW, Levels, link
from valmatch.ratings.bradley_terry.contests import Design
from valmatch.ratings.bradley_terry.estimating import HALF, Estimate, WholeModel, estimate
from valmatch.ratings.bradley_terry.fit import NoEstimate


class Bootstrap(NamedTuple):
    """What resampling says of each rating."""

    # (players,) deviation of the finite ratings; NaN where there are fewer than two
    std_errors: Floats
    # low, high: (players,) percentiles; NaN where refits without a rating reach them
    low: Floats
    high: Floats
    unrated: Floats  # (players,) share of the refits in which each has no rating


def refit(
    design: Design, levels: Levels, model: WholeModel, found: Estimate, weights: Floats
) -> tuple[Floats, Floats]:
    """Return the ratings of reweighted games as low and as high as they may be.

    They differ of who is not linked to the others; who is above or below them is infinitely far.
    """
    n = len(found.ratings)
    if not (weights > 0.0).any():
        return np.full(n, -np.inf), np.full(n, np.inf)
    if not model.rates_all:
        anchors = model.anchors.players
        linked = link(design.contests, levels, weights, anchors, all_rated=False, grouped=False)
    else:  # everybody, also who has no game among these
        linked = found.linked._replace(games=weights > 0.0)
    try:
        again = estimate(design, levels, model, linked, weights, found)
    except NoEstimate:
        return np.full(n, -np.inf), np.full(n, np.inf)
    statuses = np.array(linked.statuses)
    low = np.where(linked.rated, again.ratings, np.where(statuses == ABOVE, np.inf, -np.inf))
    high = np.where(linked.rated, again.ratings, np.where(statuses == BELOW, -np.inf, np.inf))
    return low, high


def bootstrap(
    design: Design,
    levels: Levels,
    model: WholeModel,
    found: Estimate,
    level: float,
    draws: Iterable[np.random.Generator],
) -> Bootstrap:
    """Resample the clusters of the games that were used, and refit."""
    weights = np.where(found.linked.games, design.contests.weights, 0.0)
    _, clusters = np.unique(design.contests.clusters[weights > 0.0], return_inverse=True)
    n = int(clusters.max(initial=-1)) + 1
    model = model.with_draws(HALF if model.draws == HALF else "")
    every_low, every_high = [], []
    for generator in draws:
        times = np.bincount(generator.integers(n, size=n), minlength=n)
        again = weights.copy()
        again[weights > 0.0] *= times[clusters.ravel()]
        low, high = refit(design, levels, model, found, again)
        every_low.append(low)
        every_high.append(high)
    return _summed_up(np.array(every_low), np.array(every_high), level)


def _summed_up(low: Floats, high: Floats, level: float) -> Bootstrap:
    finite = np.isfinite(low) & np.isfinite(high)
    counts = finite.sum(axis=0)
    ratings = np.where(finite, low, 0.0)
    means = ratings.sum(axis=0) / np.maximum(counts, 1)
    squares = np.where(finite, low - means, 0.0) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.where(counts > 1, np.sqrt(squares.sum(axis=0) / (counts - 1)), np.nan)
    tail = 0.5 * (1.0 - level)
    bounds = [
        np.quantile(low, tail, axis=0, method="inverted_cdf"),
        np.quantile(high, 1.0 - tail, axis=0, method="inverted_cdf"),
    ]
    lower, upper = (np.where(np.isfinite(own), own, np.nan) for own in bounds)
    return Bootstrap(errors, lower, upper, 1.0 - counts / len(low))
