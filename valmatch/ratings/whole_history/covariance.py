"""Covariance of strengths by player and day, exact where it can be had in reasonable time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.threads import one_thread
from valmatch.ratings.bradley_terry.covariance import (
    DENSE_COVARIANCE,
    inverse_information,
    meat,
    sampled_variances,
    times_meat,
)
from valmatch.ratings.bradley_terry.fit import Fit, Problem
from valmatch.ratings.bradley_terry.linear import conjugate_gradients
from valmatch.ratings.whole_history.fronts import Fronts, Inverse, fronts_of, in_time, inverse_of
from valmatch.ratings.whole_history.wiener import Wiener

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
