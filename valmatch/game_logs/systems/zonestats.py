"""The rating system zonestats."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from valmatch.compilation import njit
from valmatch.game_logs.games import Games
from valmatch.game_logs.predictions import predict_by_means
from valmatch.game_logs.system import Column, Parameter, Played, Players, System
from valmatch.ratings import zonestats
from valmatch.ratings.zonestats_cap import EVERY_PLAYER, MOST_DISTANT

__all__ = ["SYSTEM", "ZoneStats"]


class ZoneStats(System):
    """The pairwise logistic rule of ZoneStats; a side is predicted by its mean rating.

    Parameters
    ----------
    cap : str
        What caps a game, see `valmatch.ratings.zonestats_cap.Cap`.
    """

    name = "zonestats"
    parameters = (
        Parameter("T", zonestats.T, 1e-3, 1e6),
        Parameter("GAME_MULT", zonestats.GAME_MULT, 1e-6, 1e6),
        Parameter("MAX_GAME_LENGTH", zonestats.MAX_GAME_LENGTH, 1e-3, 1e6),
    )
    unit = ("T", "GAME_MULT")
    columns = (Column("rating"),)
    tuned_first = ("GAME_MULT",)

    def __init__(self, cap: str = MOST_DISTANT) -> None:
        self._every_player = cap == EVERY_PLAYER

    def sane(
        self, name: str, values: Mapping[str, float], minutes: float
    ) -> tuple[float, float] | None:
        """Return the limits of a fit, see `System.sane`: those of Elo, for a usual game."""
        scale, counted = values["T"] * math.log(10.0), min(minutes, values["MAX_GAME_LENGTH"])
        most = values["GAME_MULT"] * counted / math.log(10.0)  # points of a game, in units of T
        ranges = {
            "T": (2.0 * most, 1000.0 * most),
            "GAME_MULT": (scale / 1000.0 / counted, scale / 2.0 / counted),
        }
        return ranges.get(name)

    def newcomer(self, values: Mapping[str, float]) -> Sequence[float]:
        """Return the rating of a player without a game (step 2)."""
        return (zonestats.INITIAL_RATING,)

    def play(
        self,
        values: Mapping[str, float],
        games: Games,
        players: Players,
        burn_in: int,
        played: Played,
    ) -> None:
        """Predict and rate games, see `System.play`."""
        numbers = (values["T"], values["GAME_MULT"], values["MAX_GAME_LENGTH"])
        _play_zonestats(games, players, burn_in, *numbers, self._every_player, played)


@njit
def _play_zonestats(
    games: Games,
    players: Players,
    burn_in: int,
    t: float,
    game_mult: float,
    max_game_length: float,
    every_player: bool,
    played: Played,
) -> None:
    """Predict and rate games by ZoneStats."""
    adjustments = np.empty(len(games.players))
    for game in range(len(games.names)):
        predict_by_means(games, players, burn_in, game, t, 0.0, 0.0, played)
        lo = games.side_starts[games.game_starts[game]]
        hi = games.side_starts[games.game_starts[game + 1]]
        played.scales[game] = zonestats.adjust(
            played.before[lo:hi],
            games.rates[lo:hi],
            games.minutes[lo:hi],
            games.sides[lo:hi],
            t,
            game_mult,
            max_game_length,
            every_player,
            played.offsets[lo:hi],
            adjustments[lo:hi],
        )
        for row in range(lo, hi):
            played.after[row] = played.before[row] + adjustments[row]
            players.state[games.players[row], 0] = played.after[row]
            players.games[games.players[row]] += 1


SYSTEM = ZoneStats()
