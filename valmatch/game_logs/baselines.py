"""Predictions that every rating system should beat: a coin, and the better record so far."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from valmatch.compilation import njit
from valmatch.game_logs.games import Games
from valmatch.game_logs.predictions import after_burn_in, close_game, note_sides, open_game
from valmatch.game_logs.system import Column, Played, Players, System

__all__ = ["COIN", "RECORD", "Record"]


class Record(System):
    """The record so far, of which a coin takes no notice.

    A player's record is r = (1 + sum of the mean scores of his games) / (2 + games), a side's the
    mean over its players; against a record s it should score r (1 - s) / (r (1 - s) + s (1 - r)),
    Bill James's log5.

    Parameters
    ----------
    name : str
        What tables call it.
    noticed : bool
        Whether the record counts; else all sides are equal.
    """

    parameters = ()
    unit = ()
    columns = (Column("score"),)

    def __init__(self, name: str, noticed: bool) -> None:
        self.name = name
        self._noticed = noticed

    def newcomer(self, values: Mapping[str, float]) -> Sequence[float]:
        """Return the score of a player without a game."""
        return (0.0,)

    def play(
        self,
        values: Mapping[str, float],
        games: Games,
        players: Players,
        burn_in: int,
        played: Played,
    ) -> None:
        """Predict games and count their scores, see `System.play`."""
        _play_record(games, players, burn_in, self._noticed, played)


@njit
def _play_record(
    games: Games, players: Players, burn_in: int, noticed: bool, played: Played
) -> None:
    """Predict games by the record before them, and add to it."""
    for game in range(len(games.names)):
        first, last = games.game_starts[game], games.game_starts[game + 1]
        lo, hi = games.side_starts[first], games.side_starts[last]
        for side in range(first, last):
            total = 0.0
            for row in range(games.side_starts[side], games.side_starts[side + 1]):
                player = games.players[row]
                played.before[row] = players.state[player, 0]
                total += (1.0 + played.before[row]) / (2.0 + players.games[player])
            size = games.side_starts[side + 1] - games.side_starts[side]
            played.strengths[side] = total / size if noticed else 0.5
        open_game(games, game, played)
        rows = after_burn_in(games, players, burn_in, lo, hi)
        weight = 2.0 / ((last - first) * (last - first - 1))
        loss = 0.0
        for a in range(first, last):
            for b in range(a + 1, last):
                ahead = played.strengths[a] * (1.0 - played.strengths[b])
                behind = played.strengths[b] * (1.0 - played.strengths[a])
                expected = ahead / (ahead + behind)
                loss += note_sides(games, a, b, expected, math.nan, rows, weight, played)
        close_game(game, loss, rows, played)
        for side in range(first, last):
            for row in range(games.side_starts[side], games.side_starts[side + 1]):
                player = games.players[row]
                played.after[row] = played.before[row] + played.scored[side] / (last - first - 1)
                players.state[player, 0] = played.after[row]
                players.games[player] += 1


COIN = Record("coin", noticed=False)

RECORD = Record("better record", noticed=True)
