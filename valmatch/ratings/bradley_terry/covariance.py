"""Covariance of the estimates, in log odds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.ratings.bradley_terry.fit import Fit, Problem, padded
from valmatch.ratings.bradley_terry.likelihood import cluster_gradients
from valmatch.ratings.bradley_terry.linear import DENSE, conjugate_gradients
from valmatch.ratings.bradley_terry.prior import Information, add_to_cells, dot

# The inverse of the information of many players, of whom most have met few others.
#
# Players of whom no two have met are an independent set: their part P of the information is a
# diagonal D, which is eliminated at once. What is left of the others, the core K, is the Schur
# complement S = A_KK - A_KP D^-1 A_PK, and the inverse is
#
#     C_KK = S^-1, C_KP = -S^-1 A_KP D^-1, C_PP = D^-1 + D^-1 A_PK S^-1 A_KP D^-1.
#
# S is inverted likewise, as long as enough of the core have met few others; so only the inverse of
# what is left at last costs a cube of a size.

_BLOCK = 512

ROWS = 64  # rows of a matrix over all players that a processor holds at once

_WORTH = 0.08
"""Share of all rows above which eliminating an independent set costs less than leaving it in."""

_NOTHING = 1e-9  # what rounding leaves of nothing, as a share


def moves_freely(information: Information) -> bool:
    """Return whether a move of all players together changes nothing."""
    if not information.moves:
        return False
    image = information.times(information.shift)
    return float(np.abs(image).max()) < _NOTHING * float(information.diagonal.max())


def inverse_by_parts(information: Information) -> Floats:
    """Return the inverse of an information that moves freely, with the mean of the players held.

    Without a prior one player is held instead, and the mean is put at 0 in the result, which is the
    same: differences do not depend on who is held.
    """
    whole = _bordered(information)
    players = np.flatnonzero(information.shift)
    n = len(players)
    if information.rank_one.any():  # a scatter about the mean, whose own variance is too much here
        found = _inverse(whole)
        add_to_cells(found, players, -1.0 / (information.rank_one.max() * n) ** 2)
        return found
    held = players[np.argmax(information.diagonal[players])]
    more = np.zeros(len(information.diagonal))
    more[held] = information.diagonal[players].mean()
    found = _inverse(sparse.csr_array(whole + sparse.diags_array(more)))
    means = found[players].mean(axis=0)
    own = float(means[players].mean())
    moved = means - own * (0.5 * information.shift)
    for at in range(0, len(found), _BLOCK):
        rows = slice(at, at + _BLOCK)
        block, shift = found[rows], information.shift[rows, np.newaxis]
        block -= shift * moved
        block -= moved[rows, np.newaxis] * information.shift
    return found


def _bordered(information: Information) -> sparse.csr_array:
    """Return the sparse part of an information with the row and the column of ln nu, if any."""
    if not len(information.border):
        return information.sparse_part
    side = sparse.csr_array(information.border[:-1, np.newaxis])
    corner = sparse.csr_array(information.border[-1:, np.newaxis])
    return sparse.csr_array(
        sparse.block_array([[information.sparse_part, side], [side.T, corner]], format="csr")
    )


def _inverse(matrix: sparse.csr_array) -> Floats:
    """Return the inverse of a symmetric, positive definite matrix."""
    n = matrix.shape[0]
    alone = _independent(matrix)
    if alone.sum() <= _WORTH * n:
        return _dense_inverse(matrix.toarray())
    part, core = np.flatnonzero(alone), np.flatnonzero(~alone)
    rows = matrix[core]
    across = rows[:, part]
    own = matrix.diagonal()[part]
    eased = sparse.csr_array(across @ sparse.diags_array(1.0 / own))
    middle = _inverse(sparse.csr_array(rows[:, core] - eased @ across.T))
    side = -(eased.T @ middle)
    found = np.empty((n, n))
    for at in range(0, len(core), ROWS):
        some = core[at : at + ROWS]
        row = np.empty((len(some), n))
        row[:, core] = middle[at : at + ROWS]
        row[:, part] = side[:, at : at + ROWS].T
        found[some] = row
    for at in range(0, len(part), ROWS):
        some = part[at : at + ROWS]
        row = np.empty((len(some), n))
        row[:, core] = side[at : at + ROWS]
        row[:, part] = -(eased.T @ side[at : at + ROWS].T).T
        row[np.arange(len(some)), some] += 1.0 / own[at : at + ROWS]
        found[some] = row
    return found


def _independent(matrix: sparse.csr_array) -> Bools:
    """Return a set of rows of which no two have a common cell, those of few cells first."""
    starts, columns = matrix.indptr, matrix.indices
    chosen = np.zeros(matrix.shape[0], np.bool_)
    free = np.ones(matrix.shape[0], np.bool_)
    order: Ints = np.argsort(np.diff(starts), kind="stable")
    for row in order.tolist():
        if free[row]:
            free[columns[starts[row] : starts[row + 1]]] = False
            chosen[row] = True
    return chosen


def _dense_inverse(matrix: Floats) -> Floats:
    """Return the inverse of a symmetric, positive definite matrix, which is lost."""
    if not len(matrix):
        return matrix
    factor, failed = lapack.dpotrf(matrix.T, lower=1, overwrite_a=1)  # symmetric; so it is in place
    assert not failed, "the information has been found to be regular"
    inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
    mirror(inverse)
    return np.ascontiguousarray(inverse.T)


def mirror(matrix: Floats) -> None:
    """Copy the lower triangle of a matrix to the upper one, block by block."""
    n = len(matrix)
    for at in range(0, n, _BLOCK):
        end = min(at + _BLOCK, n)
        own = matrix[at:end, at:end]
        own[...] = np.tril(own) + np.tril(own, -1).T
        matrix[at:end, end:] = matrix[end:, at:end].T


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
