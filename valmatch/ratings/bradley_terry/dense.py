"""The fit of few players by counts of their games, for simulations that refit again and again.

Strengths in log odds, home advantage and ln nu are `centre` + `basis` x of parameters x.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import helmert, lapack
from scipy.sparse.csgraph import connected_components

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import kernel
from valmatch.kernels.threads import one_thread
from valmatch.ratings.bradley_terry.fit import FARTHEST, MOST_STEPS, POINTS, STEP


class Counts(NamedTuple):
    """How games ended, by who was first (at home, where somebody is) and second."""

    # won, drawn, lost: (n, n) games that the first player (row) won against the second (column),
    # drew, lost
    won: Floats
    drawn: Floats
    lost: Floats


class Frame(NamedTuple):
    """What is fitted, and what is known of it."""

    # (n + 2,) the log odds where all parameters are 0: strengths, home, ln nu (-inf: there
    # are no draws, or they are halves of wins)
    centre: Floats
    # (n + 2, parameters) how log odds follow from parameters; where ln nu is fitted, it is the last
    # one by itself
    basis: Floats
    # so many parameters, the first ones, are standard normal before any game; of the others nothing
    # is known
    ruled: int
    fits_draws: bool  # whether ln nu is fitted


class CountsFit(NamedTuple):
    """An estimate by counts."""

    parameters: Floats  # (parameters,)
    log_odds: Floats  # (n + 2,)
    covariance: Floats  # (n, n) of the strengths


def new_counts(n: int) -> Counts:
    """Return counts of no games of n players."""
    return Counts(*np.zeros((3, n, n)))


def frame_of(n: int, deviation: float | None, home: bool, draws: bool) -> Frame:
    """Return the frame of players who scatter about their mean, see `Model`."""
    m = n - 1 + home + draws
    basis = np.zeros((n + 2, m))  # of strengths whose mean is 0, orthonormal
    basis[:n, : n - 1] = helmert(n).T * (1.0 if deviation is None else POINTS * deviation)
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
    log_nu = math.log(draw_weight) if draw_weight > 0.0 else -np.inf
    return Frame(np.append(POINTS * mean, [0.0, log_nu]), basis, basis.shape[1], False)


@kernel
def _likelihood(counts: Counts, log_odds: Floats, slopes: Floats, curvature: Floats) -> float:
    """Return the log likelihood at some log odds, and work out its derivatives by them."""
    n, value, log_nu = log_odds.size - 2, 0.0, log_odds[-1]
    nu = math.exp(log_nu)
    for i in range(n):
        for j in range(n):
            won, drawn, lost = counts.won[i, j], counts.drawn[i, j], counts.lost[i, j]
            total = won + drawn + lost
            if total == 0.0:
                continue
            lead = log_odds[i] - log_odds[j] + log_odds[n]
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


class _Posterior(NamedTuple):
    """The log posterior density at some parameters."""

    value: float  # of the logarithm
    log_odds: Floats  # (n + 2,)
    gradient: Floats  # derivatives by the parameters
    information: Floats  # minus the second derivatives


def _posterior(counts: Counts, frame: Frame, x: Floats) -> _Posterior:
    """Return the density at the first parameters, and its derivatives by them."""
    log_odds, basis, ruled = (
        frame.centre + frame.basis[:, : len(x)] @ x,
        frame.basis,
        np.zeros(len(x)),
    )
    if len(x) < basis.shape[1]:  # nothing has been drawn yet
        basis, log_odds[-1] = basis[:, : len(x)], -np.inf
    slopes, curvature = np.zeros(len(log_odds)), np.zeros((len(log_odds), len(log_odds)))
    value = _likelihood(counts, log_odds, slopes, curvature)
    ruled[: frame.ruled] = 1.0
    information = basis.T @ curvature @ basis
    information[np.diag_indices(len(x))] += ruled
    density = value - 0.5 * float(ruled @ (x * x))
    return _Posterior(density, log_odds, slopes @ basis - ruled * x, information)


def _start(counts: Counts, frame: Frame, before: CountsFit | None) -> Floats | None:
    """Return where the search begins, without ln nu where none is drawn; None: no estimate."""
    x = np.zeros(frame.basis.shape[1]) if before is None else before.parameters.copy()
    won, drawn, lost = counts
    wins = won + lost.T
    # Wins and draws have to lead from everybody to everybody (Ford 1957).
    if frame.ruled == 0 and _components(wins + drawn + drawn.T) > 1:
        return None
    if not frame.fits_draws:
        return x
    if not drawn.any():
        return x[:-1]
    # Wins alone have to lead from somebody back, so that nu has a maximum.
    if frame.ruled == 0 and _components(wins) == len(wins):
        return None
    if x[-1] == 0.0:
        x[-1] = math.log(2.0 * drawn.sum() / max(wins.sum(), 0.5))
    return x


def _components(ways: Floats) -> int:
    """Return how many strong components there are."""
    return int(connected_components(ways, connection="strong", return_labels=False))


def _root(matrix: Floats) -> Floats | None:
    """Return the lower Cholesky factor; None of a matrix that is next to singular."""
    factor, failed = lapack.dpotrf(matrix, lower=1)
    regular = not failed and (np.diag(factor) ** 2 > 1e-11 * np.diag(matrix)).all()
    return factor if regular else None


def fit_counts(counts: Counts, frame: Frame, before: CountsFit | None = None) -> CountsFit | None:
    """Return the maximum, searched for from an estimate of before, and its covariance."""
    x = _start(counts, frame, before)
    if x is None:
        return None
    now, known = _posterior(counts, frame, x), np.isfinite(frame.centre)
    known[-1] &= len(x) == frame.basis.shape[1]
    for _ in range(MOST_STEPS):
        factor = _root(now.information)
        if factor is None:
            return None
        step = lapack.dpotrs(factor, now.gradient, lower=1)[0]
        rise, share = float(now.gradient @ step), 1.0
        least = now.value - 1e-12 * (1.0 + abs(now.value))
        for _ in range(40):
            tried = x + share * step
            there = _posterior(counts, frame, tried)
            if there.value >= least + 1e-4 * share * rise:
                break
            share *= 0.5
        moved = np.abs(there.log_odds[known] - now.log_odds[known]).max()
        away = np.abs(there.log_odds[known] - frame.centre[known]).max()
        if away > FARTHEST or not there.value > -np.inf:
            return None
        x, now = tried, there
        if moved < STEP:
            factor = _root(now.information)
            if factor is None:
                return None
            basis = frame.basis[: len(counts.won), : len(x)]
            halves = lapack.dtrtrs(factor, basis.T, lower=1)[0]
            unused = np.zeros(frame.basis.shape[1] - len(x))
            return CountsFit(np.append(x, unused), now.log_odds, halves.T @ halves)
    return None
