"""Pairs: at every tick, one against one, chosen for everybody who waits at once.

The players who wait are in order of their tickets. At a tick they are put in order of what the rule
sees; two at most `band` places apart who may play have a weight, and the matching of greatest total
weight plays (`valmatch.matching.band`). Between ticks nothing happens but coming and going.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from valmatch.compilation import at, expanded, unallocating
from valmatch.matching.band import ALONE, MOST, match_band
from valmatch.policies.pair_lookahead import narrowest_first
from valmatch.policies.registry import PAIR, Weigh, functions
from valmatch.policies.waiting import WAITING, Ticket, Waiting

__all__ = [
    "Lobby",
    "PairRules",
    "Room",
    "grown",
    "has_room",
    "join",
    "leave",
    "line_up",
    "new_lobby",
    "next_expiry",
    "reset",
    "review",
]

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Records = NDArray[np.void]
Words = NDArray[np.uint64]

WeighByNumber: TypeAlias = Callable[[int, Ticket, Ticket, float, Waiting], float]

UNIT = 2.0**40
"""Weights are whole multiples of its reciprocal, so that sums are exact."""

APART = -1
"""Stands for the weight of two who do not play."""

STATE = np.dtype([("waiting", "i8"), ("ticks", "i8")])
"""Players who wait; ticks that have been."""


class PairRules(NamedTuple):
    """The rules of matching by pairs.

    Attributes
    ----------
    tick_seconds : float
        Time from one tick to the next.
    horizon : float
        Hours; no tick happens at or after it.
    tolerance, widening : float
        Largest difference of what the rule sees (points), and its increase an hour.
    oldest : bool
        The oldest ticket of a pair widens it, instead of the newest.
    band : int
        How many places apart two may be who play.
    policy : int
        What a pair is worth, by its place in `valmatch.policies.registry.PAIR`.
    looks_ahead : bool
        Whether that depends on who else is near the means of the two.
    multiplier : float
        gamma / (1 - gamma), of the knowledge gradients.
    kappa : float
        Of ucb.
    urgency : float
        Added to the worth for every hour of both waits.
    reserve : float
        Taken from the worth.
    noise, true_noise : float
        Variance of a performance, as the policies take it; as it is, of oracle.
    source : int
        Of the random numbers of two tickets.
    """

    tick_seconds: float
    horizon: float
    tolerance: float
    widening: float
    oldest: bool
    band: int
    policy: int
    looks_ahead: bool
    multiplier: float
    kappa: float
    urgency: float
    reserve: float
    noise: float
    true_noise: float
    source: int


class Lobby(NamedTuple):
    """Who waits, in order of tickets, and the memory of a tick.

    Attributes
    ----------
    state : (1,) record of `STATE`
    time, seen : ndarray of float64
        Hour of the ticket; the rating that the rule sees.
    player : ndarray of int64
        Who they are.
    pairs : (n, 2) ndarray of int64
        The players of the matches of a tick, that of the lower ticket first.
    order, spare : ndarray of int64
    keys : ndarray of float64
        Memory of sorting.
    ranked : records of `WAITING`
        Who waits, in order of what the rule sees.
    means, variances, tickets, nearby : ndarray
        Who waits, in order of the means of the beliefs; see
        `valmatch.policies.pair_lookahead.narrowest_first`.
    weights, gains, choices, partners : ndarray
        See `valmatch.matching.band`.
    """

    state: Records
    time: Floats
    seen: Floats
    player: Ints
    pairs: Ints
    order: Ints
    spare: Ints
    keys: Floats
    ranked: Records
    means: Floats
    variances: Floats
    tickets: Ints
    nearby: Ints
    weights: Ints
    gains: Ints
    choices: Bytes
    partners: Ints


class Room(NamedTuple):
    """A lobby with what is known of the players.

    Attributes
    ----------
    state : (1,) record of `STATE`
        That of the lobby.
    lobby : Lobby
        Who waits.
    players : (n,) records
        Everybody's `mean` and `sigma` of the belief, `skill` and `ticket`.
    place : (3,) ndarray of uint64
        Where the addressed numbers of the replication lie.
    """

    state: Records
    lobby: Lobby
    players: Records
    place: Words


def new_lobby(capacity: int, band: int) -> Lobby:
    """Return an empty lobby with room for `capacity` waiting players."""
    return Lobby(
        np.zeros(1, STATE),
        np.zeros(capacity),
        np.zeros(capacity),
        np.zeros(capacity, np.int64),
        np.zeros((capacity // 2, 2), np.int64),
        np.zeros(capacity, np.int64),
        np.zeros(capacity, np.int64),
        np.zeros(capacity),
        np.zeros(capacity, WAITING),
        np.zeros(capacity),
        np.zeros(capacity),
        np.zeros(capacity, np.int64),
        np.zeros((capacity + 1, 2 * band + 4), np.int64),
        np.zeros((capacity, band), np.int64),
        np.zeros((4, 2**band), np.int64),
        np.zeros((capacity, 2 ** (band - 1)), np.uint8),
        np.zeros(capacity, np.int64),
    )


def reset(lobby: Lobby) -> None:
    """Empty a lobby for the next replication."""
    lobby.state[:] = 0


def grown(lobby: Lobby, band: int) -> Lobby:
    """Return a copy of a lobby with twice the room."""
    large = new_lobby(2 * lobby.time.size, band)
    for old, new in zip(lobby[:4], large[:4], strict=True):
        new[: old.size] = old
    return large


@expanded
def has_room(rules: PairRules, room: Room) -> bool:
    """Return whether another player can join; see `grown`."""
    return room.state[0]["waiting"] < room.lobby.time.size


@expanded
def next_expiry(rules: PairRules, room: Room) -> float:
    """Return when the next tick is, infinity if not before the horizon."""
    due = (room.state[0]["ticks"] + 1) * rules.tick_seconds / 3600.0
    return due if due < rules.horizon else np.inf


@expanded
def join(now: float, rating: float, player: int, rules: PairRules, room: Room) -> int:
    """Let a newcomer wait; return his place in order of tickets."""
    state, lobby = room.state[0], room.lobby
    place = state["waiting"]
    lobby.time[at(place)], lobby.seen[at(place)], lobby.player[at(place)] = now, rating, player
    state["waiting"] = place + 1
    return place


@expanded
def leave(time: float, player: int, rules: PairRules, room: Room) -> bool:
    """Let a player leave who waits since `time`; that dissolves no team."""
    state, lobby = room.state[0], room.lobby
    left = 0
    while lobby.player[at(left)] != player:
        left += 1
    state["waiting"] -= 1
    for k in range(left, state["waiting"]):
        _move(k + 1, k, lobby)
    return False


@expanded
def review(now: float, newcomer: int, rules: PairRules, room: Room) -> int:
    """Hold a tick; return the number of matches. Newcomers, who have a place, wait for the next."""
    return _tick(now, rules, room.lobby, room.players, room.place) if newcomer < 0 else 0


@expanded
def line_up(match: int, rules: PairRules, room: Room, players: Ints) -> None:
    """Give the players of a match of the last tick, that of the lower ticket first."""
    players[0], players[1] = room.lobby.pairs[at(match), 0], room.lobby.pairs[at(match), 1]


@unallocating
def _tick(now: float, rules: PairRules, lobby: Lobby, players: Records, place: Words) -> int:
    """Let the matching of greatest total weight play; return the number of matches."""
    state = lobby.state[0]
    state["ticks"] += 1
    n = state["waiting"]
    if n < 2:
        return 0
    _rank(rules, lobby, players)
    _weigh(now, rules, lobby, place)
    match_band(n, lobby.weights, lobby.gains, lobby.choices, lobby.partners)
    return _play(lobby)


@unallocating
def _rank(rules: PairRules, lobby: Lobby, players: Records) -> None:
    """Put those who wait in order of what the rule sees, and where it matters of their means."""
    n = lobby.state[0]["waiting"]
    by_mean = rules.looks_ahead
    if by_mean:
        for k in range(n):
            lobby.keys[at(k)] = players[at(lobby.player[at(k)])]["mean"]
        _sort(n, lobby.keys, lobby.order, lobby.spare)
        for rank in range(n):
            k = lobby.order[at(rank)]
            one = players[at(lobby.player[at(k)])]
            lobby.partners[at(k)] = rank
            lobby.means[at(rank)], lobby.tickets[at(rank)] = one["mean"], one["ticket"]
            lobby.variances[at(rank)] = one["sigma"] * one["sigma"]
        narrowest_first(lobby.variances[:n], rules.band, lobby.nearby)
    _sort(n, lobby.seen, lobby.order, lobby.spare)
    for rank in range(n):
        k = lobby.order[at(rank)]
        one, known = lobby.ranked[at(rank)], players[at(lobby.player[at(k)])]
        one["time"], one["seen"], one["ticket"] = (
            lobby.time[at(k)],
            lobby.seen[at(k)],
            known["ticket"],
        )
        one["mean"], one["variance"] = known["mean"], known["sigma"] * known["sigma"]
        one["skill"], one["rank"] = known["skill"], lobby.partners[at(k)] if by_mean else 0


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


@unallocating
def _weigh(now: float, rules: PairRules, lobby: Lobby, place: Words) -> None:
    """Give all pairs in the band their weights."""
    n = lobby.state[0]["waiting"]
    mean_variance = 0.0
    for k in range(n):
        mean_variance += lobby.ranked[at(k)]["variance"]
    waiting = Waiting(
        lobby.means[:n],
        lobby.variances[:n],
        lobby.tickets[:n],
        lobby.nearby,
        mean_variance / n,
        rules.band,
        rules.noise,
        rules.true_noise,
        rules.multiplier,
        rules.kappa,
        place,
        rules.source,
    )
    for i in range(n):
        for k in range(rules.band):
            j = i + 1 + k
            lobby.weights[at(i), at(k)] = (
                _weight(now, i, j, rules, lobby, waiting) if j < n else APART
            )


@expanded
def _weight(now: float, i: int, j: int, rules: PairRules, lobby: Lobby, waiting: Waiting) -> int:
    """Return the weight of two who wait in units of 2**-40, `APART` if they may not play."""
    first, second = lobby.ranked[at(i)], lobby.ranked[at(j)]
    age, other_age = now - first["time"], now - second["time"]
    widening_age = max(age, other_age) if rules.oldest else min(age, other_age)
    limit = rules.tolerance + rules.widening * widening_age
    if abs(first["seen"] - second["seen"]) > limit:
        return APART
    worth = _worth(rules.policy, first, second, limit, waiting)
    total = worth + rules.urgency * (age + other_age) - rules.reserve
    return int(min(np.rint(total * UNIT), float(MOST)))


@expanded
def _no_such_policy(
    policy: int, first: Ticket, second: Ticket, limit: float, waiting: Waiting
) -> float:
    raise ValueError("there is no such policy")


def _or(number: int, weigh: Weigh, others: WeighByNumber) -> WeighByNumber:
    """Return a compiled function that weighs by `weigh` where the policy is `number`."""

    @expanded
    def worth(policy: int, first: Ticket, second: Ticket, limit: float, waiting: Waiting) -> float:
        if policy == number:
            found = weigh(first, second, limit, waiting)
        else:
            found = others(policy, first, second, limit, waiting)
        return found

    return worth


def _by_any_policy() -> WeighByNumber:
    """Return a compiled function that weighs by any policy of the registry."""
    worth: WeighByNumber = _no_such_policy
    for number, weigh in reversed(list(enumerate(functions(PAIR)))):
        worth = _or(number, weigh, worth)
    return worth


_worth = _by_any_policy()


@unallocating
def _play(lobby: Lobby) -> int:
    """Take those who play out of the lobby; return the number of matches, by lower ticket."""
    state, spare = lobby.state[0], lobby.spare
    n = state["waiting"]
    for rank in range(n):
        partner = lobby.partners[at(rank)]
        spare[at(lobby.order[at(rank)])] = ALONE if partner == ALONE else lobby.order[at(partner)]
    matches, kept = 0, 0
    for k in range(n):
        if spare[at(k)] == ALONE:
            _move(k, kept, lobby)
            kept += 1
        elif spare[at(k)] > k:
            lobby.pairs[at(matches), 0] = lobby.player[at(k)]
            lobby.pairs[at(matches), 1] = lobby.player[at(spare[at(k)])]
            matches += 1
    state["waiting"] = kept
    return matches


@expanded
def _move(place: int, to: int, lobby: Lobby) -> None:
    """Copy somebody who waits to another place."""
    lobby.time[at(to)], lobby.seen[at(to)] = lobby.time[at(place)], lobby.seen[at(place)]
    lobby.player[at(to)] = lobby.player[at(place)]
