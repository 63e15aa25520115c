"""Rounds of proposals by the quality of a draw, as FAForever pairs its duels.

Twin: `valmatch.matching.plain_presets.faf_duels`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import internal, njit
from valmatch.matching.plain_presets.faf_duels import Duel, matched, near_order, threshold
from valmatch.rule_sets.presets.rules import FafRule
from valmatch.rule_sets.presets.tickets import Party


class Tickets(NamedTuple):
    """Who searches, in order of joining."""

    # mean, deviation: (n,); ratings by which duels are valued
    mean: Floats
    deviation: Floats
    least: Floats  # (n,); the least quality that each takes
    order: Ints  # (n,); tickets by place: those at most `near` places apart are compared


class Lists(NamedTuple):
    """Whom each ticket may ask."""

    other: Ints  # (n, 2 * near); in the order in which they are found
    quality: Floats  # (n, 2 * near); -1 where one has been asked
    size: Ints  # (n,); how many there are
    partner: Ints  # (n,); with whom each is paired, -1 for none
    held: Floats  # (n,); the quality of that


@internal
def draw_quality(tickets: Tickets, beta: float, first: int, second: int) -> float:
    """Return the chance of a draw of two, as a share of that of two known equals."""
    own = 2 * beta * beta
    one, other = tickets.deviation[first], tickets.deviation[second]
    total = own + (one * one + other * other)
    gap = tickets.mean[first] - tickets.mean[second]
    return math.sqrt(own / total) * math.exp(-gap * gap / (2 * total))


@njit
def propose(tickets: Tickets, count: int, lists: Lists, beta: float, near: int) -> None:
    """Pair tickets; `lists.partner` and `lists.held` become the result."""
    for k in range(count):
        lists.size[k] = 0
        lists.partner[k] = -1
        lists.held[k] = 0.0
    for place in range(count):
        first = tickets.order[place]
        for other in range(place + 1, min(count, place + 1 + near)):
            second = tickets.order[other]
            quality = draw_quality(tickets, beta, first, second)
            if quality >= tickets.least[first] and quality >= tickets.least[second]:
                _add(lists, first, second, quality)
                _add(lists, second, first, quality)
    rounds = 0
    for k in range(count):
        rounds = max(rounds, lists.size[k])
    for _ in range(rounds):
        for k in range(count):
            if lists.partner[k] < 0:
                _ask(lists, k)


@internal
def _add(lists: Lists, ticket: int, other: int, quality: float) -> None:
    size = lists.size[ticket]
    lists.other[ticket, size] = other
    lists.quality[ticket, size] = quality
    lists.size[ticket] = size + 1


@internal
def _ask(lists: Lists, ticket: int) -> None:
    """Let a ticket ask its best that it has not asked; of equals, the last found."""
    best, quality = -1, -1.0
    for place in range(lists.size[ticket]):
        if lists.quality[ticket, place] >= max(quality, 0.0):
            best, quality = place, lists.quality[ticket, place]
    if best < 0:
        return
    lists.quality[ticket, best] = -1.0
    other = lists.other[ticket, best]
    old = lists.partner[other]
    if old >= 0 and not quality > lists.held[other]:
        return
    if old >= 0:
        lists.partner[old] = -1
    lists.partner[ticket] = other
    lists.partner[other] = ticket
    lists.held[ticket] = quality
    lists.held[other] = quality


def search_proposals(parties: Sequence[Party], rule: FafRule) -> list[Duel]:
    """Return the pairs of a search, by their earlier tickets."""
    count = len(parties)
    ratings = [matched(party.players[0], rule) for party in parties]
    order, near = near_order(ratings, rule)
    tickets = Tickets(
        np.array([one.mean for one in ratings], np.float64),
        np.array([one.deviation for one in ratings], np.float64),
        np.array([threshold(party, rule) for party in parties], np.float64),
        np.array(order, np.int64),
    )
    width = max(1, min(count, 2 * near))
    lists = Lists(
        np.zeros((count, width), np.int64),
        np.zeros((count, width)),
        np.zeros(count, np.int64),
        np.zeros(count, np.int64),
        np.zeros(count),
    )
    propose(tickets, count, lists, rule.beta, near)
    return [
        Duel(k, int(other), float(lists.held[k]))
        for k, other in enumerate(lists.partner)
        if other > k
    ]
