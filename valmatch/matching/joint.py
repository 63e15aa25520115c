"""Joint matching: at each review at most one match, both of its teams chosen at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.compilation import inlined, unallocating
from valmatch.matching.joint_search import Work, find_match, new_work
from valmatch.matching.rules import Rules, is_prioritized, tick_of
from valmatch.matching.tally import SUMS, add_match, add_player, add_unmatched

__all__ = ["Lobby", "grown", "new_lobby", "reset", "run", "waiting_teams"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Records = NDArray[np.void]
Struct = Any
"""One row of a structured array; the kernels see it as a C struct."""

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
        Indices in order of arrival.
    teams : numpy.ndarray
        (2, team_num): positions in the pool of team a and team b of the match found.
    work : Work
        Memory of the search.
    """

    state: Records
    arrival: Floats
    rating: Floats
    ticks: Ints
    player: Ints
    teams: Ints
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
        new_work(capacity, team_num),
    )


def reset(lobby: Lobby) -> None:
    """Empty a lobby for the next replication."""
    lobby.state[:] = 0


def grown(lobby: Lobby, team_num: int) -> Lobby:
    """Return a copy of a lobby with twice the room; the search starts afresh."""
    large = new_lobby(2 * lobby.arrival.size, team_num)
    for old, new in zip(lobby[:-1], large[:-1], strict=True):
        new[: old.shape[0]] = old
    large.state["seen"] = large.state["seen_prioritized"] = 0
    return large


@unallocating
def run(
    times: Floats,
    ratings: Floats,
    first: int,
    last: bool,
    rules: Rules,
    state_: Records,
    arrival: Floats,
    rating: Floats,
    ticks: Ints,
    player: Ints,
    teams: Ints,
    work: Work,
    waits: Floats,
    log: Floats,
) -> int:
    """Let players arrive, with a review at each arrival, until done or out of room.

    With continuous reviews there is one more at arrival + wait_thresh of every player still
    waiting; where that moment coincides with an arrival it comes first, without the newcomer.
    Parameters and result are those of `valmatch.matching.team_first.run`; the teams of match m
    are numbered 2m and 2m + 1.
    """
    state = state_[0]
    taken = 0
    while True:
        due = np.inf
        if rules.continuous and state["expired"] < state["waiting"]:
            due = arrival[state["expired"]] + rules.wait_thresh
            if due >= rules.horizon:
                due = np.inf
        n = state["waiting"]
        if taken < times.size and times[taken] < due:
            now = times[taken]
            if n == arrival.size or state["matched"] + n >= waits.size:
                return taken
            arrival[n], rating[n], player[n] = now, ratings[taken], first + taken
            ticks[n] = tick_of(now, rules)
            state["waiting"] = n + 1
            taken += 1
        elif due < np.inf and (taken < times.size or last):
            now = due
            state["expired"] += 1
        else:
            break
        if _review(now, rules, state, arrival, rating, ticks, teams, work):
            _match(now, rules, state, arrival, rating, player, teams, waits, log)
            _close_gaps(rules.team_num, state, arrival, rating, ticks, player, teams)
    if last:
        for k in range(state["waiting"]):
            waited = rules.horizon - arrival[k]
            add_unmatched(waited, is_prioritized(arrival[k], rules.horizon, rules), state)
    return taken


def waiting_teams(lobby: Lobby) -> list[tuple[int, list[int]]]:
    """Return the teams that wait for another: there are none, teams are made in pairs."""
    return []


@inlined
def _review(
    now: float,
    rules: Rules,
    state: Struct,
    arrival: Floats,
    rating: Floats,
    ticks: Ints,
    teams: Ints,
    work: Work,
) -> bool:
    """Look for the best match; its positions in the pool go to `teams`."""
    n, prioritized = state["waiting"], state["prioritized_now"]
    while prioritized < n and is_prioritized(arrival[prioritized], now, rules):
        prioritized += 1
    state["prioritized_now"] = prioritized
    seen, seen_prioritized = state["seen"], state["seen_prioritized"]
    found = find_match(
        ticks,
        rating,
        n,
        prioritized,
        seen,
        seen_prioritized,
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
        teams[0],
        teams[1],
    )
    state["seen"] = 0 if found else n
    state["seen_prioritized"] = 0 if found else prioritized
    return found


@inlined
def _match(
    now: float,
    rules: Rules,
    state: Struct,
    arrival: Floats,
    rating: Floats,
    player: Ints,
    teams: Ints,
    waits: Floats,
    log: Floats,
) -> None:
    """Count the match and log it."""
    number, team_num = state["matches"], rules.team_num
    gap, spread = 0.0, 0.0
    for side in range(2):
        total, least, most = 0.0, np.inf, -np.inf
        for k in range(team_num):
            position = teams[side, k]
            value = rating[position]
            total += value
            least, most = min(least, value), max(most, value)
            prioritized = position < state["prioritized_now"]
            add_player(now - arrival[position], prioritized, state, waits)
            if number < log.shape[0]:
                log[number, 3 + side * team_num + k] = player[position]
        gap = total / team_num - gap
        spread += most - least
    if number < log.shape[0]:
        log[number, 0], log[number, 1], log[number, 2] = now, 2 * number, 2 * number + 1
    add_match(abs(gap), spread, state)


@inlined
def _close_gaps(
    team_num: int,
    state: Struct,
    arrival: Floats,
    rating: Floats,
    ticks: Ints,
    player: Ints,
    teams: Ints,
) -> None:
    """Take the players of a match out of the pool."""
    prioritized, expired = state["prioritized_now"], state["expired"]
    kept, next_a, next_b = 0, 0, 0
    for k in range(state["waiting"]):
        in_a = next_a < team_num and teams[0, next_a] == k
        in_b = next_b < team_num and teams[1, next_b] == k
        next_a += int(in_a)
        next_b += int(in_b)
        if in_a or in_b:
            state["prioritized_now"] -= int(k < prioritized)
            state["expired"] -= int(k < expired)
            continue
        arrival[kept], rating[kept] = arrival[k], rating[k]
        ticks[kept], player[kept] = ticks[k], player[k]
        kept += 1
    state["waiting"] = kept
