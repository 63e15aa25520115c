"""First in, first out, against its words and against queueing theory."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tests.models.valorant.test_valorant_model import recorded, replicated
from tests.oracles.queue_rules import Line
from tests.support.interpreted import interpreted
from valmatch.config.loading import load_config
from valmatch.statistics.estimates import Estimate

COLUMNS = ("time_hours", "team_a", "team_b")
RATES = np.array([20, 15, 18, 20, 20, 23, 30, 25, 30] * 3)[:24]


@pytest.mark.parametrize("team_num", [1, 3, 5])
def test_matches_are_those_of_the_words(team_num: int) -> None:
    _, tables = recorded(
        load_config("valorant", ["matching=fifo", f"team_num={team_num}"]), replication=2
    )
    line, expected = Line(team_num), []
    for player, time in enumerate(tables["players"]["arrival_hours"]):
        line.join(player, time, 0.0)
        expected += [(time, a, b) for a, b in line.review(time)]
    found = [
        (time, *(tuple(map(int, team.split(";"))) for team in teams))
        for time, *teams in zip(*(tables["matches"][c] for c in COLUMNS), strict=True)
    ]
    assert found == expected
    assert len(found) > 45
    players = zip(*(tables["players"][c] for c in ("team", "match")), strict=True)
    assert all(team // 2 == match for team, match in players if match == match)


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
