"""The largest entry of an array, in kernels that count no references, which `max` would."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from valmatch.kernels.compilation import unallocating


@unallocating
def largest(values: NDArray[np.float64]) -> float:
    """Return the largest of at least one value."""
    found: float = values[0]
    for value in values:
        found = value if value > found else found
    return found


@unallocating
def place_of_largest(values: NDArray[np.float64]) -> int:
    """Return the place of the largest of at least one value, ties to the first."""
    place = 0
    for k in range(1, values.size):
        if values[k] > values[place]:
            place = k
    return place
