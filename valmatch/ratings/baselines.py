"""Baselines of rating systems: a coin, and the better record so far."""

import math
from collections.abc import Sequence

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import macro
from valmatch.ratings.games import Assessment, Games, Players
from valmatch.ratings.system import Column, System, Values, Verbs


@macro
def _records(
    game: int, games: Games, players: Players, numbers: Floats, assessed: Assessment
) -> None:
    """Take the mean record of its players for each side; all are equal where none is noticed."""
    for side in range(games.game_starts[game], games.game_starts[game + 1]):
        lo, hi = games.side_starts[side], games.side_starts[side + 1]
        total = 0.0
        for row in range(lo, hi):
            player = games.players[row]
            total += (1.0 + players.state[player, 0]) / (2.0 + players.games[player])
        assessed.strengths[side] = total / (hi - lo) if numbers[0] > 0.0 else 0.5


@macro
def _log5(
    a: int, b: int, games: Games, numbers: Floats, assessed: Assessment
) -> tuple[float, float]:
    """Predict by the two records."""
    ahead = assessed.strengths[a] * (1.0 - assessed.strengths[b])
    behind = assessed.strengths[b] * (1.0 - assessed.strengths[a])
    return ahead / (ahead + behind), math.nan


@macro
def _add_scores(
    game: int, games: Games, players: Players, numbers: Floats, assessed: Assessment
) -> bool:
    """Add the mean score of the game to those of its players."""
    first, last = games.game_starts[game], games.game_starts[game + 1]
    for side in range(first, last):
        for row in range(games.side_starts[side], games.side_starts[side + 1]):
            players.state[games.players[row], 0] += assessed.scored[side] / (last - first - 1)
    return True


class Record(System):
    """The record so far, of which a coin takes no notice."""

    # A player's record is r = (1 + sum of the mean scores of their games) / (2 + games), a side's
    # the mean over its players; against a record s it should score r (1 - s) / (r (1 - s) + s (1 -
    # r)), Bill James's log5.

    parameters = ()
    columns = (Column("score"),)
    verbs = Verbs(_records, _log5, _add_scores)

    def __init__(self, name: str, noticed: bool) -> None:
        self.name, self._noticed = name, noticed

    def numbers(self, values: Values) -> Sequence[float]:
        """Return whether the record is noticed."""
        return [float(self._noticed)]

    def newcomer(self, values: Values) -> Sequence[float]:
        """Return the score of a player without a game."""
        return (0.0,)


COIN, RECORD = Record("coin", noticed=False), Record("better record", noticed=True)
