"""Values of pairs are those of direct sums in plain numpy, which share no code with them."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from tests.oracles import joint_pairs
from valmatch.draws.streams import Streams
from valmatch.policies.joint import batch as choosing
from valmatch.policies.joint import lookahead
from valmatch.policies.joint.batch import choose_batch
from valmatch.policies.joint.belief import POINTS, Belief, pairs_of
from valmatch.policies.joint.lookahead import MOST_DRAWN, WIDEST, expected_excess
from valmatch.policies.joint.outcomes import game_information, mutual_information
from valmatch.policies.registry import GOALS, JOINT, function_of

CASES = [(name, "best") for name in JOINT] + [("knowledge_gradient", goal) for goal in GOALS[1:]]


def random_belief(rng: np.random.Generator, n: int) -> Belief:
    """Return a belief of correlated players, narrow or wide, with or without draws."""
    root = rng.normal(size=(n, n + 1)) * rng.uniform(10.0, 150.0)
    nu = float(rng.choice([0.0, rng.uniform(0.1, 3.0)]))
    return Belief(rng.normal(1500.0, rng.uniform(20.0, 300.0), n), root @ root.T / n, nu)


@pytest.mark.parametrize("beliefs", [4, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("policy", "goal"), CASES)
def test_values_are_those_of_direct_quadrature(policy: str, goal: str, beliefs: int) -> None:
    rng = np.random.default_rng(20260)
    worst = 0.0
    for _ in range(beliefs):
        n = int(rng.integers(2, 7))
        belief = random_belief(rng, n)
        games = np.triu(rng.integers(0, 5, (n, n)), 1)
        games += games.T
        upper = np.triu_indices(n, 1)
        everyone = np.ones(upper[0].size, np.bool_)
        pairs = pairs_of(belief, goal, everyone, games[upper], np.arange(n))
        function_of(JOINT[policy])(pairs)
        for p in rng.choice(upper[0].size, min(3, upper[0].size), replace=False):
            pair = int(upper[0][p]), int(upper[1][p])
            expected = joint_pairs.value(
                policy, goal, belief.mean, belief.covariance, belief.draw_weight, pair, games
            )
            worst = max(worst, abs(pairs.values[p] - expected) / max(1.0, abs(expected)))
    assert worst < 1e-9


def test_a_batch_is_chosen_one_by_one() -> None:
    rng = np.random.default_rng(4)
    belief = random_belief(rng, 6)
    batch = choose_batch(belief, size=4)
    covariance = belief.covariance.copy()
    for k in range(4):
        now = belief._replace(covariance=covariance)
        first = choose_batch(now, size=1)
        assert (first.first[0], first.second[0]) == (batch.first[k], batch.second[k])
        assert first.value[0] == pytest.approx(batch.value[k], rel=1e-12)
        i, j = batch.first[k], batch.second[k]
        moved = covariance[:, i] - covariance[:, j]
        spread = moved[i] - moved[j]
        assert batch.std_error[k] == pytest.approx(np.sqrt(spread))
        lead = belief.mean[i] - belief.mean[j]
        told = joint_pairs.information_of(lead, float(np.sqrt(spread)), belief.draw_weight)
        covariance = covariance - np.outer(moved, moved) * told / (1 + told * spread)


@pytest.mark.parametrize("goal", GOALS)
def test_bounds_rule_out_no_pair_that_is_the_best(goal: str) -> None:
    rng = np.random.default_rng(7)
    for n in (2, 3, 12, 12, 30, 30):
        belief = random_belief(rng, n)
        upper = np.triu_indices(n, 1)
        some = rng.random(upper[0].size) < rng.choice([0.5, 1.0])
        some[0] = True
        games = np.zeros(some.size, np.int64)
        values = []
        for exact in (True, False):
            pairs = pairs_of(belief, goal, some, games, np.arange(n), exact)
            function_of(JOINT["knowledge_gradient"])(pairs)
            values.append(pairs.values)
        whole, bounded = values
        best = whole.max()
        assert bounded.max() == best
        near = bounded >= best * (1.0 - 1e-8)
        assert np.array_equal(whole[near], bounded[near])
        assert np.array_equal(np.isneginf(whole), ~some)


@pytest.mark.parametrize("kind", ["any", "newcomers", "known", "level"])
@pytest.mark.parametrize("goal", GOALS)
def test_bounds_find_the_same_batch(kind: str, goal: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept of a pair from game to game rules out none that is the best later."""
    n, rng = 30, np.random.default_rng(GOALS.index(goal))
    belief = random_belief(rng, n)
    if kind == "newcomers":
        belief = Belief(np.zeros(n), 350.0**2 * (np.eye(n) - 1.0 / n), 0.5)
    elif kind == "known":  # some of them all but exactly, so that slopes are sums of rounding
        share = np.where(rng.random(n) < 0.5, 1e-7, 1.0)
        belief = belief._replace(covariance=belief.covariance * share[:, np.newaxis] * share)
    elif kind == "level":  # with the leader, so that lines cross where they begin
        places = rng.integers(0, 3, n)
        belief = belief._replace(mean=np.array(1500.0 + 40.0 * places))
    some = np.triu(rng.random((n, n)) < 0.9, 1)
    given: dict[str, Any] = {"allowed": some | some.T, "explore": 0.1, "streams": Streams(3)}
    bounded = choose_batch(belief, "knowledge_gradient", goal, 60, **given)
    monkeypatch.setattr(choosing, "needs_all", lambda *_: True)
    whole = choose_batch(belief, "knowledge_gradient", goal, 60, **given)
    for one, other in zip(bounded, whole, strict=True):
        assert np.array_equal(one, other)


def test_what_is_kept_of_pairs_bounds_what_would_be_measured() -> None:
    rng, grown = np.random.default_rng(9), 0
    n = 12
    for share in (1.0, 1.0, 0.0):
        belief = random_belief(rng, n)
        belief = belief._replace(mean=1500.0 + share * (belief.mean - 1500.0))
        everyone, none = np.ones(66, np.bool_), np.zeros(66, np.int64)
        pairs = pairs_of(belief, "best", everyone, none, np.arange(n), False)
        upper = [*combinations(range(n), 2)]
        for i, j in [(0, 1), (2, 9), (0, 1), (4, 5)]:
            count = lookahead._rivals(pairs)
            for p, (one, other) in enumerate(upper):
                lookahead._measure_sides(pairs, one, other, count, p)
            before = pairs.sides.copy()
            choosing.play(pairs, i, j)
            lookahead._widen_sides(pairs)
            kept, count = pairs.sides.copy(), lookahead._rivals(pairs)
            for p, (one, other) in enumerate(upper):
                lookahead._measure_sides(pairs, one, other, count, p)
            assert (kept >= pairs.sides).all()
            assert np.isfinite(kept).all()
            grown += int((pairs.sides > before * (1.0 + 1e-9)).any(axis=1).sum())
    assert grown > 50


def test_the_ceiling_of_a_bend_is_mostly_just_above_what_it_gains() -> None:
    """By real numbers of games, of which those that are tried are some."""
    rng, games = np.random.default_rng(12), np.geomspace(1.0, 1024.0, 400)
    ratios = []
    for _ in range(300):
        spread, information = rng.uniform(20.0, 400.0) ** 2, 8e-6 * rng.uniform(0.05, 1.0)
        steps = np.sqrt(games * information / (1.0 + games * information * spread))
        crossing = rng.uniform(0.0, 6.0) * steps[-1]
        gains = [t * expected_excess(crossing / t) / m for t, m in zip(steps, games, strict=True)]
        ceiling = lookahead._ceiling_of_gain(1.0, 1.0 / max(crossing, 1e-300), spread, information)
        ratios.append(ceiling / max(gains))
    assert min(ratios) >= 1.0
    assert np.quantile(ratios, 0.9) < 1.3  # it is for any number of games, some end too early


def test_an_outcome_tells_the_more_the_less_is_known() -> None:
    """What `information` passes over cannot be the best, as far as it relies on that."""
    deviations = np.geomspace(0.01, WIDEST, 120)
    for nu in (0.0, 0.1, 1.0, 4.0, MOST_DRAWN):
        for lead in (0.0, 0.5, 2.0, 5.0, 12.0, 40.0):
            told = np.array([mutual_information(lead, float(s), nu) for s in deviations])
            assert (np.diff(told) > -1e-13).all()


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("nu", [0.0, 1.5])
def test_what_was_told_before_rules_out_no_pair_that_is_the_best(nu: float, wide: bool) -> None:
    rng = np.random.default_rng(8)
    belief = random_belief(rng, 9)._replace(draw_weight=nu)
    if wide:  # beyond what is relied on
        belief = belief._replace(covariance=belief.covariance * 1e5)
    some = np.triu(rng.random((9, 9)) < 0.8, 1)
    given: dict[str, Any] = {"allowed": some | some.T, "explore": 0.2, "streams": Streams(2)}
    batch, covariance = choose_batch(belief, "information", size=12, **given), belief.covariance
    games = np.zeros((9, 9), np.int64)
    for k in range(12):
        now = belief._replace(covariance=covariance)
        one = choose_batch(now, "information", size=1, games=games, start=k, **given)
        i, j = int(batch.first[k]), int(batch.second[k])
        assert (one.first[0], one.second[0]) == (i, j)
        assert one.value[0] == pytest.approx(batch.value[k], rel=1e-9)
        assert one.propensity[0] == batch.propensity[k]
        games[i, j] += 1
        games[j, i] += 1
        moved = covariance[:, i] - covariance[:, j]
        spread = moved[i] - moved[j]
        lead = belief.mean[i] - belief.mean[j]
        told = POINTS**2 * game_information(POINTS * lead, POINTS * math.sqrt(spread), nu)
        covariance = covariance - np.outer(moved, moved) * told / (1 + told * spread)
