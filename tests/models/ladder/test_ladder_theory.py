"""Ladders against theory and the model `valorant`, in little; tests/verification has more."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.support import ladder_theory as theory
from tests.support.interpreted import interpreted
from tests.support.ladder_theory import ELO_SPREAD, agrees, error_of, of_poisson_players

REVIEWS = [
    ("arrivals", "team"),
    ("arrivals", "pool"),
    ("continuous", "team"),
    ("continuous", "pool"),
]
RULE = {
    "team_num": 5,
    "player_diff": 200,
    "player_slack": 200,
    "team_diff": 40,
    "team_slack": 100,
    "wait_thresh": 0.2,
}


@pytest.mark.parametrize(("review", "scope"), REVIEWS)
def test_one_known_game_each_is_the_model_valorant(review: str, scope: str) -> None:
    rule = {**RULE, "matching": "team_first", "review": review, "slack_scope": scope}
    assert sum(theory.same_matches(rule, k) for k in range(3)) > 100


def both_teams_at_once() -> int:
    """Return the number of matches that are the same, of two days."""
    matches = 0
    for k, (review, scope) in enumerate(REVIEWS):
        rule = {**RULE, "matching": "joint", "review": review, "slack_scope": scope, "team_num": 2}
        matches += theory.same_matches(rule, k, horizon=4)
    return matches


@pytest.mark.slow
def test_one_known_game_each_is_the_model_valorant_with_both_teams_at_once() -> None:
    """In plain Python, as compiling joint matching takes long."""
    assert int(interpreted("tests.models.ladder.test_ladder_theory", "both_teams_at_once")) > 40


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 5])
def test_mean_wait_without_a_rule(size: int) -> None:
    rate, n = 30.0, 2 * size
    waits = theory.waits_without_a_rule(of_poisson_players(rate, size, 10.0), size, 12)
    agrees(f"wait, {n} players", waits, (n - 1) / (2.0 * rate), precision=0.015)


@pytest.mark.slow
@pytest.mark.parametrize("minutes", [1.0, 10.0])
def test_mean_wait_with_ticks(minutes: float) -> None:
    rate = 30.0
    ticks = {
        "rule__matching": "pairs",
        "rule__policy": "random",
        "rule__tick_seconds": 60 * minutes,
    }
    model = of_poisson_players(rate, 1, 10.0, **ticks, rule__tolerance=1e6, rule__reserve=-100)
    waits = theory.waits_without_a_rule(model, 1, 20)
    agrees(f"wait, {minutes} min ticks", waits, 0.5 / rate + minutes / 120.0, precision=0.01)


IMPATIENT = [
    (1, 60.0, 2.0, 0.4, 0.2),
    (5, 60.0, 30.0, 4.6235, 0.15412),
    (5, 21.6, 60.0, 4.6679, 0.21611),
]


@pytest.mark.slow
@pytest.mark.parametrize(("size", "rate", "patience", "queue", "abandoned"), IMPATIENT)
def test_impatient_queue(
    size: int, rate: float, patience: float, queue: float, abandoned: float
) -> None:
    exact = theory.queue_and_abandoned(2 * size, rate, patience)
    assert exact == pytest.approx((queue, abandoned), rel=2e-5)
    days = 300.0 / rate
    model = of_poisson_players(rate, size, days, sessions__patience_minutes=patience)
    lengths, shares = theory.impatient_queue(model, days, size, 8)
    agrees("queue", lengths, queue, precision=0.015)
    agrees("abandoned", shares, abandoned, precision=0.025)


def test_the_impatient_queue_of_two_is_a_formula() -> None:
    for rate, patience in ((60.0, 2.0), (10.0, 30.0), (200.0, 0.5)):
        leave = 60.0 / patience
        wanted = rate / (2.0 * rate + leave), leave / (2.0 * rate + leave)
        assert theory.queue_and_abandoned(2, rate, patience) == pytest.approx(wanted, rel=1e-12)


ELO: dict[str, dict[str, Any]] = {
    "pairs who come and go": {
        "rule.matching": "pairs",
        "population.newcomers_per_day": 100,
        "sessions.churn": 0.1,
        "sessions.patience_minutes": 20,
    },
    "teams of three, from their skills": {"rule.team_num": 3, "population.start": "skill"},
    "large steps": {"rating.K": 400, "rating.scale": 200},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ELO)
def test_elo_keeps_its_identity(name: str) -> None:
    changes = {
        "population.players": 200,
        "population.start": "prior",
        "days": 4,
        "warmup_days": 1,
        "sessions.per_day": 4,
        "rule.team_num": 1,
        "rating.system": "elo",
        "rating.K": 24,
        "rating.scale": 400,
        **ELO[name],
    }
    assert theory.elo_identity(theory.ladder(changes), changes, 3, 0) > 1000


@pytest.mark.slow
def test_error_of_elo_under_random_pairs() -> None:
    """The theory leaves out terms of order K / s; rounds in a few lines do not."""
    k = 32.0
    errors = theory.stationary_error(k, 200, 12, 4, 1, 4)
    wanted = math.sqrt(k * ELO_SPREAD / 2.0)
    agrees("error", errors, wanted, precision=0.02, slack=k / (3.0 * ELO_SPREAD))
    rounds = [theory.error_after_rounds(k, 1000, 800, 200, n) for n in range(4)]
    agrees("rounds", errors, float(np.mean(rounds)), precision=0.02, error=error_of(rounds))


@pytest.mark.slow
def test_elo_matched_by_rating() -> None:
    """The slope by theory is .80; without its K it would be 1."""
    runs = theory.matched_by_rating(32.0, 60, 30, "skill", 1, 4)
    theory.agrees_with_theory(runs, 32.0, precision=0.02)


@pytest.mark.slow
def test_calibration_after_random_rounds() -> None:
    values = [theory.calibration_after_rounds("random", n) for n in range(4)]
    agrees("calibration", values, 1.087, precision=0.08, error=0.005)
