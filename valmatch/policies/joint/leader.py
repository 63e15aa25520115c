"""The probability that a leader is above all rivals, by draws from a normal belief."""

from __future__ import annotations

from valmatch.draws.distributions import fill_normal
from valmatch.kernels.arrays import Floats, Words
from valmatch.kernels.compilation import at, kernel


@kernel
def times_ahead(
    root: Floats, gaps: Floats, draws: int, words: Words, normals: Floats, pool: Floats
) -> int:
    """Return in how many draws no lead is below 0."""
    # Shapes: `root` (n, n); `gaps` (n,); `normals` (n,); `pool` (m,).
    ahead, taken = 0, pool.size
    for _ in range(draws):
        above = True
        for k in range(gaps.size):
            if taken == pool.size:
                fill_normal(words, pool)
                taken = 0
            normals[at(k)] = pool[at(taken)]
            taken += 1
            # In two sums, as each addition waits for the one before it.
            even, odd, whole = gaps[at(k)], 0.0, (k + 1) // 2 * 2
            for c in range(0, whole, 2):
                even += root[at(k), at(c)] * normals[at(c)]
                odd += root[at(k), at(c + 1)] * normals[at(c + 1)]
            if whole == k:
                even += root[at(k), at(k)] * normals[at(k)]
            if even + odd < 0.0:
                above = False
                break
        ahead += above
    return ahead
