"""The rating system trueskill."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from valmatch.compilation import inlined, njit
from valmatch.game_logs import openskill_models
from valmatch.game_logs.games import Games
from valmatch.game_logs.predictions import (
    after_burn_in,
    close_game,
    conservative,
    note_sides,
    open_game,
    sane_beliefs,
)
from valmatch.game_logs.system import Chances, Column, Parameter, Played, Players, System, Z
from valmatch.ratings import trueskill_teams
from valmatch.ratings.trueskill import normal_cdf

__all__ = ["SYSTEM", "TrueSkill"]

Floats = NDArray[np.float64]


class TrueSkill(System):
    """TrueSkill with draws; games of more than two sides need the `openskill` package.

    Those are rated by its Thurstone-Mosteller model, of the same skills and performances.
    """

    name = "trueskill"
    parameters = (
        Parameter("mu", 25.0, 1e-6, 1e6),
        Parameter("sigma", 25.0 / 3.0, 1e-6, 1e6),
        Parameter("beta", 25.0 / 6.0, 1e-6, 1e6),
        Parameter("tau", 25.0 / 300.0, 0.0, 1e6),
        Parameter("draw_probability", 0.1, 0.0, 0.99),
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
        quantile = trueskill_teams.margin_quantile(values["draw_probability"])
        beta, tau = values["beta"], values["tau"]
        done = 0
        for crowd in [*np.flatnonzero(np.diff(games.game_starts) > 2), games.n_games]:
            _play_trueskill(games, players, burn_in, beta, tau, quantile, done, crowd, played)
            if crowd < games.n_games:
                sides = games.game_starts[crowd + 1] - games.game_starts[crowd]
                what = f"trueskill: a game of {sides} sides"
                model = openskill_models.model("ThurstoneMostellerFull", values, what)
                openskill_models.rate(model, games, players, burn_in, int(crowd), played)
            done = crowd + 1

    def predict(self, values: Mapping[str, float], games: Games, players: Players) -> Chances:
        """Predict games of two sides, see `System.predict`."""
        played = self.foresee(values, games, players)
        lead = played.strengths[::2] - played.strengths[1::2]
        variance = played.spreads[::2] + played.spreads[1::2]
        noise = values["beta"] * np.sqrt(np.diff(games.side_starts[games.game_starts]))
        margin = trueskill_teams.margin_quantile(values["draw_probability"]) * noise

        def wins(lead: Floats, deviation: Floats) -> Floats:
            return np.array([normal_cdf(x) for x in ((lead - margin) / deviation).tolist()])

        won = wins(lead, np.sqrt(variance + noise * noise))
        low, high = (wins(lead + side * np.sqrt(variance), noise) for side in (-Z, Z))
        expected = played.expected[::2]
        return Chances(expected, won, 2.0 * (expected - won), low, high)


@njit
def _play_trueskill(
    games: Games,
    players: Players,
    burn_in: int,
    beta: float,
    tau: float,
    quantile: float,
    begin: int,
    end: int,
    played: Played,
) -> None:
    """Predict and rate the games begin..end-1, all of two sides, by TrueSkill.

    Every variance grows by tau^2 before a game, which the prediction takes into account.
    """
    for game in range(begin, end):
        a = games.game_starts[game]
        lo, middle, hi = (
            games.side_starts[a],
            games.side_starts[a + 1],
            games.side_starts[a + 2],
        )
        _sum_beliefs(games, players, tau, a, played)
        _sum_beliefs(games, players, tau, a + 1, played)
        lead = played.strengths[a] - played.strengths[a + 1]
        variance = played.spreads[a] + played.spreads[a + 1]
        expected, draw = trueskill_teams.chances(lead, variance, hi - lo, beta, quantile)
        rows = after_burn_in(games, players, burn_in, lo, hi)
        open_game(games, game, played)
        loss = note_sides(games, a, a + 1, expected, draw, rows, 1.0, played)
        close_game(game, loss, rows, played)
        score = played.scored[a]
        sign = -1.0 if score == 0.0 else 1.0
        step, shrink = trueskill_teams.pulls(
            sign * lead, variance, hi - lo, beta, quantile, score == 0.5
        )
        for row in range(lo, hi):
            player = games.players[row]
            belief = players.state[player]
            pull = sign * step if row < middle else -sign * step
            skill = belief[1] * belief[1] + tau * tau
            belief[0] += skill * pull
            belief[1] = math.sqrt(skill * (1.0 - skill * shrink))
            played.after[row] = belief[0] - 3.0 * belief[1]
            players.games[player] += 1


@inlined
def _sum_beliefs(games: Games, players: Players, tau: float, side: int, played: Played) -> None:
    """Sum up the means and the variances of a side's players."""
    mean = variance = 0.0
    for row in range(games.side_starts[side], games.side_starts[side + 1]):
        belief = players.state[games.players[row]]
        mean += belief[0]
        variance += belief[1] * belief[1] + tau * tau
        played.before[row] = belief[0] - 3.0 * belief[1]
    played.strengths[side], played.spreads[side] = mean, variance


SYSTEM = TrueSkill()
