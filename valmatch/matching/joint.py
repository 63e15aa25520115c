"""Joint matching: at each review at most one match, both of its teams chosen at once."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.compilation import at, expanded, unallocating
from valmatch.matching.joint_search import Work, find_match, new_work
from valmatch.matching.rules import Rules, is_prioritized, tick_of
from valmatch.matching.tally import SUMS, add_match, add_player, add_unmatched

__all__ = [
    "NOBODY",
    "Lobby",
    "expected_splits",
    "grown",
    "has_room",
    "join",
    "leave",
    "line_up",
    "new_lobby",
    "next_expiry",
    "reset",
    "review",
    "run",
    "waiting_teams",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Records = NDArray[np.void]

NOBODY = -1
"""What stands for a newcomer where somebody becomes prioritized."""

STATE = np.dtype(
    [
        *SUMS,
        ("waiting", "i8"),  # players in the pool
        ("prioritized_now", "i8"),  # the first so many of the pool are prioritized
        ("expired", "i8"),  # the first so many have had the review of their own moment
        ("seen", "i8"),  # size of the pool, and its prioritized players, at the last review
        ("seen_prioritized", "i8"),  # if that found nothing; else 0
    ]
)


class Lobby(NamedTuple):
    """The pool in order of arrival.

    Attributes
    ----------
    state : numpy.ndarray
        One record of scalars.
    arrival : numpy.ndarray
        Hours.
    rating : numpy.ndarray
        Elo points.
    ticks : numpy.ndarray
        Arrivals in ticks.
    player : numpy.ndarray
        Who they are; `valorant` counts them in order of arrival.
    teams : numpy.ndarray
        (2, team_num): positions in the pool of team a and team b of the match found.
    matched : numpy.ndarray
        (2 team_num,): the players of that match, those of team a first.
    work : Work
        Memory of the search.
    """

    state: Records
    arrival: Floats
    rating: Floats
    ticks: Ints
    player: Ints
    teams: Ints
    matched: Ints
    work: Work


def new_lobby(capacity: int, team_num: int) -> Lobby:
    """Return an empty lobby with room for `capacity` waiting players."""
    return Lobby(
        np.zeros(1, STATE),
        np.empty(capacity),
        np.empty(capacity),
        np.empty(capacity, np.int64),
        np.empty(capacity, np.int64),
        np.empty((2, team_num), np.int64),
        np.empty(2 * team_num, np.int64),
        new_work(capacity, team_num),
    )


def reset(lobby: Lobby) -> None:
    """Empty a lobby for the next replication."""
    lobby.state.view(np.uint8)[:] = 0


def grown(lobby: Lobby, team_num: int) -> Lobby:
    """Return a copy of a lobby with twice the room; the search starts afresh."""
    large = new_lobby(2 * lobby.arrival.size, team_num)
    for old, new in zip(lobby[:-1], large[:-1], strict=True):
        new[: old.shape[0]] = old
    large.state["seen"] = large.state["seen_prioritized"] = 0
    return large


def expected_splits(rules: Rules) -> float:
    """Return about how many splits of the players of a match into two teams are tried.

    All of them where the most balanced one is wanted; else until the means of the teams are near
    enough, which those of players of evenly spread ratings are by chance, normally distributed.
    """
    p = rules.team_num
    every = math.comb(2 * p, p) / 2
    deviation = rules.player_diff * math.sqrt(2.0 / p / 12.0)
    if rules.balanced or p == 1:
        return every
    if deviation == 0.0:
        return 1.0
    near = math.erf(rules.team_diff / deviation / math.sqrt(2.0))
    return min(every, 1.0 / near) if near > 0.0 else every


@unallocating
def run(
    times: Floats,
    ratings: Floats,
    first: int,
    last: bool,
    rules: Rules,
    lobby: Lobby,
    waits: Floats,
    log: Floats,
) -> int:
    """Let players arrive, with a review at each arrival, until done or out of room.

    With continuous reviews there is one more at arrival + wait_thresh of every player still
    waiting; where that moment coincides with an arrival it comes first, without the newcomer.
    Parameters and result are those of `valmatch.matching.team_first.run`; the teams of match m
    are numbered 2m and 2m + 1.
    """
    state = lobby.state[0]
    taken = 0
    while True:
        due = next_expiry(rules, lobby)
        if taken < times.size and times[at(taken)] < due:
            if state["matched"] + state["waiting"] >= waits.size or not has_room(rules, lobby):
                return taken
            now = times[at(taken)]
            newcomer = join(now, ratings[at(taken)], first + taken, rules, lobby)
            taken += 1
        elif due < np.inf and (taken < times.size or last):
            now, newcomer = due, NOBODY
        else:
            break
        if _found(now, newcomer, rules, lobby):
            _count(now, rules, lobby, waits, log)
            _close_gaps(rules, lobby)
    if last:
        for k in range(state["waiting"]):
            arrival = lobby.arrival[at(k)]
            prioritized = is_prioritized(arrival, rules.horizon, rules)
            add_unmatched(rules.horizon - arrival, prioritized, state)
    return taken


def waiting_teams(lobby: Lobby) -> list[tuple[int, list[int]]]:
    """Return the teams that wait for another: there are none, teams are made in pairs."""
    return []


@expanded
def has_room(rules: Rules, lobby: Lobby) -> bool:
    """Return whether another player can join; see `grown`."""
    return lobby.state[0]["waiting"] < lobby.arrival.size


@expanded
def next_expiry(rules: Rules, lobby: Lobby) -> float:
    """Return when the next player has a review for becoming prioritized, infinity for never."""
    if not rules.continuous:
        return np.inf
    state = lobby.state[0]
    if state["expired"] == state["waiting"]:
        return np.inf
    due = lobby.arrival[at(state["expired"])] + rules.wait_thresh
    return due if due < rules.horizon else np.inf


@expanded
def join(now: float, rating: float, player: int, rules: Rules, lobby: Lobby) -> int:
    """Put a newcomer into the pool; return his place there."""
    state = lobby.state[0]
    place = state["waiting"]
    lobby.arrival[at(place)], lobby.rating[at(place)] = now, rating
    lobby.ticks[at(place)], lobby.player[at(place)] = tick_of(now, rules), player
    state["waiting"] = place + 1
    return place


@expanded
def leave(arrival: float, player: int, rules: Rules, lobby: Lobby) -> bool:
    """Let a player leave who waits since `arrival`; that dissolves no team."""
    state = lobby.state[0]
    left = 0
    while lobby.arrival[at(left)] < arrival or lobby.player[at(left)] != player:
        left += 1
    state["prioritized_now"] -= int(left < state["prioritized_now"])
    state["expired"] -= int(left < state["expired"])
    state["waiting"] -= 1
    for k in range(left, state["waiting"]):
        _move(k + 1, k, lobby)
    state["seen"] = state["seen_prioritized"] = 0  # the search knows players by their places
    return False


@expanded
def review(now: float, newcomer: int, rules: Rules, lobby: Lobby) -> int:
    """Make the best match; return the number of matches, 0 or 1.

    `newcomer`: place of the player whose arrival it is; NOBODY where somebody becomes prioritized.
    """
    if not _found(now, newcomer, rules, lobby):
        return 0
    for side in range(2):
        for k in range(rules.team_num):
            place = lobby.teams[at(side), at(k)]
            lobby.matched[at(side * rules.team_num + k)] = lobby.player[at(place)]
    _close_gaps(rules, lobby)
    return 1


@expanded
def line_up(match: int, rules: Rules, lobby: Lobby, players: Ints) -> None:
    """Give the players of the match of the last review, those of team a first."""
    for k in range(2 * rules.team_num):
        players[at(k)] = lobby.matched[at(k)]


@expanded
def _found(now: float, newcomer: int, rules: Rules, lobby: Lobby) -> bool:
    """Look for the best match; its positions in the pool go to `teams`."""
    state, work = lobby.state[0], lobby.work
    state["expired"] += int(newcomer == NOBODY)
    n, prioritized = state["waiting"], state["prioritized_now"]
    while prioritized < n and is_prioritized(lobby.arrival[at(prioritized)], now, rules):
        prioritized += 1
    state["prioritized_now"] = prioritized
    found = find_match(
        lobby.ticks,
        lobby.rating,
        n,
        prioritized,
        state["seen"],
        state["seen_prioritized"],
        rules,
        work.state,
        work.players,
        work.ranked,
        work.windows,
        work.nodes,
        work.candidates,
        work.rests,
        work.chosen,
        work.teams,
        lobby.teams[0],
        lobby.teams[1],
    )
    state["seen"] = 0 if found else n
    state["seen_prioritized"] = 0 if found else prioritized
    return found


@expanded
def _count(now: float, rules: Rules, lobby: Lobby, waits: Floats, log: Floats) -> None:
    """Count the match and log it."""
    state = lobby.state[0]
    number, team_num = state["matches"], rules.team_num
    gap, spread = 0.0, 0.0
    for side in range(2):
        total, least, most = 0.0, np.inf, -np.inf
        for k in range(team_num):
            place = lobby.teams[at(side), at(k)]
            value = lobby.rating[at(place)]
            total += value
            least, most = min(least, value), max(most, value)
            prioritized = place < state["prioritized_now"]
            add_player(now - lobby.arrival[at(place)], prioritized, state, waits)
            if number < log.shape[0]:
                log[at(number), at(3 + side * team_num + k)] = lobby.player[at(place)]
        gap = total / team_num - gap
        spread += most - least
    if number < log.shape[0]:
        log[at(number), 0], log[at(number), 1], log[at(number), 2] = now, 2 * number, 2 * number + 1
    add_match(abs(gap), spread, state)


@expanded
def _close_gaps(rules: Rules, lobby: Lobby) -> None:
    """Take the players of a match out of the pool."""
    state, team_num = lobby.state[0], rules.team_num
    prioritized, expired = state["prioritized_now"], state["expired"]
    kept, next_a, next_b = 0, 0, 0
    for k in range(state["waiting"]):
        in_a = next_a < team_num and lobby.teams[0, at(next_a)] == k
        in_b = next_b < team_num and lobby.teams[1, at(next_b)] == k
        next_a += int(in_a)
        next_b += int(in_b)
        if in_a or in_b:
            state["prioritized_now"] -= int(k < prioritized)
            state["expired"] -= int(k < expired)
            continue
        _move(k, kept, lobby)
        kept += 1
    state["waiting"] = kept


@expanded
def _move(place: int, to: int, lobby: Lobby) -> None:
    """Copy a player of the pool to another place."""
    lobby.arrival[at(to)], lobby.rating[at(to)] = lobby.arrival[at(place)], lobby.rating[at(place)]
    lobby.ticks[at(to)], lobby.player[at(to)] = lobby.ticks[at(place)], lobby.player[at(place)]
