"""Players who wait in order of the means of their beliefs, and the best opponent near a place."""

from __future__ import annotations

import math

import numpy as np

from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import at, kernel, part
from valmatch.policies.myopic import pair_draw_chance
from valmatch.policies.waiting import PARTS, MeanOrder

NOBODY = -1

FEW = 2  # so many are looked at one by one

CLEARLY = 1.0 + 1e-12
"""By this factor one must exceed another to do so whatever the rounding of both."""


@kernel
def prepare(order: MeanOrder) -> None:
    """Fill in what follows from means, variances and tickets."""
    _narrowest_first(order)
    _cut_into_parts(order)
    for place in range(order.means.size):
        _find_best(place, order)


@part(inline=True)
def _narrowest_first(order: MeanOrder) -> None:
    """Fill in who is near each place."""
    n, reach, nearby = order.means.size, order.band + 2, order.nearby
    found = 0
    for come in range(min(n, reach)):
        found = _insert(come, found, order.variances, nearby[0])
    for place in range(n + 1):
        row = nearby[at(place)]
        if place > 0:
            found = _without(place - 1 - reach, nearby[at(place - 1)], row)
            if place - 1 + reach < n:
                found = _insert(place - 1 + reach, found, order.variances, row)
        if found < row.size:
            row[at(found)] = NOBODY


@part(inline=True)
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


@part(inline=True)
def _insert(come: int, found: int, variances: Floats, row: Ints) -> int:
    """Put a player into a row of so many; return how many there are then."""
    slot = found
    while slot > 0 and variances[at(row[at(slot - 1)])] > variances[at(come)]:
        row[at(slot)] = row[at(slot - 1)]
        slot -= 1
    row[at(slot)] = come
    return found + 1


@part(inline=True)
def _cut_into_parts(order: MeanOrder) -> None:
    """Fill in where the parts of the range of the means begin."""
    n = order.means.size
    length = order.means[at(n - 1)] - order.means[0]
    scale = PARTS * n / length if length > 0.0 else 0.0
    order.scale[0], order.scale[1] = order.means[0], scale if scale < np.inf else 0.0
    place = 0
    for piece in range(PARTS * n + 1):
        while place < n and _part_of(order.means[at(place)], order) < piece:
            place += 1
        order.starts[at(piece)] = place


@part(inline=True)
def _part_of(mean: float, order: MeanOrder) -> int:
    """Return the part of the range that a mean is in; it never falls as means rise."""
    piece = (mean - order.scale[0]) * order.scale[1]
    return int(min(max(piece, 0.0), float(PARTS * order.means.size - 1)))


@part
def place_of(mean: float, player: int, order: MeanOrder) -> int:
    """Return how many of those who wait come before a player of this mean."""
    piece = _part_of(mean, order)
    low, high = order.starts[at(piece)], order.starts[at(piece + 1)]
    while high - low > FEW:
        middle = (low + high) // 2
        if _comes_before(middle, mean, player, order):
            low = middle + 1
        else:
            high = middle
    # Which of a few come before nobody can predict, so that they are counted without branches.
    place, last = low, order.means.size - 1
    for k in range(low, low + FEW):
        place += int(_comes_before(min(k, last), mean, player, order)) & int(k < high)
    return place


@part(inline=True)
def _comes_before(other: int, mean: float, player: int, order: MeanOrder) -> bool:
    """Return whether one who waits comes before a player of this mean."""
    if order.means[at(other)] == mean:
        return order.tickets[at(other)] < order.tickets[at(player)]
    return order.means[at(other)] < mean


@part
def best_next(
    place: int, player: int, opponent: int, belief: tuple[float, float], order: MeanOrder
) -> float:
    """Return the largest draw chance of a player of this belief and place, 0 if there is nobody.

    The player and the opponent of the game before are taken out. The chance is the largest
    where total exp(d^2 / total), which is at least total + d^2, is the least. Of the first who is
    found it is worked out only if needed: it is at most total + d^2 + d^4 / total if d^2 <= total.
    """
    mean, variance = belief
    first, second = min(player, opponent), max(player, opponent)
    low, high = _window(place, first, second, order.band, order.means.size)
    best, least, known = NOBODY, np.inf, True
    best_total, best_square = 0.0, 0.0
    for slot in range(order.nearby.shape[1]):
        k = order.nearby[at(place), at(slot)]
        if k == NOBODY:
            break
        total = variance + order.variances[at(k)] + 2.0 * order.noise_variance
        if total >= least:
            break
        difference = mean - order.means[at(k)]
        square = difference * difference
        if total + square < least and low <= k < high and k != player and k != opponent:
            if best == NOBODY and square <= total:
                best, best_total, best_square = k, total, square
                least, known = (total + square + square * square / total) * CLEARLY, False
                continue
            if not known:
                least, known = best_total * math.exp(best_square / best_total), True
            inverse = total * math.exp(square / total)
            if total + square < least and inverse < least:
                best, least = k, inverse
    if best == NOBODY:
        return 0.0
    other_mean, other_variance = order.means[at(best)], order.variances[at(best)]
    return pair_draw_chance(mean, variance, other_mean, other_variance, order.noise_variance)


@part(inline=True)
def _window(place: int, first: int, second: int, band: int, n: int) -> tuple[int, int]:
    """Return the range of the `band` players on each side of a place, besides two who lie in it."""
    low = place - band
    low -= int(low <= second < place)
    low -= int(low <= first < place)
    high = place + band
    high += int(place <= first < high)
    high += int(place <= second < high)
    return max(low, 0), min(high, n)


@part(inline=True)
def _find_best(player: int, order: MeanOrder) -> None:
    """Fill in the best of a player's neighbours, if one is clearly the best."""
    mean, variance = order.means[at(player)], order.variances[at(player)]
    best, least, second = NOBODY, np.inf, np.inf
    for slot in range(order.nearby.shape[1]):
        k = order.nearby[at(player), at(slot)]
        if k == NOBODY:
            break
        total = variance + order.variances[at(k)] + 2.0 * order.noise_variance
        if total >= second:
            break
        difference = mean - order.means[at(k)]
        square = difference * difference
        if total + square < second and abs(k - player) <= order.band and k != player:
            inverse = total * math.exp(square / total)
            if inverse < least:
                best, least, second = k, inverse, least
            else:
                second = min(second, inverse)
    if best == NOBODY or not least * CLEARLY < second:
        order.best[at(player)] = NOBODY
        return
    order.best[at(player)], order.least[at(player)] = best, least
    other_mean, other_variance = order.means[at(best)], order.variances[at(best)]
    order.chances[at(player)] = pair_draw_chance(
        mean, variance, other_mean, other_variance, order.noise_variance
    )


@part
def best_besides(player: int, opponent: int, order: MeanOrder) -> float:
    """Return `best_next` of a player as they stand, without the opponent.

    Of the neighbours the best is known. Only who comes into the band for the opponent is looked at,
    unless that opponent is the best.
    """
    best = order.best[at(player)]
    clear = best != NOBODY and best != opponent
    if clear and abs(opponent - player) <= order.band:
        edge = player + order.band + 1 if opponent > player else player - order.band - 1
        if 0 <= edge < order.means.size:
            difference = order.means[at(player)] - order.means[at(edge)]
            total = order.variances[at(player)] + order.variances[at(edge)]
            bound = (total + 2.0 * order.noise_variance) + difference * difference
            clear = bound > order.least[at(player)] * CLEARLY
    if clear:
        return order.chances[at(player)]
    belief = (order.means[at(player)], order.variances[at(player)])
    return best_next(player, player, opponent, belief, order)
