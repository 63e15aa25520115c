"""The matching of greatest total weight among pairs that are at most a few places apart.

What can still be gained from a place on depends on which of the next places are taken alone. Only
differences of gains matter, so that each place's are relative to those of the next one: they stay
small however many places there are.
"""

from __future__ import annotations

from valmatch.kernels.arrays import Bytes, Ints
from valmatch.kernels.compilation import at, unallocating

ALONE = -1  # what stands for the partner of whoever is left
MOST = 2**58  # the largest weight: with a band of 16, all gains fit an integer


@unallocating
def match_band(n: int, weights: Ints, gains: Ints, choices: Bytes, partners: Ints) -> None:
    """Match places 0..n-1.

    Among equals the first place has the nearest partner, then the second, and so on; being left
    comes last.

    Shapes: `gains` (4, 2**band).
    """
    reach = 1
    for i in range(n):
        for k in range(reach, weights.shape[1]):
            if weights[at(i), at(k)] >= 0:
                reach = k + 1
    half = 1 << (reach - 1)
    for taken in range(2 * half):
        gains[at(n % 2), at(taken)] = 0
    for i in range(n - 1, -1, -1):
        later, now = gains[(i + 1) % 2], gains[i % 2]
        _gain(half, weights[i], later, gains[2], gains[3], now, choices[i])
    for i in range(n):
        partners[at(i)] = ALONE
    taken = 0
    for i in range(n):
        nearest = 0 if taken & 1 else int(choices[at(i), at(taken >> 1)])
        taken >>= 1
        if nearest > 0:
            partners[at(i)], partners[at(i + nearest)] = i + nearest, i
            taken |= 1 << (nearest - 1)


@unallocating
def _gain(
    half: int, weights: Ints, later: Ints, best: Ints, nearest: Ints, gains: Ints, choices: Bytes
) -> None:
    """Find the best choices of a place, and its gains, from the gains of the next place.

    Gains are by the places taken: bit k is for the place itself + k. Choices are by those taken of
    the following places: how far the partner is, 0 for being left. `best` and `nearest` are memory.
    """
    for taken in range(half):
        best[at(taken)], nearest[at(taken)] = later[at(taken)], 0
    for k in range(weights.size - 1, -1, -1):
        weight = weights[at(k)]
        if weight >= 0:
            bit = 1 << k
            # Without a branch, and through all masks, so that it compiles to vectors.
            for taken in range(half):
                total = weight + later[at(taken + bit)]
                better = (taken & bit == 0) & (total >= best[at(taken)])
                best[at(taken)] = total if better else best[at(taken)]
                nearest[at(taken)] = k + 1 if better else nearest[at(taken)]
    nothing = later[0]
    for taken in range(half):
        gains[at(2 * taken)] = best[at(taken)] - nothing
        gains[at(2 * taken + 1)] = later[at(taken)] - nothing
        choices[at(taken)] = nearest[at(taken)]
