"""Ladders at length: against plain Python, an independent program, theory, another model."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from tests.models.ladder.test_ladder import equals_the_plain_ladder
from tests.support import ladder_theory as theory
from tests.support.ladder_theory import ELO_SPREAD, agrees, error_of, of_poisson_players
from tests.support.ladders import random_factors
from valmatch.config.loading import load_config
from valmatch.execution.chunks import build, run
from valmatch.models.ladder.factors import LadderFactors
from valmatch.models.ladder.model import LadderModel

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "fixtures" / "ladder_reference.json").read_text()
)["configurations"]

REPLICATIONS = 200


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("matching", ["team_first", "joint", "pairs"])
def test_equals_the_plain_ladder(matching: str, seed: int) -> None:
    happened = equals_the_plain_ladder(matching, 100 + seed, 25)
    assert min(happened[kind] for kind in ("queue", "match", "end", "give up", "drop")) > 5


@pytest.mark.parametrize("name", REFERENCE)
def test_every_response_is_within_four_standard_errors(name: str) -> None:
    known = REFERENCE[name]
    model = build(load_config(known["config"]))
    # With one seed all would have the same players, and so miss together.
    values = run(model, list(REFERENCE).index(name), range(REPLICATIONS)).responses
    misses = []
    for response, expected in {**known["responses"], **known["joined"]}.items():
        mine = values[:, model.responses.names.index(response)]
        mine = mine[~np.isnan(mine)]
        if expected is None:
            assert not mine.size, response
            continue
        own = float(mine.std(ddof=1)) / math.sqrt(mine.size)
        error = math.hypot(own, expected["std_error"])
        print(f"{name} {response}: {mine.mean():.5g}, {expected['mean']:.5g}, error {error:.2g}")
        if abs(mine.mean() - expected["mean"]) > 4 * error + 1e-9:
            misses.append(response)
    assert not misses


# The model `valorant`.


@pytest.mark.parametrize("scope", ["team", "pool"])
@pytest.mark.parametrize("review", ["arrivals", "continuous"])
@pytest.mark.parametrize("matching", ["team_first", "joint"])
def test_one_known_game_each_is_the_model_valorant(matching: str, review: str, scope: str) -> None:
    rng = np.random.default_rng([len(matching), len(review), len(scope)])
    matches, days = 0, 25
    for replication in range(days):
        rule = {
            "matching": matching,
            "review": review,
            "slack_scope": scope,
            "tie_break": str(rng.choice(["balanced", "enumeration"])),
            "team_num": int(rng.integers(1, 6 if matching == "team_first" else 4)),
            "player_diff": float(rng.choice([50, 100, 200, 400])),
            "player_slack": float(rng.choice([0, 50, 200, 400])),
            "team_diff": float(rng.choice([5, 20, 100, 400])),
            "team_slack": float(rng.choice([0, 50, 200])),
            "wait_thresh": float(rng.choice([0.0, 0.05, 0.2, 1.0])),
        }
        # Whole gaps let somebody queue just when another becomes prioritized. A ladder takes the
        # newcomer first, the model valorant the other.
        whole = review == "arrivals" and replication % 2
        day = {"gaps": "poisson" if whole else "exponential", "rate_multiplier": 2}
        matches += theory.same_matches(rule, replication, **day)
    print(f"{matching} {review} {scope}: {matches} matches of {days} days are the same")
    assert matches > 50 * days


# Queues.


@pytest.mark.parametrize(
    ("matching", "size"),
    [("team_first", 1), ("team_first", 2), ("team_first", 5), ("joint", 1), ("joint", 3)],
)
def test_mean_wait_without_a_rule(matching: str, size: int) -> None:
    rate, n = 30.0, 2 * size
    model = of_poisson_players(rate, size, 20.0, rule__matching=matching)
    waits = theory.waits_without_a_rule(model, 10 * size, 60)
    agrees(f"wait, {matching}, {n} players", waits, (n - 1) / (2.0 * rate), precision=0.003)


@pytest.mark.parametrize("minutes", [0.25, 2.0, 10.0])
def test_mean_wait_with_ticks(minutes: float) -> None:
    rate = 30.0
    ticks = {
        "rule__matching": "pairs",
        "rule__tick_seconds": 60 * minutes,
        "rule__policy": "random",
    }
    model = of_poisson_players(rate, 1, 20.0, **ticks, rule__tolerance=1e6, rule__reserve=-100)
    waits = theory.waits_without_a_rule(model, 2, 60)
    agrees(f"wait, ticks of {minutes} min", waits, 0.5 / rate + minutes / 120.0, precision=0.003)


@pytest.mark.parametrize(
    ("matching", "size", "rate", "patience"),
    [
        ("team_first", 1, 60.0, 2.0),
        ("team_first", 1, 10.0, 30.0),
        ("team_first", 5, 60.0, 30.0),
        ("team_first", 5, 21.6, 60.0),
        ("joint", 1, 60.0, 2.0),
        ("joint", 3, 21.6, 20.0),
    ],
)
def test_impatient_queue(matching: str, size: int, rate: float, patience: float) -> None:
    days = 600.0 / rate
    queue, abandoned = theory.queue_and_abandoned(2 * size, rate, patience)
    changes: dict[str, Any] = {"sessions__patience_minutes": patience, "rule__matching": matching}
    model = of_poisson_players(rate, size, days, **changes)
    lengths, shares = theory.impatient_queue(model, days, 3, 60)
    case = f"{matching}, {2 * size} players, {rate:g} an hour, {patience:g} min"
    agrees(f"queue, {case}", lengths, queue, precision=0.004)
    agrees(f"abandoned, {case}", shares, abandoned, precision=0.006)


# Elo.


@pytest.mark.parametrize("matching", ["team_first", "joint", "pairs"])
def test_elo_keeps_its_identity(matching: str) -> None:
    rng, happened = np.random.default_rng(len(matching)), Counter[str]()
    for _ in range(120):
        factors: Any = random_factors(rng, matching)
        factors["rating"]["system"] = "elo"
        try:
            model = LadderModel(LadderFactors.model_validate(factors))
        except ValidationError:  # nobody would ever queue
            continue
        sections = ("population", "rule", "rating")
        changes = {f"{one}.{name}": factors[one][name] for one in sections for name in factors[one]}
        changes.setdefault("rule.team_num", 1)
        matches = theory.elo_identity(model, changes, 1, int(rng.integers(10)))
        happened["matches"] += matches
        happened["ladders"] += matches > 0
    print(f"{matching}: {happened}")
    assert happened["ladders"] > 20


@pytest.mark.parametrize(("k", "burn_in"), [(8.0, 12), (16.0, 8), (32.0, 5)])
def test_error_of_elo_under_random_pairs(k: float, burn_in: int) -> None:
    """The theory is the limit of small K; it leaves out terms of order K / s."""
    errors = theory.stationary_error(k, 500, 3 * burn_in, burn_in, 1, 6)
    wanted = math.sqrt(k * ELO_SPREAD / 2.0)
    agrees(f"error, K {k:g}", errors, wanted, precision=0.006, slack=k / (3.0 * ELO_SPREAD))
    rounds = [theory.error_after_rounds(k, 2000, 240 * burn_in, 60 * burn_in, n) for n in range(4)]
    known, error = float(np.mean(rounds)), error_of(rounds)
    agrees(f"error, K {k:g}, against rounds", errors, known, precision=0.006, error=error)


def test_elo_matched_by_rating() -> None:
    """From both starts, so that the run is seen to be long enough."""
    slopes = []
    for start in ("skill", "prior"):
        runs = theory.matched_by_rating(16.0, 200, 60, start, 1, 4)
        theory.agrees_with_theory(runs, 16.0, precision=0.01)
        slopes.append([run.slope for run in runs])
    known, error = float(np.mean(slopes[0])), error_of(slopes[0])
    agrees("slope from either start", slopes[1], known, precision=0.01, error=error)


# TrueSkill.


@pytest.mark.parametrize(
    ("policy", "wanted", "error", "runs"),
    [("random", 1.087, 0.005, 200), ("draw_chance", 1.40, 0.03, 40), ("nearest", 1.41, 0.03, 40)],
)
def test_calibration_after_rounds(policy: str, wanted: float, error: float, runs: int) -> None:
    values = [theory.calibration_after_rounds(policy, seed) for seed in range(runs)]
    print(f"{policy}: sd of one {np.std(values, ddof=1):.3f}")
    agrees(f"calibration, {policy}", values, wanted, precision=0.03, error=error)
