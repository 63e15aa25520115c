"""Knowledge gradient of a pair: draw chance now, and what the game adds to later ones.

Beliefs are normal, N(mean, variance); all densities are divided by N(0; 0, 2 beta^2), so that
every worth is a pure number. Equation numbers are those of `valmatch.ratings.trueskill`.
"""

from __future__ import annotations

import math

import numpy as np

from valmatch.kernels.compilation import at, kernel, macro, part
from valmatch.policies.myopic import pair_draw_chance
from valmatch.policies.waiting import MeanOrder, Ticket, Waiting
from valmatch.ratings.trueskill import both_outcomes, hazard_excess, normal_density


@kernel
def expected_variance(
    mean_i: float, variance_i: float, mean_j: float, variance_j: float, noise_variance: float
) -> float:
    """Return the expected variance of the belief about player i after a game against player j.

    Parameters
    ----------
    mean_i, variance_i, mean_j, variance_j
        Beliefs about the two skills.
    noise_variance
        Variance of one performance around the skill.

    Notes
    -----
    It is variance_i - variance_i^2 / c^2 phi(x)^2 / (Phi(x) Phi(-x)), x = d / c.

    Examples
    --------
    >>> variance = expected_variance(1500.0, 100.0**2, 1500.0, 100.0**2, noise_variance=150.0**2)
    >>> round(variance**0.5, 2)
    94.98
    """
    total = variance_i + variance_j + 2.0 * noise_variance
    return variance_i - variance_i * variance_i / total * _learnt(mean_i - mean_j, total)


@part
def _learnt(difference: float, total: float) -> float:
    """Return phi(x)^2 / (Phi(x) Phi(-x)), x = d / c: the product of both hazards."""
    y = abs(difference) / math.sqrt(total)
    hazard, density = y + hazard_excess(y), normal_density(y)
    return density / (1.0 - density / hazard) * hazard


@kernel
def pair_knowledge_gradient_variance(
    mean_i: float,
    variance_i: float,
    mean_j: float,
    variance_j: float,
    mean_variance: float,
    noise_variance: float,
    multiplier: float,
) -> float:
    """Return the draw chance plus what the narrower beliefs are worth.

    Parameters
    ----------
    mean_i, variance_i, mean_j, variance_j
        Beliefs about the two skills.
    mean_variance
        Mean variance of the beliefs about all who wait.
    noise_variance
        Variance of one performance around the skill.
    multiplier
        Games for which what is learnt is of use.

    Examples
    --------
    A game with a newcomer is worth more than one of two who are known well.

    >>> others = 100.0**2, 150.0**2, 19.0
    >>> round(pair_knowledge_gradient_variance(1500.0, 200.0**2, 1500.0, 50.0**2, *others), 3)
    1.162
    >>> round(pair_knowledge_gradient_variance(1500.0, 50.0**2, 1500.0, 50.0**2, *others), 3)
    0.96
    """
    quality = pair_draw_chance(mean_i, variance_i, mean_j, variance_j, noise_variance)
    total = variance_i + variance_j + 2.0 * noise_variance
    learnt = _learnt(mean_i - mean_j, total)
    added = 0.0
    for variance in (variance_i, variance_j):
        after = variance - variance * variance / total * learnt
        added += _evenness(after + mean_variance, noise_variance) - _evenness(
            variance + mean_variance, noise_variance
        )
    return quality + 0.5 * multiplier * added


@part
def _evenness(variance: float, noise_variance: float) -> float:
    """Return the draw chance of equal means, of two beliefs with this sum of variances."""
    return math.sqrt(2.0 * noise_variance / (variance + 2.0 * noise_variance))


@part
def place_of(mean: float, player: int, order: MeanOrder) -> int:
    """Return how many of those who wait come before a player of this mean."""
    low, high = 0, order.means.size
    while low < high:
        middle = (low + high) // 2
        other, ticket = order.means[at(middle)], order.tickets[at(middle)]
        if other < mean or (other == mean and ticket < order.tickets[at(player)]):
            low = middle + 1
        else:
            high = middle
    return low


@part
def best_next(
    place: int, player: int, opponent: int, belief: tuple[float, float], order: MeanOrder
) -> float:
    """Return the largest draw chance of a player of this belief and place, 0 if there is nobody."""
    # The player and the opponent of the game before are taken out. The chance is the largest
    # where total exp(d^2 / total), which is at least total + d^2, is the least.
    mean, variance = belief
    first, second = min(player, opponent), max(player, opponent)
    # The band on each side of the place, besides the two who may lie in it.
    low, high = place - order.band, place + order.band
    low -= int(low <= second < place)
    low -= int(low <= first < place)
    high += int(place <= first < high)
    high += int(place <= second < high)
    best, least = -1, np.inf
    for k in range(max(low, 0), min(high, order.means.size)):
        total = variance + order.variances[at(k)] + 2.0 * order.noise_variance
        difference = mean - order.means[at(k)]
        square = difference * difference
        if total + square < least and k != player and k != opponent:
            inverse = total * math.exp(square / total)
            if inverse < least:
                best, least = k, inverse
    if best < 0:
        return 0.0
    other_mean, other_variance = order.means[at(best)], order.variances[at(best)]
    return pair_draw_chance(mean, variance, other_mean, other_variance, order.noise_variance)


@part(inline=True)
def pair_knowledge_gradient(i: int, j: int, order: MeanOrder, multiplier: float) -> float:
    """Return the draw chance plus the game's gain in the best next draw chance of both players."""
    noise_variance = order.noise_variance
    mean_i, variance_i = order.means[at(i)], order.variances[at(i)]
    mean_j, variance_j = order.means[at(j)], order.variances[at(j)]
    p, won, lost = both_outcomes(mean_i, variance_i, mean_j, variance_j, noise_variance)
    gained = 0.0
    for x, y, now, win, loss in (
        (i, j, (mean_i, variance_i), (won[0], won[1]), (lost[0], lost[1])),
        (j, i, (mean_j, variance_j), (won[2], won[3]), (lost[2], lost[3])),
    ):
        after_win = best_next(place_of(win[0], x, order), x, y, win, order)
        after_loss = best_next(place_of(loss[0], x, order), x, y, loss, order)
        gained += (p * after_win + (1.0 - p) * after_loss) - best_next(x, x, y, now, order)
    quality = pair_draw_chance(mean_i, variance_i, mean_j, variance_j, noise_variance)
    return quality + 0.5 * multiplier * gained


@macro
def weigh(first: Ticket, second: Ticket, limit: float, waiting: Waiting) -> float:
    """Return the draw chance of a pair, and what their game adds to their next ones."""
    return pair_knowledge_gradient(first["rank"], second["rank"], waiting.order, waiting.multiplier)


@macro
def weigh_by_variance(first: Ticket, second: Ticket, limit: float, waiting: Waiting) -> float:
    """Return the draw chance of a pair, and what narrower beliefs about them are worth."""
    return pair_knowledge_gradient_variance(
        first["mean"],
        first["variance"],
        second["mean"],
        second["variance"],
        waiting.mean_variance,
        waiting.noise_variance,
        waiting.multiplier,
    )
