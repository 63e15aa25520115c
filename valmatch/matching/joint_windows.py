"""Joint matching, first idea: pairs of rating windows, and the greedy choice for each of them.

The players of a match lie in two windows of ratings, each as wide as a team may be, so that every
pair of maximal windows is a small problem of its own. Without the rule on mean ratings it is solved
by the greedy choice: go through the players in order of cost, and take whoever leaves it possible
to fill both teams.

Why that is optimal. A set of players, x of them in the first window alone and y in the second
alone, is part of two full teams iff x <= p, y <= p and it has at most 2p players: give those of one
window alone to its team, the others to the team that has room. These sets are the independent sets
of a transversal matroid (Edmonds and Fulkerson, "Transversals and matroid partition", 1965), and
the greedy choice gives a basis of least cost of any matroid (Edmonds, "Matroids and the greedy
algorithm", 1971). The rule on means only forbids matches, so the cost is a bound for the pair of
windows, and the answer if the players can be split into admissible teams and no other choice costs
the same. All other pairs of windows are left to the second idea (`valmatch.matching.joint_tables`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from valmatch.kernels.arrays import Floats, Ints, Records
from valmatch.kernels.compilation import inlined, unallocating
from valmatch.matching.joint_work import (
    NEVER,
    TO_A,
    TO_B,
    TRIAL_A,
    TRIAL_B,
    offer,
    set_child,
    set_root,
)
from valmatch.matching.rules import Rules

Struct = Any  # one row of a structured array; the kernels see it as a C struct


@unallocating
def order(ratings: Floats, n: int, n_before: int, state: Struct, ranked: Records) -> None:
    """Insert the positions that are not yet in rating order."""
    for position in range(0 if n_before == 0 else state["ordered"], n):
        rating = ratings[position]
        k = position
        while k > 0 and ranked[k - 1]["rating"] > rating:
            ranked[k]["rating"] = ranked[k - 1]["rating"]
            ranked[k]["position"] = ranked[k - 1]["position"]
            k -= 1
        ranked[k]["rating"], ranked[k]["position"] = rating, position
    state["ordered"] = n


@unallocating
def find_windows(
    n: int,
    n_prioritized: int,
    n_before: int,
    n_prioritized_before: int,
    rules: Rules,
    state: Struct,
    ranked: Records,
    windows: Records,
) -> bool:
    """List the maximal rating windows with room for a team; return whether one has changed.

    Where slack depends on the team, there are windows of the full width for teams with a
    prioritized player, and narrow ones, without such players, for the others.
    """
    by_team = _by_team(n_prioritized, rules)
    if rules.pool_scope and n_prioritized > 0 and n_prioritized_before == 0:
        n_before = 0
    for k in range(n):
        position = ranked[k]["position"]
        newly_prioritized = by_team and n_prioritized_before <= position < n_prioritized
        changed = position >= n_before or newly_prioritized
        ranked[k + 1]["sum"] = ranked[k]["sum"] + ranked[k]["rating"]
        ranked[k + 1]["prioritized"] = ranked[k]["prioritized"] + (position < n_prioritized)
        ranked[k + 1]["changed"] = ranked[k]["changed"] + changed
    state["windows"] = 0
    narrow, wide = rules.player_diff, rules.player_diff + rules.player_slack
    if rules.team_num == 1:
        narrow = wide = 0.0  # the range of one rating; fewer pairs of windows come near
    if by_team:
        found = _add_windows(n, wide, 0, True, rules.team_num, state, ranked, windows)
        return (
            _add_windows(n, narrow, n_prioritized, False, rules.team_num, state, ranked, windows)
            or found
        )
    width = wide if rules.pool_scope and n_prioritized > 0 else narrow
    return _add_windows(n, width, 0, False, rules.team_num, state, ranked, windows)


@inlined
def _by_team(n_prioritized: int, rules: Rules) -> bool:
    """Return whether what a team may do depends on its holding a prioritized player."""
    slack = (rules.player_slack > 0.0 and rules.team_num > 1) or rules.team_slack > 0.0
    return slack and not rules.pool_scope and n_prioritized > 0


@unallocating
def _add_windows(
    n: int,
    width: float,
    floor: int,
    slack: bool,
    team_num: int,
    state: Struct,
    ranked: Records,
    windows: Records,
) -> bool:
    """List the maximal windows of players from position `floor` on; return if one has changed."""
    end, size, found = 0, 0, False
    for first in range(n):
        if ranked[first]["position"] < floor:
            continue
        grown = False
        while end < n and ranked[end]["rating"] - ranked[first]["rating"] <= width:
            if ranked[end]["position"] >= floor:
                size += 1
                grown = True
            end += 1
        prioritized = ranked[end]["prioritized"] - ranked[first]["prioritized"]
        if grown and size >= team_num and (prioritized > 0 or not slack):
            window = windows[state["windows"]]
            state["windows"] += 1
            window["first"], window["end"], window["floor"] = first, end, floor
            window["slack"] = int(slack)
            window["changed"] = ranked[end]["changed"] - ranked[first]["changed"]
            found = found or window["changed"] > 0
        size -= 1
    return found


@unallocating
def set_costs(
    ticks: Ints,
    n: int,
    n_prioritized: int,
    team_num: int,
    state: Struct,
    players: Records,
    ranked: Records,
) -> None:
    """Set each player's cost and rank, and the error of sums of ratings."""
    span = ticks[n - 1] - ticks[0]
    if span > 2**60 // (2 * team_num) ** 2:
        raise OverflowError("arrivals too far apart: use fewer ticks an hour")
    penalty = 2 * team_num * span + 1
    for k in range(n):
        players[k]["cost"] = ticks[k] - ticks[0] + (penalty if k >= n_prioritized else 0)
        players[ranked[k]["position"]]["rank"] = k
    # Every sum has at most n + 2 p terms, each addition rounds by 2**-53 of at most the total.
    largest = max(abs(ranked[0]["rating"]), abs(ranked[n - 1]["rating"]))
    state["slop"] = 2.0**-50 * largest * float(n + 2 * team_num) ** 2


@inlined
def largest_gap(first: Struct, second: Struct, n_prioritized: int, rules: Rules) -> float:
    """Return the largest |sum_a - sum_b| of teams in two windows."""
    pool = rules.pool_scope and n_prioritized > 0
    if pool or first["slack"] > 0 or second["slack"] > 0:
        return rules.team_num * (rules.team_diff + rules.team_slack)
    return rules.team_num * rules.team_diff


@inlined
def may_hold_match(
    first: Struct, second: Struct, n_prioritized: int, rules: Rules, state: Struct, ranked: Records
) -> bool:
    """Return False if a changed, possible match cannot lie in two windows."""
    if first["changed"] == 0 and second["changed"] == 0:
        return False
    # Overlapping windows hold all that lies between their ends.
    both = ranked[second["end"]]["prioritized"] - ranked[first["first"]]["prioritized"]
    if first["slack"] > 0 and second["slack"] > 0 and second["first"] < first["end"] and both < 2:
        return False  # each team needs a prioritized player of its own
    limit = largest_gap(first, second, n_prioritized, rules) + state["slop"]
    lower, upper = first, second
    if second["first"] < first["first"]:
        lower, upper = second, first
    if upper["end"] < lower["end"]:
        return True  # one window inside the other
    gap = ranked[upper["first"]]["rating"] - ranked[lower["end"] - 1]["rating"]
    if rules.team_num * gap > limit:
        return False
    return _distance(lower, upper, rules.team_num, ranked) <= limit


@inlined
def _distance(lower: Struct, upper: Struct, team_num: int, ranked: Records) -> float:
    """Return the least sum of ratings of a team in one window minus that of a team in a lower one.

    The lower team takes the best players it may, the upper team the worst. Of those in both
    windows the lower team takes the best k, the upper team the worst of the others. Infinite if
    there are too few players.
    """
    begin, end = upper["first"], max(upper["first"], lower["end"])  # ranks in both windows
    least = np.inf
    for k in range(min(team_num, end - begin) + 1):
        shared = min(team_num, end - begin - k)
        below, above = min(begin, lower["end"]), end
        only_lower, only_upper = team_num - k, team_num - shared
        if below - only_lower >= lower["first"] and above + only_upper <= upper["end"]:
            low = ranked[lower["end"]]["sum"] - ranked[lower["end"] - k]["sum"]
            low += ranked[below]["sum"] - ranked[below - only_lower]["sum"]
            high = ranked[begin + shared]["sum"] - ranked[begin]["sum"]
            high += ranked[above + only_upper]["sum"] - ranked[above]["sum"]
            least = min(least, high - low)
    return least


@unallocating
def choose_greedily(
    first: Struct,
    second: Struct,
    n: int,
    team_num: int,
    state: Struct,
    players: Records,
    chosen: Ints,
) -> None:
    """Choose the cheapest players that fill a team in each window; set their cost and `tied`.

    A set of players, x of them only in the first window and y only in the second, fills teams
    iff x <= p, y <= p and it has 2p. Taking whoever keeps these limits, cheapest first, is
    optimal (a matroid). The choice is unique unless some cost is both taken and refused.
    """
    only_first, only_second, size, total, taken, refused = 0, 0, 0, 0, -1, -1
    state["bound"], state["tied"] = NEVER, 0
    best = state["cost"]
    for position in range(n):
        rank = players[position]["rank"]
        in_first = first["first"] <= rank < first["end"] and position >= first["floor"]
        in_second = second["first"] <= rank < second["end"] and position >= second["floor"]
        if not (in_first or in_second):
            continue
        cost = players[position]["cost"]
        if size == 2 * team_num:
            if cost == taken:
                state["tied"] = 1
            break
        if (not in_second and only_first == team_num) or (not in_first and only_second == team_num):
            refused = cost
        else:
            if total + (2 * team_num - size) * cost > best:
                return  # those still to come cost no less
            only_first += not in_second
            only_second += not in_first
            chosen[0, size] = position
            size += 1
            total += cost
            taken = cost
        if taken == refused:
            state["tied"] = 1
    if size == 2 * team_num:
        state["bound"] = total


@unallocating
def split_greedily(
    ratings: Floats,
    n: int,
    n_prioritized: int,
    rules: Rules,
    state: Struct,
    players: Records,
    ranked: Records,
    windows: Records,
    nodes: Records,
    chosen: Ints,
    teams: Ints,
) -> None:
    """Try the greedy choice of every pair of windows, split into teams in every way.

    A pair is resolved if its choice can be split and is unique, for all else there costs more.
    """
    splits = False
    chosen[1, 0] = -1
    for i in range(state["windows"]):
        if state["halt"] > 0:
            return
        for j in range(i, state["windows"]):
            if not may_hold_match(windows[i], windows[j], n_prioritized, rules, state, ranked):
                continue
            choose_greedily(windows[i], windows[j], n, rules.team_num, state, players, chosen)
            if state["bound"] > state["cost"] or state["bound"] == NEVER:
                continue
            same = True
            for k in range(2 * rules.team_num):
                same = same and chosen[0, k] == chosen[1, k]
                chosen[1, k] = chosen[0, k]
            if not same:
                splits = _split(ratings, n_prioritized, rules, state, nodes, chosen, teams)
            if state["tied"] > 0 or not splits:
                state["unresolved"] = min(state["unresolved"], state["bound"])


@unallocating
def _split(
    ratings: Floats,
    n_prioritized: int,
    rules: Rules,
    state: Struct,
    nodes: Records,
    chosen: Ints,
    teams: Ints,
) -> bool:
    """Offer every split of the chosen players into admissible teams; return if there is one.

    The first player is in team b of the better naming of two teams. Teams are tried in
    lexicographic order, so without `balanced` the first one found is best.
    """
    p = rules.team_num
    pool = rules.pool_scope and n_prioritized > 0
    narrow, wide = rules.player_diff, rules.player_diff + rules.player_slack
    set_root(nodes[0])
    depth, found = 0, False
    while depth >= 0 and state["halt"] == 0:
        node = nodes[depth]
        choice, size_b, size_a = node["choice"], node["size_b"], node["size_a"]
        node["choice"] = choice + 1
        if depth == 2 * p:
            # Positions ascend, so that a prioritized player comes first in a team.
            relaxed = pool or min(teams[TRIAL_B, 0], teams[TRIAL_A, 0]) < n_prioritized
            limit = p * (rules.team_diff + rules.team_slack) if relaxed else p * rules.team_diff
            diff = abs(node["sum_a"] - node["sum_b"])
            if diff <= limit:
                found = True
                offer(state["bound"], diff, rules, state, teams)
                if not rules.balanced:
                    return True
            depth -= 1
            continue
        position = chosen[0, depth]
        if choice == TO_B and size_b < p:
            width = wide if pool or (size_b > 0 and teams[TRIAL_B, 0] < n_prioritized) else narrow
            if fits(position, width, ratings, teams[TRIAL_B], size_b):
                teams[TRIAL_B, size_b] = position
                set_child(node, nodes[depth + 1], TO_B, ratings[position], 0)
                depth += 1
        elif choice == TO_A and size_a < p and size_b > 0:
            width = wide if pool or (size_a > 0 and teams[TRIAL_A, 0] < n_prioritized) else narrow
            if fits(position, width, ratings, teams[TRIAL_A], size_a):
                teams[TRIAL_A, size_a] = position
                set_child(node, nodes[depth + 1], TO_A, ratings[position], 0)
                depth += 1
        elif choice > TO_A:
            depth -= 1
    return found


@inlined
def fits(position: int, width: float, ratings: Floats, team: Ints, size: int) -> bool:
    """Return whether a player is within `width` of every player of a team."""
    rating = ratings[position]
    for k in range(size):
        if abs(ratings[team[k]] - rating) > width:
            return False
    return True  # numba has no all() of a generator
