"""Pairs: at every tick, one against one, chosen for everybody who waits at once.

The players who wait are in order of their tickets. At a tick they are put in order of what the rule
sees; two at most `band` places apart who may play have a weight, and the matching of greatest total
weight plays (`valmatch.matching.pairs`). Between ticks nothing happens but coming and going.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from valmatch.kernels.arrays import Bytes, Floats, Ints, Records, Words
from valmatch.kernels.compilation import at, expanded, shared, unallocating
from valmatch.matching.queue import LINEUP, no_waiting_teams
from valmatch.policies.mean_order import prepare
from valmatch.policies.registry import PAIR, Weigh, functions
from valmatch.policies.waiting import WAITING, MeanOrder, Ticket, Waiting, room_for

# The matching of greatest total weight among pairs that are at most a few places apart.
#
# What can still be gained from a place on depends on which of the next places are taken alone. Only
# differences of gains matter, so that each place's are relative to those of the next one: they stay
# small however many places there are.

ALONE = -1  # what stands for the partner of whoever is left
MOST = 2**58  # the largest weight: with a band of 16, all gains fit an integer


@unallocating
def match_band(n: int, weights: Ints, gains: Ints, choices: Bytes, partners: Ints) -> None:
    """Match places 0..n-1.

    Among equals the first place has the nearest partner, then the second, and so on; being left
    comes last.

    Shapes: `gains` (4, 2**band).
    """
    reach = 1
    for i in range(n):
        for k in range(reach, weights.shape[1]):
            if weights[at(i), at(k)] >= 0:
                reach = k + 1
    half = 1 << (reach - 1)
    for taken in range(2 * half):
        gains[at(n % 2), at(taken)] = 0
    for i in range(n - 1, -1, -1):
        later, now = gains[(i + 1) % 2], gains[i % 2]
        _gain(half, weights[i], later, gains[2], gains[3], now, choices[i])
    for i in range(n):
        partners[at(i)] = ALONE
    taken = 0
    for i in range(n):
        nearest = 0 if taken & 1 else int(choices[at(i), at(taken >> 1)])
        taken >>= 1
        if nearest > 0:
            partners[at(i)], partners[at(i + nearest)] = i + nearest, i
            taken |= 1 << (nearest - 1)


@unallocating
def _gain(
    half: int, weights: Ints, later: Ints, best: Ints, nearest: Ints, gains: Ints, choices: Bytes
) -> None:
    """Find the best choices of a place, and its gains, from the gains of the next place.

    Gains are by the places taken: bit k is for the place itself + k. Choices are by those taken of
    the following places: how far the partner is, 0 for being left. `best` and `nearest` are memory.
    """
    for taken in range(half):
        best[at(taken)], nearest[at(taken)] = later[at(taken)], 0
    for k in range(weights.size - 1, -1, -1):
        weight = weights[at(k)]
        if weight >= 0:
            bit = 1 << k
            # Without a branch, and through all masks, so that it compiles to vectors.
            for taken in range(half):
                total = weight + later[at(taken + bit)]
                better = (taken & bit == 0) & (total >= best[at(taken)])
                best[at(taken)] = total if better else best[at(taken)]
                nearest[at(taken)] = k + 1 if better else nearest[at(taken)]
    nothing = later[0]
    for taken in range(half):
        gains[at(2 * taken)] = best[at(taken)] - nothing
        gains[at(2 * taken + 1)] = later[at(taken)] - nothing
        choices[at(taken)] = nearest[at(taken)]


Struct = Any  # one row of a structured array; the kernels see it as a C struct

WeighByNumber: TypeAlias = Callable[[int, Ticket, Ticket, float, Waiting], float]

UNIT = 2.0**40  # weights are whole multiples of its reciprocal, so that sums are exact
APART = -1  # stands for the weight of two who do not play

STATE = np.dtype([("waiting", "i8"), ("formed", "i8"), ("ticks", "i8")])
"""Players who wait; teams that have been formed; ticks that have been."""


KNOWN = np.dtype([("mean", "f8"), ("sigma", "f8"), ("skill", "f8"), ("ticket", "i8")])
"""What has to be known of a player."""


class Parameters(NamedTuple):
    """The rules of matching by pairs."""

    tick_seconds: float  # time from one tick to the next
    horizon: float  # hours; no tick happens at or after it
    # tolerance, widening: largest difference of what the rule sees (points), and its increase an
    # hour
    tolerance: float
    widening: float
    oldest: bool  # the oldest ticket of a pair widens it, instead of the newest
    band: int  # how many places apart two may be who play
    policy: int  # what a pair is worth, by its place in `valmatch.policies.registry.PAIR`
    looks_ahead: bool  # whether that depends on who else is near the means of the two
    multiplier: float  # gamma / (1 - gamma), of the knowledge gradients
    kappa: float  # of ucb
    urgency: float  # added to the worth for every hour of both waits
    reserve: float  # taken from the worth
    # noise, true_noise: variance of a performance, as the policies take it; as it is, of oracle
    noise: float
    true_noise: float
    source: int  # of the random numbers of two tickets


class QueueState(NamedTuple):
    """Who waits, in order of tickets, and the memory of a tick."""

    state: Records  # (1,)
    # time, seen: hour of the ticket; the rating that the rule sees
    time: Floats
    seen: Floats
    player: Ints  # who they are
    pairs: Records  # (n, 2); the players of the matches of a tick, that of the lower ticket first
    people: Records  # (n,); everybody's `mean` and `sigma` of the belief, `skill` and `ticket`
    place: Words  # (3,); where the addressed numbers of the replication lie
    order: Ints
    spare: Ints
    keys: Floats  # memory of sorting
    ranked: Records  # records of `WAITING`; who waits, in order of what the rule sees
    by_mean: MeanOrder  # memory for who waits in order of the means of the beliefs
    # weights, gains, choices, partners: see `valmatch.matching.pairs`
    weights: Ints
    gains: Ints
    choices: Bytes
    partners: Ints


def new(capacity: int, rules: Parameters) -> QueueState:
    """Return an empty queue with room for `capacity` waiting players."""
    band = rules.band
    return QueueState(
        np.zeros(1, STATE),
        np.zeros(capacity),
        np.zeros(capacity),
        np.zeros(capacity, np.int64),
        np.zeros((capacity // 2, 2), LINEUP),
        np.zeros(0, KNOWN),
        np.zeros(3, np.uint64),
        np.zeros(capacity, np.int64),
        np.zeros(capacity, np.int64),
        np.zeros(capacity),
        np.zeros(capacity, WAITING),
        room_for(capacity, band),
        np.zeros((capacity, band), np.int64),
        np.zeros((4, 2**band), np.int64),
        np.zeros((capacity, 2 ** (band - 1)), np.uint8),
        np.zeros(capacity, np.int64),
    )


@shared
def reset(queue: QueueState) -> None:
    """Empty the queue for the next replication."""
    queue.state.view(np.uint8)[:] = 0


def grown(queue: QueueState, rules: Parameters) -> QueueState:
    """Return a copy of a queue with twice the room."""
    large = new(2 * queue.time.size, rules)
    for old, copy in zip(queue[:4], large[:4], strict=True):
        copy[: old.size] = old
    return large._replace(people=queue.people, place=queue.place)


waiting_teams = no_waiting_teams


@expanded
def has_room(rules: Parameters, queue: QueueState) -> bool:
    """Return whether another player can join; see `grown`."""
    return queue.state[0]["waiting"] < queue.time.size


@expanded
def next_review(rules: Parameters, queue: QueueState) -> float:
    """Return when the next tick is, infinity if not before the horizon."""
    due = (queue.state[0]["ticks"] + 1) * rules.tick_seconds / 3600.0
    return due if due < rules.horizon else np.inf


@expanded
def enqueue(now: float, rating: float, player: int, rules: Parameters, queue: QueueState) -> int:
    """Let a newcomer wait; return his place in order of tickets."""
    state = queue.state[0]
    place = state["waiting"]
    queue.time[at(place)], queue.seen[at(place)], queue.player[at(place)] = now, rating, player
    state["waiting"] = place + 1
    return place


@expanded
def leave(time: float, player: int, rules: Parameters, queue: QueueState) -> bool:
    """Let a player leave who waits since `time`; that dissolves no team."""
    state = queue.state[0]
    left = 0
    while queue.player[at(left)] != player:
        left += 1
    state["waiting"] -= 1
    for k in range(left, state["waiting"]):
        _move(k + 1, k, queue)
    return False


@expanded
def review(now: float, newcomer: int, rules: Parameters, queue: QueueState) -> int:
    """Hold a tick; return the number of matches. Newcomers, who have a place, wait for the next."""
    return _tick(now, rules, queue) if newcomer < 0 else 0


@expanded
def players_of_match(match: int, rules: Parameters, queue: QueueState, lineup: Records) -> None:
    """Give the players of a match of the last tick, that of the lower ticket first."""
    lineup[0], lineup[1] = queue.pairs[at(match), 0], queue.pairs[at(match), 1]


@expanded
def still_waiting(rules: Parameters, queue: QueueState, arrivals: Floats) -> None:
    """Give the arrivals of all who wait, in order."""
    for k in range(queue.state[0]["waiting"]):
        arrivals[at(k)] = queue.time[at(k)]


@unallocating
def _tick(now: float, rules: Parameters, queue: QueueState) -> int:
    """Let the matching of greatest total weight play; return the number of matches."""
    state = queue.state[0]
    state["ticks"] += 1
    n = state["waiting"]
    if n < 2:
        return 0
    _rank(rules, queue)
    _weigh(now, _waiting(rules, queue), rules, queue)
    match_band(n, queue.weights, queue.gains, queue.choices, queue.partners)
    return _play(queue)


@unallocating
def _rank(rules: Parameters, queue: QueueState) -> None:
    """Put those who wait in order of what the rule sees, and where it matters of their means."""
    n = queue.state[0]["waiting"]
    by_mean = rules.looks_ahead
    if by_mean:
        for k in range(n):
            queue.keys[at(k)] = queue.people[at(queue.player[at(k)])]["mean"]
        _sort(n, queue.keys, queue.order, queue.spare)
        for rank in range(n):
            k = queue.order[at(rank)]
            known = queue.people[at(queue.player[at(k)])]
            queue.partners[at(k)] = rank
            mine = queue.by_mean
            mine.means[at(rank)], mine.tickets[at(rank)] = known["mean"], known["ticket"]
            mine.variances[at(rank)] = known["sigma"] * known["sigma"]
    _sort(n, queue.seen, queue.order, queue.spare)
    for rank in range(n):
        k = queue.order[at(rank)]
        player, known = queue.ranked[at(rank)], queue.people[at(queue.player[at(k)])]
        player["time"], player["seen"] = queue.time[at(k)], queue.seen[at(k)]
        player["mean"], player["variance"] = known["mean"], known["sigma"] * known["sigma"]
        player["ticket"], player["skill"] = known["ticket"], known["skill"]
        player["rank"] = queue.partners[at(k)] if by_mean else 0


@unallocating
def _sort(n: int, keys: Floats, order: Ints, spare: Ints) -> None:
    """Put 0..n-1 into the order of their keys, equal ones as they are: by merging runs."""
    for k in range(n):
        order[at(k)] = k
    width = 1
    while width < n:
        for start in range(0, n, 2 * width):
            middle, stop = min(start + width, n), min(start + 2 * width, n)
            left, right = start, middle
            for k in range(start, stop):
                if right == stop or (
                    left < middle and keys[at(order[at(left)])] <= keys[at(order[at(right)])]
                ):
                    spare[at(k)] = order[at(left)]
                    left += 1
                else:
                    spare[at(k)] = order[at(right)]
                    right += 1
        for k in range(n):
            order[at(k)] = spare[at(k)]
        width *= 2


@expanded
def _waiting(rules: Parameters, queue: QueueState) -> Waiting:
    """Return what all pairs have in common."""
    n, memory = queue.state[0]["waiting"], queue.by_mean
    mean_variance = 0.0
    for k in range(n):
        mean_variance += queue.ranked[at(k)]["variance"]
    order = MeanOrder(
        memory.means[:n],
        memory.variances[:n],
        memory.tickets[:n],
        rules.band,
        rules.noise,
        memory.nearby,
        memory.starts,
        memory.scale,
        memory.best,
        memory.least,
        memory.chances,
    )
    if rules.looks_ahead:
        prepare(order)
    return Waiting(
        order,
        mean_variance / n,
        rules.noise,
        rules.true_noise,
        rules.multiplier,
        rules.kappa,
        queue.place,
        rules.source,
    )


@unallocating
def _weigh(now: float, waiting: Waiting, rules: Parameters, queue: QueueState) -> None:
    """Give all pairs in the band their weights."""
    n = queue.state[0]["waiting"]
    for i in range(n):
        for k in range(rules.band):
            j = i + 1 + k
            queue.weights[at(i), at(k)] = (
                _weight(now, i, j, rules, queue, waiting) if j < n else APART
            )


@expanded
def _weight(
    now: float, i: int, j: int, rules: Parameters, queue: QueueState, waiting: Waiting
) -> int:
    """Return the weight of two who wait in units of 2**-40, `APART` if they may not play."""
    first, second = queue.ranked[at(i)], queue.ranked[at(j)]
    age, other_age = now - first["time"], now - second["time"]
    widening_age = max(age, other_age) if rules.oldest else min(age, other_age)
    limit = rules.tolerance + rules.widening * widening_age
    if abs(first["seen"] - second["seen"]) > limit:
        return APART
    weight = _weight_by_policy(rules.policy, first, second, limit, waiting)
    total = weight + rules.urgency * (age + other_age) - rules.reserve
    return int(min(np.rint(total * UNIT), float(MOST)))


@expanded
def _no_such_policy(
    policy: int, first: Ticket, second: Ticket, limit: float, waiting: Waiting
) -> float:
    raise ValueError("there is no such policy")


def _or(number: int, weigh: Weigh, others: WeighByNumber) -> WeighByNumber:
    """Return a compiled function that weighs by `weigh` where the policy is `number`."""

    @expanded
    def by_number(
        policy: int, first: Ticket, second: Ticket, limit: float, waiting: Waiting
    ) -> float:
        if policy == number:
            found = weigh(first, second, limit, waiting)
        else:
            found = others(policy, first, second, limit, waiting)
        return found

    return by_number


def _by_any_policy() -> WeighByNumber:
    """Return a compiled function that weighs by any policy of the registry."""
    of_policy: WeighByNumber = _no_such_policy
    for number, weigh in reversed(list(enumerate(functions(PAIR)))):
        of_policy = _or(number, weigh, of_policy)
    return of_policy


_weight_by_policy = _by_any_policy()


@unallocating
def _play(queue: QueueState) -> int:
    """Take those who play out of the queue; return the number of matches, by lower ticket."""
    state, spare = queue.state[0], queue.spare
    n = state["waiting"]
    for rank in range(n):
        partner = queue.partners[at(rank)]
        spare[at(queue.order[at(rank)])] = ALONE if partner == ALONE else queue.order[at(partner)]
    matches, remaining = 0, 0
    for k in range(n):
        if spare[at(k)] == ALONE:
            _move(k, remaining, queue)
            remaining += 1
        elif spare[at(k)] > k:
            _pair(k, queue.pairs[at(matches), 0], queue)
            _pair(spare[at(k)], queue.pairs[at(matches), 1], queue)
            matches += 1
    state["waiting"] = remaining
    return matches


@expanded
def _pair(place: int, player: Struct, queue: QueueState) -> None:
    """Line up somebody who waits."""
    state = queue.state[0]
    player["player"], player["team"] = queue.player[at(place)], state["formed"]
    player["arrival"], player["rating"] = queue.time[at(place)], queue.seen[at(place)]
    state["formed"] += 1


@expanded
def _move(place: int, to: int, queue: QueueState) -> None:
    """Copy somebody who waits to another place."""
    queue.time[at(to)], queue.seen[at(to)] = queue.time[at(place)], queue.seen[at(place)]
    queue.player[at(to)] = queue.player[at(place)]
