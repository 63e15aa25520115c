"""Joint matching: at each review at most one match, both of its teams chosen at once."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats, Ints, Records
from valmatch.kernels.compilation import at, macro
from valmatch.matching.joint_search import BEST_A, BEST_B, Pool, Work, find_match, new_work
from valmatch.matching.queue import LINEUP, NOBODY, no_waiting_teams
from valmatch.matching.rules import Rules, is_prioritized, tick_of

Parameters = Rules

STATE = np.dtype(
    [
        ("waiting", "i8"),  # players in the pool
        ("formed", "i8"),  # teams formed so far
        ("prioritized_now", "i8"),  # the first so many of the pool are prioritized
        ("expired", "i8"),  # the first so many have had the review of their own moment
        ("seen", "i8"),  # size of the pool, and its prioritized players, at the last review
        ("seen_prioritized", "i8"),  # if that found nothing; else 0
    ]
)
EMPTY = np.zeros(1, STATE)


class QueueState(NamedTuple):
    """The pool in order of arrival."""

    state: Records  # one record of scalars
    arrival: Floats  # hours
    rating: Floats  # Elo points
    ticks: Ints  # arrivals in ticks
    player: Ints  # who they are, as told when joining
    # (2 team_num,) records of `LINEUP`: the players of that match, those of team a first
    lineup: Records
    work: Work  # memory of the search


def new(capacity: int, rules: Rules) -> QueueState:
    """Return an empty queue with room for `capacity` waiting players."""
    team_num = rules.team_num
    return QueueState(
        np.zeros(1, STATE),
        np.empty(capacity),
        np.empty(capacity),
        np.empty(capacity, np.int64),
        np.empty(capacity, np.int64),
        np.empty(2 * team_num, LINEUP),
        new_work(capacity, team_num),
    )


@macro
def reset(queue: QueueState) -> None:
    """Empty the queue for the next replication."""
    queue.state[0] = EMPTY[0]


def grown(queue: QueueState, rules: Rules) -> QueueState:
    """Return a copy of a queue with twice the room; the search starts afresh."""
    large = new(2 * queue.arrival.size, rules)
    for old, copy in zip(queue[:-1], large[:-1], strict=True):
        copy[: old.size] = old
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


waiting_teams = no_waiting_teams


@macro
def has_room(rules: Rules, queue: QueueState) -> bool:
    """Return whether another player can join; see `grown`."""
    return queue.state[0]["waiting"] < queue.arrival.size


@macro
def next_review(rules: Rules, queue: QueueState) -> float:
    """Return when the next player becomes prioritized, if that has a review; else infinity."""
    if not rules.continuous:
        return np.inf
    state = queue.state[0]
    if state["expired"] == state["waiting"]:
        return np.inf
    due = queue.arrival[at(state["expired"])] + rules.wait_thresh
    return due if due < rules.horizon else np.inf


@macro
def enqueue(now: float, rating: float, player: int, rules: Rules, queue: QueueState) -> int:
    """Put a newcomer into the pool; return their place there."""
    state = queue.state[0]
    place = state["waiting"]
    queue.arrival[at(place)], queue.rating[at(place)] = now, rating
    queue.ticks[at(place)], queue.player[at(place)] = tick_of(now, rules), player
    state["waiting"] = place + 1
    return place


@macro
def leave(arrival: float, player: int, rules: Rules, queue: QueueState) -> bool:
    """Let a player leave who waits since `arrival`; that dissolves no team."""
    state = queue.state[0]
    left = 0
    while queue.arrival[at(left)] < arrival or queue.player[at(left)] != player:
        left += 1
    state["prioritized_now"] -= int(left < state["prioritized_now"])
    state["expired"] -= int(left < state["expired"])
    state["waiting"] -= 1
    for k in range(left, state["waiting"]):
        _move(k + 1, k, queue)
    state["seen"] = state["seen_prioritized"] = 0  # the search knows players by their places
    return False


@macro
def review(now: float, newcomer: int, rules: Rules, queue: QueueState) -> int:
    """Make the best match; return the number of matches, 0 or 1.

    `newcomer`: place of the player whose arrival it is; NOBODY where somebody becomes prioritized.
    """
    if not _found(now, newcomer, rules, queue):
        return 0
    state = queue.state[0]
    for side in range(2):
        for k in range(rules.team_num):
            place = queue.work.teams[at(side), at(k)]
            player = queue.lineup[at(side * rules.team_num + k)]
            player["player"], player["team"] = queue.player[at(place)], state["formed"]
            player["arrival"], player["rating"] = queue.arrival[at(place)], queue.rating[at(place)]
        state["formed"] += 1
    _close_gaps(rules, queue)
    return 1


@macro
def players_of_match(match: int, rules: Rules, queue: QueueState, lineup: Records) -> None:
    """Give the players of the match of the last review, those of team a first."""
    for k in range(2 * rules.team_num):
        lineup[at(k)] = queue.lineup[at(k)]


@macro
def still_waiting(rules: Rules, queue: QueueState, arrivals: Floats) -> None:
    """Give the arrivals of all who wait, in order."""
    for k in range(queue.state[0]["waiting"]):
        arrivals[at(k)] = queue.arrival[at(k)]


@macro
def _found(now: float, newcomer: int, rules: Rules, queue: QueueState) -> bool:
    """Look for the best match; its positions in the pool go to `work.teams`."""
    state = queue.state[0]
    state["expired"] += int(newcomer == NOBODY)
    n, prioritized = state["waiting"], state["prioritized_now"]
    while prioritized < n and is_prioritized(queue.arrival[at(prioritized)], now, rules):
        prioritized += 1
    state["prioritized_now"] = prioritized
    before = state["seen"], state["seen_prioritized"]
    pool = Pool(queue.ticks, queue.rating, n, prioritized, before[0], before[1])
    found = find_match(pool, rules, queue.work)
    state["seen"] = 0 if found else n
    state["seen_prioritized"] = 0 if found else prioritized
    return found


@macro
def _close_gaps(rules: Rules, queue: QueueState) -> None:
    """Take the players of a match out of the pool."""
    state, team_num = queue.state[0], rules.team_num
    prioritized, expired = state["prioritized_now"], state["expired"]
    remaining, next_a, next_b = 0, 0, 0
    for k in range(state["waiting"]):
        in_a = next_a < team_num and queue.work.teams[BEST_A, at(next_a)] == k
        in_b = next_b < team_num and queue.work.teams[BEST_B, at(next_b)] == k
        next_a += int(in_a)
        next_b += int(in_b)
        if in_a or in_b:
            state["prioritized_now"] -= int(k < prioritized)
            state["expired"] -= int(k < expired)
            continue
        _move(k, remaining, queue)
        remaining += 1
    state["waiting"] = remaining


@macro
def _move(place: int, to: int, queue: QueueState) -> None:
    """Copy a player of the pool to another place."""
    queue.arrival[at(to)], queue.rating[at(to)] = queue.arrival[at(place)], queue.rating[at(place)]
    queue.ticks[at(to)], queue.player[at(to)] = queue.ticks[at(place)], queue.player[at(place)]
