"""Knowledge gradient of one player's opponents, as the paper has it: equations (12) and (13).

The plain evaluation, one draw quality at a time; `valmatch.policies.lookahead_search` finds the
same opponent sooner, for the policies of the simulation.
"""

from __future__ import annotations

import math

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import unallocating
from valmatch.ratings.trueskill import draw_quality, update, win_probability
from valmatch.ratings.trueskill_draws import draw_probability, update_drawn


@unallocating
def best_quality(
    mean_0: float,
    variance_0: float,
    mean_j: float,
    variance_j: float,
    j: int,
    means: Floats,
    variances: Floats,
    player: int,
    noise_variance: float,
) -> float:
    """Return the largest q of player 0 when only player 0's and j's beliefs have changed."""
    best = draw_quality(mean_0, variance_0, mean_j, variance_j, noise_variance)
    for k in range(means.size):
        if k not in (j, player):
            quality = draw_quality(mean_0, variance_0, means[k], variances[k], noise_variance)
            best = max(best, quality)
    return best


@unallocating
def expected_best_quality(
    j: int,
    means: Floats,
    variances: Floats,
    player: int,
    noise_variance: float,
    as_printed: bool = False,
    draw_margin: float = 0.0,
) -> float:
    """Return F_j, the expected largest q after a game of player 0 against j.

    Parameters
    ----------
    j
        Index of the opponent.
    means, variances
        Beliefs about all M + 1 players.
    player
        Index of player 0.
    noise_variance
        Variance of one performance around the skill.
    as_printed
        Use (1), (2), (10) as the paper prints them.
    draw_margin
        A game is drawn if the performances differ by less: a third outcome, unless it is 0.

    Examples
    --------
    >>> import numpy as np
    >>> means = np.array([0.0, 0.3, -0.4, 1.5])
    >>> variances = np.array([2.0, 0.1, 3.0, 2.0])
    >>> [round(expected_best_quality(j, means, variances, 0, 2.5), 4) for j in (1, 2, 3)]
    [0.1483, 0.1487, 0.1487]
    """
    mean_0, variance_0 = means[player], variances[player]
    mean_j, variance_j = means[j], variances[j]
    p_win = win_probability(
        mean_0, variance_0, mean_j, variance_j, noise_variance, as_printed, draw_margin
    )
    p_loss = win_probability(
        mean_j, variance_j, mean_0, variance_0, noise_variance, as_printed, draw_margin
    )
    won = update(mean_0, variance_0, mean_j, variance_j, noise_variance, as_printed, draw_margin)
    lost = update(mean_j, variance_j, mean_0, variance_0, noise_variance, as_printed, draw_margin)
    best_win = best_quality(
        won[0], won[1], won[2], won[3], j, means, variances, player, noise_variance
    )
    best_loss = best_quality(
        lost[2], lost[3], lost[0], lost[1], j, means, variances, player, noise_variance
    )
    expected = p_win * best_win + p_loss * best_loss
    if draw_margin > 0.0:
        p_draw = draw_probability(
            mean_0, variance_0, mean_j, variance_j, noise_variance, draw_margin
        )
        drew = update_drawn(mean_0, variance_0, mean_j, variance_j, noise_variance, draw_margin)
        expected += p_draw * best_quality(
            drew[0], drew[1], drew[2], drew[3], j, means, variances, player, noise_variance
        )
    return expected


@unallocating
def score(
    j: int,
    means: Floats,
    variances: Floats,
    player: int,
    noise_variance: float,
    multiplier: float,
    as_printed: bool,
    draw_margin: float = 0.0,
) -> float:
    """Return q_0j + multiplier F_j, what (12) and (13) maximise."""
    quality = draw_quality(means[player], variances[player], means[j], variances[j], noise_variance)
    future = expected_best_quality(
        j, means, variances, player, noise_variance, as_printed, draw_margin
    )
    return quality + multiplier * future


@unallocating
def best_opponent_plain(
    means: Floats,
    variances: Floats,
    player: int,
    noise_variance: float,
    multiplier: float,
    as_printed: bool,
    draw_margin: float = 0.0,
) -> int:
    """Return the opponent of largest score, ties to the lowest index: `best_opponent`'s twin."""
    chosen = -1
    best = -math.inf
    for j in range(means.size):
        if j != player:
            value = score(
                j, means, variances, player, noise_variance, multiplier, as_printed, draw_margin
            )
            if value > best:
                best = value
                chosen = j
    return chosen
