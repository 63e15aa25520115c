"""Knowledge of ratings before any game: that they scatter about a common mean, or anchors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from valmatch.kernels.arrays import Bools, Floats, Ints

# Sums of products in an order of their own.
#
# Numpy's `@` of long vectors goes to several threads: the last digits then depend on how many there
# are, and on a machine that others use the threads wait longer for each other than they work.


def dot(first: Floats, second: Floats) -> float:
    """Return the sum of the products of two vectors.

    Examples
    --------
    >>> dot(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    return float(np.add.reduce(first * second))


def dots(vector: Floats, columns: Floats) -> Floats:
    """Return the sums of the products of a vector with another one, or with each column.

    Examples
    --------
    >>> dots(np.array([1.0, 2.0]), np.array([[1.0, 0.0], [1.0, 1.0]]))
    array([3., 2.])
    """
    if columns.ndim == 1:
        return np.asarray(dot(vector, columns))
    found: Floats = np.add.reduce(vector[:, np.newaxis] * columns, axis=0)
    return found


class Knowledge(ABC):
    """Minus a log density that is quadratic in the strengths of the players, in log odds."""

    @abstractmethod
    def penalty(self, strengths: Floats) -> float:
        """Return minus the log density, but for a constant."""

    @abstractmethod
    def slopes(self, strengths: Floats) -> Floats:
        """Return the derivatives of the penalty."""

    @property
    @abstractmethod
    def sparse_part(self) -> sparse.csr_array:
        """Second derivatives, but for what `rank_one` has."""

    @property
    def rank_one(self) -> Floats:
        """A vector whose square is to be subtracted from the second derivatives."""
        return np.zeros(self.sparse_part.shape[0])

    @property
    def chained(self) -> Bools:
        """Whether each strength is tied to the next one; empty where none is."""
        return np.zeros(0, np.bool_)

    @property
    def flat(self) -> bool:
        """Whether it says nothing."""
        return False

    @property
    def holds_all(self) -> bool:
        """Whether it tells every strength by itself, so that games need not."""
        return False

    def still(self, draws: Floats) -> Floats:
        """Return draws of (strengths, columns) with what is held as the zero at 0."""
        return draws

    @abstractmethod
    def noise(self, draws: np.random.Generator, columns: int) -> Floats:
        """Return (strengths, columns) noise whose covariance are the second derivatives."""


@dataclass(frozen=True)
class Prior(Knowledge):
    """Players who scatter about their mean, and normal priors of some by themselves."""

    scattered: Bools  # (players,) whether each one scatters about the mean of all these
    scatter: float  # 1 / variance of that; 0 for none
    # precisions, centres: (players,) 1 / variance and mean of a normal prior of a player's own; 0
    # for none
    precisions: Floats
    centres: Floats

    def _away(self, strengths: Floats) -> Floats:
        """Return how far each strength is from the mean about which it scatters."""
        if not self.scatter or not self.scattered.any():
            return np.zeros_like(strengths)
        mean = strengths[self.scattered].mean()
        return np.where(self.scattered, strengths - mean, 0.0)

    def penalty(self, strengths: Floats) -> float:  # noqa: D102 - as `Knowledge` says
        away, own = self._away(strengths), strengths - self.centres
        return 0.5 * self.scatter * dot(away, away) + 0.5 * dot(self.precisions, own**2)

    def slopes(self, strengths: Floats) -> Floats:  # noqa: D102
        found: Floats = self.scatter * self._away(strengths)
        return found + self.precisions * (strengths - self.centres)

    @property
    def sparse_part(self) -> sparse.csr_array:  # noqa: D102
        own = np.where(self.scattered, self.scatter, 0.0) + self.precisions
        return sparse.csr_array(sparse.diags_array(own))

    @property
    def rank_one(self) -> Floats:  # noqa: D102
        if not self.scatter or not self.scattered.any():
            return np.zeros(len(self.scattered))
        return np.where(self.scattered, np.sqrt(self.scatter / self.scattered.sum()), 0.0)

    @property
    def flat(self) -> bool:  # noqa: D102
        return not self.scatter and not self.precisions.any()

    def noise(self, draws: np.random.Generator, columns: int) -> Floats:  # noqa: D102
        n = len(self.scattered)
        noise: Floats = draws.standard_normal((n, columns)) * np.sqrt(self.scatter)
        noise[~self.scattered] = 0.0
        if self.scattered.any():
            noise[self.scattered] -= noise[self.scattered].mean(axis=0)
        if not self.precisions.any():
            return noise
        own: Floats = np.sqrt(self.precisions)[:, np.newaxis] * draws.standard_normal((n, columns))
        found: Floats = noise + own
        return found


NO_CHAINS: Bools = np.zeros(0, np.bool_)  # of parameters of which none is tied to the next one


class Information:
    """A symmetric matrix over the free parameters: a sparse one, less the square of a vector.

    Shapes: `sparse_part` (free, free); `rank_one` (free,); `shift` (free,); `border` (free + 1,).
    """

    def __init__(
        self,
        sparse_part: sparse.csr_array,
        rank_one: Floats,
        shift: Floats,
        border: Floats,
        chained: Bools = NO_CHAINS,
    ) -> None:
        self.sparse_part, self.rank_one, self.border = sparse_part, rank_one, border
        more = border[-1:]
        self.diagonal: Floats = np.append(sparse_part.diagonal() - rank_one**2, more)
        self.shift: Floats = np.append(shift, np.zeros(len(more)))
        self.size = len(self.diagonal)
        self.moves = bool(shift.any())
        self._ranked = bool(rank_one.any())
        self._chained = chained

    @cached_property
    def _chains(self) -> tuple[Floats, Floats] | None:
        """The factor of the chains alone; None where nothing is chained."""
        if not self._chained.any():
            return None
        beside, n = np.zeros(self.size - 1), len(self._chained)
        beside[:n] = np.where(self._chained, self.sparse_part.diagonal(k=1)[:n], 0.0)
        diagonal, beside, failed = lapack.dpttrf(self.diagonal, beside)
        assert not failed, "games and priors only add to the information of a chain"
        return diagonal, beside

    @cached_property
    def _scale(self) -> Floats:
        """What maps each parameter by itself."""
        return np.asarray(1.0 / np.maximum(self.diagonal, 1e-300))

    def eased(self, vector: Floats) -> Floats:
        """Return about what the information maps to a vector, or to the columns of a matrix.

        The chains are solved exactly; where there are none, each parameter by itself.
        """
        if self._chains is None:
            scale = self._scale
            return (scale[:, np.newaxis] if vector.ndim > 1 else scale) * vector
        return np.asarray(lapack.dpttrs(*self._chains, vector)[0])

    def leading(self, n: int) -> Information:
        """Return that of the first parameters alone."""
        part = sparse.csr_array(self.sparse_part[:n, :n])
        ends = self.rank_one[:n], self.shift[:n]
        return Information(part, *ends, np.zeros(0), self._chained[: max(n - 1, 0)])

    def whole(self) -> sparse.csr_array:
        """Return all but the square that is subtracted as one sparse matrix."""
        if not len(self.border):
            return self.sparse_part
        row = sparse.csr_array(self.border[np.newaxis, :-1])
        corner = sparse.csr_array(self.border[np.newaxis, -1:])
        blocks = [[self.sparse_part, row.T], [row, corner]]
        return sparse.csr_array(sparse.block_array(blocks, format="csr"))

    @property
    def held_weight(self) -> float:
        """A curvature of the size of the others, by which the mean is held where all can move."""
        players = self.shift > 0.0
        return float(self.diagonal[players].mean()) * float(players.sum())

    def times(self, vector: Floats) -> Floats:
        """Return the product with a vector, or with the columns of a matrix."""
        n = len(self.rank_one)
        own = vector[:n]
        found: Floats = self.sparse_part @ own
        if self._ranked:
            found = found - np.multiply.outer(self.rank_one, dots(self.rank_one, own))
        if not len(self.border):
            return found
        found = found + np.multiply.outer(self.border[:-1], vector[n])
        return np.concatenate([found, [dots(self.border, vector)]])

    def dense(self) -> Floats:
        """Return the whole matrix, with the mean held where all players can move together."""
        n = len(self.rank_one)
        found = np.zeros((self.size, self.size))
        found[:n, :n] = self.sparse_part.toarray()
        if len(self.border):
            found[n] = found[:, n] = self.border
        if self._ranked:
            add_to_cells(found, np.flatnonzero(self.rank_one), -(self.rank_one.max() ** 2))
        if self.moves:
            places = np.flatnonzero(self.shift)
            add_to_cells(found, places, self.held_weight / len(places) ** 2)
        return found


def add_to_cells(matrix: Floats, places: Ints, value: float) -> None:
    """Add a number to all cells of some rows and columns."""
    if len(places) == places[-1] + 1:  # they are the first
        matrix[: len(places), : len(places)] += value
    else:
        matrix[np.ix_(places, places)] += value
