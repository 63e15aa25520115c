"""Sums over the players of a replication whose expectations are known exactly."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import combinations

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import kernel
from valmatch.models.valorant.arrivals import ArrivalProcess, ArrivingPlayers

NAMES = ("players", "arrival_hours", "rating", "rating_2", "rating_3", "rating_4")
"""The controls: players; arrival times in hours; powers 1 to 4 of standardised ratings; summed."""

POWERS = len(NAMES) - 1  # integrals over the ratings: of their powers 0 to 4
FAR = 10.0  # standard deviations beyond which a normal has no mass worth counting (1e-23)
STEP = 1.0 / 24.0  # step of the tanh-sinh rule; half of it changes no integral by more than 1e-9

ROUNDING = 1e-9
"""Ratings that vary by less than this share of their parts do not vary but by rounding."""


class PlayerSums:
    """Sums over the arriving players, by name in `NAMES`.

    Sums rather than means, because a compound Poisson sum has a known expectation also where
    nobody arrives: expected players times the expectation of one term. Ratings are standardised,
    so that powers do not lose digits.
    """

    def __init__(self, process: ArrivalProcess) -> None:
        self._process = process

    @cached_property
    def standard(self) -> tuple[float, float]:
        """Return about the mean and standard deviation of a rating; inf if ratings do not vary.

        Round numbers, so that rounding on no platform moves them.
        """
        process = self._process
        mean, factor, multipliers = process.law.mean, process.law.factor, process.law.multipliers
        center, loads = float(multipliers @ mean), multipliers @ factor
        scale = math.sqrt(float(loads @ loads))
        size = float(np.abs(multipliers) @ (np.abs(mean) + np.abs(factor).sum(axis=1)))
        if scale <= ROUNDING * size:
            return center, math.inf
        accepted, first, second, _, _ = rating_integrals(process, center, scale).tolist()
        shift = first / accepted
        spread = scale * math.sqrt(second / accepted - shift * shift)
        return float(f"{center + scale * shift:.6g}"), float(f"{spread:.6g}")

    @cached_property
    def expectations(self) -> Mapping[str, float]:
        """The expectation of each control."""
        process = self._process
        players = process.expected_players
        hours = (process.law.rates * np.diff(process.law.edges**2)).sum() / 2.0
        center, scale = self.standard
        powers = np.zeros(POWERS)
        if scale < math.inf:
            powers = rating_integrals(process, center, scale)
            powers = players * np.round(powers / powers[0], 10)
        return dict(zip(NAMES, (players, float(hours), *powers[1:].tolist()), strict=True))

    def observe(
        self, chunks: Iterable[ArrivingPlayers]
    ) -> tuple[Iterator[ArrivingPlayers], Callable[[], Floats]]:
        """Return the players, to be used once, and a function that gives their sums afterwards."""
        sums = np.zeros(len(NAMES))
        return self._counted(chunks, sums), lambda: sums

    def _counted(
        self, chunks: Iterable[ArrivingPlayers], sums: Floats
    ) -> Iterator[ArrivingPlayers]:
        center, scale = self.standard
        for chunk in chunks:
            add_players(chunk.times, chunk.ratings, center, scale, sums)
            yield chunk


@kernel(allocates=True)
def add_players(times: Floats, ratings: Floats, center: float, scale: float, sums: Floats) -> None:
    """Add players to the controls, in the order of `NAMES`."""
    sums[0] += times.size
    for k in range(times.size):
        z = (ratings[k] - center) / scale
        z2 = z * z
        sums[1] += times[k]
        sums[2] += z
        sums[3] += z2
        sums[4] += z2 * z
        sums[5] += z2 * z2


def rating_integrals(process: ArrivalProcess, center: float, scale: float) -> Floats:
    """Integrate powers of a rating over the skill vectors without a component out of range.

    The vector is mean + L x with standard normals x = (a, b, c) and lower triangular L. Each
    component bounds the last normal that it depends on, given those before it. The integral over
    c is taken in closed form, those over b and a numerically, to about ten digits.

    Shapes: returns (5,).
    """
    law = process.law
    numbers = np.concatenate([law.mean, law.factor.ravel(), law.multipliers]).tobytes()
    return np.array(_integrals(numbers, law.elo_max, center, scale))


@lru_cache(maxsize=64)
def _integrals(numbers: bytes, elo_max: float, center: float, scale: float) -> list[float]:
    """Return the integrals, which take longer than a hundred days, once for all models alike."""
    mean, entries, multipliers = np.split(np.frombuffer(numbers), (3, 12))
    skills = mean, entries.reshape(3, 3), elo_max
    loads, start = multipliers @ skills[1] / scale, (float(multipliers @ mean) - center) / scale
    a, weights_a = _nodes(*_limits(*skills, (), np.zeros(1)))
    a = a[0]
    b, weights = _nodes(*_limits(*skills, (a,), a))
    weights *= weights_a[0, :, np.newaxis]
    a = a[:, np.newaxis]
    low, _, _ = _limits(*skills, (a, b), b)
    powers = _normal_powers(start + loads[0] * a + loads[1] * b, float(loads[2]), low)
    return [float((weights * power).sum()) for power in powers]


def _limits(
    means: Floats, factor: Floats, elo_max: float, known: tuple[Floats, ...], like: Floats
) -> tuple[Floats, Floats, list[Floats]]:
    """Return the range of the next normal, given those before it, that keeps components in range.

    The range counts the components that depend on no later normal. Third come places within it
    where the integral over the later normals changes its nature: where a component that depends
    on them changes its sign, and where the bounds of the next normal by two components cross.
    All have the shape of `like`.
    """
    k = len(known)
    low, high, later = np.full_like(like, -FAR), np.full_like(like, FAR), []
    for mean, row in zip(means, factor, strict=True):
        level = mean + sum((row[i] * x for i, x in enumerate(known)), np.zeros_like(like))
        if row[k + 1 :].any():
            later.append((level, row))
        elif row[k] > 0:
            low = np.maximum(low, -level / row[k])
        elif row[k] < 0:
            high = np.minimum(high, -level / row[k])
    if k == 0 and factor[0, 0] > 0:
        high = np.minimum(high, (elo_max - means[0]) / factor[0, 0])
    kinks = [-level / row[k] for level, row in later if row[k]]
    for (level, row), (other, line) in combinations(later, 2):
        slope = row[k] * line[k + 1] - line[k] * row[k + 1]
        if slope:
            kinks.append((other * row[k + 1] - level * line[k + 1]) / slope)
    low = np.minimum(low, FAR)
    high = np.maximum(high, low)
    return low, high, [np.clip(kink, low, high) for kink in kinks]


def _nodes(low: Floats, high: Floats, kinks: list[Floats]) -> tuple[Floats, Floats]:
    """Return nodes and weights of integrals over standard normals from `low` to `high`, (m,).

    The rule is tanh-sinh on each piece between kinks: its nodes crowd so much at both ends that
    the integrand may be as steep there as it likes.

    Shapes: returns (m, k).
    """
    steps = STEP * np.arange(-round(3.2 / STEP), round(3.2 / STEP) + 1)
    shares = 1.0 / (1.0 + np.exp(-np.pi * np.sinh(steps)))
    shares_weights = STEP * np.pi * np.cosh(steps) * shares * (1.0 - shares)
    edges = np.sort([low, *kinks, high], axis=0)
    widths = np.diff(edges, axis=0)[..., np.newaxis]
    nodes = np.concatenate(edges[:-1, :, np.newaxis] + widths * shares, axis=1)
    weights = np.concatenate(widths * shares_weights, axis=1)
    return nodes, weights * _density(nodes)


def _normal_powers(shift: Floats, load: float, low: Floats) -> list[Floats]:
    """Integrate (shift + load x)**k, k = 0 to 4, over a standard normal x above `low`."""
    from scipy.special import ndtr

    border, value = load * _density(low), shift + load * low
    powers = [ndtr(-low), shift * ndtr(-low) + border]
    for k in range(2, POWERS):  # by parts
        border = border * value
        powers.append(shift * powers[-1] + (k - 1) * load * load * powers[-2] + border)
    return powers


def _density(x: Floats) -> Floats:
    return np.asarray(np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi))
