"""The opponent of largest upper confidence bound on the quality of the match.

The bound is q of (5) plus kappa times the standard deviation, under the belief, of the draw density
of the true skills (14).
"""

import math

from valmatch.kernels.compilation import kernel, macro, part
from valmatch.policies.knowledge import (
    ERROR,
    Knowledge,
    Ticket,
    Waiting,
    exp_minus,
    place_of_largest,
)
from valmatch.ratings.trueskill import INV_SQRT_2PI, draw_quality_normalised

_HALF_INV_SQRT_PI = 0.5 / math.sqrt(math.pi)


@kernel
def quality_bound(lead: float, uncertain: float, width: float, kappa: float) -> float:
    """Return E[N(X; 0, width)] + kappa SD[N(X; 0, width)] for X of mean `lead`."""
    # N(x; 0, width)^2 = N(x; 0, width / 2) / (2 sqrt(pi width)), and E[N(X; 0, v)] is
    # N(lead; 0, v + uncertain).
    square = 0.5 * lead * lead
    total, narrow = width + uncertain, 0.5 * width + uncertain
    mean = INV_SQRT_2PI / math.sqrt(total) * math.exp(-square / total)
    second = INV_SQRT_2PI / math.sqrt(narrow) * math.exp(-square / narrow)
    second *= _HALF_INV_SQRT_PI / math.sqrt(width)
    return mean + kappa * math.sqrt(second * _varying(lead, uncertain, width))


@part
def _varying(lead: float, uncertain: float, width: float) -> float:
    """Return the share 1 - E[N]^2 / E[N^2] of the density that varies, 0 of what is sure."""
    # The logarithm of E[N^2] / E[N]^2 is a sum of what is never negative: no digits cancel.
    spread = width * (width + 2.0 * uncertain)
    slope = lead * lead * uncertain / ((width + uncertain) * (width + 2.0 * uncertain))
    return -math.expm1(-0.5 * math.log1p(uncertain * uncertain / spread) - slope)


@kernel
def error_bound(width: float, kappa: float) -> float:
    """Bound the error of an approximate bound."""
    # The density is at most 1 / sqrt(2 pi width), its square 1 / (2 pi width). A deviation is a
    # root, which turns an error e of its square into one of at most sqrt(e).
    mean = 2.0 * ERROR * INV_SQRT_2PI / math.sqrt(width)
    square = 8.0 * ERROR * INV_SQRT_2PI * INV_SQRT_2PI / width
    return mean + kappa * math.sqrt(square)


@kernel
def upper_confidence(known: Knowledge, both: bool) -> int:
    """Return the opponent of largest bound; player 0's doubt widens the density, or is one too."""
    means, variances, player, scores = known.means, known.variances, known.player, known.work.scores
    kappa, width, unsure = known.kappa, 2.0 * known.noise_variance, 0.0
    if both:
        unsure = variances[player]
    else:
        width += variances[player]
    # Approximate bounds, in a loop that vectorises, rule most opponents out; those within the error
    # of the best are compared exactly.
    scale = INV_SQRT_2PI * _HALF_INV_SQRT_PI / math.sqrt(width)
    for j in range(means.size):
        lead = means[player] - means[j]
        square = 0.5 * lead * lead
        wide = 1.0 / (width + unsure + variances[j])
        narrow = 1.0 / (0.5 * width + unsure + variances[j])
        mean = INV_SQRT_2PI * math.sqrt(wide) * exp_minus(square * wide)
        second = scale * math.sqrt(narrow) * exp_minus(square * narrow)
        scores[j] = mean + kappa * math.sqrt(max(second - mean * mean, 0.0))
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
    return upper_confidence(known, False)


@macro
def choose_both(known: Knowledge, game: int, uniform: float) -> int:
    """Return the opponent of largest bound, the deviation being over both skills."""
    return upper_confidence(known, True)


@macro
def weigh(first: Ticket, second: Ticket, limit: float, waiting: Waiting) -> float:
    """Return the draw chance of a pair plus kappa standard deviations of the true density."""
    # The square of N(x; 0, 2 beta^2) is N(x; 0, beta^2) / (2 beta sqrt(2 pi)).
    noise_variance, lead = waiting.noise_variance, first["mean"] - second["mean"]
    quality = draw_quality_normalised(
        first["mean"], first["variance"], second["mean"], second["variance"], noise_variance
    )
    uncertain = first["variance"] + second["variance"]
    total = uncertain + noise_variance
    square = math.sqrt(noise_variance / total) * math.exp(-0.5 * lead * lead / total)
    varying = _varying(lead, uncertain, 2.0 * noise_variance)
    return quality + waiting.kappa * math.sqrt(square * varying)
