"""Reasons why tickets wait, over all reviews that they wait through."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from valmatch.matching.plain_tickets.judging import Judge, PartialMatch
from valmatch.matching.plain_tickets.pool import Pool, Review, reviews
from valmatch.matching.plain_tickets.searching import Search, Watcher
from valmatch.matching.tickets.playing import Outcome
from valmatch.rule_sets.types import Lack

# Tickets that block a pool: everybody may join them first, and nobody can complete the match.
#
# As a review ends, a ticket blocks others if no match comes of the searches of the first anchors,
# if it is in more of their unfinished matches than any other ticket is besides the anchors
# themselves, and if without it matches would come of a pass: their tickets wait behind it. Several
# tickets block together where none of them alone makes the difference.

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
    freed, taken = _pass(pool, left, away, now, review)
    while not freed and taken and len(away) < TOGETHER:
        away.append(min(taken, key=lambda ticket: (-taken[ticket], ticket)))
        freed, taken = _pass(pool, left, away, now, review)
    if not freed or not away:
        return None
    for ticket in away[:-1]:
        fewer = [gone for gone in away if gone != ticket]
        others, _ = _pass(pool, left, fewer, now, review)
        if others:
            away, freed = fewer, others
    return Blocked(tuple(sorted(away)), tuple(sorted(freed)))


def _pass(
    pool: Pool, left: Sequence[int], away: list[int], now: float, review: int
) -> tuple[list[int], Counter[int]]:
    """Return the tickets of all matches that come of a pass, and who is in unfinished ones."""
    taken = Taken()
    waiting = [ticket for ticket in left if ticket not in away]
    matches = Search(pool, taken).one_pass(waiting, now, review, most=FIRST)
    return [ticket for match in matches for ticket in match.match.tickets], taken.counts


# Reasons why tickets wait: what they were tried with, and which rules refused it.


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
        for number, ticket in enumerate(match.tickets):
            if ticket not in self.of or (number and not self.is_first):
                continue
            reasons = self.of[ticket]
            trials = reasons.others if number else reasons.own
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
        rules = {k for match in refused for k in Judge(match, self.now, partial=True).refusing()}
        return list(rules)

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
                refusals = reasons.rules.setdefault(rule, Refusals())
                if refusals.nearest is None or excess < refusals.nearest.excess:
                    refusals.nearest = failed
                if len(rules) == 1 and (reasons.nearest is None or excess < reasons.nearest.excess):
                    reasons.nearest = failed
        for rule in every:
            reasons.rules[rule].refused += 1
            reasons.rules[rule].alone += rule in alone


TRIALS = 200_000  # tickets that are tried for an explanation: some ten seconds
BRIEF_TRIALS = 20_000  # and for what a replay says of tickets that block: some two seconds
SETS = 50_000  # sets of tickets and their teams that an exhaustive search looks at


def explain(
    pool: Pool, outcome: Outcome, watched: Collection[int], until: float
) -> dict[int, Reasons]:
    """Return why tickets wait.

    As each review ends, those who wait on look for a match once more: the first anchors of a pass,
    and the tickets that are watched. Where that is too much, reviews at even distances are looked
    at; an exhaustive search looks at the ticket and the oldest others.
    """
    recorder, anchors = Recorder(pool, watched), FIRST + len(watched)

    def wait(review: Review) -> bool:
        return review.time <= until and not recorder.of.keys().isdisjoint(review.left)

    for review in filter(wait, reviews(pool, outcome)):
        for ticket in recorder.of.keys() & set(review.left):
            recorder.of[ticket].reviews += 1
    for review in _chosen(pool, outcome, wait, anchors, TRIALS):
        recorder.now = review.time
        for ticket in recorder.of.keys() & set(review.left):
            recorder.of[ticket].looked += 1
        _look(Search(pool, recorder), recorder, review)
        block = blocked(pool, review.left, review.time, review.number)
        for ticket in block.tickets if block else ():
            if block and ticket in recorder.of:
                recorder.of[ticket].blocked[block.by] += 1
    return recorder.of


def _chosen(
    pool: Pool, outcome: Outcome, wait: Callable[[Review], bool], anchors: int, trials: int
) -> Iterator[Review]:
    """Yield as many of some reviews, at even distances, as may be looked at."""
    most = _most_tried(pool)

    def cost(review: Review) -> int:
        number = len(review.left)
        if pool.search == "exhaustive":
            return int((len(pool.table.teams) + 1) ** min(number, most))
        return number * (anchors + FIRST * (1 + TOGETHER))

    kept = evenly([cost(review) for review in filter(wait, reviews(pool, outcome))], trials)
    for number, review in enumerate(filter(wait, reviews(pool, outcome))):
        if number in kept:
            yield review


def _look(search: Search, recorder: Recorder, review: Review) -> None:
    """Let tickets look for a match as a review ends."""
    order = search.anchors(review.left, review.number)
    for number, (anchor, others) in enumerate(order):
        recorder.is_first = number < FIRST
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


def blockers(pool: Pool, outcome: Outcome) -> Blockers:
    """Return which tickets block others, at reviews of even distances where they are many."""

    def wait(review: Review) -> bool:
        return len(review.left) > 1

    number, looked, blocking = sum(map(wait, reviews(pool, outcome))), 0, []
    for review in _chosen(pool, outcome, wait, 0, BRIEF_TRIALS):
        looked += 1
        if block := blocked(pool, review.left, review.time, review.number):
            blocking.append(block)
    return Blockers(number, looked, blocking)


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
