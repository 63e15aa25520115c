"""The memory of the joint search, and the two teams that a depth-first search fills.

The players of a match are named by their positions in the pool, which is in order of arrival. Of
two teams that are paired the one with the earliest player is b, the other one a.

The parts of the search take the arrays of `Work` one by one, which is faster than the whole of it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from valmatch.kernels.arrays import Ints, Records
from valmatch.kernels.compilation import inlined
from valmatch.kernels.halting import watched
from valmatch.matching.rules import Rules

Struct = Any  # one row of a structured array; the kernels see it as a C struct
NEVER = 2**62  # cost of what cannot be

STATE = np.dtype(
    [
        ("ordered", "i8"),  # positions 0..ordered-1 are in rating order
        ("windows", "i8"),
        ("unresolved", "i8"),  # smallest bound of a pair of windows that needs the full search
        ("cost", "i8"),  # of the best match so far
        ("diff", "f8"),  # |difference of sums| of the best match so far
        ("bound", "i8"),  # of the pair of windows looked at
        ("tied", "i8"),  # whether other players of that pair have the same cost
        ("slop", "f8"),  # no bound on a sum of ratings is off by more
        ("halt", "i8"),  # not 0 where the search is to end; see `valmatch.kernels.halting`
    ]
)
PLAYER = np.dtype(
    [
        ("cost", "i8"),
        ("rank", "i8"),  # in rating order
    ]
)
RANKED = np.dtype(
    [
        ("rating", "f8"),
        ("position", "i8"),
        ("sum", "f8"),  # these three over all lower ranks: ratings, ...
        ("prioritized", "i8"),  # ... prioritized players, ...
        ("changed", "i8"),  # ... players who changed
    ]
)
WINDOW = np.dtype(
    [
        ("first", "i8"),  # ranks first..end-1 ...
        ("end", "i8"),
        ("floor", "i8"),  # ... at positions from here on
        ("slack", "i8"),  # whether its teams must hold a prioritized player
        ("changed", "i8"),
    ]
)
NODE = np.dtype(
    [
        ("choice", "i8"),  # next thing to try: to team b, to team a, to none
        ("cost", "i8"),
        ("size_b", "i8"),
        ("size_a", "i8"),
        ("sum_b", "f8"),
        ("sum_a", "f8"),
    ]
)
TO_B, TO_A, TO_NONE, DONE = range(4)
REST = np.dtype(
    [
        ("cost", "i8"),
        ("low", "f8"),  # sum_b - sum_a
        ("high", "f8"),
    ]
)

TRIAL_B, TRIAL_A, BEST_B, BEST_A = range(4)
"""Rows of `Work.teams`."""


class Work(NamedTuple):
    """Memory of the search, kept between reviews."""

    state: Records  # one record of scalars
    players: Records  # by position in the pool
    ranked: Records  # by rank in rating order, one more than there are players
    windows: Records  # maximal rating windows with room for a team
    nodes: Records  # stack of a depth-first search
    # (3, capacity): positions that a search looks at; whether they may join b, or a
    candidates: Ints
    # (capacity + 1, p + 1, p + 1): the least that candidates t, t + 1, ... add to the cost, the
    # least and the most to sum_b - sum_a, when b lacks i and a lacks j players
    rests: Records
    chosen: Ints  # (2, 2 p): best players of a pair of windows, and those that were last split
    teams: Ints  # (4, p): teams b and a looked at, teams b and a of the best match so far


def new_work(capacity: int, team_num: int) -> Work:
    """Return memory for pools of up to `capacity` players."""
    return Work(
        watched(np.zeros(1, STATE)),
        np.zeros(capacity, PLAYER),
        np.zeros(capacity + 1, RANKED),
        np.zeros(2 * capacity, WINDOW),
        np.zeros(capacity + 1, NODE),
        np.zeros((3, capacity), np.int64),
        np.zeros((capacity + 1, team_num + 1, team_num + 1), REST),
        np.zeros((2, 2 * team_num), np.int64),
        np.zeros((4, team_num), np.int64),
    )


@inlined
def set_root(node: Struct) -> None:
    """Make a node of a depth-first search the root: two empty teams."""
    node["choice"], node["cost"] = TO_B, 0
    node["size_b"], node["size_a"] = 0, 0
    node["sum_b"], node["sum_a"] = 0.0, 0.0


@inlined
def set_child(node: Struct, child: Struct, choice: int, rating: float, cost: int) -> None:
    """Set the child of a node after a player was put into a team, or into none."""
    child["choice"], child["cost"] = TO_B, node["cost"] + (cost if choice != TO_NONE else 0)
    child["size_b"], child["sum_b"] = node["size_b"], node["sum_b"]
    child["size_a"], child["sum_a"] = node["size_a"], node["sum_a"]
    if choice == TO_B:
        child["size_b"] += 1
        child["sum_b"] += rating
    elif choice == TO_A:
        child["size_a"] += 1
        child["sum_a"] += rating


@inlined
def offer(cost: int, diff: float, rules: Rules, state: Struct, teams: Ints) -> None:
    """Keep the teams looked at if they beat the best match so far."""
    if cost > state["cost"]:
        return
    if cost == state["cost"]:
        if rules.balanced and diff != state["diff"]:
            if diff > state["diff"]:
                return
        elif compare(teams, rules.team_num, rules.team_num) >= 0:
            return
    state["cost"], state["diff"] = cost, diff
    for k in range(rules.team_num):
        teams[BEST_B, k] = teams[TRIAL_B, k]
        teams[BEST_A, k] = teams[TRIAL_A, k]


@inlined
def compare(teams: Ints, size_b: int, size_a: int) -> int:
    """Return the sign of the (partial) teams looked at minus the best ones: b first, then a."""
    for k in range(size_b):
        if teams[TRIAL_B, k] != teams[BEST_B, k]:
            return -1 if teams[TRIAL_B, k] < teams[BEST_B, k] else 1
    for k in range(size_a):
        if teams[TRIAL_A, k] != teams[BEST_A, k]:
            return -1 if teams[TRIAL_A, k] < teams[BEST_A, k] else 1
    return 0
