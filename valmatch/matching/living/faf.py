"""FAForever's queue for teams: at every pop a match around each ticket, the best first.

Tickets are sorted by what their players show. Around each the nearest are gathered, by turns from
below and above, until they fill two teams; these are split, and valued.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from valmatch.inputs.fields import Flag, NonNegative, Number, Positive
from valmatch.kernels.arrays import Floats, Ints, Records
from valmatch.kernels.compilation import kernel, part
from valmatch.matching.living import registry
from valmatch.matching.living.queue import (
    MatchmakerState,
    Values,
    add_member,
    begin_match,
    by_the_clock,
    nobody_refused,
)
from valmatch.matching.living.registry import Count, TeamSize, kernel_type, number
from valmatch.matching.tickets.layout import COMPLETED

PLAYER = 5000.0  # what a player counts where tickets are split by players and ratings at once


class Pops(registry.Numbers):
    """When FAForever looks, and at whom as a newcomer: of teams and of duels."""

    source = "FAForever/server 665454a, 2024-02-24: server/config.py, server/matchmaker"

    less_deviations: NonNegative = number(
        3.0,
        "deviations",
        "How many of its deviations below the mean a player's shown rating is.",
        "deviations",
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


KernelNumbers = kernel_type(Numbers, __name__)


# When there is a pop, also of duels.


def memory_of(numbers: Values) -> Floats:
    """Return what is remembered: spans and sizes of the last pops, each in its turn."""
    memory = np.zeros(2 * numbers.pop_average)
    memory[0] = numbers.pop_first
    return memory


@part
def first_review(state: MatchmakerState, numbers: Values) -> float:
    """Return when the first pop is."""
    return numbers.pop_first


joined, refuses = by_the_clock, nobody_refused


@part
def next_pop(
    now: float, players: int, team_size: int, state: MatchmakerState, numbers: Values
) -> float:
    """Return when the next pop is, after one with so many players."""
    pop, average = state.counters[0]["reviews"], numbers.pop_average
    state.memory[average + pop % average] = players
    spans, sizes = 0.0, 0.0
    for k in range(max(0, pop + 1 - average), pop + 1):
        spans += state.memory[k % average]
        sizes += state.memory[average + k % average]
    span = numbers.pop_max
    if sizes > 0.0:
        wanted = numbers.pop_matches * 2 * team_size
        span = max(numbers.pop_least, min(numbers.pop_max, wanted * spans / sizes))
    state.memory[(pop + 1) % average] = span
    return now + span


# What a ticket shows.

SHOWN = np.dtype(
    [
        ("ticket", "i8"),
        ("size", "i8"),  # players
        ("newcomers", "i8"),
        ("attempts", "i8"),  # pops missed
        ("total", "f8"),  # of what the players show
        ("average", "f8"),
        ("most", "f8"),  # that one of them shows
    ]
)


@part
def shown_by(player: int, state: MatchmakerState, numbers: Values) -> float:
    """Return what a player shows."""
    parties = state.parties
    return parties.ratings[player] - numbers.less_deviations * parties.deviations[player]


@part
def show(ticket: int, shown: Any, state: MatchmakerState, numbers: Values) -> None:  # noqa: ANN401
    """Note what a ticket shows."""
    first, size = state.parties.firsts[ticket], state.parties.sizes[ticket]
    shown["ticket"], shown["size"], shown["attempts"] = ticket, size, state.missed[ticket]
    newcomers, total, most = 0, 0.0, -np.inf
    for player in range(first, first + size):
        rating = shown_by(player, state, numbers)
        newcomers += state.parties.games[player] <= numbers.newcomer_games
        total += rating
        most = max(most, rating)
    shown["newcomers"], shown["total"], shown["most"] = newcomers, total, most
    shown["average"] = total / size


# A match around each ticket.


@kernel(allocates=True)
def review(now: float, state: MatchmakerState, numbers: Values) -> float:
    """Form matches; return when the next pop is."""
    waiting, team_size = state.waiting[: state.counters[0]["waiting"]], numbers.team_size
    players, count, tickets = 0, 0, np.empty(waiting.size, SHOWN)
    for ticket in waiting:
        players += state.parties.sizes[ticket]
        if state.parties.sizes[ticket] <= team_size:
            show(ticket, tickets[count], state, numbers)
            count += 1
    if players >= 2 * team_size:
        # By average; of equals, who joined first.
        tickets = tickets[np.argsort(tickets["average"][:count], kind="mergesort")]
        piles, matches = new_piles(2 * team_size), np.empty((count, 2 * team_size), np.int64)
        firsts, quality = np.empty(count, np.int64), np.full(count, np.nan)
        for place in range(count):
            members = _gather(place, tickets, team_size, piles)
            matches[place] = -1
            firsts[place] = _split(members, tickets, team_size, piles, matches[place])
            if firsts[place] > 0:
                match = matches[place, :members]
                quality[place] = quality_of(match, firsts[place], tickets, state, numbers)
        state.counters[0]["examined"] += count
        # The best match whose tickets all wait, of equals the later.
        for place in np.argsort(quality, kind="mergesort")[::-1]:
            if quality[place] >= numbers.min_quality:
                _play(matches[place], firsts[place], quality[place], now, tickets, state)
    return next_pop(now, players, team_size, state, numbers)


@part
def _play(
    match: Ints, first: int, quality: float, now: float, tickets: Records, state: MatchmakerState
) -> None:
    """Form a match if all its tickets still wait."""
    for k in match:
        if k >= 0 and state.status[tickets[k]["ticket"]] == COMPLETED:
            return
    begin_match(now, quality, np.nan, state)
    for place in range(match.size):
        if match[place] >= 0:
            add_member(tickets[match[place]]["ticket"], int(place >= first), now, state)


@kernel(allocates=True)
def could_replace(
    match: int, member: int, ticket: int, now: float, state: MatchmakerState, numbers: Values
) -> bool:
    """Return whether a match could have a ticket in place of a member, with the same teams."""
    start, size = state.matches[match]["first"], state.matches[match]["tickets"]
    tickets, first = np.empty(size, SHOWN), 0
    for k in range(size):
        other = ticket if start + k == member else state.members[0, start + k]
        show(other, tickets[k], state, numbers)
        if state.members[1, start + k] == 0:
            first = k + 1
    return quality_of(np.arange(size), first, tickets, state, numbers) >= numbers.min_quality


@part
def quality_of(
    match: Ints, first: int, tickets: Records, state: MatchmakerState, numbers: Values
) -> float:
    """Return the quality of a match, of whose tickets the first ones are a team."""
    one, other, waited, newcomers, minority = 0.0, 0.0, 0.0, 0.0, 0.0
    most = -np.inf
    for k in range(match.size):
        ticket = tickets[match[k]]
        if k < first:
            one += ticket["total"]
        else:
            other += ticket["total"]
        share = ticket["size"] / numbers.team_size
        waited += min(ticket["attempts"] * numbers.time_bonus, numbers.time_bonus_cap) * share
        bonus = min(ticket["attempts"] * numbers.newbie_bonus, numbers.newbie_bonus_cap)
        newcomers += bonus * ticket["newcomers"] / numbers.team_size
        off = (ticket["average"] - numbers.rating_peak) / numbers.minority_range
        minority += off * off * off * off * share
        most = max(most, ticket["most"])
    if most >= numbers.newbie_unless_over:
        newcomers = 0.0
    gap = abs(one - other) / numbers.max_imbalance
    spread = _spread(match, tickets, state, numbers) / numbers.max_deviation
    fairness = 1 - math.sqrt(gap * gap + spread * spread)
    return fairness + waited + newcomers + min(minority, numbers.minority_cap)


@part
def _spread(match: Ints, tickets: Records, state: MatchmakerState, numbers: Values) -> float:
    """Return the standard deviation of averages, or of what players show."""
    mean = squares = 0.0
    for centred in range(2):
        count, total = 0, 0.0
        for k in match:
            ticket = tickets[k]
            first = state.parties.firsts[ticket["ticket"]]
            for player in range(first, first + ticket["size"]):
                rating = ticket["average"]
                if numbers.spread_of_players:
                    rating = shown_by(player, state, numbers)
                elif player > first:
                    break
                count += 1
                total += (rating - mean) * (rating - mean) if centred else rating
        if centred:
            squares = total / count
        else:
            mean = total / count
    return math.sqrt(squares)


# Two teams of the tickets around one.


class Piles(NamedTuple):
    """Room to gather and split one match of m players."""

    gathered: Ints  # (m,); tickets in the order in which they are gathered
    key: Floats  # (m,); of each pile its number
    inserted: Ints  # (m,); when it was made; -1: it is no more
    left: Ints  # (m, m); the tickets on one side of a pile
    right: Ints  # (m, m); and on the other
    lefts: Ints  # (m,); how many these are
    rights: Ints  # (m,)


@kernel(allocates=True)
def new_piles(players: int) -> Piles:
    """Return room for a match of so many players."""
    left, right = np.empty((players, players), np.int64), np.empty((players, players), np.int64)
    row = np.empty((4, players), np.int64)
    return Piles(row[0], np.empty(players), row[1], left, right, row[2], row[3])


@part
def _gather(place: int, tickets: Records, team_size: int, piles: Piles) -> int:
    """Gather tickets around one; return how many, 0 where they do not fill two teams."""
    piles.gathered[0] = place
    count, free = 1, 2 * team_size - tickets[place]["size"]
    for distance in range(1, tickets.size):
        for sign in (-1, 1):
            other = place + sign * distance
            if 0 <= other < tickets.size and tickets[other]["size"] <= free:
                piles.gathered[count] = other
                count += 1
                free -= tickets[other]["size"]
                if free == 0:
                    return count
    return 0


@part
def _split(count: int, tickets: Records, team_size: int, piles: Piles, match: Ints) -> int:
    """Write two teams; return how many tickets are in the first, 0 where sizes differ."""
    gathered, full, nearly = piles.gathered[:count], -1, -1
    for k in range(count):
        if tickets[gathered[k]]["size"] == team_size:
            full = k
        elif tickets[gathered[k]]["size"] == team_size - 1:
            nearly = k
    first = 0
    if full >= 0:
        match[0], first = gathered[full], 1
    elif nearly >= 0:
        filler = _filler(nearly, gathered, tickets, team_size)
        if filler >= 0:
            match[0], match[1], first = gathered[nearly], gathered[filler], 2
    elif count > 0:
        first = _largest_difference(count, tickets, piles, match)
    players = 0
    for k in match[:first]:
        players += tickets[k]["size"]
    if players != team_size:
        return 0
    written = first
    for k in gathered:
        taken = False
        for other in match[:first]:
            taken |= other == k
        if not taken:
            match[written] = k
            written += 1
    return first


@part
def _filler(party: int, gathered: Ints, tickets: Records, team_size: int) -> int:
    """Return the single player with whom the mean of a party is nearest to that of all."""
    total = 0.0
    for k in gathered:
        total += tickets[k]["total"]
    mean = total / (2 * team_size)
    best, nearest = -1, np.inf
    for k in range(gathered.size):
        ticket = tickets[gathered[k]]
        if ticket["size"] == 1 and k != party:
            pair = tickets[gathered[party]]["total"] + ticket["total"]
            distance = abs(pair / team_size - mean)
            if distance < nearest:
                best, nearest = k, distance
    return best


@part
def _largest_difference(count: int, tickets: Records, piles: Piles, match: Ints) -> int:
    """Write one of two teams by the largest-difference method; return its tickets.

    The two largest piles are put on different sides, as their difference, again and again.
    """
    for k in range(count):
        ticket = tickets[piles.gathered[k]]
        piles.key[k] = PLAYER * ticket["size"] + ticket["total"]
        piles.inserted[k] = k
        piles.left[k, 0] = piles.gathered[k]
        piles.lefts[k], piles.rights[k] = 1, 0
    large = 0
    for made in range(count, 2 * count - 1):
        large = _largest(piles, count, -1)
        small = _largest(piles, count, large)
        piles.key[large] -= piles.key[small]
        piles.inserted[large], piles.inserted[small] = made, -1
        for k in range(piles.rights[small]):
            piles.left[large, piles.lefts[large]] = piles.right[small, k]
            piles.lefts[large] += 1
        for k in range(piles.lefts[small]):
            piles.right[large, piles.rights[large]] = piles.left[small, k]
            piles.rights[large] += 1
    for k in range(piles.lefts[large]):
        match[k] = piles.left[large, k]
    return piles.lefts[large]


@part
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
