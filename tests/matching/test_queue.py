"""The protocol of rules of the queue; days with and without players who give up, by each rule."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.models.valorant.test_valorant_model import replicated
from tests.oracles.ladder import Matcher
from tests.oracles.queue_rules import Line, Lobby, Pool
from tests.support.command import interpreted
from tests.support.days import HORIZON, check_sums, random_day, random_rules
from valmatch.matching import fifo, joint, team_first
from valmatch.matching.living.ladder_adapter import queue_of
from valmatch.matching.living.registry import PRESETS
from valmatch.matching.queue import (
    Arrivals,
    QueueRule,
    RatingRule,
    Rules,
    departures_of,
    let_arrive,
    new_counts,
)
from valmatch.matching.registry import PRESET, QUEUES, meanings, of_ratings, queue_rule, readers
from valmatch.models.ladder.factors import Rule
from valmatch.models.valorant.factors import ValorantFactors
from valmatch.statistics.estimates import Estimate

VERBS = [name for name in vars(QueueRule) if not name.startswith("_")]
OF_RATINGS = [name for name in vars(RatingRule) if not name.startswith("_")]


def parameters(function: Callable[..., object]) -> list[str]:
    """Return the parameters of a function, compiled or not."""
    return list(inspect.signature(getattr(function, "py_func", function)).parameters)


@pytest.mark.parametrize("name", [*sorted(set(QUEUES) - {PRESET}), *PRESETS])
def test_rules_have_the_functions_of_the_protocol(name: str) -> None:
    rule = queue_of(name) if name in PRESETS else queue_rule(name)
    assert (len(VERBS), len(OF_RATINGS)) == (8, 3)
    for verb in (*VERBS, *(OF_RATINGS if name in of_ratings() else ())):
        expected = [one for one in parameters(getattr(RatingRule, verb)) if one != "self"]
        assert len(parameters(getattr(rule, verb))) == len(expected), verb
    assert {"horizon"} <= set(rule.Parameters._fields)


def test_factors_follow_from_the_registry() -> None:
    for factors, names in ((ValorantFactors, of_ratings()), (Rule, tuple(QUEUES))):
        schema = factors.model_json_schema()["properties"]["matching"]
        assert schema["enum"] == list(names)
        assert schema["description"] == meanings(names)
    options = {option for entry in QUEUES.values() for option in entry.options}
    assert options <= {*Rule.model_fields, *ValorantFactors.model_fields}
    assert readers("tie_break") == ("joint",)


Played = list[tuple[float, frozenset[int], frozenset[int]]]

PLAIN: dict[Any, Callable[[Rules], Matcher]] = {
    fifo: lambda rules: Line(rules.team_num),
    joint: Pool,
    team_first: Lobby,
}


def plain_day(
    matcher: Matcher,
    times: Sequence[float],
    ratings: Sequence[float],
    quits: Sequence[float],
    rules: Rules,
) -> tuple[Played, dict[int, float]]:
    """Return the matches of a day, and who gave up when."""
    # At equal times: giving up, becoming prioritized, arriving; giving up at once after arriving.
    events = [(time, 2, player, 0) for player, time in enumerate(times)]
    for player, (time, quit_) in enumerate(zip(times, quits, strict=True)):
        if quit_ < HORIZON:
            events.append((quit_, 2, player, 1) if quit_ == time else (quit_, 0, player, 0))
        if rules.continuous and time + rules.wait_thresh < HORIZON:
            events.append((time + rules.wait_thresh, 1, player, 0))
    waiting: set[int] = set()
    matches: Played = []
    gave_up: dict[int, float] = {}
    for now, kind, player, after in sorted(events):
        changed: Sequence[int] = [player]
        if kind == 2 and not after:
            waiting.add(player)
            matcher.join(player, now, ratings[player])
        elif player not in waiting:
            continue
        elif kind == 1:
            changed = [k for k in waiting if times[k] + rules.wait_thresh == now]
        else:
            waiting.remove(player)
            gave_up[player] = now
            changed = matcher.leave(player)
            if not changed or rules.around:  # then teams form around who arrives alone
                continue
        for a, b in matcher.review(now, changed):
            matches.append((now, frozenset(a), frozenset(b)))
            waiting -= {*a, *b}
    return matches, gave_up


def kernel_day(
    rule: Any,  # noqa: ANN401
    times: Sequence[float],
    ratings: Sequence[float],
    quits: Sequence[float] | None,
    rules: Rules,
) -> tuple[Played, dict[int, float], np.void]:
    """Return the same of the kernel, in a queue that has to grow, and its sums."""
    n, p = len(times), rules.team_num
    counts = new_counts(np.empty(1), np.empty((n // (2 * p), 3 + 2 * p)))
    arrivals = Arrivals(np.array(times), np.array(ratings), 0)
    departures = departures_of(arrivals.times, np.array(quits)) if quits else None
    _, counts = let_arrive(rule, arrivals, departures, rules, rule.new(2, rules), counts)
    matches: Played = []
    for row in counts.log[: counts.statistics["matches"][0]].tolist():
        players = [int(player) for player in row[3:]]
        matches.append((row[0], frozenset(players[:p]), frozenset(players[p:])))
    gave_up = {}
    if quits and departures:
        playing = {player for _, a, b in matches for player in a | b}
        gave_up = {k: quits[k] for k in range(n) if departures.gone[k] and k not in playing}
    return matches, gave_up, counts.statistics[0]


@pytest.mark.parametrize(
    "rule",
    [
        fifo,
        pytest.param(joint, marks=pytest.mark.slow),
        pytest.param(team_first, marks=pytest.mark.slow),
    ],
    ids=lambda rule: rule.__name__.rpartition(".")[2],
)
def test_days_are_those_of_the_plain_loop(rule: Any) -> None:  # noqa: ANN401
    rng = np.random.default_rng(7)
    played = left = 0
    for _ in range(400):
        rules = random_rules(rng, 3)
        if rule is team_first:
            rules = rules._replace(around=bool(rng.integers(2)))
        times, ratings = random_day(rng, 12)
        steps = int(rng.choice([8, 1024]))
        waits = rng.choice([0.0, 0.25, 1.0], len(times)) * rng.integers(0, 9, len(times))
        never = rng.random(len(times)) < 0.3
        quits = np.where(never, np.inf, times + np.round(steps * waits) / steps).tolist()
        plain, gave_up = plain_day(PLAIN[rule](rules), times, ratings, quits, rules)
        matches, seen, sums = kernel_day(rule, times, ratings, quits, rules)
        assert (matches, seen) == (plain, gave_up), (times, ratings, quits, rules)
        check_sums((times, ratings), matches, gave_up, rules, sums)
        plain, _ = plain_day(PLAIN[rule](rules), times, ratings, [np.inf] * len(times), rules)
        assert kernel_day(rule, times, ratings, None, rules)[0] == plain, (times, ratings, rules)
        played += len(matches)
        left += len(gave_up)
    assert min(played, left) > 200


RATES = np.array([20, 15, 18, 20, 20, 23, 30, 25, 30] * 3)[:24]


@pytest.mark.slow
@pytest.mark.parametrize("team_num", [1, 5])
def test_queue_is_that_of_theory(team_num: int) -> None:
    """So many wait as have arrived, modulo the size of a match; arrivals are a Poisson process."""
    size, steps = 2 * team_num, 200
    means = np.concatenate([[0.0], np.cumsum(np.repeat(RATES / steps, steps))])
    counts = np.arange(int(means[-1] + 10 * means[-1] ** 0.5))
    waiting = [float(stats.poisson.pmf(counts, mean) @ (counts % size)) for mean in means]
    made = replicated("valorant", 1500, "matching=fifo", f"team_num={team_num}")
    agrees(made["avg_queue_length"], float(np.trapezoid(waiting, dx=1.0 / steps)) / 24.0)
    agrees(made["unmatched"], waiting[-1])
    # Whoever is matched waits for (2p - 1) / 2 further arrivals on average.
    agrees(made["avg_wait_time"], 60.0 * (size - 1) / 2.0 * 24.0 / RATES.sum())


def agrees(found: Estimate, theory: float) -> None:
    assert found.mean == pytest.approx(theory, abs=4 * (found.std_error or 0))


@pytest.mark.slow
def test_ladders_are_the_plain_ones() -> None:
    """In plain Python, as the other rules are compiled with the same driver."""
    assert interpreted("tests.models.ladder.test_ladder", "plain_python", "fifo", 3, 40).startswith(
        "{'"
    )
