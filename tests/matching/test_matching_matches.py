"""Matches in plain numbers against enumeration and the plain rules."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracles.queue_rules import Day
from tests.oracles.queue_rules import best_match as enumerated
from tests.support.days import random_day, random_rules
from valmatch import matching
from valmatch.matching.rules import tick_of


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


def test_first_in_first_out() -> None:
    rules = matching.ranges(team_num=2)
    made = matching.match_players(range(9), [1500.0 + k for k in range(9)], rules, "fifo")
    assert [set(a + b) for _, a, b in made.matches] == [{0, 1, 2, 3}, {4, 5, 6, 7}]
    assert made.waiting == (8,)


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
    ("times", "ratings", "rule", "said"),
    [
        ([1.0, 0.5], [1500.0, 1500.0], "fifo", "times: ascending from 0"),
        ([1.0, 25.0], [1500.0, 1500.0], "fifo", "times: up to the horizon of 24"),
        ([1.0], [1500.0, 1500.0], "fifo", "ratings: 2 for 1 players"),
        ([np.nan], [1500.0], "fifo", "times: a row of finite numbers"),
        ([1.0], [1500.0], "pairs", "rule: no rule 'pairs' .allowed: team_first, joint, fifo"),
    ],
)
def test_what_cannot_be_matched_is_said(
    times: list[float], ratings: list[float], rule: str, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        matching.match_players(times, ratings, matching.ranges(), rule)


def test_more_than_a_rule_takes_is_said() -> None:
    with pytest.raises(ValueError, match="joint takes teams of up to 16"):
        matching.best_match([0.0], [1500.0], matching.ranges(17))
    for wrong in (np.zeros((3, 17)), [[np.nan]], [[2**59]], [["a"]]):
        with pytest.raises(ValueError, match="columns from 1 to 16"):
            matching.best_pairs(wrong)


@pytest.mark.parametrize("horizon", [np.inf, np.nan])
def test_numbers_of_ranges_that_are_none_are_refused_by_name(horizon: float) -> None:
    with pytest.raises(ValueError, match="horizon: a finite number is wanted"):
        matching.ranges(horizon=horizon)
    with pytest.raises(ValueError, match="player_diff: a number or infinity is wanted"):
        matching.ranges(player_diff=np.nan)
