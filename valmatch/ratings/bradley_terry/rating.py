"""Ratings of all games at once, in points: who is rated, how strong, and how sure that is."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from valmatch.arrays import Bools, Floats, Ints
from valmatch.ratings.bradley_terry.connections import Levels, Linked, decisive_cycle, link
from valmatch.ratings.bradley_terry.contests import Design
from valmatch.ratings.bradley_terry.covariance import (
    DENSE_COVARIANCE,
    covariance,
    sampled_variances,
)
from valmatch.ratings.bradley_terry.fit import POINTS, Fit, NoEstimate, Problem, fit
from valmatch.ratings.bradley_terry.likelihood import Tallies, tallies_of
from valmatch.ratings.bradley_terry.prior import Prior

DAVIDSON, HALF = "davidson", "half"
"""What a draw is: a result of its own, or half a win."""


def _no_numbers() -> Floats:
    return np.zeros(0)


@dataclass(frozen=True)
class Anchors:
    """Players of whom something is known: `deviations` are 0 where it is the rating itself."""

    players: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    ratings: Floats = field(default_factory=_no_numbers)
    deviations: Floats = field(default_factory=_no_numbers)


@dataclass(frozen=True)
class Model:
    """How games follow from ratings, and what is known of these before.

    Attributes
    ----------
    draws : str
        ``davidson``, ``half``, or "" for the first of these where there are draws.
    prior : float or None
        Standard deviation of the ratings about a common mean; None: nothing is known.
    anchors : Anchors
        Players whose places are known.
    mean : float
        The mean of the ratings where there are no anchors.
    """

    draws: str = ""
    prior: float | None = None
    anchors: Anchors = field(default_factory=Anchors)
    mean: float = 1500.0

    @property
    def zero(self) -> float:
        """The rating that has the strength 0."""
        ratings = self.anchors.ratings
        return float(ratings.mean()) if len(ratings) else self.mean


@dataclass(frozen=True)
class Estimate:
    """Ratings by the maximum of the likelihood, or of the posterior density.

    Attributes
    ----------
    linked : Linked
        Who is rated, from which games.
    ratings : numpy.ndarray
        (players,) in points; NaN of who is not rated.
    coefficients : numpy.ndarray
        (features,) in points.
    draw_weight : float
        nu; 0 where draws are no results of their own.
    fit : Fit
        The maximum.
    problem : Problem
        What was fitted.
    """

    linked: Linked
    ratings: Floats
    coefficients: Floats
    draw_weight: float
    fit: Fit
    problem: Problem


def estimate(
    design: Design,
    levels: Levels,
    model: Model,
    linked: Linked,
    weights: Floats,
    before: Estimate | None = None,
) -> Estimate:
    """Rate the players who can be rated.

    Parameters
    ----------
    design : Design
        The games.
    levels : Levels
        Their levels.
    model : Model
        How they follow from ratings.
    linked : Linked
        Who can be rated.
    weights : numpy.ndarray
        (games,) their weights.
    before : Estimate or None
        An estimate of almost the same games, from which the search starts.

    Raises
    ------
    NoEstimate
        If a coefficient runs off to infinity, or games say nothing of parameters.
    """
    tallies = tallies_of(design, np.where(linked.games, weights, 0.0))
    drawn = float(tallies.draws.sum()) > 0.0
    davidson = model.draws == DAVIDSON or (not model.draws and drawn)
    last = design.leads.shape[1]
    if davidson and model.prior is None:
        anchors = model.anchors.players
        cycle = decisive_cycle(design.contests, levels, linked.games, anchors)
        if not (drawn and cycle):
            raise NoEstimate(True, np.array([last]))
    problem = _problem(design, model, linked, tallies, davidson)
    if before is not None:
        _start_from(problem, before)
    found = fit(problem, checked=before is None)
    return _in_points(problem, model, linked, found)


def _problem(
    design: Design, model: Model, linked: Linked, tallies: Tallies, davidson: bool
) -> Problem:
    """Return what is to be fitted."""
    n, last = design.contests.n_players, design.leads.shape[1]
    anchors = model.anchors
    fixed = anchors.players[anchors.deviations == 0.0]
    free = np.ones(last + 1, np.bool_)
    free[:n] = linked.rated
    free[fixed] = False
    if not len(anchors.players) and linked.rated.sum() == 1:  # he is the zero
        free[:n] = False
    free[n:last] = linked.games.any()
    free[last] = davidson
    start = np.zeros(last + 1)
    start[anchors.players] = POINTS * (anchors.ratings - model.zero)
    start[last] = -math.inf
    if davidson:
        decided = float(tallies.wins.sum() + tallies.losses.sum())
        drawn = float(tallies.draws.sum())
        start[last] = math.log(2.0 * max(drawn, 0.5) / max(decided, 0.5))
    return Problem(
        design,
        tallies,
        _prior(model, linked.rated, fixed),
        np.flatnonzero(free),
        start,
        not len(anchors.players),
    )


def _prior(model: Model, rated: Bools, fixed: Ints) -> Prior:
    """Return what the model knows of the ratings."""
    anchors = model.anchors
    scattered = rated.copy()
    scattered[anchors.players] = False
    scatter = 0.0 if model.prior is None else 1.0 / (POINTS * model.prior) ** 2
    precisions, centres = np.zeros(len(rated)), np.zeros(len(rated))
    loose = anchors.deviations > 0.0
    players = anchors.players[loose]
    precisions[players] = 1.0 / (POINTS * anchors.deviations[loose]) ** 2
    centres[players] = POINTS * (anchors.ratings[loose] - model.zero)
    return Prior(scattered, scatter, precisions, centres)


def _start_from(problem: Problem, before: Estimate) -> None:
    """Let a search begin where another one has ended."""
    known = before.fit.place[problem.free]
    problem.start[problem.free] = np.where(np.isfinite(known), known, problem.start[problem.free])


def _in_points(problem: Problem, model: Model, linked: Linked, found: Fit) -> Estimate:
    """Return an estimate with its zero where it belongs."""
    n, place = problem.n_players, found.place
    strengths = np.where(linked.rated, place[:n], np.nan)
    if problem.moves:
        strengths = strengths - strengths[linked.rated].mean()
    ratings = model.zero + strengths / POINTS
    fixed = model.anchors.deviations == 0.0
    ratings[model.anchors.players[fixed]] = model.anchors.ratings[fixed]
    return Estimate(linked, ratings, place[n:-1] / POINTS, math.exp(place[-1]), found, problem)


class Uncertainty(NamedTuple):
    """How sure an estimate is.

    Attributes
    ----------
    covariance : numpy.ndarray or None
        (rated, rated) of the ratings of those who are rated, in their order, in points; None where
        they are too many.
    std_errors : numpy.ndarray
        (rated,) of their ratings.
    coefficients : numpy.ndarray
        (features,) standard errors of the coefficients, in points.
    log_draw_weight : float
        Standard error of ln nu.
    """

    covariance: Floats | None
    std_errors: Floats
    coefficients: Floats
    log_draw_weight: float


def uncertainty(found: Estimate, sandwich: bool, draws: np.random.Generator) -> Uncertainty:
    """Return how sure an estimate is.

    Parameters
    ----------
    found : Estimate
        The estimate.
    sandwich : bool
        Whether that is by the scatter of clusters, see `covariance`.
    draws : numpy.random.Generator
        Used where there are too many players for their covariance.
    """
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
    all_rated = model.prior is not None
    linked = link(contests, levels, contests.weights, model.anchors.players, all_rated)
    return estimate(design, levels, model, linked, contests.weights)
