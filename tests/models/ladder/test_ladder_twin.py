"""The plain ladder against theory, against itself, and against the model `valorant`."""

from __future__ import annotations

import math
from itertools import islice, pairwise, takewhile

import numpy as np
import pytest
from scipy import integrate, stats

from tests.oracles.addressed import Addressed
from tests.oracles.ladder import factors_with
from tests.oracles.ladder_world import draw_world
from tests.oracles.pairs import Context, Waiting, policy_weight
from valmatch.ratings.trueskill import update, win_probability


@pytest.mark.slow
def test_players_and_sessions_are_those_of_the_factors() -> None:
    profile = [1.0, 3.0] * 12
    factors = factors_with(
        {
            "days": 10,
            "population": {"players": 400, "newcomers_per_day": 60, "smurf_share": 0.25},
            "sessions": {"per_day": 2.0, "hourly_profile": profile, "activity_cv": 0.5},
        }
    )
    world = draw_world(factors, 1, 0)
    old, new = world.skills[:400], world.skills[400:]
    smurfs = sum(skill == 2100.0 for skill in new)
    assert stats.kstest(old, "norm", (1500.0, 300.0)).pvalue > 1e-3
    assert stats.binomtest(smurfs, len(new), 0.25).pvalue > 1e-3
    assert stats.poisson.cdf(len(new), 600) > 1e-3
    assert stats.kstest(np.array(world.joining) / 240.0, "uniform").pvalue > 1e-3
    starts = [[*takewhile(lambda time: time < 240.0, own)] for own in world.starts]
    for joining, own in zip(world.joining, starts[400:], strict=True):
        assert own[0] == joining
        assert own[1:] == sorted(own[1:])
    counts = np.array([len(own) for own in starts[:400]])
    # Poisson given a gamma activity: variance mean + (mean cv)^2.
    error = math.sqrt((20.0 + (20.0 * 0.5) ** 2) / 400)
    assert counts.mean() == pytest.approx(20.0, abs=4 * error)
    assert counts.var() == pytest.approx(120.0, rel=0.35)
    hours = np.array([t % 24 for own in starts[:400] for t in own])
    observed = np.bincount(hours.astype(int), minlength=24)
    expected = np.array(profile) / sum(profile) * observed.sum()
    assert stats.chisquare(observed, expected).pvalue > 1e-3
    assert stats.kstest(hours % 1.0, "uniform").pvalue > 1e-3


NOISE, TRUE_NOISE = 150.0**2, 100.0**2

CROWD = [
    Waiting(0, 0.0, 1400.0, 1400.0, 200.0**2, 1300.0),
    Waiting(1, 0.1, 1500.0, 1500.0, 300.0**2, 1500.0),
    Waiting(2, 0.2, 1500.0, 1500.0, 300.0**2, 1900.0),
    Waiting(3, 0.3, 1650.0, 1650.0, 50.0**2, 1600.0),
    Waiting(4, 0.4, 1900.0, 1900.0, 120.0**2, 1950.0),
]


def weight(policy: str, i: int, j: int, band: int = 8) -> float:
    rule = {"policy": policy, "gamma": 0.95, "kappa": 2.0, "band": band}
    context = Context(rule, NOISE, TRUE_NOISE, Addressed(1, 0).uniform)  # type: ignore[arg-type]
    return policy_weight(CROWD[i], CROWD[j], 500.0, CROWD, context)


def density(x: float, variance: float) -> float:
    return math.exp(-x * x / (2 * variance)) / math.sqrt(2 * math.pi * variance)


def divided(x: float, variance: float) -> float:
    return density(x, variance) / density(0.0, 2 * NOISE)


PAIRS = [(i, j) for i in range(5) for j in range(i + 1, 5)]


@pytest.mark.parametrize(("i", "j"), PAIRS)
def test_weights_are_those_of_their_definitions(i: int, j: int) -> None:
    one, other = CROWD[i], CROWD[j]
    d, s = one.mu - other.mu, one.variance + other.variance
    q = divided(d, s + 2 * NOISE)
    assert weight("nearest", i, j) == pytest.approx(1 - abs(d) / 500.0)
    assert weight("draw_chance", i, j) == pytest.approx(q)
    true = density(one.skill - other.skill, 2 * TRUE_NOISE) / density(0.0, 2 * TRUE_NOISE)
    assert weight("oracle", i, j) == pytest.approx(true)
    # Moments of the true density under the belief, by numerical integration.
    moments = [
        integrate.quad(
            lambda x, n=n: divided(x, 2 * NOISE) ** n * density(x - d, s), -4000, 4000, limit=400
        )[0]
        for n in (1, 2)
    ]
    assert moments[0] == pytest.approx(q, rel=1e-6)
    deviation = math.sqrt(moments[1] - moments[0] ** 2)
    assert weight("ucb", i, j) == pytest.approx(q + 2.0 * deviation, rel=1e-5)


def outcomes(one: Waiting, other: Waiting) -> list[tuple[float, float, float, float, float]]:
    """Return (probability, beliefs of both after) if the first one wins, and loses."""
    p = win_probability(one.mu, one.variance, other.mu, other.variance, NOISE)
    won = update(one.mu, one.variance, other.mu, other.variance, NOISE)
    lost = update(other.mu, other.variance, one.mu, one.variance, NOISE)
    return [(p, *won), (1 - p, lost[2], lost[3], lost[0], lost[1])]


@pytest.mark.parametrize("band", [1, 8])
@pytest.mark.parametrize(("i", "j"), PAIRS)
def test_knowledge_gradients_are_those_of_their_definitions(i: int, j: int, band: int) -> None:
    one, other = CROWD[i], CROWD[j]
    rest = [k for k in CROWD if k not in (one, other)]
    common = float(np.mean([k.variance for k in CROWD]))
    q = divided(one.mu - other.mu, one.variance + other.variance + 2 * NOISE)

    def best(ticket: int, mu: float, variance: float) -> float:
        below = [k for k in rest if (k.mu, k.ticket) < (mu, ticket)]
        above = [k for k in rest if k not in below]
        near = below[-band:] + above[:band]
        return max(divided(mu - k.mu, variance + k.variance + 2 * NOISE) for k in near)

    def typical(variance: float) -> float:
        return divided(0.0, variance + common + 2 * NOISE)

    gain, by_variance = 0.0, 0.0
    for k, player in enumerate((one, other)):
        after = [(p, beliefs[2 * k], beliefs[2 * k + 1]) for p, *beliefs in outcomes(one, other)]
        gain += sum(p * best(player.ticket, mu, variance) for p, mu, variance in after)
        gain -= best(player.ticket, player.mu, player.variance)
        by_variance += typical(sum(p * variance for p, _, variance in after))
        by_variance -= typical(player.variance)
    value = weight("knowledge_gradient", i, j, band)
    assert value == pytest.approx(q + 9.5 * gain, rel=1e-9)
    value = weight("knowledge_gradient_variance", i, j, band)
    assert value == pytest.approx(q + 9.5 * by_variance, rel=1e-9)


def test_gaps_of_sessions_are_exponential() -> None:
    factors = factors_with({"sessions": {"activity_cv": 0.0, "hourly_profile": [1.0] * 24}})
    world = draw_world(factors, 4, 0)
    gaps: list[float] = []
    for player in world.starts[:200]:
        gaps += [b - a for a, b in pairwise([0.0, *islice(player, 20)])]
    assert stats.kstest(np.array(gaps) / 24.0, "expon").pvalue > 1e-3
