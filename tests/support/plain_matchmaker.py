"""The matchmaker of tickets as a loop in plain Python about the search of `plain_tickets`."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from tests.support.ticket_worlds import reading_of, replay_of
from valmatch.matching.plain_tickets import MANY, PartialMatch, Pool, Search, reviews
from valmatch.matching.tickets.columns import Document
from valmatch.matching.tickets.columns import Search as SearchName


class Matchmaker:
    """The state of a world, told when what happens; answers are those of its JSON."""

    def __init__(self, world: dict[str, Any], search: SearchName) -> None:
        self.table, tickets, self.service, *_ = reading_of(world)
        self.pool = Pool(self.table, tickets, self.service, search)
        self.tickets = self.pool.tickets  # by age, as they are numbered
        self.waiting: list[int] = []
        self.proposals: list[tuple[float, dict[str, Any], list[Document], bool]] = []
        self.asked, self.joined = Counter[str](), 0
        self.reviews: list[tuple[float, tuple[int, ...]]] = []  # when, and who waited
        self.ended: dict[str, dict[str, Any]] = {}
        self.matches: list[dict[str, Any]] = []

    def played(self) -> dict[str, Any]:
        """Play from the first moment to the horizon."""
        now = -1.0
        while (moment := self.next_moment(now)) <= self.service.horizon:
            self.at(moment, later=moment > now)
            now = moment
        for ticket in self.tickets[: self.joined]:
            if ticket["id"] not in self.ended:
                self.end(ticket, "SEARCHING", self.service.horizon)
        return {"matches": self.matches, "tickets": self.ended}

    def next_moment(self, now: float) -> float:
        """Return the next moment at which something may happen; a proposal may end at once."""
        moments = [wait + one["time"] for one in self.tickets for wait in (0.0, *self.table.waits)]
        moments += [until for k in self.waiting for _, until in self.ends(k)]
        if self.service.review:
            moments.append(len(self.reviews) * self.service.review)
        later = [moment for moment in moments if moment > now]
        return min([*later, *(max(end, now) for end, *_ in self.proposals)], default=math.inf)

    def ends(self, number: int) -> list[tuple[str, float]]:
        """Return how and when a ticket ends without a match."""
        one = self.tickets[number]
        until = one["time"] + self.service.timeout
        return [("CANCELLED", one.get("cancel", math.inf)), ("TIMED_OUT", until)]

    def at(self, now: float, later: bool) -> None:
        """Let happen what does at a moment, or does again as proposals end at once."""
        changed = self.end_proposals(now)
        for way in (0, 1):
            for number in [k for k in sorted(self.waiting) if self.ends(k)[way][1] <= now]:
                self.waiting.remove(number)
                self.end(self.tickets[number], self.ends(number)[way][0], now)
        while self.joined < len(self.tickets) and self.tickets[self.joined]["time"] <= now:
            self.waiting.append(self.joined)
            if self.ends(self.joined)[0][1] <= now:
                self.end(self.tickets[self.waiting.pop()], "CANCELLED", now)
            self.joined, changed = self.joined + 1, True
        self.waiting.sort()
        times = [self.tickets[k]["time"] for k in self.waiting]
        if self.service.review:
            due = len(self.reviews) * self.service.review == now
        else:
            steps = (time + wait == now for time in times for wait in self.table.waits)
            due = changed or (later and any(steps))
        if due:
            self.review(now)

    def review(self, now: float) -> None:
        """Repeat passes until one forms nothing."""
        search, number = Search(self.pool), len(self.reviews)
        self.reviews.append((now, tuple(self.waiting)))
        for k in range(self.service.passes or MANY):
            found = list(search.one_pass(tuple(self.waiting), now, number, k))
            for one in found:
                self.propose(one, now)
            if not found:
                break

    def propose(self, found: PartialMatch, now: float) -> None:
        """Make a match, or ask for it to be accepted."""
        numbers, names = sorted(found.tickets), [team.name for team in self.table.teams]
        tickets = [self.tickets[k] for k in numbers]
        teams = [sorted(player["id"] for player in team) for team in found.teams]
        match = {
            "time": now,
            "anchor": self.tickets[found.tickets[0]]["id"],
            "tickets": [one["id"] for one in tickets],
            "teams": dict(zip(names, teams, strict=True)),
        }
        for number in numbers:
            self.waiting.remove(number)
            self.asked[self.tickets[number]["id"]] += 1
        answers = [self.answer(one) for one in tickets]
        refused = [answer[0] for answer in answers if answer and not answer[1]]
        accepted = not refused and None not in answers
        wait = max(answer[0] for answer in answers if answer) if accepted else 0.0
        if not accepted:
            wait = min([*refused, self.service.acceptance or 0.0])
        if accepted and wait == 0.0:
            self.complete(match, tickets, now)
        else:
            self.proposals.append((now + wait, match, tickets, accepted))

    def answer(self, ticket: Document) -> tuple[float, bool] | None:
        """Return when and what a ticket answers to its latest proposal; None for never."""
        limit, number = self.service.acceptance, self.asked[ticket["id"]] - 1
        answers = ticket.get("answers", ())
        if limit is None or "backfill" in ticket or number >= len(answers):
            return 0.0, True
        answer = answers[number]
        return None if answer is None or answer[0] > limit else answer

    def end_proposals(self, now: float) -> bool:
        """End proposals that are due; return whether a ticket waits again."""
        before = len(self.waiting)
        due = [one for one in self.proposals if one[0] <= now]
        self.proposals = [one for one in self.proposals if one[0] > now]
        for _, match, tickets, accepted in due:
            if accepted:
                self.complete(match, tickets, now)
                continue
            for ticket in tickets:
                answer = self.answer(ticket)
                if answer and answer[1] and match["time"] + answer[0] <= now:
                    self.waiting.append(self.tickets.index(ticket))
                else:
                    self.end(ticket, "CANCELLED", now)
        return len(self.waiting) > before

    def complete(self, match: dict[str, Any], tickets: list[Document], now: float) -> None:
        """Note a match that is made."""
        self.matches.append({**match, "time": now})
        for ticket in tickets:
            self.end(ticket, "COMPLETED", now)

    def end(self, ticket: Document, status: str, now: float) -> None:
        """Note how and when a ticket ends."""
        self.ended[ticket["id"]] = {"status": status, "time": now}


def played_by_both(world: dict[str, Any], search: SearchName = "pass") -> dict[str, Any]:
    """Return the answers of the matchmaker, which are those of its twin, review by review."""
    twin = Matchmaker(world, search)
    expected = twin.played()
    for counted in (True, False):
        played = replay_of(world, search, counted)
        answers: dict[str, Any] = played.answers()
        assert answers == expected, counted
        assert list(answers["tickets"]) == list(expected["tickets"]), counted
    looked = [(one.time, one.waiting) for one in reviews(twin.pool, played.outcome)]
    assert looked == [one for one in twin.reviews if one[1]]  # at others nothing is to be said
    return answers
