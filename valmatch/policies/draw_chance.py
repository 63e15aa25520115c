"""DrawChance policy, equation (9)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from valmatch.compilation import expanded, unallocating
from valmatch.policies.knowledge import Knowledge
from valmatch.ratings.trueskill import draw_quality_normalised

# Far above the rounding error of the two sides of a comparison.
_SAFETY = 1e-9


@unallocating
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
    """
    chosen = -1
    best = -1.0
    for j in range(means.size):
        if j == player:
            continue
        # exp(-x) <= 1 / (1 + x + x^2 / 2) rules most opponents out without an exponential.
        total = variances[player] + variances[j] + 2.0 * noise_variance
        difference = means[player] - means[j]
        x = 0.5 * difference * difference / total
        limit = best * (1.0 + x + 0.5 * x * x)
        if 2.0 * noise_variance < (1.0 - _SAFETY) * total * limit * limit and limit > 0.0:
            continue
        quality = draw_quality_normalised(
            means[player], variances[player], means[j], variances[j], noise_variance
        )
        if quality > best:
            best = quality
            chosen = j
    return chosen


@expanded
def choose(known: Knowledge, game: int, uniform: float) -> int:
    """Return the opponent of largest q~, equation (9)."""
    return draw_chance(known.means, known.variances, known.player, known.noise_variance)
