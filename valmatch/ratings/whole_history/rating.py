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
from valmatch.ratings.bradley_terry.estimating import (
    Estimate,
    Uncertainty,
    WholeModel,
    estimate,
    first_log_nu,
)
from valmatch.ratings.bradley_terry.fit import POINTS, Fit, Problem
from valmatch.ratings.bradley_terry.likelihood import Tallies
from valmatch.ratings.bradley_terry.linear import conjugate_gradients
from valmatch.ratings.bradley_terry.prior import Knowledge, dot

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
        found: Bools = self.players[1:] == self.players[:-1]
        return found

    @property
    def first(self) -> Ints:
        """The first of each player."""
        return np.flatnonzero(np.append(True, ~self.follows))

    @property
    def last(self) -> Ints:
        """The last of each player."""
        return np.flatnonzero(np.append(~self.follows, True))


def player_days(contests: Contests, days: Ints) -> PlayerDays:
    """Return the days of all players.

    Shapes: `days` (games,).
    """
    of_row = days[games_of_sides(contests)[rows_of_sides(contests)]]
    known, ranks = np.unique(of_row, return_inverse=True)
    keys = contests.players * len(known) + ranks.ravel()
    found, places, games = np.unique(keys, return_inverse=True, return_counts=True)
    players, day = np.divmod(found, len(known))
    return PlayerDays(players, known[day], games, places.ravel(), int(known[-1]))


# Knowledge of paths before any game: a normal first day, then steps as wide as time is long.


@dataclass(frozen=True)
class Wiener(Knowledge):
    """Minus the log density of strengths of players by day, in log odds."""

    first: Bools  # (strengths,) whether each is the first of a player
    precision: float  # 1 / variance of a first one about 0
    # (strengths - 1,) 1 / variance of the step to the next one; 0 where that is another player's
    steps: Floats

    def penalty(self, strengths: Floats) -> float:  # noqa: D102 - as `Knowledge` says
        own, moves = strengths[self.first], np.diff(strengths)
        return 0.5 * self.precision * dot(own, own) + 0.5 * dot(self.steps, moves**2)

    def slopes(self, strengths: Floats) -> Floats:  # noqa: D102
        pulls = self.steps * np.diff(strengths)
        found = np.where(self.first, self.precision * strengths, 0.0)
        found[:-1] -= pulls
        found[1:] += pulls
        return found

    @property
    def sparse_part(self) -> sparse.csr_array:  # noqa: D102
        own = np.where(self.first, self.precision, 0.0)
        own[:-1] += self.steps
        own[1:] += self.steps
        bands = [own, -self.steps, -self.steps]
        return sparse.csr_array(sparse.diags_array(bands, offsets=[0, 1, -1]))

    @property
    def chained(self) -> Bools:  # noqa: D102
        found: Bools = self.steps > 0.0
        return found

    @property
    def holds_all(self) -> bool:  # noqa: D102
        return True

    @property
    def held(self) -> float:
        """By how much all covariances are less where the mean of the first strengths is held."""
        return 1.0 / (self.precision * float(self.first.sum()))

    def still(self, draws: Floats) -> Floats:  # noqa: D102
        found: Floats = draws - draws[self.first].mean(axis=0)
        return found

    @property
    def roots(self) -> sparse.csr_array:
        """A matrix, a row for each first strength and each step, whose square `sparse_part` is."""
        n, first = len(self.first), np.flatnonzero(self.first)
        steps = np.flatnonzero(self.steps > 0.0)
        wide = np.sqrt(self.steps[steps])
        values = np.concatenate([np.full(len(first), np.sqrt(self.precision)), -wide, wide])
        rows = np.concatenate([np.arange(len(first)), *2 * [len(first) + np.arange(len(steps))]])
        columns = np.concatenate([first, steps, steps + 1])
        return sparse.csr_array((values, (rows, columns)), shape=(len(first) + len(steps), n))

    @property
    def log_determinant(self) -> float:
        """Logarithm of the determinant of the second derivatives."""
        steps = self.steps[self.steps > 0.0]
        return float(self.first.sum() * np.log(self.precision) + np.log(steps).sum())

    def noise(self, draws: np.random.Generator, columns: int) -> Floats:  # noqa: D102
        roots = self.roots
        found: Floats = roots.T @ draws.standard_normal((roots.shape[0], columns))
        return found


# Elimination of a sparse symmetric matrix front by front (Irons 1970), and parts of its inverse.
#
# Parameters are eliminated in an order in which those that belong together are near to each other,
# such as that of time. At each step there is a front: those parameters that come later and are tied
# to an earlier one. It is small where few players are active at once, and then all is exact.

BLOCK = 96  # parameters that are eliminated at once

_Front = tuple[Floats, Floats]


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
        return sum(k * float(k + len(own)) ** 2 for k, own in zip(sizes, self.fronts, strict=True))


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
    at, end, front = steps.starts[step], steps.starts[step + 1], steps.fronts[step]
    k = end - at
    known = np.concatenate([np.arange(at, end), front])
    found = np.zeros((len(known), len(known)))
    if step:
        places = np.searchsorted(known, steps.fronts[step - 1])
        found[np.ix_(places, places)] = before
    begin, stop = steps.matrix.indptr[at], steps.matrix.indptr[end]
    rows = np.repeat(np.arange(k), np.diff(steps.matrix.indptr[at : end + 1]))
    columns, values = steps.matrix.indices[begin:stop], steps.matrix.data[begin:stop]
    later = columns >= at
    places = np.searchsorted(known, columns[later])
    found[rows[later], places] += values[later]
    beyond = places >= k
    found[places[beyond], rows[later][beyond]] += values[later][beyond]
    return found


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


class Inverse(NamedTuple):
    """Parts of the inverse of a matrix."""

    diagonal: Floats  # (parameters,)
    block: Floats  # (wanted, wanted) of the parameters that were wanted, as they were named


def inverse_of(steps: Fronts, wanted: Ints) -> Inverse:
    """Return the diagonal of the inverse, and all of it that is of some parameters."""
    left, factors = np.zeros((0, 0)), []
    for step, k in enumerate(np.diff(steps.starts).tolist()):
        factor, across, left = _eliminated(_assembled(steps, step, left), k)
        factors.append((factor, across))
    place = np.full(len(steps.order), -1)
    place[wanted] = np.arange(len(wanted))
    return _back(steps, factors, place[steps.order], len(wanted))


def _back(steps: Fronts, factors: list[_Front], places: Ints, n: int) -> Inverse:
    """Return parts of the inverse from the last front to the first.

    `places` has where each parameter stands in the block that is wanted, -1 where it does not.
    """
    diagonal, block = np.empty(len(places)), np.empty((n, n))
    spread = np.zeros((0, 0))  # of the front
    shared = np.zeros((0, n))  # of the front with those that are wanted and come later
    met = np.zeros(0, np.int64)  # which these are
    for step in range(len(factors) - 1, -1, -1):
        at, end = steps.starts[step], steps.starts[step + 1]
        factor, across = factors.pop()
        k = end - at
        whole, gain = _widened(factor, across, spread)
        diagonal[steps.order[at:end]] = np.diag(whole)[:k]
        own = np.flatnonzero(places[at:end] >= 0)
        names, old = places[at:end][own], len(met)
        rows = np.empty((len(whole), n))
        rows[:k, :old], rows[k:, :old] = gain @ shared[:, :old], shared[:, :old]
        rows[:, old : old + len(own)] = whole[:, own]
        block[np.ix_(names, met)] = rows[own, :old]
        block[np.ix_(met, names)] = rows[own, :old].T
        block[np.ix_(names, names)] = whole[np.ix_(own, own)]
        met = np.concatenate([met, names])
        if step:
            known = np.concatenate([np.arange(at, end), steps.fronts[step]])
            kept = np.searchsorted(known, steps.fronts[step - 1])
            spread, shared = whole[np.ix_(kept, kept)], rows[kept]
    return Inverse(diagonal, block)


def _widened(factor: Floats, across: Floats, spread: Floats) -> tuple[Floats, Floats]:
    """Return the inverse of a step and its front from that of the front.

    With it what the parameters of the step are expected to be, as a multiple of the front.
    """
    k, f = across.shape
    gain: Floats = -solve_triangular(factor, across, lower=True, trans=1, check_finite=False)
    own, _ = lapack.dpotri(factor, lower=1)
    own = np.tril(own) + np.tril(own, -1).T
    whole = np.empty((k + f, k + f))
    whole[k:, k:] = spread
    whole[:k, k:] = gain @ spread
    whole[k:, :k] = whole[:k, k:].T
    whole[:k, :k] = own + whole[:k, k:] @ gain.T
    return whole, gain


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
_ROWS = 2_048


class Parts(NamedTuple):
    """Parts of the covariance of the free parameters, in log odds.

    The mean of the first days of all players is held.
    """

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
    size, n = fit.information.size, len(last)
    if size <= (DENSE_COVARIANCE if sandwich or not len(moments) else SMALL):
        inverse = inverse_information(fit)
        if sandwich:
            found = _sandwiched(problem, fit, inverse, last)
        else:
            found = Inverse(np.diag(inverse).copy(), inverse[np.ix_(last, last)])
        return _held(problem, found)
    if not sandwich and n <= DENSE_COVARIANCE:
        fronts = fronts_of(fit.information.whole(), in_time(moments, size))
        if _within_reach(fronts, n):
            with one_thread():  # for products that are small, and many
                found = inverse_of(fronts, last)
            return _held(problem, found)
    variances = sampled_variances(problem, fit, sandwich, draws)
    if n * size > _MOST_SOLVED:
        return Parts(variances, None, True)
    solved = _solved(problem, fit, sandwich, last) - _wiener(problem).held
    variances[last] = np.diag(solved)
    return Parts(variances, solved, True)


def _wiener(problem: Problem) -> Wiener:
    assert isinstance(problem.prior, Wiener)
    return problem.prior


def _held(problem: Problem, found: Inverse) -> Parts:
    """Return parts where the mean of the first days is held, so that all together cannot move."""
    variances, held = found.diagonal.copy(), _wiener(problem).held
    variances[: problem.n_players] -= held
    return Parts(variances, found.block - held, False)


def _within_reach(fronts: Fronts, n: int) -> bool:
    """Return whether an inverse by fronts takes no more time and memory than is reasonable."""
    cells = fronts.cells
    return 3.0 * fronts.work + float(cells) * n < MOST_WORK and cells < _MOST_CELLS


def _sandwiched(problem: Problem, fit: Fit, inverse: Floats, last: Ints) -> Inverse:
    """Return the parts of a sandwich, whose inner part is the square of a sparse matrix."""
    sums, factor = meat(problem, fit)
    roots = _wiener(problem).roots
    wide = sparse.csr_array(
        (roots.data, roots.indices, roots.indptr), shape=(roots.shape[0], len(problem.start))
    )
    rows = sparse.csr_array(
        sparse.vstack([np.sqrt(factor) * sums, wide[:, problem.free]], format="csr")
    )
    variances, block = np.zeros(len(inverse)), np.zeros((len(last), len(last)))
    for at in range(0, rows.shape[0], _ROWS):
        part = rows[at : at + _ROWS] @ inverse
        variances += (part**2).sum(axis=0)
        own = part[:, last]
        block += own.T @ own
    return Inverse(variances, block)


def _solved(problem: Problem, fit: Fit, sandwich: bool, last: Ints) -> Floats:
    """Return the covariance of the last days, solved for column by column."""
    information, n = fit.information, len(last)
    found = np.empty((n, n))
    sums, factor = meat(problem, fit) if sandwich else (None, 0.0)
    for at in range(0, n, _COLUMNS):
        own = last[at : at + _COLUMNS]
        units = np.zeros((information.size, len(own)))
        units[own, np.arange(len(own))] = 1.0
        columns = conjugate_gradients(information, units, 1e-7)
        if columns is not None and sums is not None:
            inner = times_meat(problem, sums, factor, columns)
            columns = conjugate_gradients(information, inner, 1e-7)
        assert columns is not None, "the information has been found to be regular"
        found[:, at : at + _COLUMNS] = columns[last]
    return 0.5 * (found + found.T)


LEAST_DRIFT = 1e-4  # points a square-root day below which nobody moves: .01 points in 27 years


@dataclass(frozen=True, kw_only=True)
class PathModel(WholeModel):
    """A rating a player and day played."""

    days: PlayerDays = field(repr=False)  # who played when
    drift: float  # standard deviation of what a rating moves in a day, in points
    deviation: float  # standard deviation of a player's rating on the first day
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


# The drift that makes a log most likely: Laplace's approximation of its evidence.

GRID = (0.0, *(0.1 * 2.0**k for k in range(13)))
"""Drifts that are tried first, in points a square-root day: none, then .1 to 410."""

CLOSE = 1e-4  # how close the logarithm of the drift is searched for
MOST_WORK_OF_ONE = 3e11  # multiplications for one drift: about half a minute; some thirty are tried


class TooLarge(Exception):  # noqa: N818 - it is no failure of the program
    """Too many players are active at once for the evidence of a log."""


def log_evidence(model: PathModel, found: Estimate) -> float:
    """Return the logarithm of the evidence of a drift, but for what is the same for all drifts.

    That is the greatest log density plus half the log ratio of the determinants of the prior's
    second derivatives and of all: what the games leave of the width of the prior. In points, and
    ln nu; coefficients have a flat prior of density 1.
    """
    prior, problem, size = model.prior, found.problem, found.fit.information.size
    moments = model.days.days if model.drift >= LEAST_DRIFT else model.days.players[:0]
    order = in_time(moments, size)
    steps: Fronts = fronts_of(found.fit.information.whole(), order)
    if steps.work > MOST_WORK_OF_ONE:
        raise TooLarge
    with one_thread():  # for products that are small, and many
        whole = log_determinant(steps)
    n = problem.n_players
    more = size - n
    odds = n + len(found.coefficients)  # so many are in log odds
    whole += 2.0 * odds * math.log(POINTS)
    before = prior.log_determinant + 2.0 * n * math.log(POINTS)
    density = found.fit.log_likelihood - prior.penalty(found.fit.place[:n])
    return density + 0.5 * (before - whole) + 0.5 * more * math.log(2.0 * math.pi)


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
    told: Callable[[], None] = lambda: None,
) -> Tuned:
    """Return the drift of the greatest evidence.

    It is looked for among those of `GRID`, then between the neighbours of the best one by Brent's
    method in its logarithm.
    """
    known: dict[float, float] = {}
    before: Estimate | None = None
    design = model.design(contests)

    def evidence(drift: float) -> float:
        nonlocal before
        told()
        own = replace(model, drift=drift)
        if drift < LEAST_DRIFT:
            found = estimate(own.design(contests), levels, own, linked, contests.weights)
        else:
            found = estimate(design, levels, own, linked, contests.weights, before)
            before = found
        known[drift] = log_evidence(own, found)
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
