"""ShieldBattery's queue: at every tick all rosters of those who are looked at, the best first.

All numbers are of single precision, in the order of operations of the source.
"""

import math
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.draws.streams import uniform_at
from valmatch.inputs.fields import Flag, NonNegative, Number, Positive, whole
from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import kernel, part
from valmatch.matching.living import registry
from valmatch.matching.living.queue import (
    SOURCE,
    MatchmakerState,
    Values,
    add_member,
    begin_match,
    is_taken,
    rule,
)
from valmatch.matching.living.registry import TeamSize, Tick, number

Singles = NDArray[np.float32]
Single: Any = np.float32


class Numbers(registry.Numbers):
    """The numbers of ShieldBattery's rule."""

    title = "ShieldBattery"
    source = "ShieldBattery 6320997, 2026-08-22: server-rs/src/matchmaking"
    value: ClassVar = ("seconds", "quality by the rule")
    clock: ClassVar = "tick"
    team_sizes: ClassVar = (1, 3)
    believes: ClassVar = True
    relaxes: ClassVar = True

    team_size: TeamSize = number(1, "players", "Players of a team.")
    less_deviations: NonNegative = number(
        1.0, "deviations", "How many of its deviations a rating is lowered by.", "deviations"
    )
    sample: Annotated[int, *whole(2, 24)] = number(
        20, "tickets", "Most that are looked at in a tick: of more, a uniform sample."
    )
    variance_weight: NonNegative = number(
        0.005, "seconds / point^2", "What the sample variance of the ratings costs."
    )
    win_weight: NonNegative = number(
        50.0, "seconds", "What a win chance costs for each 1 that it is off 1/2."
    )
    logistic: Positive = number(400.0, "points", "Difference at which ten to one is bet.")
    latency_weight: NonNegative = number(30.0, "seconds", "Cost of a latency step.", "latencies")
    latency_scale: NonNegative = number(0.9, "", "Share of a latency that counts.", "latencies")
    latency_step: Positive = number(30.0, "ms", "Length of a step.", "latencies")
    latency_free: Annotated[int, *whole(0, 10**6)] = number(
        3, "steps", "Latency steps without cost.", "latencies"
    )
    latency_unknown: NonNegative = number(
        150.0, "ms", "Latency between regions without data.", "latencies"
    )
    wait_weight: NonNegative = number(1.0, "", "Quality per second of the longest wait.")
    others_weight: NonNegative = number(
        0.0, "", "Share of the waits of the others that orders matches; not in the source."
    )
    threshold: Number = number(-30.0, "seconds", "Least quality of a match.")
    comfortable: NonNegative = number(
        2.0, "", "Players that are enough, as a multiple of those of a match."
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


# The population, and what is asked of a match where it is small.

FOLDED, PEAK, ENDS, IS_FOLDED, WEIGHT = range(5)
"""What is remembered: the estimate, the peak of a window, its end, and what a window weighs."""


def memory_of(numbers: Values) -> Floats:
    """Return what is remembered of the population at first."""
    lives = Single(Single(numbers.window) / Single(numbers.half_life))
    return np.array([0.0, 0.0, numbers.window, 0.0, Single(1) - Single(0.5) ** lives])


@part
def joined(state: MatchmakerState, numbers: Values) -> bool:
    """Take note of the size of the queue."""
    state.memory[PEAK] = max(state.memory[PEAK], float(state.counters[0]["waiting"]))
    return False


@part
def least_quality(state: MatchmakerState, numbers: Values) -> np.float32:
    """Return the least quality of a match, which falls where the population is small."""
    memory = state.memory
    known = Single(memory[FOLDED] if memory[IS_FOLDED] != 0.0 else memory[PEAK])
    enough = Single(numbers.comfortable) * Single(2 * numbers.team_size)
    missing = max(Single(0), enough - known)
    return Single(numbers.threshold) - Single(numbers.relax) * missing


# Ticks.


class Pool(NamedTuple):
    """Who is looked at."""

    tickets: Ints  # (n,)
    ratings: Singles  # (n,); lowered
    waits: Singles  # (n,); seconds
    far: Singles  # (n, n); milliseconds between two
    maps: Ints  # (n,); map picks as bits; -1 of who takes any
    # split, trial: (players of a team,) and (of two); room for a split of a roster
    split: Ints
    trial: Ints


ROSTER = np.dtype([("quality", "f4"), ("variance", "f4"), ("chance", "f4"), ("latency", "f4")])


@kernel(allocates=True)
def review(now: float, state: MatchmakerState, numbers: Values) -> float:
    """Form matches; return when the next tick is."""
    counters, size = state.counters[0], numbers.team_size
    following = (counters["reviews"] + 2) * numbers.tick
    memory = state.memory
    while now >= memory[ENDS]:  # windows of the population that are over
        peak = Single(memory[PEAK])
        if memory[IS_FOLDED] != 0.0:
            folded = Single(memory[FOLDED])
            memory[FOLDED] = folded + Single(memory[WEIGHT]) * (peak - folded)
        elif memory[PEAK] > 0.0:
            memory[FOLDED], memory[IS_FOLDED] = peak, 1.0
        memory[PEAK] = counters["waiting"]
        memory[ENDS] += numbers.window
    least = least_quality(state, numbers)
    counters["relaxed"] += int(least < Single(numbers.threshold))
    pool = pool_of(_looked_at(state, numbers), now, state, numbers)
    count = pool.tickets.size
    if count < 2 * size:
        return following
    most = 1.0
    for k in range(2 * size):
        most = most * (count - k) / (k + 1)
    counters["examined"] += np.rint(most)
    # Every roster in turn, whose members are its teams; those that may start stay.
    rosters, roster, starters = int(np.rint(most)), np.arange(2 * size), 0
    valued, teams = np.empty(rosters, ROSTER), np.zeros((rosters, 2 * size), np.int64)
    while True:
        starts = value_roster(roster, least, pool, numbers, valued[starters], teams[starters])
        starters += int(starts)
        if not _next_choice(roster, 0, count):
            break
    keys = np.empty(starters, np.float32)
    for k in range(starters):
        key = valued[k]["quality"]
        if numbers.others_weight > 0:  # the waits of all but the longest
            total = Single(0)
            for wait in np.sort(pool.waits[teams[k]])[:-1]:
                total += wait
            key += Single(numbers.others_weight) * total
        keys[k] = -key
    for best in np.argsort(keys, kind="mergesort"):
        tickets = pool.tickets[teams[best]]
        if not is_taken(tickets, state):
            quality, chance = valued[best]["quality"], valued[best]["chance"]
            begin_match(now, float(quality), float(chance), state)
            for index in range(2 * size):
                add_member(tickets[index], int(index >= size), now, state)
    return following


@kernel(allocates=True)
def _looked_at(state: MatchmakerState, numbers: Values) -> Ints:
    """Return who is looked at in order of joining: of too many, those with the smallest draws."""
    waiting = state.waiting[: state.counters[0]["waiting"]]
    if waiting.size <= numbers.sample:
        return waiting
    drawn = np.empty(waiting.size)
    for k in range(waiting.size):
        serial = state.serials[waiting[k]]
        drawn[k] = uniform_at(state.rng_key, SOURCE, serial, state.counters[0]["reviews"])
    return waiting[np.sort(np.argsort(drawn, kind="mergesort")[: numbers.sample])]


@kernel(allocates=True)
def pool_of(tickets: Ints, now: float, state: MatchmakerState, numbers: Values) -> Pool:
    """Return what there is to know of tickets."""
    n, parties = tickets.size, state.parties
    ratings, waits = np.empty(n, np.float32), np.empty(n, np.float32)
    far, maps, half = np.zeros((n, n), np.float32), np.full(n, -1), Single(0.5)
    split = np.arange(numbers.team_size)
    for index in range(n):
        ticket = tickets[index]
        player = parties.firsts[ticket]
        lowered = Single(numbers.less_deviations) * Single(parties.deviations[player])
        ratings[index] = Single(parties.ratings[player]) - lowered
        waits[index] = now - state.times[ticket]
        if numbers.shared_maps:
            maps[index] = parties.maps[ticket]
        for k in range(index):  # where a region is not known: 0
            region, other_region = parties.regions[tickets[k]], parties.regions[ticket]
            if region >= 0 and other_region >= 0:
                between = parties.between[region, other_region]
                if np.isnan(between):
                    between = numbers.latency_unknown
                to_first = Single(parties.round_trips[tickets[k]]) * half + Single(between) * half
                far[k, index] = to_first + Single(parties.round_trips[ticket]) * half
                far[index, k] = far[k, index]
    return Pool(tickets, ratings, waits, far, maps, split, np.empty(2 * split.size, np.int64))


@kernel(allocates=True)
def could_replace(
    match: int, member: int, ticket: int, now: float, state: MatchmakerState, numbers: Values
) -> bool:
    """Return whether a match could have a ticket in place of a member, in teams of their own."""
    first, players = state.matches[match]["first"], 2 * numbers.team_size
    tickets = state.members[0, first : first + players].copy()
    tickets[member - first] = ticket
    pool = pool_of(np.sort(tickets), now, state, numbers)  # in order of joining
    valued, teams = np.empty(1, ROSTER), np.zeros(players, np.int64)
    least = least_quality(state, numbers)
    return value_roster(np.arange(players), least, pool, numbers, valued[0], teams)


# Rosters.


@part
def value_roster(
    roster: Ints,
    least: np.float32,
    pool: Pool,
    numbers: Values,
    valued: Any,  # noqa: ANN401
    teams: Ints,
) -> bool:
    """Value a roster and write its teams, one after the other; return whether it may start."""
    common, picky = -1, True
    longest, mean, squares, worst = Single(0), Single(0), Single(0), Single(0)
    for k in range(roster.size):
        common &= pool.maps[roster[k]]
        picky &= pool.maps[roster[k]] >= 0
        longest = max(longest, pool.waits[roster[k]])
        rating = pool.ratings[roster[k]]
        off = rating - mean
        mean += off / Single(k + 1)
        squares += off * (rating - mean)
        for other in range(k + 1, roster.size):
            worst = max(worst, pool.far[roster[k], roster[other]])
    if picky and common == 0:
        return False
    variance = squares / Single(roster.size - 1)
    waited = Single(numbers.wait_weight) * longest
    skill = Single(numbers.variance_weight) * variance
    counted = Single(numbers.latency_scale) * worst / Single(numbers.latency_step)
    free = Single(numbers.latency_free)
    far = Single(numbers.latency_weight) * (max(free, Single(math.ceil(counted))) - free)
    # Rounding keeps the order of sums: with a balance of 0 the quality is no less.
    if waited - (skill + far) < least:
        return False
    size = roster.size // 2
    _split(roster, pool, teams)
    gap = _strength(teams[size:], pool.ratings) - _strength(teams[:size], pool.ratings)
    power = Single(10) ** (gap / Single(numbers.logistic))
    chance = Single(1) / (Single(1) + Single(power))
    balance = Single(numbers.win_weight) * abs(Single(0.5) - chance)
    quality = waited - (skill + balance + far)
    valued["quality"], valued["variance"] = quality, variance
    valued["chance"], valued["latency"] = chance, worst
    return quality >= least


@part
def _strength(team: Ints, ratings: Singles) -> np.float32:
    """Return the root of the mean square of a team."""
    total = Single(0)
    for k in team:
        total += ratings[k] * ratings[k]
    return Single(math.sqrt(total / Single(team.size)))


@part
def _split(roster: Ints, pool: Pool, teams: Ints) -> None:
    """Write teams of least difference, the first entry in the first; of equals the first."""
    split, size, least = pool.split, pool.split.size, Single(np.inf)
    trial = pool.trial
    for k in range(size):
        split[k] = k
    while True:
        seats, other = 0, size
        for k in range(roster.size):
            if seats < size and split[seats] == k:
                trial[seats] = roster[k]
                seats += 1
            else:
                trial[other] = roster[k]
                other += 1
        gap = _strength(trial[:size], pool.ratings) - _strength(trial[size:], pool.ratings)
        if abs(gap) < least:
            least = abs(gap)
            for k in range(roster.size):
                teams[k] = trial[k]
        if not _next_choice(split, 1, roster.size):
            return


@part
def _next_choice(choice: Ints, fixed: int, count: int) -> bool:
    """Go to the next choice of ascending numbers, the first ones fixed; return whether it is."""
    index = choice.size - 1
    while index >= fixed and choice[index] == count - choice.size + index:
        index -= 1
    if index < fixed:
        return False
    choice[index] += 1
    for k in range(index + 1, choice.size):
        choice[k] = choice[k - 1] + 1
    return True


shieldbattery = rule("shieldbattery", Numbers, review, could_replace, memory_of, joined=joined)
