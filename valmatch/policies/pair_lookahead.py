"""Knowledge gradient of a pair: draw chance now, and what the game adds to later ones."""

import math

import numpy as np

from valmatch.kernels.compilation import at, macro, part
from valmatch.policies.knowledge import MeanOrder, Ticket, Waiting
from valmatch.ratings.trueskill import (
    draw_quality_normalised,
    hazard_excess,
    normal_density,
    update,
    win_probability,
)


@part
def learnt(difference: float, total: float) -> float:
    """Return phi(x)^2 / (Phi(x) Phi(-x)), x = d / c: the product of both hazards."""
    # A game leaves of a variance s^2, on average, s^2 - s^4 / c^2 times this.
    y = abs(difference) / math.sqrt(total)
    hazard, density = y + hazard_excess(y), normal_density(y)
    return density / (1.0 - density / hazard) * hazard


@part
def _evenness(variance: float, noise_variance: float) -> float:
    """Return the draw chance of equal means, of two beliefs with this sum of variances."""
    return math.sqrt(2.0 * noise_variance / (variance + 2.0 * noise_variance))


@macro
def weigh_by_variance(first: Ticket, second: Ticket, limit: float, waiting: Waiting) -> float:
    """Return the draw chance of a pair, and what narrower beliefs about them are worth."""
    variance_i, variance_j = first["variance"], second["variance"]
    noise_variance, others = waiting.noise_variance, waiting.mean_variance
    quality = draw_quality_normalised(
        first["mean"], variance_i, second["mean"], variance_j, noise_variance
    )
    total = variance_i + variance_j + 2.0 * noise_variance
    share = learnt(first["mean"] - second["mean"], total)
    added = 0.0
    for variance in (variance_i, variance_j):
        after = variance - variance * variance / total * share
        added += _evenness(after + others, noise_variance) - _evenness(
            variance + others, noise_variance
        )
    return quality + 0.5 * waiting.multiplier * added


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
    rank: int, player: int, opponent: int, belief: tuple[float, float], order: MeanOrder
) -> float:
    """Return the largest draw chance of a player of this belief and rank, 0 if there is nobody."""
    # The player and the opponent of the game before are taken out. The chance is the largest
    # where total exp(d^2 / total), which is at least total + d^2, is the least.
    mean, variance = belief
    first, second = min(player, opponent), max(player, opponent)
    # The band on each side of the rank, besides the two who may lie in it.
    low, high = rank - order.band, rank + order.band
    low -= int(low <= second < rank)
    low -= int(low <= first < rank)
    high += int(rank <= first < high)
    high += int(rank <= second < high)
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
    return draw_quality_normalised(mean, variance, other_mean, other_variance, order.noise_variance)


@macro
def pair_knowledge_gradient(i: int, j: int, order: MeanOrder, multiplier: float) -> float:
    """Return the draw chance plus the game's gain in the best next draw chance of both players."""
    noise_variance = order.noise_variance
    mean_i, variance_i = order.means[at(i)], order.variances[at(i)]
    mean_j, variance_j = order.means[at(j)], order.variances[at(j)]
    p = win_probability(mean_i, variance_i, mean_j, variance_j, noise_variance)
    won = update(mean_i, variance_i, mean_j, variance_j, noise_variance)
    lost = update(mean_j, variance_j, mean_i, variance_i, noise_variance)
    gained = 0.0
    for x, y, now, win, loss in (
        (i, j, (mean_i, variance_i), (won[0], won[1]), (lost[2], lost[3])),
        (j, i, (mean_j, variance_j), (won[2], won[3]), (lost[0], lost[1])),
    ):
        after_win = best_next(place_of(win[0], x, order), x, y, win, order)
        after_loss = best_next(place_of(loss[0], x, order), x, y, loss, order)
        gained += (p * after_win + (1.0 - p) * after_loss) - best_next(x, x, y, now, order)
    quality = draw_quality_normalised(mean_i, variance_i, mean_j, variance_j, noise_variance)
    return quality + 0.5 * multiplier * gained


@macro
def weigh(first: Ticket, second: Ticket, limit: float, waiting: Waiting) -> float:
    """Return the draw chance of a pair, and what their game adds to their next ones."""
    return pair_knowledge_gradient(first["rank"], second["rank"], waiting.order, waiting.multiplier)
