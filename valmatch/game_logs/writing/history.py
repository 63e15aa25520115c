"""The history of a rating: a row for each player of each game."""

from __future__ import annotations

from typing import TextIO

import numpy as np

from valmatch.game_logs.names import Texts
from valmatch.game_logs.reading.log import GameLog
from valmatch.game_logs.scores import Played
from valmatch.game_logs.writing.csv_text import lines, numerals, small_numerals, times
from valmatch.kernels.arrays import Floats, Ints
from valmatch.ratings.games import Games

TIME = "time"
COLUMNS = ("game", "player", "side", "expected", "score", "rating_before", "rating_after")
OF_ZONESTATS = ("score_per_hour", "rating_offset", "scale", "capped")


class HistoryWriter:
    """Writes ``history.csv``: a row for each player of each game, in play order.

    Columns: game, time (where the log has it), player, side (from 1), expected and score (the mean
    over the opposing sides of the predicted and of the actual score: 1, 0.5, 0), rating_before,
    rating_after. By zonestats also: score_per_hour, rating_offset (equation 4), scale (equation 5),
    capped (1 where it is less than 1).
    """

    def __init__(self, file: TextIO, log: GameLog, of_zonestats: bool) -> None:
        self._file, self._log, self._of_zonestats = file, log, of_zonestats
        game, *others = COLUMNS
        time = (TIME,) if log.timed else ()
        file.write(",".join((game, *time, *others, *(OF_ZONESTATS if of_zonestats else ()))) + "\n")

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
        if self._of_zonestats:
            columns += (
                numerals(games.rates),
                numerals(played.found.offsets),
                numerals(played.found.scales).at(game_of_row),
                small_numerals((played.found.scales < 1.0).astype(np.int64)).at(game_of_row),
            )
        self._file.write(lines(columns))


def titles(log: GameLog, games: Games) -> Texts:
    """Return the names of some games; without a column for it, their rows among the data."""
    names = log.game_names
    return names.cells(games.names) if names else numerals(games.names + 1)


def _scores(scored: Floats, opponents: Ints) -> Texts:
    """Return the mean scores of sides; of games of two sides there are three."""
    if (opponents == 1).all():
        return numerals(np.array([0.0, 0.5, 1.0])).at((2.0 * scored).astype(np.int64))
    return numerals(scored / opponents)
