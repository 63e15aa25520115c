"""Rating through the openskill library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valmatch.errors import InputError
from valmatch.game_logs.games import Games
from valmatch.game_logs.scores import note_game, note_pair
from valmatch.game_logs.systems import Parameter, Played, Players, after_burn_in, conservative

__all__ = ["OpenSkill", "rate_crowd"]

Floats = NDArray[np.float64]


class OpenSkill:
    """The Plackett-Luce model of openskill, for any number of sides."""

    name = "openskill"
    parameters = (
        Parameter("mu", 25.0, 1e-6, 1e6),
        Parameter("sigma", 25.0 / 3.0, 1e-6, 1e6),
        Parameter("beta", 25.0 / 6.0, 1e-6, 1e6),
        Parameter("tau", 25.0 / 300.0, 0.0, 1e6),
    )
    unit = ("mu", "sigma", "beta", "tau")
    columns = ("mu", "sigma")

    def newcomer(self, values: Mapping[str, float]) -> Sequence[float]:
        """Return mean and standard deviation of the belief about a player without a game."""
        return (values["mu"], values["sigma"])

    def shown(self, state: Floats) -> Floats:
        """Return mu - 3 sigma."""
        return conservative(state)

    def play(
        self,
        values: Mapping[str, float],
        games: Games,
        players: Players,
        burn_in: int,
        played: Played,
    ) -> None:
        """Predict and rate games, see `System.play`."""
        model = _model("PlackettLuce", values, "the system openskill")
        for game in range(games.n_games):
            _rate(model, games, players, burn_in, game, played)


def rate_crowd(
    values: Mapping[str, float],
    games: Games,
    players: Players,
    burn_in: int,
    game: int,
    played: Played,
) -> None:
    """Predict and rate one game of more than two sides for the system trueskill."""
    sides = int(games.game_starts[game + 1] - games.game_starts[game])
    model = _model("ThurstoneMostellerFull", values, f"trueskill: a game of {sides} sides")
    _rate(model, games, players, burn_in, game, played)


def _model(name: str, values: Mapping[str, float], what: str) -> Any:  # noqa: ANN401
    """Build a model of the library."""
    try:
        from openskill import models
    except ImportError:
        raise InputError(
            f"{what} needs the openskill package (pip install 'valmatch[openskill]')"
        ) from None
    settings = {key: values[key] for key in ("mu", "sigma", "beta", "tau")}
    return getattr(models, name)(**settings)


def _rate(
    model: Any,  # noqa: ANN401
    games: Games,
    players: Players,
    burn_in: int,
    game: int,
    played: Played,
) -> None:
    """Predict and rate one game."""
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
        _predict(model.predict_win, teams, points, in_tally, game, first, played)
        new = model.rate(teams, ranks=[-point for point in points])
    except ArithmeticError as error:
        raise InputError(
            f"openskill: {error} in a game of players with"
            f" mu {[[one.mu for one in side] for side in teams]}: too far apart for this system"
        ) from None
    players.state[flat] = [(one.mu, one.sigma) for side in new for one in side]
    players.games[flat] += 1
    played.after[rows] = conservative(players.state[flat])


def _predict(
    predict_win: Callable[[Any], Sequence[float]],
    teams: Sequence[Sequence[object]],
    points: Sequence[float],
    in_tally: int,
    game: int,
    first: int,
    played: Played,
) -> None:
    """Predict every pair of sides."""
    n = len(teams)
    weight = 2.0 / (n * (n - 1))
    played.expected[first : first + n] = played.scored[first : first + n] = 0.0
    loss = 0.0
    for a in range(n):
        for b in range(a + 1, n):
            expected = predict_win([teams[a], teams[b]])[0]
            score = 0.5 if points[a] == points[b] else float(points[a] > points[b])
            for side, share, got in ((a, expected, score), (b, 1.0 - expected, 1.0 - score)):
                played.expected[first + side] += share
                played.scored[first + side] += got
            loss += weight * note_pair(played.tally, in_tally, expected, score, weight)
    played.losses[game] = loss
    note_game(played.tally, in_tally, loss)
