"""Ratings of all games at once, in points: who is rated, how strong, and how sure that is."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.ratings.bradley_terry.contests import (
    ABOVE,
    BELOW,
    Contests,
    Design,
    Linked,
    Tallies,
    design_of,
    link,
    tallies_of,
    wins_lead_back,
)
from valmatch.ratings.bradley_terry.covariance import (
    DENSE_COVARIANCE,
    inverse_information,
    meat,
    sampled_variances,
    times_meat,
)
from valmatch.ratings.bradley_terry.fit import POINTS, Fit, Knowledge, NoEstimate, Problem, fit


def draws_are_separated(design: Design, tallies: Tallies, games: Bools, anchors: Ints) -> bool:
    """Return whether the weight of draws runs off to infinity or to 0 (Albert, Anderson 1984)."""
    # It does if some direction raises it and makes no game less likely: leads x and ln nu move so
    # that x/2 >= ln nu at every win and abs(x)/2 <= ln nu at every draw, and in no order does a
    # side gain on one before it. A linear program finds such a direction or shows that there is
    # none.
    if not tallies.draws.any():
        return True
    # Where wins lead back, the fit itself finds what runs off: features, or sides of several.
    if wins_lead_back(design.contests, games, anchors):
        return False
    from scipy.optimize import linprog  # takes long to import, and hardly any league needs it

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
    limits = sparse.csr_array(sparse.hstack([leads, sparse.csr_array(weight[:, np.newaxis])]))
    n = limits.shape[1]
    bounds = np.array([[-np.inf, np.inf]] * (n - 1) + [[0.0, 1.0]])
    best = linprog(-np.eye(1, n, n - 1)[0], limits, np.zeros(limits.shape[0]), bounds=bounds)
    assert best.success, best.message
    return bool(best.x[-1] > 0.5)  # a direction has any length: the largest is 0 or 1


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
    fit: Fit  # the maximum
    ratings: Floats  # (players,) in points; NaN of who is not rated
    # (player-days,) the rating of each, where players have more than one
    days: Floats | None = None

    @property
    def coefficients(self) -> Floats:
        """The (features,) coefficients in points."""
        return np.asarray(self.fit.point[self.fit.problem.n_players : -1] / POINTS)

    @property
    def draw_weight(self) -> float:
        """The weight of draws, nu; 0 where they are no results of their own."""
        return math.exp(self.fit.point[-1])


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
    anchors: Anchors = field(default_factory=Anchors)  # players whose ratings are known

    @property
    def rates_all(self) -> bool:
        """Whether a prior rates everybody who played."""
        return True

    def design(self, contests: Contests) -> Design:
        """Return how leads and strengths in some games follow from the parameters."""
        return design_of(contests)

    @abstractmethod
    def knowledge(self, linked: Linked, free: Bools, start: Floats) -> Knowledge:
        """Say in `free` and `start` what is not fitted; return what is known of all else."""

    @abstractmethod
    def in_points(self, linked: Linked, best: Fit) -> Estimate:
        """Return an estimate with its zero where it belongs."""

    @abstractmethod
    def uncertainty(
        self, estimate: Estimate, sandwich: bool, draws: np.random.Generator
    ) -> Uncertainty:
        """Return how sure an estimate is."""


def estimate(
    design: Design,
    model: WholeModel,
    linked: Linked,
    weights: Floats,
    before: Estimate | None = None,
) -> Estimate:
    """Rate the players who can be rated by games of some weights."""
    tallies, last = tallies_of(design, np.where(linked.games, weights, 0.0)), design.leads.shape[1]
    decided, drawn = float(tallies.wins.sum() + tallies.losses.sum()), float(tallies.draws.sum())
    davidson = model.draws == DAVIDSON or (not model.draws and drawn > 0.0)
    games = (design, tallies, linked.games, model.anchors.players)
    if davidson and not model.rates_all and draws_are_separated(*games):
        raise NoEstimate(True, np.array([last]))
    free, start = np.ones(last + 1, np.bool_), np.zeros(last + 1)
    free[last], start[last] = davidson, -math.inf
    if davidson:
        start[last] = math.log(2.0 * max(drawn, 0.5) / max(decided, 0.5))
    known = model.knowledge(linked, free, start)
    if before is not None:  # the search begins where another one has ended
        usable = free & np.isfinite(before.fit.point)
        start[usable] = before.fit.point[usable]
    problem = Problem(design, tallies, known, np.flatnonzero(free), start)
    return model.in_points(linked, fit(problem, checked=before is None))


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

    def knowledge(self, linked: Linked, free: Bools, start: Floats) -> Knowledge:  # noqa: D102
        n, players, rated = len(linked.rated), self.anchors.players, linked.rated
        deviations = self.anchors.deviations
        free[:n] = rated & (len(players) > 0 or rated.sum() > 1)  # one alone is the zero
        free[players[deviations == 0.0]] = False
        free[n:-1] = linked.games.any()
        start[players] = POINTS * (self.anchors.ratings - self.zero)
        # Most ratings scatter about their mean, others by themselves.
        scattered = rated.copy()
        scattered[players] = False
        scale = 0.0 if self.prior is None else 1.0 / (POINTS * self.prior)
        loose, alone = deviations > 0.0, np.zeros(n)
        alone[players[loose]] = 1.0 / (POINTS * deviations[loose])
        widths = [np.where(scattered, scale, 0.0), alone][: 1 + bool(loose.any())]
        rows = [sparse.diags_array(width, shape=(n, len(free))) for width in widths]
        roots = sparse.csr_array(sparse.vstack(rows, format="csr"))[:, free]
        rank_one, centres = np.zeros(len(free)), np.zeros(len(free))
        rank_one[:n] = widths[0] / math.sqrt(max(int(scattered.sum()), 1))
        centres[players[loose]] = start[players[loose]]
        return Knowledge(roots, rank_one[free], centres[free], not len(players))

    def in_points(self, linked: Linked, best: Fit) -> Estimate:  # noqa: D102
        strengths = np.where(linked.rated, best.point[: best.problem.n_players], np.nan)
        if best.problem.prior.moves:
            strengths = strengths - strengths[linked.rated].mean()
        ratings = self.zero + strengths / POINTS
        fixed = self.anchors.deviations == 0.0
        ratings[self.anchors.players[fixed]] = self.anchors.ratings[fixed]
        return Estimate(linked, best, ratings)

    def uncertainty(  # noqa: D102
        self, estimate: Estimate, sandwich: bool, draws: np.random.Generator
    ) -> Uncertainty:
        best, problem = estimate.fit, estimate.fit.problem
        rated, free, n = np.flatnonzero(estimate.linked.rated), problem.free, problem.n_players
        covariances: Floats | None = None
        if len(rated) <= DENSE_COVARIANCE:
            covariances = inverse_information(best.information)
            if sandwich:
                covariances = covariances @ times_meat(best, meat(best), covariances)
                covariances = 0.5 * (covariances + covariances.T)
            variances = np.diag(covariances).copy()
            players = free[free < n]
            covariances = covariances[: len(players), : len(players)]
            covariances *= POINTS**-2
            if len(players) < len(rated):  # of who is fixed it is 0
                index, spread = np.searchsorted(rated, players), np.zeros((len(rated), len(rated)))
                spread[np.ix_(index, index)] = covariances
                covariances = spread
        else:
            variances = sampled_variances(best, sandwich, draws)
        errors = np.zeros(len(problem.start))
        errors[free] = np.sqrt(np.maximum(variances, 0.0))
        in_points = errors[rated] / POINTS, errors[n:-1] / POINTS
        return Uncertainty(covariances, *in_points, float(errors[-1]), drawn=covariances is None)


def rate(design: Design, model: Model) -> Estimate:
    """Rate the players of some games who can be rated; see `estimate`."""
    contests = design.contests
    linked = link(contests, contests.weights, model.anchors.players, model.rates_all)
    return estimate(design, model, linked, contests.weights)


class Bootstrap(NamedTuple):
    """What resampling says of each rating, as a check of intervals."""

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


def refit(design: Design, model: WholeModel, before: Estimate, weights: Floats) -> Refit:
    """Rate the players of reweighted games, beginning with an estimate of others."""
    n = len(before.ratings)
    nobody = Refit(None, np.full(n, -np.inf), np.full(n, np.inf))
    if not (weights > 0.0).any():
        return nobody
    if not model.rates_all:
        anchors = model.anchors.players
        linked = link(design.contests, weights, anchors, all_rated=False, grouped=False)
    else:  # everybody, also who has no game among these
        linked = before.linked._replace(games=weights > 0.0)
    try:
        again = estimate(design, model, linked, weights, before)
    except NoEstimate:
        return nobody
    statuses = np.array(linked.statuses)
    low = np.where(linked.rated, again.ratings, np.where(statuses == ABOVE, np.inf, -np.inf))
    high = np.where(linked.rated, again.ratings, np.where(statuses == BELOW, -np.inf, np.inf))
    return Refit(again, low, high)


def bootstrap(
    design: Design,
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
        refits.append(refit(design, model, before, again)[1:])
    low, high = np.array(refits).transpose(1, 0, 2)
    finite = np.isfinite(low) & np.isfinite(high)
    counts, always = finite.sum(axis=0), finite.all(axis=0)
    means = np.where(finite, low, 0.0).sum(axis=0) / np.maximum(counts, 1)
    squares = np.where(finite, low - means, 0.0) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.where(counts > 1, np.sqrt(squares.sum(axis=0) / (counts - 1)), np.nan)
    tail = 0.5 * (1.0 - level)
    lower = np.quantile(low, tail, axis=0, method="inverted_cdf")
    upper = np.quantile(high, 1.0 - tail, axis=0, method="inverted_cdf")
    lower, upper = (np.where(np.isfinite(bound), bound, np.nan) for bound in (lower, upper))
    differences = np.full(low.shape[1], np.nan)
    if always.any() and len(low) > 1:
        leads = low[:, always] - low[:, always].mean(axis=1, keepdims=True)
        differences[always] = leads.std(axis=0, ddof=1)
    return Bootstrap(errors, lower, upper, 1.0 - counts / len(low), differences)
