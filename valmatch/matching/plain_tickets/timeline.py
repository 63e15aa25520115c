"""The reviews of a world whose proposals are known: who waits at each of them.

The order of things is that of `valmatch.matching.tickets.driving`; what a search found is taken
from the record of the proposals, so that this is quick.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from valmatch.rule_sets.table import Table
from valmatch.rule_sets.worlds import Service, Ticket


class Proposal(NamedTuple):
    """A match that was proposed, or made at once."""

    review: int  # how many there were before the one that found it; several may be at one moment
    anchor: int
    tickets: tuple[int, ...]  # by age


class Review(NamedTuple):
    """A review."""

    number: int  # how many there were before
    time: float
    waiting: tuple[int, ...]  # who waits as it begins, by age
    proposals: tuple[Proposal, ...]  # what it found

    @property
    def left(self) -> tuple[int, ...]:
        """Who waits as it has ended."""
        gone = {ticket for one in self.proposals for ticket in one.tickets}
        return tuple(ticket for ticket in self.waiting if ticket not in gone)


def reviews(
    table: Table, tickets: Sequence[Ticket], service: Service, proposals: Sequence[Proposal]
) -> Iterator[Review]:
    """Yield the reviews of a world, given all that was proposed in it, in order."""
    timeline = _Timeline(table, tickets, service)
    place = 0
    while (now := timeline.next_moment()) is not None:
        if not timeline.advance(now):
            continue
        waiting, found = tuple(timeline.line), []
        while place < len(proposals) and proposals[place].review == timeline.number:
            found.append(proposals[place])
            place += 1
        yield Review(timeline.number, now, waiting, tuple(found))
        timeline.number += 1
        for proposal in found:
            timeline.propose(proposal, now)


class _Timeline:
    """Who waits, and what is still to happen."""

    def __init__(self, table: Table, tickets: Sequence[Ticket], service: Service) -> None:
        self.waits, self.tickets, self.service = table.waits, tickets, service
        self.line: list[int] = []  # who waits, by age
        self.number = self.joined = 0  # how many reviews there were
        self.asked = [0] * len(tickets)
        # Moments and tickets that leave or reach a step; those that do not wait then are left out.
        self.moments: list[float] = [] if service.review else self._steps()
        heapify(self.moments)
        self.leaving: list[tuple[float, int]] = []
        self.returning: list[tuple[float, tuple[int, ...]]] = []

    def _steps(self) -> list[float]:
        return [ticket.time + wait for ticket in self.tickets for wait in self.waits]

    def next_moment(self) -> float | None:
        """Return the next moment at which there may be a review, None after the last."""
        moments = [self.returning[0][0]] if self.returning else []
        if self.joined < len(self.tickets):
            moments.append(self.tickets[self.joined].time)
        if self.service.review:
            if not moments and not self.line:
                return None
            moments.append(self.number * self.service.review)
        elif self.moments:
            moments.append(self.moments[0])
        now = min(moments, default=math.inf)
        return now if now <= self.service.horizon else None

    def advance(self, now: float) -> bool:
        """Let happen what does before a review; return whether there is one."""
        changed = self._return(now)
        while self.leaving and self.leaving[0][0] <= now:
            _, ticket = heappop(self.leaving)
            if ticket in self.line:
                self.line.remove(ticket)
        while self.joined < len(self.tickets) and self.tickets[self.joined].time <= now:
            cancel = self.tickets[self.joined].cancel
            if cancel is None or cancel > now:
                self._line_up(self.joined)
            self.joined += 1
            changed = True
        if self.service.review:
            return self.number * self.service.review <= now
        stepping = False
        while self.moments and self.moments[0] <= now:
            heappop(self.moments)
            stepping = True
        return changed or (stepping and self._is_step(now))

    def _is_step(self, now: float) -> bool:
        """Return whether a ticket that waits reaches a step."""
        return any(self.tickets[k].time + wait == now for k in self.line for wait in self.waits)

    def _line_up(self, ticket: int) -> None:
        insort(self.line, ticket)
        record = self.tickets[ticket]
        until = record.time + self.service.timeout
        if record.cancel is not None:
            until = min(until, record.cancel)
        heappush(self.leaving, (until, ticket))

    def _return(self, now: float) -> bool:
        """Let those wait again whose proposals have failed; return whether there are any."""
        returned = False
        while self.returning and self.returning[0][0] <= now:
            for ticket in heappop(self.returning)[1]:
                self._line_up(ticket)
                returned = True
        return returned

    def propose(self, proposal: Proposal, now: float) -> None:
        """Take the tickets of a match out, and see whether they come back."""
        for ticket in proposal.tickets:
            self.line.remove(ticket)
            self.asked[ticket] += 1
        limit = self.service.acceptance
        if limit is None:
            return
        answers = [self._answer(ticket, limit) for ticket in proposal.tickets]
        refused = [answer[0] for answer in answers if answer and not answer[1]]
        if not refused and None not in answers:
            return
        until = now + min([*refused, limit])
        back = tuple(
            ticket
            for ticket, answer in zip(proposal.tickets, answers, strict=True)
            if answer and answer[1] and now + answer[0] <= until
        )
        heappush(self.returning, (until, back))

    def _answer(self, ticket: int, limit: float) -> tuple[float, bool] | None:
        """Return after how many seconds a ticket answers and what, None for never."""
        record, number = self.tickets[ticket], self.asked[ticket] - 1
        if record.running or number >= len(record.answers):
            return 0.0, True
        answer = record.answers[number]
        return None if answer is None or answer[0] > limit else answer
