"""The rating system openskill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from valmatch.game_logs import openskill_models
from valmatch.game_logs.games import Games
from valmatch.game_logs.predictions import conservative
from valmatch.game_logs.system import Column, Parameter, Played, Players, System

__all__ = ["SYSTEM", "OpenSkill"]

Floats = NDArray[np.float64]


class OpenSkill(System):
    """The Plackett-Luce model of openskill, for any number of sides."""

    name = "openskill"
    parameters = (
        Parameter("mu", 25.0, 1e-6, 1e6),
        Parameter("sigma", 25.0 / 3.0, 1e-6, 1e6),
        Parameter("beta", 25.0 / 6.0, 1e-6, 1e6),
        Parameter("tau", 25.0 / 300.0, 0.0, 1e6),
    )
    unit = ("mu", "sigma", "beta", "tau")
    columns = (Column("mu"), Column("sigma", 1e-12, 1e12))
    most_players = openskill_models.MOST_PLAYERS
    pairs_at_once = openskill_models.PAIRS_AT_ONCE

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
        model = openskill_models.model("PlackettLuce", values, "the system openskill")
        for game in range(games.n_games):
            openskill_models.rate(model, games, players, burn_in, game, played)


SYSTEM = OpenSkill()
