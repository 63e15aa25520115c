"""A default day of `valorant` in plain numba, as one would write it first: what speeds are held to.

All who wait stand in arrays by rating. At every arrival every window of ratings is looked at anew.
It has only what the defaults ask for.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar, cast

import numba
import numpy as np

from valmatch.config.loading import load_config
from valmatch.execution.chunks import build
from valmatch.kernels.arrays import Floats, Ints
from valmatch.matching.rules import Rules
from valmatch.models.valorant.arrivals import Law
from valmatch.models.valorant.model import ValorantModel

MOST = 1024
"""Players of a day, and those who wait, at most."""

F = TypeVar("F", bound=Callable[..., object])

QUANTILES = (0.5, 0.9, 0.95, 0.99)


def plain(function: F) -> F:
    """Compile a function as anybody would."""
    return cast(F, numba.njit(error_model="numpy")(function))


@plain
def best_team(now: float, times: Floats, ratings: Floats, pool: Ints, count: int, rules: Rules,
              team: Ints) -> bool:  # fmt: skip
    """Fill in the best team of those who wait, numbers in order of arrival; return if any fits."""
    size, found = rules.team_num, False
    most, least = -1, np.int64(0)
    candidate = np.empty(size, np.int64)
    for relaxed in range(2):
        widest = rules.player_diff + relaxed * rules.player_slack
        for place in range(count - size + 1):
            chosen = 0
            for k in range(place, count):
                player = pool[k]
                if ratings[player] - ratings[pool[place]] > widest:
                    break
                at = chosen if chosen < size else size
                while at > 0 and candidate[at - 1] > player:
                    if at < size:
                        candidate[at] = candidate[at - 1]
                    at -= 1
                if at < size:
                    candidate[at] = player
                    chosen = min(chosen + 1, size)
            if chosen < size:
                continue
            ahead, ticks = 0, np.int64(0)
            for player in candidate:
                ahead += now - times[player] > rules.wait_thresh
                ticks += int(times[player] * rules.ticks_per_hour + 0.5)
            if relaxed and ahead == 0:
                continue
            if not found or ahead > most or (ahead == most and ticks < least):
                found, most, least = True, ahead, ticks
                team[:] = candidate
    return found


@plain
def best_pair(now: float, times: Floats, means: Floats, teams: Ints, count: int, rules: Rules
              ) -> tuple[int, int]:  # fmt: skip
    """Return the best two of the teams that wait; -1 where none fit."""
    pair = (-1, -1)
    most, least = -1, np.int64(0)
    for a in range(count):
        for b in range(a + 1, count):
            ahead, ticks = 0, np.int64(0)
            for one in (a, b):
                for player in teams[one]:
                    ahead += now - times[player] > rules.wait_thresh
                    ticks += int(times[player] * rules.ticks_per_hour + 0.5)
            limit = rules.team_diff + (rules.team_slack if ahead else 0.0)
            if abs(means[a] - means[b]) > limit:
                continue
            if pair[0] < 0 or ahead > most or (ahead == most and ticks < least):
                pair, most, least = (a, b), ahead, ticks
    return pair


@plain
def play(times: Floats, ratings: Floats, rules: Rules) -> Floats:
    """Return the responses of a day, in the order of the model's."""
    size, n = rules.team_num, times.size
    pool, count = np.empty(MOST, np.int64), 0
    teams, means, formed = np.empty((MOST, size), np.int64), np.empty(MOST), 0
    team = np.empty(size, np.int64)
    waits, matched, matches, ahead = np.empty(n), 0, 0, 0
    gaps, spreads = 0.0, 0.0
    for newcomer in range(n):
        now = times[newcomer]
        at = count
        while at > 0 and ratings[pool[at - 1]] > ratings[newcomer]:
            pool[at] = pool[at - 1]
            at -= 1
        pool[at] = newcomer
        count += 1
        while best_team(now, times, ratings, pool, count, rules, team):
            left = 0
            for k in range(count):
                if not (team == pool[k]).any():
                    pool[left] = pool[k]
                    left += 1
            count = left
            teams[formed] = team
            means[formed] = ratings[team].sum() / size
            formed += 1
        while True:
            a, b = best_pair(now, times, means, teams, formed, rules)
            if a < 0:
                break
            gaps += abs(means[a] - means[b])
            for one in (a, b):
                own = ratings[teams[one]]
                spreads += own.max() - own.min()
                for player in teams[one]:
                    waits[matched] = 60.0 * (now - times[player])
                    ahead += now - times[player] > rules.wait_thresh
                    matched += 1
            matches += 1
            left = 0
            for k in range(formed):
                if k not in (a, b):
                    teams[left], means[left] = teams[k], means[k]
                    left += 1
            formed = left
    unmatched, rest = n - matched, 0.0
    for k in range(count + formed * size):
        player = pool[k] if k < count else teams[(k - count) // size, (k - count) % size]
        rest += 60.0 * (rules.horizon - times[player])
        ahead += rules.horizon - times[player] > rules.wait_thresh
    ordered = np.sort(waits[:matched])
    found = np.full(15, np.nan)
    total = ordered.sum()
    if matches:
        found[0], found[1] = gaps / matches, spreads / (2 * matches)
        found[2], found[8] = total / matched, ordered[-1]
        for k, quantile in enumerate(QUANTILES):
            place = quantile * (matched - 1)
            low = int(place)
            high = min(low + 1, matched - 1)
            found[4 + k] = ordered[low] + (place - low) * (ordered[high] - ordered[low])
    found[3] = (total + rest) / n
    found[9] = (total + rest) / 60.0 / rules.horizon
    found[10], found[11] = matched / n, ahead / n
    found[12], found[13], found[14] = n, matches, unmatched
    return found


@plain
def draw(law: Law, rng: np.random.Generator, times: Floats, ratings: Floats) -> int:
    """Draw the players of a day; return how many."""
    n, level, piece = 0, rng.standard_exponential(), 0
    while piece < law.rates.size:
        if level >= law.levels[piece + 1]:
            piece += 1
            continue
        times[n] = law.edges[piece] + (level - law.levels[piece]) / law.rates[piece]
        while True:
            a, b, c = rng.standard_normal(), rng.standard_normal(), rng.standard_normal()
            elo = law.mean[0] + law.factor[0, 0] * a
            kd = law.mean[1] + law.factor[1, 0] * a + law.factor[1, 1] * b
            wr = law.mean[2] + law.factor[2, 0] * a + law.factor[2, 1] * b + law.factor[2, 2] * c
            if 0.0 <= elo <= law.elo_max and kd >= 0.0 and wr >= 0.0:
                break
        weights = law.multipliers
        ratings[n] = weights[0] * elo + weights[1] * kd + weights[2] * wr
        n += 1
        level += rng.standard_exponential()
    return n


@plain
def drawn(law: Law, rules: Rules, rng: np.random.Generator, count: int) -> Floats:
    """Return the responses of drawn days, a row each."""
    times, ratings = np.empty(MOST), np.empty(MOST)
    found = np.empty((count, 15))
    for day in range(count):
        n = draw(law, rng, times, ratings)
        found[day] = play(times[:n], ratings[:n], rules)
    return found


def default_day() -> tuple[Law, Rules]:
    """Return the law of the arrivals of a default day, and its rules."""
    model = build(load_config("valorant"))
    assert isinstance(model, ValorantModel)
    assert model._process is not None
    return model._process.law, model._rules


def in_plain_days(play_some: Callable[[], object], count: int, rounds: int = 15) -> float:
    """Return how long a day takes in plain days, where a call plays so many of them.

    Both take turns, because machines are noisy; the least seconds of a processor count.
    """
    law, rules = default_day()
    rng = np.random.default_rng(1)
    drawn(law, rules, rng, 1)
    own, others = [], []
    for _ in range(rounds):
        start = time.process_time()
        play_some()
        between = time.process_time()
        drawn(law, rules, rng, count)
        own.append(between - start)
        others.append(time.process_time() - between)
    return min(own) / min(others)
