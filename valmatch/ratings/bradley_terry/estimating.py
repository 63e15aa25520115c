"""The common part of the systems that rate a whole log: their options and estimates."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

import numpy as np

from valmatch.kernels.arrays import Floats, Ints
from valmatch.ratings.bradley_terry.connections import Levels, Linked
from valmatch.ratings.bradley_terry.contests import Contests, Design
from valmatch.ratings.bradley_terry.fit import Fit, NoEstimate, Problem, fit
from valmatch.ratings.bradley_terry.likelihood import Tallies, tallies_of
from valmatch.ratings.bradley_terry.separation import draws_are_separated

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
    def in_points(self, problem: Problem, linked: Linked, found: Fit) -> Estimate:
        """Return an estimate with its zero where it belongs."""

    @abstractmethod
    def uncertainty(
        self, found: Estimate, sandwich: bool, draws: np.random.Generator
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
    again = before is not None  # resampled games leave many duels out
    tallies = tallies_of(design, np.where(linked.games, weights, 0.0), weighty=again)
    drawn = float(tallies.draws.sum()) > 0.0
    davidson = model.draws == DAVIDSON or (not model.draws and drawn)
    if davidson and not model.rates_all:
        anchors = model.anchors.players
        if draws_are_separated(design, levels, tallies, linked.games, anchors):
            raise NoEstimate(True, np.array([design.leads.shape[1]]))
    problem = model.problem(design, linked, tallies, davidson)
    if before is not None:
        _start_from(problem, before)
    found = fit(problem, checked=before is None)
    return model.in_points(problem, linked, found)


def first_log_nu(tallies: Tallies, davidson: bool) -> float:
    """Return where the search for ln nu begins; -inf where draws are halves of wins."""
    if not davidson:
        return -math.inf
    decided = float(tallies.wins.sum() + tallies.losses.sum())
    drawn = float(tallies.draws.sum())
    return math.log(2.0 * max(drawn, 0.5) / max(decided, 0.5))


def _start_from(problem: Problem, before: Estimate) -> None:
    """Let a search begin where another one has ended."""
    known = before.fit.place[problem.free]
    problem.start[problem.free] = np.where(np.isfinite(known), known, problem.start[problem.free])
