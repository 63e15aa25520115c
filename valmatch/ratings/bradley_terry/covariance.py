"""Covariance of the estimates, in log odds, and the ranks that it allows."""

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.ratings.bradley_terry.contests import cluster_gradients, dot
from valmatch.ratings.bradley_terry.fit import (
    DENSE,
    Fit,
    Information,
    add_to_cells,
    conjugate_gradients,
)

DENSE_COVARIANCE = 10_000  # most rated players whose covariance is held
DRAWS = 1_000  # draws of which standard errors are made where there are more players

_BLOCK = 512
_ROWS = 64  # rows of a matrix over all players that a processor holds at once
_DRAWN = 20  # draws at once

# Share of all rows above which eliminating an independent set costs less than leaving it in.
_WORTH = 0.08


def inverse_information(information: Information) -> Floats:
    """Return the inverse of the information where the zero, the mean of the players, is held."""
    if not information.moves or information.size <= DENSE:
        inverse = _dense_inverse(information.dense())
        if information.moves:
            free = 1.0 / information.held_weight
            add_to_cells(inverse, np.flatnonzero(information.shift), -free)
        return inverse
    matrix, shift = information.matrix, information.shift
    players = np.flatnonzero(shift)
    if not information.rank_one.any():  # regular where somebody is held
        held = np.zeros(information.size)
        held[players[np.argmax(information.diagonal[players])]] = 1.0
        weight = information.diagonal[players].mean()
        matrix = sparse.csr_array(matrix + sparse.diags_array(weight * held))
    inverse = _inverse(matrix)
    # Differences do not depend on what is held: the mean is put at 0.
    means = inverse[players].mean(axis=0)
    means -= 0.5 * float(means[players].mean()) * shift
    for at in range(0, len(inverse), _BLOCK):
        rows = slice(at, at + _BLOCK)
        inverse[rows] -= shift[rows, np.newaxis] * means + means[rows, np.newaxis] * shift
    return inverse


def _inverse(matrix: sparse.csr_array) -> Floats:
    """Return the inverse of a symmetric, positive definite matrix, of whose rows most are short."""
    # Players of whom no two have met are an independent set: their part P is a diagonal D, which is
    # eliminated at once. What is left of the others, the core K, is S = A_KK - A_KP D^-1 A_PK, and
    # the inverse has C_KK = S^-1, C_KP = -S^-1 A_KP D^-1 and C_PP = D^-1 - D^-1 A_PK C_KP. S is
    # inverted likewise; so only the inverse of what is left at last costs a cube of a size.
    n, alone = matrix.shape[0], _independent(matrix)
    if alone.sum() <= _WORTH * n:
        return _dense_inverse(matrix.toarray())
    part, core = np.flatnonzero(alone), np.flatnonzero(~alone)
    across, scale = matrix[core][:, part], 1.0 / matrix.diagonal()[part]
    eased = sparse.csr_array(across @ sparse.diags_array(scale))
    middle = _inverse(sparse.csr_array(matrix[core][:, core] - eased @ across.T))
    side = -(eased.T @ middle)
    inverse = np.empty((n, n))
    inverse[np.ix_(core, core)] = middle
    inverse[np.ix_(part, core)], inverse[np.ix_(core, part)] = side, side.T
    for at in range(0, len(part), _ROWS):
        rows = slice(at, at + _ROWS)
        inverse[np.ix_(part[rows], part)] = -(eased.T @ side[rows].T).T
    inverse[part, part] += scale
    return inverse


def _independent(matrix: sparse.csr_array) -> Bools:
    """Return a set of rows of which no two have a common cell, those of few cells first."""
    starts, columns = matrix.indptr, matrix.indices
    chosen, free = np.zeros(matrix.shape[0], np.bool_), np.ones(matrix.shape[0], np.bool_)
    for row in np.argsort(np.diff(starts), kind="stable").tolist():
        if free[row]:
            free[columns[starts[row] : starts[row + 1]]] = False
            chosen[row] = True
    return chosen


def _dense_inverse(matrix: Floats) -> Floats:
    """Return the inverse of a symmetric, positive definite matrix, which is lost."""
    n = len(matrix)
    if not n:
        return matrix
    # Symmetric, so that LAPACK works in place.
    factor, failed = lapack.dpotrf(matrix.T, lower=1, overwrite_a=1)
    assert not failed, "the information has been found to be regular"
    inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
    for at in range(0, n, _BLOCK):  # the lower triangle is copied to the upper one
        end = min(at + _BLOCK, n)
        block = inverse[at:end, at:end]
        block[...] = np.tril(block) + np.tril(block, -1).T
        inverse[at:end, end:] = inverse[end:, at:end].T
    return np.ascontiguousarray(inverse.T)


def meat(fit: Fit) -> sparse.csr_array:
    """Return the root of the sandwich's inner part but for the prior's, a row a cluster."""
    problem, point = fit.problem, fit.point
    sums = cluster_gradients(problem.design, problem.tallies, point[:-1], float(point[-1]))
    n = len(np.unique(problem.design.contests.clusters[problem.tallies.weights > 0.0]))
    return sparse.csr_array(sums)[:, problem.free] * np.sqrt(n / (n - 1.0))


def times_meat(fit: Fit, roots: sparse.csr_array, right: Floats) -> Floats:
    """Return the product of the sandwich's inner part, with the prior's width, and a matrix."""
    product: Floats = roots.T @ (roots @ right)
    prior = fit.problem.prior
    if prior.flat:
        return product
    product += prior.matrix @ right
    return product - np.outer(prior.rank_one, prior.rank_one @ right)


def sampled_variances(fit: Fit, sandwich: bool, draws: np.random.Generator) -> Floats:
    """Return the variances of the free parameters by draws: for more players than can be held."""
    problem, prior, total = fit.problem, fit.problem.prior, np.zeros(fit.information.size)
    roots = meat(fit) if sandwich else _information_roots(fit)
    for _ in range(DRAWS // _DRAWN):
        noise = roots.T @ signs_of(draws, roots.shape[0], _DRAWN)
        if not prior.flat:
            more = prior.roots.T @ draws.standard_normal((prior.roots.shape[0], _DRAWN))
            if prior.rank_one.any():
                scattered = prior.rank_one > 0.0
                more[scattered] -= more[scattered].mean(axis=0)
            noise = noise + more
        solved = conjugate_gradients(fit.information, noise, 1e-4)
        assert solved is not None, "the information has been found to be regular"
        if prior.held is not None:
            solved[problem.free < problem.n_players] -= solved[prior.held].mean(axis=0)
        total += (solved**2).sum(axis=1)
    return total / DRAWS


def signs_of(draws: np.random.Generator, rows: int, columns: int) -> Floats:
    """Return numbers that are -1 or 1: as wide as normal ones, of squares that scatter less."""
    n = rows * columns
    bits = np.unpackbits(np.frombuffer(draws.bytes((n + 7) // 8), np.uint8), count=n)
    return np.where(bits > 0, 1.0, -1.0).reshape(rows, columns)


def _information_roots(fit: Fit) -> sparse.csr_array:
    """Return a matrix whose square is the information of the games."""
    terms, design = fit.terms, fit.problem.design
    slopes = np.sqrt(np.maximum(terms.curvature, 0.0))
    crossed = np.divide(terms.crossed, slopes, out=np.zeros_like(slopes), where=slopes > 0.0)
    rows = [sparse.hstack([sparse.diags_array(slopes) @ design.leads, crossed[:, np.newaxis]])]
    last = np.zeros((1, len(fit.point)))
    last[0, -1] = np.sqrt(max(terms.draw_curvature - dot(crossed, crossed), 0.0))
    rows.append(sparse.csr_array(last))
    for part, (_, curvature) in zip(design.orders, terms.orders, strict=True):
        values, vectors = np.linalg.eigh(curvature)
        halves = np.sqrt(np.maximum(values, 0.0))[:, :, np.newaxis] * vectors.transpose(0, 2, 1)
        n, k = part.sides.shape
        ends = np.repeat(np.arange(n * k), k), np.repeat(part.sides, k, axis=0).ravel()
        shape = (n * k, design.strengths.shape[0])
        moved = sparse.csr_array((halves.ravel(), ends), shape=shape) @ design.strengths
        rows.append(sparse.hstack([moved, np.zeros((n * k, 1))]))
    return sparse.csr_array(sparse.vstack(rows, format="csr"))[:, fit.problem.free]


def rank_ranges(ratings: Floats, covariances: Floats, critical: float) -> tuple[Ints, Ints]:
    """Return the best and the worst rank that each rating may have, all of them right at once."""
    n, variances = len(ratings), np.diag(covariances)
    low, high = np.empty(n, np.int64), np.empty(n, np.int64)
    for at in range(0, n, _ROWS):
        rows = slice(at, at + _ROWS)
        variance = variances[rows, np.newaxis] + variances - 2.0 * covariances[rows]
        lead = ratings[rows, np.newaxis] - ratings
        shown = lead * lead > critical**2 * np.maximum(variance, 0.0)
        ahead = np.count_nonzero(shown & (lead > 0.0), axis=1)
        low[rows] = 1 + np.count_nonzero(shown, axis=1) - ahead
        high[rows] = n - ahead
    return low, high
