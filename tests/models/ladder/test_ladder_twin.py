"""The plain ladder against theory, against itself, and against the model `valorant`."""

from __future__ import annotations

import math
from collections import Counter
from itertools import islice, pairwise, takewhile
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from tests.oracles.addressed import Addressed
from tests.oracles.ladder import Ladder, factors_with, play
from tests.oracles.ladder_measures import career_curves, days, responses
from tests.oracles.ladder_world import PATIENCE, Profile, World, draw_world
from tests.oracles.pairs import Context, Waiting, policy_weight
from tests.support.ladders import random_factors, random_world
from valmatch.ratings.trueskill import update, win_probability

ONE_GAME = {"continue_prob": 0.0, "win_effect": 0.0, "loss_effect": 0.0}


def played(world: World, brute: bool = True, **changes: Any) -> Ladder:  # noqa: ANN401
    ladder = Ladder(factors_with(changes), world, brute)
    ladder.play()
    return ladder


# The same answer again, and by the short cuts.


@pytest.mark.slow
@pytest.mark.parametrize("lattice", [False, True])
@pytest.mark.parametrize("matching", ["team_first", "joint", "pairs"])
def test_short_cuts_change_nothing(matching: str, lattice: bool) -> None:
    rng = np.random.default_rng([len(matching), lattice])
    happened: Counter[str] = Counter()
    for _ in range(25):
        factors = random_factors(rng, matching)
        state = rng.bit_generator.state
        histories = []
        for brute in (True, False):
            rng.bit_generator.state = state
            ladder = Ladder(factors, random_world(rng, factors, lattice), brute)
            ladder.play()
            responses(ladder), career_curves(ladder), days(ladder)
            histories.append(ladder.history)
        assert histories[0] == histories[1], factors
        happened.update(kind for _, kind, *_ in histories[0])
    assert min(happened[kind] for kind in ("queue", "match", "end", "give up", "drop")) > 5


def test_events_are_in_order() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        factors = random_factors(rng, "team_first")
        ladder = Ladder(factors, random_world(rng, factors, lattice=True), brute=False)
        ladder.play()
        times = [time for time, *_ in ladder.history]
        assert times == sorted(times)
        assert all(time < ladder.horizon for time in times)


# What is drawn.


def test_profile_time_is_inverted() -> None:
    profile = Profile([0.0, 3.0, 1.0, *[2.0] * 20, 0.0])
    times = np.random.default_rng(1).uniform(0.0, 100.0, 1000)
    for time in times[(times % 24 > 1) & (times % 24 < 23)].tolist():
        assert profile.moment(profile.at(time)) == pytest.approx(time, abs=1e-9)
    assert profile.moment(0.0) == 1.0
    assert profile.moment(2.0) == 49.0


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


# Rules.


class Impatient(Addressed):
    """Player 0 waits three hours, all others forever."""

    def exponential(self, source: int, player: int, counter: int) -> float:
        assert source == PATIENCE
        return 3.0 if player == 0 else 1e9


def test_a_team_dissolves_when_a_member_leaves() -> None:
    # 0 and 1 are a team, 2 and 3 another too far away; when 0 leaves, 1 forms one with 4.
    skills = [1500.0, 1500.0, 2500.0, 2500.0, 1600.0]
    ladder = played(
        World(Impatient(1, 0), skills, starts=[[0.5 + k / 8] for k in range(5)]),
        days=1,
        warmup_days=0,
        population={"start": "skill"},
        rule={"team_num": 2, "player_diff": 100.0, "wait_thresh": 24.0, "team_diff": 950.0},
        sessions={**ONE_GAME, "patience_minutes": 60.0},
    )
    gone = [event for event in ladder.history if event[1] == "give up"]
    assert gone == [(3.5, "give up", 0, 0, (1,))]
    (match,) = ladder.matches
    assert match.time == 3.5
    # The team of 2 and 3 is older.
    assert [[t.player.number for t in side] for side in match.tickets] == [[2, 3], [1, 4]]


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


# Measures.


@pytest.mark.slow
def test_responses_are_what_the_history_says() -> None:
    factors = factors_with(
        {
            "days": 4,
            "warmup_days": 1.5,
            "population": {"players": 200, "newcomers_per_day": 20.0},
            "sessions": {"patience_minutes": 20.0, "churn": 0.05},
            "rule": {"team_num": 2},
        }
    )
    ladder = play(factors, 1, 0, brute=False)
    found = responses(ladder)
    inside = [event for event in ladder.history if event[0] >= 36.0]
    kinds = Counter(kind for _, kind, *_ in inside)
    assert found["n_matches"] == kinds["match"] > 50
    assert found["n_tickets"] == 4 * kinds["match"] + kinds["give up"]
    assert found["abandoned_fraction"] == kinds["give up"] / found["n_tickets"] > 0
    assert found["dropped_sessions"] == kinds["drop"] > 0
    queued = {event[3]: event for event in ladder.history if event[1] == "queue"}
    waits, active = [], set()
    for time, kind, *facts in inside:
        if kind == "match":
            for ticket in facts[1] + facts[2]:
                waits.append(60.0 * (time - queued[ticket][0]))
                active.add(queued[ticket][2])
    assert found["avg_wait_time"] == pytest.approx(np.mean(waits))
    assert found["wait_p90"] == pytest.approx(np.quantile(waits, 0.9))
    assert found["active_players"] == len(active)
    assert found["games_per_player_day"] == pytest.approx(len(waits) / len(active) / 2.5)
    last: dict[int, float] = {}
    for _, kind, *facts in ladder.history:
        if kind == "end":
            last |= zip(facts[1], [mu for side in facts[3] for mu, _ in side], strict=True)
        elif kind == "gone":
            last.pop(facts[0], None)
    r = np.array(list(last.values()))
    s = np.array([ladder.players[player].skill for player in last])
    assert found["rating_slope"] == pytest.approx(np.polyfit(s, r, 1)[0])
    assert found["rank_correlation"] == pytest.approx(stats.spearmanr(r, s).statistic)
    assert found["rating_error"] == pytest.approx(np.std(r - s))
    daily = days(ladder)
    assert len(daily) == 4
    assert sum(day["matches"] or 0 for day in daily) == len(ladder.matches)
    assert daily[-1]["scale_stretch"] == found["scale_stretch"]
    curves = career_curves(ladder)
    assert [len(curve) for curve in curves.values()] == [100] * 3


def test_gaps_of_sessions_are_exponential() -> None:
    factors = factors_with({"sessions": {"activity_cv": 0.0, "hourly_profile": [1.0] * 24}})
    world = draw_world(factors, 4, 0)
    gaps: list[float] = []
    for player in world.starts[:200]:
        gaps += [b - a for a, b in pairwise([0.0, *islice(player, 20)])]
    assert stats.kstest(np.array(gaps) / 24.0, "expon").pvalue > 1e-3
