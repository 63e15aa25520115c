"""A world of tickets in plain Python, worked out once: values, latencies, orders."""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Callable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

from valmatch.rule_sets.table import (
    Ordered,
    Party,
    Reached,
    Steps,
    Table,
    Value,
)
from valmatch.rule_sets.worlds import Search, Service, Ticket


class Ping(NamedTuple):
    """Milliseconds of a ticket in a region: the highest and the lowest that a rule looks at.

    They are the same where one number stands for the ticket. `total` and `least` are of its
    players, for references.
    """

    high: float
    low: float
    total: float
    least: float


class Pool:
    """A world, as plain Python looks at it."""

    def __init__(
        self, table: Table, tickets: Sequence[Ticket], service: Service, search: Search
    ) -> None:
        self.table, self.tickets, self.service, self.search = table, tickets, service, search
        self.names = [team.name for team in table.teams]
        # of each ticket the players, with a value of every attribute, None for none
        self.players = [
            [
                player._replace(
                    attributes={
                        one.name: player.attributes.get(one.name, one.default)
                        for one in table.attributes
                    }
                )
                for player in ticket.players
            ]
            for ticket in tickets
        ]
        # whether all players of a ticket have all attributes
        self.matchable = [not missing(table, ticket) for ticket in tickets]
        # whether nothing can be said of a rule before a match is complete
        self.is_open = [rule.is_open for rule in table.rules]
        self.times = [ticket.time for ticket in tickets]
        self._pings: dict[tuple[int, Reached], dict[str, Ping]] = {}

    def values(self, ticket: int, attribute: int) -> list[Any]:
        """Return the values of a ticket's players."""
        name = self.table.attributes[attribute].name
        return [player.attributes[name] for player in self.players[ticket]]

    def pings(self, ticket: int, rule: Reached) -> dict[str, Ping]:
        """Return what a rule looks at, by region that all players of a ticket report."""
        found = self._pings.get((ticket, rule))
        if found is None:
            players = self.tickets[ticket].players
            found = {
                region: _ping([one.latency[region] for one in players], rule)
                for region in players[0].latency
                if all(region in one.latency for one in players)
            }
            self._pings[ticket, rule] = found
        return found

    def in_order(self, anchor: int, others: list[int]) -> list[int]:
        """Return tickets in the order in which an anchor tries them, given by age."""
        for rule in reversed(self.table.sorts):
            others = self._sorted(rule, anchor, others)
        return others

    def _sorted(self, rule: Ordered, anchor: int, others: list[int]) -> list[int]:
        """Return tickets by one sort: those without a value last."""
        own = self.sort_values(rule, anchor)
        if not own:
            return others
        best = min if rule.key != "highest" else max
        least = best(own.values())
        key = min(name for name, value in own.items() if value == least)

        def by(ticket: int) -> tuple[bool, float]:
            value = self.sort_values(rule, ticket).get(key)
            if value is None:
                return True, 0.0
            value = abs(value - own[key]) if rule.from_anchor else value
            return False, -value if rule.descending else value

        return sorted(others, key=by)

    def sort_values(self, rule: Ordered, ticket: int) -> dict[str, float]:
        """Return the values of a ticket that a sort sees, by key; "" is that of a number."""
        values, party = self.values(ticket, rule.attribute), OF_PARTY[rule.party]
        if None in values:
            return {}
        if not rule.key:
            return {"": party(values)}
        keys = sorted({key for one in values for key in one})
        return {key: party([one[key] for one in values if key in one]) for key in keys}


def _ping(players: list[float], rule: Reached) -> Ping:
    """Return what a rule looks at of the latencies of a ticket's players."""
    value = OF_PARTY[rule.party](players)
    high, low = (max(players), min(players)) if rule.each else (value, value)
    return Ping(high, low, added(players), min(players))


def added(values: Sequence[float]) -> float:
    """Return a sum in the order of the values, as compiled code adds; Python 3.12 compensates."""
    total = 0.0
    for value in values:
        total += value
    return total


OF_PARTY: dict[Party, Callable[[Sequence[float]], float]] = {
    "min": min,
    "max": max,
    "avg": lambda values: added(values) / len(values),
}


def missing(table: Table, ticket: Ticket) -> list[str]:
    """Return the attributes for which a player of a ticket has no value: it cannot be matched."""
    return [
        attribute.name
        for attribute in table.attributes
        if attribute.default is None
        and any(attribute.name not in player.attributes for player in ticket.players)
    ]


def in_force(steps: Steps, born: float, now: float) -> Value:
    """Return what holds of a step function for who has waited since `born`."""
    place = 0
    while place < len(steps.waits) and born + steps.waits[place] <= now:
        place += 1
    return steps.values[place]


# The reviews of a world whose proposals are known: who waits at each of them.
#
# The order of things is that of `valmatch.matching.tickets.driving`; what a search found is taken
# from the record of the proposals, so that this is quick.


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
