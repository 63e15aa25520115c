"""TrueSkill of two players, also of games that may be drawn.

Source: Ryzhov, Tariq, Powell, "May the best man win", whose equation numbers these are. It prints
(1), (2), (10) with the total variance c^2 where the theory needs its square root c; `as_printed`
keeps the printed form. A game is drawn if the performances differ by less than a margin (3). The
update is that of Herbrich, Minka, Graepel, "TrueSkill: A Bayesian skill rating system" (2006).
"""

import math

import numpy as np

from valmatch.kernels.compilation import kernel, macro

INV_SQRT_2PI = 1.0 / math.sqrt(2.0 * math.pi)

# (y + 1.5) (h(y) - y), h the normal hazard, as a polynomial in z = (y - 4) / (y + 4), lowest power
# first: the Chebyshev interpolant over 0 <= y < inf, within 4e-16 of the true ratio everywhere. The
# excess itself is approximated, not h, so that v_and_w never subtracts near-equals.
_EXCESS = np.array(
    [
        1.2408392946920908,
        -0.2487477335708253,
        -0.0930936728579745,
        0.17203004538616964,
        -0.07392998541693184,
        -0.02002388206893143,
        0.03229625881342907,
        -0.004407647607825722,
        -0.009586047822480981,
        0.004070786855876619,
        0.0022311030329102764,
        -0.001825733855076719,
        -0.00036785903073311685,
        0.000643444518921073,
        9.12309646155242e-06,
        -0.00019381956923697567,
        2.502440497886424e-05,
        5.049322147164196e-05,
        -1.361508513110018e-05,
        -1.1060760924271849e-05,
        4.899299590330017e-06,
        1.8928794748075872e-06,
        -1.3281623672830414e-06,
        -2.179330622525714e-07,
        2.497725465052218e-07,
        1.1901819814144585e-08,
        -2.413423965304076e-08,
    ]
)


@kernel
def hazard_excess(y: float) -> float:
    """Return h(y) - y for y >= 0, with h = phi / (1 - Phi) the hazard of the standard normal."""
    z = (y - 4.0) / (y + 4.0)
    square = z * z
    # Even and odd powers run as two chains, which halves the latency of Horner's rule.
    even: float = _EXCESS[26]
    odd = 0.0
    for k in range(24, -1, -2):
        even = even * square + _EXCESS[k]
        odd = odd * square + _EXCESS[k + 1]
    return (even + odd * z) / (y + 1.5)


@kernel
def normal_density(x: float) -> float:
    """Return phi(x), the standard normal density."""
    return INV_SQRT_2PI * math.exp(-0.5 * x * x)


@kernel
def normal_cdf(x: float) -> float:
    """Return Phi(x), the standard normal distribution function, accurate in the lower tail."""
    y = abs(x)
    tail = normal_density(y) / (y + hazard_excess(y))
    return tail if x < 0.0 else 1.0 - tail


@kernel
def v_and_w(x: float) -> tuple[float, float]:
    """Return v(x) = phi(x) / Phi(x) of (1), and w(x) = v(x) (v(x) + x) of (2), for any finite x."""
    y = abs(x)
    excess = hazard_excess(y)
    hazard = y + excess
    if x < 0.0:
        return hazard, hazard * excess
    density = normal_density(y)
    v = density / (1.0 - density / hazard)
    return v, v * (v + x)


@kernel
def standardised(difference: float, total_variance: float, as_printed: bool) -> float:
    """Return the argument of Phi, v or w: d / c, or d / c^2 as the paper prints it."""
    return difference / (total_variance if as_printed else math.sqrt(total_variance))


@kernel
def win_probability(
    mean_i: float,
    variance_i: float,
    mean_j: float,
    variance_j: float,
    noise_variance: float,
    as_printed: bool = False,
    draw_margin: float = 0.0,
) -> float:
    """Return the believed probability that player i beats player j, equation (10)."""
    total = variance_i + variance_j + 2.0 * noise_variance
    return normal_cdf(standardised(mean_i - mean_j - draw_margin, total, as_printed))


@macro
def _moved(
    mean_i: float, variance_i: float, mean_j: float, variance_j: float, step: float, shrink: float
) -> tuple[float, float, float, float]:
    """Return the beliefs after a game that moves the means towards or away from each other."""
    return (
        mean_i + variance_i * step,
        variance_i * (1.0 - variance_i * shrink),
        mean_j - variance_j * step,
        variance_j * (1.0 - variance_j * shrink),
    )


@kernel
def update(
    mean_winner: float,
    variance_winner: float,
    mean_loser: float,
    variance_loser: float,
    noise_variance: float,
    as_printed: bool = False,
    draw_margin: float = 0.0,
) -> tuple[float, float, float, float]:
    """Return the beliefs after a decided game, equations (1) and (2)."""
    total = variance_winner + variance_loser + 2.0 * noise_variance
    x = standardised(mean_winner - mean_loser - draw_margin, total, as_printed)
    v, w = v_and_w(x)
    step = standardised(v, total, as_printed)
    return _moved(mean_winner, variance_winner, mean_loser, variance_loser, step, w / total)


@kernel
def draw_quality(
    mean_i: float, variance_i: float, mean_j: float, variance_j: float, noise_variance: float
) -> float:
    """Return q of (5), the believed density of a draw (in units of 1 / skill)."""
    total = variance_i + variance_j + 2.0 * noise_variance
    difference = mean_i - mean_j
    return INV_SQRT_2PI / math.sqrt(total) * math.exp(-0.5 * difference * difference / total)


@kernel
def draw_quality_normalised(
    mean_i: float, variance_i: float, mean_j: float, variance_j: float, noise_variance: float
) -> float:
    """Return q~ of (6), in (0, 1]: q over its value for two known, equal skills."""
    total = variance_i + variance_j + 2.0 * noise_variance
    difference = mean_i - mean_j
    scale = math.sqrt(2.0 * noise_variance / total)
    return scale * math.exp(-0.5 * difference * difference / total)


@kernel
def true_draw_probability(skill_i: float, skill_j: float, noise_variance: float) -> float:
    """Return the draw density of two players of known skill, equation (14)."""
    return draw_quality(skill_i, 0.0, skill_j, 0.0, noise_variance)


# Drawn games.

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
    """Return the beliefs after a drawn game."""
    total = variance_i + variance_j + 2.0 * noise_variance
    c = math.sqrt(total)
    v, w = v_and_w_draw((mean_i - mean_j) / c, draw_margin / c)
    return _moved(mean_i, variance_i, mean_j, variance_j, v / c, w / total)


@kernel
def v_and_w_draw(lead: float, margin: float) -> tuple[float, float]:
    """Return E[X] and 1 - Var[X] of the standard normal kept to (-margin - lead, margin - lead)."""
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
