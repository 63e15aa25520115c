"""Tickets against closed forms, six settings of each; prints the figures.

Of fifty figures that are right, one misses by three standard errors in every seventh seed; where it
does, the seed is a chance event if the same setting agrees by many other seeds.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from tests.support import ticket_theory as theory
from tests.support.ticket_theory import Figure, Size

MANY = Size(40, 600, seed=3)


def agrees(what: str, figures: Iterable[Figure]) -> None:
    """Print means beside what they should be; they differ by less than three standard errors."""
    for figure in figures:
        mean = float(np.mean(figure.values))
        print(f"{what}: {mean:.4f} +- {figure.error:.4f}, wanted {figure.wanted:.4f}", end="")
        print(f" ({figure.away:+.2f} standard errors)")
        assert abs(figure.away) < 3


@pytest.mark.parametrize(
    ("players", "rate", "review"),
    [(2, 0.1, 1), (2, 2.0, 1), (4, 0.5, 1), (4, 0.5, 5), (10, 1.0, 2), (10, 20.0, 1)],
)
def test_without_rules(players: int, rate: float, review: float) -> None:
    agrees(f"n {players}, {rate}/s, T {review} s", [theory.no_rules(players, rate, review, MANY)])


@pytest.mark.parametrize(
    ("number", "players", "rate", "review"),
    [
        (2, 2, 0.2, 1),
        (3, 2, 0.5, 1),
        (3, 4, 2.0, 2),
        (5, 2, 1.0, 0.5),
        (5, 3, 1.0, 1),
        (8, 2, 4.0, 1),
    ],
)
def test_classes(number: int, players: int, rate: float, review: float) -> None:
    figure = theory.classes(number, players, rate, review, MANY)
    agrees(f"K {number}, n {players}, {rate}/s, T {review} s", [figure])


@pytest.mark.parametrize(
    ("players", "rate", "step", "review"),
    [
        (2, 0.02, 5, 1),
        (5, 0.3, 10, 1),
        (5, 0.3, 10, 4),
        (8, 1.0, 3, 1),
        (8, 0.1, 30, 2),
        (20, 1.0, 7, 0.5),
    ],
)
def test_where_one_player_is_enough(players: int, rate: float, step: float, review: float) -> None:
    longest = theory.longest_wait(players, rate, step, review, MANY)
    print(f"n {players}, {rate}/s, w {step} s, T {review} s: longest wait {longest:.4f}")
    assert step < longest <= step + review


@pytest.mark.parametrize(
    ("players", "rate", "theta"),
    [
        (2, 0.5, 0.25),
        (2, 0.1, 0.5),
        (4, 1.0, 0.1),
        (6, 0.2, 0.05),
        (10, 1 / 60, 1 / 1800),
        (10, 21.6 / 3600, 1 / 3600),
    ],
)
def test_impatient_tickets(players: int, rate: float, theta: float) -> None:
    # One long history each: a replication starts with an empty queue.
    figures = theory.patience(players, rate, theta, MANY._replace(tickets=1200))
    agrees(f"n {players}, {rate:.4f}/s, theta {theta:.5f}/s: queue, share", figures)


@pytest.mark.parametrize(
    ("players", "rate", "review"),
    [(2, 0.2, 1), (3, 0.5, 2), (3, 3.0, 1), (4, 1.0, 0.5), (5, 1.0, 4), (5, 0.1, 1)],
)
def test_parties_and_single_players(players: int, rate: float, review: float) -> None:
    figures = theory.parties(players, rate, review, MANY)
    agrees(f"n {players}, {rate}/s, T {review} s: one, party", figures)


@pytest.mark.parametrize("age", ["newest", "oldest"])
@pytest.mark.parametrize(
    ("rate", "step"), [(0.1, 20), (0.1, 5), (0.5, 10), (0.02, 30), (1.0, 1), (0.3, 0.5)]
)
def test_whose_age_counts(age: str, rate: float, step: float) -> None:
    agrees(f"{age}, {rate}/s, w {step} s", [theory.ages(age, rate, step, MANY)])
