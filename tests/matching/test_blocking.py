"""Tickets that block a pool, found by plain Python."""

from __future__ import annotations

from typing import Any

from tests.support.published_worlds import party, solo, team, world
from tests.support.ticket_worlds import reading_of
from valmatch.matching.plain_tickets.explaining import Blocked, blocked, blockers, evenly
from valmatch.matching.plain_tickets.pool import Pool
from valmatch.matching.tickets.columns import Search
from valmatch.matching.tickets.playing import play

THREES = [team("red", 3, 3), team("blue", 3, 3)]


def starving(solos: int, parties: int) -> dict[str, Any]:
    """Return a world whose parties of three could play each other, but for those who come first."""
    first = [solo(k, 0.0) for k in range(1, solos + 1)]
    return world(THREES, [*first, *(party(10 + k, [{}] * 3, 1.0 + k) for k in range(parties))])


def pool_of(given: dict[str, Any], search: Search = "pass") -> Pool:
    return Pool(*reading_of(given)[:3], search)


def test_one_old_ticket_starves_a_pool() -> None:
    pool = pool_of(starving(1, 4))
    assert blocked(pool, [0, 1, 2, 3, 4], 9.0, 0) == Blocked((0,), (1, 2, 3, 4))
    # With a fifth party one is left over.
    assert blocked(pool_of(starving(1, 5)), range(6), 9.0, 0) == Blocked((0,), (1, 2, 3, 4))


def test_several_block_together() -> None:
    pool = pool_of(starving(2, 2))
    assert blocked(pool, range(4), 9.0, 0) == Blocked((0, 1), (2, 3))


def test_nobody_blocks_where_a_match_comes_or_nothing_would() -> None:
    assert blocked(pool_of(starving(0, 4)), range(4), 9.0, 0) is None
    assert blocked(pool_of(starving(1, 1)), range(2), 9.0, 0) is None
    # Where all that may block are away, one party is left.
    assert blocked(pool_of(starving(3, 1)), range(4), 9.0, 0) is None


def test_an_exhaustive_search_lets_nobody_block() -> None:
    assert blocked(pool_of(starving(1, 2), "exhaustive"), range(3), 9.0, 0) is None


def test_a_world_is_looked_at_as_its_reviews_end() -> None:
    given = starving(1, 4)
    pool = pool_of(given)
    outcome = play(*reading_of(given)[:3], "pass")
    assert outcome.matches == []
    found = blockers(pool, outcome)
    # At the first party nobody waits behind anybody; at the others there is a pair more.
    assert (found.reviews, found.looked) == (4, 4)
    assert [one.tickets for one in found.found] == [(1, 2), (1, 2), (1, 2, 3, 4)]
    assert {one.by for one in found.found} == {(0,)}


def test_who_has_a_match_waits_behind_nobody() -> None:
    given = starving(0, 4)
    pool = pool_of(given)
    outcome = play(*reading_of(given)[:3], "pass")
    assert len(outcome.proposed) == 2
    assert blockers(pool, outcome) == (0, 0, [])


def test_reviews_at_even_distances() -> None:
    assert evenly([], 5) == set()
    assert evenly([1] * 4, 4) == {0, 1, 2, 3}
    assert evenly([1] * 9, 3) == {0, 4, 8}
    assert evenly([9, 9, 9], 1) == {2}
