"""FAForever's queues: of teams a match around each ticket, the best first; duels by proposals."""

import math
from typing import Any, ClassVar

import numpy as np

from valmatch.inputs.fields import Flag, NonNegative, Number, Positive, Share
from valmatch.kernels.arrays import Floats, Ints, Records
from valmatch.kernels.compilation import kernel, part
from valmatch.matching.living import registry
from valmatch.matching.living.queue import (
    MatchmakerState,
    Values,
    add_member,
    begin_match,
    is_taken,
    other_member,
    rule,
)
from valmatch.matching.living.registry import Count, TeamSize, number

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

    title = "FAForever, teams"
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
    time_bonus_cap: NonNegative = number(0.2, "", "Largest sum of that bonus.")
    newbie_bonus: NonNegative = number(0.25, "", "Quality that a missed pop earns a newcomer.")
    newbie_bonus_cap: NonNegative = number(3.0, "", "Largest sum of that bonus.")
    newbie_unless_over: Number = number(
        1400.0, "points", "Rating with which a player in the match takes it from all newcomers."
    )
    min_quality: Number = number(0.4, "", "Least quality of a match.")


class Duels(Pops):
    """The numbers of FAForever's rule for duels."""

    title = "FAForever, one against one"
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
    top_cap: NonNegative = number(0.3, "", "Most that missed pops lower it.")
    newcomer_step: NonNegative = number(0.1, "", "The same for newcomers.")
    newcomer_cap: NonNegative = number(0.6, "", "Most that missed pops lower it.")
    other_step: NonNegative = number(0.05, "", "The same for all others.")
    other_cap: NonNegative = number(0.25, "", "Most that missed pops lower it.")
    near_from: Count = number(
        30, "tickets", "From how many waiting on only neighbours by rating are compared."
    )
    uncertain: NonNegative = number(
        250.0,
        "points",
        "Deviation from which a ticket is then sorted as if it had a rating of 0.",
        "deviations",
    )


def memory_of(numbers: Values) -> Floats:
    """Return what is remembered: spans and sizes of the last pops, each in its turn."""
    memory = np.zeros(2 * numbers.pop_average)
    memory[0] = numbers.pop_first
    return memory


@part
def first_review(state: MatchmakerState, numbers: Values) -> float:
    """Return when the first pop is."""
    return numbers.pop_first


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


# A match around each ticket: the nearest by what they show, by turns from below and above, until
# they fill two teams, which are split and valued.


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
        matches, firsts = np.full((count, 2 * team_size), -1), np.empty(count, np.int64)
        quality = np.full(count, np.nan)
        for k in range(count):
            gathered = _gather(k, tickets, team_size)
            match = matches[k, : gathered.size]
            firsts[k] = _split(gathered, tickets, team_size, match)
            if firsts[k] > 0:
                quality[k] = quality_of(match, firsts[k], tickets, state, numbers)
        state.counters[0]["examined"] += count
        # The best match whose tickets all wait, of equals the later.
        for best in np.argsort(quality, kind="mergesort")[::-1]:
            match = matches[best][matches[best] >= 0]
            taken = is_taken(tickets["ticket"][match], state)
            if quality[best] >= numbers.min_quality and not taken:
                begin_match(now, quality[best], np.nan, state)
                for k in range(match.size):
                    add_member(tickets[match[k]]["ticket"], int(k >= firsts[best]), now, state)
    return next_pop(now, players, team_size, state, numbers)


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
    total, other_total, waited, newcomers, minority, most = 0.0, 0.0, 0.0, 0.0, 0.0, -np.inf
    for k in range(match.size):
        ticket = tickets[match[k]]
        if k < first:
            total += ticket["total"]
        else:
            other_total += ticket["total"]
        share = ticket["size"] / numbers.team_size
        waited += min(ticket["attempts"] * numbers.time_bonus, numbers.time_bonus_cap) * share
        bonus = min(ticket["attempts"] * numbers.newbie_bonus, numbers.newbie_bonus_cap)
        newcomers += bonus * ticket["newcomers"] / numbers.team_size
        off = (ticket["average"] - numbers.rating_peak) / numbers.minority_range
        minority += off * off * off * off * share
        most = max(most, ticket["most"])
    if most >= numbers.newbie_unless_over:
        newcomers = 0.0
    gap = abs(total - other_total) / numbers.max_imbalance
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
            ticket, first = tickets[k], state.parties.firsts[tickets[k]["ticket"]]
            values = ticket["size"] if numbers.spread_of_players else 1
            for player in range(first, first + values):
                rating = ticket["average"]
                if numbers.spread_of_players:
                    rating = shown_by(player, state, numbers)
                count += 1
                total += (rating - mean) * (rating - mean) if centred else rating
        mean, squares = total / count, total / count
    return math.sqrt(squares)


# Two teams of the tickets around one.


@kernel(allocates=True)
def _gather(centre: int, tickets: Records, team_size: int) -> Ints:
    """Return the tickets around one that fill two teams with it, in the order of taking."""
    gathered, count, free = np.empty(2 * team_size, np.int64), 1, 2 * team_size
    gathered[0] = centre
    free -= tickets[centre]["size"]
    for distance in range(1, tickets.size):
        for other in (centre - distance, centre + distance):
            if 0 <= other < tickets.size and tickets[other]["size"] <= free:
                gathered[count] = other
                count += 1
                free -= tickets[other]["size"]
                if free == 0:
                    return gathered[:count]
    return gathered[:0]


@kernel(allocates=True)
def _split(gathered: Ints, tickets: Records, team_size: int, match: Ints) -> int:
    """Write two teams; return how many tickets are in the first, 0 where sizes differ."""
    full, nearly, first, players, total = -1, -1, 0, 0, 0.0
    for k in gathered:
        total += tickets[k]["total"]
        if tickets[k]["size"] == team_size:
            full = k
        elif tickets[k]["size"] == team_size - 1:
            nearly = k
    if full >= 0:
        match[0], first = full, 1
    elif nearly >= 0:  # with the single by whom the mean is nearest to that of all
        nearest = np.inf
        for k in gathered:
            if tickets[k]["size"] == 1 and k != nearly:
                pair = tickets[nearly]["total"] + tickets[k]["total"]
                distance = abs(pair / team_size - total / (2 * team_size))
                if distance < nearest:
                    match[0], match[1], first, nearest = nearly, k, 2, distance
    elif gathered.size > 0:
        first = _largest_difference(gathered, tickets, match)
    for k in match[:first]:
        players += tickets[k]["size"]
    if players != team_size:
        return 0
    written = first
    for k in gathered:
        if not (match[:first] == k).any():
            match[written] = k
            written += 1
    return first


@kernel(allocates=True)
def _largest_difference(gathered: Ints, tickets: Records, match: Ints) -> int:
    """Write one of two teams by the largest-difference method; return its tickets."""
    # The two largest piles are put on different sides, as their difference, again and again.
    count, large = gathered.size, 0
    keys, made = np.empty(count), np.arange(count)  # when each was made; -1: it is no more
    sides, sizes = np.empty((count, 2, count), np.int64), np.zeros((count, 2), np.int64)
    for k in range(count):
        ticket = tickets[gathered[k]]
        keys[k] = PLAYER * ticket["size"] + ticket["total"]
        sides[k, 0, 0], sizes[k, 0] = gathered[k], 1
    for moment in range(count, 2 * count - 1):
        large = _largest(keys, made, -1)
        small = _largest(keys, made, large)
        keys[large] -= keys[small]
        made[large], made[small] = moment, -1
        for side in range(2):
            start, more = sizes[large, side], sizes[small, 1 - side]
            sides[large, side, start : start + more] = sides[small, 1 - side, :more]
            sizes[large, side] += more
    first = sizes[large, 0]
    match[:first] = sides[large, 0, :first]
    return first


@part
def _largest(keys: Floats, made: Ints, but: int) -> int:
    """Return the largest pile but one; of equals the one that was made last."""
    best = -1
    for k in range(keys.size):
        later = best < 0 or (keys[k], made[k]) > (keys[best], made[best])
        if k != but and made[k] >= 0 and later:
            best = k
    return best


# Duels: at every pop, rounds in which every ticket without a partner asks the one it likes best of
# those not asked yet, who takes it where that is strictly better than the partner at hand.

DUELLIST = np.dtype(
    [
        ("mean", "f8"),  # of the rating by which a ticket is matched
        ("deviation", "f8"),
        ("least", "f8"),  # quality that it takes
    ]
)


@part
def show_duellist(ticket: int, duellist: Any, state: MatchmakerState, numbers: Values) -> None:  # noqa: ANN401
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
    deviation, other = first["deviation"], second["deviation"]
    total = known + (deviation * deviation + other * other)
    return math.sqrt(known / total) * math.exp(-gap * gap / (2 * total))


@kernel(allocates=True)
def review_duels(now: float, state: MatchmakerState, numbers: Values) -> float:
    """Form matches; return when the next pop is."""
    waiting = state.waiting[: state.counters[0]["waiting"]]
    count, near = waiting.size, waiting.size
    if count >= 2:
        duellists, order = np.empty(count, DUELLIST), np.arange(count)
        for k in range(count):
            show_duellist(waiting[k], duellists[k], state, numbers)
        if count >= numbers.near_from:  # then only neighbours by rating are compared
            sure = duellists["deviation"] < numbers.uncertain
            keys = np.where(sure, duellists["mean"], 0.0)
            order = np.argsort(keys, kind="mergesort")
            near = (math.frexp(max(16, count))[1] - 1) // 2
        partners, reached = propose(order, near, duellists, numbers.beta)
        for k in range(count):
            state.counters[0]["examined"] += min(count - 1 - k, near)
            if partners[k] > k:
                begin_match(now, reached[k], np.nan, state)
                add_member(waiting[k], 0, now, state)
                add_member(waiting[partners[k]], 1, now, state)
    return next_pop(now, count, 1, state, numbers)


@kernel(allocates=True)
def could_replace_in_duel(
    match: int, member: int, ticket: int, now: float, state: MatchmakerState, numbers: Values
) -> bool:
    """Return whether a duel could have a ticket in place of a member."""
    pair = np.empty(2, DUELLIST)
    show_duellist(other_member(match, member, state), pair[0], state, numbers)
    show_duellist(ticket, pair[1], state, numbers)
    quality = draw_quality(pair[0], pair[1], numbers.beta)
    return quality >= max(pair[0]["least"], pair[1]["least"])


@kernel(allocates=True)
def propose(order: Ints, near: int, duellists: Records, beta: float) -> tuple[Ints, Floats]:
    """Return the partner of each duellist, -1 for none, and the quality of that."""
    count = order.size
    width = min(count, 2 * near)
    others, qualities = np.empty((count, width), np.int64), np.empty((count, width))
    sizes, partners, reached = np.zeros(count, np.int64), np.full(count, -1), np.zeros(count)
    for rank in range(count):
        for second in order[rank + 1 : rank + 1 + near]:
            first = order[rank]
            quality = draw_quality(duellists[first], duellists[second], beta)
            if quality >= max(duellists[first]["least"], duellists[second]["least"]):
                for asks, other in ((first, second), (second, first)):
                    others[asks, sizes[asks]], qualities[asks, sizes[asks]] = other, quality
                    sizes[asks] += 1
    for _ in range(sizes.max()):  # as many rounds as the longest list has entries
        for asks in range(count):
            best, quality = -1, 0.0  # of equals the one that was listed last
            for k in range(sizes[asks]):
                if partners[asks] < 0 and qualities[asks, k] >= quality:
                    best, quality = k, qualities[asks, k]
            if best < 0:
                continue
            qualities[asks, best] = -1.0  # it has been asked
            other = others[asks, best]
            old = partners[other]
            if old < 0 or quality > reached[other]:
                if old >= 0:
                    partners[old] = -1
                partners[asks], partners[other] = other, asks
                reached[asks] = reached[other] = quality
    return partners, reached


faf = rule("faf", Numbers, review, could_replace, memory_of, first_review)
faf_duels = rule("faf_duels", Duels, review_duels, could_replace_in_duel, memory_of, first_review)
