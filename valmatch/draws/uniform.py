"""Uniform numbers in [0, 1), bit for bit those of numpy's `Generator.random`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from valmatch.draws.philox import END, POSITION, next_word, refill
from valmatch.kernels.arrays import Words
from valmatch.kernels.compilation import inlined, unallocating

DROPPED = np.uint64(11)  # bits of a word that a double has no room for

SPACING = 2.0**-53


@inlined
def uniform(word: np.uint64) -> float:
    """Return the number that a word gives."""
    return np.int64(word >> DROPPED) * SPACING


@inlined
def next_uniform(stream: Words) -> float:
    """Draw one number."""
    return uniform(next_word(stream))


@unallocating
def fill_uniform(stream: Words, out: NDArray[np.float64]) -> None:
    """Draw as many numbers as `out`, (n,), takes."""
    position = np.int64(stream[POSITION])
    for i in range(out.size):
        if position == END:
            position = refill(stream, out.size - i)
        out[i] = uniform(stream[position])
        position += 1
    stream[POSITION] = position
