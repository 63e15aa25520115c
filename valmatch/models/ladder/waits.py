"""The waits of the matched players of a ladder in memory that does not grow with their number.

Up to `KEPT` waits of a replication are kept, and what is said of them is exact. Where there are
more, all are counted in bins: the leading bits of a number, its exponent and `BITS` bits of its
fraction, are its bin, so that the middle of a bin is within 2**-(BITS + 1) of all that is in it.
What is said depends on the waits and their order alone, not on when they were handed over.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import at, unallocating

KEPT = 2**19  # waits of a replication that are kept; of more, percentiles are those of bins
BITS = 10  # bits of the fraction of a number that tell bins apart
ERROR = 2.0 ** -(BITS + 1)  # largest relative error of a percentile by bins
PERCENTILES = (50, 90, 95, 99)

_SHIFT = 52 - BITS
_LEAST, _MOST = -40, 22
"""Exponents of hours: below is no wait, but rounding of the clock; above is no run."""
_OFFSET = ((1023 + _LEAST) << BITS) - 1
"""The bin of the smallest numbers, less 1: bin 0 has what is below."""
_BINS = ((_MOST - _LEAST) << BITS) + 1


class WaitSummary(NamedTuple):
    """What is said of waits."""

    n: int  # how many there are
    mean: float  # minutes; NaN without any, as the percentiles
    percentiles: tuple[float, ...]  # minutes, of `PERCENTILES`


class Waits:
    """The waits of a replication after the other, and room for those to come."""

    def __init__(self) -> None:
        self.room: Floats = np.empty(1024)  # where a kernel writes waits (hours), from the start
        self._bins: Ints = np.zeros(0, np.int64)
        self._sums: Floats = np.zeros(2)

    def clear(self) -> None:
        """Begin a replication."""
        self._bins, self._sums = np.zeros(0, np.int64), np.zeros(2)

    def make_room(self, n: int) -> int:
        """Return how many of the first `n` numbers of `room` are still there, with more room."""
        if n > KEPT:
            self._count(n)
            return 0
        room = np.empty(2 * self.room.size)
        room[:n] = self.room[:n]
        self.room = room
        return n

    def summary(self, n: int) -> WaitSummary:
        """Return the statistics of all waits; the last are the first `n` numbers of `room`."""
        if n > KEPT or self._bins.size:
            self._count(n)
            return self._of_bins()
        if n == 0:
            return WaitSummary(0, math.nan, (math.nan,) * len(PERCENTILES))
        waits = self.room[:n]
        percentiles = np.percentile(60.0 * waits, PERCENTILES)
        return WaitSummary(n, 60.0 * float(waits.mean()), tuple(percentiles.tolist()))

    def _count(self, n: int) -> None:
        if not self._bins.size:
            self._bins = np.zeros(_BINS, np.int64)
        waits = self.room[:n]
        _count_in_bins(waits, waits.view(np.int64), self._bins, self._sums)

    def _of_bins(self) -> WaitSummary:
        below = np.cumsum(self._bins)
        n = int(below[-1])
        ranks = np.array(PERCENTILES) / 100.0 * (n - 1)
        lower, upper = (_middles(below, k(ranks)) for k in (np.floor, np.ceil))
        # Interpolated linearly, as `numpy.percentile` does.
        percentiles = 60.0 * (lower + (upper - lower) * (ranks - np.floor(ranks)))
        mean = 60.0 * float(self._sums[0] + self._sums[1]) / n
        return WaitSummary(n, mean, tuple(percentiles.tolist()))


def _middles(below: Ints, ranks: Floats) -> Floats:
    """Return the middles of the bins that hold the numbers of some ranks, counted from 0."""
    found = np.searchsorted(below, ranks, side="right")
    words = ((found + _OFFSET) << _SHIFT) + (1 << (_SHIFT - 1))
    middles: Floats = np.where(found > 0, words.view(np.float64), 0.0)
    return middles


@unallocating
def _count_in_bins(waits: Floats, words: Ints, bins: Ints, sums: Floats) -> None:
    """Count waits in bins by their bits, and add them up.

    Shapes: `sums` (2,).
    """
    total, lost = sums[0], sums[1]
    for k in range(waits.size):
        bins[at(max((words[at(k)] >> _SHIFT) - _OFFSET, 0))] += 1
        wait = waits[at(k)]
        larger = total + wait
        lost += (total - larger) + wait if total >= wait else (wait - larger) + total
        total = larger
    sums[0], sums[1] = total, lost
