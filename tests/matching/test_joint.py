"""The event loop of joint matching against a plain one that enumerates all pairs of teams."""

from __future__ import annotations

import numpy as np

from tests.matching.test_departures import Played, plain_day
from tests.oracles.joint import Pool
from tests.oracles.ladder import Joint
from tests.support.days import random_day, random_rules
from valmatch.matching import joint
from valmatch.matching.queue import Arrivals, let_arrive, new_counts
from valmatch.matching.rules import Rules


def kernel_day(times: list[float], ratings: list[float], rules: Rules) -> Played:
    """Return the matches of the kernel, in a queue that has to grow."""
    p = rules.team_num
    log = np.empty((len(times) // (2 * p), 3 + 2 * p))
    arrivals = Arrivals(np.array(times), np.array(ratings), 0, True)
    queue, counts = joint.new(2 * p, rules), new_counts(np.empty(1), log)
    _, counts = let_arrive(joint, arrivals, None, rules, queue, counts)
    rows = log[: counts.statistics["matches"][0]]
    teams = rows[:, 3:].astype(int).reshape(-1, 2, p).tolist()
    times_of = rows[:, 0].tolist()
    return [(now, frozenset(a), frozenset(b)) for now, (a, b) in zip(times_of, teams, strict=True)]


def test_equals_the_plain_loop() -> None:
    rng = np.random.default_rng(1)
    matched = 0
    for _ in range(600):
        rules = random_rules(rng, 3)
        times, ratings = random_day(rng, 10)
        matches = kernel_day(times, ratings, rules)
        never = [np.inf] * len(times)
        plain, _ = plain_day(Joint(Pool(rules)), times, ratings, never, rules)
        assert matches == plain, (times, ratings, rules)
        matched += len(matches)
    assert matched > 300
