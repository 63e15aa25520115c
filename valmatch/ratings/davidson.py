"""Games that may be drawn, by the strengths of two sides.

Sources: Davidson, "On extending the Bradley-Terry model to accommodate ties in paired comparison
experiments" (1970); Szczecinski, Djebbi, "Understanding draws in Elo rating algorithm" (2020).
"""

from __future__ import annotations

import math

from valmatch.kernels.compilation import part


def weight_of_draws(draw_probability: float) -> float:
    """Return the nu by which so many games between equals are drawn."""
    return 2.0 * draw_probability / (1.0 - draw_probability)


def share_of_slope(draw_probability: float) -> float:
    """Return by what share the expected score grows more slowly than without draws."""
    # The expected score (e^(x/2) + nu/2) / (e^(x/2) + e^(-x/2) + nu) of a lead x has the slope
    # 1 / (2 (2 + nu)) between equals; without draws it is 1/4.
    return 1.0 - draw_probability


@part(inline=True)
def chances(lead: float, nu: float) -> tuple[float, float]:
    """Return the expected score of a side, P(win) + P(draw) / 2, and the probability of a draw."""
    odds = math.exp(-abs(lead))  # of the weaker side; never overflows
    drawn = nu * math.sqrt(odds)
    total = 1.0 + odds + drawn
    expected = ((1.0 if lead >= 0.0 else odds) + 0.5 * drawn) / total
    return expected, (drawn / total if nu > 0.0 else math.nan)
