"""Reasons why tickets wait, over all reviews that they wait through."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from valmatch.matching.plain_tickets import Judge, PartialMatch, Pool, Review, Search, reviews
from valmatch.matching.tickets.playing import Outcome

# Tickets that block a pool: everybody may join them first, and nobody can complete the match. As a
# review ends, a ticket blocks others if no match comes of the searches of the first anchors, if it
# is in most of their unfinished matches, anchors apart, and if without it matches would come of a
# pass. Several tickets block together where none of them alone makes the difference.

FIRST = 20  # anchors of a pass that are looked at
TOGETHER = 3  # most tickets that block together


class Blocked(NamedTuple):
    """Tickets that wait behind others."""

    by: tuple[int, ...]  # without whom they would have a match
    tickets: tuple[int, ...]  # who waits


def blocked(pool: Pool, left: Sequence[int], now: float, review: int) -> Blocked | None:
    """Return who waits behind whom as a review ends; None where nobody does."""
    if pool.search != "pass":
        return None

    def one_pass(without: list[int]) -> tuple[list[int], Counter[int]]:
        """Return the tickets of all matches that come of a pass, and who is in unfinished ones."""
        search, waiting = Search(pool), [ticket for ticket in left if ticket not in without]
        matches = search.one_pass(waiting, now, review, most=FIRST)
        return [ticket for match in matches for ticket in match.tickets], search.unfinished

    away: list[int] = []
    freed, taken = one_pass(away)
    while not freed and taken and len(away) < TOGETHER:
        away.append(min(taken, key=lambda ticket: (-taken[ticket], ticket)))
        freed, taken = one_pass(away)
    if not freed or not away:
        return None
    for ticket in away[:-1]:
        fewer = [gone for gone in away if gone != ticket]
        others, _ = one_pass(fewer)
        if others:
            away, freed = fewer, others
    return Blocked(tuple(sorted(away)), tuple(sorted(freed)))


@dataclass
class Trials:
    """Candidates that were tried."""

    tried: int = 0
    taken: int = 0  # of them, those that joined; of an exhaustive search, those that are a match
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
    reviews: int = 0  # reviews after which it waited on
    looked: int = 0  # of them, those that were looked at
    anchored: int = 0  # how often a match was built around it
    # rules that refused the ticket alone, before any other was tried; None: no team had room
    itself: Counter[int | None] = field(default_factory=Counter)
    as_anchor: Trials = field(default_factory=Trials)  # candidates that it tried as anchor
    others: Trials = field(default_factory=Trials)  # its own trials by other anchors
    rules: dict[int, Refusals] = field(default_factory=dict)  # by rule, of both
    # of the candidates that one rule alone refused, the one that it refused by least
    nearest: Failed | None = None
    # the unfinished match with most players; refused by no rule where players were missing
    fullest: Failed | None = None
    # tickets without whom it would have had a match, with numbers of reviews
    blocked: Counter[tuple[int, ...]] = field(default_factory=Counter)


class Recorder(Search):
    """A search that takes down why some tickets wait."""

    def __init__(self, pool: Pool, watched: Iterable[int]) -> None:
        super().__init__(pool)
        self.now = 0.0  # the time of the review
        # whether the search is one of those that count for other tickets than its anchor
        self.is_first = True
        self.of = {ticket: Reasons(ticket) for ticket in watched}

    def tried(
        self, match: PartialMatch, ticket: int, refused: list[PartialMatch], taken: bool
    ) -> None:
        """Note a ticket that is tried: on which teams with room it is refused, if it is taken."""
        if not match.tickets:
            if ticket in self.of and not taken:
                judges = [Judge(tried, self.now, partial=True) for tried in refused]
                rules = {rule for judge in judges for rule in judge.refusing()}
                self.of[ticket].itself.update(rules if refused else [None])
                self._note(self.of[ticket], refused, True)
            return
        anchor = match.tickets[0]
        sides = [(self.of[anchor], self.of[anchor].as_anchor)] if anchor in self.of else []
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
        for reasons in self._reasons(match):
            trials = reasons.as_anchor if reasons.ticket == match.tickets[0] else reasons.others
            fails = Judge(match, self.now, partial=False).refuses()
            trials.tried, trials.taken = trials.tried + 1, trials.taken + (not fails)
            if fails:
                self._note(reasons, [match], False)

    def ended(self, match: PartialMatch) -> None:
        """Note with what an anchor has ended that has found no match on the way."""
        for reasons in self._reasons(match) if match.tickets else ():
            if reasons.fullest is None or match.players > reasons.fullest.match.players:
                fits = match.fits(self.now)
                rules = list(Judge(match, self.now, partial=False).refusing()) if fits else []
                reasons.fullest = Failed(self.now, match, not fits, rules)

    def _reasons(self, match: PartialMatch) -> list[Reasons]:
        """Return the reasons of the tickets of a match for whom it counts."""
        anchor = match.tickets[0]
        counts = [ticket for ticket in match.tickets if self.is_first or ticket == anchor]
        return [self.of[ticket] for ticket in counts if ticket in self.of]

    def _note(self, reasons: Reasons, refused: list[PartialMatch], partial: bool) -> None:
        """Note which rules refused a candidate, on any of the teams that had room."""
        every, alone = set[int](), set[int]()
        for match in refused:
            judge = Judge(match, self.now, partial)
            rules = list(judge.refusing())
            every.update(rules)
            if len(rules) == 1:
                alone.update(rules)
            for rule in rules:
                excesses = [lack.excess for lack in judge.finding(rule).lacks]
                excess = max(excesses, default=math.inf)
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
    """Return why tickets wait."""
    # As reviews end, the first anchors and the watched tickets look for a match once more.
    search = Recorder(pool, watched)
    of = search.of

    def wait(review: Review) -> bool:
        return review.time <= until and not of.keys().isdisjoint(review.left)

    for review, is_chosen in _chosen(pool, outcome, wait, FIRST + len(watched), TRIALS):
        waiting = of.keys() & set(review.left)
        for ticket in waiting:
            of[ticket].reviews += 1
            of[ticket].looked += is_chosen
        if not is_chosen:
            continue
        search.now = review.time
        for number, (anchor, others) in enumerate(search.anchors(review.left, review.number)):
            search.is_first = number < FIRST
            if not search.is_first and anchor not in of:
                continue
            if anchor in of:
                of[anchor].anchored += 1
            if pool.search == "exhaustive":  # as many as it can look at, the watched before
                others.sort(key=lambda ticket: (ticket not in of, ticket))
                search.best(anchor, sorted(others[: _most_tried(pool) - 1]), review.time)
            elif search.best(anchor, others, review.time) is None:
                search.ended(search.last)
        if block := blocked(pool, review.left, review.time, review.number):
            for ticket in waiting.intersection(block.tickets):
                of[ticket].blocked[block.by] += 1
    return of


def _chosen(
    pool: Pool, outcome: Outcome, wait: Callable[[Review], bool], anchors: int, trials: int
) -> Iterator[tuple[Review, bool]]:
    """Yield some reviews, and whether they are among those, at even distances, to look at."""

    def cost(review: Review) -> int:
        number = len(review.left)
        if pool.search == "exhaustive":
            return int((len(pool.table.teams) + 1) ** min(number, _most_tried(pool)))
        return number * (anchors + FIRST * (1 + TOGETHER))

    kept = evenly([cost(review) for review in filter(wait, reviews(pool, outcome))], trials)
    for number, review in enumerate(filter(wait, reviews(pool, outcome))):
        yield review, number in kept


def _most_tried(pool: Pool) -> int:
    """Return how many tickets an exhaustive search looks at in plain Python."""
    return max(int(math.log(SETS, len(pool.table.teams) + 1)), 2)


class Blockers(NamedTuple):
    """Who waits behind whom, over the reviews of a world."""

    reviews: int  # reviews after which somebody waited
    looked: int  # of them, those that were looked at
    blocked: list[Blocked]  # of each of those at which tickets blocked others


def blockers(pool: Pool, outcome: Outcome) -> Blockers:
    """Return which tickets block others, at reviews of even distances where they are many."""

    def wait(review: Review) -> bool:
        return len(review.left) > 1

    number, looked, blocking = 0, 0, []
    for review, is_chosen in _chosen(pool, outcome, wait, 0, BRIEF_TRIALS):
        number, looked = number + 1, looked + is_chosen
        if is_chosen and (block := blocked(pool, review.left, review.time, review.number)):
            blocking.append(block)
    return Blockers(number, looked, blocking)


def evenly(costs: Sequence[int], most: int) -> set[int]:
    """Return numbers at even distances, the last at least, whose costs are not too much."""

    def at(count: int) -> set[int]:
        last, steps = len(costs) - 1, max(count - 1, 1)
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
