"""The days on which players played, each of which has a rating of its own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Bools, Ints
from valmatch.ratings.bradley_terry.contests import Contests, games_of_sides, rows_of_sides


class PlayerDays(NamedTuple):
    """Players and days together, by player, then by day."""

    players: Ints  # (player-days,) number of the player
    days: Ints  # (player-days,) number of the day
    games: Ints  # (player-days,) how many he played then
    of_row: Ints  # (rows,) the player-day of each row of the games
    last_day: int  # the last day of all games

    @property
    def follows(self) -> Bools:
        """Whether each but the last is followed by one of the same player."""
        found: Bools = self.players[1:] == self.players[:-1]
        return found

    @property
    def first(self) -> Ints:
        """The first of each player."""
        return np.flatnonzero(np.append(True, ~self.follows))

    @property
    def last(self) -> Ints:
        """The last of each player."""
        return np.flatnonzero(np.append(~self.follows, True))


def player_days(contests: Contests, days: Ints) -> PlayerDays:
    """Return the days of all players.

    Shapes: `days` (games,).
    """
    of_row = days[games_of_sides(contests)[rows_of_sides(contests)]]
    known, ranks = np.unique(of_row, return_inverse=True)
    keys = contests.players * len(known) + ranks.ravel()
    found, places, games = np.unique(keys, return_inverse=True, return_counts=True)
    players, day = np.divmod(found, len(known))
    return PlayerDays(players, known[day], games, places.ravel(), int(known[-1]))
