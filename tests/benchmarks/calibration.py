"""A kernel whose time says how fast the machine is at this moment."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from valmatch.kernels.compilation import kernel

STEPS = 1_000_000
TABLE = np.random.default_rng(1).random(4096)


@kernel
def _walk(table: NDArray[np.float64], steps: int) -> float:
    """Walk through a table as the kernels do: sums, loads and branches that nobody can predict."""
    place, total = 0, 0.0
    for _ in range(steps):
        value = table[place]
        total += value if value < 0.5 else -value
        place = (5 * place + 1 + int(8 * value)) & 4095
    return total


def calibration_seconds() -> float:
    """Return the seconds of a fixed piece of work, the fastest of ten times."""
    _walk(TABLE, 1)
    seconds = []
    for _ in range(10):
        start = time.perf_counter()
        _walk(TABLE, STEPS)
        seconds.append(time.perf_counter() - start)
    return min(seconds)
