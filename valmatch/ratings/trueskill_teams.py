"""TrueSkill of two sides of any size with a draw margin.

Source: Herbrich, Minka, Graepel, "TrueSkill: A Bayesian skill rating system" (2006); for two sides
its message passing ends after one sweep, in the closed form used here.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from valmatch.compilation import inlined, njit
from valmatch.ratings.trueskill import hazard_excess, normal_cdf, normal_density, v_and_w

__all__ = ["expected_score", "margin_quantile", "pulls", "v_and_w_draw"]

# Below this half-width the moments come from their expansion around its midpoint, because the
# differences of the closed form cancel.
_NARROW = 1e-4


def margin_quantile(draw_probability: float) -> float:
    """Return the draw margin in standard deviations of an even game: Phi^-1((p + 1) / 2).

    The margin itself is this by sqrt(players) by beta.

    Parameters
    ----------
    draw_probability
        Chance of a draw between equals, in [0, 1).
    """
    return NormalDist().inv_cdf((draw_probability + 1.0) / 2.0)


@njit
def v_and_w_draw(lead: float, margin: float) -> tuple[float, float]:
    """Return v and w of a drawn game.

    With X the standard normal kept to (-margin - lead, margin - lead), v = E[X], w = 1 - Var[X].

    Parameters
    ----------
    lead
        Difference of the means in standard deviations.
    margin
        Draw margin in standard deviations, >= 0.
    """
    t = abs(lead)
    if margin < _NARROW:
        inward = min(t * margin * margin / 3.0, margin)
        v, w = inward - t, 1.0 - margin * margin / 3.0
    else:
        v, w = _moments(margin - t, -margin - t)
    return (-v if lead < 0.0 else v), min(max(w, 0.0), 1.0)


@njit
def _moments(a: float, b: float) -> tuple[float, float]:
    """Return E[X] and 1 - Var[X] of the standard normal kept to b < X < a, where |b| >= |a|."""
    if a > 0.0:
        mass = normal_cdf(a) - normal_cdf(b)
        v = (normal_density(b) - normal_density(a)) / mass
        return v, v * v + (a * normal_density(a) - b * normal_density(b)) / mass
    # Everything over phi(a): nothing underflows, however far out the interval lies.
    ratio = math.exp(0.5 * (a - b) * (a + b))
    mass = 1.0 / (hazard_excess(-a) - a) - ratio / (hazard_excess(-b) - b)
    v = (ratio - 1.0) / mass
    return v, v * v + (a - b * ratio) / mass


@inlined
def expected_score(
    lead: float, variance: float, players: int, beta: float, quantile: float
) -> float:
    """Return the expected score of a side: P(win) + P(draw) / 2.

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
    return 0.5 * (normal_cdf((lead - margin) / c) + normal_cdf((lead + margin) / c))


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
        As in `expected_score`.
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
