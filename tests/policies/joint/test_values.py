"""Values of pairs are those of direct sums in plain numpy, which share no code with them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracles import joint_pairs
from valmatch.draws.streams import Streams
from valmatch.policies.joint import batch as choosing
from valmatch.policies.joint.batch import Choice, choose_batch
from valmatch.policies.joint.belief import Belief, pairs_of
from valmatch.policies.registry import GOALS, JOINT, function_of

CASES = [(name, "best") for name in JOINT] + [("knowledge_gradient", goal) for goal in GOALS[1:]]


def random_belief(rng: np.random.Generator, n: int) -> Belief:
    """Return a belief of correlated players, narrow or wide, with or without draws."""
    root = rng.normal(size=(n, n + 1)) * rng.uniform(10.0, 150.0)
    nu = float(rng.choice([0.0, rng.uniform(0.1, 3.0)]))
    return Belief(rng.normal(1500.0, rng.uniform(20.0, 300.0), n), root @ root.T / n, nu)


@pytest.mark.parametrize("beliefs", [2, pytest.param(12, marks=pytest.mark.slow)])
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


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["any", "newcomers", "known", "level"])
@pytest.mark.parametrize("goal", GOALS)
def test_bounds_find_the_same_batch(kind: str, goal: str, monkeypatch: pytest.MonkeyPatch) -> None:
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
    how = Choice("knowledge_gradient", goal, explore=0.1, rng_key=Streams(3).place(0))
    allowed = some | some.T
    bounded = choose_batch(belief, how, 60, allowed=allowed)
    monkeypatch.setattr(choosing, "pairs_of", lambda *given: pairs_of(*given)._replace(exact=True))
    whole = choose_batch(belief, how, 60, allowed=allowed)
    for one, other in zip(bounded, whole, strict=True):
        assert np.array_equal(one, other)
