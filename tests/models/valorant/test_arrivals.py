"""Arrivals and skills against theory, by standard error."""

from __future__ import annotations

import math

import numpy as np
import pytest

from valmatch.draws.streams import Streams
from valmatch.models.valorant.arrivals import (
    GAPS,
    VECTORS,
    ArrivalProcess,
    ArrivingPlayers,
    arrival_times,
    skill_vectors,
)


def drawn_by_numpy(process: ArrivalProcess, streams: Streams, replication: int) -> ArrivingPlayers:
    """Return what `ArrivalProcess.players` must return, whole vectors redrawn until in range."""
    gaps = streams.stream(replication, GAPS)
    normals = streams.stream(replication, VECTORS)
    times = np.empty(process.room)
    unit = (
        gaps.poisson(1.0, times.size).astype(np.float64)
        if process.law.whole_gaps
        else gaps.standard_exponential(times.size)
    )
    law = process.law
    count, _ = arrival_times(unit, np.zeros(2), law, times)
    width = law.mean.size
    vectors, ratings = np.empty((count, width)), np.empty(count)
    done = 0
    while done < count:
        draws = normals.standard_normal((count - done, width))
        done = skill_vectors(draws, law, done, vectors, ratings)
    return ArrivingPlayers(times[:count], ratings, vectors)


RATES = [20.0, 0.0, 5.0, 40.0]
MEAN = [1200.0, 1.0, 50.0]
COVARIANCE = [[40000.0, 28.0, 950.0], [28.0, 0.04, 0.8], [950.0, 0.8, 100.0]]


def process(horizon: float = 4.0, mean: list[float] = MEAN) -> ArrivalProcess:
    return ArrivalProcess(RATES, horizon, mean, COVARIANCE, [1.0, 1.0, 1.0])


def day(seed: int, replication: int, horizon: float = 4.0) -> ArrivingPlayers:
    return process(horizon).players(Streams(seed), replication)


@pytest.mark.slow
def test_counts_per_hour_are_independent_poisson_counts() -> None:
    n = 4000
    days = [day(1, k).times for k in range(n)]
    counts = np.array([np.histogram(t, bins=np.arange(5))[0] for t in days], dtype=np.float64)
    rates = np.array(RATES)
    assert (counts[:, 1] == 0).all()
    assert (np.abs(counts.mean(axis=0) - rates) <= 4 * np.sqrt(rates / n)).all()
    # The variance of a Poisson count is its mean, with standard error sqrt((r + 2 r^2) / n).
    errors = np.sqrt((rates + 2 * rates**2) / n)
    assert (np.abs(counts.var(axis=0) - rates) <= 4 * errors + 1e-12).all()
    correlations = np.asarray(np.corrcoef(counts[:, [0, 2, 3]].T))[np.triu_indices(3, 1)]
    assert np.abs(correlations).max() <= 4 / math.sqrt(n)


@pytest.mark.slow
def test_arrivals_within_an_hour_are_uniform() -> None:
    times = np.concatenate([day(2, k).times for k in range(2000)])
    within = times[times >= 3.0] - 3.0
    n = within.size
    assert abs(within.mean() - 0.5) <= 4 * math.sqrt(1 / 12 / n)
    assert abs((within**2).mean() - 1 / 3) <= 4 * math.sqrt((1 / 5 - 1 / 9) / n)


@pytest.mark.slow
def test_fractional_horizon_cuts_the_last_hour() -> None:
    counts = [day(3, k, horizon=3.25).times for k in range(2000)]
    assert max(times.max() for times in counts) < 3.25
    last = np.array([(times >= 3.0).sum() for times in counts])
    assert abs(last.mean() - 10.0) <= 4 * math.sqrt(10.0 / 2000)


def test_skills_have_the_given_moments() -> None:
    vectors = np.concatenate([day(5, k).vectors for k in range(1500)])
    n = len(vectors)
    covariance = np.array(COVARIANCE)
    assert (np.abs(vectors.mean(0) - MEAN) <= 4 * np.sqrt(covariance.diagonal() / n)).all()
    variances = covariance.diagonal()
    errors = np.sqrt((np.outer(variances, variances) + covariance**2) / n)
    assert (np.abs(np.cov(vectors.T) - covariance) <= 4 * errors).all()


def truncated_moments(mean: float, sd: float) -> tuple[float, float]:
    """Return mean and variance of a normal that is redrawn until it is >= 0."""
    a = -mean / sd
    density = math.exp(-0.5 * a * a) / math.sqrt(2 * math.pi)
    hazard = density / (0.5 * math.erfc(a / math.sqrt(2)))
    return mean + sd * hazard, sd**2 * (1 + a * hazard - hazard**2)


def test_rejection_redraws_whole_vectors() -> None:
    # Independent components, so that each is a truncated normal of known moments.
    rejecting = ArrivalProcess(
        [500.0], 1.0, [0.0, 1.0, 2.0], np.diag([1.0, 4.0, 1.0]).tolist(), [1.0, 1.0, 1.0]
    )
    vectors = np.concatenate([rejecting.players(Streams(6), k).vectors for k in range(100)])
    n = len(vectors)
    assert (vectors >= 0).all()
    for column, (mean, sd) in enumerate([(0.0, 1.0), (1.0, 2.0), (2.0, 1.0)]):
        expected, variance = truncated_moments(mean, sd)
        assert abs(vectors[:, column].mean() - expected) <= 4 * math.sqrt(variance / n)


def test_rejection_also_cuts_the_largest_elo() -> None:
    cut = ArrivalProcess(
        [500.0], 1.0, [0.0, 1.0, 2.0], np.eye(3).tolist(), [1.0, 0.0, 0.0], elo_max=0.5
    )
    ratings = np.concatenate([cut.players(Streams(6), k).ratings for k in range(100)])
    assert (ratings >= 0.0).all()
    assert (ratings <= 0.5).all()
    mass = 0.5 * math.erf(0.5 / math.sqrt(2))
    expected = (1.0 - math.exp(-0.125)) / math.sqrt(2 * math.pi) / mass
    assert abs(ratings.mean() - expected) <= 4 * ratings.std() / math.sqrt(ratings.size)


def test_a_given_number_of_players_arrives_at_the_last_rate() -> None:
    made = ArrivalProcess(RATES, math.inf, MEAN, COVARIANCE, [1.0] * 3, count=20_000)
    times = made.players(Streams(7), 3).times
    assert times.size == 20_000
    # The same gaps as on a day with a horizon, and then those of the last rate.
    before = day(7, 3).times
    np.testing.assert_array_equal(times[: before.size], before)
    assert ((times < 1.0) | (times >= 2.0)).all()
    gaps = np.diff(times[times >= 3.0])
    assert abs(gaps.mean() - 1 / 40) <= 4 / 40 / math.sqrt(gaps.size)
    assert abs((gaps > 1 / 40).mean() - math.exp(-1)) <= 4 * 0.5 / math.sqrt(gaps.size)


def test_whole_gaps_are_poisson_counts() -> None:
    made = ArrivalProcess(
        [60.0], math.inf, MEAN, COVARIANCE, [1.0] * 3, count=20_000, whole_gaps=True
    )
    minutes = 60.0 * made.players(Streams(1), 0).times
    np.testing.assert_allclose(minutes, np.rint(minutes), atol=1e-7)
    gaps = np.diff(np.rint(minutes), prepend=0.0)
    for k in range(6):
        share = math.exp(-1.0) / math.factorial(k)
        error = math.sqrt(share * (1.0 - share) / gaps.size)
        assert abs(np.mean(gaps == k) - share) <= 4 * error


DAYS = {
    "of-some-hours": process(),
    "of-a-fraction": process(0.37),
    "of-nobody": process(1e-9),
    "of-thousands": ArrivalProcess([9000.0, 0.0, 9000.0], 2.9, MEAN, COVARIANCE, [1.0, 0.5, -1.0]),
    "of-refusals": process(mean=[-300.0, -0.1, 40.0]),
    "of-one-kind": ArrivalProcess([50.0], 1.0, MEAN, np.zeros((3, 3)).tolist(), [1.0, 1.0, 1.0]),
    "of-a-number": ArrivalProcess(
        [60.0], math.inf, MEAN, COVARIANCE, [1.0] * 3, elo_max=1300.0, count=150
    ),
    "of-whole-gaps": ArrivalProcess(
        [60.0], math.inf, MEAN, COVARIANCE, [1.0] * 3, count=150, whole_gaps=True
    ),
    "of-whole-gaps-before-a-horizon": ArrivalProcess(
        [60.0, 9.0], 2.0, MEAN, COVARIANCE, [1.0] * 3, whole_gaps=True
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", DAYS)
def test_days_are_those_drawn_by_numpy(kind: str) -> None:
    for seed, replication in [(1, 0), (1, 1), (2**70, 5), (3, 2**63 - 1)]:
        mine = DAYS[kind].players(Streams(seed), replication)
        theirs = drawn_by_numpy(DAYS[kind], Streams(seed), replication)
        for column, other in zip(mine[:3], theirs[:3], strict=True):
            assert column.shape == other.shape
            assert column.tobytes() == other.tobytes()


def test_times_invert_the_cumulative_rate_exactly() -> None:
    levels = process().law.levels
    for k in range(50):
        reached = np.cumsum(Streams(10).stream(k, GAPS).standard_exponential(400))
        reached = reached[reached < levels[-1]]
        piece = np.searchsorted(levels, reached, "right") - 1
        times = np.minimum(piece + (reached - levels[piece]) / np.array(RATES)[piece], piece + 1)
        np.testing.assert_array_equal(day(10, k).times, times)
