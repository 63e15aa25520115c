"""Solving with the information: by Cholesky where it is small, else by conjugate gradients."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from valmatch.kernels.arrays import Floats
from valmatch.ratings.bradley_terry.prior import Information, dots

DENSE = 600  # parameters up to which dense matrices are faster

SINGULAR = 1e-10
"""Smallest eigenvalue of the information, scaled to unit diagonal, that says something."""

EXACT = 1e-10  # what may be wrong with a result as a share of it, in the end

_STEPS = 5_000


def scaled(matrix: Floats) -> Floats:
    """Return a matrix scaled to unit diagonal; what has none stays 0."""
    diagonal = np.diag(matrix)
    scale = np.where(diagonal > 0.0, 1.0 / np.sqrt(np.maximum(diagonal, 1e-300)), 0.0)
    return matrix * scale * scale[:, np.newaxis]


def solve(
    information: Information, right: Floats, least: float, precision: float = EXACT
) -> Floats | None:
    """Return what the information maps to a vector; None where it is singular.

    Where all players can move together, that is left out of the result.
    """
    if not information.size:
        return right
    if information.size <= DENSE:
        factor, failed = lapack.dpotrf(information.dense(), lower=1)
        if failed:
            return None
        found, _ = lapack.dpotrs(factor, right, lower=1)
        return _still(information, np.asarray(found))
    return conjugate_gradients(information, right, precision, least)


def _still(information: Information, found: Floats) -> Floats:
    """Return a move without that of all players together."""
    if not information.moves:
        return found
    shift = information.shift
    still: Floats = found - np.multiply.outer(shift, dots(shift, found) / shift.sum())
    return still


def conjugate_gradients(
    information: Information, right: Floats, precision: float, least: float = 0.0
) -> Floats | None:
    """Return what the information maps to `right`; None where that does not converge."""
    found = np.zeros_like(right)
    rest = _still(information, right)
    eased = information.eased(rest)
    move = eased.copy()
    before = (rest * eased).sum(axis=0)
    goal = np.maximum(precision**2 * before, least**2)
    for _ in range(_STEPS):
        open_ = before > goal
        if not open_.any():
            return _still(information, found)
        image = information.times(move)
        along = (move * image).sum(axis=0)
        if (open_ & (along <= 0.0)).any():
            return None
        # A column that has converged stays as it is.
        length = np.where(open_, before / np.where(open_, along, 1.0), 0.0)
        found += length * move
        rest -= length * image
        eased = information.eased(rest)
        now = (rest * eased).sum(axis=0)
        move = eased + now / np.where(before > 0.0, before, 1.0) * move
        before = now
    return None


def blind_direction(information: Information, held: int = 0) -> Floats | None:
    """Return a direction of which the information says nothing; None where there is none.

    The direction is in parameters that are scaled to unit information each.
    """
    if held:
        return _blind_direction_beyond(information, held)
    if not information.size:
        return None
    if information.size > DENSE and _clearly_regular(information):
        return None
    values, vectors = np.linalg.eigh(scaled(information.dense()))
    if values[0] >= SINGULAR:
        return None
    direction: Floats = vectors[:, 0]
    return direction


def _blind_direction_beyond(information: Information, held: int) -> Floats | None:
    """Return such a direction among the parameters after those that a prior tells."""
    more = information.size - held
    if not more:
        return None
    units = np.zeros((information.size, more))
    units[held:] = np.eye(more)
    columns = information.times(units)
    solved = solve(information.leading(held), np.ascontiguousarray(columns[:held]), least=0.0)
    assert solved is not None, "the prior makes the information of these regular"
    own = columns[held:]
    root = np.sqrt(np.maximum(np.diag(own), 1e-300))
    values, vectors = np.linalg.eigh((own - columns[:held].T @ solved) / root / root[:, np.newaxis])
    if values[0] >= SINGULAR:
        return None
    return np.append(np.zeros(held), vectors[:, 0])


def _clearly_regular(information: Information) -> bool:
    """Return whether a generic vector can be solved for, and is not blown up."""
    root = np.sqrt(np.maximum(information.diagonal, 1e-300))
    right = root * np.random.Generator(np.random.Philox(1)).standard_normal(information.size)
    right = _still(information, right)
    found = conjugate_gradients(information, right, 1e-6)
    if found is None:
        return False
    blown = float(np.linalg.norm(root * found) / np.linalg.norm(right / root))
    return bool(blown * np.sqrt(information.size) < 0.01 / SINGULAR)
