"""Tickets against closed forms, a setting each; `tests/verification` has more of them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support import ticket_theory as theory
from tests.support.ticket_theory import Figure, Size

SOME = Size(20, 100)


def agrees(figure: Figure) -> None:
    """Check a mean to three standard errors, and that these say something."""
    assert abs(figure.away) < 3
    assert figure.error < 0.1 * figure.wanted


def test_without_rules() -> None:
    agrees(theory.no_rules(4, 0.5, 1.0, SOME))


def test_without_rules_all_waits_follow_from_the_times() -> None:
    """Tickets are matched as they come, at the first review at which there are enough of them."""
    values = theory.no_rules(4, 0.5, 1.0, SOME).values
    for value, rng in zip(values, SOME.drawn(4, 0.5, 1.0), strict=True):
        groups = np.cumsum(rng.exponential(2.0, SOME.tickets)).reshape(-1, 4)
        assert value == pytest.approx((np.ceil(groups[:, -1:]) - groups).mean(), rel=1e-12)


@pytest.mark.parametrize(("players", "rate", "theta"), [(2, 0.5, 0.25), (10, 1 / 60, 1 / 1800)])
def test_impatient_tickets(players: int, rate: float, theta: float) -> None:
    queue, left = theory.patience(players, rate, theta, SOME)
    agrees(queue)
    agrees(left)
