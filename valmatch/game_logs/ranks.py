"""The rank of every player after each of his games."""

from __future__ import annotations

import math

import numpy as np

from valmatch.arrays import Floats, Ints
from valmatch.game_logs.scores import Played
from valmatch.kernels.compilation import inlined, njit
from valmatch.ratings.games import Games


class Ranks:
    """The ranks of rated players in the course of a log: 1 for the best, equal ratings share one.

    Parameters
    ----------
    ratings : (players,) ndarray of float64
        Ratings before the first game; NaN of players who have none yet.
    """

    def __init__(self, ratings: Floats) -> None:
        self._ratings = ratings

    def after(self, games: Games, played: Played) -> Ints:
        """Return the rank of each row's player after its game, (rows,), for the next games.

        Ranks among those before the first of the games, counted once, are corrected by what has
        changed since.
        """
        missing = int(games.players.max()) + 1 - len(self._ratings)
        if missing > 0:
            more = np.full(max(missing, len(self._ratings)), np.nan)
            self._ratings = np.concatenate([self._ratings, more])
        standing = np.sort(self._ratings[~np.isnan(self._ratings)])
        order = np.argsort(played.after)
        marks = played.after[order]
        ranks = np.empty_like(order)
        ranks[order] = 1 + len(standing) - np.searchsorted(standing, marks, side="right")
        ends = games.side_starts[games.game_starts]
        _correct(games.players, ends, self._ratings, order, marks, ranks)
        self._ratings[games.players] = played.after  # of several games of a player the last stays
        return ranks


@njit
def _correct(
    players: Ints,
    ends: Ints,
    ratings: Floats,
    order: Ints,
    marks: Floats,
    ranks: Ints,
) -> None:
    """Add to each rank how many more players than at the start are above it after the game.

    Parameters
    ----------
    players : (rows,) ndarray of int64
        Number of each row's player.
    ends : (games + 1,) ndarray of int64
        First row of each game, and the end of the last.
    ratings : (players,) ndarray of float64
        Ratings at the start, NaN for none.
    order, marks : (rows,) ndarrays of int64 and float64
        Rows by the rating after their games, and these ratings.
    ranks : (rows,) ndarray of int64
        Changed.
    """
    places = np.empty(len(players), np.int64)  # of each row: how many marks are below its own
    place = 0
    for k in range(len(order)):
        if marks[k] != marks[place]:
            place = k
        places[order[k]] = place
    stands = np.full(len(ratings), -1, np.int64)  # the same of each player, once he has played
    counts = np.zeros(len(players) + 1, np.int64)
    gained = 0
    for game in range(len(ends) - 1):
        for row in range(ends[game], ends[game + 1]):
            player = players[row]
            if stands[player] >= 0:
                _add(counts, stands[player], -1)
            elif math.isnan(ratings[player]):
                gained += 1
            else:
                _add(counts, _below(marks, ratings[player]), -1)
            stands[player] = places[row]
            _add(counts, places[row], 1)
        for row in range(ends[game], ends[game + 1]):
            ranks[row] += gained - _upto(counts, places[row])


@inlined
def _below(marks: Floats, rating: float) -> int:
    """Return how many marks, in order, are below a rating.

    With numpy's search every start would load the algebra of numba and scipy.
    """
    low, high = 0, len(marks)
    while low < high:
        middle = (low + high) // 2
        if marks[middle] < rating:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def _add(counts: Ints, place: int, change: int) -> None:
    """Change the count of a place in a Fenwick tree."""
    at = place + 1
    while at < len(counts):
        counts[at] += change
        at += at & -at


@inlined
def _upto(counts: Ints, place: int) -> int:
    """Return the sum of the counts of the places 0..place."""
    at, total = place + 1, 0
    while at > 0:
        total += counts[at]
        at -= at & -at
    return total
