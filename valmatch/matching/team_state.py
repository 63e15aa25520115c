"""The data of team-first matching: who waits, who has no team, which teams are formed.

The players wait in a queue in order of arrival, those without a team also in a pool by rating::

    place        0     1     2     3     4     5      "longest waiting" is "smallest place"
    queue      1010   950  1480   990  1010  1100     ratings in order of arrival
               gone   pool  team 0 pool  pool  pool
                                   ^ head: whoever waits before it is prioritized

    ratings     .  .  950   990  1010  1100  .  .     the pool by rating, between margins of NaN
    places            1     3     4     5             ... and its places in the queue

A place is given once. When all are given, whoever still waits moves to the front (`compact`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats, Ints, Records
from valmatch.kernels.compilation import at, inlined, shared
from valmatch.matching.queue import NOBODY
from valmatch.matching.rules import Rules, team_size

IN_POOL, GONE = -1, -2
"""What stands for the team of players who have none, and of players who have left."""

STATE = np.dtype(
    [
        ("end", "i8"),  # places of the queue that are given
        ("head", "i8"),  # place before which everybody who waits is prioritized
        ("waiting", "i8"),  # players waiting, with or without a team
        ("pool", "i8"),  # players without a team
        ("pool_prioritized", "i8"),
        ("teams", "i8"),  # formed teams
        ("teams_prioritized", "i8"),  # those with a prioritized player
        ("used_teams", "i8"),  # team slots that were ever in use
        ("free_team", "i8"),  # first of those that are free again
        ("formed", "i8"),  # teams formed so far
        ("changed", "i8"),  # players, then teams, changed since the last review
        ("changed_teams", "i8"),
        ("relaxed", "i8"),  # pool scope: whether slack applied when the last review ended
    ]
)
PLAYER = np.dtype(
    [
        ("arrival", "f8"),  # hours
        ("rating", "f8"),
        ("key", "i8"),  # arrival in ticks, plus `penalty` until prioritized
        ("player", "i8"),  # who it is, as told when joining
        ("team", "i8"),  # slot of the team, or IN_POOL, or GONE
    ]
)
TEAM = np.dtype(
    [
        ("sum", "f8"),  # of ratings
        ("key", "i8"),  # sum of keys
        ("order", "i8"),  # number in order of formation
        ("prioritized", "i8"),  # prioritized members; -1 where the slot is free
        ("next_free", "i8"),  # where the slot is free
    ]
)
TEAM_BY_SUM = np.dtype([("sum", "f8"), ("team", "i8")])

EMPTY = np.zeros(1, STATE)  # state of an empty queue
EMPTY["free_team"] = NOBODY

CHANGED, CHANGED_TEAMS, BEST, CANDIDATE = range(4)
"""Rows of `QueueState.marks`."""


class QueueState(NamedTuple):
    """The waiting players and the formed teams."""

    state: Records  # one record of scalars
    players: Records  # who waits, by place, in order of arrival
    # ratings, places: the players without a team by ascending rating, and their places in the
    # queue; team_num entries of NaN on either side
    ratings: Floats
    places: Ints
    # teams, members: the formed teams by slot; the places of their players, ascending
    teams: Records
    members: Ints
    by_sum: Records  # the formed teams by ascending sum of ratings
    pairs: Ints  # the matches of a review: slots of the older and the younger team
    # rows of places or slots: players and teams that changed since the last review, the best team
    # so far and the one looked at
    marks: Ints


def new(capacity: int, rules: Rules) -> QueueState:
    """Return an empty queue with `capacity` places (at least for 2 teams)."""
    team_num = rules.team_num
    capacity = max(capacity, 2 * team_num)
    teams = capacity // team_num + 1
    return QueueState(
        EMPTY.copy(),
        np.zeros(capacity, PLAYER),
        np.full(capacity + 2 * team_num, np.nan),
        np.zeros(capacity + 2 * team_num, np.int64),
        np.zeros(teams, TEAM),
        np.zeros((teams, team_num), np.int64),
        np.zeros(teams, TEAM_BY_SUM),
        np.zeros((teams, 2), np.int64),
        np.zeros((4, capacity + 1), np.int64),
    )


@shared
def reset(queue: QueueState) -> None:
    """Empty the queue for the next replication."""
    queue.state[0] = EMPTY[0]
    queue.ratings[:] = np.nan


def grown(queue: QueueState, rules: Rules) -> QueueState:
    """Return a copy of a queue with twice the room; all players keep their places."""
    large = new(2 * queue.players.size, rules)
    for old, copy in zip(queue[:-1], large[:-1], strict=True):
        copy[: len(old)] = old
    return large


@inlined
def penalty(rules: Rules) -> int:
    """Return what is added to a player's ticks until he is prioritized.

    More than the ticks of all players of a match, see `ticks_per_hour`; small enough to be added
    for each of them.
    """
    return (1 << 61) // (2 * team_size(rules))


@inlined
def enter_pool(place: int, rating: float, rules: Rules, queue: QueueState) -> int:
    """Put a player of the queue into the pool; return his place there."""
    state = queue.state[0]
    k = team_size(rules) + state["pool"]
    state["pool"] += 1
    while queue.ratings[at(k - 1)] > rating:  # not so for the NaN before the first
        queue.ratings[at(k)], queue.places[at(k)] = (
            queue.ratings[at(k - 1)],
            queue.places[at(k - 1)],
        )
        k -= 1
    queue.ratings[at(k)], queue.places[at(k)] = rating, place
    return k


@inlined
def leave_pool(low: int, count: int, rules: Rules, queue: QueueState) -> None:
    """Close the gaps that so many players have left in the pool, from `low` on."""
    state = queue.state[0]
    k, remaining, stop = low, low, team_size(rules) + state["pool"]
    while k - remaining < count:
        if queue.players[at(queue.places[at(k)])]["team"] == IN_POOL:
            queue.ratings[at(remaining)], queue.places[at(remaining)] = (
                queue.ratings[at(k)],
                queue.places[at(k)],
            )
            remaining += 1
        k += 1
    for k in range(remaining, stop - count):
        queue.ratings[at(k)] = queue.ratings[at(k + count)]
        queue.places[at(k)] = queue.places[at(k + count)]
    for k in range(stop - count, stop):
        queue.ratings[at(k)] = np.nan
    state["pool"] -= count


@inlined
def remove_team(team: int, queue: QueueState) -> None:
    """Take a team out of those that are formed and free its slot."""
    state = queue.state[0]
    place = team_place(team, queue)
    state["teams"] -= 1
    state["teams_prioritized"] -= int(queue.teams[at(team)]["prioritized"] > 0)
    for k in range(place, state["teams"]):
        queue.by_sum[at(k)] = queue.by_sum[at(k + 1)]
    queue.teams[at(team)]["prioritized"] = NOBODY
    queue.teams[at(team)]["next_free"] = state["free_team"]
    state["free_team"] = team


@inlined
def team_place(team: int, queue: QueueState) -> int:
    """Return the position of a team by sum of ratings."""
    state = queue.state[0]
    total = queue.teams[at(team)]["sum"]
    start, stop = 0, state["teams"]
    while start < stop:
        middle = (start + stop) // 2
        if queue.by_sum[at(middle)]["sum"] < total:
            start = middle + 1
        else:
            stop = middle
    while queue.by_sum[at(start)]["team"] != team:
        start += 1
    return start
