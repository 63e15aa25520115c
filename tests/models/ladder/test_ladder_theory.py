"""Ladders against theory and the model `valorant`, in little; tests/verification has more."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import ladder_theory as theory
from tests.support.ladder_theory import agrees, of_poisson_players

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


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 5])
def test_mean_wait_without_a_rule(size: int) -> None:
    rate, n = 30.0, 2 * size
    waits = theory.waits_without_a_rule(of_poisson_players(rate, size, 10.0), size, 12)
    agrees(f"wait, {n} players", waits, (n - 1) / (2.0 * rate), precision=0.015)


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
