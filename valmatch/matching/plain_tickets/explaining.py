"""Reasons why tickets wait, over all reviews that they wait through."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from valmatch.matching.plain_tickets.blocking import FIRST, TOGETHER, Blocked, blocked
from valmatch.matching.plain_tickets.pool import Pool
from valmatch.matching.plain_tickets.reasons import Reasons, Recorder
from valmatch.matching.plain_tickets.searching import Search
from valmatch.matching.plain_tickets.timeline import Proposal, Review, reviews

TRIALS = 200_000  # tickets that are tried for an explanation: some ten seconds
BRIEF_TRIALS = 20_000  # and for what a replay says of tickets that block: some two seconds
SETS = 50_000  # sets of tickets and their teams that an exhaustive search looks at


def explain(
    pool: Pool, proposals: Sequence[Proposal], watched: Collection[int], until: float
) -> dict[int, Reasons]:
    """Return why tickets wait.

    As each review ends, those who wait on look for a match once more: the first anchors of a pass,
    and the tickets that are watched. Where that is too much, reviews at even distances are looked
    at; an exhaustive search looks at the ticket and the oldest others.
    """
    recorder = Recorder(pool, watched)
    every = _Reviews(pool, proposals, until, set(watched))
    for review in every:
        for ticket in recorder.of.keys() & set(review.left):
            recorder.of[ticket].reviews += 1
    for review in every.chosen(TRIALS):
        recorder.now = review.time
        for ticket in recorder.of.keys() & set(review.left):
            recorder.of[ticket].looked += 1
        _look(Search(pool, recorder), recorder, review)
        found = blocked(pool, review.left, review.time, review.number)
        for ticket in found.tickets if found else ():
            if found and ticket in recorder.of:
                recorder.of[ticket].blocked[found.by] += 1
    return recorder.of


def _look(search: Search, recorder: Recorder, review: Review) -> None:
    """Let tickets look for a match as a review ends."""
    order = search.anchors(review.left, review.number)
    for place, (anchor, others) in enumerate(order):
        recorder.is_first = place < FIRST
        if recorder.is_first or anchor in recorder.of:
            search.best(anchor, _few(search.pool, others, anchor, recorder.of), review.time)


def _few(pool: Pool, others: list[int], anchor: int, watched: Iterable[int]) -> list[int]:
    """Return the others of an anchor; of an exhaustive search as many as it can look at."""
    if pool.search == "pass":
        return others
    most = _most_tried(pool)
    first = [ticket for ticket in others if ticket in watched][: most - 1]
    more = [ticket for ticket in others if ticket not in first][: most - 1 - len(first)]
    return sorted([*first, *more])


def _most_tried(pool: Pool) -> int:
    """Return how many tickets an exhaustive search looks at in plain Python."""
    number, sets = 0, 1
    while sets * (len(pool.table.teams) + 1) <= SETS:
        sets *= len(pool.table.teams) + 1
        number += 1
    return max(number, 2)


class Blockers(NamedTuple):
    """Who waits behind whom, over the reviews of a world."""

    # reviews, looked: reviews after which somebody waited, and those of them that were looked at
    reviews: int
    looked: int
    found: list[Blocked]  # of each of those at which tickets blocked others


def blockers(pool: Pool, proposals: Sequence[Proposal]) -> Blockers:
    """Return which tickets block others, at reviews of even distances where they are many."""
    every = _Reviews(pool, proposals, pool.service.horizon, None)
    number = sum(1 for _ in every)
    looked, found = 0, []
    for review in every.chosen(BRIEF_TRIALS):
        looked += 1
        if one := blocked(pool, review.left, review.time, review.number):
            found.append(one)
    return Blockers(number, looked, found)


class _Reviews:
    """The reviews after which several tickets wait on, or one of those that are watched."""

    def __init__(
        self, pool: Pool, proposals: Sequence[Proposal], until: float, watched: set[int] | None
    ) -> None:
        self.pool, self.proposals, self.until, self.watched = pool, proposals, until, watched

    def __iter__(self) -> Iterator[Review]:
        pool = self.pool
        for review in reviews(pool.table, pool.tickets, pool.service, self.proposals):
            if review.time > self.until:
                return
            if self.watched is None:
                if len(review.left) > 1:
                    yield review
            elif not self.watched.isdisjoint(review.left):
                yield review

    def chosen(self, trials: int) -> Iterator[Review]:
        """Yield as many of the reviews, at even distances, as may be looked at."""
        costs = [self._cost(review) for review in self]
        kept = evenly(costs, trials)
        return (review for number, review in enumerate(self) if number in kept)

    def _cost(self, review: Review) -> int:
        number = len(review.left)
        if self.pool.search == "exhaustive":
            return int((len(self.pool.table.teams) + 1) ** min(number, _most_tried(self.pool)))
        own = 0 if self.watched is None else FIRST + len(self.watched)
        return number * (own + FIRST * (1 + TOGETHER))


def evenly(costs: Sequence[int], most: int) -> set[int]:
    """Return numbers at even distances, with the first and the last, whose costs are not too much.

    Of one number at least, whatever it costs.
    """

    def at(count: int) -> set[int]:
        last = len(costs) - 1
        steps = max(count - 1, 1)
        return {last - round(k * last / steps) for k in range(count)} if costs else set()

    low, high = 1, len(costs)
    if sum(costs) <= most:
        return set(range(len(costs)))
    while low < high:
        middle = (low + high + 1) // 2
        if sum(costs[k] for k in at(middle)) <= most:
            low = middle
        else:
            high = middle - 1
    return at(low)
