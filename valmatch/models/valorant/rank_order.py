"""Waits in order as far as their quantiles go, in less time than it takes to sort them all.

Waits are counted in narrow bins of the same width, and those of the few bins that hold a wanted
rank are put in order. What is found is exact, whatever the bins.
"""

from __future__ import annotations

import numpy as np

from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import at, unallocating

FEW = 1000  # waits up to which sorting all takes as little time
_MEANS = 6.0  # what is beyond so many means is in the last bin
_MOST_BINS = 2**16
_ROOM = 16  # of so many waits one may be in a bin that holds a wanted rank; else all are sorted


def order(waits: Floats, ranks: Ints) -> None:
    """Put at each rank what is there when the waits are sorted; elsewhere is then whatever.

    Shapes: `waits` (n,); `ranks` (m,).
    """
    n = waits.size
    bins = min(_MOST_BINS, 1 << n.bit_length())
    means = _MEANS * float(waits.mean()) if n > FEW else 0.0
    scale = (bins - 1) / means if means > 0.0 else np.inf
    if scale == np.inf:
        waits.sort()
        return
    few, places = np.empty(n // _ROOM), np.empty(ranks.size, np.int64)
    size = _gather(waits, scale, ranks, np.zeros(bins, np.int32), few, places)
    if size > few.size:
        waits.sort()
        return
    few[:size].sort()
    waits[ranks] = few[places]


@unallocating
def _gather(
    waits: Floats, scale: float, ranks: Ints, counts: Ints, few: Floats, places: Ints
) -> int:
    """Gather the waits of the bins that hold a rank; return how many there are.

    Shapes: `places` (m,).
    """
    last = counts.size - 1
    for k in range(waits.size):
        counts[at(min(int(waits[at(k)] * scale), last))] += 1
    bin_, below, gathered = 0, 0, 0
    for k in range(ranks.size):
        while below + abs(counts[at(bin_)]) <= ranks[at(k)]:
            below += abs(counts[at(bin_)])
            gathered += max(-counts[at(bin_)], 0)
            bin_ += 1
        counts[at(bin_)] = -abs(counts[at(bin_)])  # below 0: wanted
        places[at(k)] = gathered + ranks[at(k)] - below
    size = 0
    for k in range(waits.size):
        if counts[at(min(int(waits[at(k)] * scale), last))] < 0:
            if size < few.size:
                few[at(size)] = waits[at(k)]
            size += 1
    return size
