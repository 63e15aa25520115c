"""The best opponent by the true skills, which no other policy knows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from valmatch.compilation import expanded, unallocating
from valmatch.policies.knowledge import Knowledge
from valmatch.policies.point_estimate import point_estimate


@unallocating
def oracle(truths: NDArray[np.float64], player: int) -> int:
    """Return the opponent of largest true draw probability (14), ties to the lowest index.

    Parameters
    ----------
    truths
        True skills of all M + 1 players.
    player
        Index of player 0.
    """
    return point_estimate(truths, player)


@expanded
def choose(known: Knowledge, game: int, uniform: float) -> int:
    """Return the opponent of largest true draw probability."""
    return oracle(known.truths, known.player)
