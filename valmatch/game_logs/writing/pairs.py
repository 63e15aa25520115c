"""The contests of a rating by ZoneStats: a row for each pair of opponents of each game."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TextIO

import numpy as np

from valmatch.game_logs.reading.log import GameLog
from valmatch.game_logs.scores import Played
from valmatch.game_logs.writing.csv_text import lines, numerals
from valmatch.game_logs.writing.history import titles
from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import njit
from valmatch.ratings.games import Games
from valmatch.ratings.zonestats import pairwise_result, predicted_outcome, time_scaled

COLUMNS = ("game", "player", "opponent", "expected", "score", "minutes", "points")

_AT_ONCE = 1 << 16  # pairs that are held


class PairsWriter:
    """Writes ``pairs.csv``: a row for each pair of opponents of each game, in play order.

    Columns: game, player, opponent, expected (equation 1), score of the player (1, 0.5, 0),
    minutes that count, points that the player gains from the opponent before the cap (equation 3).
    The rating_offset of a player in ``history.csv`` is the sum of his points, less that of the
    points where he is the opponent.
    """

    def __init__(
        self,
        file: TextIO,
        log: GameLog,
        values: Mapping[str, float],
        stop: Callable[[], bool],
        raw_names: bool = True,
    ) -> None:
        self._file, self._raw = file, raw_names
        self._log = log
        self._numbers = (values["T"], values["GAME_MULT"], values["MAX_GAME_LENGTH"])
        self._stop = stop
        file.write(",".join(COLUMNS) + "\n")

    def append(self, games: Games, played: Played) -> None:
        """Write the contests of some games, few at a time."""
        ends = games.side_starts[games.game_starts]
        game_of_row = np.repeat(np.arange(games.n_games), np.diff(ends))
        n_rows = len(game_of_row)
        upto = np.cumsum(ends[1:][game_of_row] - np.arange(n_rows) - 1)
        first, before = 0, 0
        while first < n_rows:
            if self._stop():
                raise KeyboardInterrupt
            last = max(first + 1, int(np.searchsorted(upto, before + _AT_ONCE, side="right")))
            rows = np.empty((2, int(upto[last - 1]) - before), np.int64)
            numbers = np.empty((4, rows.shape[1]))
            n = _contests(
                games,
                played.before,
                ends[1:][game_of_row[first:last]],
                first,
                *self._numbers,
                rows,
                numbers,
            )
            if n:
                first_rows, second_rows = rows[:, :n]
                players = self._log.players
                columns = (
                    titles(self._log, games).at(game_of_row[first_rows]),
                    players.cells(games.players[first_rows]),
                    players.cells(games.players[second_rows]),
                    *map(numerals, numbers[:, :n]),
                )
                self._file.write(lines(columns, self._raw))
            first, before = last, int(upto[last - 1])


@njit
def _contests(
    games: Games,
    ratings: Floats,
    ends: Ints,
    first: int,
    t: float,
    game_mult: float,
    max_game_length: float,
    rows: Ints,
    numbers: Floats,
) -> int:
    """Work out the contests of some rows with the later rows of their games; return how many.

    Shapes: `ratings` (all rows,); `ends` (rows,); `rows` (2, at least contests); `numbers` (4, at
    least contests).
    """
    n = 0
    for k in range(len(ends)):
        i = first + k
        for j in range(i + 1, ends[k]):
            if games.sides[i] == games.sides[j]:
                continue
            expected = predicted_outcome(ratings[i], ratings[j], t)
            result = pairwise_result(games.rates[i], games.rates[j], expected)
            rows[0, n], rows[1, n] = i, j
            numbers[0, n] = expected
            numbers[1, n] = pairwise_result(games.rates[i], games.rates[j], 0.0)
            numbers[2, n] = min(max_game_length, games.minutes[i], games.minutes[j])
            numbers[3, n] = time_scaled(
                result, games.minutes[i], games.minutes[j], game_mult, max_game_length
            )
            n += 1
    return n
