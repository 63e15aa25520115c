"""Policies that look at the game to be decided alone: nearest, DrawChance, oracle, random."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from valmatch.draws.streams import uniform_at
from valmatch.kernels.compilation import kernel, macro
from valmatch.policies.knowledge import Knowledge
from valmatch.policies.waiting import Ticket, Waiting
from valmatch.ratings.trueskill import draw_quality_normalised


@kernel
def point_estimate(means: NDArray[np.float64], player: int) -> int:
    """Return the opponent whose believed mean is nearest to player 0's, ties to the lowest index.

    Parameters
    ----------
    means
        Belief means of all M + 1 players; with true skills, this is the `oracle` policy.
    player
        Index of player 0.

    Examples
    --------
    >>> import numpy as np
    >>> point_estimate(np.array([0.0, 0.3, -0.4, 1.5]), player=0)
    1
    """
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


@kernel
def nearness(difference: float, limit: float) -> float:
    """Return 1 - abs(difference) / limit; 1 if the limit is 0.

    Parameters
    ----------
    difference
        Of the ratings that the rule sees.
    limit
        The largest difference that is allowed.
    """
    return 1.0 - abs(difference) / limit if limit > 0.0 else 1.0


@macro
def weigh_nearest(first: Ticket, second: Ticket, limit: float, waiting: Waiting) -> float:
    """Return how near the ratings of two who wait are that the rule sees."""
    return nearness(first["seen"] - second["seen"], limit)


@kernel
def draw_chance(
    means: NDArray[np.float64],
    variances: NDArray[np.float64],
    player: int,
    noise_variance: float,
) -> int:
    """Return the opponent of largest q~ (6), ties to the lowest index.

    Parameters
    ----------
    means, variances
        Beliefs about all M + 1 players.
    player
        Index of player 0.
    noise_variance
        Variance of one performance around the skill.

    Examples
    --------
    >>> import numpy as np
    >>> means = np.array([0.0, 0.3, -0.4, 1.5])
    >>> variances = np.array([2.0, 0.1, 3.0, 2.0])
    >>> draw_chance(means, variances, player=0, noise_variance=2.5)
    1
    """
    chosen = -1
    best = -1.0
    for j in range(means.size):
        if j == player:
            continue
        quality = draw_quality_normalised(
            means[player], variances[player], means[j], variances[j], noise_variance
        )
        if quality > best:
            best = quality
            chosen = j
    return chosen


@macro
def choose_draw_chance(known: Knowledge, game: int, uniform: float) -> int:
    """Return the opponent of largest q~, equation (9)."""
    return draw_chance(known.means, known.variances, known.player, known.noise_variance)


@kernel
def pair_draw_chance(
    mean_i: float, variance_i: float, mean_j: float, variance_j: float, noise_variance: float
) -> float:
    """Return q~ of (6), the believed density of a draw.

    Parameters
    ----------
    mean_i, variance_i, mean_j, variance_j
        Beliefs about the two skills.
    noise_variance
        Variance of one performance around the skill.

    Examples
    --------
    >>> round(pair_draw_chance(1500.0, 100.0**2, 1700.0, 100.0**2, noise_variance=150.0**2), 3)
    0.612
    """
    return draw_quality_normalised(mean_i, variance_i, mean_j, variance_j, noise_variance)


@macro
def weigh_draw_chance(first: Ticket, second: Ticket, limit: float, waiting: Waiting) -> float:
    """Return the believed density of a draw of two who wait."""
    return pair_draw_chance(
        first["mean"],
        first["variance"],
        second["mean"],
        second["variance"],
        waiting.noise_variance,
    )


@kernel
def oracle(truths: NDArray[np.float64], player: int) -> int:
    """Return the opponent of largest true draw probability (14), ties to the lowest index.

    Parameters
    ----------
    truths
        True skills of all M + 1 players.
    player
        Index of player 0.
    """
    return point_estimate(truths, player)


@macro
def choose_oracle(known: Knowledge, game: int, uniform: float) -> int:
    """Return the opponent of largest true draw probability."""
    return oracle(known.truths, known.player)


@kernel
def pair_oracle(skill_i: float, skill_j: float, noise_variance: float) -> float:
    """Return the density of a draw of two players of known skill.

    Parameters
    ----------
    skill_i, skill_j
        The true skills.
    noise_variance
        Variance of one performance around the skill.
    """
    return draw_quality_normalised(skill_i, 0.0, skill_j, 0.0, noise_variance)


@macro
def weigh_oracle(first: Ticket, second: Ticket, limit: float, waiting: Waiting) -> float:
    """Return the density of a draw of two who wait, by their true skills."""
    return pair_oracle(first["skill"], second["skill"], waiting.true_noise_variance)


@kernel
def random_opponent(n_players: int, player: int, uniform: float) -> int:
    """Return one of the opponents, all equally likely.

    Parameters
    ----------
    n_players
        Number of players, player 0 included.
    player
        Index of player 0.
    uniform
        The draw in [0, 1) that decides; larger draws give larger indices.
    """
    j = int(uniform * (n_players - 1))
    return j + 1 if j >= player else j


@macro
def choose_random(known: Knowledge, game: int, uniform: float) -> int:
    """Return one of the opponents by the uniform draw of the game."""
    return random_opponent(known.means.size, known.player, uniform)


@macro
def weigh_random(first: Ticket, second: Ticket, limit: float, waiting: Waiting) -> float:
    """Return the uniform number of two tickets."""
    low, high = first["ticket"], second["ticket"]
    return uniform_at(waiting.rng_key, waiting.source, min(low, high), max(low, high))
