"""The matchmaker of tickets in plain Python finds what the compiled one finds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.ticket_worlds import random_world
from valmatch.matching.plain_tickets.pool import Pool, Proposal, Review, reviews
from valmatch.matching.plain_tickets.searching import Found, Search
from valmatch.matching.tickets.playing import Made, play
from valmatch.rule_sets.world_reading import read_world
from valmatch.rule_sets.worlds import Search as SearchName

FOLDER = Path(__file__).parents[1] / "fixtures" / "ticket_worlds"


def passes(search: Search, review: Review) -> list[Found]:
    """Repeat passes until one forms nothing, or as often as the service does."""
    found: list[Found] = []
    free, number = list(review.waiting), 0
    while True:
        made = list(search.one_pass(free, review.time, review.number, number))
        found += made
        number += 1
        gone = {ticket for one in made for ticket in one.match.tickets}
        free = [ticket for ticket in free if ticket not in gone]
        if not made or number == search.pool.service.passes:
            return found


def same(given: dict[str, Any], name: SearchName) -> int:
    """Check that each review finds what the kernel found at it; return how many matches."""
    world, problems = read_world(json.dumps(given))
    assert world is not None, problems
    outcome = play(world.table, world.tickets, world.service, name)
    search = Search(Pool(world.table, world.tickets, world.service, name))
    proposals = [Proposal(one.review, one.anchor, tuple(one.tickets)) for one in outcome.proposed]
    made = iter(outcome.proposed)
    for review in reviews(world.table, world.tickets, world.service, proposals):
        for found in passes(search, review):
            assert described(found, review.time) == expected(next(made))
    assert next(made, None) is None
    return len(proposals)


def described(found: Found, time: float) -> tuple[Any, ...]:
    teams = [sorted(player.id for player in team) for team in found.match.teams]
    return time, found.anchor, sorted(found.match.tickets), teams


def expected(made: Made) -> tuple[Any, ...]:
    return made.proposed, made.anchor, made.tickets, made.teams


KNOWN = [
    (path.name, search)
    for path in sorted(FOLDER.glob("*.json"))
    for search in json.loads(path.read_text(encoding="utf-8"))["answers"]
]


@pytest.mark.parametrize(("name", "search"), KNOWN)
def test_known_worlds(name: str, search: SearchName) -> None:
    assert same(json.loads((FOLDER / name).read_text(encoding="utf-8")), search) > 0


@pytest.mark.parametrize("seed", range(2000, 2060))
def test_random_worlds(seed: int) -> None:
    same(random_world(seed, 10), "pass")
    if seed % 4 == 0:
        same(random_world(seed, 6), "exhaustive")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3000, 3600))
def test_more_random_worlds(seed: int) -> None:
    same(random_world(seed, 8 if seed % 3 else 25), "pass")
    same(random_world(seed, 6), "exhaustive")
