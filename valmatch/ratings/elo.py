"""The Elo rating of games between two or more sides of any size.

Source: Elo, "The Rating of Chessplayers, Past and Present" (1978). A side plays by its mean rating,
and its players all gain the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import part
from valmatch.ratings import davidson
from valmatch.ratings.games import Assessment, Games, Players
from valmatch.ratings.system import (
    Chances,
    Column,
    Factor,
    Parameter,
    Range,
    System,
    Values,
    Verbs,
    logistic_chances,
    mean_strengths,
)
from valmatch.ratings.zonestats import predicted_outcome

K = 32.0
SCALE = 400.0
INITIAL_RATING = 1500.0

_LN_10 = math.log(10.0)


@part(inline=True)
def spread(scale: float) -> float:
    """Return the T at which the logistic rule of ZoneStats is that of Elo: scale / ln 10."""
    return scale / _LN_10


@part(inline=True)
def expected_score(rating: float, opponents_rating: float, scale: float) -> float:
    """Return the expected score 1 / (1 + 10^((opponents_rating - rating) / scale)).

    Examples
    --------
    >>> round(expected_score(1700.0, 1500.0, 400.0), 4)
    0.7597
    """
    return predicted_outcome(rating, opponents_rating, spread(scale))


@part(inline=True)
def change(score: float, expected: float, opponents: int, k: float) -> float:
    """Return the points that every player of a side gains.

    Examples
    --------
    >>> round(change(1.0, expected_score(1700.0, 1500.0, 400.0), 1, 32.0), 4)
    7.6881
    """
    return k * (score - expected) / opponents


@part(inline=True)
def _strengths(
    game: int, games: Games, players: Players, numbers: Floats, found: Assessment
) -> None:
    """Take the mean ratings, and add the advantage of being at home."""
    mean_strengths(game, games, players, numbers, found)
    if games.homes[game] >= 0:
        found.strengths[games.game_starts[game] + games.homes[game]] += numbers[2]


@part(inline=True)
def _chances(
    a: int, b: int, games: Games, numbers: Floats, found: Assessment
) -> tuple[float, float]:
    """Predict by the logistic rule, or by Davidson's model."""
    return logistic_chances(a, b, numbers[0], numbers[3], found)


@part(inline=True)
def _update(game: int, games: Games, players: Players, numbers: Floats, found: Assessment) -> bool:
    """Let all players of a side gain the same."""
    first, last = games.game_starts[game], games.game_starts[game + 1]
    for side in range(first, last):
        gain = change(found.scored[side], found.expected[side], last - first - 1, numbers[1])
        for row in range(games.side_starts[side], games.side_starts[side + 1]):
            players.state[games.players[row], 0] += gain
    return True


class Elo(System):
    """Elo; a side plays by its mean rating, and its players all gain the same.

    A side at home plays as if it had `home_advantage` points more, unless the game is on neutral
    ground. With a `draw_probability`, that of a draw between equals, draws are predicted by
    Davidson's model, by whose `scale` a side wins ten times as often as it loses: the expected
    score then grows more slowly with the lead, so that ratings and advantages come out larger, see
    `valmatch.ratings.davidson.share_of_slope`.
    """

    name = "elo"
    parameters: Sequence[Parameter] = (
        Parameter(
            "scale",
            SCALE,
            1e-3,
            1e6,
            Factor(SCALE, "points", "Difference of ratings that predicts ten wins to one loss."),
        ),
        Parameter("K", K, 1e-6, 1e6, Factor(K, "points", "Most that a game can move a rating.")),
        Parameter("home_advantage", 0.0, -1e6, 1e6),
        Parameter("draw_probability", 0.0, 0.0, 0.99),
    )
    unit: Sequence[str] = ("scale", "K", "home_advantage")
    columns = (Column("rating"),)
    verbs = Verbs(_strengths, _chances, _update)
    tuned_first = ("K",)

    def newcomer(self, values: Values) -> Sequence[float]:
        """Return the rating of a player without a game."""
        return (INITIAL_RATING,)

    def numbers(self, values: Values) -> Sequence[float]:
        """Return spread, K, advantage at home and weight of draws, then parameters of others."""
        nu = davidson.weight_of_draws(values["draw_probability"])
        return [spread(values["scale"]), values["K"], values["home_advantage"], nu]

    def outcomes(self, values: Values, games: Games, state: Floats, found: Assessment) -> Chances:
        """Return how games of two sides will end, see `System.outcomes`."""
        expected, unknown = found.expected[::2], np.full(games.n_games, np.nan)
        nu = davidson.weight_of_draws(values["draw_probability"])
        if not nu:
            return Chances(expected, expected, unknown, unknown, unknown)
        lead = (found.strengths[::2] - found.strengths[1::2]) / spread(values["scale"])
        draws = np.array([davidson.chances(x, nu)[1] for x in lead.tolist()])
        return Chances(expected, expected - 0.5 * draws, draws, unknown, unknown)

    def searched(self, name: str, values: Values) -> Range | None:
        """Return where a fit looks for a parameter, see `System.searched`."""
        ranges = {
            "home_advantage": (-values["scale"], values["scale"]),
            "draw_probability": (1e-3, 0.99),
        }
        return ranges.get(name)

    def sane(self, name: str, values: Values, minutes: float) -> Range | None:
        """Return the limits of a fit, see `System.sane`.

        With a K of half the scale, one win between new players makes the next one a matter of three
        in four; with a thousandth, a hundred wins leave it open.
        """
        ranges = {
            "scale": (2.0 * values["K"], 1000.0 * values["K"]),
            "K": (values["scale"] / 1000.0, values["scale"] / 2.0),
        }
        return ranges.get(name)

    def remark(self, values: Values) -> str:
        """Say that draws stretch the scale, see `System.remark`."""
        draws = values["draw_probability"]
        if not draws:
            return ""
        share = davidson.share_of_slope(draws)
        return (
            f"draw_probability = {draws:.4g} stretches the scale of {self.name}: between equals 100"
            f" points are worth what {100.0 * share:.3g} are without draws, home_advantage included"
            f" (with scale = {values['scale'] * share:.4g} in place of {values['scale']:.4g} points"
            " keep their meaning)"
        )


SYSTEM = Elo()
