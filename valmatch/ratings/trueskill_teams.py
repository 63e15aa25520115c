"""TrueSkill of two sides of any size with a draw margin.

Source: Herbrich, Minka, Graepel, "TrueSkill: A Bayesian skill rating system" (2006); for two sides
its message passing ends after one sweep, in the closed form used here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import kernel, part
from valmatch.ratings.games import Assessment, Games, Players
from valmatch.ratings.system import (
    SKILL,
    Chances,
    Largest,
    Parameter,
    SkillSystem,
    Values,
    Verbs,
    Z,
)
from valmatch.ratings.trueskill import normal_cdf, v_and_w
from valmatch.ratings.trueskill_draws import v_and_w_draw


def margin_quantile(draw_probability: float) -> float:
    """Return the draw margin in standard deviations of an even game: Phi^-1((p + 1) / 2).

    The margin itself is this by sqrt(players) by beta.
    """
    return NormalDist().inv_cdf((draw_probability + 1.0) / 2.0)


@part(inline=True)
def chances(
    lead: float, variance: float, players: int, beta: float, quantile: float
) -> tuple[float, float]:
    """Return the expected score of a side, P(win) + P(draw) / 2, and the probability of a draw.

    Without a margin the latter is NaN, as nothing is known of draws.

    Examples
    --------
    Two against two, of whom each has a variance of 60:

    >>> expected, drawn = chances(4.0, 4 * 60.0, 4, 25.0 / 6.0, margin_quantile(0.1))
    >>> round(expected, 4), round(drawn, 4)
    (0.5898, 0.0463)
    """
    c = math.sqrt(variance + players * beta * beta)
    margin = quantile * math.sqrt(players) * beta
    wins, ahead = normal_cdf((lead - margin) / c), normal_cdf((lead + margin) / c)
    return 0.5 * (wins + ahead), (ahead - wins if quantile > 0.0 else math.nan)


@part(inline=True)
def expected_score(
    lead: float, variance: float, players: int, beta: float, quantile: float
) -> float:
    """Return the expected score of a side; parameters are those of `chances`."""
    return chances(lead, variance, players, beta, quantile)[0]


@kernel
def pulls(
    lead: float, variance: float, players: int, beta: float, quantile: float, drawn: bool
) -> tuple[float, float]:
    """Return by how much a game moves the means and shrinks the variances.

    A player of variance s gains ``s * step`` (a loser loses it) and keeps the share
    ``1 - s * shrink`` of the variance.

    Shapes: returns (step, shrink).

    Examples
    --------
    What a win of these two makes of the mean and the variance of a winner:

    >>> step, shrink = pulls(4.0, 4 * 60.0, 4, 25.0 / 6.0, margin_quantile(0.1), False)
    >>> round(60.0 * step, 3), round(60.0 * (1.0 - 60.0 * shrink), 3)
    (2.368, 53.038)
    """
    total = variance + players * beta * beta
    c = math.sqrt(total)
    margin = quantile * math.sqrt(players) * beta / c
    v, w = v_and_w_draw(lead / c, margin) if drawn else v_and_w(lead / c - margin)
    return v / c, w / total


@part(inline=True)
def _strengths(
    game: int, games: Games, players: Players, numbers: Floats, found: Assessment
) -> None:
    """Sum up the means and the variances of each side's players, which have grown by tau^2."""
    tau = numbers[1]
    for side in range(games.game_starts[game], games.game_starts[game + 1]):
        mean = variance = 0.0
        for row in range(games.side_starts[side], games.side_starts[side + 1]):
            belief = players.state[games.players[row]]
            mean += belief[0]
            variance += belief[1] * belief[1] + tau * tau
        found.strengths[side], found.spreads[side] = mean, variance


@part(inline=True)
def _chances(
    a: int, b: int, games: Games, numbers: Floats, found: Assessment
) -> tuple[float, float]:
    """Predict by the performances of both sides."""
    size = games.side_starts[a + 1] - games.side_starts[a]
    size += games.side_starts[b + 1] - games.side_starts[b]
    lead, variance = found.strengths[a] - found.strengths[b], found.spreads[a] + found.spreads[b]
    return chances(lead, variance, size, numbers[0], numbers[2])


@part(inline=True)
def _update(game: int, games: Games, players: Players, numbers: Floats, found: Assessment) -> bool:
    """Rate a game of two sides."""
    a, tau = games.game_starts[game], numbers[1]
    lo, middle, hi = games.side_starts[a], games.side_starts[a + 1], games.side_starts[a + 2]
    lead = found.strengths[a] - found.strengths[a + 1]
    variance = found.spreads[a] + found.spreads[a + 1]
    score = found.scored[a]
    sign = -1.0 if score == 0.0 else 1.0
    step, shrink = pulls(sign * lead, variance, hi - lo, numbers[0], numbers[2], score == 0.5)
    for row in range(lo, hi):
        belief = players.state[games.players[row]]
        pull = sign * step if row < middle else -sign * step
        skill = belief[1] * belief[1] + tau * tau
        belief[0] += skill * pull
        belief[1] = math.sqrt(skill * (1.0 - skill * shrink))
    return True


class TrueSkill(SkillSystem):
    """TrueSkill of two sides, with draws."""

    name = "trueskill"
    parameters: Sequence[Parameter] = (*SKILL, Parameter("draw_probability", 0.1, 0.0, 0.99))
    verbs = Verbs(_strengths, _chances, _update)
    drift = ("tau",)
    pairs_at_once = 2_000
    largest = Largest(players=500, sides=2)

    def numbers(self, values: Values) -> Sequence[float]:
        """Return beta, tau and the draw margin in standard deviations of an even game."""
        return [values["beta"], values["tau"], margin_quantile(values["draw_probability"])]

    def outcomes(self, values: Values, games: Games, state: Floats, found: Assessment) -> Chances:
        """Return how games of two sides will end, see `System.outcomes`."""
        lead = found.strengths[::2] - found.strengths[1::2]
        variance = found.spreads[::2] + found.spreads[1::2]
        noise = values["beta"] * np.sqrt(np.diff(games.side_starts[games.game_starts]))
        margin = margin_quantile(values["draw_probability"]) * noise

        def wins(lead: Floats, deviation: Floats) -> Floats:
            return np.array([normal_cdf(x) for x in ((lead - margin) / deviation).tolist()])

        won = wins(lead, np.sqrt(variance + noise * noise))
        low, high = (wins(lead + side * np.sqrt(variance), noise) for side in (-Z, Z))
        expected = found.expected[::2]
        return Chances(expected, won, 2.0 * (expected - won), low, high)


SYSTEM = TrueSkill()
