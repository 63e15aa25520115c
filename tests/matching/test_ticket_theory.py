"""Replayed tickets against theory; `tests/verification` has more settings."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.ticket_theory import agrees, cancelled, replayed


@pytest.mark.parametrize("seed", range(20))
def test_without_rules_all_waits_follow_from_the_times(seed: int) -> None:
    """Tickets are matched as they come, at the first review at which there are enough of them."""
    times = np.cumsum(np.random.default_rng(seed).exponential(2.0, 100))
    groups = times.reshape(-1, 4)
    outcome = replayed(4, times, 1.0)
    waits = np.array(outcome.times) - times
    assert waits == pytest.approx((np.ceil(groups[:, -1:]) - groups).ravel(), abs=1e-9)


@pytest.mark.parametrize(("players", "rate", "theta"), [(2, 0.5, 0.25), (10, 1 / 60, 1 / 1800)])
def test_tickets_that_are_cancelled(players: int, rate: float, theta: float) -> None:
    figures = cancelled(players, rate, theta, 20, 100)
    agrees("queue, share", figures)
    assert all(figure.error < 0.1 * figure.wanted for figure in figures)
