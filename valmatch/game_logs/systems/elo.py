"""The rating system elo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from valmatch.compilation import njit
from valmatch.game_logs.games import Games
from valmatch.game_logs.predictions import predict_by_means
from valmatch.game_logs.system import Chances, Column, Parameter, Played, Players, System
from valmatch.ratings import davidson, elo

__all__ = ["SYSTEM", "Elo"]


class Elo(System):
    """Elo; a side plays by its mean rating, and its players all gain the same.

    A side at home plays as if it had `home_advantage` points more, unless the game is on neutral
    ground. With a `draw_probability`, that of a draw between equals, draws are predicted by
    Davidson's model, by whose `scale` a side wins ten times as often as it loses: the expected
    score then grows more slowly with the lead, so that ratings and advantages come out larger, see
    `valmatch.ratings.davidson.share_of_slope`.
    """

    name = "elo"
    parameters = (
        Parameter("scale", elo.SCALE, 1e-3, 1e6),
        Parameter("K", elo.K, 1e-6, 1e6),
        Parameter("home_advantage", 0.0, -1e6, 1e6),
        Parameter("draw_probability", 0.0, 0.0, 0.99),
    )
    unit = ("scale", "K", "home_advantage")
    columns = (Column("rating"),)
    tuned_first = ("K",)

    def searched(self, name: str, values: Mapping[str, float]) -> tuple[float, float] | None:
        """Return where a fit looks for a parameter, see `System.searched`."""
        ranges = {
            "home_advantage": (-values["scale"], values["scale"]),
            "draw_probability": (1e-3, 0.99),
        }
        return ranges.get(name)

    def sane(
        self, name: str, values: Mapping[str, float], minutes: float
    ) -> tuple[float, float] | None:
        """Return the limits of a fit, see `System.sane`.

        With a K of half the scale, one win between new players makes the next one a matter of three
        in four; with a thousandth, a hundred wins leave it open.
        """
        ranges = {
            "scale": (2.0 * values["K"], 1000.0 * values["K"]),
            "K": (values["scale"] / 1000.0, values["scale"] / 2.0),
        }
        return ranges.get(name)

    def remark(self, values: Mapping[str, float]) -> str:
        """Say that draws stretch the scale, see `System.remark`."""
        draws = values["draw_probability"]
        if not draws:
            return ""
        share = davidson.share_of_slope(draws)
        return (
            f"draw_probability = {draws:.4g} stretches the scale of elo: between equals 100 points"
            f" are worth what {100.0 * share:.3g} are without draws, home_advantage included (with"
            f" scale = {values['scale'] * share:.4g} in place of {values['scale']:.4g} points keep"
            " their meaning)"
        )

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
        nu = davidson.weight_of_draws(values["draw_probability"])
        numbers = (values["scale"], values["K"], values["home_advantage"], nu)
        _play_elo(games, players, burn_in, *numbers, played)

    def predict(self, values: Mapping[str, float], games: Games, players: Players) -> Chances:
        """Predict games of two sides, see `System.predict`."""
        played = self.foresee(values, games, players)
        expected, unknown = played.expected[::2], np.full(games.n_games, np.nan)
        nu = davidson.weight_of_draws(values["draw_probability"])
        if not nu:
            return Chances(expected, expected, unknown, unknown, unknown)
        lead = (played.strengths[::2] - played.strengths[1::2]) / elo.spread(values["scale"])
        draws = np.array([davidson.chances(one, nu)[1] for one in lead.tolist()])
        return Chances(expected, expected - 0.5 * draws, draws, unknown, unknown)


@njit
def _play_elo(
    games: Games,
    players: Players,
    burn_in: int,
    scale: float,
    k: float,
    home_advantage: float,
    nu: float,
    played: Played,
) -> None:
    """Predict and rate games by Elo."""
    spread = elo.spread(scale)
    for game in range(len(games.names)):
        predict_by_means(games, players, burn_in, game, spread, home_advantage, nu, played)
        first, last = games.game_starts[game], games.game_starts[game + 1]
        for side in range(first, last):
            gain = elo.change(played.scored[side], played.expected[side], last - first - 1, k)
            for row in range(games.side_starts[side], games.side_starts[side + 1]):
                played.after[row] = played.before[row] + gain
                players.state[games.players[row], 0] = played.after[row]
                players.games[games.players[row]] += 1


SYSTEM = Elo()
