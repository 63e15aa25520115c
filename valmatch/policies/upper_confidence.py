"""The opponent of largest upper confidence bound on the quality of the match.

The quality of a match is the draw density g of the true skills (14); what is believed of it has the
mean q of (5). The bound is q + kappa times the standard deviation of g under the belief, which is
closed too, because the square of a normal density is a normal density of half the variance. So a
decision costs O(M), where the knowledge gradient looks ahead for every pair of opponents.
"""

from __future__ import annotations

import math

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import kernel, macro, part
from valmatch.policies.knowledge import ERROR, Knowledge, exp_minus, place_of_largest
from valmatch.policies.myopic import pair_draw_chance
from valmatch.policies.waiting import Ticket, Waiting

_INV_SQRT_2PI = 1.0 / math.sqrt(2.0 * math.pi)
_HALF_INV_SQRT_PI = 0.5 / math.sqrt(math.pi)


@kernel
def quality_bound(lead: float, uncertain: float, width: float, kappa: float) -> float:
    """Return E[N(X; 0, width)] + kappa SD[N(X; 0, width)] for X of mean `lead`.

    Notes
    -----
    N(x; 0, width)^2 = N(x; 0, width / 2) / (2 sqrt(pi width)), and E[N(X; 0, v)] is
    N(lead; 0, v + uncertain).
    """
    square = 0.5 * lead * lead
    total, narrow = width + uncertain, 0.5 * width + uncertain
    mean = _INV_SQRT_2PI / math.sqrt(total) * math.exp(-square / total)
    second = _INV_SQRT_2PI / math.sqrt(narrow) * math.exp(-square / narrow)
    second *= _HALF_INV_SQRT_PI / math.sqrt(width)
    return mean + kappa * math.sqrt(second * _varying(lead, uncertain, width))


@part
def _varying(lead: float, uncertain: float, width: float) -> float:
    """Return the share 1 - E[N]^2 / E[N^2] of the density that varies: 0 where nothing is unsure.

    The logarithm of E[N^2] / E[N]^2 is a sum of what is never negative, so that no digits cancel.
    """
    spread = width * (width + 2.0 * uncertain)
    slope = lead * lead * uncertain / ((width + uncertain) * (width + 2.0 * uncertain))
    return -math.expm1(-0.5 * math.log1p(uncertain * uncertain / spread) - slope)


@kernel
def upper_confidence_plain(
    means: Floats,
    variances: Floats,
    player: int,
    noise_variance: float,
    kappa: float,
    both: bool,
) -> int:
    """Return the opponent of largest bound, ties to the lowest index: `upper_confidence`'s twin.

    Parameters
    ----------
    means, variances
        Beliefs about all M + 1 players.
    player
        Index of player 0.
    noise_variance
        Variance of one performance around the skill.
    kappa
        Standard deviations of doubt that are added.
    both
        Whether the doubt about player 0 counts, too.

    Examples
    --------
    >>> import numpy as np
    >>> means = np.array([0.0, 0.3, -0.4, 1.5])
    >>> variances = np.array([2.0, 0.1, 3.0, 2.0])
    >>> upper_confidence_plain(means, variances, 0, 2.5, kappa=1.0, both=False)
    2
    """
    width, unsure = _split(variances[player], noise_variance, both)
    chosen, best = -1, -math.inf
    for j in range(means.size):
        if j != player:
            lead = means[player] - means[j]
            bound = quality_bound(lead, unsure + variances[j], width, kappa)
            if bound > best:
                chosen, best = j, bound
    return chosen


@part
def _split(variance_0: float, noise_variance: float, both: bool) -> tuple[float, float]:
    """Return the width of the density, and player 0's part of the uncertain variance."""
    if both:
        return 2.0 * noise_variance, variance_0
    return variance_0 + 2.0 * noise_variance, 0.0


@kernel
def error_bound(width: float, kappa: float) -> float:
    """Bound the error of an approximate bound."""
    # The density is at most 1 / sqrt(2 pi width), its square 1 / (2 pi width). A deviation is a
    # root, which turns an error e of its square into one of at most sqrt(e).
    mean = 2.0 * ERROR * _INV_SQRT_2PI / math.sqrt(width)
    square = 8.0 * ERROR * _INV_SQRT_2PI * _INV_SQRT_2PI / width
    return mean + kappa * math.sqrt(square)


@part
def _approximate(
    mean_0: float,
    unsure: float,
    width: float,
    kappa: float,
    means: Floats,
    variances: Floats,
    scores: Floats,
) -> None:
    """Fill `scores` with approximate bounds, in a loop that vectorises."""
    scale = _INV_SQRT_2PI * _HALF_INV_SQRT_PI / math.sqrt(width)
    for j in range(means.size):
        lead = mean_0 - means[j]
        square = 0.5 * lead * lead
        wide = 1.0 / (width + unsure + variances[j])
        narrow = 1.0 / (0.5 * width + unsure + variances[j])
        mean = _INV_SQRT_2PI * math.sqrt(wide) * exp_minus(square * wide)
        second = scale * math.sqrt(narrow) * exp_minus(square * narrow)
        scores[j] = mean + kappa * math.sqrt(max(second - mean * mean, 0.0))


@kernel
def upper_confidence(
    means: Floats,
    variances: Floats,
    player: int,
    noise_variance: float,
    kappa: float,
    both: bool,
    scores: Floats,
) -> int:
    """Return the opponent of largest bound, ties to the lowest index.

    Notes
    -----
    Approximate bounds rule most opponents out; those within the error of the best are compared by
    `quality_bound`, so that the choice is always that of `upper_confidence_plain`.
    """
    width, unsure = _split(variances[player], noise_variance, both)
    _approximate(means[player], unsure, width, kappa, means, variances, scores)
    scores[player] = -math.inf
    least = scores[place_of_largest(scores)] - 2.0 * error_bound(width, kappa)
    chosen, best = -1, -math.inf
    for j in range(means.size):
        if scores[j] >= least:
            lead = means[player] - means[j]
            bound = quality_bound(lead, unsure + variances[j], width, kappa)
            if bound > best:
                chosen, best = j, bound
    return chosen


@macro
def choose_opponent(known: Knowledge, game: int, uniform: float) -> int:
    """Return the opponent of largest bound, the deviation being over the opponent's skill."""
    return _best(known, False)


@macro
def choose_both(known: Knowledge, game: int, uniform: float) -> int:
    """Return the opponent of largest bound, the deviation being over both skills."""
    return _best(known, True)


@macro
def _best(known: Knowledge, both: bool) -> int:
    return upper_confidence(
        known.means,
        known.variances,
        known.player,
        known.noise_variance,
        known.kappa,
        both,
        known.work.scores,
    )


@kernel
def pair_upper_confidence(
    mean_i: float,
    variance_i: float,
    mean_j: float,
    variance_j: float,
    noise_variance: float,
    kappa: float,
) -> float:
    """Return the draw chance plus kappa standard deviations of the true density of a draw.

    Parameters
    ----------
    mean_i, variance_i, mean_j, variance_j
        Beliefs about the two skills.
    noise_variance
        Variance of one performance around the skill.
    kappa
        Weight of the standard deviation; with 0 this is the draw chance.

    Notes
    -----
    The square of N(x; 0, 2 beta^2) is N(x; 0, beta^2) / (2 beta sqrt(2 pi)).

    Examples
    --------
    >>> round(pair_upper_confidence(1500.0, 1e4, 1700.0, 1e4, 150.0**2, kappa=1.0), 3)
    0.895
    """
    quality = pair_draw_chance(mean_i, variance_i, mean_j, variance_j, noise_variance)
    uncertain, lead = variance_i + variance_j, mean_i - mean_j
    total = uncertain + noise_variance
    second = math.sqrt(noise_variance / total) * math.exp(-0.5 * lead * lead / total)
    varying = _varying(lead, uncertain, 2.0 * noise_variance)
    return quality + kappa * math.sqrt(second * varying)


@macro
def weigh(first: Ticket, second: Ticket, limit: float, waiting: Waiting) -> float:
    """Return the upper confidence bound of a pair."""
    return pair_upper_confidence(
        first["mean"],
        first["variance"],
        second["mean"],
        second["variance"],
        waiting.noise_variance,
        waiting.kappa,
    )
