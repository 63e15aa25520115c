"""Ratings by player and day, in points: how strong, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import lapack, solve_triangular

from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.kernels.threads import one_thread
from valmatch.ratings.bradley_terry.connections import Levels, Linked
from valmatch.ratings.bradley_terry.contests import (
    Contests,
    Design,
    Tallies,
    design_of,
    games_of_sides,
    rows_of_sides,
)
from valmatch.ratings.bradley_terry.covariance import (
    DENSE_COVARIANCE,
    inverse_information,
    meat,
    sampled_variances,
    times_meat,
)
from valmatch.ratings.bradley_terry.fit import (
    POINTS,
    Fit,
    Knowledge,
    Problem,
    conjugate_gradients,
)
from valmatch.ratings.bradley_terry.rating import (
    Estimate,
    Uncertainty,
    WholeModel,
    estimate,
    first_log_nu,
)

# The days on which players played, each of which has a rating of its own.


class PlayerDays(NamedTuple):
    """Players and days together, by player, then by day."""

    players: Ints  # (player-days,) number of the player
    days: Ints  # (player-days,) number of the day
    games: Ints  # (player-days,) how many they played then
    of_row: Ints  # (rows,) the player-day of each row of the games
    last_day: int  # the last day of all games

    @property
    def follows(self) -> Bools:
        """Whether each but the last is followed by one of the same player."""
        follows: Bools = self.players[1:] == self.players[:-1]
        return follows

    @property
    def first(self) -> Ints:
        """The first of each player."""
        return np.flatnonzero(np.append(True, ~self.follows))

    @property
    def last(self) -> Ints:
        """The last of each player."""
        return np.flatnonzero(np.append(~self.follows, True))


def player_days(contests: Contests, days: Ints) -> PlayerDays:
    """Return the days of all players by those of games, (games,)."""
    of_row = days[games_of_sides(contests)[rows_of_sides(contests)]]
    known, ranks = np.unique(of_row, return_inverse=True)
    keys = contests.players * len(known) + ranks.ravel()
    numbers, places, games = np.unique(keys, return_inverse=True, return_counts=True)
    players, day = np.divmod(numbers, len(known))
    return PlayerDays(players, known[day], games, places.ravel(), int(known[-1]))


def wiener(first: Bools, precision: float, steps: Floats) -> Knowledge:
    """Return what is known of paths before any game: a normal first day, then normal steps."""
    # `steps` (strengths - 1,) are 1 / variance of the step to the next one, 0 where that is another
    # player's. Each row of the roots has one positive number, on the diagonal of a triangular
    # matrix.
    n, firsts, moves = len(first), np.flatnonzero(first), np.flatnonzero(steps > 0.0)
    wide, beyond = np.sqrt(steps[moves]), len(firsts) + np.arange(len(moves))
    values = np.concatenate([np.full(len(firsts), math.sqrt(precision)), -wide, wide])
    rows = np.concatenate([np.arange(len(firsts)), beyond, beyond])
    columns = np.concatenate([firsts, moves, moves + 1])
    roots = sparse.csr_array((values, (rows, columns)), shape=(len(firsts) + len(moves), n))
    return Knowledge(roots, np.zeros(n), np.zeros(n), steps > 0.0, first)


# Elimination of a sparse symmetric matrix front by front (Irons 1970), and parts of its inverse.
#
# Parameters are eliminated in an order in which those that belong together are near to each other,
# such as that of time. At each step there is a front: those parameters that come later and are tied
# to an earlier one. It is small where few players are active at once, and then all is exact.

BLOCK = 96  # parameters that are eliminated at once


class Fronts(NamedTuple):
    """A matrix, and in which steps it is eliminated."""

    matrix: sparse.csr_array  # in the order of elimination
    order: Ints  # which parameter stands where
    starts: list[int]  # first parameter of each step, and the end of the last
    fronts: list[Ints]  # the parameters of the front after each step, in order

    @property
    def cells(self) -> int:
        """Numbers that are held while the matrix is eliminated for its inverse."""
        sizes = np.diff(self.starts)
        return int(sum(k * (k + len(front)) for k, front in zip(sizes, self.fronts, strict=True)))

    @property
    def work(self) -> float:
        """About how many multiplications its elimination takes."""
        sizes = np.diff(self.starts).tolist()
        pairs = zip(sizes, self.fronts, strict=True)
        return sum(k * float(k + len(front)) ** 2 for k, front in pairs)


def fronts_of(matrix: sparse.csr_array, order: Ints) -> Fronts:
    """Return the steps in which a positive definite matrix is eliminated in some order."""
    size = len(order)
    turned = sparse.csr_array(matrix[order][:, order])
    turned.sort_indices()
    starts = [*range(0, size, BLOCK), size]
    fronts, before = [], np.zeros(0, np.int64)
    for at, end in pairwise(starts):
        touched = turned.indices[turned.indptr[at] : turned.indptr[end]]
        front = np.union1d(before, touched)
        before = front[np.searchsorted(front, end) :]
        fronts.append(before)
    return Fronts(turned, order, starts, fronts)


def _assembled(steps: Fronts, step: int, before: Floats) -> Floats:
    """Return the matrix of a step, its own parameters before its front."""
    at, end = steps.starts[step], steps.starts[step + 1]
    known = np.concatenate([np.arange(at, end), steps.fronts[step]])
    matrix = np.zeros((len(known), len(known)))
    if step:
        places = np.searchsorted(known, steps.fronts[step - 1])
        matrix[np.ix_(places, places)] = before
    block = steps.matrix[at:end]
    later = block.indices >= at
    rows, values = block.tocoo().row[later], block.data[later]
    places = np.searchsorted(known, block.indices[later])
    matrix[rows, places] += values
    beyond = places >= end - at
    matrix[places[beyond], rows[beyond]] += values[beyond]
    return matrix


def _eliminated(matrix: Floats, k: int) -> tuple[Floats, Floats, Floats]:
    """Return the factor of the first `k`, its part in the others, and what is left of these."""
    factor: Floats = np.asarray(np.linalg.cholesky(matrix[:k, :k]), np.float64)
    across: Floats = solve_triangular(factor, matrix[:k, k:], lower=True, check_finite=False)
    left: Floats = matrix[k:, k:] - across.T @ across
    return factor, across, left


def log_determinant(steps: Fronts) -> float:
    """Return the logarithm of the determinant of the matrix."""
    total, left = 0.0, np.zeros((0, 0))
    for step, k in enumerate(np.diff(steps.starts).tolist()):
        factor, _, left = _eliminated(_assembled(steps, step, left), k)
        total += 2.0 * float(np.log(np.diag(factor)).sum())
    return total


def inverse_of(steps: Fronts, wanted: Ints) -> tuple[Floats, Floats]:
    """Return the diagonal of the inverse, and all of it that is of some parameters."""
    # Fronts are eliminated from the first to the last; then the inverse is made back to the first.
    left, factors = np.zeros((0, 0)), []
    for step, k in enumerate(np.diff(steps.starts).tolist()):
        factor, across, left = _eliminated(_assembled(steps, step, left), k)
        factors.append((factor, across))
    n, names_of = len(wanted), np.full(len(steps.order), -1)
    names_of[wanted] = np.arange(n)
    names_of = names_of[steps.order]  # where each parameter stands in the block, -1 if it does not
    diagonal, block = np.empty(len(names_of)), np.empty((n, n))
    spread = np.zeros((0, 0))  # of the front
    shared = np.zeros((0, n))  # of the front with those that are wanted and come later
    met = np.zeros(0, np.int64)  # which these are
    for step in range(len(factors) - 1, -1, -1):
        at, end = steps.starts[step], steps.starts[step + 1]
        k = end - at
        inverse, gain = _widened(*factors.pop(), spread)
        diagonal[steps.order[at:end]] = np.diag(inverse)[:k]
        members, old = np.flatnonzero(names_of[at:end] >= 0), len(met)
        names, rows = names_of[at:end][members], np.empty((len(inverse), n))
        rows[:k, :old], rows[k:, :old] = gain @ shared[:, :old], shared[:, :old]
        rows[:, old : old + len(members)] = inverse[:, members]
        block[np.ix_(names, met)] = rows[members, :old]
        block[np.ix_(met, names)] = rows[members, :old].T
        block[np.ix_(names, names)] = inverse[np.ix_(members, members)]
        met = np.concatenate([met, names])
        if step:
            known = np.concatenate([np.arange(at, end), steps.fronts[step]])
            kept = np.searchsorted(known, steps.fronts[step - 1])
            spread, shared = inverse[np.ix_(kept, kept)], rows[kept]
    return diagonal, block


def _widened(factor: Floats, across: Floats, spread: Floats) -> tuple[Floats, Floats]:
    """Return the inverse of a step and its front, and its mean as a multiple of the front."""
    k, f = across.shape
    gain: Floats = -solve_triangular(factor, across, lower=True, trans=1, check_finite=False)
    step, _ = lapack.dpotri(factor, lower=1)
    inverse = np.empty((k + f, k + f))
    inverse[k:, k:] = spread
    inverse[:k, k:] = gain @ spread
    inverse[k:, :k] = inverse[:k, k:].T
    inverse[:k, :k] = np.tril(step) + np.tril(step, -1).T + inverse[:k, k:] @ gain.T
    return inverse, gain


def in_time(moments: Ints, size: int) -> Ints:
    """Return parameters in the order of their moments; those without one, the last, at the end."""
    order = np.argsort(moments, kind="stable")
    return np.concatenate([order, np.arange(len(moments), size)])


# Covariance of strengths by player and day, exact where it can be had in reasonable time.

SMALL = 1_000  # parameters up to which the whole inverse is as fast as its parts
MOST_WORK = 1.5e12  # multiplications for a covariance: a few minutes

_MOST_CELLS = 200_000_000
_MOST_SOLVED = 30_000_000
_COLUMNS = 32


class Parts(NamedTuple):
    """Parts of the covariance in log odds where the mean of all first days is held."""

    variances: Floats  # (free,) of each
    last: Floats | None  # (players, players) of their last days; None where there are too many
    drawn: bool  # whether the variances are from draws


def parts_of_covariance(
    problem: Problem,
    fit: Fit,
    sandwich: bool,
    last: Ints,
    moments: Ints,
    draws: np.random.Generator,
) -> Parts:
    """Return parts of the covariance of what was fitted."""
    size, n, players = fit.information.size, len(last), problem.n_players
    # By how much all covariances are less where the mean of the first days is held, so that all
    # together cannot move.
    held = 1.0 / (problem.prior.roots.data[0] ** 2 * int(problem.prior.held.sum()))
    parts: tuple[Floats, Floats] | None = None  # all variances, and the covariance of the last
    if size <= (DENSE_COVARIANCE if sandwich or not len(moments) else SMALL):
        inverse = inverse_information(fit)
        if sandwich:
            parts = _sandwiched(problem, fit, inverse, last)
        else:
            parts = np.diag(inverse).copy(), inverse[np.ix_(last, last)]
    elif not sandwich and n <= DENSE_COVARIANCE:
        fronts = fronts_of(fit.information.matrix, in_time(moments, size))
        work = 3.0 * fronts.work + float(fronts.cells) * n
        if work < MOST_WORK and fronts.cells < _MOST_CELLS:
            with one_thread():  # for products that are small, and many
                parts = inverse_of(fronts, last)
    if parts is not None:
        variances, block = parts
        variances[:players] -= held
        return Parts(variances, block - held, False)
    variances = sampled_variances(problem, fit, sandwich, draws)
    if n * size > _MOST_SOLVED:
        return Parts(variances, None, True)
    block = _solved(problem, fit, sandwich, last) - held
    variances[last] = np.diag(block)
    return Parts(variances, block, True)


def _sandwiched(problem: Problem, fit: Fit, inverse: Floats, last: Ints) -> tuple[Floats, Floats]:
    """Return the parts of a sandwich, whose inner part is the square of a sparse matrix."""
    wide = problem.prior.roots.copy()
    wide.resize(wide.shape[0], len(problem.start))
    roots = sparse.csr_array(sparse.vstack([meat(problem, fit), wide[:, problem.free]]))
    ends = [*range(0, len(inverse), _COLUMNS), len(inverse)]
    parts = (roots @ inverse[:, at:end] for at, end in pairwise(ends))
    variances = np.concatenate([(part**2).sum(axis=0) for part in parts])
    of_last = roots @ inverse[:, last]
    return variances, of_last.T @ of_last


def _solved(problem: Problem, fit: Fit, sandwich: bool, last: Ints) -> Floats:
    """Return the covariance of the last days, solved for column by column."""
    information, n = fit.information, len(last)
    block = np.empty((n, n))
    roots = meat(problem, fit) if sandwich else None
    for at in range(0, n, _COLUMNS):
        days = last[at : at + _COLUMNS]
        units = np.zeros((information.size, len(days)))
        units[days, np.arange(len(days))] = 1.0
        columns = conjugate_gradients(information, units, 1e-7)
        if columns is not None and roots is not None:
            inner = times_meat(problem, roots, columns)
            columns = conjugate_gradients(information, inner, 1e-7)
        assert columns is not None, "the information has been found to be regular"
        block[:, at : at + _COLUMNS] = columns[last]
    return 0.5 * (block + block.T)


LEAST_DRIFT = 1e-4  # points a square-root day below which nobody moves: .01 points in 27 years


@dataclass(frozen=True, kw_only=True)
class PathModel(WholeModel):
    """A rating a player and day played."""

    days: PlayerDays = field(repr=False)  # who played when
    drift: float  # standard deviation of what a rating moves in a day, in points
    deviation: float  # standard deviation of a player's rating on the first day
    mean: float  # the mean of the ratings of all players on their first days

    @property
    def states(self) -> Ints:
        """Which strength each player-day has; the same one of a player if nobody moves."""
        if self.drift < LEAST_DRIFT:
            return self.days.players
        return np.arange(len(self.days.players))

    def design(self, contests: Contests) -> Design:  # noqa: D102 - as `WholeModel` says, as below
        states = self.states
        players = states[self.days.of_row]
        return design_of(contests._replace(n_players=int(states[-1]) + 1, players=players))

    @property
    def prior(self) -> Knowledge:
        """What is known of the strengths."""
        precision = 1.0 / (POINTS * self.deviation) ** 2
        if self.drift < LEAST_DRIFT:
            n = int(self.days.players[-1]) + 1
            return wiener(np.ones(n, np.bool_), precision, np.zeros(n - 1))
        follows, first = self.days.follows, np.zeros(len(self.days.days), np.bool_)
        first[self.days.first] = True
        between = np.where(follows, np.diff(self.days.days), 1).astype(np.float64)
        steps = np.where(follows, 1.0 / ((POINTS * self.drift) ** 2 * between), 0.0)
        return wiener(first, precision, steps)

    def problem(  # noqa: D102
        self, design: Design, linked: Linked, tallies: Tallies, davidson: bool
    ) -> Problem:
        last = design.leads.shape[1]
        free = np.ones(last + 1, np.bool_)
        free[last] = davidson
        start = np.zeros(last + 1)
        start[last] = first_log_nu(tallies, davidson)
        return Problem(design, tallies, self.prior, np.flatnonzero(free), start, False)

    def in_points(self, problem: Problem, linked: Linked, best: Fit) -> Estimate:  # noqa: D102
        n, point = problem.n_players, best.point
        # Where the density is greatest, the mean of the first days is 0 by itself.
        days = self.mean + point[:n][self.states] / POINTS
        return Estimate(
            linked,
            days[self.days.last],
            point[n:-1] / POINTS,
            math.exp(point[-1]),
            best,
            problem,
            days,
        )

    def uncertainty(  # noqa: D102
        self, estimate: Estimate, sandwich: bool, draws: np.random.Generator
    ) -> Uncertainty:
        problem, states = estimate.problem, self.states
        moments = self.days.days if self.drift >= LEAST_DRIFT else np.zeros(0, np.int64)
        n, last = problem.n_players, states[self.days.last]
        parts = parts_of_covariance(problem, estimate.fit, sandwich, last, moments, draws)
        variances, together = parts.variances, parts.last
        since = (POINTS * self.drift) ** 2 * (self.days.last_day - self.days.days[self.days.last])
        errors = np.zeros(len(problem.start))
        errors[problem.free] = np.sqrt(np.maximum(variances, 0.0))
        now = np.maximum(variances[last], 0.0) + since
        return Uncertainty(
            None if together is None else (together + np.diag(since)) * POINTS**-2,
            np.sqrt(now) / POINTS,
            errors[n:-1] / POINTS,
            float(errors[-1]),
            errors[:n][states] / POINTS,
            parts.drawn,
        )


# The drift that makes a log most likely: Laplace's approximation of its evidence.

GRID = (0.0, *(0.1 * 2.0**k for k in range(13)))
"""Drifts that are tried first, in points a square-root day: none, then .1 to 410."""

CLOSE = 1e-4  # how close the logarithm of the drift is searched for
MOST_WORK_OF_ONE = 3e11  # multiplications for one drift: about half a minute; some thirty are tried


class TooLarge(Exception):  # noqa: N818 - it is no failure of the program
    """Too many players are active at once for the evidence of a log."""


def log_evidence(model: PathModel, best: Estimate) -> float:
    """Return the logarithm of the evidence of a drift, but for what is the same for all drifts."""
    # The greatest log density plus half the log ratio of the determinants of the prior's second
    # derivatives and of all: what the games leave of the width of the prior. In points, and ln nu;
    # coefficients have a flat prior of density 1.
    problem, information, prior = best.problem, best.fit.information, best.problem.prior
    moments = model.days.days if model.drift >= LEAST_DRIFT else model.days.players[:0]
    steps = fronts_of(information.matrix, in_time(moments, information.size))
    if steps.work > MOST_WORK_OF_ONE:
        raise TooLarge
    with one_thread():  # for products that are small, and many
        after = log_determinant(steps)
    n = problem.n_players
    odds = n + len(best.coefficients)  # so many are in log odds
    after += 2.0 * odds * math.log(POINTS)
    diagonal = prior.roots.data[prior.roots.data > 0.0]
    before = 2.0 * float(np.log(diagonal).sum()) + 2.0 * n * math.log(POINTS)
    density = best.fit.log_likelihood - prior.penalty(best.fit.point[:n])
    flat = 0.5 * (information.size - n) * math.log(2.0 * math.pi)
    return density + 0.5 * (before - after) + flat


class Tuned(NamedTuple):
    """The best drift."""

    drift: float  # points a square-root day
    evidence: float  # logarithm of its evidence
    unmoved: float  # that of no drift


def tuned_drift(
    model: PathModel,
    contests: Contests,
    levels: Levels,
    linked: Linked,
    check: Callable[[], None] = lambda: None,
) -> Tuned:
    """Return the drift of the greatest evidence: of `GRID`, then by Brent's method around it."""
    known: dict[float, float] = {}
    before: Estimate | None = None
    design = model.design(contests)

    def evidence(drift: float) -> float:
        nonlocal before
        check()
        tried = replace(model, drift=drift)
        if drift < LEAST_DRIFT:
            best = estimate(tried.design(contests), levels, tried, linked, contests.weights)
        else:
            best = before = estimate(design, levels, tried, linked, contests.weights, before)
        known[drift] = log_evidence(tried, best)
        return known[drift]

    for drift in GRID:
        evidence(drift)
    best = max(GRID, key=known.__getitem__)
    if best > 0.0:
        from scipy.optimize import minimize_scalar

        low, high = math.log(0.5 * best), math.log(min(2.0 * best, GRID[-1]))
        minimize_scalar(
            lambda log: -evidence(math.exp(log)),
            bounds=(low, high),
            method="bounded",
            options={"xatol": CLOSE},
        )
        best = max(known, key=known.__getitem__)
    return Tuned(best, known[best], known[0.0])
