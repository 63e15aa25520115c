"""Ratings of all games at once, in points: who is rated, how strong, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy import sparse

from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.ratings.bradley_terry.connections import ABOVE, BELOW, Levels, Linked, link
from valmatch.ratings.bradley_terry.contests import Contests, Design, design_of
from valmatch.ratings.bradley_terry.covariance import (
    DENSE_COVARIANCE,
    covariance,
    sampled_variances,
)
from valmatch.ratings.bradley_terry.estimating import (
    HALF,
    Anchors,
    Estimate,
    Uncertainty,
    WholeModel,
    estimate,
    first_log_nu,
)
from valmatch.ratings.bradley_terry.fit import POINTS, Fit, Knowledge, NoEstimate, Problem
from valmatch.ratings.bradley_terry.likelihood import Tallies


@dataclass(frozen=True)
class Model(WholeModel):
    """One rating a player."""

    # standard deviation of the ratings about a common mean; None: nothing is known
    prior: float | None = None
    known: Anchors = field(default_factory=Anchors)  # players whose places are known
    mean: float = 1500.0  # the mean of the ratings where there are no anchors

    @property
    def rates_all(self) -> bool:  # noqa: D102 - as `WholeModel` says, as all below
        return self.prior is not None

    @property
    def anchors(self) -> Anchors:  # noqa: D102
        return self.known

    @property
    def zero(self) -> float:
        """The rating that has the strength 0."""
        ratings = self.anchors.ratings
        return float(ratings.mean()) if len(ratings) else self.mean

    def design(self, contests: Contests) -> Design:  # noqa: D102
        return design_of(contests)

    def problem(  # noqa: D102
        self, design: Design, linked: Linked, tallies: Tallies, davidson: bool
    ) -> Problem:
        n, last = design.contests.n_players, design.leads.shape[1]
        anchors = self.anchors
        fixed = anchors.players[anchors.deviations == 0.0]
        free = np.ones(last + 1, np.bool_)
        free[:n] = linked.rated
        free[fixed] = False
        if not len(anchors.players) and linked.rated.sum() == 1:  # that is the zero
            free[:n] = False
        free[n:last] = linked.games.any()
        free[last] = davidson
        start = np.zeros(last + 1)
        start[anchors.players] = POINTS * (anchors.ratings - self.zero)
        start[last] = first_log_nu(tallies, davidson)
        return Problem(
            design,
            tallies,
            self._prior(linked.rated),
            np.flatnonzero(free),
            start,
            not len(anchors.players),
        )

    def _prior(self, rated: Bools) -> Knowledge:
        """Return what is known: most ratings scatter about their mean, others by themselves."""
        anchors, n = self.anchors, len(rated)
        scattered = rated.copy()
        scattered[anchors.players] = False
        scale = 0.0 if self.prior is None else 1.0 / (POINTS * self.prior)
        roots, alone, centres = np.where(scattered, scale, 0.0), np.zeros(n), np.zeros(n)
        loose = anchors.deviations > 0.0
        players = anchors.players[loose]
        alone[players] = 1.0 / (POINTS * anchors.deviations[loose])
        centres[players] = POINTS * (anchors.ratings[loose] - self.zero)
        rows = [roots, alone] if loose.any() else [roots]
        matrix = sparse.vstack([sparse.diags_array(values) for values in rows], format="csr")
        rank_one: Floats = roots / math.sqrt(max(int(scattered.sum()), 1))
        return Knowledge(sparse.csr_array(matrix), rank_one, centres)

    def in_points(self, problem: Problem, linked: Linked, best: Fit) -> Estimate:  # noqa: D102
        n, point = problem.n_players, best.point
        strengths = np.where(linked.rated, point[:n], np.nan)
        if problem.moves:
            strengths = strengths - strengths[linked.rated].mean()
        ratings = self.zero + strengths / POINTS
        fixed = self.anchors.deviations == 0.0
        ratings[self.anchors.players[fixed]] = self.anchors.ratings[fixed]
        return Estimate(linked, ratings, point[n:-1] / POINTS, math.exp(point[-1]), best, problem)

    def uncertainty(  # noqa: D102
        self, estimate: Estimate, sandwich: bool, draws: np.random.Generator
    ) -> Uncertainty:
        problem, best = estimate.problem, estimate.fit
        rated, free, n = np.flatnonzero(estimate.linked.rated), problem.free, problem.n_players
        covariances: Floats | None = None
        if len(rated) <= DENSE_COVARIANCE:
            covariances = covariance(problem, best, sandwich)
            variances = np.diag(covariances).copy()
            covariances = _of_players(covariances, free, rated)
        else:
            variances = sampled_variances(problem, best, sandwich, draws)
        errors = np.zeros(len(problem.start))
        errors[free] = np.sqrt(np.maximum(variances, 0.0))
        return Uncertainty(
            covariances,
            errors[rated] / POINTS,
            errors[n:-1] / POINTS,
            float(errors[-1]),
            drawn=covariances is None,
        )


def _of_players(free_covariances: Floats, free: Ints, rated: Ints) -> Floats:
    """Return the covariance of the rated players in points, 0 of who is fixed."""
    players = np.flatnonzero(np.isin(free, rated))
    if len(players) == len(rated):
        covariances = free_covariances[: len(players), : len(players)]
        covariances *= POINTS**-2
        return covariances
    spread = np.zeros((len(rated), len(rated)))
    places = np.searchsorted(rated, free[players])
    spread[np.ix_(places, places)] = free_covariances[np.ix_(players, players)] * POINTS**-2
    return spread


def rate(design: Design, levels: Levels, model: Model) -> Estimate:
    """Rate the players of some games who can be rated; see `estimate`."""
    contests = design.contests
    linked = link(contests, levels, contests.weights, model.anchors.players, model.rates_all)
    return estimate(design, levels, model, linked, contests.weights)


# Ratings of resampled games, as a check of intervals.


class Bootstrap(NamedTuple):
    """What resampling says of each rating."""

    # (players,) deviation of the finite ratings; NaN where there are fewer than two
    std_errors: Floats
    # low, high: (players,) percentiles; NaN where refits without a rating reach them
    low: Floats
    high: Floats
    unrated: Floats  # (players,) share of the refits in which each has no rating


def refit(
    design: Design, levels: Levels, model: WholeModel, before: Estimate, weights: Floats
) -> tuple[Floats, Floats]:
    """Return the ratings of reweighted games as low and as high as they may be.

    They differ of who is not linked to the others; who is above or below them is infinitely far.
    """
    n = len(before.ratings)
    if not (weights > 0.0).any():
        return np.full(n, -np.inf), np.full(n, np.inf)
    if not model.rates_all:
        anchors = model.anchors.players
        linked = link(design.contests, levels, weights, anchors, all_rated=False, grouped=False)
    else:  # everybody, also who has no game among these
        linked = before.linked._replace(games=weights > 0.0)
    try:
        again = estimate(design, levels, model, linked, weights, before)
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
    before: Estimate,
    level: float,
    draws: Iterable[np.random.Generator],
) -> Bootstrap:
    """Resample the clusters of the games that were used, and refit."""
    weights = np.where(before.linked.games, design.contests.weights, 0.0)
    used = weights > 0.0
    _, clusters = np.unique(design.contests.clusters[used], return_inverse=True)
    n = int(clusters.max(initial=-1)) + 1
    model = model.with_draws(HALF if model.draws == HALF else "")
    refits = []
    for generator in draws:
        times = np.bincount(generator.integers(n, size=n), minlength=n)
        again = weights.copy()
        again[used] *= times[clusters.ravel()]
        refits.append(refit(design, levels, model, before, again))
    low, high = np.array(refits).transpose(1, 0, 2)
    finite = np.isfinite(low) & np.isfinite(high)
    counts = finite.sum(axis=0)
    means = np.where(finite, low, 0.0).sum(axis=0) / np.maximum(counts, 1)
    squares = np.where(finite, low - means, 0.0) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.where(counts > 1, np.sqrt(squares.sum(axis=0) / (counts - 1)), np.nan)
    tail = 0.5 * (1.0 - level)
    lower = np.quantile(low, tail, axis=0, method="inverted_cdf")
    upper = np.quantile(high, 1.0 - tail, axis=0, method="inverted_cdf")
    lower, upper = (np.where(np.isfinite(bound), bound, np.nan) for bound in (lower, upper))
    return Bootstrap(errors, lower, upper, 1.0 - counts / len(low))
