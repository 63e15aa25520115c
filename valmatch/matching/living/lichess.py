"""A pool of lichess: waves at a distance, or at once when so many wait, in which pairs are chosen.

Points against a pair grow with the difference of ratings, and fall with waves that both missed. As
many pairs as can be are made, with the least total of points.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from pydantic import Field

from valmatch.draws.streams import uniform_at
from valmatch.inputs.fields import Flag, NonNegative, Number, Whole
from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import internal, njit
from valmatch.matching.living import registry
from valmatch.matching.living.pairing import Forest, make_forest, pair
from valmatch.matching.living.queue import (
    ANY,
    SOURCE,
    Line,
    People,
    add_member,
    begin_match,
    no_memory,
    other_member,
    terms_type,
)
from valmatch.matching.living.registry import Count, Tick, number

THOUSANDTHS = 1000  # the time up to a wave is longer by a whole number of them
LOW, MIDDLE = 1000, 1500  # ratings from which other limits hold
GOOD, POOR, BAD = -2, -5, -12  # sits of the polite, of those who are not, and of the rude
FREE_SITS, SIT_COST = -3, 20.0  # beyond so many each sit lowers the most credit by so much


class Numbers(registry.Numbers):
    """The numbers of the rule of a pool, 1+0 or 3+0."""

    source = "lila d99cb8d: MatchMaking, PoolActor, PoolList; scalalib 3151c43: WMMatching"
    value: ClassVar = ("points", "points against the pair")

    wave_seconds: Tick = number(12.0, "seconds", "Time between two waves.")
    wave_jitter: NonNegative = number(1.0, "seconds", "Most by which it is longer, at random.")
    wave_players: Annotated[int, Field(ge=2, le=10**6), *Whole] = number(
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
    credit_cap: NonNegative = number(400.0, "points", "Most of it.")
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

    @property
    def teams(self) -> tuple[int, int]:
        """How many teams a match has, and of how many players."""
        return 2, 1

    @property
    def clock(self) -> str:
        """The number that says how many seconds reviews are apart at most."""
        return "wave_seconds"


Terms = terms_type(Numbers, __name__)


class Pool(NamedTuple):
    """What a wave looks at of tickets."""

    rating: Ints  # (n,)
    sit: Ints  # (n,); how often they let games sit, at most 0
    low: Ints  # (n,); lowest rating that they want to meet
    high: Ints  # (n,); and the highest
    ranged: Ints  # (n,); whether they gave a range
    provisional: Ints  # (n,); whether the rating is provisional
    credit: Floats  # (n,); points for the waves missed


class Scratch(NamedTuple):
    """What the rule works with."""

    terms: Any
    pool: Pool
    points: Floats  # (room, room); against pairs; NaN: not allowed
    partners: Ints  # (room,)
    forest: Forest


def scratch_of(terms: Any, people: People, room: int) -> Scratch:  # noqa: ANN401
    """Return the arrays that the rule works with."""
    rating, sit, low, high, ranged, provisional = np.zeros((6, people.sizes.size), np.int64)
    return Scratch(
        terms,
        Pool(rating, sit, low, high, ranged, provisional, np.zeros(rating.size)),
        np.zeros((room, room)),
        np.zeros(room, np.int64),
        make_forest(room),
    )


memory_of = no_memory


@internal
def first_review(line: Line, scratch: Scratch) -> float:
    """Return when the first wave is."""
    return _next_wave(0.0, 0, line, scratch)


@internal
def _next_wave(now: float, wave: int, line: Line, scratch: Scratch) -> float:
    """Return when the wave of a number is."""
    drawn = math.floor(THOUSANDTHS * uniform_at(line.rng_key, SOURCE, 0, wave))
    jitter = scratch.terms.wave_jitter * drawn / THOUSANDTHS
    return now + scratch.terms.wave_seconds + jitter


@internal
def enter(ticket: int, people: People, scratch: Scratch) -> None:
    """Note what a ticket is in a wave: its rating, and whom it wants to meet."""
    pool, player = scratch.pool, people.firsts[ticket]
    pool.rating[ticket] = int(np.rint(people.ratings[player]))
    pool.low[ticket] = people.low[ticket] if scratch.terms.ranges else -ANY
    pool.high[ticket] = people.high[ticket] if scratch.terms.ranges else ANY
    pool.ranged[ticket] = people.ranged[ticket]
    pool.provisional[ticket] = people.unrated[player]


@internal
def joined(ticket: int, line: Line, scratch: Scratch) -> bool:
    """Return whether there are enough for a wave at once."""
    return line.state[0]["waiting"] >= scratch.terms.wave_players


@internal
def refuses(ticket: int, line: Line, scratch: Scratch) -> bool:
    """Return whether the user has just been paired."""
    last = line.last[line.users[ticket]]
    return scratch.terms.just_paired and last > 0 and last == line.state[0]["reviews"]


@njit
def review(now: float, line: Line, scratch: Scratch) -> float:
    """Pair as many as can be; return when the next wave is."""
    state, count = line.state[0], line.state[0]["waiting"]
    for k in range(count):
        give_credit(line.waiting[k], line.missed[line.waiting[k]], scratch)
    score_pairs(line.waiting, count, scratch)
    pair(scratch.forest, scratch.points, count, scratch.partners)
    for k in range(count):
        other = scratch.partners[k]
        if other > k:
            begin_match(now, scratch.points[k, other], np.nan, line)
            for team in range(2):
                ticket = line.waiting[other if team else k]
                add_member(ticket, team, now, line)
                line.last[line.users[ticket]] = state["reviews"] + 1
    state["examined"] += count * (count - 1) / 2
    return _next_wave(now, state["reviews"] + 1, line, scratch)


@internal
def would_do(
    match: int, member: int, ticket: int, now: float, line: Line, scratch: Scratch
) -> bool:
    """Return whether a pair could have a ticket in place of a member."""
    return not np.isnan(score(other_member(match, member, line), ticket, scratch))


# ---------------------------------------------------------------- points


@internal
def give_credit(ticket: int, missed: int, scratch: Scratch) -> None:
    """Give a ticket the points for the waves that it missed."""
    sits = min(scratch.pool.sit[ticket], FREE_SITS) - FREE_SITS
    most = scratch.terms.credit_cap + SIT_COST * sits
    scratch.pool.credit[ticket] = max(0.0, min(scratch.terms.credit * missed, most))


@njit
def score_pairs(tickets: Ints, count: int, scratch: Scratch) -> None:
    """Write the points against each pair of the first tickets; NaN: it is not allowed."""
    for i in range(count):
        scratch.points[i, i] = np.nan
        for j in range(i):
            points = score(tickets[i], tickets[j], scratch)
            scratch.points[i, j] = points
            scratch.points[j, i] = points


@internal
def score(i: int, j: int, scratch: Scratch) -> float:
    """Return the points against a pair, NaN where it is not allowed."""
    pool, terms = scratch.pool, scratch.terms
    first, second = pool.rating[i], pool.rating[j]
    if not (pool.low[i] <= second <= pool.high[i] and pool.low[j] <= first <= pool.high[j]):
        return np.nan
    points = terms.gap * abs(first - second)
    points -= min(pool.credit[i], pool.credit[j])
    if pool.ranged[i] != 0 and pool.ranged[j] != 0:
        points += terms.shared_range
    if terms.manners:
        points -= _manners(pool.sit[i], pool.sit[j])
    if pool.provisional[i] != 0 and pool.provisional[j] != 0:
        points += terms.provisional
    return points if points <= _limit(min(first, second), terms) else np.nan


@internal
def _limit(lower: int, terms: Any) -> float:  # noqa: ANN401
    """Return the most points of a pair by its lower rating; 0 below a rating of 0."""
    if lower < 0:
        return 0.0
    if lower < LOW:
        return terms.limit_low
    return terms.limit_middle if lower < MIDDLE else float(lower // terms.limit_divisor)


@internal
def _manners(first: int, second: int) -> int:
    """Return the points for two who leave games alike."""
    if first >= GOOD and second >= GOOD:
        return 30
    if first <= BAD and second <= BAD:
        return 60
    if first <= POOR and second <= POOR:
        return 30
    return -20 * min(10, abs(first - second))
