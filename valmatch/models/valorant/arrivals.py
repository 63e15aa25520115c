"""Arriving players: a non-stationary Poisson process of multivariate normal skill vectors."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from valmatch.draws.distributions import fill_exponential, fill_normal, fill_poisson
from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Floats, Ints, Words
from valmatch.kernels.compilation import kernel

GAPS, VECTORS, BLOCKS, PATIENCE = range(4)
"""Sources of randomness: unit-rate gaps between arrivals; skill vectors; which blocks of a log are
drawn; how long players wait before they give up, in units of the mean."""


class Resample(NamedTuple):
    """How players of a queue log were put together to others, block by block."""

    rows: Ints  # (n,); which players of the log they are
    begin: int  # the hour at which the first block stands
    length: int  # hours of a block
    shifts: Ints  # (blocks,): how many hours earlier each stands than in the log

    def log_hours(self, hours: Ints) -> Ints:
        """Return which hours of the log stand at hours of the resample."""
        block = (hours - self.begin) // self.length
        inside = (block >= 0) & (block < self.shifts.size)
        return hours + np.where(inside, self.shifts[np.where(inside, block, 0)], 0)


class ArrivingPlayers(NamedTuple):
    """Consecutive players in order of arrival."""

    times: Floats  # (n,); arrival times in hours, non-decreasing
    ratings: Floats  # (n,); ratings in Elo points
    vectors: Floats  # (n, 3), (elo, kd, wr) of each player; (0, 3) where only ratings are known
    # (n,); hours at which players give up unless they play, infinity for never; (0,): nobody does
    departures: Floats = np.empty(0)
    resample: Resample | None = None  # of a log; None where all are as they came


class Law(NamedTuple):
    """The law of the arrivals as `draw_players` takes it."""

    whole_gaps: bool  # gaps are Poisson counts of mean 1, not exponentials
    edges: Floats  # hours between which the rate is the same
    levels: Floats  # players expected before each
    rates: Floats  # players per hour between them
    mean: Floats  # (3,)
    factor: Floats  # (3, 3)
    multipliers: Floats  # (3,)
    elo_max: float


@kernel(allocates=True)
def arrival_times(gaps: Floats, clock: Floats, law: Law, times: Floats) -> tuple[int, bool]:
    """Turn unit-rate gaps into arrivals by inverting the cumulative rate, exactly."""
    # With Lambda(t) the expected number of arrivals up to t, the k-th arrival of a Poisson
    # process with rate Lambda' is Lambda^-1(E_1 + ... + E_k) for independent unit exponentials E.
    # For piecewise-constant rates the inverse is linear within each piece.
    edges, levels, rates = law.edges, law.levels, law.rates
    level, piece, k = clock[0], int(clock[1]), 0
    while piece < rates.size:
        low, high = levels[piece], levels[piece + 1]
        start, end, rate = edges[piece], edges[piece + 1], rates[piece]
        while True:
            if k == gaps.size:
                clock[0], clock[1] = level, piece
                return k, False
            reached = level + gaps[k]
            if reached >= high:
                break
            level = reached
            # Rounding may carry the last arrivals of a piece a hair over its edge.
            times[k] = min(start + (level - low) / rate, end)
            if times[k] >= edges[rates.size]:
                return k, True
            k += 1
        piece += 1
    return k, True


@kernel(allocates=True)
def skill_vectors(normals: Floats, law: Law, start: int, vectors: Floats, ratings: Floats) -> int:
    """Fill skill vectors from row `start` on, skipping every draw with a component out of range."""
    mean, factor, multipliers, row = law.mean, law.factor, law.multipliers, start
    for a, b, c in normals:
        elo = mean[0] + factor[0, 0] * a
        kd = mean[1] + factor[1, 0] * a + factor[1, 1] * b
        wr = mean[2] + factor[2, 0] * a + factor[2, 1] * b + factor[2, 2] * c
        if 0.0 <= elo <= law.elo_max and kd >= 0.0 and wr >= 0.0:
            vectors[row, 0], vectors[row, 1], vectors[row, 2] = elo, kd, wr
            ratings[row] = multipliers[0] * elo + multipliers[1] * kd + multipliers[2] * wr
            row += 1
    return row


@kernel
def draw_players(
    gaps: Words,
    normals: Words,
    clock: Floats,
    law: Law,
    times: Floats,
    vectors: Floats,
    ratings: Floats,
) -> tuple[int, bool]:
    """Draw the next players, as many as there is room for."""
    count, finished = 0, False
    while count < times.size and not finished:
        # In place: an arrival is written where its gap was read, a vector not after its normals.
        # So many at a time, as those drawn beyond the horizon are wasted.
        ahead = times[count : count + 64]
        if law.whole_gaps:
            fill_poisson(gaps, 1.0, ahead)
        else:
            fill_exponential(gaps, ahead)
        more, finished = arrival_times(ahead, clock, law, ahead)
        count += more
    done = 0
    while done < count:
        draws = vectors[done:count]
        fill_normal(normals, draws.reshape(draws.size))
        done = skill_vectors(draws, law, done, vectors, ratings)
    return count, finished


def cholesky_factor(covariance: Sequence[Sequence[float]]) -> Floats:
    """Return the lower triangular L with L L' = covariance, for positive semi-definite input."""
    # A pivot within rounding of zero gives a zero column, so that singular covariances work;
    # written out rather than taken from LAPACK so that every platform draws the same players.
    a = np.array(covariance, dtype=np.float64)
    n = a.shape[0]
    factor = np.zeros_like(a)
    for j in range(n):
        pivot = a[j, j] - factor[j, :j] @ factor[j, :j]
        if pivot <= 1e-12 * a[j, j]:
            continue
        factor[j, j] = math.sqrt(pivot)
        for i in range(j + 1, n):
            factor[i, j] = (a[i, j] - factor[i, :j] @ factor[j, :j]) / factor[j, j]
    return factor


class ArrivalProcess:
    """The random arrivals of one set of factors; no decision variable enters it."""

    def __init__(
        self,
        rates: Sequence[float],
        horizon: float,
        mean: Sequence[float],
        covariance: Sequence[Sequence[float]],
        multipliers: Sequence[float],
        *,
        elo_max: float = math.inf,
        count: int | None = None,
        whole_gaps: bool = False,
    ) -> None:
        pieces = len(rates) if count is not None else math.ceil(horizon)
        hourly = np.array(rates[:pieces], dtype=np.float64)
        edges = np.append(np.arange(float(pieces)), horizon)
        self.law = Law(
            whole_gaps,
            edges,
            np.concatenate(([0.0], np.cumsum(hourly * np.diff(edges)))),
            hourly,
            np.array(mean, np.float64),
            cholesky_factor(covariance),
            np.array(multipliers, np.float64),
            float(elo_max),
        )
        self.count = count
        # what makes ratings of those that are drawn; None for all skills
        self.ratings: Callable[[Floats], Floats] | None = None
        # The mean and six deviations, which a day hardly ever exceeds.
        expected = self.expected_players
        self.room = int(expected + 6.0 * math.sqrt(expected)) + 16 if count is None else count

    @property
    def expected_players(self) -> float:
        """Expected number of arrivals; with whole gaps before a horizon about that."""
        return float(self.law.levels[-1] if self.count is None else self.count)

    @property
    def busy_hours(self) -> float:
        """Hours before the horizon in which players arrive."""
        return float(np.diff(self.law.edges)[self.law.rates > 0].sum())

    def players(self, streams: Streams, replication: int) -> ArrivingPlayers:
        """Return the players of a replication in order of arrival."""
        room = self.room
        while True:
            words = streams.words(replication, GAPS), streams.words(replication, VECTORS)
            times, vectors, ratings = np.empty(room), np.empty((room, 3)), np.empty(room)
            clock = np.zeros(2)
            count, finished = draw_players(*words, clock, self.law, times, vectors, ratings)
            if finished or self.count is not None:
                if self.ratings is None:
                    return ArrivingPlayers(times[:count], ratings[:count], vectors[:count])
                ratings = self.ratings(ratings[:count] - SHIFT)
                return ArrivingPlayers(times[:count], ratings, vectors[:0])
            room *= 2


SHIFT = 64.0  # added to the normals while they are drawn as elo, which must not be negative


def quantile_function(quantiles: Sequence[Sequence[float]]) -> Callable[[Floats], Floats]:
    """Return what goes through quantiles, of the normal that has the same probability."""
    # A monotone cubic between them (Fritsch & Carlson 1980), and a straight line beyond the outer
    # ones, so that the tails are those of a normal of their own.
    from scipy.special import ndtri

    probabilities, values = np.array(quantiles, dtype=np.float64).T
    at = ndtri(probabilities)
    widths = np.diff(at)
    secants = np.diff(values) / widths
    # At inner quantiles weighted harmonic means (Fritsch & Butland).
    (left, right), (before, after) = (widths[:-1], widths[1:]), (secants[:-1], secants[1:])
    flat = (before <= 0.0) | (after <= 0.0)
    left_weight, right_weight = 2.0 * right + left, right + 2.0 * left
    parts = left_weight / np.where(flat, 1.0, before), right_weight / np.where(flat, 1.0, after)
    inner = np.where(flat, 0.0, (left_weight + right_weight) / (parts[0] + parts[1]))
    slopes = np.concatenate([secants[:1], inner, secants[-1:]])

    def ratings(normals: Floats) -> Floats:
        piece = np.clip(np.searchsorted(at, normals, side="right") - 1, 0, at.size - 2)
        width = at[piece + 1] - at[piece]
        t = np.clip((normals - at[piece]) / width, 0.0, 1.0)
        low, high = values[piece], values[piece + 1]
        first, second = width * slopes[piece], width * slopes[piece + 1]
        square = t * t * (3.0 * (high - low) - 2.0 * first - second)
        inside = low + t * first + square + t * t * t * (2.0 * (low - high) + first + second)
        before, after = np.minimum(normals - at[0], 0.0), np.maximum(normals - at[-1], 0.0)
        return inside + before * slopes[0] + after * slopes[-1]

    return ratings


def quantile_arrivals(
    rates: Sequence[float],
    horizon: float,
    quantiles: Sequence[Sequence[float]],
    **how: Any,  # noqa: ANN401 - as of any process
) -> ArrivalProcess:
    """Return random arrivals whose ratings have a given quantile function."""
    skills = [SHIFT, 0.0, 0.0], np.diag([1.0, 0.0, 0.0]).tolist(), [1.0, 0.0, 0.0]
    process = ArrivalProcess(rates, horizon, *skills, **how)
    process.ratings = quantile_function(quantiles)
    return process


NAMES = ("players", "arrival_hours", "rating", "rating_2", "rating_3", "rating_4")
"""The controls: players; arrival times in hours; powers 1 to 4 of standardised ratings; summed."""

POWERS = len(NAMES) - 1  # integrals over the ratings: of their powers 0 to 4
FAR = 10.0  # standard deviations beyond which a normal has no mass worth counting (1e-23)
STEP = 1.0 / 24.0  # step of the tanh-sinh rule; half of it changes no integral by more than 1e-9
ROUNDING = 1e-9
"""Ratings that vary by less than this share of their parts do not vary but by rounding."""


class PlayerSums:
    """Sums over the arriving players, by name in `NAMES`."""

    # Sums rather than means, because a compound Poisson sum has a known expectation also where
    # nobody arrives: expected players times the expectation of one term. Ratings are
    # standardised, so that powers do not lose digits.

    def __init__(self, process: ArrivalProcess) -> None:
        self._process = process

    @cached_property
    def standard(self) -> tuple[float, float]:
        """Return about the mean and standard deviation of a rating; inf if ratings do not vary."""
        # Round numbers, so that rounding on no platform moves them.
        law = self._process.law
        center, loads = float(law.multipliers @ law.mean), law.multipliers @ law.factor
        scale = math.sqrt(float(loads @ loads))
        parts = np.abs(law.mean) + np.abs(law.factor).sum(axis=1)
        if scale <= ROUNDING * float(np.abs(law.multipliers) @ parts):
            return center, math.inf
        accepted, first, second, _, _ = rating_integrals(self._process, center, scale).tolist()
        shift = first / accepted
        spread = scale * math.sqrt(second / accepted - shift * shift)
        return float(f"{center + scale * shift:.6g}"), float(f"{spread:.6g}")

    @cached_property
    def expectations(self) -> Mapping[str, float]:
        """The expectation of each control."""
        law, players = self._process.law, self._process.expected_players
        hours = (law.rates * np.diff(law.edges**2)).sum() / 2.0
        center, scale = self.standard
        powers = np.zeros(POWERS)
        if scale < math.inf:
            powers = rating_integrals(self._process, center, scale)
            powers = players * np.round(powers / powers[0], 10)
        return dict(zip(NAMES, (players, float(hours), *powers[1:].tolist()), strict=True))

    def of(self, players: ArrivingPlayers) -> Floats:
        """Return the sums over these players."""
        sums = np.zeros(len(NAMES))
        add_players(players.times, players.ratings, *self.standard, sums)
        return sums


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
    """Integrate powers of a rating over the skill vectors without a component out of range."""
    law = process.law
    numbers = np.concatenate([law.mean, law.factor.ravel(), law.multipliers]).tobytes()
    return np.array(_integrals(numbers, law.elo_max, center, scale))


@lru_cache(maxsize=64)
def _integrals(numbers: bytes, elo_max: float, center: float, scale: float) -> list[float]:
    """Return the integrals, which take longer than a hundred days, once for all models alike."""
    # The vector is mean + L x with standard normals x = (a, b, c) and lower triangular L. Each
    # component bounds the last normal that it depends on, given those before it. The integral
    # over c is taken in closed form, those over b and a numerically, to about ten digits.
    from scipy.special import ndtr

    mean, entries, multipliers = np.split(np.frombuffer(numbers), (3, 12))
    skills = mean, entries.reshape(3, 3), elo_max
    loads, start = multipliers @ skills[1] / scale, (float(multipliers @ mean) - center) / scale
    a, weights_a = _nodes(*_limits(*skills, (), np.zeros(1)))
    b, weights = _nodes(*_limits(*skills, (a[0],), a[0]))
    weights *= weights_a[0, :, np.newaxis]
    a = a[0, :, np.newaxis]
    # Of (shift + load x)**k, k = 0 to 4, over a standard normal x above `low`, by parts.
    low, _, _ = _limits(*skills, (a, b), b)
    shift, load = start + loads[0] * a + loads[1] * b, float(loads[2])
    border, value = load * _density(low), shift + load * low
    powers = [ndtr(-low), shift * ndtr(-low) + border]
    for k in range(2, POWERS):
        border = border * value
        powers.append(shift * powers[-1] + (k - 1) * load * load * powers[-2] + border)
    return [float((weights * power).sum()) for power in powers]


def _limits(
    means: Floats, factor: Floats, elo_max: float, known: tuple[Floats, ...], like: Floats
) -> tuple[Floats, Floats, list[Floats]]:
    """Return the range of the next normal that keeps components in range, given those before."""
    # The range counts the components that depend on no later normal. Third come places within it
    # where the integral over the later normals changes its nature: where a component that depends
    # on them changes its sign, and where the bounds of the next normal by two components cross. All
    # have the shape of `like`.
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
    """Return nodes and weights of integrals over standard normals from `low` to `high`, (m,)."""
    # The rule is tanh-sinh on each piece between kinks: its nodes crowd so much at both ends that
    # the integrand may be as steep there as it likes.
    steps = STEP * np.arange(-round(3.2 / STEP), round(3.2 / STEP) + 1)
    shares = 1.0 / (1.0 + np.exp(-np.pi * np.sinh(steps)))
    shares_weights = STEP * np.pi * np.cosh(steps) * shares * (1.0 - shares)
    edges = np.sort([low, *kinks, high], axis=0)
    widths = np.diff(edges, axis=0)[..., np.newaxis]
    nodes = np.concatenate(edges[:-1, :, np.newaxis] + widths * shares, axis=1)
    weights = np.concatenate(widths * shares_weights, axis=1)
    return nodes, weights * _density(nodes)


def _density(x: Floats) -> Floats:
    return np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
