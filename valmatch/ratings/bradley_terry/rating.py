"""Ratings of all games at once, in points: who is rated, how strong, and how sure that is."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.ratings.bradley_terry.connections import (
    ABOVE,
    BELOW,
    Levels,
    Linked,
    link,
    wins_lead_back,
)
from valmatch.ratings.bradley_terry.contests import Contests, Design, Tallies, design_of, tallies_of
from valmatch.ratings.bradley_terry.covariance import (
    DENSE_COVARIANCE,
    covariance,
    sampled_variances,
)
from valmatch.ratings.bradley_terry.fit import POINTS, Fit, Knowledge, NoEstimate, Problem, fit

# Separation: games that leave the weight of draws without an estimate (Albert, Anderson 1984).
#
# They do if some direction raises it and makes no game less likely: leads x and ln nu move so that
# x/2 >= ln nu at every win and abs(x)/2 <= ln nu at every draw, and in no order does a side gain on
# one before it. A linear program finds such a direction or shows that there is none.


def draws_are_separated(
    design: Design, levels: Levels, tallies: Tallies, games: Bools, anchors: Ints
) -> bool:
    """Return whether the weight of draws runs off to infinity or to 0."""
    if not tallies.draws.any():
        return True
    # Where wins lead back, the fit itself finds what runs off: features, or sides of several.
    if wins_lead_back(design.contests, levels, games, anchors):
        return False
    from scipy.optimize import linprog  # takes long to import, and hardly any league needs it

    limits = _limits(design, tallies, anchors)
    n = limits.shape[1]
    bounds = np.array([[-np.inf, np.inf]] * (n - 1) + [[0.0, 1.0]])
    best = linprog(-np.eye(1, n, n - 1)[0], limits, np.zeros(limits.shape[0]), bounds=bounds)
    assert best.success, best.message
    return bool(best.x[-1] > 0.5)  # a direction has any length: the largest is 0 or 1


def _limits(design: Design, tallies: Tallies, anchors: Ints) -> sparse.csr_array:
    """Return the rows over parameters and ln nu that must not be positive along the direction."""
    halves = 0.5 * design.leads
    won, drawn, lost = (games > 0.0 for games in (tallies.wins, tallies.draws, tallies.losses))
    rows, signs = [-halves[won], halves[lost], halves[drawn], -halves[drawn]], [1, 1, -1, -1]
    for part in design.orders:
        weighty = tallies.weights[part.games] > 0.0
        sides, shares = part.sides[weighty], part.shares[weighty]
        gains = design.strengths[sides[:, 1:].ravel()] - design.strengths[sides[:, :-1].ravel()]
        before = np.arange(sides.shape[1] - 1)
        tied = shares[:, before + 1, before].ravel() > 0.0  # who has been chosen has no share
        rows, signs = [*rows, gains, -gains[tied]], [*signs, 0, 0]
    leads = sparse.vstack(rows, format="csc")
    largest = abs(leads).max(axis=0).toarray().ravel()
    largest[anchors] = 0.0
    leads = leads[:, largest > 0.0] @ sparse.diags_array(1.0 / largest[largest > 0.0])
    weight = np.repeat(signs, [part.shape[0] for part in rows])
    return sparse.csr_array(sparse.hstack([leads, sparse.csr_array(weight[:, np.newaxis])]))


DAVIDSON, HALF = "davidson", "half"
"""What a draw is: a result of its own, or half a win."""


@dataclass(frozen=True)
class Anchors:
    """Players of whom something is known: `deviations` are 0 where it is the rating itself."""

    players: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    ratings: Floats = field(default_factory=lambda: np.zeros(0))
    deviations: Floats = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True)
class Estimate:
    """Ratings by the maximum of the likelihood, or of the posterior density."""

    linked: Linked  # who is rated, from which games
    ratings: Floats  # (players,) in points; NaN of who is not rated
    coefficients: Floats  # (features,) in points
    draw_weight: float  # nu; 0 where draws are no results of their own
    fit: Fit  # the maximum
    problem: Problem  # what was fitted
    # (player-days,) the rating of each, where players have more than one
    days: Floats | None = None


class Uncertainty(NamedTuple):
    """How sure an estimate is."""

    # (rated, rated) of the ratings of those who are rated, in their order, in points; None where
    # they are too many
    covariance: Floats | None
    std_errors: Floats  # (rated,) of their ratings
    coefficients: Floats  # (features,) standard errors of the coefficients, in points
    log_draw_weight: float  # standard error of ln nu
    # (player-days,) standard errors, where players have more than one rating
    days: Floats | None = None
    drawn: bool = False  # whether standard errors are from draws


@dataclass(frozen=True)
class WholeModel(ABC):
    """How games follow from ratings, and what is known of these before."""

    draws: str = ""  # ``davidson``, ``half``, or "" for the first of these where there are draws
    anchors: Anchors = field(default_factory=Anchors)  # players whose places are known

    @property
    def rates_all(self) -> bool:
        """Whether a prior rates everybody who played."""
        return True

    def design(self, contests: Contests) -> Design:
        """Return how leads and strengths in some games follow from the parameters."""
        return design_of(contests)

    @abstractmethod
    def problem(self, design: Design, linked: Linked, tallies: Tallies, davidson: bool) -> Problem:
        """Return what is to be fitted."""

    @abstractmethod
    def in_points(self, problem: Problem, linked: Linked, best: Fit) -> Estimate:
        """Return an estimate with its zero where it belongs."""

    @abstractmethod
    def uncertainty(
        self, estimate: Estimate, sandwich: bool, draws: np.random.Generator
    ) -> Uncertainty:
        """Return how sure an estimate is."""


def estimate(
    design: Design,
    levels: Levels,
    model: WholeModel,
    linked: Linked,
    weights: Floats,
    before: Estimate | None = None,
) -> Estimate:
    """Rate the players who can be rated by games of some weights."""
    tallies = tallies_of(design, np.where(linked.games, weights, 0.0))
    davidson = model.draws == DAVIDSON or (not model.draws and bool(tallies.draws.any()))
    if davidson and not model.rates_all:
        anchors = model.anchors.players
        if draws_are_separated(design, levels, tallies, linked.games, anchors):
            raise NoEstimate(True, np.array([design.leads.shape[1]]))
    problem = model.problem(design, linked, tallies, davidson)
    if before is not None:  # the search begins where another one has ended
        known = before.fit.point[problem.free]
        problem.start[problem.free] = np.where(
            np.isfinite(known), known, problem.start[problem.free]
        )
    return model.in_points(problem, linked, fit(problem, checked=before is None))


def first_log_nu(tallies: Tallies, davidson: bool) -> float:
    """Return where the search for ln nu begins; -inf where draws are halves of wins."""
    if not davidson:
        return -math.inf
    decided = float(tallies.wins.sum() + tallies.losses.sum())
    drawn = float(tallies.draws.sum())
    return math.log(2.0 * max(drawn, 0.5) / max(decided, 0.5))


@dataclass(frozen=True)
class Model(WholeModel):
    """One rating a player."""

    # standard deviation of the ratings about a common mean; None: nothing is known
    prior: float | None = None
    mean: float = 1500.0  # the mean of the ratings where there are no anchors

    @property
    def rates_all(self) -> bool:  # noqa: D102 - as `WholeModel` says, as all below
        return self.prior is not None

    @property
    def zero(self) -> float:
        """The rating that has the strength 0."""
        ratings = self.anchors.ratings
        return float(ratings.mean()) if len(ratings) else self.mean

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
    # (players,) deviation from the mean of those whom all refits rate; NaN of others
    differences: Floats


class Refit(NamedTuple):
    """An estimate of reweighted games."""

    estimate: Estimate | None  # None where there is none
    # low, high: (players,) the lowest and the highest rating, infinite of who is not linked
    low: Floats
    high: Floats


def refit(
    design: Design, levels: Levels, model: WholeModel, before: Estimate, weights: Floats
) -> Refit:
    """Rate the players of reweighted games, beginning with an estimate of others."""
    n = len(before.ratings)
    if not (weights > 0.0).any():
        return Refit(None, np.full(n, -np.inf), np.full(n, np.inf))
    if not model.rates_all:
        anchors = model.anchors.players
        linked = link(design.contests, levels, weights, anchors, all_rated=False, grouped=False)
    else:  # everybody, also who has no game among these
        linked = before.linked._replace(games=weights > 0.0)
    try:
        again = estimate(design, levels, model, linked, weights, before)
    except NoEstimate:
        return Refit(None, np.full(n, -np.inf), np.full(n, np.inf))
    statuses = np.array(linked.statuses)
    low = np.where(linked.rated, again.ratings, np.where(statuses == ABOVE, np.inf, -np.inf))
    high = np.where(linked.rated, again.ratings, np.where(statuses == BELOW, -np.inf, np.inf))
    return Refit(again, low, high)


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
    model = replace(model, draws=HALF if model.draws == HALF else "")
    refits = []
    for generator in draws:
        times = np.bincount(generator.integers(n, size=n), minlength=n)
        again = weights.copy()
        again[used] *= times[clusters.ravel()]
        refits.append(refit(design, levels, model, before, again)[1:])
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
    always = finite.all(axis=0)
    differences = np.full(low.shape[1], np.nan)
    if always.any() and len(low) > 1:
        leads = low[:, always] - low[:, always].mean(axis=1, keepdims=True)
        differences[always] = leads.std(axis=0, ddof=1)
    return Bootstrap(errors, lower, upper, 1.0 - counts / len(low), differences)
