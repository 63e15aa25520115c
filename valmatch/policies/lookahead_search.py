"""The opponent of largest knowledge gradient, (12) or (13), by a search that rules most out."""

import math

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import kernel, macro, part
from valmatch.policies.knowledge import Knowledge, Outcome, exp_minus, place_of_largest
from valmatch.ratings.trueskill import (
    INV_SQRT_2PI,
    draw_probability,
    draw_quality,
    update,
    update_drawn,
    win_probability,
)

# The plain evaluation, one draw quality at a time, of equations (12) and (13).


@kernel
def _best_quality(j: int, after: tuple[float, float, float, float], known: Knowledge) -> float:
    """Return the largest q of player 0 after a game against j that left these beliefs of both."""
    mean_0, variance_0, mean_j, variance_j = after
    best = draw_quality(mean_0, variance_0, mean_j, variance_j, known.noise_variance)
    for k in range(known.means.size):
        if k not in (j, known.player):
            mean, variance = known.means[k], known.variances[k]
            best = max(best, draw_quality(mean_0, variance_0, mean, variance, known.noise_variance))
    return best


@kernel
def future_quality(j: int, known: Knowledge) -> float:
    """Return F_j, the expected largest q after a game of player 0 against j."""
    mean_0, variance_0 = known.means[known.player], known.variances[known.player]
    mean_j, variance_j = known.means[j], known.variances[j]
    noise, printed, margin = known.noise_variance, known.as_printed, known.draw_margin
    p_win = win_probability(mean_0, variance_0, mean_j, variance_j, noise, printed, margin)
    p_loss = win_probability(mean_j, variance_j, mean_0, variance_0, noise, printed, margin)
    won = update(mean_0, variance_0, mean_j, variance_j, noise, printed, margin)
    lost = update(mean_j, variance_j, mean_0, variance_0, noise, printed, margin)
    best_win = _best_quality(j, won, known)
    best_loss = _best_quality(j, (lost[2], lost[3], lost[0], lost[1]), known)
    expected = p_win * best_win + p_loss * best_loss
    if margin > 0.0:
        p_draw = draw_probability(mean_0, variance_0, mean_j, variance_j, noise, margin)
        drew = update_drawn(mean_0, variance_0, mean_j, variance_j, noise, margin)
        expected += p_draw * _best_quality(j, drew, known)
    return expected


@kernel
def score(j: int, known: Knowledge, multiplier: float) -> float:
    """Return q_0j + multiplier F_j, what (12) and (13) maximise."""
    mean_0, variance_0 = known.means[known.player], known.variances[known.player]
    mean_j, variance_j = known.means[j], known.variances[j]
    quality = draw_quality(mean_0, variance_0, mean_j, variance_j, known.noise_variance)
    return quality + multiplier * future_quality(j, known)


@kernel
def best_of_scores(scores: Floats, least: float, known: Knowledge, multiplier: float) -> int:
    """Return the opponent of largest plain score of those with `scores` of at least `least`."""
    chosen, best = -1, -math.inf
    means, variances = known.means, known.variances
    for j in range(means.size):
        if scores[j] < least or j == known.player:
            continue
        # Equal beliefs have equal scores, so that ties need no evaluation.
        if chosen >= 0 and means[j] == means[chosen] and variances[j] == variances[chosen]:
            continue
        value = score(j, known, multiplier)
        if value > best:
            chosen, best = j, value
    return chosen


# Approximations, by which most opponents are ruled out.

# Bound on the error of an approximate quality relative to the largest possible quality, for
# beliefs no wider than the noise: `exp_minus` and `_excess` contribute 1.5e-10 and 2.2e-9.
_ERROR = 1e-8


@kernel
def error_bound(known: Knowledge) -> float:
    """Bound the error of sqrt(2 pi) times an approximate quality, now or after one game."""
    # The largest quality is 1 / sqrt(2 sigma_eps^2). Beliefs wider than the noise magnify an
    # error, as does the printed step over a c below 1.
    noise = 2.0 * known.noise_variance
    widest = known.variances[place_of_largest(known.variances)]
    width = known.variances[known.player] + widest + noise
    bound: float = _ERROR * width / (noise * math.sqrt(noise))
    return bound * max(1.0, 1.0 / math.sqrt(noise)) if known.as_printed else bound


@part
def _excess(y: float) -> float:
    """Approximate `hazard_excess` so that the error times (1 - Phi(y)) (y + 2) is below 2.2e-9."""
    # The weight is the probability of an upset times its effect; beyond y = 6 nothing is left of
    # it. Products of pairs of terms give short chains of dependent operations, as in `exp_minus`.
    y = min(y, 6.0)
    y2 = y * y
    y4 = y2 * y2
    low = (0.79788456189 - 0.36338014214 * y) + y2 * (0.1090047837 - 0.019114348651 * y)
    middle = (-0.00023145152549 + 0.0013588613548 * y) + y2 * (
        -0.00046450843752 + 8.6055209701e-05 * y
    )
    high = -8.939753008e-06 + 4.0750781979e-07 * y
    return low + y4 * (middle + y4 * high)


@part
def _squared_quality(mean_0: float, variance_0: float, mean_k: float, variance_k: float) -> float:
    """Approximate 2 pi q^2 of (5), which saves a root; `variance_k` carries the noise of both."""
    inverse = 1.0 / (variance_0 + variance_k)
    difference = mean_0 - mean_k
    bell = exp_minus(0.5 * difference * difference * inverse)
    return bell * bell * inverse


@part
def _outcomes(known: Knowledge) -> None:
    """Approximate both outcomes of a game against every player."""
    means, variances, work = known.means, known.variances, known.work
    mean_0, variance_0 = means[known.player], variances[known.player]
    noise, as_printed = 2.0 * known.noise_variance, known.as_printed
    won, lost = work.won, work.lost
    for j in range(means.size):
        mean, variance = means[j], variances[j]
        inverse = 1.0 / (variance_0 + variance + noise)
        root = math.sqrt(inverse)
        difference = mean_0 - mean
        bell = exp_minus(0.5 * difference * difference * inverse)
        work.inverse[j] = inverse
        work.quality[j] = bell * root
        scale = inverse if as_printed else root
        x = difference * scale
        density = INV_SQRT_2PI * (exp_minus(0.5 * x * x) if as_printed else bell)
        # One reciprocal serves the tail 1 - Phi(y) = density / upset_v and v(y) = density / Phi(y).
        y = abs(x)
        excess = _excess(y)
        upset_v = y + excess
        share = density / (upset_v * (upset_v - density))
        tail = share * (upset_v - density)
        expected_v = share * (upset_v * upset_v)
        upset_w = min(upset_v * excess, 1.0)  # the approximation has no limit beyond y = 6
        expected_w = expected_v * (expected_v + y)
        ahead = x > 0.0
        work.p_win[j] = 1.0 - tail if ahead else tail
        v_win = scale * (expected_v if ahead else upset_v)
        v_loss = scale * (upset_v if ahead else expected_v)
        w_win = inverse * (expected_w if ahead else upset_w)
        w_loss = inverse * (upset_w if ahead else expected_w)
        mean_win = mean_0 + variance_0 * v_win
        mean_loss = mean_0 - variance_0 * v_loss
        variance_win = variance_0 * (1.0 - variance_0 * w_win)
        variance_loss = variance_0 * (1.0 - variance_0 * w_loss)
        won.means[j] = mean_win
        lost.means[j] = mean_loss
        won.variances[j] = variance_win
        lost.variances[j] = variance_loss
        wide = variance + noise
        won.best[j] = _squared_quality(
            mean_win, variance_win, mean - variance * v_win, wide - variance * variance * w_win
        )
        lost.best[j] = _squared_quality(
            mean_loss, variance_loss, mean + variance * v_loss, wide - variance * variance * w_loss
        )


@part
def _outcomes_with_draws(known: Knowledge) -> None:
    """Fill in the three outcomes of a game against every player, but for the qualities exactly."""
    # There are M of them a decision, and thrice M^2 qualities.
    means, variances, work = known.means, known.variances, known.work
    draw_margin = known.draw_margin
    mean_0, variance_0 = means[known.player], variances[known.player]
    half, noise = known.noise_variance, 2.0 * known.noise_variance
    for j in range(means.size):
        mean, variance = means[j], variances[j]
        wide = variance + noise
        work.inverse[j] = 1.0 / (variance_0 + wide)
        work.quality[j] = math.sqrt(_squared_quality(mean_0, variance_0, mean, wide))
        work.p_win[j] = win_probability(
            mean_0, variance_0, mean, variance, half, False, draw_margin
        )
        work.p_draw[j] = draw_probability(mean_0, variance_0, mean, variance, half, draw_margin)
        won = update(mean_0, variance_0, mean, variance, half, False, draw_margin)
        lost = update(mean, variance, mean_0, variance_0, half, False, draw_margin)
        drew = update_drawn(mean_0, variance_0, mean, variance, half, draw_margin)
        work.won.means[j], work.won.variances[j] = won[0], won[1]
        work.lost.means[j], work.lost.variances[j] = lost[2], lost[3]
        work.drew.means[j], work.drew.variances[j] = drew[0], drew[1]
        work.won.best[j] = _squared_quality(won[0], won[1], won[2], won[3] + noise)
        work.lost.best[j] = _squared_quality(lost[2], lost[3], lost[0], lost[1] + noise)
        work.drew.best[j] = _squared_quality(drew[0], drew[1], drew[2], drew[3] + noise)


@part
def _two_best(quality: Floats) -> tuple[int, int]:
    """Return the indices of the largest and the second largest entry."""
    first, second = 0, 1
    if quality[1] > quality[0]:
        first, second = 1, 0
    for k in range(2, quality.size):
        if quality[k] > quality[second]:
            second = k
            if quality[k] > quality[first]:
                first, second = k, first
    return first, second


@part
def _ceilings(low: float, high: float, growth: float, known: Knowledge) -> None:
    """Bound every player's quality over all beliefs about player 0 with a mean in [low, high]."""
    # From now to then the quality grows by exp(z) and by the narrower belief, at most `growth`;
    # exp(z) <= (1 + z / 4 + z^2 / 16)^4 for z <= 7 costs no exponential.
    means, work = known.means, known.work
    inverse, quality, ceiling = work.inverse, work.quality, work.scores
    mean_0 = means[known.player]
    for k in range(means.size):
        difference = mean_0 - means[k]
        near = max(low - means[k], means[k] - high, 0.0)
        z = 0.5 * (difference * difference - near * near) * inverse[k]
        f = 1.0 + z * (0.25 + z * 0.0625)
        f *= f
        ceiling[k] = quality[k] * growth * (f * f) if z < 7.0 else math.inf


@part
def _raise_to_rival(mean_k: float, wide: float, outcome: Outcome) -> None:
    """Raise the best quality after each player's game to that of the rival N(mean_k, wide)."""
    mean_0, variance_0, best = outcome.means, outcome.variances, outcome.best
    for j in range(best.size):
        quality = _squared_quality(mean_0[j], variance_0[j], mean_k, wide)
        # A sum, because a maximum would compile to a masked store, which is slow.
        best[j] += max(quality - best[j], 0.0)


@part
def _look_ahead(first: int, second: int, slack: float, outcome: Outcome, known: Knowledge) -> None:
    """Raise the quality after one outcome of each game from the opponent's to that of all."""
    # Every belief about player 0 after that outcome lies in [low, high] x [narrow, now]. A player
    # is a rival unless its ceiling there is below what both `first` and `second` keep: a
    # candidate, whose own belief changes, may be one of the two, but not both.
    means, variances, work, player = known.means, known.variances, known.work, known.player
    mean_0, variance_0, best = outcome.means, outcome.variances, outcome.best
    noise = 2.0 * known.noise_variance
    low, high, narrow = mean_0[0], mean_0[0], variance_0[0]
    for j in range(mean_0.size):
        low = mean_0[j] if mean_0[j] < low else low
        high = mean_0[j] if mean_0[j] > high else high
        narrow = variance_0[j] if variance_0[j] < narrow else narrow
    threshold = math.inf
    for k in (first, second):
        far = max(abs(low - means[k]), abs(high - means[k]))
        exponent = 0.5 * far * far / (narrow + variances[k] + noise)
        threshold = min(threshold, exp_minus(exponent) * math.sqrt(work.inverse[k]))
    growth = math.sqrt((variances[player] + noise) / (narrow + noise))
    _ceilings(low, high, growth, known)
    ceiling = work.scores
    ceiling[player] = -1.0
    for k in range(means.size):
        if ceiling[k] >= threshold - slack:
            kept = best[k]
            _raise_to_rival(means[k], variances[k] + noise, outcome)
            best[k] = kept


@part
def _combine(multiplier: float, known: Knowledge) -> None:
    """Fill the scores with q_0j + multiplier F_j."""
    work = known.work
    scores, quality, p_win = work.scores, work.quality, work.p_win
    best_win, best_loss = work.won.best, work.lost.best
    for j in range(scores.size):
        win, loss = math.sqrt(best_win[j]), math.sqrt(best_loss[j])
        future = p_win[j] * win + (1.0 - p_win[j]) * loss
        scores[j] = quality[j] + multiplier * future
    if known.draw_margin > 0.0:
        for j in range(scores.size):
            more = math.sqrt(work.drew.best[j]) - math.sqrt(best_loss[j])
            scores[j] += multiplier * work.p_draw[j] * more


@kernel
def best_opponent(known: Knowledge, multiplier: float) -> int:
    """Return the opponent of largest q_0j + multiplier F_j, ties to the lowest index."""
    # The plain evaluation of one decision costs 2 M^2 draw qualities, 3 M^2 with draws. Here
    # scores are approximate: one density serves all that a candidate needs, and each outcome is
    # compared with the few rivals that can be anyone's best next opponent. Candidates whose
    # approximate scores lie within the error of the best are compared by the plain score.
    work, draws = known.work, known.draw_margin > 0.0
    slack = error_bound(known)
    if draws:
        _outcomes_with_draws(known)
    else:
        _outcomes(known)
    work.quality[known.player] = -1.0
    first, second = _two_best(work.quality)
    if second != known.player:  # a single opponent has no rival
        _look_ahead(first, second, slack, work.won, known)
        _look_ahead(first, second, slack, work.lost, known)
        if draws:
            _look_ahead(first, second, slack, work.drew, known)
    _combine(multiplier, known)
    scores = work.scores
    scores[known.player] = -math.inf
    chosen = place_of_largest(scores)
    least = scores[chosen] - 2.0 * slack * (1.0 + multiplier)
    n_close = 0
    for j in range(scores.size):
        n_close += scores[j] >= least
    return chosen if n_close == 1 else best_of_scores(scores, least, known, multiplier)


@macro
def choose(known: Knowledge, game: int, uniform: float) -> int:
    """Return the opponent of largest q + gamma / (1 - gamma) F, equation (13)."""
    return best_opponent(known, known.gamma / (1.0 - known.gamma))


@macro
def choose_finite(known: Knowledge, game: int, uniform: float) -> int:
    """Return the opponent of largest q + (N - n) F, equation (12)."""
    return best_opponent(known, float(known.n_games - game))
