"""An opponent drawn at random."""

from __future__ import annotations

from valmatch.compilation import expanded, unallocating
from valmatch.policies.knowledge import Knowledge


@unallocating
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


@expanded
def choose(known: Knowledge, game: int, uniform: float) -> int:
    """Return one of the opponents by the uniform draw of the game."""
    return random_opponent(known.means.size, known.player, uniform)
