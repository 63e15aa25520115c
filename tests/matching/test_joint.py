"""The event loop of joint matching against a plain one that enumerates all pairs of teams."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.oracles.joint import Pool
from tests.support.days import random_day, random_rules
from tests.support.interpreted import interpreted
from valmatch.matching import joint, queue
from valmatch.matching.queue import kernel_of, new_counts
from valmatch.matching.rules import Rules

SIDES = 2

run = kernel_of(queue.run, joint)


def plain_day(
    times: list[float], ratings: list[float], rules: Rules
) -> list[tuple[float, list[int], list[int]]]:
    """Return (hour, team a, team b) of each match, straight from the rules."""
    events = [(time, 1, player) for player, time in enumerate(times)]
    if rules.continuous:
        moments = ((time + rules.wait_thresh, 0, player) for player, time in enumerate(times))
        events += [event for event in moments if event[0] < rules.horizon]
    pool = Pool(rules)
    matches: list[tuple[float, list[int], list[int]]] = []
    for now, arrives, player in sorted(events):
        if arrives:
            pool.join(player, times[player], ratings[player])
        elif player not in pool.players:
            continue
        found = pool.review(now)
        if found:
            matches.append((now, list(found[0]), list(found[1])))
    return matches


def kernel_day(
    times: list[float], ratings: list[float], rules: Rules
) -> list[tuple[float, list[int], list[int]]]:
    """Return the same of the kernel, in a queue that has to grow."""
    p = rules.team_num
    state = joint.new(2 * p, rules)
    waits, log = np.empty(len(times) + 1), np.empty((len(times) // (2 * p), 3 + 2 * p))
    counts = new_counts(waits, log)
    t, r = np.array(times), np.array(ratings)
    taken = 0
    while True:
        taken += run(t[taken:], r[taken:], taken, True, rules, state, counts)
        if taken == len(times):
            break
        state = joint.grown(state, rules)
    rows = log[: counts.statistics["matches"][0]]
    teams = rows[:, 3:].astype(int).reshape(-1, SIDES, p).tolist()
    return [(row[0], a, b) for row, (a, b) in zip(rows.tolist(), teams, strict=True)]


def played(days: int) -> list[Any]:
    """Return the matches of some random days."""
    rng = np.random.default_rng(7)
    return [kernel_day(*random_day(rng, 10), random_rules(rng, 3)) for _ in range(days)]


def test_equals_the_plain_loop() -> None:
    rng = np.random.default_rng(1)
    matched = 0
    for _ in range(600):
        rules = random_rules(rng, 3)
        times, ratings = random_day(rng, 10)
        matches = kernel_day(times, ratings, rules)
        assert matches == plain_day(times, ratings, rules), (times, ratings, rules)
        matched += len(matches)
    assert matched > 300


@pytest.mark.slow
def test_compiled_kernel_equals_its_python_source() -> None:
    days = played(100)
    assert sum(map(len, days)) > 50
    assert interpreted("tests.matching.test_joint", "played", 100) == repr(days)
