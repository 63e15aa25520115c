"""Matching by pairs and its policies, against brute force, a blossom, the plain rule and theory."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from tests.oracles.addressed import Addressed
from tests.oracles.ladder import PAIRS
from tests.oracles.ladder_world import PAIR
from tests.oracles.pairs import (
    Context,
    Waiting,
    band_matching,
    best_matching,
    policy_weight,
    tick_pairs,
)
from tests.support.ladders import POLICIES, random_pairs
from valmatch.draws.streams import Streams
from valmatch.matching import pairs
from valmatch.matching.pairs import ALONE, MOST, Parameters, QueueState, match_band
from valmatch.matching.queue import LINEUP, with_people
from valmatch.policies import knowledge as policy_state
from valmatch.policies.pair_lookahead import learnt
from valmatch.policies.registry import PAIR as PAIR_POLICIES
from valmatch.policies.registry import function_of, place_of
from valmatch.ratings.trueskill import update, win_probability

Weights = Mapping[tuple[int, int], int]

NOBODY = -1
SEED, REPLICATION = 5, 3
PLAYER = np.dtype([("mean", "f8"), ("sigma", "f8"), ("skill", "f8"), ("ticket", "i8")])


# The matching.


def matched(n: int, weights: Weights, band: int) -> list[tuple[int, int]]:
    """Return the pairs of the kernel."""
    table = np.full((n, band), -1)
    for (i, j), weight in weights.items():
        table[i, j - i - 1] = weight
    partners = match_band(table)
    assert all(partners[partners[i]] == i for i in range(n) if partners[i] != ALONE)
    return [(i, int(partners[i])) for i in range(n) if partners[i] > i]


def random_weights(rng: np.random.Generator, n: int, band: int, most: int) -> dict[Any, int]:
    """Return weights of some pairs in the band, with ties if `most` is small."""
    share = rng.choice([0.3, 0.8, 1.0])
    return {
        (i, j): int(rng.integers(0, most + 1))
        for i in range(n)
        for j in range(i + 1, min(i + band + 1, n))
        if rng.random() < share
    }


@pytest.mark.slow
def test_band_matching_is_the_best_of_all() -> None:
    rng = np.random.default_rng(1)
    for _ in range(400):
        n, band = int(rng.integers(0, 9)), int(rng.integers(1, 10))
        weights = random_weights(rng, n, band, int(rng.choice([0, 1, 3, 2**50, MOST])))
        assert matched(n, weights, band) == best_matching(n, weights), weights
    for _ in range(6):
        weights = random_weights(rng, 10, 8, 2)
        assert matched(10, weights, 8) == best_matching(10, weights), weights


def test_band_matching_of_many_is_that_of_the_plain_programme() -> None:
    rng = np.random.default_rng(2)
    for _ in range(60):
        n, band = int(rng.integers(0, 60)), int(rng.integers(1, 7))
        weights = random_weights(rng, n, band, int(rng.choice([0, 1, 3, 2**40, MOST])))
        assert matched(n, weights, band) == band_matching(n, weights, band), weights


# Ticks.


def rules_of(rule: Mapping[str, Any], noise: float, true_noise: float) -> Parameters:
    return Parameters(
        tick_seconds=rule["tick_seconds"],
        horizon=24.0,
        tolerance=rule["tolerance"],
        widening=rule["widening"],
        oldest=rule["widening_age"] == "oldest",
        band=rule["band"],
        policy=place_of(rule["policy"], PAIR_POLICIES),
        multiplier=rule["gamma"] / (1.0 - rule["gamma"]),
        kappa=rule["kappa"],
        urgency=rule["urgency"],
        reserve=rule["reserve"],
        noise=noise,
        true_noise=true_noise,
        source=PAIR,
    )


def context_of(rule: Mapping[str, Any], noise: float, true_noise: float) -> Context:
    numbers = Addressed(SEED, REPLICATION)
    return Context(rule, noise, true_noise, lambda low, high: numbers.uniform(PAIR, low, high))


def random_waiting(rng: np.random.Generator, n: int) -> list[Waiting]:
    """Return who waits, in order of tickets; half of the time many are alike."""
    if rng.random() < 0.5:
        mu, skill = 100.0 * rng.integers(13, 18, n), 100.0 * rng.integers(13, 18, n)
        sigma, times = 100.0 * rng.integers(0, 3, n), rng.integers(0, 3, n) / 8.0
    else:
        mu, skill = rng.normal(1500.0, 150.0, (2, n))
        sigma, times = rng.uniform(0.0, 300.0, n), rng.uniform(0.0, 0.4, n)
    conservative = rng.random() < 0.3
    seen = mu - 3.0 * sigma if conservative else mu
    tickets = np.sort(rng.choice(100, n, replace=False))
    found = zip(tickets, np.sort(times), seen, mu, sigma * sigma, skill, strict=True)
    return [Waiting(int(ticket), *map(float, one)) for ticket, *one in found]


def ticked(waiting: list[Waiting], now: float, rules: Parameters) -> tuple[list[Any], QueueState]:
    """Return the tickets that play at a tick of the kernel; everybody's number is his ticket."""
    players = np.zeros(101, PLAYER)
    queue = with_people(pairs.new(2, rules), players, Streams(SEED).place(REPLICATION))
    for one in waiting:
        players[one.ticket] = (one.mu, math.sqrt(one.variance), one.skill, one.ticket)
        if not pairs.has_room(rules, queue):
            queue = pairs.grown(queue, rules)
        place = pairs.enqueue(one.time, one.seen, one.ticket, rules, queue)
        assert pairs.review(one.time, place, rules, queue) == 0
    lineup, found = np.zeros(2, LINEUP), []
    for match in range(pairs.review(now, NOBODY, rules, queue)):
        pairs.players_of_match(match, rules, queue, lineup)
        found.append(tuple(lineup["player"].tolist()))
    return found, queue


@pytest.mark.slow
def test_ticks_are_the_plain_ones() -> None:
    rng, total = np.random.default_rng(2), 0
    for k in range(98):
        policy = POLICIES[k % len(POLICIES)]
        rule = {**PAIRS, **random_pairs(rng), "policy": policy}
        rule["gamma"], rule["kappa"] = float(rng.choice([0.5, 0.95])), float(rng.choice([1.0, 3.0]))
        noise, true_noise = (float(beta) ** 2 for beta in rng.choice([50.0, 150.0], 2))
        waiting = random_waiting(rng, int(rng.integers(0, 41)))
        wanted = tick_pairs(waiting, 0.5, context_of(rule, noise, true_noise))
        rules = rules_of(rule, noise, true_noise)
        found, queue = ticked(waiting, 0.5, rules)
        assert found == wanted, (rule, waiting)
        n = queue.state[0]["waiting"]
        playing = {ticket for pair in wanted for ticket in pair}
        left = [one.ticket for one in waiting if one.ticket not in playing]
        assert queue.players["player"][:n].tolist() == left
        total += len(found)
    assert total > 450


# The policies.


def worth(i: Waiting, j: Waiting, limit: float, waiting: list[Waiting], context: Context) -> float:
    """Return what a pair is worth by the functions that kernels call."""
    rule, ordered = context.rule, sorted(waiting, key=lambda one: (one.mu, one.ticket))
    people = np.zeros(len(ordered), policy_state.WAITING)
    for rank, one in enumerate(ordered):
        people[rank] = (0.0, one.seen, one.mu, one.variance, one.skill, one.ticket, rank)
    mean, variance, ticket = (people[name].copy() for name in ("mean", "variance", "ticket"))
    common = policy_state.Waiting(
        policy_state.MeanOrder(mean, variance, ticket, rule["band"], context.noise),
        sum(one.variance for one in waiting) / len(waiting),
        context.noise,
        context.true_noise,
        rule["gamma"] / (1.0 - rule["gamma"]),
        rule["kappa"],
        Streams(SEED).place(REPLICATION),
        PAIR,
    )
    first, second = (people[ordered.index(one)] for one in (i, j))
    weigh = function_of(PAIR_POLICIES[rule["policy"]])
    return float(weigh(first, second, limit, common))


@pytest.mark.parametrize("policy", POLICIES)
def test_policies_are_the_plain_ones(policy: str) -> None:
    rng = np.random.default_rng(len(policy))
    for _ in range(300):
        rule = {**PAIRS, **random_pairs(rng), "policy": policy}
        context = context_of(rule, *(float(rng.choice([50.0, 150.0])) ** 2 for _ in range(2)))
        waiting = random_waiting(rng, int(rng.integers(2, 20)))
        i, j = sorted(
            (waiting[k] for k in rng.choice(len(waiting), 2, replace=False)),
            key=lambda one: (one.seen, one.ticket),
        )
        limit = float(rng.choice([0.0, 300.0, 1e4]))
        found = worth(i, j, limit, waiting, context)
        wanted = policy_weight(i, j, limit, waiting, context)
        assert found == pytest.approx(wanted, rel=1e-12, abs=1e-13)
        assert round(found * 2**40) == round(wanted * 2**40)


NOISE = 150.0**2


@pytest.mark.parametrize("mean", [1600.0, 1500.0, 900.0])
def test_expected_variance_is_that_of_quadrature(mean: float) -> None:
    own, theirs = 200.0**2, 120.0**2
    noise = math.sqrt(theirs + 2.0 * NOISE)

    def moment(power: int, won: bool) -> float:
        def integrand(z: float) -> float:
            skill = 1500.0 + 200.0 * z
            chance = stats.norm.cdf((skill - mean if won else mean - skill) / noise)
            return float(z**power * stats.norm.pdf(z) * chance)

        return float(integrate.quad(integrand, -9.0, 9.0, epsabs=1e-13)[0])

    expected = 0.0
    for won in (True, False):
        mass, first, second = (moment(power, won) for power in range(3))
        expected += second - first * first / mass
    total = own + theirs + 2.0 * NOISE
    found = own - own * own / total * learnt(1500.0 - mean, total)
    assert found == pytest.approx(own * expected, rel=1e-9)
    p = win_probability(1500.0, own, mean, theirs, NOISE)
    after_win = update(1500.0, own, mean, theirs, NOISE)[1]
    after_loss = update(mean, theirs, 1500.0, own, NOISE)[3]
    assert found == pytest.approx(p * after_win + (1.0 - p) * after_loss, rel=1e-12)
