"""Elimination of a sparse symmetric matrix front by front (Irons 1970), and parts of its inverse.

Parameters are eliminated in an order in which those that belong together are near to each other,
such as that of time. At each step there is a front: those parameters that come later and are tied
to an earlier one. It is small where few players are active at once, and then all is exact.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import lapack, solve_triangular

from valmatch.kernels.arrays import Floats, Ints

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
