"""The team-first kernel against enumeration in exact arithmetic."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tests.days import HORIZON, random_day, random_rules
from tests.interpreted import interpreted
from tests.oracles.team_first import Day
from valmatch.matching import team_first
from valmatch.matching.rules import Rules
from valmatch.matching.tally import SUMS


def kernel_day(
    times: list[float], ratings: list[float], rules: Rules, pieces: int = 1, capacity: int = 2
) -> tuple[list[tuple[object, ...]], list[tuple[int, tuple[int, ...]]], team_first.Lobby]:
    """Return matches, waiting teams and lobby of a day fed to the kernel piece by piece."""
    p = rules.team_num
    lobby = team_first.new_lobby(capacity, p)
    waits, log = np.empty(len(times) + 1), np.empty((len(times) // (2 * p), 3 + 2 * p))
    t, r = np.array(times), np.array(ratings)
    borders = np.linspace(0, len(times), pieces + 1).astype(int).tolist()
    for start, stop in pairwise(borders):
        last = start == borders[-2]
        while True:
            start += team_first.run(
                t[start:stop], r[start:stop], start, last, rules, *lobby, waits, log
            )
            if start == stop:
                break
            lobby = team_first.grown(lobby, p)
    matches: list[tuple[object, ...]] = []
    for row in log[: lobby.state["matches"][0]].tolist():
        players = [int(player) for player in row[3:]]
        matches.append((row[0], int(row[1]), tuple(players[:p]), int(row[2]), tuple(players[p:])))
    teams = [(number, tuple(team)) for number, team in team_first.waiting_teams(lobby)]
    return matches, teams, lobby


@pytest.mark.parametrize("block", range(10))
def test_equals_enumeration(block: int) -> None:
    rng = np.random.default_rng(block)
    matched = 0
    for _ in range(300):
        rules = random_rules(rng, 4)
        times, ratings = random_day(rng, 14)
        day = Day(times, ratings, rules)
        day.play()
        matches, teams, lobby = kernel_day(times, ratings, rules, pieces=int(rng.integers(1, 4)))
        assert matches == day.matches, (times, ratings, rules)
        assert teams == day.teams
        check_sums(day, lobby.state[0])
        matched += len(matches)
    assert matched > 150


def check_sums(day: Day, state: np.void) -> None:
    """Compare the sums of the kernel with those of the day, to rounding."""
    left = {player: now for now, _, a, _, b in day.matches for player in a + b}
    waits = [60.0 * (now - day.times[player]) for player, now in left.items()]
    unmatched = [60.0 * (HORIZON - t) for k, t in enumerate(day.times) if k not in left]
    p = day.rules.team_num
    gaps, spreads = 0.0, 0.0
    for _, _, a, _, b in day.matches:
        ratings = [[day.ratings[player] for player in team] for team in (a, b)]
        gaps += abs(sum(ratings[0]) / p - sum(ratings[1]) / p)
        spreads += sum(max(team) - min(team) for team in ratings)
    prioritized = sum(
        day.prioritized(player, left.get(player, HORIZON)) for player in range(len(day.times))
    )
    assert state["matched"] == len(waits)
    assert state["unmatched"] == len(unmatched)
    assert state["prioritized"] == prioritized
    assert state["wait"] == pytest.approx(sum(waits))
    assert state["longest_wait"] == max(waits, default=0.0)
    assert state["unmatched_wait"] == pytest.approx(sum(unmatched))
    assert state["team_diff"] == pytest.approx(gaps)
    assert state["player_diff"] == pytest.approx(spreads)


def played(days: int) -> list[Any]:
    """Return all that the kernel makes of some random days."""
    rng = np.random.default_rng(99)
    results: list[Any] = []
    for _ in range(days):
        rules = random_rules(rng, 4)
        matches, teams, lobby = kernel_day(*random_day(rng, 14), rules)
        names = SUMS
        sums = [lobby.state[name].item() for name, _ in names]
        results.append([matches, teams, sums])
    return results


def test_compiled_kernel_equals_its_python_source() -> None:
    results = played(200)
    assert sum(len(matches) for matches, _, _ in results) > 50
    assert interpreted("tests.test_team_first", "played", 200) == repr(results)
