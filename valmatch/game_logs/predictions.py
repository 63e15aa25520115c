"""Bookkeeping of predictions, the same for every rating system.

A game is opened, the prediction of each pair of its sides is noted, and it is closed by its loss.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from valmatch.compilation import inlined
from valmatch.game_logs.games import Games
from valmatch.game_logs.scores import note_game, note_pair
from valmatch.game_logs.system import Played, Players
from valmatch.ratings.davidson import chances

__all__ = [
    "after_burn_in",
    "close_game",
    "conservative",
    "note_sides",
    "open_game",
    "predict_by_means",
    "sane_beliefs",
    "score_of",
]

Floats = NDArray[np.float64]


def conservative(state: Floats) -> Floats:
    """Return mu - 3 sigma of each player."""
    shown: Floats = state[:, 0] - 3.0 * state[:, 1]
    return shown


def sane_beliefs(name: str, values: Mapping[str, float]) -> tuple[float, float] | None:
    """Return where a fit of normal beliefs may find a parameter: within far, but not any, ratios.

    With a sigma of 20 beta one game decides all further ones; with a twentieth, none says anything.
    """
    sigma, beta = values["sigma"], values["beta"]
    ranges = {
        "sigma": (beta / 20.0, 20.0 * beta),
        "beta": (sigma / 20.0, 20.0 * sigma),
        "tau": (sigma / 1e4, sigma / 2.0),
    }
    return ranges.get(name)


@inlined
def after_burn_in(games: Games, players: Players, burn_in: int, lo: int, hi: int) -> int:
    """Return how many rows of the tally the rows lo..hi-1 count in: 2 after the burn-in, else 1."""
    for row in range(lo, hi):
        if players.games[games.players[row]] < burn_in:
            return 1
    return 2


@inlined
def score_of(games: Games, a: int, b: int) -> float:
    """Return the score of side `a` against side `b`."""
    if games.points[a] == games.points[b]:
        return 0.5
    return 1.0 if games.points[a] > games.points[b] else 0.0


@inlined
def open_game(games: Games, game: int, played: Played) -> None:
    """Begin a game: no side has an expected score or a score yet."""
    for side in range(games.game_starts[game], games.game_starts[game + 1]):
        played.expected[side] = played.scored[side] = 0.0


@inlined
def note_sides(
    games: Games,
    a: int,
    b: int,
    expected: float,
    draw: float,
    rows: int,
    weight: float,
    played: Played,
) -> float:
    """Note the prediction of side `a` against side `b`; return its part of the game's log loss.

    Parameters
    ----------
    games : Games
        The games.
    a, b : int
        Sides of one game.
    expected : float
        Predicted score of `a`, in [0, 1].
    draw : float
        Probability of a draw; NaN of a system that knows none.
    rows : int
        Rows of the tally that it counts in, see `after_burn_in`.
    weight : float
        1 / pairs of sides in the game.
    played : Played
        Added to.
    """
    score = score_of(games, a, b)
    played.expected[a] += expected
    played.expected[b] += 1.0 - expected
    played.scored[a] += score
    played.scored[b] += 1.0 - score
    return weight * note_pair(played.tally, rows, expected, draw, score, weight)


@inlined
def close_game(game: int, loss: float, rows: int, played: Played) -> None:
    """End a game whose pairs of sides have been noted."""
    played.losses[game] = loss
    note_game(played.tally, rows, loss)


@inlined
def predict_by_means(
    games: Games,
    players: Players,
    burn_in: int,
    game: int,
    spread: float,
    home_advantage: float,
    draw_weight: float,
    played: Played,
) -> None:
    """Predict a game by the logistic rule between the mean ratings of its sides.

    Parameters
    ----------
    games, players, burn_in, played
        As in `System.play`.
    game : int
        The game.
    spread : float
        The lead at which a side wins e times as often as it loses.
    home_advantage : float
        What the side at home is ahead by.
    draw_weight : float
        Of draws, see `valmatch.ratings.davidson`; 0: they are not predicted.
    """
    first, last = games.game_starts[game], games.game_starts[game + 1]
    for side in range(first, last):
        lo, hi = games.side_starts[side], games.side_starts[side + 1]
        total = 0.0
        for row in range(lo, hi):
            rating = players.state[games.players[row], 0]
            played.before[row] = rating
            total += rating
        played.strengths[side] = total / (hi - lo)
    if games.homes[game] >= 0:
        played.strengths[first + games.homes[game]] += home_advantage
    open_game(games, game, played)
    rows = after_burn_in(games, players, burn_in, games.side_starts[first], games.side_starts[last])
    weight = 2.0 / ((last - first) * (last - first - 1))
    loss = 0.0
    for a in range(first, last):
        for b in range(a + 1, last):
            lead = (played.strengths[a] - played.strengths[b]) / spread
            expected, draw = chances(lead, draw_weight)
            loss += note_sides(games, a, b, expected, draw, rows, weight, played)
    close_game(game, loss, rows, played)
