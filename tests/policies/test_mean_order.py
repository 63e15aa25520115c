"""Players who wait in order of their means, against what a plain search finds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.support.interpreted import interpreted
from tests.support.mean_orders import ordered, random_order
from valmatch.policies.mean_order import NOBODY, best_besides, best_next, place_of
from valmatch.policies.myopic import pair_draw_chance
from valmatch.policies.waiting import MeanOrder

NOISE = 150.0**2


def test_all_who_are_near_a_place_come_in_order_of_variance() -> None:
    rng = np.random.default_rng(8)
    for _ in range(200):
        n, band = int(rng.integers(1, 30)), int(rng.integers(1, 9))
        order = random_order(rng, n, band, NOISE)
        for place, row in enumerate(order.nearby[: n + 1]):
            near = range(max(0, place - band - 2), min(n, place + band + 2))
            found = row[: len(near)]
            assert sorted(found) == list(near)
            assert list(order.variances[found]) == sorted(order.variances[found])
            assert len(near) == row.size or row[len(near)] == NOBODY


def test_a_place_is_how_many_come_before() -> None:
    rng = np.random.default_rng(9)
    for _ in range(200):
        n = int(rng.integers(1, 40))
        order = random_order(rng, n, 3, NOISE)
        ends = [order.means[0] - 1e9, order.means[-1] + 1e9, -1e308, 1e308]
        near = (order.means[:, None] + [-1e-9, 0.0, 1e-9, 0.5]).ravel()
        for mean in [*ends, *near, *rng.normal(1500.0, 300.0, 20)]:
            player = int(rng.integers(n))
            pairs = zip(order.means.tolist(), order.tickets.tolist(), strict=True)
            before = sum(pair < (mean, order.tickets[player]) for pair in pairs)
            assert place_of(float(mean), player, order) == before


@pytest.mark.parametrize("length", [5e-324, 1e-300, 1e300])
def test_a_place_in_a_range_of_any_length(length: float) -> None:
    means = np.array([0.0, length / 2, length])
    order = ordered(means, np.ones(3), np.arange(3), 2, NOISE)
    assert [place_of(float(mean), 2, order) for mean in means] == [
        sum((a, t) < (mean, 2) for t, a in enumerate(means)) for mean in means
    ]
    assert place_of(-length, 0, order) == 0
    assert place_of(2 * length, 0, order) == 3


def plainly(place: int, player: int, opponent: int, mean: float, variance: float,
            order: MeanOrder) -> float:  # fmt: skip
    """Return the largest draw chance among the band on each side, the two taken out."""
    others = [k for k in range(order.means.size) if k not in (player, opponent)]
    below = [k for k in others if k < place][-order.band :]
    above = [k for k in others if k >= place][: order.band]
    beliefs = [(float(order.means[k]), float(order.variances[k])) for k in (*below, *above)]
    return max((pair_draw_chance(mean, variance, *each, NOISE) for each in beliefs), default=0.0)


def test_the_best_opponent_is_that_of_a_plain_search() -> None:
    rng, alike, besides = np.random.default_rng(10), 0, 0
    for _ in range(300):
        n, band = int(rng.integers(2, 30)), int(rng.integers(1, 9))
        order = random_order(rng, n, band, NOISE)
        for _ in range(10):
            x, y = (int(k) for k in rng.choice(n, 2, replace=False))
            mean, variance = float(order.means[x]), float(order.variances[x])
            now = best_next(x, x, y, (mean, variance), order)
            assert now == pytest.approx(plainly(x, x, y, mean, variance, order), rel=1e-14)
            assert best_besides(x, y, order) == now  # to the last bit
            known = int(order.best[x])
            alike += known == NOBODY
            besides += known not in (NOBODY, y)
            moved, narrow = mean + float(rng.normal(0.0, 100.0)), 0.7 * variance
            place = place_of(moved, x, order)
            found = best_next(place, x, y, (moved, narrow), order)
            assert found == pytest.approx(plainly(place, x, y, moved, narrow, order), rel=1e-14)
    assert min(alike, besides) > 300


def whole_search(place: int, player: int, opponent: int, mean: float, variance: float,
                 order: MeanOrder) -> float:  # fmt: skip
    """Return the draw chance of the first in the row of the place of the least product."""
    others = [k for k in range(order.means.size) if k not in (player, opponent)]
    allowed = [k for k in others if k < place][-order.band :]
    allowed += [k for k in others if k >= place][: order.band]
    best, least = NOBODY, math.inf
    for k in order.nearby[place].tolist():
        if k == NOBODY:
            break
        if k in allowed:
            total = variance + float(order.variances[k]) + 2.0 * NOISE
            ratio = (mean - float(order.means[k])) ** 2 / total
            inverse = total * math.exp(ratio) if ratio < 700.0 else math.inf
            if inverse < least:
                best, least = k, inverse
    if best == NOBODY:
        return 0.0
    known = float(order.means[best]), float(order.variances[best])
    return pair_draw_chance(mean, variance, *known, NOISE)


def test_a_search_that_rules_out_is_that_of_all_to_the_last_bit() -> None:
    rng = np.random.default_rng(12)
    for _ in range(400):
        n, band = int(rng.integers(2, 30)), int(rng.integers(1, 9))
        order = random_order(rng, n, band, NOISE)
        for _ in range(10):
            x, y = (int(k) for k in rng.choice(n, 2, replace=False))
            mean = float(order.means[x] + rng.normal(0.0, 10.0 ** rng.uniform(-9.0, 4.0)))
            variance = float(order.variances[x] * rng.uniform())
            place = place_of(mean, x, order)
            found = best_next(place, x, y, (mean, variance), order)
            assert found == whole_search(place, x, y, mean, variance, order)


def test_who_is_as_good_but_for_rounding_is_not_called_the_best() -> None:
    variances = np.array([100.0, 100.0, 100.0])
    even = ordered(np.array([-1.0, 0.0, 1.0]), variances, np.arange(3), 2, NOISE)
    assert even.best[1] == NOBODY
    hair = math.nextafter(1.0, 2.0)
    nearly = ordered(np.array([-1.0, 0.0, hair]), variances, np.arange(3), 2, NOISE)
    assert nearly.best[1] == NOBODY
    clear = ordered(np.array([-1.0, 0.0, 1.5]), variances, np.arange(3), 2, NOISE)
    assert clear.best[1] == 0


def searched(seed: int, count: int) -> list[float]:
    """Return what is found in random orders."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(count):
        n = int(rng.integers(2, 20))
        order = random_order(rng, n, int(rng.integers(1, 6)), NOISE)
        for _ in range(5):
            x, y = (int(k) for k in rng.choice(n, 2, replace=False))
            mean = float(order.means[x] + rng.normal(0.0, 100.0))
            place = int(place_of(mean, x, order))
            belief = (mean, float(order.variances[x]))
            found += [place, float(best_next(place, x, y, belief, order))]
            found += [int(order.best[x]), float(best_besides(x, y, order))]
    return found


@pytest.mark.slow
def test_the_compiled_order_is_that_of_its_python_source() -> None:
    assert interpreted("tests.policies.test_mean_order", "searched", 11, 40) == str(
        searched(11, 40)
    )
