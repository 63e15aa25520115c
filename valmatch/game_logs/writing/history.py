"""The history of a rating: a row for each player of each game."""

from __future__ import annotations

import math
from typing import TextIO

import numpy as np

from valmatch.game_logs.names import Texts
from valmatch.game_logs.reading.log import GameLog
from valmatch.game_logs.scores import Played
from valmatch.game_logs.writing.csv_text import lines, numerals, small_numerals, times
from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import inlined, njit
from valmatch.ratings.games import Games

TIME = "time"
COLUMNS = ("game", "player", "side", "expected", "score", "rating_before", "rating_after")
OF_ZONESTATS = ("score_per_hour", "rating_offset", "scale", "capped", "rank_after")


class HistoryWriter:
    """Writes ``history.csv``: a row for each player of each game, in play order.

    Columns: game, time (where the log has it), player, side (from 1), expected and score (the mean
    over the opposing sides of the predicted and of the actual score: 1, 0.5, 0), rating_before,
    rating_after. By zonestats also: score_per_hour, rating_offset (equation 4), scale (equation 5),
    capped (1 where it is less than 1), rank_after among all players rated so far.

    Shapes: `ratings` (players,).
    """

    def __init__(
        self, file: TextIO, log: GameLog, ratings: Floats | None, raw_names: bool = True
    ) -> None:
        self._file, self._raw = file, raw_names
        self._log = log
        self._ranks = None if ratings is None else Ranks(ratings)
        game, *others = COLUMNS
        time = (TIME,) if log.timed else ()
        file.write(",".join((game, *time, *others, *(OF_ZONESTATS if self._ranks else ()))) + "\n")

    def append(self, games: Games, played: Played) -> None:
        """Write some games."""
        if not games.n_games:
            return
        sides = np.diff(games.game_starts)
        rows = np.diff(games.side_starts)
        opponents = np.repeat(sides - 1, sides)
        game_of_row = np.repeat(np.repeat(np.arange(games.n_games), sides), rows)
        side_of_row = np.repeat(np.arange(len(rows)), rows)
        columns: tuple[Texts, ...] = (titles(self._log, games).at(game_of_row),)
        if self._log.timed:
            columns += (times(games.times, self._log.dated).at(game_of_row),)
        columns += (
            self._log.players.cells(games.players),
            small_numerals(games.sides[games.side_starts[:-1]] + 1).at(side_of_row),
            numerals(played.found.expected / opponents).at(side_of_row),
            _scores(played.found.scored, opponents).at(side_of_row),
            numerals(played.before),
            numerals(played.after),
        )
        if self._ranks:
            columns += (
                numerals(games.rates),
                numerals(played.found.offsets),
                numerals(played.found.scales).at(game_of_row),
                small_numerals((played.found.scales < 1.0).astype(np.int64)).at(game_of_row),
                small_numerals(self._ranks.after(games, played)),
            )
        self._file.write(lines(columns, self._raw))


def titles(log: GameLog, games: Games) -> Texts:
    """Return the names of some games; without a column for it, their rows among the data."""
    names = log.game_names
    return names.cells(games.names) if names else numerals(games.names + 1)


def _scores(scored: Floats, opponents: Ints) -> Texts:
    """Return the mean scores of sides; of games of two sides there are three."""
    if (opponents == 1).all():
        return numerals(np.array([0.0, 0.5, 1.0])).at((2.0 * scored).astype(np.int64))
    return numerals(scored / opponents)


class Ranks:
    """The ranks of rated players in the course of a log: 1 for the best, equal ratings share one.

    Shapes: `ratings` (players,).
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

    Shapes: `players` (rows,); `ends` (games + 1,); `ratings` (players,); `order`, `marks` (rows,);
    `ranks` (rows,).
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
