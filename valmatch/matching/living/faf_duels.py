"""FAForever's queue for duels: at every pop, rounds of proposals by the quality of a draw.

Each round every ticket without a partner asks the one it likes best of those that it has not asked
yet; who is asked takes it where that is strictly better than the partner at hand.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from valmatch.inputs.fields import NonNegative, Number, Positive
from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import internal, njit
from valmatch.matching.living import faf
from valmatch.matching.living.faf import Pops, next_pop
from valmatch.matching.living.queue import (
    Line,
    People,
    add_member,
    begin_match,
    other_member,
    terms_type,
)
from valmatch.matching.living.registry import Count, Share, number


class Numbers(Pops):
    """The numbers of FAForever's rule for duels."""

    value: ClassVar = ("", "quality by the rule")

    newcomer_mean: Number = number(
        500.0, "points", "Rating that a newcomer's is blended with, by the games played."
    )
    beta: Positive = number(240.0, "points", "Spread of the play of one game.")
    own_share: Share = number(
        0.8, "", "Share of the quality against oneself that a ticket asks for at first."
    )
    top_rating: Number = number(
        2000.0, "points", "Shown rating from which a ticket is one of the best."
    )
    top_step: NonNegative = number(
        0.15, "", "By how much a missed pop lowers what one of the best asks for."
    )
    top_cap: NonNegative = number(0.3, "", "Most of it.")
    newcomer_step: NonNegative = number(0.1, "", "The same of newcomers.")
    newcomer_cap: NonNegative = number(0.6, "", "Most of it.")
    other_step: NonNegative = number(0.05, "", "The same of all others.")
    other_cap: NonNegative = number(0.25, "", "Most of it.")
    near_from: Count = number(
        30, "tickets", "From how many waiting on only neighbours by rating are compared."
    )
    uncertain: NonNegative = number(
        250.0, "points", "Deviation from which a ticket is then sorted as if it had a rating of 0."
    )

    @property
    def teams(self) -> tuple[int, int]:
        """How many teams a match has, and of how many players."""
        return 2, 1


Terms = terms_type(Numbers, __name__)


class Scratch(NamedTuple):
    """What the rule works with."""

    terms: Any
    mean: Floats  # (n,); rating by which a ticket is matched
    deviation: Floats  # (n,)
    asked: Floats  # (n,); least quality that a ticket takes at first
    step: Floats  # (n,); how much lower that is after a pop
    cap: Floats  # (n,); and at most
    least: Floats  # (n,); least quality that it takes at this pop
    order: Ints  # (room,); who waits: those few enough places apart are compared
    other: Ints  # (room, width); whom a ticket may ask, in the order in which they are found
    quality: Floats  # (room, width); of these, -1 of who has been asked
    size: Ints  # (room,); how many there are
    partner: Ints  # (room,); with whom each is paired, -1 for none
    held: Floats  # (room,); the quality of that


def scratch_of(terms: Any, people: People, room: int) -> Scratch:  # noqa: ANN401
    """Return the arrays that the rule works with."""
    near = max(terms.near_from, int(np.log2(max(16, room))) // 2 + 1)
    width = min(room, 2 * near)
    mean, deviation, asked, step, cap, least = np.zeros((6, people.sizes.size))
    order, size, partner = np.zeros((3, room), np.int64)
    other, quality = np.zeros((room, width), np.int64), np.zeros((room, width))
    return Scratch(
        terms,
        mean,
        deviation,
        asked,
        step,
        cap,
        least,
        order,
        other,
        quality,
        size,
        partner,
        np.zeros(room),
    )


memory_of, first_review = faf.memory_of, faf.first_review
joined, refuses = faf.joined, faf.refuses


@internal
def enter(ticket: int, people: People, scratch: Scratch) -> None:
    """Work out how a ticket is matched: its rating, blended for a newcomer, and what it takes."""
    terms, player = scratch.terms, people.firsts[ticket]
    rating, deviation = people.ratings[player], people.deviations[player]
    games, most = people.games[player], terms.newcomer_games
    scratch.mean[ticket], scratch.deviation[ticket] = rating, deviation
    scratch.step[ticket], scratch.cap[ticket] = terms.other_step, terms.other_cap
    if games <= most:
        blended = ((most - games) * terms.newcomer_mean + games * rating) / most
        scratch.mean[ticket] = blended
        scratch.step[ticket], scratch.cap[ticket] = terms.newcomer_step, terms.newcomer_cap
    if rating - terms.less_deviations * deviation >= terms.top_rating:
        scratch.step[ticket], scratch.cap[ticket] = terms.top_step, terms.top_cap
    scratch.asked[ticket] = terms.own_share * draw_quality(ticket, ticket, scratch)


@internal
def draw_quality(first: int, second: int, scratch: Scratch) -> float:
    """Return the chance of a draw of two, as a share of that of two known equals."""
    known = 2 * scratch.terms.beta * scratch.terms.beta
    one, other = scratch.deviation[first], scratch.deviation[second]
    total = known + (one * one + other * other)
    gap = scratch.mean[first] - scratch.mean[second]
    return math.sqrt(known / total) * math.exp(-gap * gap / (2 * total))


@njit
def review(now: float, line: Line, scratch: Scratch) -> float:
    """Form matches; return when the next pop is."""
    state, count = line.state[0], line.state[0]["waiting"]
    players = 0
    for k in range(count):
        ticket = line.waiting[k]
        players += line.sizes[ticket]
        fallen = min(line.missed[ticket] * scratch.step[ticket], scratch.cap[ticket])
        scratch.least[ticket] = max(0.0, scratch.asked[ticket] - fallen)
    if players >= 2:
        near = _sort(count, line, scratch)
        _list(count, near, line, scratch)
        _propose(count, scratch)
        for place in range(count):
            state["examined"] += min(count - 1 - place, near)
        for k in range(count):
            other = scratch.partner[k]
            if other > k:
                begin_match(now, scratch.held[k], np.nan, line)
                add_member(line.waiting[k], 0, now, line)
                add_member(line.waiting[other], 1, now, line)
    return next_pop(now, players, 1, line, scratch.terms)


@internal
def would_do(
    match: int, member: int, ticket: int, now: float, line: Line, scratch: Scratch
) -> bool:
    """Return whether a duel could have a ticket in place of a member."""
    other = other_member(match, member, line)
    quality = draw_quality(other, ticket, scratch)
    return quality >= max(scratch.least[other], scratch.least[ticket])


@internal
def _sort(count: int, line: Line, scratch: Scratch) -> int:
    """Sort tickets where they are many; return how many places apart two may be."""
    order = scratch.order
    for k in range(count):
        place = k
        if count >= scratch.terms.near_from:
            key = _key(line.waiting[k], scratch)
            while place > 0 and _key(line.waiting[order[place - 1]], scratch) > key:
                order[place] = order[place - 1]
                place -= 1
        order[place] = k
    if count < scratch.terms.near_from:
        return count
    doublings, rest = 0, max(16, count)
    while rest > 1:
        rest //= 2
        doublings += 1
    return doublings // 2


@internal
def _key(ticket: int, scratch: Scratch) -> float:
    """Return by what tickets are sorted where they are many."""
    uncertain = scratch.deviation[ticket] >= scratch.terms.uncertain
    return 0.0 if uncertain else scratch.mean[ticket]


@internal
def _list(count: int, near: int, line: Line, scratch: Scratch) -> None:
    """List whom each ticket may ask."""
    for k in range(count):
        scratch.size[k] = 0
        scratch.partner[k] = -1
        scratch.held[k] = 0.0
    for place in range(count):
        first = scratch.order[place]
        one = line.waiting[first]
        for later in range(place + 1, min(count, place + 1 + near)):
            second = scratch.order[later]
            other = line.waiting[second]
            quality = draw_quality(one, other, scratch)
            if quality >= scratch.least[one] and quality >= scratch.least[other]:
                _add(first, second, quality, scratch)
                _add(second, first, quality, scratch)


@internal
def _add(ticket: int, other: int, quality: float, scratch: Scratch) -> None:
    size = scratch.size[ticket]
    scratch.other[ticket, size] = other
    scratch.quality[ticket, size] = quality
    scratch.size[ticket] = size + 1


@internal
def _propose(count: int, scratch: Scratch) -> None:
    """Pair tickets in as many rounds as the longest list has entries."""
    rounds = 0
    for k in range(count):
        rounds = max(rounds, scratch.size[k])
    for _ in range(rounds):
        for k in range(count):
            if scratch.partner[k] < 0:
                _ask(k, scratch)


@internal
def _ask(ticket: int, scratch: Scratch) -> None:
    """Let a ticket ask its best that it has not asked; of equals, the last found."""
    best, quality = -1, -1.0
    for place in range(scratch.size[ticket]):
        if scratch.quality[ticket, place] >= max(quality, 0.0):
            best, quality = place, scratch.quality[ticket, place]
    if best < 0:
        return
    scratch.quality[ticket, best] = -1.0
    other = scratch.other[ticket, best]
    old = scratch.partner[other]
    if old >= 0 and not quality > scratch.held[other]:
        return
    if old >= 0:
        scratch.partner[old] = -1
    scratch.partner[ticket] = other
    scratch.partner[other] = ticket
    scratch.held[ticket] = quality
    scratch.held[other] = quality
