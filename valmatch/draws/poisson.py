"""Poisson counts of small means, bit for bit those of numpy's `Generator.poisson`.

Source: Knuth, "The art of computer programming", volume 2: uniform numbers are multiplied until
the product falls to exp(-mean), as in numpy/random/src/distributions/distributions.c.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from valmatch.draws.uniform import next_uniform
from valmatch.kernels.arrays import Words
from valmatch.kernels.compilation import internal


@internal
def fill_poisson(stream: Words, mean: float, out: NDArray[np.float64]) -> None:
    """Draw as many counts as `out`, (n,), takes; `mean` is positive and below 10."""
    least = math.exp(-mean)
    for i in range(out.size):
        count = 0.0
        product = next_uniform(stream)
        while product > least:
            count += 1.0
            product *= next_uniform(stream)
        out[i] = count
