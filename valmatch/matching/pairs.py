"""Pairs: at every tick, one against one, chosen for everybody who waits at once.

Two at most `band` places apart, in order of what the rule sees, who may play have a weight, and the
matching of greatest total weight plays.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from valmatch.kernels.arrays import Ints, Records, Words
from valmatch.kernels.compilation import kernel, macro
from valmatch.matching.fifo import enqueue, has_room, leave
from valmatch.matching.queue import LINEUP, with_people
from valmatch.policies.knowledge import WAITING, MeanOrder, Ticket, Waiting
from valmatch.policies.registry import PAIR, Weigh, functions

__all__ = ["enqueue", "has_room", "leave"]

ALONE = -1  # what stands for the partner of whoever is left
MOST = 2**58  # the largest weight: with a band of 16, all gains fit an integer


@kernel(allocates=True)
def match_band(weights: Ints) -> Ints:
    """Return the partner of each place, `ALONE` for none."""
    # `weights` (n, band): of places i and i + 1 + k at [i, k], negative for no pair. Among equals
    # the first place has the nearest partner, then the second, and so on; being left comes last.
    n, reach = len(weights), 1
    for i in range(n):
        for k in range(reach, weights.shape[1]):
            if weights[i, k] >= 0:
                reach = k + 1
    # What can still be gained from a place on, relative to the next one, depends on which of the
    # next places are taken: bit k is for the place itself + k. Choices are how far the partner is.
    half = 1 << (reach - 1)
    choices = np.empty((n, half), np.uint8)
    later, gains = np.zeros(2 * half, np.int64), np.zeros(2 * half, np.int64)
    best, distances = np.empty(half, np.int64), np.empty(half, np.int64)
    for i in range(n - 1, -1, -1):
        best[:], distances[:] = later[:half], 0
        for k in range(weights.shape[1] - 1, -1, -1):
            weight, bit = weights[i, k], 1 << k
            if weight >= 0:
                # Without a branch, and through all masks, so that it compiles to vectors.
                for free in range(half):
                    total = weight + later[free + bit]
                    better = (free & bit == 0) & (total >= best[free])
                    best[free] = total if better else best[free]
                    distances[free] = k + 1 if better else distances[free]
        gains[::2], gains[1::2] = best - later[0], later[:half] - later[0]
        choices[i] = distances
        later, gains = gains, later
    partners, taken = np.full(n, ALONE), 0
    for i in range(n):
        nearest = 0 if taken & 1 else int(choices[i, taken >> 1])
        taken >>= 1
        if nearest > 0:
            partners[i], partners[i + nearest] = i + nearest, i
            taken |= 1 << (nearest - 1)
    return partners


WeighByNumber: TypeAlias = Callable[[int, Ticket, Ticket, float, Waiting], float]

UNIT = 2.0**40  # weights are whole multiples of its reciprocal, so that sums are exact
APART = -1  # stands for the weight of two who do not play

STATE = np.dtype([("waiting", "i8"), ("ticks", "i8")])
"""Players who wait; ticks that have been."""


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
    multiplier: float  # gamma / (1 - gamma), of the knowledge gradients
    kappa: float  # of ucb
    urgency: float  # added to the worth for every hour of both waits
    reserve: float  # taken from the worth
    # noise, true_noise: variance of a performance, as the policies take it; as it is, of oracle
    noise: float
    true_noise: float
    source: int  # of the random numbers of two tickets


class QueueState(NamedTuple):
    """Who waits, in order of tickets."""

    state: Records  # (1,)
    players: Records  # (capacity,); the first `waiting` of them wait
    pairs: Ints  # (n, 2); the players of the matches of a tick, that of the lower ticket first
    people: Records  # (n,); everybody's `mean` and `sigma` of the belief, `skill` and `ticket`
    rng_key: Words  # (3,); where the addressed numbers of the replication lie


def new(capacity: int, rules: Parameters) -> QueueState:
    """Return an empty queue with room for `capacity` waiting players."""
    return QueueState(
        np.zeros(1, STATE),
        np.zeros(capacity, LINEUP),
        np.zeros((capacity // 2, 2), np.int64),
        np.zeros(0, np.void),
        np.zeros(3, np.uint64),
    )


def grown(queue: QueueState, rules: Parameters) -> QueueState:
    """Return a copy of a queue with twice the room."""
    large, n = new(2 * queue.players.size, rules), queue.players.size
    large.state[:], large.players[:n] = queue.state, queue.players
    return with_people(large, queue.people, queue.rng_key)


@macro
def next_review(rules: Parameters, queue: QueueState) -> float:
    """Return when the next tick is, infinity if not before the horizon."""
    due = (queue.state[0]["ticks"] + 1) * rules.tick_seconds / 3600.0
    return due if due < rules.horizon else np.inf


@macro
def review(now: float, newcomer: int, rules: Parameters, queue: QueueState) -> int:
    """Hold a tick; return the number of matches. Newcomers, who have a place, wait for the next."""
    return _tick(now, rules, queue) if newcomer < 0 else 0


@macro
def players_of_match(match: int, rules: Parameters, queue: QueueState, lineup: Records) -> None:
    """Give the players of a match of the last tick, that of the lower ticket first."""
    lineup[0]["player"], lineup[1]["player"] = queue.pairs[match, 0], queue.pairs[match, 1]


@kernel(allocates=True)
def _tick(now: float, rules: Parameters, queue: QueueState) -> int:
    """Let the matching of greatest total weight play; return the number of matches."""
    state = queue.state[0]
    state["ticks"] += 1
    n = state["waiting"]
    if n < 2:
        return 0
    # By what the rule sees, and by the means; ties by ticket.
    players, waiting = queue.players[:n], np.empty(n, WAITING)
    order = np.argsort(players["rating"], kind="mergesort")
    means, variances, tickets = np.empty(n), np.empty(n), np.empty(n, np.int64)
    for k in range(n):
        known = queue.people[players[k]["player"]]
        means[k], tickets[k] = known["mean"], known["ticket"]
        variances[k] = known["sigma"] * known["sigma"]
    by_mean, ranks = np.argsort(means, kind="mergesort"), np.empty(n, np.int64)
    ranks[by_mean] = np.arange(n)
    total = 0.0
    for k in range(n):
        player, index = waiting[k], order[k]
        player["time"], player["seen"] = players[index]["arrival"], players[index]["rating"]
        player["mean"], player["variance"] = means[index], variances[index]
        player["ticket"], player["rank"] = tickets[index], ranks[index]
        player["skill"] = queue.people[players[index]["player"]]["skill"]
        total += variances[index]
    common = Waiting(
        MeanOrder(means[by_mean], variances[by_mean], tickets[by_mean], rules.band, rules.noise),
        total / n,
        rules.noise,
        rules.true_noise,
        rules.multiplier,
        rules.kappa,
        queue.rng_key,
        rules.source,
    )
    weights = np.full((n, rules.band), APART)
    _weigh(now, waiting, common, rules, weights)
    return _play(order, match_band(weights), queue)


@kernel
def _weigh(now: float, waiting: Records, common: Waiting, rules: Parameters, weights: Ints) -> None:
    """Give all pairs in the band who may play their weights in units of 2**-40."""
    for i in range(waiting.size):
        for j in range(i + 1, min(i + 1 + rules.band, waiting.size)):
            first, second = waiting[i], waiting[j]
            age, other_age = now - first["time"], now - second["time"]
            widening_age = max(age, other_age) if rules.oldest else min(age, other_age)
            limit = rules.tolerance + rules.widening * widening_age
            if abs(first["seen"] - second["seen"]) <= limit:
                weight = _weight_by_policy(rules.policy, first, second, limit, common)
                total = weight + rules.urgency * (age + other_age) - rules.reserve
                weights[i, j - i - 1] = int(min(np.rint(total * UNIT), float(MOST)))


def _by_number(policies: Sequence[Weigh], number: int = 0) -> WeighByNumber:
    """Return a compiled function that weighs by the policy of a number, counted from `number`."""
    weigh, *others = policies
    weigh_by_others = _by_number(others, number + 1) if others else None

    @macro
    def by_number(
        policy: int, first: Ticket, second: Ticket, limit: float, waiting: Waiting
    ) -> float:
        if weigh_by_others is None or policy == number:
            weight = weigh(first, second, limit, waiting)
        else:
            weight = weigh_by_others(policy, first, second, limit, waiting)
        return weight

    return by_number


_weight_by_policy = _by_number(functions(PAIR))


@kernel
def _play(order: Ints, partners: Ints, queue: QueueState) -> int:
    """Take those who play out of the queue; return the number of matches, by lower ticket."""
    # Shapes: `order` (n,): who waits by rank; `partners` (n,): ranks.
    players = queue.players
    for rank in range(order.size):
        other = partners[rank]
        players[order[rank]]["team"] = ALONE if other == ALONE else order[other]
    matches, remaining = 0, 0
    for k in range(order.size):
        other = players[k]["team"]
        if other == ALONE:
            players[remaining] = players[k]
            remaining += 1
        elif other > k:
            queue.pairs[matches, 0] = players[k]["player"]
            queue.pairs[matches, 1] = players[other]["player"]
            matches += 1
    queue.state[0]["waiting"] = remaining
    return matches
