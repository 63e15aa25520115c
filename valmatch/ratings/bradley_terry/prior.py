"""Knowledge of ratings before any game: that they scatter about a common mean, or anchors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from valmatch.arrays import Bools, Floats, Ints


@dataclass(frozen=True)
class Prior:
    """Minus a log density that is quadratic in the strengths of the players, in log odds.

    Attributes
    ----------
    scattered : numpy.ndarray
        (players,) whether each one scatters about the mean of all these.
    scatter : float
        1 / variance of that; 0 for none.
    precisions, centres : numpy.ndarray
        (players,) 1 / variance and mean of a normal prior of a player's own; 0 for none.
    """

    scattered: Bools
    scatter: float
    precisions: Floats
    centres: Floats

    def _away(self, strengths: Floats) -> Floats:
        """Return how far each strength is from the mean about which it scatters."""
        if not self.scatter or not self.scattered.any():
            return np.zeros_like(strengths)
        mean = strengths[self.scattered].mean()
        return np.where(self.scattered, strengths - mean, 0.0)

    def penalty(self, strengths: Floats) -> float:
        """Return minus the log density, but for a constant."""
        away, own = self._away(strengths), strengths - self.centres
        return float(0.5 * self.scatter * away @ away + 0.5 * self.precisions @ own**2)

    def slopes(self, strengths: Floats) -> Floats:
        """Return the derivatives of the penalty."""
        found: Floats = self.scatter * self._away(strengths)
        return found + self.precisions * (strengths - self.centres)

    @property
    def diagonal(self) -> Floats:
        """Second derivatives, but for what `rank_one` has."""
        return np.where(self.scattered, self.scatter, 0.0) + self.precisions

    @property
    def rank_one(self) -> Floats:
        """A vector whose square is to be subtracted from the second derivatives."""
        if not self.scatter or not self.scattered.any():
            return np.zeros(len(self.scattered))
        return np.where(self.scattered, np.sqrt(self.scatter / self.scattered.sum()), 0.0)

    @property
    def flat(self) -> bool:
        """Whether it says nothing."""
        return not self.scatter and not self.precisions.any()


class Information:
    """A symmetric matrix over the free parameters: a sparse one, less the square of a vector.

    Parameters
    ----------
    sparse_part : scipy.sparse.csr_array
        (free, free) of strengths and coefficients.
    rank_one : numpy.ndarray
        (free,) the vector.
    shift : numpy.ndarray
        (free,) 1 for each player where all of them can move together, else 0.
    border : numpy.ndarray
        (free + 1,) the row of ln nu, where it is free, itself at last; else empty.
    """

    def __init__(
        self, sparse_part: sparse.csr_array, rank_one: Floats, shift: Floats, border: Floats
    ) -> None:
        self.sparse_part, self.rank_one, self.border = sparse_part, rank_one, border
        more = border[-1:]
        self.diagonal: Floats = np.append(sparse_part.diagonal() - rank_one**2, more)
        self.shift: Floats = np.append(shift, np.zeros(len(more)))
        self.size = len(self.diagonal)
        self.moves = bool(shift.any())
        self._ranked = bool(rank_one.any())

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
            found = found - np.multiply.outer(self.rank_one, self.rank_one @ own)
        if not len(self.border):
            return found
        found = found + np.multiply.outer(self.border[:-1], vector[n])
        return np.concatenate([found, [self.border @ vector]])

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
