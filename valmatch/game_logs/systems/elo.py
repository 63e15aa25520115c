"""The rating system elo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from valmatch.compilation import njit
from valmatch.game_logs.games import Games
from valmatch.game_logs.predictions import predict_by_means
from valmatch.game_logs.system import Column, Parameter, Played, Players, System
from valmatch.ratings import elo

__all__ = ["SYSTEM", "Elo"]


class Elo(System):
    """Elo; a side plays by its mean rating, and its players all gain the same."""

    name = "elo"
    parameters = (Parameter("scale", elo.SCALE, 1e-3, 1e6), Parameter("K", elo.K, 1e-6, 1e6))
    unit = ("scale", "K")
    columns = (Column("rating"),)
    tuned_first = ("K",)

    def newcomer(self, values: Mapping[str, float]) -> Sequence[float]:
        """Return the rating of a player without a game."""
        return (elo.INITIAL_RATING,)

    def play(
        self,
        values: Mapping[str, float],
        games: Games,
        players: Players,
        burn_in: int,
        played: Played,
    ) -> None:
        """Predict and rate games, see `System.play`."""
        _play_elo(games, players, burn_in, values["scale"], values["K"], played)


@njit
def _play_elo(
    games: Games, players: Players, burn_in: int, scale: float, k: float, played: Played
) -> None:
    """Predict and rate games by Elo."""
    for game in range(len(games.names)):
        predict_by_means(games, players, burn_in, game, elo.spread(scale), played)
        first, last = games.game_starts[game], games.game_starts[game + 1]
        for side in range(first, last):
            gain = elo.change(played.scored[side], played.expected[side], last - first - 1, k)
            for row in range(games.side_starts[side], games.side_starts[side + 1]):
                played.after[row] = played.before[row] + gain
                players.state[games.players[row], 0] = played.after[row]
                players.games[games.players[row]] += 1


SYSTEM = Elo()
