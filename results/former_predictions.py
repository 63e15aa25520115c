"""Predictions that other packages made, declared like a rating system."""

from __future__ import annotations

import math
from collections.abc import Sequence

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import inlined
from valmatch.ratings.games import Assessment, Games, Players
from valmatch.ratings.system import Column, System, Values, Verbs


@inlined
def _look_up(game: int, games: Games, players: Players, numbers: Floats, found: Assessment) -> None:
    """Look up the expected score of the first side."""
    found.strengths[games.game_starts[game]] = numbers[games.names[game]]


@inlined
def _as_before(
    a: int, b: int, games: Games, numbers: Floats, found: Assessment
) -> tuple[float, float]:
    """Return the expected score of the first side."""
    return found.strengths[a], math.nan


@inlined
def _learn_nothing(
    game: int, games: Games, players: Players, numbers: Floats, found: Assessment
) -> bool:
    """Leave all players as they are."""
    return True


class FormerPredictions(System):
    """Predictions of games of two sides that were made before.

    Shapes: `expected` (games,).
    """

    parameters = ()
    columns = (Column("rating"),)
    verbs = Verbs(_look_up, _as_before, _learn_nothing)

    def __init__(self, name: str, expected: Floats) -> None:
        self.name = name
        self._expected = expected

    def newcomer(self, values: Values) -> Sequence[float]:
        """Return the state of a player without a game; it does not count."""
        return (0.0,)

    def numbers(self, values: Values) -> Floats:
        """Return the predictions."""
        return self._expected
