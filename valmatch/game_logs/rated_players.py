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
    """A player of previous ratings."""

    player: str  # the name
    state: Sequence[float]  # what the system keeps of a player
    games: int  # games rated before
    counts: Sequence[int]  # those of them by `COUNTS`, as far as that is known
    last: float  # time of the last; NaN if it is not known
    dated: bool  # whether that is a moment, in seconds since 1970
