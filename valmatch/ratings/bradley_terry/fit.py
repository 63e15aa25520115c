"""The maximum of the posterior density by Newton's method, and when there is none."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from scipy import sparse

from valmatch.kernels.arrays import Floats, Ints
from valmatch.ratings.bradley_terry.contests import Design
from valmatch.ratings.bradley_terry.likelihood import (
    Tallies,
    Terms,
    gradient_of,
    information_of,
    terms_at,
)
from valmatch.ratings.bradley_terry.linear import EXACT, blind_direction, solve
from valmatch.ratings.bradley_terry.prior import Information, Knowledge, dot

POINTS = math.log(10.0) / 400.0  # log odds of a point of rating: 400 points are 10 : 1
_STEP = 1e-6 * POINTS  # the largest step after which ratings have converged, 1e-6 points

_STEP_AGAIN = 1e-3 * POINTS
"""The like for a refit, after which the next one, about its square, would be far below `_STEP`."""

_ROUGH = 1e-2
"""The share of a first step that may be wrong in a refit; later ones are as exact as their square.

As Newton's steps square what is left to go, hardly one more of them is needed.
"""

_LEAST = 1e-11  # what is left of a step may be so long, in units of one standard error

_LONGEST = 4.0
"""The longest step, in log odds; a longer one leaves the place where its derivatives say much."""

MOST_STEPS = 100
FARTHEST = 1e5 * POINTS


class NoEstimate(Exception):  # noqa: N818 - it is no failure of the program
    """There is no estimate."""

    def __init__(self, separated: bool, parameters: Ints) -> None:
        super().__init__("no finite estimate")
        self.separated, self.parameters = separated, parameters


@dataclass(frozen=True)
class Problem:
    """What is to be fitted."""

    design: Design  # the games
    # how they ended; only games among players who are free or anchored weigh anything
    tallies: Tallies
    prior: Knowledge  # what is known before
    free: Ints  # numbers of the parameters to fit; the last of all is ln nu
    # (parameters,) where to begin, with the places of the fixed ones; ln nu is -inf where draws are
    # halves of wins
    start: Floats
    moves: bool  # whether no anchor holds the players, so that all can move together

    @property
    def n_players(self) -> int:
        """Number of players."""
        return self.design.contests.n_players

    def terms(self, place: Floats) -> Terms:
        """Return the likelihood at a place, and its derivatives."""
        return terms_at(self.design, self.tallies, place[:-1], float(place[-1]))

    def value(self, place: Floats, terms: Terms) -> float:
        """Return the log posterior density at a place."""
        return terms.value - self.prior.penalty(place[: self.n_players])

    def gradient(self, place: Floats, terms: Terms) -> Floats:
        """Return its derivatives by the free parameters."""
        found = gradient_of(self.design, terms)
        found[: self.n_players] -= self.prior.slopes(place[: self.n_players])
        return found[self.free]

    def information(self, terms: Terms) -> Information:
        """Return minus its second derivatives by the free parameters."""
        n, last = self.n_players, len(self.start) - 1
        found = information_of(self.design, terms)
        rank_one, shift = np.zeros(last), np.zeros(last)
        rank_one[:n], shift[:n] = self.prior.rank_one, self.moves
        if not self.prior.flat:
            found = sparse.csr_array(found + padded(self.prior.sparse_part, last))
        free = self.free[self.free < last]
        if len(free) < last:
            found = sparse.csr_array(found[free][:, free])
        border = np.zeros(0)
        if len(free) < len(self.free):
            crossed = self.design.leads.T @ terms.crossed
            border = np.append(crossed[free], terms.draw_curvature)
        return Information(found, rank_one[free], shift[free], border, self.prior.chained)


def padded(matrix: sparse.csr_array, size: int) -> sparse.csr_array:
    """Return a square matrix with rows and columns of zeros added at its end."""
    starts = np.append(matrix.indptr, np.full(size - matrix.shape[0], matrix.indptr[-1]))
    return sparse.csr_array((matrix.data, matrix.indices, starts), shape=(size, size))


@dataclass(frozen=True)
class Fit:
    """An estimate."""

    place: Floats  # (parameters,) in log odds
    log_likelihood: float  # of the games, without the prior
    informed: Callable[[], Information]  # makes `information`, of which a refit has no use

    @cached_property
    def information(self) -> Information:
        """The information at the estimate."""
        return self.informed()


def fit(problem: Problem, checked: bool = True) -> Fit:
    """Find the maximum."""
    place = problem.start.copy()
    terms = problem.terms(place)
    if checked:
        _refuse_blind(problem, problem.information(terms))
    precision = EXACT if checked else _ROUGH
    for _ in range(MOST_STEPS):
        information = problem.information(terms)
        gradient = problem.gradient(place, terms)
        step = solve(information, gradient, _LEAST, precision)
        if step is None:
            break
        length = float(np.abs(step).max(initial=0.0))
        precision = max(EXACT, min(precision, length**2))
        step *= min(1.0, _LONGEST / max(length, _LONGEST))
        place, terms = _moved(problem, place, terms, step, dot(gradient, step))
        if np.abs(place[problem.free]).max(initial=0.0) > FARTHEST:
            break
        if length < (_STEP if checked else _STEP_AGAIN):
            found = Fit(place, terms.value, partial(problem.information, terms))
            if checked:
                _refuse_blind(problem, found.information)
            return found
    far = problem.free[np.argsort(-np.abs(place[problem.free]), kind="stable")]
    raise NoEstimate(True, far)


def _moved(
    problem: Problem, place: Floats, terms: Terms, step: Floats, rise: float
) -> tuple[Floats, Terms]:
    """Return where a step leads, halved until it rises, with the likelihood."""
    before, share = problem.value(place, terms), 1.0
    for _ in range(40):
        there = place.copy()
        there[problem.free] += share * step
        found = problem.terms(there)
        slack = 1e-12 * (1.0 + abs(before))  # of rounding, where next to nothing is left to gain
        if problem.value(there, found) >= before + 1e-4 * share * rise - slack:
            return there, found
        share *= 0.5
    return place, terms


def _refuse_blind(problem: Problem, information: Information) -> None:
    """Raise where games say nothing of some parameters."""
    held = problem.n_players if problem.prior.holds_all else 0
    direction = blind_direction(information, held)
    if direction is None:
        return
    sizes = np.abs(direction)
    order = np.argsort(-sizes, kind="stable")
    blamed = order[sizes[order] > 0.3 * sizes.max()]
    raise NoEstimate(False, problem.free[blamed])
