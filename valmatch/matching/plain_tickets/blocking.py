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

FIRST = 20  # anchors of a pass that are looked at
TOGETHER = 3  # most tickets that block together


class Blocked(NamedTuple):
    """Tickets that wait behind others."""

    by: tuple[int, ...]  # without whom they would have a match
    tickets: tuple[int, ...]  # who waits


class Taken(Watcher):
    """Counts in how many unfinished matches of others each ticket is."""

    def __init__(self) -> None:
        self.counts: Counter[int] = Counter()

    def ended(self, anchor: int, match: PartialMatch, found: bool) -> None:
        """Note with what an anchor has ended, and whether it has found a match on the way."""
        if not found:
            self.counts.update(ticket for ticket in match.tickets if ticket != anchor)


def blocked(pool: Pool, left: Sequence[int], now: float, review: int) -> Blocked | None:
    """Return who waits behind whom as a review ends; None where nobody does."""
    if pool.search != "pass":
        return None
    away: list[int] = []
    found, taken = _pass(pool, left, away, now, review)
    while not found and taken and len(away) < TOGETHER:
        away.append(min(taken, key=lambda ticket: (-taken[ticket], ticket)))
        found, taken = _pass(pool, left, away, now, review)
    if not found or not away:
        return None
    for ticket in away[:-1]:
        fewer = [one for one in away if one != ticket]
        others, _ = _pass(pool, left, fewer, now, review)
        if others:
            away, found = fewer, others
    return Blocked(tuple(sorted(away)), tuple(sorted(found)))


def _pass(
    pool: Pool, left: Sequence[int], away: list[int], now: float, review: int
) -> tuple[list[int], Counter[int]]:
    """Return the tickets of all matches that come of a pass, and who is in unfinished ones."""
    taken = Taken()
    waiting = [ticket for ticket in left if ticket not in away]
    found = Search(pool, taken).one_pass(waiting, now, review, most=FIRST)
    return [ticket for one in found for ticket in one.match.tickets], taken.counts
