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


def test_classes_are_queues_of_their_own() -> None:
    agrees(theory.classes(3, 2, 0.5, 1.0, SOME))


def test_where_one_player_is_enough_nobody_waits_beyond_the_step() -> None:
    longest = theory.longest_wait(5, 0.3, 10.0, 1.0, SOME)
    assert 10.0 < longest <= 11.0


@pytest.mark.parametrize(("players", "rate", "theta"), [(2, 0.5, 0.25), (10, 1 / 60, 1 / 1800)])
def test_impatient_tickets(players: int, rate: float, theta: float) -> None:
    queue, left = theory.patience(players, rate, theta, SOME)
    agrees(queue)
    agrees(left)


def test_parties_and_single_players_do_not_meet() -> None:
    for figure in theory.parties(3, 0.5, 2.0, SOME):
        agrees(figure)


@pytest.mark.parametrize("age", ["newest", "oldest"])
def test_whose_age_counts(age: str) -> None:
    agrees(theory.ages(age, 0.1, 20.0, SOME))
