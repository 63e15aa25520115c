"""The fit of few players by counts of their games: small dense matrices, all in compiled code.

The same maximum, and the same covariance, as `fit` finds; for simulations that refit again and
again. Parameters x stand for places: strengths in log odds, home advantage and ln nu are
`centre` + `basis` x.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import kernel
from valmatch.kernels.threads import one_thread
from valmatch.ratings.bradley_terry.fit import FARTHEST, MOST_STEPS, POINTS

_STEP = 1e-6 * POINTS


class Counts(NamedTuple):
    """How games ended, by who was first (at home, where somebody is) and second."""

    # won, drawn, lost: (n, n) games that the first player (row) won against the second (column),
    # drew, lost
    won: Floats
    drawn: Floats
    lost: Floats


class Frame(NamedTuple):
    """What is fitted, and what is known of it."""

    # (n + 2,) the places where all parameters are 0: strengths, home advantage, ln nu (-inf: there
    # are no draws, or they are halves of wins)
    centre: Floats
    # (n + 2, parameters) how places follow from parameters; where ln nu is fitted, it is the last
    # one by itself
    basis: Floats
    # so many parameters, the first ones, are standard normal before any game; of the others nothing
    # is known
    ruled: int
    fits_draws: bool  # whether ln nu is fitted


class Space(NamedTuple):
    """Where a fit begins, and where it leaves what it finds."""

    parameters: Floats  # (parameters,) the estimate
    places: Floats  # (n + 2,) the estimate as places
    covariance: Floats  # (n, n) out: of the strengths


class _Work(NamedTuple):
    """Derivatives at the parameters on trial."""

    tried: Floats  # (parameters,)
    places: Floats  # (n + 2,)
    # slopes, curvature: (n + 2,) and (n + 2, n + 2) derivatives of the likelihood by places, and
    # minus the second
    slopes: Floats
    curvature: Floats
    between: Floats  # (n + 2, parameters)
    # gradient, factor: (parameters,) and (parameters, parameters) derivatives, and minus the
    # second, then the root of it
    gradient: Floats
    factor: Floats


def new_counts(n: int) -> Counts:
    """Return counts of no games of n players."""
    return Counts(*np.zeros((3, n, n)))


def space_of(frame: Frame) -> Space:
    """Return where the fits of a frame begin and end."""
    size, m = frame.basis.shape
    return Space(np.zeros(m), np.zeros(size), np.zeros((size - 2, size - 2)))


def contrasts(n: int) -> Floats:
    """Return an orthonormal basis of strengths whose mean is 0, (n, n - 1)."""
    basis = np.zeros((n, n - 1))
    for k in range(n - 1):
        length = math.sqrt((k + 1.0) * (k + 2.0))
        basis[: k + 1, k] = 1.0 / length
        basis[k + 1, k] = -(k + 1.0) / length
    return basis


def frame_of(n: int, deviation: float | None, home: bool, draws: bool) -> Frame:
    """Return the frame of players who scatter about their mean, see `Model`."""
    m = n - 1 + home + draws
    basis = np.zeros((n + 2, m))
    basis[:n, : n - 1] = contrasts(n) * (1.0 if deviation is None else POINTS * deviation)
    if home:
        basis[n, n - 1] = 1.0
    if draws:
        basis[n + 1, m - 1] = 1.0
    centre = np.zeros(n + 2)
    centre[n + 1] = 0.0 if draws else -np.inf
    return Frame(centre, basis, 0 if deviation is None else n - 1, draws)


def frame_of_belief(mean: Floats, covariance: Floats, draw_weight: float) -> Frame:
    """Return the frame of players of whom a normal belief is held; nu is known."""
    n = len(mean)
    with one_thread():
        values, vectors = np.linalg.eigh(covariance)
    kept = values > 1e-12 * values[-1]
    basis = np.zeros((n + 2, int(kept.sum())))
    basis[:n] = POINTS * vectors[:, kept] * np.sqrt(values[kept])
    centre = np.zeros(n + 2)
    centre[:n] = POINTS * mean
    centre[n + 1] = math.log(draw_weight) if draw_weight > 0.0 else -np.inf
    return Frame(centre, basis, basis.shape[1], False)


@kernel
def _likelihood(counts: Counts, places: Floats, slopes: Floats, curvature: Floats) -> float:
    """Return the log likelihood at some places, and work out its derivatives by them."""
    n, value, log_nu = places.size - 2, 0.0, places[-1]
    slopes[:] = 0.0
    curvature[:] = 0.0
    nu = math.exp(log_nu)
    for i in range(n):
        for j in range(n):
            won, drawn, lost = counts.won[i, j], counts.drawn[i, j], counts.lost[i, j]
            total = won + drawn + lost
            if total == 0.0:
                continue
            lead = places[i] - places[j] + places[n]
            root = math.exp(-0.5 * abs(lead))
            weaker, r = root * root, nu * root
            value += 0.5 * lead * (won - lost)
            value -= total * (0.5 * abs(lead) + math.log1p(weaker + r))
            if drawn > 0.0 and nu > 0.0:
                value += drawn * log_nu
            p = 1.0 / (1.0 + weaker + r)
            q, r = weaker * p, r * p
            if lead < 0.0:
                p, q = q, p
            slope = won * (q + 0.5 * r) - lost * (p + 0.5 * r) + 0.5 * drawn * (q - p)
            bend = 0.25 * total * ((p + q) * r + 4.0 * p * q)
            crossed = -0.5 * total * r * (p - q)
            for a in (i, j, n):
                sign = -1.0 if a == j else 1.0
                slopes[a] += sign * slope
                curvature[a, n + 1] += sign * crossed
                curvature[n + 1, a] += sign * crossed
                for b in (i, j, n):
                    curvature[a, b] += -sign * bend if b == j else sign * bend
            slopes[n + 1] += drawn * (p + q) - (won + lost) * r
            curvature[n + 1, n + 1] += total * r * (p + q)
    return value


@kernel
def _posterior(counts: Counts, frame: Frame, used: int, work: _Work) -> float:
    """Return the log posterior density at the first parameters on trial, with its derivatives."""
    places, basis, between, factor = work.places, frame.basis, work.between, work.factor
    for a in range(places.size):
        places[a] = frame.centre[a]
        for k in range(used):
            places[a] += basis[a, k] * work.tried[k]
    if used < basis.shape[1]:  # nothing has been drawn yet
        places[-1] = -np.inf
    value = _likelihood(counts, places, work.slopes, work.curvature)
    # Parameters are the inner loops, whose sums are apart from each other; most else is 0.
    for a in range(places.size):
        between[a, :used] = 0.0
        for b in range(places.size):
            bend = work.curvature[a, b]
            if bend != 0.0:
                for k in range(used):
                    between[a, k] += bend * basis[b, k]
    for k in range(used):
        ruled = 1.0 if k < frame.ruled else 0.0
        value -= 0.5 * ruled * work.tried[k] ** 2
        work.gradient[k] = -ruled * work.tried[k]
        factor[k, : k + 1] = 0.0
        factor[k, k] = ruled
        for a in range(places.size):
            share = basis[a, k]
            if share != 0.0:
                work.gradient[k] += share * work.slopes[a]
                for m in range(k + 1):
                    factor[k, m] += share * between[a, m]
    return value


@kernel
def _root(matrix: Floats, used: int) -> bool:
    """Put the lower Cholesky factor in place of a matrix; return whether it is regular."""
    for k in range(used):
        scale = matrix[k, k]
        for m in range(k + 1):
            total = matrix[k, m]
            for a in range(m):
                total -= matrix[k, a] * matrix[m, a]
            if m < k:
                matrix[k, m] = total / matrix[m, m]
            elif total <= 1e-11 * scale or not total > 0.0:
                return False
            else:
                matrix[k, k] = math.sqrt(total)
    return True


@kernel
def _solve(factor: Floats, used: int, right: Floats, out: Floats) -> None:
    """Solve the linear equations of a factored matrix."""
    for k in range(used):
        total = right[k]
        for m in range(k):
            total -= factor[k, m] * out[m]
        out[k] = total / factor[k, k]
    for k in range(used - 1, -1, -1):
        total = out[k]
        for m in range(k + 1, used):
            total -= factor[m, k] * out[m]
        out[k] = total / factor[k, k]


@kernel
def _spread(frame: Frame, used: int, work: _Work, covariance: Floats) -> None:
    """Work out the covariance of the strengths: B C B' of the inverse C of the information."""
    n, halves = covariance.shape[0], work.between
    # Of a factor L: the covariance is the square of L^-1 B'.
    for i in range(n):
        for k in range(used):
            total = frame.basis[i, k]
            for m in range(k):
                total -= work.factor[k, m] * halves[i, m]
            halves[i, k] = total / work.factor[k, k]
        for j in range(i + 1):
            total = 0.0
            for k in range(used):
                total += halves[i, k] * halves[j, k]
            covariance[i, j] = covariance[j, i] = total


@kernel
def _find_ways(counts: Counts, with_draws: bool, ways: Floats) -> None:
    """Note from whom wins, with draws or without, lead to whom at any remove (Warshall 1962)."""
    n = counts.won.shape[0]
    for i in range(n):
        for j in range(n):
            ways[i, j] = counts.won[i, j] + counts.lost[j, i]
            if with_draws:
                ways[i, j] += counts.drawn[i, j] + counts.drawn[j, i]
    for k in range(n):
        for i in range(n):
            if ways[i, k] > 0.0:
                for j in range(n):
                    ways[i, j] = max(ways[i, j], ways[k, j])


@kernel
def _begin(counts: Counts, frame: Frame, space: Space, ways: Floats) -> int:
    """Return how many parameters there are to fit, ln nu where it begins; -1: no estimate."""
    n, used, drawn = counts.won.shape[0], int(frame.basis.shape[1]), counts.drawn.sum()
    if frame.ruled == 0:  # wins and draws have to lead from everybody to everybody (Ford 1957)
        _find_ways(counts, True, ways)
        for i in range(n):
            for j in range(n):
                if i != j and ways[i, j] == 0.0:
                    return -1
    if not frame.fits_draws:
        return used
    if drawn == 0.0:
        return used - 1
    if frame.ruled == 0:  # wins alone have to lead from somebody back, so that nu has a maximum
        _find_ways(counts, False, ways)
        rounds = 0
        for i in range(n):
            rounds += ways[i, i] > 0.0
        if rounds == 0:
            return -1
    decided = counts.won.sum() + counts.lost.sum()
    if space.parameters[used - 1] == 0.0:
        space.parameters[used - 1] = math.log(2.0 * drawn / max(decided, 0.5))
    return used


@kernel(allocates=True)
def fit_counts(counts: Counts, frame: Frame, space: Space) -> bool:
    """Find the maximum and its covariance from the parameters in `space`, 0 afterwards if none."""
    size, m = frame.basis.shape
    square = np.zeros((size, size))
    rest = np.zeros((size, m)), np.zeros(m), np.zeros((m, m))
    work = _Work(space.parameters.copy(), np.zeros(size), np.zeros(size), square, *rest)
    used = _begin(counts, frame, space, work.curvature)
    if used >= 0 and _climb(counts, frame, used, space, work):
        space.places[:] = work.places
        _spread(frame, used, work, space.covariance)
        return True
    space.parameters[:] = 0.0
    return False


@kernel(allocates=True)
def _climb(counts: Counts, frame: Frame, used: int, space: Space, work: _Work) -> bool:
    """Take Newton's steps to the maximum; leave the factor of the information there."""
    step, before = np.zeros(used), np.zeros(work.places.size)
    work.tried[:] = space.parameters
    value = _posterior(counts, frame, used, work)
    for _ in range(MOST_STEPS):
        if not _root(work.factor, used):
            return False
        _solve(work.factor, used, work.gradient, step)
        rise = (work.gradient[:used] * step).sum()
        share, least = 1.0, value - 1e-12 * (1.0 + abs(value))
        before[:] = work.places
        for _ in range(40):
            work.tried[:used] = space.parameters[:used] + share * step
            value = _posterior(counts, frame, used, work)
            if value >= least + 1e-4 * share * rise:
                break
            share *= 0.5
        space.parameters[:] = work.tried
        length = farthest = 0.0
        for a in range(work.places.size):
            if work.places[a] > -np.inf:
                farthest = max(farthest, abs(work.places[a] - frame.centre[a]))
                length = max(length, abs(work.places[a] - before[a]))
        if farthest > FARTHEST or not value > -np.inf:
            return False
        if length < _STEP:
            return _root(work.factor, used)
    return False
