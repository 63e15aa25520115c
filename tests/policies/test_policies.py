"""Every policy equals a direct evaluation of its formula."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.oracles import knowledge_gradient as oracle_kg
from valmatch.kernels.arrays import Floats
from valmatch.policies import lookahead_search as kg
from valmatch.policies.decisions import Circumstances, choose_opponent, knowledge_of
from valmatch.policies.lookahead_search import (
    best_of_scores,
    best_opponent,
    error_bound,
    future_quality,
    score,
)
from valmatch.policies.upper_confidence import error_bound as error_of_bound
from valmatch.policies.upper_confidence import quality_bound, upper_confidence
from valmatch.ratings.trueskill import draw_quality

VECTORS = json.loads((Path(__file__).parents[1] / "fixtures" / "opponent_vectors.json").read_text())
FORMS = ("corrected", "as_printed")
NOISE = 2.5


def wild_states(n: int, seed: int) -> list[tuple[Floats, Floats, int, float, float]]:
    """States over many scales, with ties: means, variances, player, noise, multiplier."""
    rng = np.random.default_rng(seed)
    states = []
    for _ in range(n):
        n_players = int(rng.integers(2, 52))
        means = rng.normal(0, 10 ** rng.uniform(-2, 1.5), n_players)
        variances = 10 ** rng.uniform(-3, 1.5) * rng.uniform(0.2, 3, n_players)
        if rng.random() < 0.3:
            means = np.round(means)
        if rng.random() < 0.3:
            variances = np.full(n_players, variances[0])
        if rng.random() < 0.3:
            variances[0] *= 10 ** rng.uniform(-4, 0)
        noise = 10 ** rng.uniform(-1.5, 1.5)
        multiplier = 10 ** rng.uniform(-1, 3)
        states.append((means, variances, int(rng.integers(n_players)), noise, multiplier))
    return states


@pytest.mark.slow
@pytest.mark.parametrize("vector", VECTORS["decisions"])
def test_decision_vectors(vector: dict[str, Any]) -> None:
    means, variances = np.array(vector["mu"]), np.array(vector["var"])
    noise = vector["noise_var"]
    games_left = vector["N"] - vector["n"]
    weights = {"eq12": float(games_left), "eq13": vector["gamma"] / (1 - vector["gamma"])}
    for form in FORMS:
        want = vector[form]
        around = Circumstances(noise, vector["gamma"], games_left, as_printed=form == "as_printed")
        known = knowledge_of(means, variances, 0, around)
        for j in range(1, len(means)):
            assert future_quality(j, known) == pytest.approx(float(want["F"][j - 1]), rel=1e-12)
            for rule, weight in weights.items():
                value = score(j, known, weight)
                assert value == pytest.approx(float(want[f"{rule}_score"][j - 1]), rel=1e-12)
        for policy, wanted in {
            "point_estimate": vector["PE"],
            "draw_chance": vector["DC"],
            "knowledge_gradient_finite": want["eq12"],
            "knowledge_gradient": want["eq13"],
        }.items():
            assert choose_opponent(policy, means, variances, 0, around) == wanted


@pytest.mark.parametrize(("form", "margin"), [(FORMS[0], 0.0), (FORMS[1], 0.0), (FORMS[0], 0.7)])
def test_expected_best_quality_equals_the_formula(form: str, margin: float) -> None:
    rng = np.random.default_rng(10)
    decided = 0
    for _ in range(1000):
        n_players = int(rng.integers(2, 52)) if rng.random() < 0.2 else int(rng.integers(2, 8))
        means, variances = rng.normal(0, 2, n_players), rng.uniform(0.02, 3, n_players)
        player, games_left = int(rng.integers(n_players)), int(rng.integers(1, 500))
        mean, var = means.tolist(), variances.tolist()
        futures, qualities = np.full((2, n_players), -np.inf)
        around = Circumstances(
            NOISE, 0.99, games_left, as_printed=form == "as_printed", draw_margin=margin
        )
        state = means, variances, player, around
        known = knowledge_of(*state)
        for j in range(n_players):
            if j != player:
                future = oracle_kg.expected_best_quality(j, player, mean, var, NOISE, form, margin)
                assert future_quality(j, known) == pytest.approx(future, rel=1e-11)
                futures[j] = future
                qualities[j] = oracle_kg.quality(mean[player], var[player], mean[j], var[j], NOISE)
        for weight, chosen in (
            (99.0, choose_opponent("knowledge_gradient", *state)),
            (games_left, choose_opponent("knowledge_gradient_finite", *state)),
        ):
            scores = np.sort(qualities + weight * futures)
            if n_players == 2 or scores[-1] - scores[-2] > 1e-10 * scores[-1]:
                decided += 1
                assert chosen == int(np.argmax(qualities + weight * futures))
    assert decided > 1900


@pytest.mark.parametrize(("printed", "drawn"), [(False, False), (True, False), (False, True)])
def test_pruned_choice_is_the_plain_choice_in_wild_states(printed: bool, drawn: bool) -> None:
    """Approximate scores stay well within the bound of their error."""
    rng = np.random.default_rng(14)
    for means, variances, player, noise, multiplier in wild_states(800, seed=11):
        margin = 10 ** rng.uniform(-4, 1.5) * math.sqrt(noise) if drawn else 0.0
        around = Circumstances(noise, as_printed=printed, draw_margin=margin)
        known = knowledge_of(means, variances, player, around)
        plain = best_of_scores(np.zeros(means.size), 0.0, known, multiplier)
        assert best_opponent(known, multiplier) == plain
        limit = error_bound(known) * (1 + multiplier)
        for j in range(means.size):
            if j != player:
                exact = score(j, known, multiplier)
                assert abs(known.work.scores[j] - exact * math.sqrt(2 * math.pi)) <= 0.25 * limit


def test_policies_without_exploration_are_draw_chance() -> None:
    """The knowledge gradient with gamma 0, the upper bounds with kappa 0."""
    rng = np.random.default_rng(70)
    policies = ("knowledge_gradient", "ucb_opponent", "ucb_both")
    for player in range(50):
        state = rng.normal(0, 2, 50), rng.uniform(2, 3, 50), player
        for printed in (False, True):
            around = Circumstances(NOISE, gamma=0.0, kappa=0.0, as_printed=printed)
            chosen = choose_opponent("draw_chance", *state, around)
            assert {choose_opponent(policy, *state, around) for policy in policies} == {chosen}


def test_random_opponent_divides_the_unit_interval_evenly() -> None:
    def chosen(player: int, uniform: float) -> int:
        state = np.zeros(5), np.ones(5), player, Circumstances(uniform=uniform)
        return choose_opponent("random", *state)

    for player in range(5):
        counts = np.bincount([chosen(player, (k + 0.5) / 400) for k in range(400)], minlength=5)
        assert counts.tolist() == [0 if j == player else 100 for j in range(5)]
        assert chosen(player, math.nextafter(1.0, 0.0)) == (3 if player == 4 else 4)


def test_bounds_are_the_moments_of_the_draw_density() -> None:
    """Mean and deviation of N(X; 0, width), X ~ N(lead, uncertain), by quadrature."""
    rng = np.random.default_rng(80)
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    weights = weights / weights.sum()
    for lead, uncertain, width in zip(
        rng.normal(0, 3, 300), rng.uniform(0.01, 6, 300), rng.uniform(2, 9, 300), strict=True
    ):
        x = lead + math.sqrt(uncertain) * nodes
        density = np.exp(-0.5 * x * x / width) / math.sqrt(2 * math.pi * width)
        mean = float(weights @ density)
        deviation = math.sqrt(float(weights @ (density - mean) ** 2))
        assert quality_bound(lead, uncertain, width, 0.0) == pytest.approx(mean, rel=1e-10)
        bound = quality_bound(lead, uncertain, width, 2.0)
        assert bound == pytest.approx(mean + 2.0 * deviation, rel=1e-7)


def test_upper_confidence_takes_the_largest_bound() -> None:
    for means, variances, player, noise, kappa in wild_states(500, seed=81):
        for both in (False, True):
            own = variances[player]
            width = 2 * noise + own * (not both)
            bounds = [
                quality_bound(means[player] - means[j], variances[j] + own * both, width, kappa)
                for j in range(means.size)
            ]
            bounds[player] = -math.inf
            known = knowledge_of(means, variances, player, Circumstances(noise, kappa=kappa))
            assert upper_confidence(known, both) == int(np.argmax(bounds))
            error = np.abs(np.delete(known.work.scores, player) - np.delete(bounds, player))
            assert np.all(error <= 0.5 * error_of_bound(width, kappa))
    # The mean of the bound over both skills is that of the quality (5), whatever is averaged first.
    alone = quality_bound(1.0, 2.0, 2 * NOISE + 3.0, 0.0)
    assert quality_bound(1.0, 2.0 + 3.0, 2 * NOISE, 0.0) == pytest.approx(alone, rel=1e-14)
    assert draw_quality(1.0, 3.0, 0.0, 2.0, NOISE) == pytest.approx(alone, rel=1e-14)


@pytest.mark.parametrize("printed", [False, True])
def test_lookahead_agrees_with_its_twin(printed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """All inner kernels run interpreted too."""
    states = [
        (
            knowledge_of(means, variances, player, Circumstances(noise, as_printed=printed)),
            multiplier,
        )
        for means, variances, player, noise, multiplier in wild_states(60, seed=52)
    ]
    compiled = []
    for known, multiplier in states:
        chosen = kg.best_opponent(known, multiplier)
        compiled.append((chosen, kg.score(chosen, known, multiplier)))
    for name, kernel in list(vars(kg).items()):
        if hasattr(kernel, "py_func"):
            monkeypatch.setattr(kg, name, kernel.py_func)
    for (known, multiplier), (chosen, value) in zip(states, compiled, strict=True):
        assert kg.best_opponent(known, multiplier) == chosen
        assert kg.best_of_scores(np.zeros(known.means.size), 0.0, known, multiplier) == chosen
        assert kg.score(chosen, known, multiplier) == value
