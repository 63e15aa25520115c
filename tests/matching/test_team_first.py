"""The team-first kernel against enumeration in exact arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.oracles.queue_rules import Day, Windows
from tests.support.days import HORIZON, check_sums, random_day, random_rules
from valmatch.matching import team_first
from valmatch.matching.queue import (
    KNOWN_SIZE,
    Arrivals,
    Rules,
    known_team,
    let_arrive,
    new_counts,
    ticks_per_hour,
)


def kernel_day(
    times: list[float], ratings: list[float], rules: Rules, capacity: int = 2
) -> tuple[list[tuple[object, ...]], list[tuple[int, tuple[int, ...]]], np.void]:
    """Return matches, waiting teams and sums of a day fed to the kernel."""
    p = rules.team_num
    state = team_first.new(capacity, rules)
    log = np.empty((len(times) // (2 * p), 3 + 2 * p))
    counts = new_counts(np.empty(len(times) + 1), log)
    arrivals = Arrivals(np.array(times), np.array(ratings), 0)
    state, counts = let_arrive(team_first, arrivals, None, rules, state, counts)
    matches: list[tuple[object, ...]] = []
    for row in log[: counts.statistics["matches"][0]].tolist():
        players = [int(player) for player in row[3:]]
        matches.append((row[0], int(row[1]), tuple(players[:p]), int(row[2]), tuple(players[p:])))
    teams = [(number, tuple(team)) for number, team in team_first.waiting_teams(state)]
    return matches, teams, counts.statistics[0]


@pytest.mark.slow
@pytest.mark.parametrize("around", [False, True])
@pytest.mark.parametrize("block", range(5))
def test_equals_enumeration(block: int, around: bool) -> None:
    rng = np.random.default_rng(block)
    matched = 0
    for _ in range(300):
        rules = random_rules(rng, 4)._replace(around=around)
        times, ratings = random_day(rng, 14)
        day = Day(times, ratings, rules)
        day.play()
        matches, teams, sums = kernel_day(times, ratings, rules)
        assert matches == day.matches, (times, ratings, rules)
        assert teams == day.teams
        check_sums(
            (times, ratings), [(now, a, b) for now, _, a, _, b in day.matches], {}, rules, sums
        )
        matched += len(matches)
    assert matched > 150


@pytest.mark.slow
@pytest.mark.parametrize("block", range(4))
def test_the_longest_waiting_of_each_window_are_enough(block: int) -> None:
    rng = np.random.default_rng(100 + block)
    for _ in range(200):
        rules = random_rules(rng, 4)
        times, ratings = random_day(rng, 14)
        days = [Day(times, ratings, rules), Day(times, ratings, rules, Windows)]
        for day in days:
            day.play()
        assert days[0].matches == days[1].matches
        assert days[0].teams == days[1].teams


RULES = Rules(
    team_num=3,
    player_diff=200.0,
    player_slack=0.0,
    team_diff=0.0,
    team_slack=0.0,
    wait_thresh=0.5,
    horizon=HORIZON,
    continuous=False,
    pool_scope=False,
    balanced=True,
    around=True,
    ticks_per_hour=2.0**40,
)


def teams_of(ratings: list[float], **changes: Any) -> list[tuple[int, ...]]:  # noqa: ANN401
    """Return the teams of players who arrive a quarter of an hour apart."""
    times = [0.25 * k for k in range(len(ratings))]
    return [team for _, team in kernel_day(times, ratings, RULES._replace(**changes))[1]]


def test_a_team_around_the_newcomer() -> None:
    # 800 and 1200 are 200 from 1000, but 400 from each other.
    assert teams_of([800.0, 1200.0, 1000.0]) == [(0, 1, 2)]
    assert teams_of([800.0, 1200.0, 1000.0], around=False) == []
    # Nobody but the newcomer gets a team: both are near the first player, not near each other.
    assert teams_of([1000.0, 800.0, 1200.0]) == []
    # With a review of his own the first player does, which takes no slack.
    own_review = {"continuous": True, "wait_thresh": 0.625}
    assert teams_of([1000.0, 800.0, 1200.0, 5000.0], **own_review) == [(0, 1, 2)]
    # Slack holds for all of a team with a prioritized player.
    assert teams_of([700.0, 1200.0, 1000.0, 1000.0], player_slack=100.0) == [(0, 1, 3)]
    # The longest waiting are taken with the newcomer, who is one of the team.
    assert teams_of([850.0, 1150.0, 1160.0, 1000.0]) == [(0, 1, 3)]


def test_a_team_size_known_to_compiled_code_changes_nothing() -> None:
    assert (len(known_team(KNOWN_SIZE)), known_team(KNOWN_SIZE + 1)) == (KNOWN_SIZE, ())
    rng, matches = np.random.default_rng(17), 0
    for day in range(150):
        rules = random_rules(rng, 1)._replace(
            team_num=KNOWN_SIZE,
            around=day % 2 > 0,
            ticks_per_hour=ticks_per_hour(HORIZON, KNOWN_SIZE),
        )
        times, ratings = random_day(rng, 60)
        general = kernel_day(times, ratings, rules)
        known = kernel_day(times, ratings, rules._replace(known_team=known_team(KNOWN_SIZE)))
        assert (general[:2], general[2].tobytes()) == (known[:2], known[2].tobytes())
        matches += len(general[0])
    assert matches > 150
