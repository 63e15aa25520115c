"""Ratings of all games at once, in points: who is rated, how strong, and how sure that is."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.ratings.bradley_terry.connections import Levels, Linked, link
from valmatch.ratings.bradley_terry.contests import Contests, Design, design_of
from valmatch.ratings.bradley_terry.covariance import (
    DENSE_COVARIANCE,
    covariance,
    sampled_variances,
)
from valmatch.ratings.bradley_terry.estimating import (
    Anchors,
    Estimate,
    Uncertainty,
    WholeModel,
    estimate,
    first_log_nu,
)
from valmatch.ratings.bradley_terry.fit import POINTS, Fit, Problem
from valmatch.ratings.bradley_terry.likelihood import Tallies
from valmatch.ratings.bradley_terry.prior import Prior


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
        if not len(anchors.players) and linked.rated.sum() == 1:  # he is the zero
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

    def _prior(self, rated: Bools) -> Prior:
        """Return what is known of the ratings."""
        anchors = self.anchors
        scattered = rated.copy()
        scattered[anchors.players] = False
        scatter = 0.0 if self.prior is None else 1.0 / (POINTS * self.prior) ** 2
        precisions, centres = np.zeros(len(rated)), np.zeros(len(rated))
        loose = anchors.deviations > 0.0
        players = anchors.players[loose]
        precisions[players] = 1.0 / (POINTS * anchors.deviations[loose]) ** 2
        centres[players] = POINTS * (anchors.ratings[loose] - self.zero)
        return Prior(scattered, scatter, precisions, centres)

    def in_points(self, problem: Problem, linked: Linked, found: Fit) -> Estimate:  # noqa: D102
        n, place = problem.n_players, found.place
        strengths = np.where(linked.rated, place[:n], np.nan)
        if problem.moves:
            strengths = strengths - strengths[linked.rated].mean()
        ratings = self.zero + strengths / POINTS
        fixed = self.anchors.deviations == 0.0
        ratings[self.anchors.players[fixed]] = self.anchors.ratings[fixed]
        return Estimate(linked, ratings, place[n:-1] / POINTS, math.exp(place[-1]), found, problem)

    def uncertainty(  # noqa: D102
        self, found: Estimate, sandwich: bool, draws: np.random.Generator
    ) -> Uncertainty:
        problem = found.problem
        rated, free = np.flatnonzero(found.linked.rated), problem.free
        whole: Floats | None = None
        if len(rated) <= DENSE_COVARIANCE:
            whole = covariance(problem, found.fit, sandwich)
            variances = np.diag(whole).copy()
        else:
            variances = sampled_variances(problem, found.fit, sandwich, draws)
        every = np.zeros(len(problem.start))
        every[free] = np.sqrt(np.maximum(variances, 0.0))
        n = problem.n_players
        return Uncertainty(
            None if whole is None else _of_players(whole, free, rated),
            every[rated] / POINTS,
            every[n:-1] / POINTS,
            float(every[-1]),
            drawn=whole is None,
        )


def _of_players(whole: Floats, free: Ints, rated: Ints) -> Floats:
    """Return the covariance of the rated players in points, 0 of who is fixed."""
    own = np.flatnonzero(np.isin(free, rated))
    if len(own) == len(rated):
        found = whole[: len(own), : len(own)]
        found *= POINTS**-2
        return found
    spread = np.zeros((len(rated), len(rated)))
    places = np.searchsorted(rated, free[own])
    spread[np.ix_(places, places)] = whole[np.ix_(own, own)] * POINTS**-2
    return spread


def rate(design: Design, levels: Levels, model: Model) -> Estimate:
    """Rate the players of some games who can be rated; see `estimate`."""
    contests = design.contests
    linked = link(contests, levels, contests.weights, model.anchors.players, model.rates_all)
    return estimate(design, levels, model, linked, contests.weights)
