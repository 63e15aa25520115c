"""The two ends of the scale: a random opponent, or the best one by the true skills."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from valmatch.compilation import njit
from valmatch.policies.point_estimate import point_estimate


@njit
def random_opponent(n_players: int, player: int, uniform: float) -> int:
    """Return one of the opponents, all equally likely.

    Parameters
    ----------
    n_players
        Number of players, player 0 included.
    player
        Index of player 0.
    uniform
        The draw in [0, 1) that decides; larger draws give larger indices.
    """
    j = int(uniform * (n_players - 1))
    return j + 1 if j >= player else j


@njit
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
