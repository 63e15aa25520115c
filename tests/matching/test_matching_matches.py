"""Matches in plain numbers against enumeration and the plain rules."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.oracles.queue_rules import Day
from tests.oracles.queue_rules import best_match as enumerated
from tests.support.days import random_day, random_rules
from valmatch import matching
from valmatch.matching.queue import tick_of


@pytest.mark.parametrize("block", range(4))
def test_the_best_match_is_that_of_enumeration(block: int) -> None:
    rng = np.random.default_rng(block)
    found = 0
    for _ in range(50):
        rules = random_rules(rng, 3)._replace(continuous=False, pool_scope=False)
        times, ratings = random_day(rng, 10)
        shuffled = rng.permutation(len(times))
        waits = np.array([max(times, default=0.0) - time for time in times])
        best = matching.best_match(waits[shuffled], np.array(ratings)[shuffled], rules)
        # Among equal waits the order given decides.
        oldest = shuffled[np.argsort(-waits[shuffled], kind="stable")]
        arrivals = [times[k] - times[oldest[0]] for k in oldest]
        first = sum(waits[k] > rules.wait_thresh for k in oldest)
        ticks = [tick_of(time, rules) for time in arrivals]
        expected = enumerated(ticks, [ratings[k] for k in oldest], int(first), rules)
        if expected is None:
            assert best is None
            continue
        assert best is not None
        wanted = [{int(oldest[k]) for k in team} for team in expected]
        assert [{int(shuffled[k]) for k in team} for team in best] == wanted
        found += 1
    assert found > 10


@pytest.mark.parametrize("block", range(4))
def test_players_are_matched_as_the_plain_rule_does(block: int) -> None:
    rng = np.random.default_rng(block)
    for _ in range(50):
        rules = random_rules(rng, 4)
        times, ratings = random_day(rng, 14)
        day = Day(times, ratings, rules)
        day.play()
        made = matching.match_players(times, ratings, rules)
        assert [tuple(match) for match in made.matches] == [
            (time, a, b) for time, _, a, _, b in day.matches
        ]
        gone = {k for match in made.matches for team in match[1:] for k in team}
        assert made.waiting == tuple(k for k in range(len(times)) if k not in gone)


def test_best_pairs_are_those_of_networkx() -> None:
    import networkx

    rng = np.random.default_rng(3)
    for _ in range(50):
        n, band = int(rng.integers(2, 12)), int(rng.integers(1, 5))
        weights = rng.integers(-5, 40, (n, band))
        graph = networkx.Graph()
        for i, k in np.ndindex(n, band):
            if weights[i, k] >= 0 and i + 1 + k < n:
                graph.add_edge(i, i + 1 + k, weight=int(weights[i, k]))
        best = networkx.max_weight_matching(graph)
        total = sum(graph.edges[pair]["weight"] for pair in best)
        found = matching.best_pairs(weights)
        assert matching.best_pairs(np.where(weights < 0, -0.01, weights / 7 * 1e-12)) == found
        assert sum(graph.edges[pair]["weight"] for pair in found) == total
        assert len({k for pair in found for k in pair}) == 2 * len(found)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: matching.match_players([1.0, 0.5], [1.0, 1.0], matching.ranges()), "times: asc"),
        (lambda: matching.match_players([1.0], [1.0, 1.0], matching.ranges()), "2 for 1 players"),
        (lambda: matching.best_match([0.0], [1.0], matching.ranges(17)), "teams of up to 16"),
        (lambda: matching.best_pairs([[np.nan]]), "columns from 1 to 16"),
        (lambda: matching.ranges(horizon=np.inf), "horizon: a finite number is wanted"),
    ],
)
def test_what_cannot_be_matched_is_said(call: Callable[[], object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        call()
