"""Targeting and selection in plain Python: one alternative at a time, no arrays, no kernels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class World(NamedTuple):
    """A sample path as it starts, and what is sought in it."""

    means: Sequence[float]
    variances: Sequence[float]
    truths: Sequence[float]
    noise: Sequence[float]
    target: float
    tolerance: float
    noise_variance: float
    kappa: float


class Known(NamedTuple):
    """What is known at some moment."""

    world: World
    means: list[float]
    variances: list[float]
    counts: list[int]


def quality(known: Known, j: int) -> float:
    """Return the expected quality of an alternative."""
    width = 2.0 * (0.5 * known.world.tolerance * known.world.tolerance)
    total = 0.0 + known.variances[j] + width
    difference = known.world.target - known.means[j]
    return math.sqrt(width / total) * math.exp(-difference * difference / (2.0 * total))


def first_largest(values: Sequence[float]) -> int:
    return max(range(len(values)), key=lambda j: (values[j], -j))


def gaps(known: Known) -> list[float]:
    return [abs(mean - known.world.target) for mean in known.means]


def point_estimate(known: Known) -> int:
    return first_largest([-gap for gap in gaps(known)])


def draw_chance(known: Known) -> int:
    return first_largest([quality(known, j) for j in range(len(known.means))])


def uniform(known: Known) -> int:
    return first_largest([-count for count in known.counts])


def ucb(known: Known) -> int:
    bounds = []
    for mean, variance in zip(known.means, known.variances, strict=True):
        width = known.world.tolerance * known.world.tolerance
        lead = mean - known.world.target
        square = 0.5 * lead * lead
        total, narrow = width + variance, 0.5 * width + variance
        root = 1.0 / math.sqrt(2.0 * math.pi)
        expected = root / math.sqrt(total) * math.exp(-square / total)
        second = root / math.sqrt(narrow) * math.exp(-square / narrow)
        second *= 0.5 / math.sqrt(math.pi) / math.sqrt(width)
        spread = math.sqrt(max(second - expected * expected, 0.0))
        bounds.append(expected + known.world.kappa * spread)
    return first_largest(bounds)


def gain(known: Known, j: int) -> float:
    """Return what a measurement adds to the largest expected quality, in closed form."""
    world, variance = known.world, known.variances[j]
    rivals = [quality(known, k) for k in range(len(known.means)) if k != j]
    rival = max(rivals, default=0.0)
    total = variance + world.noise_variance
    spread = variance * (variance / total)
    width = world.tolerance * world.tolerance
    wide = width + variance * (world.noise_variance / total)
    peak = math.sqrt(width / wide)
    if rival <= 0.0 or peak <= rival:
        return 0.0
    reach = math.sqrt(2.0 * wide * math.log(peak / rival))
    now, away = quality(known, j), abs(known.means[j] - world.target)
    share = wide / (wide + spread)
    found = []
    for place, deviation in ((away * share, math.sqrt(spread * share)), (away, math.sqrt(spread))):
        scale = math.sqrt(0.5) / deviation
        if now > rival:
            ends = math.erfc((reach - place) * scale), math.erfc((reach + place) * scale)
            found.append(0.5 * (ends[0] + ends[1]))
        else:
            far = math.erfc((place + reach) * scale)
            found.append(0.5 * (math.erfc((place - reach) * scale) - far))
    narrow, broad = found
    difference = rival * broad - now * narrow
    return max(difference if now > rival else -difference, 0.0)


def knowledge_gradient(known: Known) -> int:
    gains = [gain(known, j) for j in range(len(known.means))]
    return first_largest(gains if max(gains) > 0.0 else known.variances)


def bold(known: Known) -> int:
    nearest = point_estimate(known)
    own = known.variances[nearest]
    others = [j for j in range(len(known.means)) if j != nearest]
    squares = 0.0
    for j in others:
        squares += 1.0 / (known.variances[j] * known.variances[j])
    if not others or 1.0 / (own * own) < squares:
        return nearest
    rates = []
    for j in others:
        gap = gaps(known)[j] - gaps(known)[nearest]
        rates.append(gap * gap / (own + known.variances[j]))
    return others[first_largest([-rate for rate in rates])]


CHOICES = {
    "point_estimate": point_estimate,
    "draw_chance": draw_chance,
    "knowledge_gradient": knowledge_gradient,
    "ucb": ucb,
    "bold": bold,
    "uniform": uniform,
}


def follow(world: World, policy: str) -> list[tuple[float, ...]]:
    """Return (measured, selected, mean, variance, *measures) after each measurement."""
    known = Known(world, [*world.means], [*world.variances], [0] * len(world.means))
    distances = [abs(truth - world.target) for truth in world.truths]
    rows: list[tuple[float, ...]] = []
    for noise in world.noise:
        j = CHOICES[policy](known)
        outcome = world.truths[j] + math.sqrt(world.noise_variance) * noise
        mean, variance = known.means[j], known.variances[j]
        total = variance + world.noise_variance
        known.means[j] = mean + variance / total * (outcome - mean)
        known.variances[j] = variance * (world.noise_variance / total)
        known.counts[j] += 1
        selected = draw_chance(known)
        distance = distances[selected]
        scaled = distance / world.tolerance
        rows.append(
            (
                float(j),
                float(selected),
                known.means[j],
                known.variances[j],
                distance,
                distance - min(distances),
                float(distance == min(distances)),
                math.exp(-0.5 * scaled * scaled),
                distances[j],
            )
        )
    return rows
