"""The choice of player 0 by rank."""

from __future__ import annotations

import numpy as np

from valmatch.kernels.arrays import Floats


def player_of_rank(values: Floats, rank: int | str) -> int:
    """Return the index of the player of this rank; equal values rank by index.

    Parameters
    ----------
    values : (M + 1,) ndarray of float64
        What ranks go by: the means that skills are drawn from, or the skills.
    rank : int or str
        1 or "top" for the highest value, M + 1 or "bottom" for the lowest.
    """
    place = {"top": 1, "bottom": values.size}.get(rank, rank) if isinstance(rank, str) else rank
    return int(np.argsort(-values, kind="stable")[int(place) - 1])
