"""The choice of player 0 by rank."""

from __future__ import annotations

import numpy as np

from valmatch.kernels.arrays import Floats


def player_of_rank(values: Floats, rank: int | str) -> int:
    """Return the index of the player of this rank; equal values rank by index.

    Shapes: `values` (M + 1,).
    """
    place = {"top": 1, "bottom": values.size}.get(rank, rank) if isinstance(rank, str) else rank
    return int(np.argsort(-values, kind="stable")[int(place) - 1])
