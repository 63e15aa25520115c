"""Random small days and rules, on lattices so that ties and coincidences abound."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pytest

from valmatch.matching.queue import Rules, prioritized, ticks_per_hour

Matches = Sequence[tuple[float, Collection[int], Collection[int]]]

HORIZON = 4.0


def random_rules(rng: np.random.Generator, largest_team: int) -> Rules:
    """Return rules with differences on a lattice; all scopes, reviews and tie-breaks occur."""
    team_num = int(rng.integers(1, largest_team + 1))
    step = float(rng.choice([1, 50, 100]))
    within, within_slack, between, between_slack = (step * rng.integers(0, 6, 4)).tolist()
    return Rules(
        team_num=team_num,
        player_diff=within,
        player_slack=within_slack,
        team_diff=between / 2,
        team_slack=between_slack / 2,
        wait_thresh=float(rng.choice([0.0, 0.125, 0.25, 0.5, 1.0, 6.0])),
        horizon=HORIZON,
        continuous=bool(rng.integers(2)),
        pool_scope=bool(rng.integers(2)),
        balanced=bool(rng.integers(2)),
        around=False,
        ticks_per_hour=ticks_per_hour(HORIZON, team_num),
    )


def random_day(rng: np.random.Generator, most: int) -> tuple[list[float], list[float]]:
    """Return arrival times and ratings of up to `most` players."""
    n = int(rng.integers(0, most + 1))
    steps = int(rng.choice([8, 32, 1024]))
    times = np.sort(rng.integers(0, int(HORIZON) * steps, n)) / steps
    ratings = float(rng.choice([1, 50, 100])) * rng.integers(0, 8, n)
    return times.tolist(), ratings.tolist()


def check_sums(
    day: tuple[Sequence[float], Sequence[float]],
    matches: Matches,
    gave_up: Mapping[int, float],
    rules: Rules,
    sums: np.void,
) -> None:
    """Compare the sums of a kernel with those of a day's times and ratings, to rounding."""
    times, ratings = day
    played = {player: now for now, *teams in matches for team in teams for player in team}
    ends = {**gave_up, **played}
    waits = {k: 60.0 * (ends.get(k, HORIZON) - time) for k, time in enumerate(times)}
    sides = [[[ratings[k] for k in team] for team in teams] for _, *teams in matches]
    gaps = [abs(sum(a) - sum(b)) / rules.team_num for a, b in sides]
    spreads = [max(team) - min(team) for both in sides for team in both]
    first = [prioritized(time, ends.get(k, HORIZON), rules) for k, time in enumerate(times)]
    assert sums["matched"] == len(played)
    assert sums["unmatched"] == len(times) - len(ends)
    assert sums["prioritized"] == sum(map(bool, first))
    assert sums["wait"] == pytest.approx(sum(waits[k] for k in played))
    assert sums["longest_wait"] == max((waits[k] for k in played), default=0.0)
    others = sum(wait for k, wait in waits.items() if k not in played)
    assert sums["unmatched_wait"] == pytest.approx(others)
    assert sums["team_diff"] == pytest.approx(sum(gaps))
    assert sums["player_diff"] == pytest.approx(sum(spreads))
