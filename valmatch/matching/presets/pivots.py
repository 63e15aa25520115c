"""Lobbies around pivots, with draws that have addresses, as osu! forms them.

Twin: `search` in `valmatch.matching.plain_presets.osu`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from valmatch.draws.addressed import uniform_at
from valmatch.kernels.arrays import Floats, Ints, Words
from valmatch.kernels.compilation import internal, njit
from valmatch.matching.plain_presets.osu import FARTHEST
from valmatch.matching.plain_presets.playing import CANDIDATES, PAIRS
from valmatch.rule_sets.presets.rules import OsuRule


class Users(NamedTuple):
    """Free users who are not banned, in order of rating."""

    number: Ints  # (n,); of their tickets
    # rating, waited: (n,); ratings, and seconds waited
    rating: Floats
    waited: Floats
    met: Ints  # (n, n); whether two have met recently


class Room(NamedTuple):
    """Room for a search."""

    gone: Ints  # (n,); whether a user is in a lobby
    draw: Floats  # (n,); numbers drawn for the candidates of a pivot; infinite of all others
    lobby: Ints  # (n, lobby_size); members by place, the pivot first


class Terms(NamedTuple):
    """Numbers of the rule, see `valmatch.rule_sets.presets.rules.OsuRule`."""

    start: float
    every: float
    most: float
    centre: float
    scale: float
    top: float
    skip: bool


def terms_of(rule: OsuRule) -> Terms:
    """Return the numbers of a rule as kernels take them."""
    return Terms(rule.start, rule.every, rule.most, rule.centre, rule.scale, rule.top, rule.skip)


@internal
def radius(rating: float, waited: float, terms: Terms) -> float:
    """Return how far off the ratings are that a pivot takes."""
    most = terms.most * max(1.0, (rating - terms.top) / terms.most)
    off = (rating - terms.centre) / terms.scale
    by_rating = math.exp(min(off * off, FARTHEST))
    return min(most, terms.start * by_rating * 2.0 ** min(waited / terms.every, FARTHEST))


@njit
def form_lobbies(users: Users, terms: Terms, room: Room, place: Words, update: int) -> int:
    """Form the lobbies of an update; return how many there are.

    Shapes: `place` (3,).
    """
    count, size = users.number.size, room.lobby.shape[1]
    for k in range(count):
        room.gone[k] = 0
    lobbies, pivot = 0, 0
    while pivot < count:
        if room.gone[pivot] != 0:
            pivot += 1
            continue
        if _draw(users, terms, room, place, update, pivot) < size - 1:
            pivot += 1
            continue
        room.lobby[lobbies, 0] = pivot
        room.gone[pivot] = 1
        for k in range(1, size):
            chosen = _least(room, count)
            room.lobby[lobbies, k] = chosen
            room.gone[chosen] = 1
            room.draw[chosen] = np.inf
        lobbies += 1
        pivot = _next(room, pivot, size, lobbies, terms.skip)
    return lobbies


@internal
def _draw(users: Users, terms: Terms, room: Room, place: Words, update: int, pivot: int) -> int:
    """Draw a number for each candidate of a pivot; return how many there are."""
    own = users.rating[pivot]
    reach = radius(own, users.waited[pivot], terms)
    found = 0
    for k in range(users.number.size):
        room.draw[k] = np.inf
        if (
            k != pivot
            and room.gone[k] == 0
            and abs(users.rating[k] - own) <= reach
            and users.met[pivot, k] == 0
        ):
            address = users.number[pivot] * PAIRS + users.number[k]
            room.draw[k] = uniform_at(place, CANDIDATES, address, update)
            found += 1
    return found


@internal
def _least(room: Room, count: int) -> int:
    """Return the first with the least number."""
    best = 0
    for k in range(1, count):
        if room.draw[k] < room.draw[best]:
            best = k
    return best


@internal
def _next(room: Room, pivot: int, size: int, lobbies: int, skip: bool) -> int:
    """Return the next pivot: the list is shorter now, and the place in it is one more.

    Those of the lobby who were before the pivot move the place further on.
    """
    if not skip:
        return pivot + 1
    further = 1
    for k in range(1, size):
        further += room.lobby[lobbies - 1, k] < pivot
    following = pivot
    while further > 0 and following < room.gone.size:
        following += 1
        if following < room.gone.size and room.gone[following] == 0:
            further -= 1
    return following if further > 0 else following + 1
