"""FAForever's queue for teams: at every pop a match around each ticket, the best first.

Tickets are sorted by what their players show. Around each the nearest are gathered, by turns from
below and above, until they fill two teams; these are split, and valued.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from valmatch.inputs.fields import Flag, NonNegative, Number, Positive
from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import internal, njit
from valmatch.matching.living import registry
from valmatch.matching.living.queue import (
    Line,
    People,
    add_member,
    begin_match,
    by_the_clock,
    everybody_joins,
    terms_type,
)
from valmatch.matching.living.registry import Count, TeamSize, number
from valmatch.matching.tickets.layout import COMPLETED

PLAYER = 5000.0  # what a player counts where tickets are split by players and ratings at once


class Pops(registry.Numbers):
    """When FAForever looks, and at whom as a newcomer: of teams and of duels."""

    source = "FAForever/server 665454a, 2024-02-24: server/config.py, server/matchmaker"

    less_deviations: NonNegative = number(
        3.0, "deviations", "How many of its deviations below the mean a player's shown rating is."
    )
    newcomer_games: Count = number(10, "games", "Games up to which a player is a newcomer.")
    pop_first: Positive = number(45.0, "seconds", "When the first pop is.")
    pop_max: Positive = number(90.0, "seconds", "Longest time between two pops.")
    pop_matches: Positive = number(2.5, "matches", "How many a pop aims at.")
    pop_average: Count = number(5, "pops", "Over how many the rate of players is averaged.")
    pop_least: Positive = number(
        1.0,
        "seconds",
        "Shortest time between two pops. The source has none: where more players wait than the"
        " matches aimed at would take, its pops follow each other faster and faster.",
    )


class Numbers(Pops):
    """The numbers of FAForever's rule for teams."""

    value: ClassVar = ("", "quality by the rule")
    team_sizes: ClassVar = (2, 100)
    takes_parties: ClassVar = True

    team_size: TeamSize = number(
        4, "players", "Players of a team; duels have a rule of their own, faf_duels."
    )
    max_imbalance: Positive = number(
        250.0, "points", "Difference of the totals of two teams that costs a quality of 1."
    )
    max_deviation: Positive = number(
        250.0, "points", "Standard deviation of party averages that costs a quality of 1."
    )
    spread_of_players: Flag = number(
        False, "", "Whether that is the deviation of players instead; not in the source."
    )
    rating_peak: Number = number(
        1000.0, "points", "Where most players are; the source takes the mean of recent games."
    )
    minority_range: Positive = number(
        1250.0, "points", "How far from the peak a quality of 1 is earned."
    )
    minority_cap: NonNegative = number(1.0, "", "Most quality that is earned off the peak.")
    time_bonus: NonNegative = number(0.01, "", "Quality that a missed pop earns.")
    time_bonus_cap: NonNegative = number(0.2, "", "Most of it.")
    newbie_bonus: NonNegative = number(0.25, "", "Quality that a missed pop earns a newcomer.")
    newbie_bonus_cap: NonNegative = number(3.0, "", "Most of it.")
    newbie_unless_over: Number = number(
        1400.0, "points", "Rating with which a player in the match takes it from all newcomers."
    )
    min_quality: Number = number(0.4, "", "Least quality of a match.")


Terms = terms_type(Numbers, __name__)


class Tickets(NamedTuple):
    """What a search looks at of tickets."""

    size: Ints  # (n,); players
    newcomers: Ints  # (n,)
    attempts: Ints  # (n,); pops missed
    total: Floats  # (n,); sum of what the players show
    average: Floats  # (n,)
    most: Floats  # (n,); the most that one of them shows
    ratings: Floats  # (n, players of a team); what each shows


class Piles(NamedTuple):
    """Room to gather and split one match of m players."""

    gathered: Ints  # (m,); tickets in the order in which they are gathered
    key: Floats  # (m,); of each pile its number
    inserted: Ints  # (m,); when it was made; -1: it is no more
    left: Ints  # (m, m); the tickets on one side of a pile
    right: Ints  # (m, m); and on the other
    lefts: Ints  # (m,); how many these are
    rights: Ints  # (m,)


class Scratch(NamedTuple):
    """What the rule works with."""

    terms: Any
    tickets: Tickets
    order: Ints  # (room,); who waits, by average
    piles: Piles
    lines: Ints  # (room, m); tickets of the match around each, -1 for none
    first: Ints  # (room,); how many of these are in the first team
    quality: Floats  # (room,); NaN where there is no match


def scratch_of(terms: Any, people: People, room: int) -> Scratch:  # noqa: ANN401
    """Return the arrays that the rule works with."""
    n, most = people.sizes.size, 2 * terms.team_size
    size, newcomers, attempts = np.zeros((3, n), np.int64)
    total, average, highest = np.zeros((3, n))
    ratings = np.zeros((n, terms.team_size))
    gathered, inserted, lefts, rights = np.zeros((4, most), np.int64)
    left, right = np.zeros((2, most, most), np.int64)
    return Scratch(
        terms,
        Tickets(size, newcomers, attempts, total, average, highest, ratings),
        np.zeros(room, np.int64),
        Piles(gathered, np.zeros(most), inserted, left, right, lefts, rights),
        np.zeros((room, most), np.int64),
        np.zeros(room, np.int64),
        np.zeros(room),
    )


# ---------------------------------------------------------------- pops, also of duels


def memory_of(terms: Any) -> Floats:  # noqa: ANN401
    """Return what is remembered: spans and sizes of the last pops, each in its turn."""
    memory = np.zeros(2 * terms.pop_average)
    memory[0] = terms.pop_first
    return memory


@internal
def first_review(line: Line, scratch: Any) -> float:  # noqa: ANN401
    """Return when the first pop is."""
    return scratch.terms.pop_first


joined, refuses = by_the_clock, everybody_joins


@internal
def next_pop(now: float, players: int, team_size: int, line: Line, terms: Any) -> float:  # noqa: ANN401
    """Return when the next pop is, after one with so many players."""
    number, average = line.state[0]["reviews"], terms.pop_average
    line.memory[average + number % average] = players
    spans, sizes = 0.0, 0.0
    for k in range(max(0, number + 1 - average), number + 1):
        spans += line.memory[k % average]
        sizes += line.memory[average + k % average]
    span = terms.pop_max
    if sizes > 0.0:
        wanted = terms.pop_matches * 2 * team_size
        span = max(terms.pop_least, min(terms.pop_max, wanted * spans / sizes))
    line.memory[(number + 1) % average] = span
    return now + span


# ---------------------------------------------------------------- a match around each ticket


@internal
def enter(ticket: int, people: People, scratch: Scratch) -> None:
    """Work out what a ticket shows: lowered ratings and newcomers."""
    tickets, terms = scratch.tickets, scratch.terms
    first, size = people.firsts[ticket], people.sizes[ticket]
    tickets.size[ticket], tickets.newcomers[ticket] = size, 0
    tickets.total[ticket], tickets.most[ticket] = 0.0, -np.inf
    for k in range(size):
        player = first + k
        shown = people.ratings[player] - terms.less_deviations * people.deviations[player]
        tickets.newcomers[ticket] += people.games[player] <= terms.newcomer_games
        tickets.total[ticket] += shown
        tickets.most[ticket] = max(tickets.most[ticket], shown)
        if k < terms.team_size:
            tickets.ratings[ticket, k] = shown
    tickets.average[ticket] = tickets.total[ticket] / size


@njit
def review(now: float, line: Line, scratch: Scratch) -> float:
    """Form matches; return when the next pop is."""
    tickets, order, team_size = scratch.tickets, scratch.order, scratch.terms.team_size
    players, count = 0, 0
    for k in range(line.state[0]["waiting"]):
        ticket = line.waiting[k]
        players += line.sizes[ticket]
        tickets.attempts[ticket] = line.missed[ticket]
        if line.sizes[ticket] > team_size:
            continue
        # By average; of equals, who joined first.
        place = count
        while place > 0 and tickets.average[order[place - 1]] > tickets.average[ticket]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = ticket
        count += 1
    if players >= 2 * team_size:
        for place in range(count):
            _value_around(place, count, scratch)
        line.state[0]["examined"] += count
        best = _best(count, line, scratch)
        while best >= 0:
            begin_match(now, scratch.quality[best], np.nan, line)
            for k in range(2 * team_size):
                if scratch.lines[best, k] >= 0:
                    add_member(scratch.lines[best, k], int(k >= scratch.first[best]), now, line)
            best = _best(count, line, scratch)
    return next_pop(now, players, team_size, line, scratch.terms)


@internal
def _best(count: int, line: Line, scratch: Scratch) -> int:
    """Return the best match whose tickets all wait, of equals the later; -1 for none."""
    best = -1
    for place in range(count):
        value = scratch.quality[place]
        if not value >= scratch.terms.min_quality or (best >= 0 and value < scratch.quality[best]):
            continue
        free = True
        for k in range(scratch.lines.shape[1]):
            member = scratch.lines[place, k]
            free = free and (member < 0 or line.status[member] != COMPLETED)
        if free:
            best = place
    return best


@internal
def would_do(
    match: int, member: int, ticket: int, now: float, line: Line, scratch: Scratch
) -> bool:
    """Return whether a match could have a ticket in place of a member, with the same teams."""
    matched, size, first = line.matches[match], 0, 0
    for k in range(matched["first"], matched["first"] + matched["tickets"]):
        scratch.lines[0, size] = ticket if k == member else line.members[0, k]
        size += 1
        if line.members[1, k] == 0:
            first = size
    quality = quality_of(scratch.tickets, scratch.terms, scratch.lines[0], first, size)
    return quality >= scratch.terms.min_quality


@internal
def _value_around(place: int, count: int, scratch: Scratch) -> None:
    """Make and value the match around a ticket."""
    line = scratch.lines[place]
    line[:] = -1
    scratch.quality[place] = np.nan
    members = _gather(place, count, scratch)
    if members > 0:
        first = _split(scratch.tickets, scratch.terms.team_size, scratch.piles, members, line)
        if first > 0:
            scratch.first[place] = first
            scratch.quality[place] = quality_of(
                scratch.tickets, scratch.terms, line, first, members
            )


@internal
def _gather(place: int, among: int, scratch: Scratch) -> int:
    """Gather tickets around one; return how many, 0 where they do not fill two teams."""
    size, order, gathered = scratch.tickets.size, scratch.order, scratch.piles.gathered
    gathered[0] = order[place]
    count, free = 1, 2 * scratch.terms.team_size - size[order[place]]
    for distance in range(1, among):
        for sign in (-1, 1):
            other = place + sign * distance
            if 0 <= other < among and size[order[other]] <= free:
                gathered[count] = order[other]
                count += 1
                free -= size[order[other]]
                if free == 0:
                    return count
    return count if free == 0 else 0


@internal
def _split(tickets: Tickets, team_size: int, piles: Piles, count: int, line: Ints) -> int:
    """Write two teams; return how many tickets are in the first, 0 where sizes differ."""
    full, nearly = -1, -1
    for k in range(count):
        if tickets.size[piles.gathered[k]] == team_size:
            full = k
        elif tickets.size[piles.gathered[k]] == team_size - 1:
            nearly = k
    first = 1
    if full >= 0:
        line[0] = piles.gathered[full]
    elif nearly >= 0:
        filler = _filler(tickets, team_size, piles, count, nearly)
        if filler < 0:
            return 0
        line[0] = piles.gathered[nearly]
        line[1] = piles.gathered[filler]
        first = 2
    else:
        first = _largest_difference(tickets, piles, count, line)
    players = 0
    for k in range(first):
        players += tickets.size[line[k]]
    if players != team_size:
        return 0
    written = first
    for k in range(count):
        taken = False
        for other in range(first):
            taken |= line[other] == piles.gathered[k]
        if not taken:
            line[written] = piles.gathered[k]
            written += 1
    return first


@internal
def _filler(tickets: Tickets, team_size: int, piles: Piles, count: int, party: int) -> int:
    """Return the single player with whom the mean of a party is nearest to that of all."""
    total = 0.0
    for k in range(count):
        total += tickets.total[piles.gathered[k]]
    mean = total / (2 * team_size)
    of_party = tickets.total[piles.gathered[party]]
    best, nearest = -1, np.inf
    for k in range(count):
        ticket = piles.gathered[k]
        if tickets.size[ticket] == 1 and k != party:
            distance = abs((of_party + tickets.total[ticket]) / team_size - mean)
            if distance < nearest:
                best, nearest = k, distance
    return best


@internal
def _largest_difference(tickets: Tickets, piles: Piles, count: int, line: Ints) -> int:
    """Write one of two teams by the largest-difference method; return its tickets.

    The two largest piles are put on different sides, as their difference, again and again.
    """
    for k in range(count):
        ticket = piles.gathered[k]
        piles.key[k] = PLAYER * tickets.size[ticket] + tickets.total[ticket]
        piles.inserted[k] = k
        piles.left[k, 0] = ticket
        piles.lefts[k] = 1
        piles.rights[k] = 0
    large = 0
    for made in range(count, 2 * count - 1):
        large = _largest(piles, count, -1)
        small = _largest(piles, count, large)
        piles.key[large] -= piles.key[small]
        piles.inserted[large] = made
        piles.inserted[small] = -1
        for k in range(piles.rights[small]):
            piles.left[large, piles.lefts[large]] = piles.right[small, k]
            piles.lefts[large] += 1
        for k in range(piles.lefts[small]):
            piles.right[large, piles.rights[large]] = piles.left[small, k]
            piles.rights[large] += 1
    for k in range(piles.lefts[large]):
        line[k] = piles.left[large, k]
    return piles.lefts[large]


@internal
def _largest(piles: Piles, count: int, but: int) -> int:
    """Return the largest pile but one; of equals the one that was made last."""
    best = -1
    for k in range(count):
        if k == but or piles.inserted[k] < 0:
            continue
        if (
            best < 0
            or piles.key[k] > piles.key[best]
            or (piles.key[k] == piles.key[best] and piles.inserted[k] > piles.inserted[best])
        ):
            best = k
    return best


@internal
def quality_of(tickets: Tickets, terms: Any, line: Ints, first: int, count: int) -> float:  # noqa: ANN401
    """Return the quality of a match."""
    one, other, waited, newcomers, minority = 0.0, 0.0, 0.0, 0.0, 0.0
    most = -np.inf
    for k in range(count):
        ticket = line[k]
        if k < first:
            one += tickets.total[ticket]
        else:
            other += tickets.total[ticket]
        share = tickets.size[ticket] / terms.team_size
        waited += min(tickets.attempts[ticket] * terms.time_bonus, terms.time_bonus_cap) * share
        bonus = min(tickets.attempts[ticket] * terms.newbie_bonus, terms.newbie_bonus_cap)
        newcomers += bonus * tickets.newcomers[ticket] / terms.team_size
        off = (tickets.average[ticket] - terms.rating_peak) / terms.minority_range
        minority += off * off * off * off * share
        most = max(most, tickets.most[ticket])
    if most >= terms.newbie_unless_over:
        newcomers = 0.0
    gap = abs(one - other) / terms.max_imbalance
    spread = _spread(tickets, terms.spread_of_players, line, count) / terms.max_deviation
    fairness = 1 - math.sqrt(gap * gap + spread * spread)
    return fairness + waited + newcomers + min(minority, terms.minority_cap)


@internal
def _spread(tickets: Tickets, of_players: bool, line: Ints, count: int) -> float:
    """Return the standard deviation of averages, or of what players show."""
    number, total, squares = 0, 0.0, 0.0
    for k in range(count):
        for player in range(tickets.size[line[k]] if of_players else 1):
            number += 1
            total += tickets.ratings[line[k], player] if of_players else tickets.average[line[k]]
    mean = total / number
    for k in range(count):
        for player in range(tickets.size[line[k]] if of_players else 1):
            one = tickets.ratings[line[k], player] if of_players else tickets.average[line[k]]
            squares += (one - mean) * (one - mean)
    return math.sqrt(squares / number)
