"""Policies that look at the game to be decided alone: nearest, DrawChance, oracle, random."""

import math

from valmatch.draws.streams import uniform_at
from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import kernel, macro
from valmatch.policies.knowledge import Knowledge, Ticket, Waiting
from valmatch.ratings.trueskill import draw_quality_normalised


@kernel
def point_estimate(means: Floats, player: int) -> int:
    """Return the opponent of the nearest believed mean, ties to the lowest index."""
    chosen = -1
    nearest = math.inf
    for j in range(means.size):
        distance = abs(means[player] - means[j])
        if distance < nearest and j != player:
            nearest = distance
            chosen = j
    return chosen


@macro
def choose_nearest(known: Knowledge, game: int, uniform: float) -> int:
    """Return the opponent whose believed mean is nearest, equation (8)."""
    return point_estimate(known.means, known.player)


@macro
def choose_oracle(known: Knowledge, game: int, uniform: float) -> int:
    """Return the opponent of largest true draw probability (14): the nearest true skill."""
    return point_estimate(known.truths, known.player)


@kernel
def choose_draw_chance(known: Knowledge, game: int, uniform: float) -> int:
    """Return the opponent of largest q~ (6), equation (9), ties to the lowest index."""
    means, variances, player, chosen, best = known.means, known.variances, known.player, -1, -1.0
    for j in range(means.size):
        if j == player:
            continue
        quality = draw_quality_normalised(
            means[player], variances[player], means[j], variances[j], known.noise_variance
        )
        if quality > best:
            chosen, best = j, quality
    return chosen


@macro
def choose_random(known: Knowledge, game: int, uniform: float) -> int:
    """Return one of the opponents by the uniform draw of the game, all equally likely."""
    j = int(uniform * (known.means.size - 1))
    return j + 1 if j >= known.player else j


# What a match of two who wait is worth.


@macro
def weigh_nearest(first: Ticket, second: Ticket, limit: float, waiting: Waiting) -> float:
    """Return how near the ratings of two who wait are that the rule sees."""
    return 1.0 - abs(first["seen"] - second["seen"]) / limit if limit > 0.0 else 1.0


@macro
def weigh_draw_chance(first: Ticket, second: Ticket, limit: float, waiting: Waiting) -> float:
    """Return the believed density of a draw of two who wait, q~ of (6)."""
    return draw_quality_normalised(
        first["mean"], first["variance"], second["mean"], second["variance"], waiting.noise_variance
    )


@macro
def weigh_oracle(first: Ticket, second: Ticket, limit: float, waiting: Waiting) -> float:
    """Return the density of a draw of two who wait, by their true skills."""
    noise_variance = waiting.true_noise_variance
    return draw_quality_normalised(first["skill"], 0.0, second["skill"], 0.0, noise_variance)


@macro
def weigh_random(first: Ticket, second: Ticket, limit: float, waiting: Waiting) -> float:
    """Return the uniform number of two tickets."""
    low, high = first["ticket"], second["ticket"]
    return uniform_at(waiting.rng_key, waiting.source, min(low, high), max(low, high))
