"""Many worlds of tickets: as the plain twin plays them, with all properties, by closed forms."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import ticket_theory as theory
from tests.support.plain_matchmaker import played_by_both
from tests.support.ticket_properties import Checker
from tests.support.ticket_theory import agrees
from tests.support.ticket_worlds import answers_of, plain_world, random_world
from valmatch.matching.tickets.columns import SEARCHES

BLOCK = 250
"""Worlds of one test."""


@pytest.mark.parametrize("block", range(20))
def test_worlds_are_played_as_the_twin_plays_them(block: int) -> None:
    for seed in range(10_000 + block * BLOCK, 10_000 + (block + 1) * BLOCK):
        world = (plain_world if seed % 2 else random_world)(seed, 8 if seed % 5 else 25)
        for search in SEARCHES if seed % 5 else SEARCHES[:1]:
            played_by_both(world, search)


@pytest.mark.parametrize("block", range(40))
def test_worlds_have_the_properties_of_any_order(block: int) -> None:
    for seed in range(50_000 + block * BLOCK, 50_000 + (block + 1) * BLOCK):
        world = random_world(seed, 6)
        for search in SEARCHES:
            for counted in (True, False):
                Checker(world, search, answers_of(world, search, counted)).check()


N = 60
"""Replications of a setting."""


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
def test_tickets_that_are_cancelled(players: int, rate: float, theta: float) -> None:
    # One long history each: a replication starts with an empty queue.
    figures = theory.cancelled(players, rate, theta, 40, 1200)
    agrees(f"n {players}, {rate:.4f}/s, theta {theta:.5f}/s: queue, share", figures)


@pytest.mark.parametrize(
    ("size", "per_hour", "review"),
    [(2, 600, 1), (4, 600, 1), (10, 600, 5), (10, 1800, 1), (6, 3600, 10), (3, 120, 60)],
)
def test_without_rules(size: int, per_hour: float, review: float, tmp_path: Path) -> None:
    figure = theory.no_rules(size, per_hour, review, N, tmp_path)
    agrees(f"n {size}, {per_hour}/h, T {review} s", [figure])


@pytest.mark.parametrize(
    ("number", "size", "per_hour"),
    [(2, 2, 600), (3, 2, 1800), (5, 3, 900), (2, 3, 900), (8, 2, 3600), (3, 10, 3600)],
)
def test_classes(number: int, size: int, per_hour: float, tmp_path: Path) -> None:
    figure = theory.classes(number, size, per_hour, N, tmp_path)
    agrees(f"K {number}, n {size}, {per_hour}/h", [figure])


@pytest.mark.parametrize("age", ["newest", "oldest"])
@pytest.mark.parametrize(
    ("rate", "wait"), [(0.1, 20), (0.1, 5), (0.5, 10), (0.02, 30), (1.0, 2), (0.3, 1)]
)
def test_newest_and_oldest(age: str, rate: float, wait: float, tmp_path: Path) -> None:
    agrees(f"{age}, {rate}/s, w {wait} s", [theory.ages(age, rate, wait, N, tmp_path)])


@pytest.mark.parametrize(
    ("rate", "median", "spread"),
    [(0.1, 10, 0.8), (0.1, 3, 0.8), (0.05, 40, 0.8), (0.2, 5, 0), (0.02, 20, 0), (0.3, 2, 1.5)],
)
def test_impatient_tickets(rate: float, median: float, spread: float, tmp_path: Path) -> None:
    figures = theory.patience(rate, median, spread, N, tmp_path)
    agrees(f"{rate}/s, patience {median} s, spread {spread}: queue, share", figures)


@pytest.mark.parametrize(
    ("size", "share", "per_hour"),
    [(2, 0.5, 600), (3, 0.8, 900), (4, 0.6, 1200), (5, 0.5, 3600), (5, 0.9, 300), (10, 0.7, 3600)],
)
def test_parties_and_singles(size: int, share: float, per_hour: float, tmp_path: Path) -> None:
    figures = theory.parties(size, share, per_hour, N, tmp_path)
    agrees(f"n {size}, {share} single, {per_hour}/h: one, party", figures)
