"""Ratings by player and day, in points: how strong, and how sure that is."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from valmatch.kernels.arrays import Floats, Ints
from valmatch.ratings.bradley_terry.connections import Linked
from valmatch.ratings.bradley_terry.contests import Contests, Design, design_of
from valmatch.ratings.bradley_terry.estimating import (
    Estimate,
    Uncertainty,
    WholeModel,
    first_log_nu,
)
from valmatch.ratings.bradley_terry.fit import POINTS, Fit, Problem
from valmatch.ratings.bradley_terry.likelihood import Tallies
from valmatch.ratings.whole_history.covariance import parts_of_covariance
from valmatch.ratings.whole_history.days import PlayerDays
from valmatch.ratings.whole_history.wiener import Wiener

LEAST_DRIFT = 1e-4  # points a square-root day below which nobody moves: .01 points in 27 years


@dataclass(frozen=True, kw_only=True)
class PathModel(WholeModel):
    """A rating a player and day played."""

    days: PlayerDays = field(repr=False)  # who played when
    drift: float  # standard deviation of what a rating moves in a day, in points
    deviation: float  # standard deviation of a player's rating on his first day
    mean: float  # the mean of the ratings of all players on their first days

    @property
    def rates_all(self) -> bool:  # noqa: D102 - as `WholeModel` says, as all below
        return True

    @property
    def states(self) -> Ints:
        """Which strength each player-day has; the same one of a player if nobody moves."""
        if self.drift < LEAST_DRIFT:
            return self.days.players
        return np.arange(len(self.days.players))

    def design(self, contests: Contests) -> Design:  # noqa: D102
        states = self.states
        players = states[self.days.of_row]
        return design_of(contests._replace(n_players=int(states[-1]) + 1, players=players))

    @property
    def prior(self) -> Wiener:
        """What is known of the strengths."""
        precision = 1.0 / (POINTS * self.deviation) ** 2
        if self.drift < LEAST_DRIFT:
            n = int(self.days.players[-1]) + 1
            return Wiener(np.ones(n, np.bool_), precision, np.zeros(n - 1))
        follows, first = self.days.follows, np.zeros(len(self.days.days), np.bool_)
        first[self.days.first] = True
        between = np.where(follows, np.diff(self.days.days), 1).astype(np.float64)
        steps = np.where(follows, 1.0 / ((POINTS * self.drift) ** 2 * between), 0.0)
        return Wiener(first, precision, steps)

    def problem(  # noqa: D102
        self, design: Design, linked: Linked, tallies: Tallies, davidson: bool
    ) -> Problem:
        last = design.leads.shape[1]
        free = np.ones(last + 1, np.bool_)
        free[last] = davidson
        start = np.zeros(last + 1)
        start[last] = first_log_nu(tallies, davidson)
        return Problem(design, tallies, self.prior, np.flatnonzero(free), start, False)

    def in_points(self, problem: Problem, linked: Linked, found: Fit) -> Estimate:  # noqa: D102
        n, place = problem.n_players, found.place
        # Where the density is greatest, the mean of the first days is 0 by itself.
        days = self.mean + place[:n][self.states] / POINTS
        return Estimate(
            linked,
            days[self.days.last],
            place[n:-1] / POINTS,
            math.exp(place[-1]),
            found,
            problem,
            days,
        )

    def uncertainty(  # noqa: D102
        self, found: Estimate, sandwich: bool, draws: np.random.Generator
    ) -> Uncertainty:
        problem, states = found.problem, self.states
        moments = self.days.days if self.drift >= LEAST_DRIFT else np.zeros(0, np.int64)
        n, last = problem.n_players, states[self.days.last]
        parts = parts_of_covariance(problem, found.fit, sandwich, last, moments, draws)
        variances = parts.variances
        since = (POINTS * self.drift) ** 2 * (self.days.last_day - self.days.days[self.days.last])
        errors = np.zeros(len(problem.start))
        errors[problem.free] = np.sqrt(np.maximum(variances, 0.0))
        now, whole = np.maximum(variances[last], 0.0) + since, parts.last
        if whole is not None:
            whole = (whole + np.diag(since)) * POINTS**-2
        return Uncertainty(
            whole,
            np.sqrt(now) / POINTS,
            errors[n:-1] / POINTS,
            float(errors[-1]),
            _in_points(errors[:n][states]),
            parts.drawn,
        )


def _in_points(strengths: Floats) -> Floats:
    found: Floats = strengths / POINTS
    return found
