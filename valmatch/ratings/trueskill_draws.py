"""Drawn games of two players under TrueSkill: their probability, the beliefs after them.

A game is drawn if the performances differ by less than a margin, equation (3) of Ryzhov, Tariq,
Powell, "May the best man win". The update is that of Herbrich, Minka, Graepel, "TrueSkill: A
Bayesian skill rating system" (2006).
"""

from __future__ import annotations

import math

from valmatch.kernels.compilation import kernel
from valmatch.ratings.trueskill import hazard_excess, normal_cdf, normal_density

# Below this half-width the moments come from their expansion around its midpoint, because the
# differences of the closed form cancel.
_NARROW = 1e-4


@kernel
def draw_probability(
    mean_i: float,
    variance_i: float,
    mean_j: float,
    variance_j: float,
    noise_variance: float,
    draw_margin: float,
) -> float:
    """Return the believed probability of a draw, equation (3)."""
    c = math.sqrt(variance_i + variance_j + 2.0 * noise_variance)
    # Both tails are taken on the side where they are small, so that nothing cancels far out.
    lead = abs(mean_i - mean_j)
    return normal_cdf((draw_margin - lead) / c) - normal_cdf((-draw_margin - lead) / c)


@kernel
def update_drawn(
    mean_i: float,
    variance_i: float,
    mean_j: float,
    variance_j: float,
    noise_variance: float,
    draw_margin: float,
) -> tuple[float, float, float, float]:
    """Return the beliefs after a drawn game.

    Shapes: returns (mean_i, variance_i, mean_j, variance_j).

    Examples
    --------
    >>> [round(x, 3) for x in update_drawn(29.0, 50.0, 21.0, 50.0, 17.0, 0.74)]
    [26.019, 31.369, 23.981, 31.369]
    """
    total = variance_i + variance_j + 2.0 * noise_variance
    c = math.sqrt(total)
    v, w = v_and_w_draw((mean_i - mean_j) / c, draw_margin / c)
    step, shrink = v / c, w / total
    return (
        mean_i + variance_i * step,
        variance_i * (1.0 - variance_i * shrink),
        mean_j - variance_j * step,
        variance_j * (1.0 - variance_j * shrink),
    )


@kernel
def v_and_w_draw(lead: float, margin: float) -> tuple[float, float]:
    """Return v and w of a drawn game.

    With X the standard normal kept to (-margin - lead, margin - lead), v = E[X], w = 1 - Var[X].
    """
    t = abs(lead)
    if margin < _NARROW:
        inward = min(t * margin * margin / 3.0, margin)
        v, w = inward - t, 1.0 - margin * margin / 3.0
    else:
        v, w = _moments(margin - t, -margin - t)
    return (-v if lead < 0.0 else v), min(max(w, 0.0), 1.0)


@kernel
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
