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
    """Working space of a fit, and where it leaves what it finds."""

    # parameters, tried, step: (parameters,) the estimate, a place on trial, the step to it
    parameters: Floats
    tried: Floats
    step: Floats
    places: Floats  # (n + 2,) the estimate as places
    # slopes, curvature: (n + 2,) and (n + 2, n + 2) derivatives of the likelihood by places, and
    # minus the second
    slopes: Floats
    curvature: Floats
    between: Floats  # (n + 2, parameters)
    # gradient, factor: (parameters,) and (parameters, parameters) derivatives, and the root of
    # minus the second
    gradient: Floats
    factor: Floats
    covariance: Floats  # (n, n) out: of the strengths


def new_counts(n: int) -> Counts:
    """Return counts of no games of n players."""
    return Counts(np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)))


def space_of(frame: Frame) -> Space:
    """Return working space for the fits of a frame."""
    size, m = frame.basis.shape
    return Space(
        np.zeros(m),
        np.zeros(m),
        np.zeros(m),
        np.zeros(size),
        np.zeros(size),
        np.zeros((size, size)),
        np.zeros((size, m)),
        np.zeros(m),
        np.zeros((m, m)),
        np.zeros((size - 2, size - 2)),
    )


def contrasts(n: int) -> Floats:
    """Return an orthonormal basis of strengths whose mean is 0, (n, n - 1)."""
    found = np.zeros((n, n - 1))
    for k in range(n - 1):
        length = math.sqrt((k + 1.0) * (k + 2.0))
        found[: k + 1, k] = 1.0 / length
        found[k + 1, k] = -(k + 1.0) / length
    return found


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
    """Return the frame of players of whom a normal belief is held; nu is known.

    Shapes: `mean`, `covariance` (n,).
    """
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
def _to_places(frame: Frame, used: int, parameters: Floats, places: Floats) -> None:
    """Work out the places of some parameters."""
    for a in range(places.size):
        total = frame.centre[a]
        for k in range(used):
            total += frame.basis[a, k] * parameters[k]
        places[a] = total


@kernel
def _value(counts: Counts, frame: Frame, used: int, parameters: Floats, places: Floats) -> float:
    """Return the log posterior density at some places, but for a constant."""
    n = places.size - 2
    found = 0.0
    log_nu = places[n + 1]
    nu = math.exp(log_nu)
    for i in range(n):
        for j in range(n):
            w, d, ll = counts.won[i, j], counts.drawn[i, j], counts.lost[i, j]
            total = w + d + ll
            if total > 0.0:
                lead = places[i] - places[j] + places[n]
                half = 0.5 * abs(lead)
                root = math.exp(-half)
                found += 0.5 * lead * (w - ll)
                found -= total * (half + math.log1p(root * root + nu * root))
                if d > 0.0 and nu > 0.0:
                    found += d * log_nu
    for k in range(min(frame.ruled, used)):
        found -= 0.5 * parameters[k] ** 2
    return found


@kernel
def _differentiate(counts: Counts, space: Space) -> None:
    """Work out the derivatives of the likelihood by places."""
    places, slopes, curvature = space.places, space.slopes, space.curvature
    n = places.size - 2
    slopes[:] = 0.0
    curvature[:] = 0.0
    nu = math.exp(places[n + 1])
    for i in range(n):
        for j in range(n):
            w, d, ll = counts.won[i, j], counts.drawn[i, j], counts.lost[i, j]
            total = w + d + ll
            if total > 0.0:
                lead = places[i] - places[j] + places[n]
                root = math.exp(-0.5 * abs(lead))
                weaker, r = root * root, nu * root
                p = 1.0 / (1.0 + weaker + r)
                q = weaker * p
                r *= p
                if lead < 0.0:
                    p, q = q, p
                slope = w * (q + 0.5 * r) - ll * (p + 0.5 * r) + 0.5 * d * (q - p)
                bend = 0.25 * total * ((p + q) * r + 4.0 * p * q)
                crossed = -0.5 * total * r * (p - q)
                for a in (i, j, n):
                    sign = -1.0 if a == j else 1.0
                    slopes[a] += sign * slope
                    curvature[a, n + 1] += sign * crossed
                    curvature[n + 1, a] += sign * crossed
                    for b in (i, j, n):
                        other = -sign if b == j else sign
                        curvature[a, b] += other * bend
                slopes[n + 1] += d * (p + q) - (w + ll) * r
                curvature[n + 1, n + 1] += total * r * (p + q)


@kernel
def _to_parameters(frame: Frame, used: int, space: Space) -> None:
    """Work out the derivatives by parameters, the prior's with them."""
    basis, between, factor = frame.basis, space.between, space.factor
    size = space.places.size
    # Parameters are the inner loops, whose sums are apart from each other; most else is 0.
    for a in range(size):
        for k in range(used):
            between[a, k] = 0.0
        for b in range(size):
            bend = space.curvature[a, b]
            if bend != 0.0:
                for k in range(used):
                    between[a, k] += bend * basis[b, k]
    for k in range(used):
        total = 0.0
        for m in range(k + 1):
            factor[k, m] = 0.0
        for a in range(size):
            share = basis[a, k]
            total += share * space.slopes[a]
            if share != 0.0:
                for m in range(k + 1):
                    factor[k, m] += share * between[a, m]
        space.gradient[k] = total - (space.parameters[k] if k < frame.ruled else 0.0)
        if k < frame.ruled:
            factor[k, k] += 1.0


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
def _spread(frame: Frame, used: int, space: Space) -> None:
    """Work out the covariance of the strengths: B C B' of the inverse C of the information."""
    n = space.covariance.shape[0]
    # A factor L: the covariance is that of L^-1 B'.
    for i in range(n):
        for k in range(used):
            total = frame.basis[i, k]
            for m in range(k):
                total -= space.factor[k, m] * space.between[i, m]
            space.between[i, k] = total / space.factor[k, k]
    for i in range(n):
        for j in range(i + 1):
            total = 0.0
            for k in range(used):
                total += space.between[i, k] * space.between[j, k]
            space.covariance[i, j] = space.covariance[j, i] = total


@kernel
def linked(counts: Counts, ties: bool, space: Space) -> bool:
    """Return whether wins (and draws, with `ties`) lead from everybody to everybody (Ford 1957)."""
    n = counts.won.shape[0]
    seen = space.slopes
    for down in range(2):
        seen[:] = 0.0
        seen[0] = 1.0
        found, grew = 1, True
        while grew:
            grew = False
            for i in range(n):
                if seen[i] > 0.0:
                    for j in range(n):
                        if seen[j] == 0.0:
                            over = counts.won[i, j] + counts.lost[j, i]
                            under = counts.lost[i, j] + counts.won[j, i]
                            games = over if down else under
                            if ties:
                                games += counts.drawn[i, j] + counts.drawn[j, i]
                            if games > 0.0:
                                seen[j] = 1.0
                                found += 1
                                grew = True
        if found < n:
            return False
    return True


@kernel
def wins_go_round(counts: Counts, space: Space) -> bool:
    """Return whether wins alone lead from somebody back to them, so that nu has a maximum."""
    n = counts.won.shape[0]
    left = space.slopes
    left[:n] = 1.0
    shrunk = True
    while shrunk:  # who has beaten nobody who is left is on no way round
        shrunk = False
        for i in range(n):
            if left[i] > 0.0:
                beaten = False
                for j in range(n):
                    if left[j] > 0.0 and counts.won[i, j] + counts.lost[j, i] > 0.0:
                        beaten = True
                if not beaten:
                    left[i] = 0.0
                    shrunk = True
    for i in range(n):
        if left[i] > 0.0:
            return True
    return False


@kernel
def _begin(counts: Counts, frame: Frame, space: Space) -> int:
    """Return how many parameters there are to fit, ln nu where it begins; -1: no estimate."""
    used = int(frame.basis.shape[1])
    drawn = counts.drawn.sum()
    if frame.ruled == 0 and not linked(counts, True, space):
        return -1
    if not frame.fits_draws:
        return used
    if drawn == 0.0:
        return used - 1
    if frame.ruled == 0 and not wins_go_round(counts, space):
        return -1
    decided = counts.won.sum() + counts.lost.sum()
    if space.parameters[used - 1] == 0.0:
        space.parameters[used - 1] = math.log(2.0 * drawn / max(decided, 0.5))
    return used


@kernel
def fit_counts(counts: Counts, frame: Frame, space: Space) -> bool:
    """Find the maximum and the covariance of the strengths; return whether there is one.

    The search begins at the parameters in `space`; without an estimate they are 0 afterwards.
    """
    used = _begin(counts, frame, space)
    found = used >= 0 and _climb(counts, frame, space, used)
    if found:
        _spread(frame, used, space)
    else:
        space.parameters[:] = 0.0
    return found


@kernel
def _copy(of: Floats, to: Floats) -> None:
    """Copy numbers without working space."""
    for a in range(of.size):
        to[a] = of[a]


@kernel
def _climb(counts: Counts, frame: Frame, space: Space, used: int) -> bool:
    """Take Newton's steps to the maximum; leave the factor of the information there."""
    _to_places(frame, used, space.parameters, space.places)
    last = space.places.size - 1
    if frame.fits_draws and used < frame.basis.shape[1]:
        space.places[last] = -np.inf
    value = _value(counts, frame, used, space.parameters, space.places)
    _differentiate(counts, space)
    _to_parameters(frame, used, space)
    for _ in range(MOST_STEPS):
        if not _root(space.factor, used):
            return False
        _solve(space.factor, used, space.gradient, space.step)
        rise = 0.0
        for k in range(used):
            rise += space.gradient[k] * space.step[k]
        share, before, length = 1.0, value, 0.0
        for _ in range(40):
            for k in range(used):
                space.tried[k] = space.parameters[k] + share * space.step[k]
            _copy(space.places, space.slopes)
            _to_places(frame, used, space.tried, space.places)
            if frame.fits_draws and used < frame.basis.shape[1]:
                space.places[last] = -np.inf
            value = _value(counts, frame, used, space.tried, space.places)
            if value >= before + 1e-4 * share * rise - 1e-12 * (1.0 + abs(before)):
                break
            _copy(space.slopes, space.places)
            share *= 0.5
        length = farthest = 0.0
        for a in range(space.places.size):
            if space.places[a] > -np.inf:
                farthest = max(farthest, abs(space.places[a] - frame.centre[a]))
                length = max(length, abs(space.places[a] - space.slopes[a]))
        for k in range(used):
            space.parameters[k] = space.tried[k]
        if farthest > FARTHEST or not value > -np.inf:
            return False
        _differentiate(counts, space)
        _to_parameters(frame, used, space)
        if length < _STEP:
            return _root(space.factor, used)
    return False
