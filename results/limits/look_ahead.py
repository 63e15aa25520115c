"""Where the time goes in which pairs are weighed by the knowledge gradient, a part a line.

The seconds are of a player who waits: of the eight pairs of him and the next in the order of means.
Parts are differences of loops that do ever more of the work. One of these is told who is the best
next opponent and only works out his draw chance: what it lacks is finding him.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from results.limits.parting import least_in_turn, show
from tests.support.mean_orders import ordered
from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import at, inlined, unallocating
from valmatch.policies.mean_order import NOBODY, best_besides, best_next, place_of, prepare
from valmatch.policies.myopic import pair_draw_chance
from valmatch.policies.pair_lookahead import pair_knowledge_gradient
from valmatch.policies.waiting import MeanOrder
from valmatch.ratings.trueskill import both_outcomes

WAITING, WORLDS, BAND = 800, 100, 8
NOISE_VARIANCE, MULTIPLIER = 150.0**2, 19.0

Beliefs = tuple[float, float, float, float]


@unallocating
def whole(order: MeanOrder, best: Ints) -> float:
    """Do all of it."""
    prepare(order)
    total = 0.0
    for i in range(order.means.size):
        for j in range(i + 1, min(i + 1 + order.band, order.means.size)):
            total += pair_knowledge_gradient(i, j, order, MULTIPLIER)
    return total


@unallocating
def prepared(order: MeanOrder, best: Ints) -> float:
    """Only prepare the order."""
    prepare(order)
    return 0.0


@unallocating
def before(order: MeanOrder, best: Ints) -> float:
    """Only work out the draw chances of the pairs, and the best of both besides."""
    total = 0.0
    for i in range(order.means.size):
        for j in range(i + 1, min(i + 1 + order.band, order.means.size)):
            total += best_besides(i, j, order) + best_besides(j, i, order)
            total += _chance(order.means[at(i)], order.variances[at(i)], j, order)
    return total


@inlined
def _chance(mean: float, variance: float, k: int, order: MeanOrder) -> float:
    """Return the draw chance of this belief with one who waits."""
    other_mean, other_variance = order.means[at(k)], order.variances[at(k)]
    return pair_draw_chance(mean, variance, other_mean, other_variance, order.noise_variance)


@inlined
def _outcomes(i: int, j: int, order: MeanOrder) -> tuple[float, Beliefs, Beliefs]:
    return both_outcomes(
        order.means[at(i)],
        order.variances[at(i)],
        order.means[at(j)],
        order.variances[at(j)],
        order.noise_variance,
    )


@unallocating
def updated(order: MeanOrder, best: Ints) -> float:
    """Only update beliefs."""
    total = 0.0
    for i in range(order.means.size):
        for j in range(i + 1, min(i + 1 + order.band, order.means.size)):
            p, won, lost = _outcomes(i, j, order)
            total += p + won[0] + won[1] + won[2] + won[3]
            total += lost[0] + lost[1] + lost[2] + lost[3]
    return total


@unallocating
def placed(order: MeanOrder, best: Ints) -> float:
    """Only update beliefs, and find the places of the new means."""
    total = 0
    for i in range(order.means.size):
        for j in range(i + 1, min(i + 1 + order.band, order.means.size)):
            _, won, lost = _outcomes(i, j, order)
            total += place_of(won[0], i, order) + place_of(lost[0], i, order)
            total += place_of(won[2], j, order) + place_of(lost[2], j, order)
    return float(total)


@unallocating
def told(order: MeanOrder, best: Ints) -> float:
    """Only update beliefs, and work out the chances of the best next opponents, who are known."""
    total = 0.0
    number = 0
    for i in range(order.means.size):
        for j in range(i + 1, min(i + 1 + order.band, order.means.size)):
            p, won, lost = _outcomes(i, j, order)
            for chance, mean, variance in (
                (p, won[0], won[1]),
                (1.0 - p, lost[0], lost[1]),
                (p, won[2], won[3]),
                (1.0 - p, lost[2], lost[3]),
            ):
                total += chance * _chance(mean, variance, best[at(number)], order)
                number += 1
    return total


@unallocating
def find_all(order: MeanOrder, best: Ints) -> int:
    """Note who is the best next opponent of each; return how many were looked for."""
    prepare(order)
    number = 0
    for i in range(order.means.size):
        for j in range(i + 1, min(i + 1 + order.band, order.means.size)):
            _, won, lost = _outcomes(i, j, order)
            for x, y, mean, variance in (
                (i, j, won[0], won[1]),
                (i, j, lost[0], lost[1]),
                (j, i, won[2], won[3]),
                (j, i, lost[2], lost[3]),
            ):
                place = place_of(mean, x, order)
                chance = best_next(place, x, y, (mean, variance), order)
                best[at(number)] = _who(place, (mean, variance), chance, order)
                number += 1
    return number


@inlined
def _who(place: int, belief: tuple[float, float], chance: float, order: MeanOrder) -> int:
    """Return whose draw chance it is."""
    for k in order.nearby[at(place)]:
        if k == NOBODY:
            break
        if chance == _chance(belief[0], belief[1], k, order):
            return int(k)
    raise ValueError("nobody has this chance")


def waiting(seed: int) -> tuple[Floats, Floats, Ints]:
    """Return the means and variances of beliefs about players who wait, and their tickets."""
    rng = np.random.default_rng(seed)
    means: Floats = np.sort(rng.normal(1500.0, 300.0, WAITING))
    variances: Floats = rng.uniform(40.0, 300.0, WAITING) ** 2
    return means, variances, rng.permutation(WAITING)


def world(seed: int) -> tuple[MeanOrder, Ints]:
    """Return players who wait, prepared, and the best next opponents of their pairs."""
    order = ordered(*waiting(seed), BAND, NOISE_VARIANCE)
    best = np.empty(4 * BAND * WAITING, np.int64)
    return order, best[: find_all(order, best)]


def measured() -> dict[str, float]:
    """Return the seconds of a player who waits by part."""
    worlds = [world(seed) for seed in range(WORLDS)]

    def over(kernel: Callable[[MeanOrder, Ints], float]) -> None:
        for order, best in worlds:
            kernel(order, best)

    loops = (whole, prepared, before, updated, placed, told)
    works = {kernel.__name__: partial(over, kernel) for kernel in loops}
    for work in works.values():
        work()  # compiles
    took = {name: own / WORLDS / WAITING for name, own in least_in_turn(works).items()}
    found = {
        "the order prepared": took["prepared"],
        "the chance of the pair, the best chances before the game": took["before"],
        "beliefs after either outcome": took["updated"],
        "chances of the best next opponents": took["told"] - took["updated"],
        "places of the new means": took["placed"] - took["updated"],
    }
    found["finding the best next opponents"] = took["whole"] - sum(found.values())
    return found


if __name__ == "__main__":
    show(measured())
