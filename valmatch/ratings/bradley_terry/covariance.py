"""Covariance of the estimates, in log odds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from valmatch.kernels.arrays import Floats, Ints
from valmatch.ratings.bradley_terry.fit import Fit, Problem, padded
from valmatch.ratings.bradley_terry.likelihood import cluster_gradients
from valmatch.ratings.bradley_terry.linear import DENSE, conjugate_gradients
from valmatch.ratings.bradley_terry.parts import ROWS, inverse_by_parts, mirror, moves_freely
from valmatch.ratings.bradley_terry.prior import add_to_cells
from valmatch.ratings.bradley_terry.sums import dot

DENSE_COVARIANCE = 10_000  # most rated players whose covariance is held
DRAWS = 1_000  # draws of which standard errors are made where there are more players

_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1)
_SIGNS_OF_BYTES = np.where(_BITS > 0, 1.0, -1.0)


def inverse_information(fit: Fit) -> Floats:
    """Return the inverse of the information where the zero, the mean of the players, is held."""
    information = fit.information
    if not information.size:
        return np.zeros((0, 0))
    if information.size > DENSE and moves_freely(information):
        return inverse_by_parts(information)
    matrix = information.dense().T  # symmetric; so LAPACK works in place
    factor, failed = lapack.dpotrf(matrix, lower=1, overwrite_a=1)
    assert not failed, "the information has been found to be regular"
    inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
    mirror(inverse)
    if information.moves:
        places = np.flatnonzero(information.shift)
        free = 1.0 / information.held_weight
        add_to_cells(inverse, places, -free)
    return np.ascontiguousarray(inverse.T)


def meat(problem: Problem, fit: Fit) -> tuple[sparse.csr_array, float]:
    """Return the sums of the gradients of clusters, what their squares are to be multiplied by."""
    place = fit.place
    sums = cluster_gradients(problem.design, problem.tallies, place[:-1], float(place[-1]))
    weighty = problem.tallies.weights > 0.0
    n = len(np.unique(problem.design.contests.clusters[weighty]))
    return sparse.csr_array(sums)[:, problem.free], n / (n - 1.0)


def covariance(problem: Problem, fit: Fit, sandwich: bool) -> Floats:
    """Return the covariance of the free parameters."""
    bread = inverse_information(fit)
    if not sandwich:
        return bread
    sums, factor = meat(problem, fit)
    found = bread @ times_meat(problem, sums, factor, bread)
    return 0.5 * (found + found.T)


def times_meat(problem: Problem, sums: sparse.csr_array, factor: float, right: Floats) -> Floats:
    """Return the product of the sandwich's inner part, with the prior's width, and a matrix."""
    found: Floats = factor * (sums.T @ (sums @ right))
    if problem.prior.flat:
        return found
    n, size, free = problem.n_players, len(problem.start), problem.free
    rank_one = np.zeros(size)
    rank_one[:n] = problem.prior.rank_one
    rank_one = rank_one[free]
    found += sparse.csr_array(padded(problem.prior.sparse_part, size)[free][:, free]) @ right
    return found - np.outer(rank_one, rank_one @ right)


def sampled_variances(
    problem: Problem, fit: Fit, sandwich: bool, draws: np.random.Generator
) -> Floats:
    """Return the variances of the free parameters by draws: for more players than can be held."""
    place = fit.place
    sums = None
    if sandwich:
        sums, factor = meat(problem, fit)
        sums = sums * np.sqrt(factor)
    else:
        roots = _information_roots(problem, place)
    total = np.zeros(fit.information.size)
    block = 20
    for _ in range(DRAWS // block):
        parts = sums if sums is not None else roots
        noise = parts.T @ signs_of(draws, parts.shape[0], block)
        noise = noise + _prior_noise(problem, draws, block)
        found = conjugate_gradients(fit.information, noise, 1e-4)
        assert found is not None, "the information has been found to be regular"
        n = int((problem.free < problem.n_players).sum())
        found[:n] = problem.prior.still(found[:n])
        total += (found**2).sum(axis=1)
    return total / DRAWS


def signs_of(draws: np.random.Generator, rows: int, columns: int) -> Floats:
    """Return numbers that are -1 or 1, each as likely.

    Their variance is that of normal ones, and with them squares scatter less, not more; and one
    costs a bit, where rows are the games of a large log.
    """
    n = rows * columns
    whole = np.frombuffer(draws.bytes((n + 7) // 8), np.uint8)
    return _SIGNS_OF_BYTES[whole].ravel()[:n].reshape(rows, columns)


def _information_roots(problem: Problem, place: Floats) -> sparse.csr_array:
    """Return a matrix whose square is the information of the games."""
    terms = problem.terms(place)
    design = problem.design
    slopes = np.sqrt(np.maximum(terms.curvature, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        crossed = np.where(slopes > 0.0, terms.crossed / slopes, 0.0)
    rows = [sparse.hstack([sparse.diags_array(slopes) @ design.leads, crossed[:, np.newaxis]])]
    left = max(terms.draw_curvature - dot(crossed, crossed), 0.0)
    last = np.zeros((1, len(place)))
    last[0, -1] = np.sqrt(left)
    rows.append(sparse.csr_array(last))
    for part, own in zip(design.orders, terms.orders, strict=True):
        values, vectors = np.linalg.eigh(own.curvature)
        halves = np.sqrt(np.maximum(values, 0.0))[:, :, np.newaxis] * vectors.transpose(0, 2, 1)
        n, k = part.sides.shape
        ends = np.repeat(np.arange(n * k), k), np.repeat(part.sides, k, axis=0).ravel()
        shape = (n * k, design.strengths.shape[0])
        moved = sparse.csr_array((halves.ravel(), ends), shape=shape) @ design.strengths
        rows.append(sparse.hstack([moved, np.zeros((n * k, 1))]))
    return sparse.csr_array(sparse.vstack(rows, format="csr"))[:, problem.free]


def _prior_noise(problem: Problem, draws: np.random.Generator, columns: int) -> Floats:
    """Return noise whose covariance is the information of the prior."""
    found = np.zeros((len(problem.start), columns))
    if not problem.prior.flat:
        found[: problem.n_players] = problem.prior.noise(draws, columns)
    return found[problem.free]


@dataclass(frozen=True)
class Ranks:
    """Ranges of ranks that hold together; `low` is the best rank that a player may have."""

    low: Ints
    high: Ints


def rank_ranges(ratings: Floats, covariances: Floats, critical: float) -> Ranks:
    """Return the ranks that each rating may have, all of them right at once.

    Shapes: `ratings` (players,); `covariances` (players, players).
    """
    n = len(ratings)
    low, high = np.empty(n, np.int64), np.empty(n, np.int64)
    own = np.diag(covariances).copy()
    for at in range(0, n, ROWS):
        rows = slice(at, at + ROWS)
        variance = np.multiply(covariances[rows], -2.0)
        variance += own[rows, np.newaxis] + own
        np.maximum(variance, 0.0, out=variance)
        variance *= critical**2
        lead = ratings[rows, np.newaxis] - ratings
        better = lead > 0.0
        lead *= lead
        shown = lead > variance
        better &= shown
        ahead = np.count_nonzero(better, axis=1)
        low[rows] = 1 + np.count_nonzero(shown, axis=1) - ahead
        high[rows] = n - ahead
    return Ranks(low, high)
