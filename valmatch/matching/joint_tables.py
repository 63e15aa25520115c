"""Joint matching, second idea: a search of two windows that knows what the rest can add.

The search goes depth first through the players in order of arrival: to team b, to team a, to none.
For the players from t on, with i places of b and j of a to fill, a table holds the least cost, and
the smallest and the largest difference of sums, that they can add. It is filled from the last
player back::

    least[t, i, j] = min(least[t + 1, i, j],                   t joins none
                         cost[t] + least[t + 1, i - 1, j],     t joins b, if in its window
                         cost[t] + least[t + 1, i, j - 1])     t joins a, if in its window

and likewise the differences, with the rating of t added for b and taken for a.

Why nothing is lost. Each of the three is exact for the rest by itself (induction from the last
player back), so a partial match is given up only if no completion is cheap enough, or if none has
a difference of sums within the limit, or if it can at best tie with the best match so far and has
lost the tie. The sums of the table are rounded in another order than those of a match; `slop`
bounds by how much, so that a bound never refuses what the exact comparison would allow.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from valmatch.kernels.arrays import Floats, Ints, Records
from valmatch.kernels.compilation import inlined, unallocating
from valmatch.matching.joint_work import (
    BEST_B,
    DONE,
    NEVER,
    TO_A,
    TO_B,
    TRIAL_A,
    TRIAL_B,
    compare,
    offer,
    set_child,
    set_root,
)
from valmatch.matching.rules import Rules

Struct = Any  # one row of a structured array; the kernels see it as a C struct


@unallocating
def search(
    ratings: Floats,
    limit: float,
    rules: Rules,
    state: Struct,
    players: Records,
    nodes: Records,
    candidates: Ints,
    rests: Records,
    teams: Ints,
) -> None:
    """Offer the best match of the tabulated candidates, if it is the best so far.

    Depth first over the players in order of arrival: to team b, to team a, to none. The first
    player taken is in team b of the better naming of two teams.
    """
    p = rules.team_num
    set_root(nodes[0])
    depth = 0
    while depth >= 0 and state["halt"] == 0:
        node = nodes[depth]
        choice, size_b, size_a = node["choice"], node["size_b"], node["size_a"]
        node["choice"] = choice + 1
        if choice == TO_B:
            if _hopeless(depth, node, limit, rules, state, candidates, rests, teams):
                depth -= 1
                continue
            if size_b == p and size_a == p:
                offer(node["cost"], abs(node["sum_a"] - node["sum_b"]), rules, state, teams)
                depth -= 1
                continue
        if choice == DONE:
            depth -= 1
            continue
        position = candidates[0, depth]
        if choice == TO_B:
            if size_b == p or candidates[1, depth] == 0:
                continue
            teams[TRIAL_B, size_b] = position
        elif choice == TO_A:
            if size_a == p or size_b == 0 or candidates[2, depth] == 0:
                continue
            teams[TRIAL_A, size_a] = position
        set_child(node, nodes[depth + 1], choice, ratings[position], players[position]["cost"])
        depth += 1


@inlined
def _hopeless(
    depth: int,
    node: Struct,
    limit: float,
    rules: Rules,
    state: Struct,
    candidates: Ints,
    rests: Records,
    teams: Ints,
) -> bool:
    """Return whether no completion of two partial teams beats the best match so far."""
    p = rules.team_num
    size_b, size_a = node["size_b"], node["size_a"]
    rest = rests[depth, p - size_b, p - size_a]
    cost = rest["cost"]
    if cost == NEVER or node["cost"] + cost > state["cost"]:
        return True
    diff = node["sum_b"] - node["sum_a"]
    low, high = diff + rest["low"], diff + rest["high"]
    least = max(low, -high)  # |sum_b - sum_a| gets no smaller; below 0 it may vanish
    if least > limit + state["slop"]:
        return True
    if size_b == p and size_a == p:
        return bool(abs(diff) > limit)
    if node["cost"] + cost < state["cost"]:
        return False
    # Only ties are left, so the tie-break has to be won.
    if rules.balanced and state["diff"] > 0.0:
        return bool(least > state["diff"] + state["slop"])
    order = compare(teams, size_b, 0)
    if order == 0 and size_b < p:
        return bool(candidates[0, depth] > teams[BEST_B, size_b])
    return order > 0


@unallocating
def tabulate(
    ratings: Floats,
    n: int,
    n_prioritized: int,
    window_b: Struct,
    window_a: Struct,
    team_num: int,
    players: Records,
    candidates: Ints,
    rests: Records,
) -> None:
    """List the players of two windows, for teams b and a, and fill `rests` from the last one back.

    What is left after player t is the table of t + 1, with one player less to find where t was
    taken. Where a team must hold a prioritized player and they are over, an empty team is lost.
    """
    size = 0
    for position in range(n):
        rank = players[position]["rank"]
        in_b = window_b["first"] <= rank < window_b["end"] and position >= window_b["floor"]
        in_a = window_a["first"] <= rank < window_a["end"] and position >= window_a["floor"]
        if in_b or in_a:
            candidates[0, size] = position
            candidates[1, size], candidates[2, size] = in_b, in_a
            size += 1
    for i in range(team_num + 1):
        for j in range(team_num + 1):
            _leave(rests[size, i, j], NEVER, np.inf, -np.inf)
    _leave(rests[size, 0, 0], 0, 0.0, 0.0)
    for t in range(size - 1, -1, -1):
        position = candidates[0, t]
        rating, own = ratings[position], players[position]["cost"]
        over = position >= n_prioritized
        for i in range(team_num + 1):
            for j in range(team_num + 1):
                if over and (
                    (i == team_num and window_b["slack"] > 0)
                    or (j == team_num and window_a["slack"] > 0)
                ):
                    _leave(rests[t, i, j], NEVER, np.inf, -np.inf)
                    continue
                none = rests[t + 1, i, j]
                cost, low, high = none["cost"], none["low"], none["high"]
                if candidates[1, t] > 0 and i > 0:
                    to_b = rests[t + 1, i - 1, j]
                    if to_b["cost"] < NEVER:
                        cost = min(cost, own + to_b["cost"])
                        low = min(low, rating + to_b["low"])
                        high = max(high, rating + to_b["high"])
                if candidates[2, t] > 0 and j > 0:
                    to_a = rests[t + 1, i, j - 1]
                    if to_a["cost"] < NEVER:
                        cost = min(cost, own + to_a["cost"])
                        low = min(low, to_a["low"] - rating)
                        high = max(high, to_a["high"] - rating)
                _leave(rests[t, i, j], cost, low, high)


@inlined
def _leave(rest: Struct, cost: int, low: float, high: float) -> None:
    """Set what the candidates from one on can add."""
    rest["cost"], rest["low"], rest["high"] = cost, low, high
