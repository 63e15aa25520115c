"""Random small days and rules, on lattices so that ties and coincidences abound."""

from __future__ import annotations

import numpy as np

from valmatch.matching.rules import Rules, ticks_per_hour

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
