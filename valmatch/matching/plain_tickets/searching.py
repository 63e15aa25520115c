"""The search for matches in plain Python: the passes of a review, one anchor after the other.

Nothing is quick here; `valmatch.matching.tickets` finds the same matches by compiled kernels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from valmatch.draws.streams import uniform_at
from valmatch.matching.plain_tickets.judging import Judge, PartialMatch
from valmatch.matching.plain_tickets.pool import Pool
from valmatch.matching.tickets.search import BATCHES, PASSES
from valmatch.rule_sets.types import added

MANY = 2**62  # more anchors than there ever are


class Found(NamedTuple):
    """A match that an anchor has found."""

    anchor: int
    match: PartialMatch


class Watcher:
    """What is told of a search; this one does nothing with it."""

    def tried(
        self, match: PartialMatch, ticket: int, refused: list[PartialMatch], taken: bool
    ) -> None:
        """Note a ticket that is tried: on which teams with room it is refused, if it is taken."""

    def judged(self, match: PartialMatch) -> None:
        """Note a match of sizes that can be, which an exhaustive search judges."""


class Search:
    """Searches the tickets that wait at a review."""

    def __init__(self, pool: Pool, watcher: Watcher | None = None) -> None:
        self.pool, self.watcher = pool, watcher or Watcher()
        self.last = PartialMatch(pool)  # with what the last anchor has ended
        self.unfinished = Counter[int]()  # in how many unfinished matches of others each ticket is

    def one_pass(
        self, waiting: Sequence[int], now: float, review: int, number: int = 0, most: int = MANY
    ) -> Iterator[Found]:
        """Let each ticket that is free be an anchor once; yield the matches."""
        taken: set[int] = set()
        for anchor, others in islice(self.anchors(waiting, review, number), most):
            if anchor not in taken:
                free = [ticket for ticket in others if ticket not in taken]
                match = self.best(anchor, free, now)
                if match is not None:
                    taken.update(match.tickets)
                    yield Found(anchor, match)

    def anchors(
        self, waiting: Sequence[int], review: int, number: int = 0
    ) -> Iterator[tuple[int, list[int]]]:
        """Yield tickets in the order of anchors, with whom they try; see `one_pass`."""
        running = self.pool.running
        for batch in self._batches(waiting, review, number):
            parts = [(batch, batch)]
            if (priority := self.pool.table.search.backfill) != "normal":
                new = [ticket for ticket in batch if not running[ticket]]
                parts = [([ticket for ticket in batch if running[ticket]], batch), (new, new)]
            for anchors, others in parts if priority != "low" else parts[::-1]:
                for anchor in anchors:
                    yield anchor, [ticket for ticket in others if ticket != anchor]

    def _batches(self, waiting: Sequence[int], review: int, number: int) -> list[list[int]]:
        """Return the tickets that can be matched, in batches, each by age."""
        pool = [ticket for ticket in waiting if self.pool.matchable[ticket]]
        size, search = self.pool.service.batch_size, self.pool.table.search
        if size is None:
            return [pool]

        def sorting(ticket: int) -> list[Any]:
            """Return by what the pool is sorted: the average of a party, the smallest text."""
            values = [self.pool.values(ticket, attribute) for attribute in search.batch_order]
            return [min(v) if isinstance(v[0], str) else added(v) / len(v) for v in values]

        counter = review * PASSES + number
        if search.batches == "sorted":
            pool.sort(key=sorting)
        else:
            pool.sort(key=lambda ticket: uniform_at(self.pool.rng_key, BATCHES, ticket, counter))
        return [sorted(pool[start : start + size]) for start in range(0, len(pool), size)]

    def best(self, anchor: int, others: list[int], now: float) -> PartialMatch | None:
        """Return the match that an anchor makes of others, given by age, if any."""
        others = self.pool.in_order(anchor, others)
        if self.pool.search == "exhaustive":
            return self._exhaustive(anchor, others, now)
        return self._greedy(anchor, others, now)

    def _greedy(self, anchor: int, others: list[int], now: float) -> PartialMatch | None:
        """Add ticket after ticket to the first team that takes it; the last valid match counts."""
        match, last = PartialMatch(self.pool), None
        for ticket in (anchor, *others):
            if self.pool.running[ticket] and match.running:
                continue
            grown = self._with_ticket(match, ticket, now)
            if grown is None:
                if ticket == anchor:
                    break
                continue
            match = grown
            if is_valid(match, now):
                last = match
            if match.is_full(now):
                break
        self.last = match
        if last is None:
            self.unfinished.update(match.tickets[1:])
        return last

    def _with_ticket(self, match: PartialMatch, ticket: int, now: float) -> PartialMatch | None:
        """Return a match with another ticket, None if no team takes it."""
        refused: list[PartialMatch] = []
        for home in match.homes_for(ticket, now):
            grown = match.with_ticket(ticket, home)
            if not Judge(grown, now, partial=True).refuses():
                self.watcher.tried(match, ticket, refused, True)
                return grown
            refused.append(grown)
        self.watcher.tried(match, ticket, refused, False)
        return None

    def _exhaustive(self, anchor: int, others: list[int], now: float) -> PartialMatch | None:
        """Return the best match: most players, then smallest places, then smallest teams."""
        best: tuple[Any, PartialMatch] | None = None
        for match, indices in self._every([anchor, *others]):
            if not match.fits(now):
                continue
            self.watcher.judged(match)
            teams = tuple(-1 if home is None else home for home in match.homes)
            key = (-match.players, indices, teams)
            better = best is None or key < best[0]
            if better and not Judge(match, now, partial=False).refuses():
                best = key, match
        return best[1] if best else None

    def _every(self, tickets: list[int]) -> Iterator[tuple[PartialMatch, tuple[int, ...]]]:
        """Yield all matches with the first of some tickets, and the places of their tickets."""
        most = [team.largest for team in self.pool.table.teams]

        def grow(match: PartialMatch, indices: tuple[int, ...], at: int) -> Any:  # noqa: ANN401
            if at:
                yield match, indices
            for index in range(at, 1 if at == 0 else len(tickets)):
                running = self.pool.running[tickets[index]]
                for home in [None] if running else range(len(most)):
                    if home is None and match.running:
                        continue
                    grown = match.with_ticket(tickets[index], home)
                    if all(map(int.__le__, map(len, grown.teams), most)):
                        yield from grow(grown, (*indices, index), index + 1)

        yield from grow(PartialMatch(self.pool), (), 0)


def is_valid(match: PartialMatch, now: float) -> bool:
    """Return whether a match can be made at its own age."""
    return match.fits(now) and not Judge(match, now, partial=False).refuses()
