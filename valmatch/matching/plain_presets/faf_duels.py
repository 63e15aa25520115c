"""FAForever's search for 1v1: tickets propose to each other by the quality of a draw."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from valmatch.rule_sets.presets.rules import Expansion, FafRule
from valmatch.rule_sets.presets.tickets import Party, Rated


class Rating(NamedTuple):
    """A rating by which duels are valued."""

    mean: float
    deviation: float


class Duel(NamedTuple):
    """A pair of tickets and its quality."""

    first: int
    second: int
    quality: float


def shown(player: Rated, rule: FafRule) -> float:
    """Return the rating that a player shows."""
    assert player.rating is not None
    assert player.deviation is not None
    return player.rating - rule.less_deviations * player.deviation


def matched(player: Rated, rule: FafRule) -> Rating:
    """Return the rating that a player is matched by: of a newcomer, blended with a low one."""
    assert player.rating is not None
    assert player.deviation is not None
    games, most = player.games, rule.newcomer_games
    mean = player.rating
    if games <= most:
        mean = ((most - games) * rule.newcomer_mean + games * mean) / most
    return Rating(mean, player.deviation)


def added(values: Iterable[float]) -> float:
    """Return a sum from left to right, as that of kernels: Python's own differs by its version."""
    total = 0.0
    for one in values:
        total += one
    return total


def draw_quality(teams: Sequence[Sequence[Rating]], beta: float) -> float:
    """Return the chance of a draw of two teams, as a share of that of two known equals."""
    ratings = [one for team in teams for one in team]
    own = len(ratings) * beta * beta
    total = own + added(one.deviation * one.deviation for one in ratings)
    gap = added(one.mean for one in teams[0]) - added(one.mean for one in teams[1])
    return math.sqrt(own / total) * math.exp(-gap * gap / (2 * total))


def threshold(party: Party, rule: FafRule) -> float:
    """Return the least quality that a ticket takes."""
    player = party.players[0]
    own = matched(player, rule)
    expansion = _expansion(player, rule)
    falls = min(party.attempts * expansion.step, expansion.cap)
    return max(0.0, rule.of_own * draw_quality(((own,), (own,)), rule.beta) - falls)


def _expansion(player: Rated, rule: FafRule) -> Expansion:
    if shown(player, rule) >= rule.top:
        return rule.expand_top
    return rule.expand_newcomers if player.games <= rule.newcomer_games else rule.expand_others


def search_duels(parties: Sequence[Party], rule: FafRule) -> list[Duel]:
    """Return the pairs of a search, by their earlier tickets."""
    ratings = [matched(party.players[0], rule) for party in parties]
    limits = [threshold(party, rule) for party in parties]
    lists: list[list[tuple[float, int]]] = [[] for _ in parties]
    for first, second in _compared(ratings, rule):
        quality = draw_quality(((ratings[first],), (ratings[second],)), rule.beta)
        if quality >= limits[first] and quality >= limits[second]:
            lists[first].append((quality, second))
            lists[second].append((quality, first))
    partners = _proposals([_preferred(one) for one in lists])
    return [
        Duel(k, other, draw_quality(((ratings[k],), (ratings[other],)), rule.beta))
        for k, other in enumerate(partners)
        if other > k
    ]


def near_order(ratings: Sequence[Rating], rule: FafRule) -> tuple[list[int], int]:
    """Return tickets by place, and how many places apart two may be that are compared."""
    count = len(ratings)
    if count < rule.near_from:
        return list(range(count)), count
    keys = [0.0 if one.deviation >= rule.uncertain else one.mean for one in ratings]
    order = sorted(range(count), key=lambda k: keys[k])
    return order, int(math.log2(max(16, count))) // 2


def _compared(ratings: Sequence[Rating], rule: FafRule) -> list[tuple[int, int]]:
    """Return the pairs that are looked at, in this order."""
    order, near = near_order(ratings, rule)
    count = len(order)
    return [
        (order[place], order[other])
        for place in range(count)
        for other in range(place + 1, min(count, place + 1 + near))
    ]


def _preferred(found: Sequence[tuple[float, int]]) -> list[tuple[float, int]]:
    """Return whom a ticket likes, best first; of equals, the last found first."""
    return sorted(found, key=lambda one: one[0])[::-1]


def _proposals(lists: Sequence[Sequence[tuple[float, int]]]) -> list[int]:
    """Return the partner of each ticket, -1 for none, after rounds of proposals."""
    partners = [-1] * len(lists)
    quality = [0.0] * len(lists)
    asked = [0] * len(lists)
    for _ in range(max(map(len, lists), default=0)):
        for k, preferred in enumerate(lists):
            if partners[k] >= 0 or asked[k] >= len(preferred):
                continue
            value, other = preferred[asked[k]]
            asked[k] += 1
            old = partners[other]
            if old >= 0 and not value > quality[other]:
                continue
            if old >= 0:
                partners[old] = -1
            partners[k], partners[other] = other, k
            quality[k] = quality[other] = value
    return partners
