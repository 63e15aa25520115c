"""Ladders whose figures are known: by theory, or because another model plays the same matches."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.config.loading import load_config
from valmatch.draws.streams import Streams
from valmatch.execution.chunks import build
from valmatch.kernels.arrays import Floats
from valmatch.matching.queue import with_people
from valmatch.models.ladder.loop import Sessions, new_log, new_loop, set_clocks
from valmatch.models.ladder.measures import scale, standing
from valmatch.models.ladder.model import LadderModel
from valmatch.models.ladder.population import DrawnPlayers
from valmatch.models.model import Record
from valmatch.models.valorant.model import ValorantModel

Changes = Mapping[str, Any]
Columns = dict[str, NDArray[Any]]

ELO_SPREAD = 400.0 / math.log(10.0)

ONE_GAME: Changes = {
    "sessions.continue_prob": 0,
    "sessions.win_effect": 0,
    "sessions.loss_effect": 0,
}
NO_RULE: Changes = {"rule.player_diff": 1e6, "rule.team_diff": 1e6}
ONE_AGAINST_ONE: Changes = {"rule.team_num": 1, "rule.player_diff": 0, "rule.player_slack": 0}


def ladder(changes: Changes) -> LadderModel:
    """Return the model of the config `ladder` with changes by dotted path."""
    model = build(load_config("ladder", dict(changes)))
    assert isinstance(model, LadderModel)
    return model


def played(model: LadderModel, seed: int, replication: int) -> Record:
    return model.record(model.draw(Streams(seed), replication))


def tables_of(found: Record) -> dict[str, Columns]:
    return {table.name: dict(table.columns) for table in found.tables}


def error_of(values: Sequence[float] | Floats) -> float:
    """Return the standard error of a mean."""
    return float(np.std(values, ddof=1)) / math.sqrt(len(values))


def agrees(
    what: str,
    values: Sequence[float] | Floats,
    wanted: float,
    *,
    precision: float,  # the largest relative standard error that is worth anything
    error: float = 0.0,  # standard error of what is wanted
    slack: float = 0.0,  # how much what is wanted is off, relatively, being an approximation
) -> None:
    """Compare a mean with what it should be, to four standard errors."""
    mean, own = float(np.mean(values)), error_of(values)
    total = math.hypot(own, error)
    print(f"{what}: {mean:.5g} +- {own:.2g}, wanted {wanted:.5g}, z {(mean - wanted) / total:.2f}")
    assert own <= precision * wanted, what
    assert abs(mean - wanted) <= 4.0 * total + slack * wanted, what


# The model `valorant`.


def one_known_game_each(changes: Changes, times: Floats, skills: Floats) -> Record:
    """Play a day of newcomers who join at these times, play at most once and are known."""
    nobody = {"population.players": 0, "sessions.per_day": 0, "warmup_days": 0}
    soon_over = {"match.minutes": 1e-3, "rating.system": "known"}
    model = ladder({**ONE_GAME, **nobody, **soon_over, **changes})
    groups, rng_key = np.arange(skills.size), Streams(1).place(0)
    return model.record(DrawnPlayers(skills, np.ones(skills.size), times, groups, rng_key))


def same_matches(rule: Changes, replication: int, **day: Any) -> int:  # noqa: ANN401
    """Play a day of the model `valorant` as a ladder; return the number of matches."""
    valorant = build(load_config("valorant", {**rule, **day}))
    assert isinstance(valorant, ValorantModel)
    wanted = valorant.record(valorant.draw(Streams(7), replication))
    players, matches = (tables_of(wanted)[name] for name in ("players", "matches"))
    found = one_known_game_each(
        {"days": day.get("horizon", 24) / 24, **{f"rule.{name}": rule[name] for name in rule}},
        players["arrival_hours"],
        players["rating"],
    )
    tickets, games = (tables_of(found)[name] for name in ("tickets", "games"))
    assert (tickets["player"] == players["player"]).all()
    for mine, theirs in (
        ("queued_hours", "arrival_hours"),
        ("ended_hours", "match_hours"),
        ("rating", "rating"),
        ("match", "match"),
    ):
        np.testing.assert_array_equal(tickets[mine], players[theirs])
    size = rule["team_num"]
    teams = games["player"].reshape(-1, 2, size)
    assert len(teams) >= len(matches["match"]) - 1  # the last may not end before the horizon
    for number, sides in zip(games["game"][:: 2 * size], teams, strict=True):
        for name, side in zip(("team_a", "team_b"), sides, strict=True):
            assert matches[name][number] == ";".join(map(str, side))
    same_measures(found.responses, dict(zip(valorant.responses.names, row_of(wanted), strict=True)))
    return len(matches["match"])


def row_of(found: Record) -> list[float]:
    """Return the responses of a record of the model `valorant`."""
    return [float(value) for value in found.responses.tolist()[0]]  # type: ignore[union-attr]


def same_measures(mine: Any, theirs: Mapping[str, float]) -> None:  # noqa: ANN401
    """Compare the responses that both models have."""
    for name in ("team_diff", "player_diff"):
        for ours in (name, f"true_{name}"):
            np.testing.assert_allclose(mine[ours], theirs[f"avg_{name}"], rtol=1e-9, atol=1e-9)
    for name in ("avg_wait_time", "wait_p50", "wait_p90", "wait_p95", "wait_p99", "n_matches"):
        np.testing.assert_allclose(mine[name], theirs[name], rtol=1e-9, atol=1e-9)


# Queues without a rule: strangers come at a rate, an hour, and play once.


def of_poisson_players(rate: float, size: int, days: float, **changes: Any) -> LadderModel:  # noqa: ANN401
    """Return a ladder of strangers, `size` on a side, whom no rule keeps apart."""
    strangers = {"population.players": 0, "population.newcomers_per_day": 24.0 * rate}
    given = {name.replace("__", "."): value for name, value in changes.items()}
    shape = {"days": days, "warmup_days": 0, "sessions.per_day": 0, "rule.team_num": size}
    return ladder({**ONE_GAME, **NO_RULE, **strangers, **shape, **given})


def waits_without_a_rule(model: LadderModel, seed: int, replications: int) -> Floats:
    """Return the mean wait (hours) of each replication."""
    rows = [model.run(model.draw(Streams(seed), k)).responses for k in range(replications)]
    return np.array([row["avg_wait_time"] / 60.0 for row in rows])


def impatient_queue(
    model: LadderModel, days: float, seed: int, replications: int
) -> tuple[list[float], list[float]]:
    """Return mean queue and abandoned share of each replication, after the first tenth."""
    lengths, shares = [], []
    begin, end = 2.4 * days, 24.0 * days
    for k in range(replications):
        tickets = tables_of(played(model, seed, k))["tickets"]
        left = np.where(np.isnan(tickets["ended_hours"]), end, tickets["ended_hours"])
        waited = np.clip(left, begin, end) - np.clip(tickets["queued_hours"], begin, end)
        lengths.append(float(waited.sum()) / (end - begin))
        over = (left >= begin) & (left < end)
        shares.append(float(np.mean(np.isnan(tickets["match"][over]))))
    return lengths, shares


def queue_and_abandoned(n: int, rate: float, patience_minutes: float) -> tuple[float, float]:
    """Return both for matches of n, exactly: by the shares of time with 0 to n - 1 waiting."""
    leave = 60.0 / patience_minutes
    flows = np.zeros((n, n))
    for k in range(n):
        flows[k, (k + 1) % n] += rate
        if k:
            flows[k, k - 1] += leave * k
    balance = flows.T - np.diag(flows.sum(axis=1))
    balance[-1] = 1.0
    shares = np.linalg.solve(balance, np.eye(n)[-1])
    length = float(shares @ np.arange(n))
    return length, leave * length / rate


# Elo.


def elo_identity(model: LadderModel, changes: Changes, seed: int, replication: int) -> int:
    """Compare the growth of squared ratings with theory, to rounding; return the matches."""
    found = tables_of(played(model, seed, replication))
    games, players = found["games"], found["players"]
    size, k, scale = (changes[name] for name in ("rule.team_num", "rating.K", "rating.scale"))
    ratings = players["rating"]
    start = np.full(ratings.size, 1500.0)
    if changes["population.start"] == "skill":
        first = changes["population.players"]
        start[:first] = players["skill"][:first]
    change = float((ratings**2).sum() - (start**2).sum())
    growth = _elo_growth(games, size, k, scale)
    seen = np.abs(np.concatenate([ratings, start, games["rating_after"]]))
    most = float(seen.max(initial=0.0)) + scale
    allowed = 3.0 * (games["game"].size + ratings.size) * 2.0 * most * float(np.spacing(most))
    assert abs(change - growth) <= allowed
    matches = int(games["game"].size) // (2 * int(size))
    if matches:
        print(f"{matches} matches, {growth:.6g}, missed by {change - growth:.1g} of {allowed:.1g}")
        assert allowed < 1e-4 * k * k  # far less than a match between equals moves it by
    return matches


def _elo_growth(games: Columns, size: int, k: float, scale: float) -> float:
    before = games["rating_before"].reshape(-1, 2, size).mean(axis=2)
    lead = before[:, 0] - before[:, 1]
    won = games["score"].reshape(-1, 2, size)[:, 0, 0]
    surprise = won - 1.0 / (1.0 + 10.0 ** (-lead / scale))
    return float((2 * size * k * lead * surprise + 2 * size * (k * surprise) ** 2).sum())


def elo_ladder(k: float, players: int, days: float, start: str, **rule: Any) -> LadderModel:  # noqa: ANN401
    """Return a ladder of the same players all the time, one against one, 60 games a day."""
    return ladder(
        {
            **ONE_GAME,
            **ONE_AGAINST_ONE,
            **NO_RULE,
            "days": days,
            "warmup_days": 0,
            "population.players": players,
            "population.newcomers_per_day": 0,
            "population.start": start,
            "sessions.per_day": 60,
            "sessions.activity_cv": 0,
            "match.minutes": 1,
            "rating.system": "elo",
            "rating.K": k,
            **{f"rule.{name}": value for name, value in rule.items()},
        }
    )


def stationary_error(
    k: float, players: int, days: int, burn_in: int, seed: int, replications: int
) -> list[float]:
    """Return the root mean square error of Elo ratings under random pairs, by replication."""
    model = elo_ladder(k, players, days, "skill")
    found = []
    for replication in range(replications):
        daily = tables_of(played(model, seed, replication))["days"]
        found.append(float(np.sqrt(np.mean(daily["rating_error"][burn_in:] ** 2))))
    return found


def error_after_rounds(k: float, players: int, rounds: int, burn_in: int, seed: int) -> float:
    """Return the same where everybody plays once a round: no ladder at all, a few lines."""
    rng = np.random.default_rng(seed)
    skill = rng.normal(0.0, 300.0, players)
    rating, squares = skill.copy(), []
    for _ in range(rounds):
        a, b = rng.permutation(players).reshape(2, -1)
        won = rng.random(players // 2) < 1.0 / (1.0 + np.exp((skill[b] - skill[a]) / ELO_SPREAD))
        step = k * (won - 1.0 / (1.0 + np.exp((rating[b] - rating[a]) / ELO_SPREAD)))
        rating[a] += step
        rating[b] -= step
        squares.append(np.mean((rating - skill) ** 2))
    return float(np.sqrt(np.mean(squares[burn_in:])))


class Matched(NamedTuple):
    """A run with matches by rating, after the first half."""

    gap: float  # root mean square rating gap of a match
    slope: float  # of skill on rating
    deviation: float  # of the ratings
    slope_by_theory: float  # by the gap and the players' skills, like the next
    deviation_by_theory: float


def matched_by_rating(
    k: float, players: int, days: int, start: str, seed: int, replications: int
) -> list[Matched]:
    """Play matches of at most 300 points of difference."""
    model = elo_ladder(k, players, days, start, team_diff=300, team_slack=0)
    return [
        _matched(k, days, tables_of(played(model, seed, replication)))
        for replication in range(replications)
    ]


def _matched(k: float, days: int, tables: Mapping[str, Columns]) -> Matched:
    games, daily = tables["games"], tables["days"]
    pairs = games["rating_before"].reshape(-1, 2)[games["time"][::2] > 12.0 * days]
    square = float(np.mean((pairs[:, 0] - pairs[:, 1]) ** 2))
    skill = float(tables["players"]["skill"].var())
    # Nobody comes or goes: error squared is the variance of rating - skill.
    late = slice(days // 2, None)
    rating = daily["scale_stretch"][late] ** 2 * skill
    covariance = (rating + skill - daily["rating_error"][late] ** 2) / 2.0
    slope = 1.0 - k * ELO_SPREAD / square
    return Matched(
        math.sqrt(square),
        float(np.mean(covariance / rating)),
        float(np.sqrt(rating).mean()),
        slope,
        math.sqrt(skill - slope * k * ELO_SPREAD / 2.0) / slope,
    )


def agrees_with_theory(runs: Sequence[Matched], k: float, precision: float) -> None:
    """Compare slope and deviation with their theory, which leaves out terms of order K / s."""
    slack = k / (4.0 * ELO_SPREAD)
    print(f"K {k:g}: {np.mean(runs, axis=0).round(3)}")
    for name, ratios in (
        ("slope / theory", [run.slope / run.slope_by_theory for run in runs]),
        ("deviation / theory", [run.deviation / run.deviation_by_theory for run in runs]),
    ):
        agrees(name, ratios, 1.0, precision=precision, slack=slack)


# TrueSkill.

UNIT = 100.0
"""Points of a unit of skill: the prior variance is 6.5, the noise 2.5 of them."""

BY_PAIRS: Changes = {
    "rule.team_num": 1,
    "rule.matching": "pairs",
    "rule.tick_seconds": 1800,
    "rule.tolerance": 1e6,
    "rule.urgency": 0,
    "rule.reserve": -100,  # so that everybody plays
}


def calibration_after_rounds(
    policy: str, seed: int, players: int = 1000, rounds: int = 200
) -> float:
    """Let everybody play once an hour by the kernels; return the last squared error / variance."""
    at_random = policy == "random"
    rule = {**ONE_AGAINST_ONE, **NO_RULE} if at_random else {**BY_PAIRS, "rule.policy": policy}
    sigma, beta = UNIT * math.sqrt(6.5), UNIT * math.sqrt(2.5)
    people = {"population.players": players, "population.newcomers_per_day": 0}
    skill = {"population.skill_std": sigma, "rating.sigma": sigma, "rating.tau": 0}
    match = {"match.outcome": "normal", "match.beta": beta, "match.minutes": 1}
    length = {"days": rounds / 24, "warmup_days": 0, "sessions.per_day": 1e-9}
    model = ladder({**ONE_GAME, **people, **skill, **match, **length, **rule})
    inputs = model.draw(Streams(seed), 0)
    records, ratings = model._players(inputs)
    order, moments = np.random.default_rng(seed), np.full((rounds, players), 0.25)
    if at_random:
        orders = [order.permutation(players) for _ in range(rounds)]
        moments = (1 + np.array(orders)) / (4 * players)
    starts = (moments + np.arange(rounds, dtype=np.float64)[:, np.newaxis]).T.ravel()
    sessions = Sessions(starts, rounds * np.arange(players + 1))
    loop = new_loop(records, ratings, inputs.rng_key, model._shares, sessions, 1, 1.0, 1)
    set_clocks(np.empty(0), loop)
    queue = model._rule.new(64, model._rules.queue)
    model._queue = with_people(queue, loop.players, loop.rng_key)
    model._go_on(float(rounds), loop, new_log(0, 0, 1))
    assert (loop.players["finished"] == rounds).all()
    now = standing(loop.players)
    return float(scale(now)["rating_error"] ** 2 / now.mean_variance)
