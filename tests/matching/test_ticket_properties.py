"""What holds of any order of search, on random worlds."""

from __future__ import annotations

import copy

import pytest

from tests.support.ticket_properties import Checker
from tests.support.ticket_worlds import answers_of, random_world
from valmatch.matching.tickets.columns import SEARCHES


@pytest.mark.parametrize("seed", range(40))
def test_properties_hold_of_random_worlds(seed: int) -> None:
    world = random_world(seed, 5)
    for search in SEARCHES:
        Checker(world, search, answers_of(world, search)).check()


def test_the_checker_sees_what_is_wrong() -> None:
    found = 0
    for seed in range(30):
        world = random_world(seed, 5)
        answers = answers_of(world, "exhaustive")
        checker = Checker(world, "exhaustive", answers)
        if not (answers["matches"] and checker.is_plain()):
            continue
        found += 1
        less = copy.deepcopy(answers)
        match = less["matches"].pop()
        for name in match["tickets"]:
            end = world["tickets"][int(name[1:])]["time"]
            less["tickets"][name] = {
                "status": "TIMED_OUT",
                "time": end + world["config"]["requestTimeoutSeconds"],
            }
        with pytest.raises(AssertionError):
            Checker(world, "exhaustive", less).check()
    assert found > 3
