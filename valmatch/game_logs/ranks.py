"""The rank of every player after each of his games."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from valmatch.compilation import inlined, njit
from valmatch.game_logs.games import Games
from valmatch.game_logs.system import Played

__all__ = ["Ranks"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


class Ranks:
    """The ranks of rated players in the course of a log: 1 for the best, equal ratings share one.

    Parameters
    ----------
    ratings : (players,) ndarray of float64
        Ratings before the first game; NaN of players who have none yet.
    """

    def __init__(self, ratings: Floats) -> None:
        self._ratings = ratings

    def after(self, games: Games, played: Played) -> Integers:
        """Return the rank of each row's player after its game, (rows,), for the next games.

        Ranks among those before the first of the games, counted once, are corrected by what has
        changed since.
        """
        missing = int(games.players.max()) + 1 - len(self._ratings)
        if missing > 0:
            more = np.full(max(missing, len(self._ratings)), np.nan)
            self._ratings = np.concatenate([self._ratings, more])
        rated = ~np.isnan(self._ratings)
        standing = np.sort(self._ratings[rated])
        marks = np.sort(played.after)
        ranks = 1 + len(standing) - np.searchsorted(standing, marks, side="right")
        left, reached = np.searchsorted(marks, played.before), np.searchsorted(marks, played.after)
        ranks = ranks[reached]
        ends = games.side_starts[games.game_starts]
        _correct(games.players, ends, left, reached, rated, ranks)
        self._ratings[games.players] = played.after  # of several games of a player the last stays
        return ranks


@njit
def _correct(
    players: Integers,
    ends: Integers,
    left: Integers,
    reached: Integers,
    rated: Booleans,
    ranks: Integers,
) -> None:
    """Add to each rank how many more players than at the start are above it after the game.

    Parameters
    ----------
    players : (rows,) ndarray of int64
        Number of each row's player.
    ends : (games + 1,) ndarray of int64
        First row of each game, and the end of the last.
    left, reached : (rows,) ndarray of int64
        Of all ratings that are reached, in order: how many are below the rating before the game,
        and below that after it.
    rated : (players,) ndarray of bool
        Who has a rating; changed.
    ranks : (rows,) ndarray of int64
        Changed.
    """
    tree = np.zeros(len(players) + 1, np.int64)
    gained = 0
    for game in range(len(ends) - 1):
        for row in range(ends[game], ends[game + 1]):
            if rated[players[row]]:
                _add(tree, left[row], -1)
            else:
                gained += 1
            rated[players[row]] = True
            _add(tree, reached[row], 1)
        for row in range(ends[game], ends[game + 1]):
            ranks[row] += gained - _upto(tree, reached[row])


@inlined
def _add(tree: Integers, place: int, change: int) -> None:
    """Change the count of a place in a Fenwick tree."""
    at = place + 1
    while at < len(tree):
        tree[at] += change
        at += at & -at


@inlined
def _upto(tree: Integers, place: int) -> int:
    """Return the sum of the counts of the places 0..place."""
    at, total = place + 1, 0
    while at > 0:
        total += tree[at]
        at -= at & -at
    return total
