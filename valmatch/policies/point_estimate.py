"""Point-estimate policy, equation (8)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from valmatch.compilation import expanded, unallocating
from valmatch.policies.knowledge import Knowledge


@unallocating
def point_estimate(means: NDArray[np.float64], player: int) -> int:
    """Return the opponent whose believed mean is nearest to player 0's, ties to the lowest index.

    Parameters
    ----------
    means
        Belief means of all M + 1 players; with true skills, this is the `oracle` policy.
    player
        Index of player 0.
    """
    chosen = -1
    nearest = math.inf
    for j in range(means.size):
        distance = abs(means[player] - means[j])
        if distance < nearest and j != player:
            nearest = distance
            chosen = j
    return chosen


@expanded
def choose(known: Knowledge, game: int, uniform: float) -> int:
    """Return the opponent whose believed mean is nearest, equation (8)."""
    return point_estimate(known.means, known.player)
