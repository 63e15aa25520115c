"""The inverse of the information of many players, of whom most have met few others.

Players of whom no two have met are an independent set: their part P of the information is a
diagonal D, which is eliminated at once. What is left of the others, the core K, is the Schur
complement S = A_KK - A_KP D^-1 A_PK, and the inverse is

    C_KK = S^-1, C_KP = -S^-1 A_KP D^-1, C_PP = D^-1 + D^-1 A_PK S^-1 A_KP D^-1.

S is inverted likewise, as long as enough of the core have met few others; so only the inverse of
what is left at last costs a cube of a size.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.ratings.bradley_terry.prior import Information, add_to_cells

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
