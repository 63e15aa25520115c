"""A pool of lichess: waves at a distance, or at once when so many wait, in which pairs are chosen.

As many pairs as can be are made, with the least total of points against them.
"""

import math
from typing import Annotated, ClassVar

import numpy as np

from valmatch.draws.streams import uniform_at
from valmatch.inputs.fields import Flag, NonNegative, Number, whole
from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import kernel, part
from valmatch.matching.living import registry
from valmatch.matching.living.pairing import pair
from valmatch.matching.living.queue import (
    SOURCE,
    MatchmakerState,
    Values,
    add_member,
    begin_match,
    other_member,
    rule,
)
from valmatch.matching.living.registry import Count, Tick, number

THOUSANDTHS = 1000  # the time up to a wave is longer by a whole number of them
LOW, MIDDLE = 1000, 1500  # ratings from which other limits hold
GOOD, POOR, BAD = -2, -5, -12  # sits of the polite, of those who are not, and of the rude
FREE_SITS, SIT_COST = -3, 20.0  # beyond so many each sit lowers the most credit by so much


class Numbers(registry.Numbers):
    """The numbers of the rule of a pool, 1+0 or 3+0."""

    title = "lichess, pools"
    source = "lila d99cb8d: MatchMaking, PoolActor, PoolList; scalalib 3151c43: WMMatching"
    value: ClassVar = ("points", "points against the pair")
    clock: ClassVar = "wave_seconds"

    wave_seconds: Tick = number(12.0, "seconds", "Time between two waves.")
    wave_jitter: NonNegative = number(1.0, "seconds", "Most by which it is longer, at random.")
    wave_players: Annotated[int, *whole(2, 10**6)] = number(
        40, "players", "With how many waiting a wave comes at once."
    )
    gap: NonNegative = number(1.0, "", "Points of a point of rating between two.")
    shared_range: Number = number(
        -200.0, "points", "Points of two who both gave a range of ratings.", "ranges"
    )
    manners: Flag = number(
        True, "", "Whether it counts how they leave games; nobody leaves them in the models."
    )
    provisional: Number = number(-30.0, "points", "Points of two provisional ratings.")
    credit: NonNegative = number(
        12.0, "points", "Taken off for a wave that the one who missed fewer has missed."
    )
    credit_cap: NonNegative = number(400.0, "points", "Largest credit for missed waves.")
    limit_low: NonNegative = number(
        130.0, "points", "Most points where the lower rating is below 1000."
    )
    limit_middle: NonNegative = number(
        100.0, "points", "Most points where the lower rating is from 1000 to 1499."
    )
    limit_divisor: Count = number(
        15, "", "By what the lower rating, from 1500 on, is divided for the most points."
    )
    ranges: Flag = number(
        True, "", "Whether nobody meets a rating out of the range given.", "ranges"
    )
    just_paired: Flag = number(
        True, "", "Whether nobody joins again before the wave after a pairing.", "requeuing"
    )


# Waves.


@part
def first_review(state: MatchmakerState, numbers: Values) -> float:
    """Return when the first wave is."""
    return _next_wave(0.0, 0, state, numbers)


@part
def _next_wave(now: float, wave: int, state: MatchmakerState, numbers: Values) -> float:
    """Return when the wave of a number is."""
    drawn = math.floor(THOUSANDTHS * uniform_at(state.rng_key, SOURCE, 0, wave))
    return now + numbers.wave_seconds + numbers.wave_jitter * drawn / THOUSANDTHS


@part
def joined(state: MatchmakerState, numbers: Values) -> bool:
    """Return whether there are enough for a wave at once."""
    return state.counters[0]["waiting"] >= numbers.wave_players


@part
def refuses(ticket: int, state: MatchmakerState, numbers: Values) -> bool:
    """Return whether the user has just been paired."""
    last = state.last[state.users[ticket]]
    return numbers.just_paired and last > 0 and last == state.counters[0]["reviews"]


@kernel(allocates=True)
def review(now: float, state: MatchmakerState, numbers: Values) -> float:
    """Pair as many as can be; return when the next wave is."""
    counters = state.counters[0]
    waiting, wave = state.waiting[: counters["waiting"]], counters["reviews"] + 1
    points = score_pairs(waiting, state, numbers)
    partners = pair(points)
    for k in range(waiting.size):
        other = partners[k]
        if other > k:
            begin_match(now, points[k, other], np.nan, state)
            for team in range(2):
                ticket = waiting[other if team else k]
                add_member(ticket, team, now, state)
                state.last[state.users[ticket]] = wave
    counters["examined"] += waiting.size * (waiting.size - 1) / 2
    return _next_wave(now, wave, state, numbers)


@part
def could_replace(
    match: int, member: int, ticket: int, now: float, state: MatchmakerState, numbers: Values
) -> bool:
    """Return whether a pair could have a ticket in place of a member."""
    return not np.isnan(score(other_member(match, member, state), ticket, state, numbers))


# Points.


@kernel(allocates=True)
def score_pairs(tickets: Ints, state: MatchmakerState, numbers: Values) -> Floats:
    """Return the points against each pair; NaN: it is not allowed."""
    points = np.full((tickets.size, tickets.size), np.nan)
    for i in range(tickets.size):
        for j in range(i):
            points[i, j] = points[j, i] = score(tickets[i], tickets[j], state, numbers)
    return points


@part
def score(i: int, j: int, state: MatchmakerState, numbers: Values) -> float:
    """Return the points against a pair of tickets, NaN where it is not allowed."""
    parties = state.parties
    first, second = _rating(i, state), _rating(j, state)
    if numbers.ranges and not (
        parties.low[i] <= second <= parties.high[i] and parties.low[j] <= first <= parties.high[j]
    ):
        return np.nan
    points = numbers.gap * abs(first - second)
    points -= min(_credit(i, state, numbers), _credit(j, state, numbers))
    if parties.ranged[i] and parties.ranged[j]:
        points += numbers.shared_range
    if numbers.manners:
        points -= _manners(parties.sits[i], parties.sits[j])
    if parties.unrated[parties.firsts[i]] and parties.unrated[parties.firsts[j]]:
        points += numbers.provisional
    lower = min(first, second)
    limit = numbers.limit_low if lower < LOW else numbers.limit_middle
    if lower >= MIDDLE or lower < 0:
        limit = float(max(lower, 0) // numbers.limit_divisor)
    return points if points <= limit else np.nan


@part
def _rating(ticket: int, state: MatchmakerState) -> int:
    """Return the rating of a ticket, which is a whole number."""
    return int(np.rint(state.parties.ratings[state.parties.firsts[ticket]]))


@part
def _credit(ticket: int, state: MatchmakerState, numbers: Values) -> float:
    """Return the points for the waves that a ticket missed."""
    sits = min(state.parties.sits[ticket], FREE_SITS) - FREE_SITS
    most = numbers.credit_cap + SIT_COST * sits
    return max(0.0, min(numbers.credit * state.missed[ticket], most))


@part
def _manners(first: int, second: int) -> int:
    """Return the points for two who leave games alike."""
    if max(first, second) <= BAD:
        return 60
    if min(first, second) >= GOOD or max(first, second) <= POOR:
        return 30
    return -20 * min(10, abs(first - second))


lichess = rule(
    "lichess",
    Numbers,
    review,
    could_replace,
    first_review=first_review,
    joined=joined,
    refuses=refuses,
)
