"""TrueSkill of two sides of any size with a draw margin.

Source: Herbrich, Minka, Graepel, "TrueSkill: A Bayesian skill rating system" (2006); for two sides
its message passing ends after one sweep, in the closed form used here.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from valmatch.compilation import inlined, njit
from valmatch.ratings.trueskill import normal_cdf, v_and_w
from valmatch.ratings.trueskill_draws import v_and_w_draw

__all__ = ["chances", "expected_score", "margin_quantile", "pulls"]


def margin_quantile(draw_probability: float) -> float:
    """Return the draw margin in standard deviations of an even game: Phi^-1((p + 1) / 2).

    The margin itself is this by sqrt(players) by beta.

    Parameters
    ----------
    draw_probability
        Chance of a draw between equals, in [0, 1).
    """
    return NormalDist().inv_cdf((draw_probability + 1.0) / 2.0)


@inlined
def chances(
    lead: float, variance: float, players: int, beta: float, quantile: float
) -> tuple[float, float]:
    """Return the expected score of a side, P(win) + P(draw) / 2, and the probability of a draw.

    Without a margin the latter is NaN, as nothing is known of draws.

    Parameters
    ----------
    lead
        Sum of the side's means less the sum of the opponents'.
    variance
        Sum of all players' skill variances at the time of the game.
    players
        Number of players of both sides.
    beta
        Standard deviation of one performance around the skill.
    quantile
        Draw margin in standard deviations of an even game, see `margin_quantile`.
    """
    c = math.sqrt(variance + players * beta * beta)
    margin = quantile * math.sqrt(players) * beta
    wins, ahead = normal_cdf((lead - margin) / c), normal_cdf((lead + margin) / c)
    return 0.5 * (wins + ahead), (ahead - wins if quantile > 0.0 else math.nan)


@inlined
def expected_score(
    lead: float, variance: float, players: int, beta: float, quantile: float
) -> float:
    """Return the expected score of a side; parameters are those of `chances`."""
    return chances(lead, variance, players, beta, quantile)[0]


@njit
def pulls(
    lead: float, variance: float, players: int, beta: float, quantile: float, drawn: bool
) -> tuple[float, float]:
    """Return by how much a game moves the means and shrinks the variances.

    A player of variance s gains ``s * step`` (a loser loses it) and keeps the share
    ``1 - s * shrink`` of the variance.

    Parameters
    ----------
    lead
        Sum of the winners' means less the sum of the losers'; in a draw of either side's.
    variance, players, beta, quantile
        As in `chances`.
    drawn
        Whether the game was a draw.

    Returns
    -------
    tuple of float
        (step, shrink).
    """
    total = variance + players * beta * beta
    c = math.sqrt(total)
    margin = quantile * math.sqrt(players) * beta / c
    v, w = v_and_w_draw(lead / c, margin) if drawn else v_and_w(lead / c - margin)
    return v / c, w / total
