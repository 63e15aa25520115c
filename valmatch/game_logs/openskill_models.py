"""Games of more than two sides rated by models of the openskill library."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations, pairwise
from typing import Any

from valmatch.errors import InputError
from valmatch.game_logs.scores import Played, note_game, note_pair
from valmatch.ratings.games import Games, Players, add_scores, open_game
from valmatch.ratings.system import System


def play(
    system: System,
    values: Mapping[str, float],
    games: Games,
    players: Players,
    burn_in: int,
    game: int,
    played: Played,
) -> None:
    """Predict and rate one game by the model that a system has for many sides.

    Parameters are those of `valmatch.game_logs.playing.play`, and the game.

    Raises
    ------
    InputError
        If the library is not installed, or its numbers overflow.
    """
    first, last = (int(side) for side in games.game_starts[game : game + 2])
    model = _model(system, values, f"{system.name}: a game of {last - first} sides")
    starts = games.side_starts[first : last + 1].tolist()
    numbers = [games.players[lo:hi].tolist() for lo, hi in pairwise(starts)]
    rows = slice(starts[0], starts[-1])
    flat = games.players[rows]
    played.before[rows] = system.shown(players.state[flat])
    teams = [[model.create_rating(players.state[p].tolist()) for p in side] for side in numbers]
    points = games.points[first:last].tolist()
    in_tally = 2 if (players.games[flat] >= burn_in).all() else 1
    try:
        open_game(game, games, played.found)
        loss, weight = 0.0, 2.0 / (len(teams) * (len(teams) - 1))
        for a, b in combinations(range(len(teams)), 2):
            expected = model.predict_win([teams[a], teams[b]])[0]
            score = add_scores(first + a, first + b, expected, games, played.found)
            own = note_pair(played.tally, in_tally, expected, math.nan, score, weight)
            loss += weight * own
        played.losses[game] = loss
        note_game(played.tally, in_tally, loss)
        new = model.rate(teams, ranks=[-point for point in points])
    except ArithmeticError as error:
        raise InputError(
            f"openskill: {error} in a game of players with"
            f" mu {[[player.mu for player in side] for side in teams]}: too far apart for this"
            " system"
        ) from None
    players.state[flat] = [(player.mu, player.sigma) for side in new for player in side]
    players.games[flat] += 1
    played.after[rows] = system.shown(players.state[flat])


def _model(system: System, values: Mapping[str, float], what: str) -> Any:  # noqa: ANN401
    """Build the model of the library; `what` needs it, for the message."""
    try:
        from openskill import models
    except ImportError:
        raise InputError(
            f"{what} needs the openskill package (pip install 'valmatch[openskill]')"
        ) from None
    settings = {key: values[key] for key in ("mu", "sigma", "beta", "tau")}
    return getattr(models, system.crowd_model)(**settings)
