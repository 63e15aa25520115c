"""Games rated by models of the openskill library."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations, pairwise
from typing import Any

from valmatch.errors import InputError
from valmatch.game_logs.games import Games
from valmatch.game_logs.predictions import (
    after_burn_in,
    close_game,
    conservative,
    note_sides,
    open_game,
)
from valmatch.game_logs.system import Played, Players

__all__ = ["MOST_PLAYERS", "PAIRS_AT_ONCE", "model", "rate"]

MOST_PLAYERS = 500
"""Players of a game, which the library rates in seconds."""

PAIRS_AT_ONCE = 2_000
"""Pairs of players that the library rates in a fraction of a second."""


def model(name: str, values: Mapping[str, float], what: str) -> Any:  # noqa: ANN401
    """Build a model of the library.

    Parameters
    ----------
    name : str
        Its class.
    values : mapping
        Parameters, among them mu, sigma, beta, tau.
    what : str
        What needs it, for the message.

    Raises
    ------
    InputError
        If the library is not installed.
    """
    try:
        from openskill import models
    except ImportError:
        raise InputError(
            f"{what} needs the openskill package (pip install 'valmatch[openskill]')"
        ) from None
    settings = {key: values[key] for key in ("mu", "sigma", "beta", "tau")}
    return getattr(models, name)(**settings)


def rate(
    model: Any,  # noqa: ANN401
    games: Games,
    players: Players,
    burn_in: int,
    game: int,
    played: Played,
) -> None:
    """Predict and rate one game by a model of the library."""
    first, last = (int(side) for side in games.game_starts[game : game + 2])
    starts = games.side_starts[first : last + 1].tolist()
    numbers = [games.players[lo:hi].tolist() for lo, hi in pairwise(starts)]
    rows = slice(starts[0], starts[-1])
    flat = games.players[rows]
    played.before[rows] = conservative(players.state[flat])
    teams = [[model.create_rating(players.state[p].tolist()) for p in side] for side in numbers]
    points = games.points[first:last].tolist()
    in_tally = after_burn_in(games, players, burn_in, *starts[:: len(starts) - 1])
    try:
        open_game(games, game, played)
        loss, weight = 0.0, 2.0 / (len(teams) * (len(teams) - 1))
        for a, b in combinations(range(len(teams)), 2):
            expected = model.predict_win([teams[a], teams[b]])[0]
            two = (first + a, first + b)
            loss += note_sides(games, *two, expected, math.nan, in_tally, weight, played)
        close_game(game, loss, in_tally, played)
        new = model.rate(teams, ranks=[-point for point in points])
    except ArithmeticError as error:
        raise InputError(
            f"openskill: {error} in a game of players with"
            f" mu {[[one.mu for one in side] for side in teams]}: too far apart for this system"
        ) from None
    players.state[flat] = [(one.mu, one.sigma) for side in new for one in side]
    players.games[flat] += 1
    played.after[rows] = conservative(players.state[flat])
