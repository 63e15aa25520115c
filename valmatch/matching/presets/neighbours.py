"""A match around each ticket: neighbours by rating gathered, split and valued, as FAForever does.

Twin: `valmatch.matching.plain_presets.faf_teams`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import internal, njit
from valmatch.matching.plain_presets.faf_teams import PLAYER, Game, Shown, best_first, looked_at
from valmatch.rule_sets.presets.rules import FafRule
from valmatch.rule_sets.presets.tickets import Party


class Tickets(NamedTuple):
    """Who searches, by average."""

    # size, newcomers, attempts: (n,); see `valmatch.matching.plain_presets.faf_teams.Shown`
    size: Ints
    newcomers: Ints
    attempts: Ints
    # total, average, most: (n,); the same
    total: Floats
    average: Floats
    most: Floats
    ratings: Floats  # (n, players of a team); what each player shows


class Terms(NamedTuple):
    """Numbers of the rule, see `valmatch.rule_sets.presets.rules.FafRule`."""

    team_size: int
    gap: float
    spread: float
    of_players: bool
    peak: float
    minority_range: float
    minority_cap: float
    rate: float
    cap: float
    newcomer_rate: float
    newcomer_cap: float
    unless_over: float


class Room(NamedTuple):
    """Room for one match."""

    gathered: Ints  # (m,); tickets in the order in which they are gathered
    key: Floats  # (m,); of each pile its number
    inserted: Ints  # (m,); when it was made; -1: it is no more
    # left, right: (m, m); the tickets on its two sides
    left: Ints
    right: Ints
    # lefts, rights: (m,); how many these are
    lefts: Ints
    rights: Ints


@njit
def value_neighbours(
    tickets: Tickets,
    count: int,
    terms: Terms,
    room: Room,
    line: Ints,
    first: Ints,
    quality: Floats,
) -> None:
    """Value the match around each ticket.

    Shapes: `line` (n, m); `first` (n,); `quality` (n,).
    """
    for place in range(count):
        quality[place] = np.nan
        line[place, :] = -1
        members = _gather(tickets, count, terms, room, place)
        if members > 0:
            own = _split(tickets, terms, room, members, line[place])
            if own > 0:
                first[place] = own
                quality[place] = quality_of(tickets, terms, line[place], own, members)


@internal
def _gather(tickets: Tickets, among: int, terms: Terms, room: Room, place: int) -> int:
    """Gather tickets around one; return how many, 0 where they do not fill two teams."""
    room.gathered[0] = place
    count, free = 1, 2 * terms.team_size - tickets.size[place]
    for distance in range(1, among):
        for sign in (-1, 1):
            other = place + sign * distance
            if 0 <= other < among and tickets.size[other] <= free:
                room.gathered[count] = other
                count += 1
                free -= tickets.size[other]
                if free == 0:
                    return count
    return count if free == 0 else 0


@internal
def _split(tickets: Tickets, terms: Terms, room: Room, count: int, line: Ints) -> int:
    """Write two teams; return how many tickets are in the first, 0 where sizes differ."""
    full, nearly = -1, -1
    for k in range(count):
        if tickets.size[room.gathered[k]] == terms.team_size:
            full = k
        elif tickets.size[room.gathered[k]] == terms.team_size - 1:
            nearly = k
    own = 1
    if full >= 0:
        line[0] = room.gathered[full]
    elif nearly >= 0:
        filler = _filler(tickets, terms, room, count, nearly)
        if filler < 0:
            return 0
        line[0] = room.gathered[nearly]
        line[1] = room.gathered[filler]
        own = 2
    else:
        own = _largest_difference(tickets, room, count, line)
    players = 0
    for k in range(own):
        players += tickets.size[line[k]]
    if players != terms.team_size:
        return 0
    place = own
    for k in range(count):
        taken = False
        for other in range(own):
            taken |= line[other] == room.gathered[k]
        if not taken:
            line[place] = room.gathered[k]
            place += 1
    return own


@internal
def _filler(tickets: Tickets, terms: Terms, room: Room, count: int, party: int) -> int:
    """Return the single player with whom the mean of a party is nearest to that of all."""
    total = 0.0
    for k in range(count):
        total += tickets.total[room.gathered[k]]
    mean = total / (2 * terms.team_size)
    own = tickets.total[room.gathered[party]]
    best, nearest = -1, np.inf
    for k in range(count):
        one = room.gathered[k]
        if tickets.size[one] == 1 and k != party:
            distance = abs((own + tickets.total[one]) / terms.team_size - mean)
            if distance < nearest:
                best, nearest = k, distance
    return best


@internal
def _largest_difference(tickets: Tickets, room: Room, count: int, line: Ints) -> int:
    """Write one of two teams by the largest-difference method; return its tickets."""
    for k in range(count):
        one = room.gathered[k]
        room.key[k] = PLAYER * tickets.size[one] + tickets.total[one]
        room.inserted[k] = k
        room.left[k, 0] = one
        room.lefts[k] = 1
        room.rights[k] = 0
    large = 0
    for made in range(count, 2 * count - 1):
        large = _largest(room, count, -1)
        small = _largest(room, count, large)
        room.key[large] -= room.key[small]
        room.inserted[large] = made
        room.inserted[small] = -1
        for k in range(room.rights[small]):
            room.left[large, room.lefts[large]] = room.right[small, k]
            room.lefts[large] += 1
        for k in range(room.lefts[small]):
            room.right[large, room.rights[large]] = room.left[small, k]
            room.rights[large] += 1
    for k in range(room.lefts[large]):
        line[k] = room.left[large, k]
    return room.lefts[large]


@internal
def _largest(room: Room, count: int, but: int) -> int:
    """Return the largest pile but one; of equals the one that was made last."""
    best = -1
    for k in range(count):
        if k == but or room.inserted[k] < 0:
            continue
        if (
            best < 0
            or room.key[k] > room.key[best]
            or (room.key[k] == room.key[best] and room.inserted[k] > room.inserted[best])
        ):
            best = k
    return best


@internal
def quality_of(tickets: Tickets, terms: Terms, line: Ints, own: int, count: int) -> float:
    """Return the quality of a match."""
    one, other, waited, newcomers, minority = 0.0, 0.0, 0.0, 0.0, 0.0
    most = -np.inf
    for k in range(count):
        ticket = line[k]
        if k < own:
            one += tickets.total[ticket]
        else:
            other += tickets.total[ticket]
        share = tickets.size[ticket] / terms.team_size
        waited += min(tickets.attempts[ticket] * terms.rate, terms.cap) * share
        by = min(tickets.attempts[ticket] * terms.newcomer_rate, terms.newcomer_cap)
        newcomers += by * tickets.newcomers[ticket] / terms.team_size
        off = (tickets.average[ticket] - terms.peak) / terms.minority_range
        minority += off * off * off * off * share
        most = max(most, tickets.most[ticket])
    if most >= terms.unless_over:
        newcomers = 0.0
    gap = abs(one - other) / terms.gap
    spread = _spread(tickets, terms, line, count) / terms.spread
    fairness = 1 - math.sqrt(gap * gap + spread * spread)
    return fairness + waited + newcomers + min(minority, terms.minority_cap)


@internal
def _spread(tickets: Tickets, terms: Terms, line: Ints, count: int) -> float:
    """Return the standard deviation of averages, or of what players show."""
    number, total, squares = 0, 0.0, 0.0
    for k in range(count):
        for player in range(tickets.size[line[k]] if terms.of_players else 1):
            number += 1
            total += (
                tickets.ratings[line[k], player] if terms.of_players else tickets.average[line[k]]
            )
    mean = total / number
    for k in range(count):
        for player in range(tickets.size[line[k]] if terms.of_players else 1):
            one = tickets.ratings[line[k], player] if terms.of_players else tickets.average[line[k]]
            squares += (one - mean) * (one - mean)
    return math.sqrt(squares / number)


def terms_of(rule: FafRule) -> Terms:
    """Return the numbers of a rule as kernels take them."""
    return Terms(
        rule.team_size,
        rule.gap,
        rule.spread,
        rule.spread_of == "players",
        rule.peak,
        rule.minority_range,
        rule.minority_cap,
        rule.rate,
        rule.cap,
        rule.newcomer_rate,
        rule.newcomer_cap,
        rule.unless_over,
    )


def tickets_of(shown: Sequence[Shown], players: int) -> Tickets:
    """Return tickets as arrays."""
    ratings = np.zeros((len(shown), players))
    for k, one in enumerate(shown):
        ratings[k, : one.size] = one.ratings
    return Tickets(
        np.array([one.size for one in shown], np.int64),
        np.array([one.newcomers for one in shown], np.int64),
        np.array([one.attempts for one in shown], np.int64),
        np.array([one.total for one in shown], np.float64),
        np.array([one.average for one in shown], np.float64),
        np.array([one.most for one in shown], np.float64),
        ratings,
    )


def make_room(most: int) -> Room:
    """Return room for a match of so many players."""
    return Room(
        np.zeros(most, np.int64),
        np.zeros(most),
        np.zeros(most, np.int64),
        np.zeros((most, most), np.int64),
        np.zeros((most, most), np.int64),
        np.zeros(most, np.int64),
        np.zeros(most, np.int64),
    )


def search_neighbours(parties: Sequence[Party], rule: FafRule) -> list[Game]:
    """Return the matches of a search, the best first."""
    shown = [looked_at(number, party, rule) for number, party in enumerate(parties)]
    shown.sort(key=lambda one: one.average)
    count, most = len(shown), 2 * rule.team_size
    room = make_room(most)
    line, first = np.zeros((count, most), np.int64), np.zeros(count, np.int64)
    quality = np.zeros(count)
    tickets = tickets_of(shown, rule.team_size)
    value_neighbours(tickets, count, terms_of(rule), room, line, first, quality)
    found: list[tuple[float, int, Game]] = []
    for place, value in enumerate(quality.tolist()):
        if value >= rule.at_least:
            members = [shown[k] for k in line[place].tolist() if k >= 0]
            own = int(first[place])
            found.append((value, place, Game((tuple(members[:own]), tuple(members[own:])), value)))
    return best_first(found)
