"""Outcomes of a game of two players whose lead is known as a normal distribution.

The lead x is in log odds. One wins in proportion to e^(x/2), the other to e^(-x/2), and neither to
the draw weight nu (Davidson 1970). Means over the lead are trapezoidal sums: of functions without
poles within pi of the real line they are right to 1e-12 at the steps taken here (Trefethen,
Weideman, "The exponentially convergent trapezoidal rule", SIAM Review 56, 2014).
"""

from __future__ import annotations

import math

from valmatch.kernels.compilation import kernel, part

_REACH = 8.4  # standard deviations to each side, beyond which a normal distribution holds 4e-17

_STEP = 0.6
"""The widest step in standard deviations; half of it where the deviation doubles, and so on."""

_WIDEST = 0.9  # the standard deviation in log odds up to which that step does
_HALVINGS = 9  # after so many the step stays: deviations beyond 460 in log odds are 80,000 points


@kernel
def score_variance(lead: float, draw_weight: float) -> float:
    """Return the variance of the score of a game at a lead: 1 a win, 1/2 a draw, 0 a loss."""
    # This is the information of the game about the lead in log odds.
    root = math.exp(-0.5 * abs(lead))
    total = 1.0 + root * (root + draw_weight)
    odds = root * ((1.0 + root * root) * draw_weight + 4.0 * root)
    variance: float = 0.25 * odds / (total * total)
    return variance


@kernel
def expected_score_at(lead: float, draw_weight: float) -> float:
    """Return the expected score of a game at a lead."""
    root = math.exp(-0.5 * abs(lead))
    total = 1.0 + root * (root + draw_weight)
    better = (1.0 + 0.5 * root * draw_weight) / total
    return better if lead >= 0.0 else 1.0 - better


@part(inline=True)
def _halvings(deviation: float) -> int:
    """Return how often the step is halved for a standard deviation in log odds."""
    halvings, widest = 0, _WIDEST
    while deviation > widest and halvings < _HALVINGS:
        halvings += 1
        widest *= 2.0
    return halvings


@kernel
def game_information(lead: float, deviation: float, draw_weight: float) -> float:
    """Return the mean information of a game, over a normal distribution of the lead in log odds."""
    step = _STEP / 2 ** _halvings(deviation)
    mean, weights, reach = 0.0, 0.0, round(_REACH / step)
    for k in range(-reach, reach + 1):
        z = k * step
        weight = math.exp(-0.5 * z * z)
        weights += weight
        mean += weight * score_variance(lead + deviation * z, draw_weight)
    return mean / weights


@part(inline=True)
def _entropy_term(chance: float) -> float:
    return -chance * math.log(chance) if chance > 0.0 else 0.0


@kernel
def mutual_information(lead: float, deviation: float, draw_weight: float) -> float:
    """Return how much the outcome of a game tells of the lead, in nats (Lindley 1956).

    Examples
    --------
    >>> round(mutual_information(0.0, 0.8, 0.0), 4)
    0.0662
    """
    step = _STEP / 2 ** _halvings(deviation)
    reach = round(_REACH / step)
    log_nu = math.log(draw_weight) if draw_weight > 0.0 else 0.0
    weights, won, drawn, entropy = 0.0, 0.0, 0.0, 0.0
    for k in range(-reach, reach + 1):
        z = k * step
        weight = math.exp(-0.5 * z * z)
        x = lead + deviation * z
        root = math.exp(-0.5 * abs(x))
        others = root * (root + draw_weight)
        better = 1.0 / (1.0 + others)
        draw = root * draw_weight * better
        worse = root * root * better
        weights += weight
        won += weight * (better if x >= 0.0 else worse)
        drawn += weight * draw
        # The logarithms of the chances are 0, -|x| and ln nu - |x|/2, less that of the total.
        entropy += weight * (math.log1p(others) + worse * abs(x) + draw * (0.5 * abs(x) - log_nu))
    won, drawn, entropy = won / weights, drawn / weights, entropy / weights
    mean = _entropy_term(won) + _entropy_term(drawn) + _entropy_term(1.0 - won - drawn)
    return max(mean - entropy, 0.0)
