"""ShieldBattery's queue: at every tick all rosters of those who are looked at, the best first.

All numbers are of single precision, in the order of operations of the source. A roster whose wait,
variance and latency leave too little is given up before it is split into teams.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from valmatch.draws.streams import uniform_at
from valmatch.inputs.fields import Flag, NonNegative, Number, Positive, Whole
from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import internal, njit
from valmatch.matching.living import registry
from valmatch.matching.living.queue import (
    SOURCE,
    Line,
    People,
    add_member,
    begin_match,
    everybody_joins,
    terms_type,
)
from valmatch.matching.living.registry import TeamSize, Tick, number
from valmatch.matching.tickets.layout import COMPLETED

Singles = NDArray[np.float32]
Single: Any = np.float32


class Numbers(registry.Numbers):
    """The numbers of ShieldBattery's rule."""

    source = "ShieldBattery 6320997, 2026-08-22: server-rs/src/matchmaking"
    value: ClassVar = ("seconds", "quality by the rule")
    team_sizes: ClassVar = (1, 3)
    believes: ClassVar = True
    relaxes: ClassVar = True

    team_size: TeamSize = number(1, "players", "Players of a team.")
    less_deviations: NonNegative = number(
        1.0, "deviations", "How many of its deviations a rating is lowered by."
    )
    sample: Annotated[int, Field(ge=2, le=24), *Whole] = number(
        20, "tickets", "Most that are looked at in a tick: of more, a uniform sample."
    )
    variance_weight: NonNegative = number(
        0.005, "seconds / point^2", "What the sample variance of the ratings costs."
    )
    win_weight: NonNegative = number(
        50.0, "seconds", "What a win chance costs for each 1 that it is off 1/2."
    )
    logistic: Positive = number(400.0, "points", "Difference at which ten to one is bet.")
    latency_weight: NonNegative = number(30.0, "seconds", "What a step costs.", "latencies")
    latency_scale: NonNegative = number(0.9, "", "Share of a latency that counts.", "latencies")
    latency_step: Positive = number(30.0, "ms", "Length of a step.", "latencies")
    latency_free: Annotated[int, Field(ge=0, le=10**6), *Whole] = number(
        3, "steps", "How many cost nothing.", "latencies"
    )
    latency_unknown: NonNegative = number(
        150.0, "ms", "Between regions of which nothing is known.", "latencies"
    )
    wait_weight: NonNegative = number(1.0, "", "What a second earns that the longest waited.")
    others_weight: NonNegative = number(
        0.0, "", "Share of the waits of the others that orders matches; not in the source."
    )
    threshold: Number = number(-30.0, "seconds", "Least quality of a match.")
    comfortable: NonNegative = number(
        2.0, "", "Players of a match so many times are enough of a population."
    )
    relax: NonNegative = number(
        15.0, "seconds", "By how much the least quality falls for each player missing to it."
    )
    shared_maps: Flag = number(
        True, "", "Whether players who all picked maps need one in common.", "maps"
    )
    window: Positive = number(
        60.0, "seconds", "Of which a peak of the queue is taken for the population."
    )
    half_life: Positive = number(1200.0, "seconds", "After which a peak counts half.")
    tick: Tick = number(6.0, "seconds", "Time between two ticks.")

    @property
    def clock(self) -> str:
        """The number that says how many seconds reviews are apart at most."""
        return "tick"


FOLDED, PEAK, ENDS, IS_FOLDED = range(4)
"""What is remembered of the population: its estimate, the peak of a window, its end."""

QUALITY, VARIANCE, CHANCE, LATENCY = range(4)  # columns of `Rosters.numbers`


Terms = terms_type(Numbers, __name__)


class Weights(NamedTuple):
    """Numbers of the rule in single precision."""

    less_deviations: np.float32
    variance_weight: np.float32
    win_weight: np.float32
    logistic: np.float32
    latency_weight: np.float32
    latency_scale: np.float32
    latency_step: np.float32
    latency_free: np.float32
    wait_weight: np.float32
    others_weight: np.float32
    threshold: np.float32
    relax: np.float32
    enough: np.float32  # players of a population that is not small
    window_weight: np.float32  # of a window of the population


class Pool(NamedTuple):
    """Who is looked at."""

    tickets: Ints  # (sample,)
    rating: Singles  # (sample,); lowered
    wait: Singles  # (sample,); seconds
    far: Singles  # (sample, sample); milliseconds between two
    maps: Ints  # (sample,); map picks as bits; -1 of who takes any


class Rosters(NamedTuple):
    """Rosters that may start."""

    members: Ints  # (m, players); places in the pool: of the first team, then of the second
    numbers: Singles  # (m, 4)


class Scratch(NamedTuple):
    """What the rule works with."""

    terms: Any
    weights: Weights
    rating: Singles  # (n,); lowered
    region: Ints  # (n,)
    maps: Ints  # (n,)
    half: Singles  # (n,); half of the milliseconds to the region
    between: Singles  # (regions, regions); half of those between regions
    pool: Pool
    drawn: Floats  # (room,); numbers for a sample
    roster: Ints  # (players,)
    team: Ints  # (players of a team,)
    rosters: Rosters
    single: Rosters  # room for one
    key: Singles  # (rosters,); by what they are ordered


def scratch_of(terms: Any, people: People, room: int) -> Scratch:  # noqa: ANN401
    """Return the arrays that the rule works with."""
    n, players, looked = people.sizes.size, 2 * terms.team_size, min(terms.sample, room)
    most = max(1, math.comb(looked, players))
    between = np.where(np.isnan(people.between), terms.latency_unknown, people.between)
    weight = Single(1) - Single(0.5) ** Single(Single(terms.window) / Single(terms.half_life))
    enough = Single(Single(terms.comfortable) * Single(players))
    weights = {**terms._asdict(), "enough": enough, "window_weight": weight}
    rating, half = np.zeros((2, n), np.float32)
    region, maps = np.zeros((2, n), np.int64)
    tickets, picks = np.zeros((2, looked), np.int64)
    lowered, wait = np.zeros((2, looked), np.float32)
    far = np.zeros((looked, looked), np.float32)
    return Scratch(
        terms,
        Weights(*(Single(weights[name]) for name in Weights._fields)),
        rating,
        region,
        maps,
        half,
        between.astype(np.float32) * Single(0.5),
        Pool(tickets, lowered, wait, far, picks),
        np.zeros(room),
        np.zeros(players, np.int64),
        np.zeros(terms.team_size, np.int64),
        Rosters(np.zeros((most, players), np.int64), np.zeros((most, 4), np.float32)),
        Rosters(np.zeros((1, players), np.int64), np.zeros((1, 4), np.float32)),
        np.zeros(most, np.float32),
    )


def memory_of(terms: Any) -> Floats:  # noqa: ANN401
    """Return what is remembered of the population at first."""
    return np.array([0.0, 0.0, terms.window, 0.0])


refuses = everybody_joins


@internal
def first_review(line: Line, scratch: Scratch) -> float:
    """Return when the first tick is."""
    return scratch.terms.tick


@internal
def joined(ticket: int, line: Line, scratch: Scratch) -> bool:
    """Take note of the size of the queue."""
    line.memory[PEAK] = max(line.memory[PEAK], float(line.state[0]["waiting"]))
    return False


@internal
def enter(ticket: int, people: People, scratch: Scratch) -> None:
    """Note the lowered rating of a ticket, and where it is."""
    player = people.firsts[ticket]
    lowered = Single(scratch.weights.less_deviations * Single(people.deviations[player]))
    scratch.rating[ticket] = Single(Single(people.ratings[player]) - lowered)
    scratch.region[ticket] = people.regions[ticket]
    scratch.maps[ticket] = people.maps[ticket] if scratch.terms.shared_maps else -1
    scratch.half[ticket] = Single(Single(people.round_trips[ticket]) * Single(0.5))


@njit
def review(now: float, line: Line, scratch: Scratch) -> float:
    """Form matches; return when the next tick is."""
    state, players, rosters = line.state[0], scratch.roster.size, scratch.rosters
    _fold(now, line, scratch)
    least = least_quality(line, scratch)
    state["relaxed"] += int(least < scratch.weights.threshold)
    following = (state["reviews"] + 2) * scratch.terms.tick
    count = _look(now, line, scratch)
    if count < players:
        return following
    found = value_rosters(count, least, scratch)
    valued = 1.0
    for k in range(players):
        valued = valued * (count - k) / (k + 1)
    state["examined"] += np.rint(valued)
    for k in range(found):
        scratch.key[k] = rosters.numbers[k, QUALITY]
        if scratch.weights.others_weight > 0:
            scratch.key[k] = Single(scratch.key[k] + _extra(k, scratch))
    best = _best(found, line, scratch)
    while best >= 0:
        numbers = rosters.numbers[best]
        begin_match(now, float(numbers[QUALITY]), float(numbers[CHANCE]), line)
        for k in range(players):
            ticket = scratch.pool.tickets[rosters.members[best, k]]
            add_member(ticket, int(k >= scratch.team.size), now, line)
        best = _best(found, line, scratch)
    return following


@internal
def _best(found: int, line: Line, scratch: Scratch) -> int:
    """Return the best roster whose tickets all wait, of equals the first; -1 for none."""
    best = -1
    for roster in range(found):
        if best >= 0 and not scratch.key[roster] > scratch.key[best]:
            continue
        free = True
        for k in range(scratch.roster.size):
            ticket = scratch.pool.tickets[scratch.rosters.members[roster, k]]
            free = free and line.status[ticket] != COMPLETED
        if free:
            best = roster
    return best


@internal
def _extra(roster: int, scratch: Scratch) -> np.float32:
    """Return the credit of those of a roster who waited less than the longest."""
    total, before = Single(0), Single(-1)
    left = scratch.roster.size - 1
    # From the least on; of equals all at once.
    while left > 0:
        least, equals = Single(np.inf), 0
        for k in range(scratch.roster.size):
            wait = scratch.pool.wait[scratch.rosters.members[roster, k]]
            if wait > before and wait < least:
                least, equals = wait, 0
            equals += int(wait == least)
        for _ in range(min(equals, left)):
            total = Single(total + least)
        left -= equals
        before = least
    return Single(scratch.weights.others_weight * total)


@internal
def would_do(
    match: int, member: int, ticket: int, now: float, line: Line, scratch: Scratch
) -> bool:
    """Return whether a match could have a ticket in place of a member, in teams of their own."""
    first, tickets = line.matches[match]["first"], scratch.pool.tickets
    # In order of joining.
    for k in range(scratch.roster.size):
        one = ticket if first + k == member else line.members[0, first + k]
        place = k
        while place > 0 and tickets[place - 1] > one:
            tickets[place] = tickets[place - 1]
            place -= 1
        tickets[place] = one
    for k in range(scratch.roster.size):
        scratch.roster[k] = k
        look_at(k, now, line, scratch)
    return value_roster(least_quality(line, scratch), scratch, scratch.single, 0)


# ---------------------------------------------------------------- population, sample


@internal
def _fold(now: float, line: Line, scratch: Scratch) -> None:
    """Fold the windows of the population that are over."""
    memory = line.memory
    while now >= memory[ENDS]:
        peak = Single(memory[PEAK])
        if memory[IS_FOLDED] != 0.0:
            folded = Single(memory[FOLDED])
            change = Single(scratch.weights.window_weight * Single(peak - folded))
            memory[FOLDED] = Single(folded + change)
        elif memory[PEAK] > 0.0:
            memory[FOLDED] = peak
            memory[IS_FOLDED] = 1.0
        memory[PEAK] = line.state[0]["waiting"]
        memory[ENDS] += scratch.terms.window


@internal
def least_quality(line: Line, scratch: Scratch) -> np.float32:
    """Return the least quality of a match, which falls where the population is small."""
    memory = line.memory
    known = Single(memory[FOLDED] if memory[IS_FOLDED] != 0.0 else memory[PEAK])
    missing = max(Single(0), Single(scratch.weights.enough - known))
    return Single(scratch.weights.threshold - Single(scratch.weights.relax * missing))


@internal
def _look(now: float, line: Line, scratch: Scratch) -> int:
    """Choose who is looked at: of too many, those with the smallest draws; return how many."""
    state, drawn, sample = line.state[0], scratch.drawn, scratch.pool.tickets.size
    count = state["waiting"]
    for k in range(count):
        drawn[k] = np.inf
    if count > sample:
        for k in range(count):
            number = line.numbers[line.waiting[k]]
            drawn[k] = uniform_at(line.rng_key, SOURCE, number, state["reviews"])
        for _ in range(sample):
            least = 0
            for k in range(1, count):
                if drawn[k] < drawn[least]:
                    least = k
            drawn[least] = np.inf
    looked = 0
    for k in range(count):
        if drawn[k] == np.inf:
            scratch.pool.tickets[looked] = line.waiting[k]
            look_at(looked, now, line, scratch)
            looked += 1
    return looked


@internal
def look_at(place: int, now: float, line: Line, scratch: Scratch) -> None:
    """Note what there is to know of a ticket of the pool, after those in the places before it."""
    pool, half = scratch.pool, scratch.half
    ticket = pool.tickets[place]
    pool.rating[place] = scratch.rating[ticket]
    pool.wait[place] = Single(now - line.times[ticket])
    pool.maps[place] = scratch.maps[ticket]
    for k in range(place):
        other = pool.tickets[k]
        far = Single(0)
        if scratch.region[ticket] >= 0 and scratch.region[other] >= 0:
            between = scratch.between[scratch.region[other], scratch.region[ticket]]
            far = Single(Single(half[other] + between) + half[ticket])
        pool.far[k, place] = far
        pool.far[place, k] = far


# ---------------------------------------------------------------- rosters


@njit
def value_rosters(count: int, least: np.float32, scratch: Scratch) -> int:
    """Value all rosters of the first of a pool; return how many may start."""
    roster = scratch.roster
    players, found = roster.size, 0
    for k in range(players):
        roster[k] = k
    while True:
        if value_roster(least, scratch, scratch.rosters, found):
            found += 1
        place = players - 1
        while place >= 0 and roster[place] == count - players + place:
            place -= 1
        if place < 0:
            return found
        roster[place] += 1
        for k in range(place + 1, players):
            roster[k] = roster[k - 1] + 1


@internal
def value_roster(least: np.float32, scratch: Scratch, rosters: Rosters, row: int) -> bool:
    """Value the roster at hand in a row of rosters; return whether it may start."""
    pool, weights, roster = scratch.pool, scratch.weights, scratch.roster
    common, picky = -1, True
    longest, mean, squares, worst = Single(0), Single(0), Single(0), Single(0)
    for k in range(roster.size):
        common &= pool.maps[roster[k]]
        picky &= pool.maps[roster[k]] >= 0
        longest = max(longest, pool.wait[roster[k]])
        rating = pool.rating[roster[k]]
        off = Single(rating - mean)
        mean = Single(mean + Single(off / Single(k + 1)))
        squares = Single(squares + Single(off * Single(rating - mean)))
        for other in range(k + 1, roster.size):
            worst = max(worst, pool.far[roster[k], roster[other]])
    if picky and common == 0:
        return False
    variance = Single(squares / Single(roster.size - 1))
    waited = Single(weights.wait_weight * longest)
    skill = Single(weights.variance_weight * variance)
    counted = Single(Single(weights.latency_scale * worst) / weights.latency_step)
    steps = Single(max(weights.latency_free, Single(math.ceil(counted))) - weights.latency_free)
    far = Single(weights.latency_weight * steps)
    # Rounding keeps the order of sums: with a balance of 0 the quality is no less.
    if Single(waited - Single(skill + far)) < least:
        return False
    members, size = rosters.members[row], scratch.team.size
    _split(pool.rating, roster, scratch.team, members)
    gap = Single(_strength(pool.rating, members[size:]) - _strength(pool.rating, members[:size]))
    power = Single(10) ** Single(gap / weights.logistic)
    chance = Single(Single(1) / Single(Single(1) + Single(power)))
    balance = Single(weights.win_weight * abs(Single(Single(0.5) - chance)))
    quality = Single(waited - Single(Single(skill + balance) + far))
    rosters.numbers[row, QUALITY] = quality
    rosters.numbers[row, VARIANCE] = variance
    rosters.numbers[row, CHANCE] = chance
    rosters.numbers[row, LATENCY] = worst
    return quality >= least


@internal
def _strength(rating: Singles, members: Ints) -> np.float32:
    """Return the root of the mean square of a team."""
    total = Single(0)
    for k in range(members.size):
        one = rating[members[k]]
        total = Single(total + Single(one * one))
    return Single(math.sqrt(Single(total / Single(members.size))))


@internal
def _split(rating: Singles, roster: Ints, team: Ints, members: Ints) -> None:
    """Write teams of least difference, the first entry in the first; of equals the first."""
    players, size = roster.size, team.size
    least = Single(np.inf)
    for k in range(size):
        team[k] = k
    while True:
        one, two = Single(0), Single(0)
        seat = 0
        for k in range(players):
            square = Single(rating[roster[k]] * rating[roster[k]])
            if seat < size and team[seat] == k:
                one = Single(one + square)
                seat += 1
            else:
                two = Single(two + square)
        first = Single(math.sqrt(Single(one / Single(size))))
        second = Single(math.sqrt(Single(two / Single(size))))
        off = Single(abs(Single(first - second)))
        if off < least:
            least = off
            _write(roster, team, members)
        place = size - 1
        while place > 0 and team[place] == players - size + place:
            place -= 1
        if place <= 0:
            return
        team[place] += 1
        for k in range(place + 1, size):
            team[k] = team[k - 1] + 1


@internal
def _write(roster: Ints, team: Ints, members: Ints) -> None:
    """Write the first team and then the second."""
    seat, other = 0, team.size
    for k in range(roster.size):
        if seat < team.size and team[seat] == k:
            members[seat] = roster[k]
            seat += 1
        else:
            members[other] = roster[k]
            other += 1
