"""Players of earlier ratings, as a ``ratings.csv`` has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

RATINGS = "ratings.csv"

COUNTS = ("wins", "losses", "draws")
"""Columns of how many games a player's side won, was not among the best of, or shared the first
place of."""

LAST_GAME = "last_game"


class RatedPlayer(NamedTuple):
    """A player of previous ratings.

    Attributes
    ----------
    player : str
        The name.
    state : sequence of float
        What the system keeps of a player.
    games : int
        Games rated before.
    counts : sequence of int
        Those of them by `COUNTS`, as far as that is known.
    last : float
        Time of the last; NaN if it is not known.
    dated : bool
        Whether that is a moment, in seconds since 1970.
    """

    player: str
    state: Sequence[float]
    games: int
    counts: Sequence[int]
    last: float
    dated: bool
