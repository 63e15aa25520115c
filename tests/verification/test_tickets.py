"""Many random worlds of tickets: as the plain twin plays them, and with all their properties."""

from __future__ import annotations

import pytest

from tests.support.plain_matchmaker import played_by_both
from tests.support.ticket_properties import Checker
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
