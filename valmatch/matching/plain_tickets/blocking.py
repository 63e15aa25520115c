"""Tickets that block a pool: everybody may join them first, and nobody can complete the match.

As a review ends, a ticket blocks others if no match comes of the searches of the first anchors, if
it is in more of their unfinished matches than any other ticket is besides the anchors themselves,
and if without it matches would come of a pass: their tickets wait behind it. Several tickets block
together where none of them alone makes the difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from valmatch.matching.plain_tickets.partial_match import PartialMatch
from valmatch.matching.plain_tickets.pool import Pool
from valmatch.matching.plain_tickets.searching import Search, Watcher

FIRST = 20
"""Anchors of a pass that are looked at."""

TOGETHER = 3
"""Most tickets that block together."""


class Blocked(NamedTuple):
    """Tickets that wait behind others.

    Attributes
    ----------
    by : tuple of int
        Without whom they would have a match.
    tickets : tuple of int
        Who waits.
    """

    by: tuple[int, ...]
    tickets: tuple[int, ...]


class Taken(Watcher):
    """Counts in how many unfinished matches of others each ticket is."""

    def __init__(self) -> None:
        self.counts: Counter[int] = Counter()

    def ended(self, anchor: int, match: PartialMatch, found: bool) -> None:
        """Note with what an anchor has ended, and whether it has found a match on the way."""
        self.counts.update(ticket for ticket in match.tickets if ticket != anchor)


def blocked(pool: Pool, left: Sequence[int], now: float, review: int) -> Blocked | None:
    """Return who waits behind whom as a review ends; None where nobody does.

    Parameters
    ----------
    pool : Pool
        The world.
    left : sequence of int
        Who waits, by age.
    now : float
        When.
    review : int
        How many reviews there were before.
    """
    away: list[int] = []
    while pool.search == "pass" and len(away) < TOGETHER:
        counts = _unfinished(pool, _without(left, away), now, review)
        if counts is None or not counts:
            return None
        away.append(min(counts, key=lambda ticket: (-counts[ticket], ticket)))
        found = _made(pool, _without(left, away), now, review)
        if found:
            for ticket in away[:-1]:
                fewer = [one for one in away if one != ticket]
                if others := _made(pool, _without(left, fewer), now, review):
                    away, found = fewer, others
            return Blocked(tuple(sorted(away)), tuple(sorted(found)))
    return None


def _without(left: Sequence[int], away: Sequence[int]) -> list[int]:
    return [ticket for ticket in left if ticket not in away]


def _unfinished(pool: Pool, waiting: list[int], now: float, review: int) -> Counter[int] | None:
    """Return in how many unfinished matches tickets are; None if there is a match."""
    taken = Taken()
    found = Search(pool, taken).one_pass(waiting, now, review, most=FIRST)
    return None if next(found, None) else taken.counts


def _made(pool: Pool, waiting: list[int], now: float, review: int) -> list[int]:
    """Return the tickets of all matches that come of a pass."""
    found = Search(pool).one_pass(waiting, now, review, most=FIRST)
    return [ticket for one in found for ticket in one.match.tickets]
