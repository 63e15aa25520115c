"""Sums of products in an order of their own.

Numpy's `@` of long vectors goes to several threads: the last digits then depend on how many there
are, and on a machine that others use the threads wait longer for each other than they work.
"""

from __future__ import annotations

import numpy as np

from valmatch.kernels.arrays import Floats


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
