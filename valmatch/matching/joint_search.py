"""Joint matching: the best pair of disjoint teams in a pool, found exactly by branch and bound.

Every pair of rating windows is looked at twice: first for its greedy choice, which bounds what it
can hold (`valmatch.matching.joint_windows`), then, where that may be better than the best match so
far, by a search with exact tables (`valmatch.matching.joint_tables`).

The key of a match is one integer, the sum of its players' *costs*: ticks since the first arrival,
and for players who are not prioritized a constant larger than any sum of ticks. Costs ascend with
the position in the pool, because the oldest players are the prioritized ones.
"""

from __future__ import annotations

import numpy as np

from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import unallocating
from valmatch.matching.joint_tables import search, tabulate
from valmatch.matching.joint_windows import (
    choose_greedily,
    find_windows,
    largest_gap,
    may_hold_match,
    order,
    set_costs,
    split_greedily,
)
from valmatch.matching.joint_work import BEST_A, BEST_B, NEVER, Work
from valmatch.matching.rules import Rules


@unallocating
def find_match(
    ticks: Ints,
    ratings: Floats,
    n: int,
    n_prioritized: int,
    n_before: int,
    n_prioritized_before: int,
    rules: Rules,
    work: Work,
    team_a: Ints,
    team_b: Ints,
) -> bool:
    """Find the best match in a pool of players in order of arrival.

    A team may span `player_diff` Elo points, two teams may differ by `team_diff` in their means
    (compared as sums: |sum_a - sum_b| <= team_num * team_diff, added in order of position). Slack
    is added for teams with a prioritized player, to a match with such a team, or, if
    `rules.pool_scope`, to everything while the pool holds one.

    The best match has the most prioritized players, then the smallest sum of ticks. Where several
    have, `rules.balanced` prefers the smallest |sum_a - sum_b|; then the smallest team_b wins,
    then the smallest team_a, in lexicographic order of positions.

    Shapes: `team_a`, `team_b` (team_num,).

    Notes
    -----
    Source: "Valorant Matchmaking Model" (Nolan Berry, 2023), the rule of its implementation.
    """
    state, teams = work.state[0], work.teams
    if n < 2 * rules.team_num:
        if n_before == 0:
            state["ordered"] = 0
        return False
    order(ratings, n, n_before, state, work.ranked)
    if not find_windows(
        n, n_prioritized, n_before, n_prioritized_before, rules, state, work.ranked, work.windows
    ):
        return False
    set_costs(ticks, n, n_prioritized, rules.team_num, state, work.players, work.ranked)
    state["cost"], state["diff"], state["unresolved"] = NEVER, np.inf, NEVER
    split_greedily(
        ratings,
        n,
        n_prioritized,
        rules,
        state,
        work.players,
        work.ranked,
        work.windows,
        work.nodes,
        work.chosen,
        teams,
    )
    if state["unresolved"] <= min(state["cost"], NEVER - 1):
        _search_all(ratings, n, n_prioritized, rules, work)
    if state["cost"] == NEVER:
        return False
    for k in range(rules.team_num):
        team_b[k] = teams[BEST_B, k]
        team_a[k] = teams[BEST_A, k]
    return True


@unallocating
def _search_all(ratings: Floats, n: int, n_prioritized: int, rules: Rules, work: Work) -> None:
    """Search every pair of windows that may hold a better match than the best one so far.

    A pair whose unique greedy choice costs as much as the best match has been looked at.
    """
    state, windows, players, teams = work.state[0], work.windows, work.players, work.teams
    for i in range(state["windows"]):
        if state["halt"] > 0:
            return
        for j in range(i, state["windows"]):
            if not may_hold_match(windows[i], windows[j], n_prioritized, rules, state, work.ranked):
                continue
            choose_greedily(windows[i], windows[j], n, rules.team_num, state, players, work.chosen)
            if state["bound"] < state["cost"] or (
                state["bound"] == state["cost"] < NEVER and state["tied"] > 0
            ):
                limit = largest_gap(windows[i], windows[j], n_prioritized, rules)
                for swapped in range(1 if i == j else 2):
                    tabulate(
                        ratings,
                        n,
                        n_prioritized,
                        windows[j if swapped else i],
                        windows[i if swapped else j],
                        rules.team_num,
                        players,
                        work.candidates,
                        work.rests,
                    )
                    search(
                        ratings,
                        limit,
                        rules,
                        state,
                        players,
                        work.nodes,
                        work.candidates,
                        work.rests,
                        teams,
                    )
