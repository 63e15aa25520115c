"""Joint matching: the best pair of disjoint teams in a pool, found exactly by branch and bound.

Every pair of rating windows is looked at twice: first for its greedy choice, which bounds what it
can hold (`valmatch.matching.joint_search`), then, where that may be better than the best match so
far, by a search with exact tables (`valmatch.matching.joint_search`).

The key of a match is one integer, the sum of its players' *costs*: ticks since the first arrival,
and for players who are not prioritized a constant larger than any sum of ticks. Costs ascend with
the position in the pool, because the oldest players are the prioritized ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats, Ints, Records
from valmatch.kernels.compilation import inlined, unallocating
from valmatch.matching.rules import Rules

# The memory of the joint search, and the two teams that a depth-first search fills.
#
# The players of a match are named by their positions in the pool, which is in order of arrival. Of
# two teams that are paired the one with the earliest player is b, the other one a.
#
# The parts of the search take the arrays of `Work` one by one, which is faster than the whole of
# it.

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
        np.zeros(1, STATE),
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


# Joint matching, second idea: a search of two windows that knows what the rest can add.
#
# The search goes depth first through the players in order of arrival: to team b, to team a, to
# none. For the players from t on, with i places of b and j of a to fill, a table holds the least
# cost, and the smallest and the largest difference of sums, that they can add. It is filled from
# the last player back::
#
#     least[t, i, j] = min(least[t + 1, i, j],                   t joins none
#                          cost[t] + least[t + 1, i - 1, j],     t joins b, if in its window
#                          cost[t] + least[t + 1, i, j - 1])     t joins a, if in its window
#
# and likewise the differences, with the rating of t added for b and taken for a.
#
# Why nothing is lost. Each of the three is exact for the rest by itself (induction from the last
# player back), so a partial match is given up only if no completion is cheap enough, or if none has
# a difference of sums within the limit, or if it can at best tie with the best match so far and has
# lost the tie. The sums of the table are rounded in another order than those of a match; `slop`
# bounds by how much, so that a bound never refuses what the exact comparison would allow.


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
    while depth >= 0:
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


# Joint matching, first idea: pairs of rating windows, and the greedy choice for each of them.
#
# The players of a match lie in two windows of ratings, each as wide as a team may be, so that every
# pair of maximal windows is a small problem of its own. Without the rule on mean ratings it is
# solved by the greedy choice: go through the players in order of cost, and take whoever leaves it
# possible to fill both teams.
#
# Why that is optimal. A set of players, x of them in the first window alone and y in the second
# alone, is part of two full teams iff x <= p, y <= p and it has at most 2p players: give those of
# one window alone to its team, the others to the team that has room. These sets are the independent
# sets of a transversal matroid (Edmonds and Fulkerson, "Transversals and matroid partition", 1965),
# and the greedy choice gives a basis of least cost of any matroid (Edmonds, "Matroids and the
# greedy algorithm", 1971). The rule on means only forbids matches, so the cost is a bound for the
# pair of windows, and the answer if the players can be split into admissible teams and no other
# choice costs the same. All other pairs of windows are left to the second idea
# (`valmatch.matching.joint_search`).


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
    while depth >= 0:
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
