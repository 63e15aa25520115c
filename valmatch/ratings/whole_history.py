"""Ratings that move in time, all at once: one for each player and day on which they played.

Sources: Coulom 2008, Whole-History Rating; Irons 1970 (elimination by fronts).
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import lapack, solve_triangular

from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.kernels.threads import one_thread
from valmatch.ratings.bradley_terry.contests import Contests, Design, Linked, design_of
from valmatch.ratings.bradley_terry.covariance import (
    DENSE_COVARIANCE,
    inverse_information,
    meat,
    sampled_variances,
    times_meat,
)
from valmatch.ratings.bradley_terry.fit import POINTS, Fit, Knowledge, conjugate_gradients
from valmatch.ratings.bradley_terry.rating import Estimate, Uncertainty, WholeModel, estimate

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
    of_row = days[contests.game_of_side[contests.side_of_row]]
    known, ranks = np.unique(of_row, return_inverse=True)
    keys = contests.players * len(known) + ranks.ravel()
    numbers, index, games = np.unique(keys, return_inverse=True, return_counts=True)
    players, day = np.divmod(numbers, len(known))
    return PlayerDays(players, known[day], games, index.ravel(), int(known[-1]))


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


def fronts_of(matrix: sparse.csr_array, moments: Ints) -> Fronts:
    """Return the steps that eliminate a positive definite matrix, those without a moment last."""
    size = matrix.shape[0]
    order = np.append(np.argsort(moments, kind="stable"), np.arange(len(moments), size))
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


def _factors(steps: Fronts) -> Iterator[tuple[Floats, Floats]]:
    """Yield the factor of the parameters of each step, and its part in the front."""
    left, before = np.zeros((0, 0)), np.zeros(0, np.int64)
    for (at, end), front in zip(pairwise(steps.starts), steps.fronts, strict=True):
        known = np.append(np.arange(at, end), front)
        matrix = np.zeros((len(known), len(known)))
        index = np.searchsorted(known, before)
        matrix[np.ix_(index, index)] = left
        block, k, before = steps.matrix[at:end], end - at, front
        later = block.indices >= at
        rows, values = block.tocoo().row[later], block.data[later]
        index = np.searchsorted(known, block.indices[later])
        matrix[rows, index] += values
        matrix[index[index >= k], rows[index >= k]] += values[index >= k]
        factor = np.asarray(np.linalg.cholesky(matrix[:k, :k]), np.float64)
        across = solve_triangular(factor, matrix[:k, k:], lower=True, check_finite=False)
        left = matrix[k:, k:] - across.T @ across
        yield factor, across


def inverse_of(steps: Fronts, wanted: Ints) -> tuple[Floats, Floats]:
    """Return the diagonal of the inverse, and all of it that is of some parameters."""
    # Fronts are eliminated from the first to the last; then the inverse is made back to the first.
    factors = list(_factors(steps))
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


# Covariance of strengths by player and day, exact where it can be had in reasonable time.

SMALL = 1_000  # parameters up to which the whole inverse is as fast as its parts
MOST_WORK = 1.5e12  # multiplications for a covariance: a few minutes

_MOST_CELLS = 200_000_000
_MOST_SOLVED = 30_000_000
_COLUMNS = 32


def parts_of_covariance(
    fit: Fit, sandwich: bool, last: Ints, moments: Ints, draws: np.random.Generator
) -> tuple[Floats, Floats | None, bool]:
    """Return variances, the covariance of the last days or None, and whether draws were made."""
    # In log odds, where the mean of all first days is held.
    problem, information, prior = fit.problem, fit.information, fit.problem.prior
    size, n = information.size, len(last)
    # By how much all covariances are less where the mean of the first days is held, so that all
    # together cannot move.
    held = 1.0 / (prior.roots.data[0] ** 2 * n)
    exact: tuple[Floats, Floats] | None = None  # all variances, and the covariance of the last
    if size <= (DENSE_COVARIANCE if sandwich or not len(moments) else SMALL):
        inverse = inverse_information(information)
        if sandwich:  # its inner part is the square of a sparse matrix
            roots = sparse.csr_array(sparse.vstack([meat(fit), prior.roots]))
            parts = (roots @ inverse[:, at : at + _COLUMNS] for at in range(0, size, _COLUMNS))
            squares, of_last = [(part**2).sum(axis=0) for part in parts], roots @ inverse[:, last]
            exact = np.concatenate(squares), of_last.T @ of_last
        else:
            exact = np.diag(inverse).copy(), inverse[np.ix_(last, last)]
    elif not sandwich and n <= DENSE_COVARIANCE:
        fronts = fronts_of(information.matrix, moments)
        work = 3.0 * fronts.work + float(fronts.cells) * n
        if work < MOST_WORK and fronts.cells < _MOST_CELLS:
            with one_thread():  # for products that are small, and many
                exact = inverse_of(fronts, last)
    if exact is not None:
        exact[0][: problem.n_players] -= held
        return exact[0], exact[1] - held, False
    variances = sampled_variances(fit, sandwich, draws)
    if n * size > _MOST_SOLVED:
        return variances, None, True
    block = _solved(fit, sandwich, last) - held
    variances[last] = np.diag(block)
    return variances, block, True


def _solved(fit: Fit, sandwich: bool, last: Ints) -> Floats:
    """Return the covariance of the last days, solved for column by column."""
    information, n = fit.information, len(last)
    block = np.empty((n, n))
    roots = meat(fit) if sandwich else None
    for at in range(0, n, _COLUMNS):
        days = last[at : at + _COLUMNS]
        units = np.zeros((information.size, len(days)))
        units[days, np.arange(len(days))] = 1.0
        columns = conjugate_gradients(information, units, 1e-7)
        if columns is not None and roots is not None:
            inner = times_meat(fit, roots, columns)
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

    @property
    def moments(self) -> Ints:
        """The day of each strength; none if nobody moves."""
        return self.days.days if self.drift >= LEAST_DRIFT else self.days.days[:0]

    def design(self, contests: Contests) -> Design:  # noqa: D102 - as `WholeModel` says, as below
        states = self.states
        players = states[self.days.of_row]
        return design_of(replace(contests, n_players=int(states[-1]) + 1, players=players))

    def knowledge(self, linked: Linked, free: Bools, start: Floats) -> Knowledge:  # noqa: D102
        # A normal first day, then normal steps. Each row of the roots has one positive number, on
        # the diagonal of a triangular matrix.
        first, moves, size = self.days.first, np.flatnonzero(self.days.follows), int(free.sum())
        if self.drift < LEAST_DRIFT:
            first, moves = np.arange(self.states[-1] + 1), moves[:0]
        wide = 1.0 / (POINTS * self.drift * np.sqrt(np.diff(self.days.days)[moves]))
        beyond, day = len(first) + np.arange(len(moves)), 1.0 / (POINTS * self.deviation)
        values = np.concatenate([np.full(len(first), day), -wide, wide])
        rows = np.concatenate([np.arange(len(first)), beyond, beyond])
        columns = np.concatenate([first, moves, moves + 1])
        roots = sparse.csr_array((values, (rows, columns)), shape=(len(first) + len(moves), size))
        held, chained = np.zeros(size, np.bool_), np.zeros(size - 1, np.bool_)
        held[first] = chained[moves] = True
        return Knowledge(roots, np.zeros(size), np.zeros(size), False, held, chained)

    def in_points(self, linked: Linked, best: Fit) -> Estimate:  # noqa: D102
        # Where the density is greatest, the mean of the first days is 0 by itself.
        days = self.mean + best.point[self.states] / POINTS
        return Estimate(linked, best, days[self.days.last], days)

    def uncertainty(  # noqa: D102
        self, estimate: Estimate, sandwich: bool, draws: np.random.Generator
    ) -> Uncertainty:
        best, n = estimate.fit, estimate.fit.problem.n_players
        last = self.states[self.days.last]
        variances, together, drawn = parts_of_covariance(best, sandwich, last, self.moments, draws)
        since = (POINTS * self.drift) ** 2 * (self.days.last_day - self.days.days[self.days.last])
        errors = np.zeros(len(best.point))
        errors[best.problem.free] = np.sqrt(np.maximum(variances, 0.0))
        now = np.maximum(variances[last], 0.0) + since
        return Uncertainty(
            None if together is None else (together + np.diag(since)) * POINTS**-2,
            np.sqrt(now) / POINTS,
            errors[n:-1] / POINTS,
            float(errors[-1]),
            errors[self.states] / POINTS,
            drawn,
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
    fitted, information, prior = best.fit, best.fit.information, best.fit.problem.prior
    steps = fronts_of(information.matrix, model.moments)
    if steps.work > MOST_WORK_OF_ONE:
        raise TooLarge
    with one_thread():  # for products that are small, and many
        after = sum(2.0 * float(np.log(np.diag(factor)).sum()) for factor, _ in _factors(steps))
    n = fitted.problem.n_players
    odds = n + len(best.coefficients)  # so many are in log odds
    after += 2.0 * odds * math.log(POINTS)
    diagonal = prior.roots.data[prior.roots.data > 0.0]
    before = 2.0 * float(np.log(diagonal).sum()) + 2.0 * n * math.log(POINTS)
    density = fitted.terms.value - prior.penalty(fitted.point[fitted.problem.free])[0]
    flat = 0.5 * (information.size - n) * math.log(2.0 * math.pi)
    return density + 0.5 * (before - after) + flat


class Tuned(NamedTuple):
    """The best drift."""

    drift: float  # points a square-root day
    evidence: float  # logarithm of its evidence
    unmoved: float  # that of no drift


def tuned_drift(
    model: PathModel, contests: Contests, linked: Linked, check: Callable[[], None] = lambda: None
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
            best = estimate(tried.design(contests), tried, linked, contests.weights)
        else:
            best = before = estimate(design, tried, linked, contests.weights, before)
        known[drift] = log_evidence(tried, best)
        return known[drift]

    best = max(GRID, key=evidence)
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
