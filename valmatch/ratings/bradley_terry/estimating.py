"""The common part of the systems that rate a whole log: their options and estimates."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

import numpy as np
from scipy import sparse

from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.ratings.bradley_terry.connections import Levels, Linked, wins_lead_back
from valmatch.ratings.bradley_terry.contests import Contests, Design
from valmatch.ratings.bradley_terry.fit import Fit, NoEstimate, Problem, fit
from valmatch.ratings.bradley_terry.likelihood import Tallies, tallies_of

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

    @property
    @abstractmethod
    def rates_all(self) -> bool:
        """Whether a prior rates everybody who played."""

    @property
    def anchors(self) -> Anchors:
        """Players whose places are known."""
        return Anchors()

    @abstractmethod
    def design(self, contests: Contests) -> Design:
        """Return how leads and strengths in some games follow from the parameters."""

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

    def with_draws(self, draws: str) -> Self:
        """Return it with another meaning of draws."""
        return replace(self, draws=draws)


def estimate(
    design: Design,
    levels: Levels,
    model: WholeModel,
    linked: Linked,
    weights: Floats,
    before: Estimate | None = None,
) -> Estimate:
    """Rate the players who can be rated.

    Shapes: `weights` (games,).
    """
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
