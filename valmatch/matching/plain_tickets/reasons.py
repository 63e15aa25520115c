"""Reasons why tickets wait: what they were tried with, and which rules refused it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from valmatch.matching.plain_tickets.judging import Judge, Lack
from valmatch.matching.plain_tickets.partial_match import PartialMatch
from valmatch.matching.plain_tickets.pool import Pool
from valmatch.matching.plain_tickets.searching import Watcher


@dataclass
class Trials:
    """Candidates that were tried."""

    # tried, taken: all, and those that joined; of an exhaustive search, those that are a match
    tried: int = 0
    taken: int = 0
    no_room: int = 0  # those for whom no team had room


@dataclass
class Failed:
    """A match that failed by rules."""

    time: float
    match: PartialMatch
    partial: bool  # whether it was judged as not complete
    rules: list[int]  # those that refused it
    # by what part of the number in force it is missed; infinity where no number says it
    excess: float = 0.0

    def lacks_of(self, rule: int) -> tuple[Lack, ...]:
        """Return what a rule would have needed."""
        return Judge(self.match, self.time, self.partial).finding(rule).lacks


@dataclass
class Refusals:
    """What one rule refused."""

    refused: int = 0  # candidates that it refused on some team that had room
    alone: int = 0  # of them, those that no other rule refused on that team
    nearest: Failed | None = None  # the one that it refused by least


@dataclass
class Reasons:
    """Why a ticket waits."""

    ticket: int
    # reviews, looked: reviews after which it waited on, and those of them that were looked at
    reviews: int = 0
    looked: int = 0
    anchored: int = 0  # how often a match was built around it
    # rules that refused the ticket alone, before any other was tried; None: no team had room
    itself: Counter[int | None] = field(default_factory=Counter)
    # own, others: candidates that it tried as anchor; its own trials by other anchors
    own: Trials = field(default_factory=Trials)
    others: Trials = field(default_factory=Trials)
    rules: dict[int, Refusals] = field(default_factory=dict)  # by rule, of both
    # of the candidates that one rule alone refused, the one that it refused by least
    nearest: Failed | None = None
    # the unfinished match with most players that it was in; refused by no rule where players were
    # missing
    fullest: Failed | None = None
    # tickets without whom it would have had a match, with numbers of reviews
    blocked: Counter[tuple[int, ...]] = field(default_factory=Counter)


class Recorder(Watcher):
    """Takes down why some tickets wait."""

    def __init__(self, pool: Pool, watched: Iterable[int]) -> None:
        # now: the time of the review
        # is_first: whether the search is one of those that count for other tickets than its anchor
        self.pool, self.now, self.is_first = pool, 0.0, True
        self.of = {ticket: Reasons(ticket) for ticket in watched}

    def begun(self, anchor: int) -> None:
        """Note that an anchor begins to look for a match."""
        if anchor in self.of:
            self.of[anchor].anchored += 1

    def tried(
        self, match: PartialMatch, ticket: int, refused: list[PartialMatch], taken: bool
    ) -> None:
        """Note a ticket that is tried: on which teams with room it is refused, if it is taken."""
        if not match.tickets:
            if ticket in self.of and not taken:
                self.of[ticket].itself.update(self._refusing(refused) if refused else [None])
                self._note(self.of[ticket], refused, True)
            return
        anchor = match.tickets[0]
        sides = [(self.of[anchor], self.of[anchor].own)] if anchor in self.of else []
        if ticket in self.of and self.is_first:
            sides.append((self.of[ticket], self.of[ticket].others))
        for reasons, trials in sides:
            trials.tried += 1
            trials.taken += taken
            trials.no_room += not taken and not refused
            if not taken:
                self._note(reasons, refused, True)

    def judged(self, match: PartialMatch) -> None:
        """Note a match of sizes that can be, which an exhaustive search judges."""
        for place, ticket in enumerate(match.tickets):
            if ticket not in self.of or (place and not self.is_first):
                continue
            reasons = self.of[ticket]
            trials = reasons.others if place else reasons.own
            fails = Judge(match, self.now, partial=False).refuses()
            trials.tried += 1
            trials.taken += not fails
            if fails:
                self._note(reasons, [match], False)

    def ended(self, anchor: int, match: PartialMatch, found: bool) -> None:
        """Note with what an anchor has ended, and whether it has found a match on the way."""
        if found:
            return
        for ticket in match.tickets:
            if ticket not in self.of or (ticket != anchor and not self.is_first):
                continue
            reasons = self.of[ticket]
            if reasons.fullest is None or match.players > reasons.fullest.match.players:
                fits = match.fits(self.now)
                rules = Judge(match, self.now, partial=False).refusing() if fits else []
                reasons.fullest = Failed(self.now, match, not fits, rules)

    def _refusing(self, refused: list[PartialMatch]) -> list[int | None]:
        """Return the rules that refused any of some matches that are not complete."""
        found = {k for one in refused for k in Judge(one, self.now, partial=True).refusing()}
        return list(found)

    def _note(self, reasons: Reasons, refused: list[PartialMatch], partial: bool) -> None:
        """Note which rules refused a candidate, on any of the teams that had room."""
        every: set[int] = set()
        alone: set[int] = set()
        for match in refused:
            judge = Judge(match, self.now, partial)
            rules = judge.refusing()
            every.update(rules)
            if len(rules) == 1:
                alone.update(rules)
            for rule in rules:
                lacks = judge.finding(rule).lacks
                excess = max((lack.excess for lack in lacks), default=float("inf"))
                failed = Failed(self.now, match, partial, rules, excess)
                own = reasons.rules.setdefault(rule, Refusals())
                if own.nearest is None or excess < own.nearest.excess:
                    own.nearest = failed
                if len(rules) == 1 and (reasons.nearest is None or excess < reasons.nearest.excess):
                    reasons.nearest = failed
        for rule in every:
            reasons.rules[rule].refused += 1
            reasons.rules[rule].alone += rule in alone
