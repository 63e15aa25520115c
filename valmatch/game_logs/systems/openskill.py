"""The rating system openskill."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from valmatch.game_logs import openskill_models
from valmatch.game_logs.games import Games
from valmatch.game_logs.predictions import conservative, sane_beliefs
from valmatch.game_logs.system import Chances, Column, Parameter, Played, Players, System, Z
from valmatch.ratings.trueskill import normal_cdf

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
    adds_up = True
    tuned_first = ("mu", "sigma", "beta")

    def sane(
        self, name: str, values: Mapping[str, float], minutes: float
    ) -> tuple[float, float] | None:
        """Return the limits of a fit, see `System.sane`."""
        return sane_beliefs(name, values)

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

    def predict(self, values: Mapping[str, float], games: Games, players: Players) -> Chances:
        """Predict games of two sides, see `System.predict`."""
        beliefs = players.state[games.players]
        means = np.add.reduceat(beliefs[:, 0], games.side_starts[:-1])
        variances = np.add.reduceat(beliefs[:, 1] ** 2, games.side_starts[:-1])
        lead, deviation = means[::2] - means[1::2], np.sqrt(variances[::2] + variances[1::2])
        noise = math.sqrt(2.0) * values["beta"]  # as the library has it, whatever the teams
        low, high = (
            np.array([normal_cdf(x) for x in ((lead + side * deviation) / noise).tolist()])
            for side in (-Z, Z)
        )
        expected = self.foresee(values, games, players).expected[::2]
        return Chances(expected, expected, np.full(games.n_games, np.nan), low, high)


SYSTEM = OpenSkill()
