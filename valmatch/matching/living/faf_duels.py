"""FAForever's queue for duels: at every pop, rounds of proposals by the quality of a draw.

Each round every ticket without a partner asks the one it likes best of those that it has not asked
yet; who is asked takes it where that is strictly better than the partner at hand.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from valmatch.inputs.fields import NonNegative, Number, Positive
from valmatch.kernels.arrays import Floats, Ints, Records
from valmatch.kernels.compilation import kernel, part
from valmatch.matching.living import faf
from valmatch.matching.living.faf import Pops, next_pop, shown_by
from valmatch.matching.living.queue import (
    MatchmakerState,
    Values,
    add_member,
    begin_match,
    other_member,
)
from valmatch.matching.living.registry import Count, Share, kernel_type, number


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
        250.0,
        "points",
        "Deviation from which a ticket is then sorted as if it had a rating of 0.",
        "deviations",
    )

    @property
    def teams(self) -> tuple[int, int]:
        """How many teams a match has, and of how many players."""
        return 2, 1


KernelNumbers = kernel_type(Numbers, __name__)

memory_of, first_review = faf.memory_of, faf.first_review
joined, refuses = faf.joined, faf.refuses

DUELLIST = np.dtype(
    [
        ("mean", "f8"),  # of the rating by which a ticket is matched
        ("deviation", "f8"),
        ("least", "f8"),  # quality that it takes
    ]
)


class Proposals(NamedTuple):
    """Who may ask whom of those who wait."""

    other: Ints  # (n, width); whom each may ask, in the order in which they are compared
    quality: Floats  # (n, width); of these, -1 of who has been asked
    size: Ints  # (n,); how many there are
    partner: Ints  # (n,); with whom each is paired, -1 for none
    reached: Floats  # (n,); the quality of that


@part
def show(ticket: int, duellist: Any, state: MatchmakerState, numbers: Values) -> None:  # noqa: ANN401
    """Note how a ticket is matched: by its rating, blended for a newcomer, and what it takes."""
    parties, player = state.parties, state.parties.firsts[ticket]
    rating, games, most = parties.ratings[player], parties.games[player], numbers.newcomer_games
    step, cap = numbers.other_step, numbers.other_cap
    duellist["mean"], duellist["deviation"] = rating, parties.deviations[player]
    if games <= most:
        duellist["mean"] = ((most - games) * numbers.newcomer_mean + games * rating) / most
        step, cap = numbers.newcomer_step, numbers.newcomer_cap
    if shown_by(player, state, numbers) >= numbers.top_rating:
        step, cap = numbers.top_step, numbers.top_cap
    at_first = numbers.own_share * draw_quality(duellist, duellist, numbers.beta)
    duellist["least"] = max(0.0, at_first - min(state.missed[ticket] * step, cap))


@part
def draw_quality(first: Any, second: Any, beta: float) -> float:  # noqa: ANN401
    """Return the chance of a draw of two, as a share of that of two known equals."""
    known, gap = 2 * beta * beta, first["mean"] - second["mean"]
    one, other = first["deviation"], second["deviation"]
    total = known + (one * one + other * other)
    return math.sqrt(known / total) * math.exp(-gap * gap / (2 * total))


@kernel(allocates=True)
def review(now: float, state: MatchmakerState, numbers: Values) -> float:
    """Form matches; return when the next pop is."""
    waiting = state.waiting[: state.counters[0]["waiting"]]
    count, near = waiting.size, waiting.size
    if count >= 2:
        duellists, order = np.empty(count, DUELLIST), np.arange(count)
        for k in range(count):
            show(waiting[k], duellists[k], state, numbers)
        if count >= numbers.near_from:  # then only neighbours by rating are compared
            sure = duellists["deviation"] < numbers.uncertain
            keys = np.where(sure, duellists["mean"], 0.0)
            order, near = np.argsort(keys, kind="mergesort"), _doublings(max(16, count)) // 2
        width = min(count, 2 * near)
        other, quality = np.empty((count, width), np.int64), np.empty((count, width))
        size, partner = np.zeros(count, np.int64), np.full(count, -1)
        proposals = Proposals(other, quality, size, partner, np.zeros(count))
        _list(order, near, duellists, proposals, numbers.beta)
        for _ in range(size.max()):  # as many rounds as the longest list has entries
            for k in range(count):
                if partner[k] < 0:
                    _ask(k, proposals)
        for place in range(count):
            state.counters[0]["examined"] += min(count - 1 - place, near)
        for k in range(count):
            if partner[k] > k:
                begin_match(now, proposals.reached[k], np.nan, state)
                add_member(waiting[k], 0, now, state)
                add_member(waiting[partner[k]], 1, now, state)
    return next_pop(now, count, 1, state, numbers)


@part
def _doublings(count: int) -> int:
    """Return how often 1 can be doubled up to a number."""
    doublings = 0
    while count > 1:
        count //= 2
        doublings += 1
    return doublings


@kernel(allocates=True)
def could_replace(
    match: int, member: int, ticket: int, now: float, state: MatchmakerState, numbers: Values
) -> bool:
    """Return whether a duel could have a ticket in place of a member."""
    pair = np.empty(2, DUELLIST)
    show(other_member(match, member, state), pair[0], state, numbers)
    show(ticket, pair[1], state, numbers)
    quality = draw_quality(pair[0], pair[1], numbers.beta)
    return quality >= max(pair[0]["least"], pair[1]["least"])


@part
def _list(order: Ints, near: int, duellists: Records, proposals: Proposals, beta: float) -> None:
    """List whom each ticket may ask."""
    for place in range(order.size):
        first = order[place]
        for second in order[place + 1 : place + 1 + near]:
            one, other = duellists[first], duellists[second]
            quality = draw_quality(one, other, beta)
            if quality >= one["least"] and quality >= other["least"]:
                _add(first, second, quality, proposals)
                _add(second, first, quality, proposals)


@part
def _add(ticket: int, other: int, quality: float, proposals: Proposals) -> None:
    size = proposals.size[ticket]
    proposals.other[ticket, size], proposals.quality[ticket, size] = other, quality
    proposals.size[ticket] = size + 1


@part
def _ask(ticket: int, proposals: Proposals) -> None:
    """Let a ticket ask its best that it has not asked; of equals, the last one listed."""
    best, quality = -1, -1.0
    for place in range(proposals.size[ticket]):
        if proposals.quality[ticket, place] >= max(quality, 0.0):
            best, quality = place, proposals.quality[ticket, place]
    if best < 0:
        return
    proposals.quality[ticket, best] = -1.0
    other = proposals.other[ticket, best]
    old = proposals.partner[other]
    if old >= 0 and not quality > proposals.reached[other]:
        return
    if old >= 0:
        proposals.partner[old] = -1
    proposals.partner[ticket], proposals.partner[other] = other, ticket
    proposals.reached[ticket] = proposals.reached[other] = quality
