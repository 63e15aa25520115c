"""Knowledge gradient of a pair: draw chance now, and what the game adds to later ones.

Beliefs are normal, N(mean, variance); all densities are divided by N(0; 0, 2 beta^2), so that
every worth is a pure number. Equation numbers are those of `valmatch.ratings.trueskill`.
"""

from __future__ import annotations

import math

import numpy as np

from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import at, expanded, inlined, internal, unallocating
from valmatch.policies.myopic import pair_draw_chance
from valmatch.policies.waiting import Ticket, Waiting
from valmatch.ratings.trueskill import (
    hazard_excess,
    normal_density,
    update,
    win_probability,
)

NOBODY = -1


@unallocating
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


@internal
def _learnt(difference: float, total: float) -> float:
    """Return phi(x)^2 / (Phi(x) Phi(-x)), x = d / c: the product of both hazards."""
    y = abs(difference) / math.sqrt(total)
    hazard, density = y + hazard_excess(y), normal_density(y)
    return density / (1.0 - density / hazard) * hazard


@unallocating
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
        Mean variance of all who wait: of the opponent, of equal mean, of each later game.
    noise_variance
        Variance of one performance around the skill.
    multiplier
        gamma / (1 - gamma); with 0 this is the draw chance.

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


@internal
def _evenness(variance: float, noise_variance: float) -> float:
    """Return the draw chance of equal means, of two beliefs with this sum of variances."""
    return math.sqrt(2.0 * noise_variance / (variance + 2.0 * noise_variance))


@unallocating
def pair_knowledge_gradient(
    i: int,
    j: int,
    means: Floats,
    variances: Floats,
    tickets: Ints,
    nearby: Ints,
    band: int,
    noise_variance: float,
    multiplier: float,
) -> float:
    """Return the draw chance plus what the game adds to the best next draw chance of both players.

    Parameters
    ----------
    i, j
        The two players: places among those who wait.
    means, variances, tickets
        Beliefs about all who wait in order of their means, ties by ticket; and their tickets.
    nearby
        As `narrowest_first` gives it for these variances and this band.
    band
        The next opponent is one of so many on each side of a player's mean, i and j taken out.
    noise_variance
        Variance of one performance around the skill.
    multiplier
        gamma / (1 - gamma); with 0 this is the draw chance.
    """
    mean_i, variance_i, mean_j, variance_j = means[i], variances[i], means[j], variances[j]
    p = win_probability(mean_i, variance_i, mean_j, variance_j, noise_variance)
    won = update(mean_i, variance_i, mean_j, variance_j, noise_variance)
    lost = update(mean_j, variance_j, mean_i, variance_i, noise_variance)
    gained = 0.0
    for x, y, chance, win, loss in (
        (i, j, p, (won[0], won[1]), (lost[2], lost[3])),
        (j, i, p, (won[2], won[3]), (lost[0], lost[1])),
    ):
        place = _place_of(win[0], x, means, tickets)
        after_win = _best_next(place, x, y, win, means, variances, nearby, band, noise_variance)
        place = _place_of(loss[0], x, means, tickets)
        after_loss = _best_next(place, x, y, loss, means, variances, nearby, band, noise_variance)
        now = (means[x], variances[x])
        before = _best_next(x, x, y, now, means, variances, nearby, band, noise_variance)
        gained += (chance * after_win + (1.0 - chance) * after_loss) - before
    quality = pair_draw_chance(mean_i, variance_i, mean_j, variance_j, noise_variance)
    return quality + 0.5 * multiplier * gained


@unallocating
def narrowest_first(variances: Floats, band: int, nearby: Ints) -> None:
    """Give the players near each place, those of the smallest variance first.

    Whoever looks for the best opponent near a place may then stop at the first whose variance alone
    makes him worse than the best so far.

    Parameters
    ----------
    variances : (n,) ndarray of float64
        Of all who wait, in order of their means.
    band : int
        The next opponent is one of so many on each side.
    nearby : (>= n + 1, 2 band + 4) ndarray of int64
        Out: the places at most band + 2 before or after each, as two more may be taken out; -1
        after the last.
    """
    n, reach = variances.size, band + 2
    found = 0
    for come in range(min(n, reach)):
        found = _insert(come, found, variances, nearby[0])
    for place in range(n + 1):
        row = nearby[at(place)]
        if place > 0:
            found = _without(place - 1 - reach, nearby[at(place - 1)], row)
            if place - 1 + reach < n:
                found = _insert(place - 1 + reach, found, variances, row)
        if found < row.size:
            row[at(found)] = NOBODY


@inlined
def _without(gone: int, before: Ints, row: Ints) -> int:
    """Copy the players of a row but one; return how many there are."""
    found = 0
    for k in before:
        if k == NOBODY:
            break
        if k != gone:
            row[at(found)] = k
            found += 1
    return found


@inlined
def _insert(come: int, found: int, variances: Floats, row: Ints) -> int:
    """Put a player into a row of so many; return how many there are then."""
    slot = found
    while slot > 0 and variances[at(row[at(slot - 1)])] > variances[at(come)]:
        row[at(slot)] = row[at(slot - 1)]
        slot -= 1
    row[at(slot)] = come
    return found + 1


@internal
def _best_next(
    place: int,
    player: int,
    opponent: int,
    belief: tuple[float, float],
    means: Floats,
    variances: Floats,
    nearby: Ints,
    band: int,
    noise_variance: float,
) -> float:
    """Return the largest draw chance of a player of this belief and place, 0 if there is nobody.

    It is the largest where total exp(d^2 / total), which is at least total + d^2, is the least.
    """
    mean, variance = belief
    low, high = _window(place, min(player, opponent), max(player, opponent), band, means.size)
    best, least = NOBODY, np.inf
    for slot in range(nearby.shape[1]):
        k = nearby[at(place), at(slot)]
        if k == NOBODY:
            break
        total = variance + variances[at(k)] + 2.0 * noise_variance
        if total >= least:
            break
        difference = mean - means[at(k)]
        square = difference * difference
        if total + square < least and low <= k < high and k != player and k != opponent:
            inverse = total * math.exp(square / total)
            if inverse < least:
                best, least = k, inverse
    if best == NOBODY:
        return 0.0
    return pair_draw_chance(mean, variance, means[at(best)], variances[at(best)], noise_variance)


@inlined
def _window(place: int, first: int, second: int, band: int, n: int) -> tuple[int, int]:
    """Return the range of the `band` players on each side of a place, besides two who lie in it."""
    low = place - band
    low -= int(low <= second < place)
    low -= int(low <= first < place)
    high = place + band
    high += int(place <= first < high)
    high += int(place <= second < high)
    return max(low, 0), min(high, n)


@internal
def _place_of(mean: float, player: int, means: Floats, tickets: Ints) -> int:
    """Return how many of those who wait come before a player of this mean."""
    low, high = 0, means.size
    while low < high:
        middle = (low + high) // 2
        other = means[at(middle)]
        if other < mean or (other == mean and tickets[at(middle)] < tickets[at(player)]):
            low = middle + 1
        else:
            high = middle
    return low


@expanded
def weigh(first: Ticket, second: Ticket, limit: float, waiting: Waiting) -> float:
    """Return the draw chance of a pair, and what their game adds to their next ones."""
    return pair_knowledge_gradient(
        first["rank"],
        second["rank"],
        waiting.means,
        waiting.variances,
        waiting.tickets,
        waiting.nearby,
        waiting.band,
        waiting.noise_variance,
        waiting.multiplier,
    )


@expanded
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
