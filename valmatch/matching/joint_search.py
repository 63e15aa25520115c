"""Joint matching: the best pair of disjoint teams in a pool, found exactly by branch and bound.

The players of a match lie in two windows of ratings, each as wide as a team may be, so that every
pair of maximal windows is a small problem of its own. It is looked at twice: first for its greedy
choice, which bounds what it can hold, then, where that may be better than the best match so far, by
a search with exact tables.

The key of a match is one integer, the sum of its players' *costs*: ticks since the first arrival,
and for players who are not prioritized a constant larger than any sum of ticks. Costs ascend with
the position in the pool, because the oldest players are the prioritized ones.

Players are named by their positions in the pool, which is in order of arrival. Of two teams that
are paired the one with the earliest player is b, the other one a.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats, Ints, Records
from valmatch.kernels.compilation import kernel, part
from valmatch.kernels.references import by_reference
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

BEST_A, BEST_B, TRIAL_A, TRIAL_B = range(4)
"""Rows of `Work.teams`."""


class Pool(NamedTuple):
    """Who waits, in order of arrival."""

    ticks: Ints  # (capacity,); arrivals of the first n
    ratings: Floats  # (capacity,)
    n: int
    prioritized: int  # the first so many are prioritized
    # how many there were at a search before that found nothing, and how many were prioritized then;
    # 0: there was none
    n_before: int
    prioritized_before: int


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
    teams: Ints  # (4, p): the best match so far, and the teams looked at


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


@kernel
def find_match(pool: Pool, rules: Rules, work: Work) -> bool:
    """Find the best match in a pool; its teams are the rows `BEST_A` and `BEST_B`.

    A team may span `player_diff` Elo points, two teams may differ by `team_diff` in their means
    (compared as sums: |sum_a - sum_b| <= team_num * team_diff, added in order of position). Slack
    is added for teams with a prioritized player, to a match with such a team, or, if
    `rules.pool_scope`, to everything while the pool holds one.

    The best match has the most prioritized players, then the smallest sum of ticks. Where several
    have, `rules.balanced` prefers the smallest |sum_a - sum_b|; then the smallest team_b wins,
    then the smallest team_a, in lexicographic order of positions.

    Notes
    -----
    Source: "Valorant Matchmaking Model" (Nolan Berry, 2023), the rule of its implementation.
    """
    return _find_match(by_reference(pool), by_reference(rules), by_reference(work))


@part
def _find_match(pool: Pool, rules: Rules, work: Work) -> bool:
    """Find the best match, see `find_match`."""
    state = work.state[0]
    if pool.n < 2 * rules.team_num:
        if pool.n_before == 0:
            state["ordered"] = 0
        return False
    _order(pool, work)
    if not _find_windows(pool, rules, work):
        return False
    _set_costs(pool, rules, work)
    state["cost"], state["diff"], state["unresolved"] = NEVER, np.inf, NEVER
    _split_greedily(pool, rules, work)
    if state["unresolved"] <= min(state["cost"], NEVER - 1):
        _search_all(pool, rules, work)
    return bool(state["cost"] < NEVER)


# Pairs of rating windows.


@part
def _order(pool: Pool, work: Work) -> None:
    """Insert the positions that are not yet in rating order."""
    state, ranked = work.state[0], work.ranked
    for position in range(0 if pool.n_before == 0 else state["ordered"], pool.n):
        rating = pool.ratings[position]
        k = position
        while k > 0 and ranked[k - 1]["rating"] > rating:
            ranked[k]["rating"] = ranked[k - 1]["rating"]
            ranked[k]["position"] = ranked[k - 1]["position"]
            k -= 1
        ranked[k]["rating"], ranked[k]["position"] = rating, position
    state["ordered"] = pool.n


@part
def _find_windows(pool: Pool, rules: Rules, work: Work) -> bool:
    """List the maximal rating windows with room for a team; return whether one has changed.

    Where slack depends on the team, there are windows of the full width for teams with a
    prioritized player, and narrow ones, without such players, for the others.
    """
    ranked, n_before = work.ranked, pool.n_before
    slack = (rules.player_slack > 0.0 and rules.team_num > 1) or rules.team_slack > 0.0
    by_team = slack and not rules.pool_scope and pool.prioritized > 0
    if rules.pool_scope and pool.prioritized > 0 and pool.prioritized_before == 0:
        n_before = 0
    for k in range(pool.n):
        position = ranked[k]["position"]
        newly_prioritized = by_team and pool.prioritized_before <= position < pool.prioritized
        changed = position >= n_before or newly_prioritized
        ranked[k + 1]["sum"] = ranked[k]["sum"] + ranked[k]["rating"]
        ranked[k + 1]["prioritized"] = ranked[k]["prioritized"] + (position < pool.prioritized)
        ranked[k + 1]["changed"] = ranked[k]["changed"] + changed
    work.state[0]["windows"] = 0
    narrow, wide = rules.player_diff, rules.player_diff + rules.player_slack
    if rules.team_num == 1:
        narrow = wide = 0.0  # the range of one rating; fewer pairs of windows come near
    if by_team:
        found = _add_windows(wide, 0, True, pool, rules, work)
        return _add_windows(narrow, pool.prioritized, False, pool, rules, work) or found
    width = wide if rules.pool_scope and pool.prioritized > 0 else narrow
    return _add_windows(width, 0, False, pool, rules, work)


@part
def _add_windows(
    width: float, floor: int, slack: bool, pool: Pool, rules: Rules, work: Work
) -> bool:
    """List the maximal windows of players from position `floor` on; return if one has changed."""
    state, ranked = work.state[0], work.ranked
    end, size, found = 0, 0, False
    for first in range(pool.n):
        if ranked[first]["position"] < floor:
            continue
        grown = False
        while end < pool.n and ranked[end]["rating"] - ranked[first]["rating"] <= width:
            if ranked[end]["position"] >= floor:
                size += 1
                grown = True
            end += 1
        prioritized = ranked[end]["prioritized"] - ranked[first]["prioritized"]
        if grown and size >= rules.team_num and (prioritized > 0 or not slack):
            window = work.windows[state["windows"]]
            state["windows"] += 1
            window["first"], window["end"], window["floor"] = first, end, floor
            window["slack"] = int(slack)
            window["changed"] = ranked[end]["changed"] - ranked[first]["changed"]
            found = found or window["changed"] > 0
        size -= 1
    return found


@part
def _set_costs(pool: Pool, rules: Rules, work: Work) -> None:
    """Set each player's cost and rank, and the error of sums of ratings."""
    ticks, n, ranked = pool.ticks, pool.n, work.ranked
    span = ticks[n - 1] - ticks[0]
    if span > 2**60 // (2 * rules.team_num) ** 2:
        raise OverflowError("arrivals too far apart: use fewer ticks an hour")
    penalty = 2 * rules.team_num * span + 1
    for k in range(n):
        cost = ticks[k] - ticks[0] + (penalty if k >= pool.prioritized else 0)
        work.players[k]["cost"] = cost
        work.players[ranked[k]["position"]]["rank"] = k
    # Every sum has at most n + 2 p terms, each addition rounds by 2**-53 of at most the total.
    largest = max(abs(ranked[0]["rating"]), abs(ranked[n - 1]["rating"]))
    work.state[0]["slop"] = 2.0**-50 * largest * float(n + 2 * rules.team_num) ** 2


@part(inline=True)
def _largest_gap(first: Struct, second: Struct, pool: Pool, rules: Rules) -> float:
    """Return the largest |sum_a - sum_b| of teams in two windows."""
    by_pool = rules.pool_scope and pool.prioritized > 0
    if by_pool or first["slack"] > 0 or second["slack"] > 0:
        return rules.team_num * (rules.team_diff + rules.team_slack)
    return rules.team_num * rules.team_diff


@part(inline=True)
def _may_hold_match(first: Struct, second: Struct, pool: Pool, rules: Rules, work: Work) -> bool:
    """Return False if a changed, possible match cannot lie in two windows."""
    if first["changed"] == 0 and second["changed"] == 0:
        return False
    ranked = work.ranked
    # Overlapping windows hold all that lies between their ends.
    both = ranked[second["end"]]["prioritized"] - ranked[first["first"]]["prioritized"]
    if first["slack"] > 0 and second["slack"] > 0 and second["first"] < first["end"] and both < 2:
        return False  # each team needs a prioritized player of its own
    limit = _largest_gap(first, second, pool, rules) + work.state[0]["slop"]
    lower, upper = first, second
    if second["first"] < first["first"]:
        lower, upper = second, first
    if upper["end"] < lower["end"]:
        return True  # one window inside the other
    gap = ranked[upper["first"]]["rating"] - ranked[lower["end"] - 1]["rating"]
    if rules.team_num * gap > limit:
        return False
    return _distance(lower, upper, rules.team_num, ranked) <= limit


@part(inline=True)
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


@part(inline=True)
def _lies_in(position: int, rank: int, window: Struct) -> bool:
    """Return whether a player is in a window."""
    return window["first"] <= rank < window["end"] and position >= window["floor"]


# The greedy choice for a pair of windows: without the rule on mean ratings it is the best one.
#
# A set of players, x of them in the first window alone and y in the second alone, is part of two
# full teams iff x <= p, y <= p and it has at most 2p players: give those of one window alone to its
# team, the others to the team that has room. These sets are the independent sets of a transversal
# matroid (Edmonds and Fulkerson, "Transversals and matroid partition", 1965), and the greedy choice
# gives a basis of least cost of any matroid (Edmonds, "Matroids and the greedy algorithm", 1971).
# The rule on means only forbids matches, so the cost is a bound for the pair of windows, and the
# answer if the players can be split into admissible teams and no other choice costs the same.


@part
def _choose_greedily(first: Struct, second: Struct, pool: Pool, rules: Rules, work: Work) -> None:
    """Choose the cheapest players that fill a team in each window; set their cost and `tied`.

    The choice is unique unless some cost is both taken and refused.
    """
    state, team_num = work.state[0], rules.team_num
    only_first, only_second, size, total, taken, refused = 0, 0, 0, 0, -1, -1
    state["bound"], state["tied"] = NEVER, 0
    best = state["cost"]
    for position in range(pool.n):
        rank = work.players[position]["rank"]
        in_first, in_second = _lies_in(position, rank, first), _lies_in(position, rank, second)
        if not (in_first or in_second):
            continue
        cost = work.players[position]["cost"]
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
            work.chosen[0, size] = position
            size += 1
            total += cost
            taken = cost
        if taken == refused:
            state["tied"] = 1
    if size == 2 * team_num:
        state["bound"] = total


@part
def _split_greedily(pool: Pool, rules: Rules, work: Work) -> None:
    """Try the greedy choice of every pair of windows, split into teams in every way.

    A pair is resolved if its choice can be split and is unique, for all else there costs more.
    """
    state, windows, chosen = work.state[0], work.windows, work.chosen
    splits = False
    chosen[1, 0] = -1
    for i in range(state["windows"]):
        for j in range(i, state["windows"]):
            if not _may_hold_match(windows[i], windows[j], pool, rules, work):
                continue
            _choose_greedily(windows[i], windows[j], pool, rules, work)
            if state["bound"] > state["cost"] or state["bound"] == NEVER:
                continue
            same = True
            for k in range(2 * rules.team_num):
                same = same and chosen[0, k] == chosen[1, k]
                chosen[1, k] = chosen[0, k]
            if not same:
                splits = _split(pool, rules, work)
            if state["tied"] > 0 or not splits:
                state["unresolved"] = min(state["unresolved"], state["bound"])


@part
def _split(pool: Pool, rules: Rules, work: Work) -> bool:
    """Offer every split of the chosen players into admissible teams; return if there is one.

    The first player is in team b of the better naming of two teams. Teams are tried in
    lexicographic order, so without `balanced` the first one found is best.
    """
    p, teams, state = rules.team_num, work.teams, work.state[0]
    by_pool = rules.pool_scope and pool.prioritized > 0
    _set_root(work.nodes[0])
    depth, found = 0, False
    while depth >= 0:
        node = work.nodes[depth]
        choice, size_b, size_a = node["choice"], node["size_b"], node["size_a"]
        node["choice"] = choice + 1
        if depth == 2 * p:
            # Positions ascend, so that a prioritized player comes first in a team.
            relaxed = by_pool or min(teams[TRIAL_B, 0], teams[TRIAL_A, 0]) < pool.prioritized
            limit = p * (rules.team_diff + rules.team_slack) if relaxed else p * rules.team_diff
            diff = abs(node["sum_a"] - node["sum_b"])
            if diff <= limit:
                found = True
                _offer(state["bound"], diff, rules, work)
                if not rules.balanced:
                    return True
            depth -= 1
            continue
        position = work.chosen[0, depth]
        to_b, to_a = choice == TO_B and size_b < p, choice == TO_A and size_a < p and size_b > 0
        if to_b and _fits(position, TRIAL_B, size_b, pool, rules, work):
            teams[TRIAL_B, size_b] = position
        elif to_a and _fits(position, TRIAL_A, size_a, pool, rules, work):
            teams[TRIAL_A, size_a] = position
        else:
            depth -= int(choice > TO_A)
            continue
        _set_child(node, work.nodes[depth + 1], choice, pool.ratings[position], 0)
        depth += 1
    return found


@part(inline=True)
def _fits(position: int, row: int, size: int, pool: Pool, rules: Rules, work: Work) -> bool:
    """Return whether a player is near enough to every player of a team."""
    team, width = work.teams[row], rules.player_diff
    by_pool = rules.pool_scope and pool.prioritized > 0
    if by_pool or (size > 0 and team[0] < pool.prioritized):
        width += rules.player_slack
    rating = pool.ratings[position]
    for k in range(size):
        if abs(pool.ratings[team[k]] - rating) > width:
            return False
    return True  # numba has no all() of a generator


# Depth-first searches of two teams, and the best match so far.


@part(inline=True)
def _set_root(node: Struct) -> None:
    """Make a node of a depth-first search the root: two empty teams."""
    node["choice"], node["cost"] = TO_B, 0
    node["size_b"], node["size_a"] = 0, 0
    node["sum_b"], node["sum_a"] = 0.0, 0.0


@part(inline=True)
def _set_child(node: Struct, child: Struct, choice: int, rating: float, cost: int) -> None:
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


@part(inline=True)
def _offer(cost: int, diff: float, rules: Rules, work: Work) -> None:
    """Keep the teams looked at if they beat the best match so far."""
    state, teams = work.state[0], work.teams
    if cost > state["cost"]:
        return
    if cost == state["cost"]:
        if rules.balanced and diff != state["diff"]:
            if diff > state["diff"]:
                return
        elif _compare(teams, rules.team_num, rules.team_num) >= 0:
            return
    state["cost"], state["diff"] = cost, diff
    for k in range(rules.team_num):
        teams[BEST_B, k] = teams[TRIAL_B, k]
        teams[BEST_A, k] = teams[TRIAL_A, k]


@part(inline=True)
def _compare(teams: Ints, size_b: int, size_a: int) -> int:
    """Return the sign of the (partial) teams looked at minus the best ones: b first, then a."""
    for k in range(size_b):
        if teams[TRIAL_B, k] != teams[BEST_B, k]:
            return -1 if teams[TRIAL_B, k] < teams[BEST_B, k] else 1
    for k in range(size_a):
        if teams[TRIAL_A, k] != teams[BEST_A, k]:
            return -1 if teams[TRIAL_A, k] < teams[BEST_A, k] else 1
    return 0


# A search of two windows that knows what the rest can add.
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


@part
def _search_all(pool: Pool, rules: Rules, work: Work) -> None:
    """Search every pair of windows that may hold a better match than the best one so far.

    A pair whose unique greedy choice costs as much as the best match has been looked at.
    """
    state, windows = work.state[0], work.windows
    for i in range(state["windows"]):
        for j in range(i, state["windows"]):
            if not _may_hold_match(windows[i], windows[j], pool, rules, work):
                continue
            _choose_greedily(windows[i], windows[j], pool, rules, work)
            if state["bound"] < state["cost"] or (
                state["bound"] == state["cost"] < NEVER and state["tied"] > 0
            ):
                limit = _largest_gap(windows[i], windows[j], pool, rules)
                for swapped in range(1 if i == j else 2):
                    b, a = (j, i) if swapped else (i, j)
                    _tabulate(windows[b], windows[a], pool, rules, work)
                    _search(limit, pool, rules, work)


@part
def _tabulate(window_b: Struct, window_a: Struct, pool: Pool, rules: Rules, work: Work) -> None:
    """List the players of two windows, for teams b and a, and fill `rests` from the last one back.

    What is left after player t is the table of t + 1, with one player less to find where t was
    taken. Where a team must hold a prioritized player and they are over, an empty team is lost.
    """
    candidates, rests, team_num, size = work.candidates, work.rests, rules.team_num, 0
    for position in range(pool.n):
        rank = work.players[position]["rank"]
        in_b, in_a = _lies_in(position, rank, window_b), _lies_in(position, rank, window_a)
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
        rating, price = pool.ratings[position], work.players[position]["cost"]
        over = position >= pool.prioritized
        lost_b, lost_a = over and window_b["slack"] > 0, over and window_a["slack"] > 0
        for i in range(team_num + 1):
            for j in range(team_num + 1):
                if (lost_b and i == team_num) or (lost_a and j == team_num):
                    _leave(rests[t, i, j], NEVER, np.inf, -np.inf)
                    continue
                none = rests[t + 1, i, j]
                cost, low, high = none["cost"], none["low"], none["high"]
                if candidates[1, t] > 0 and i > 0:
                    to_b = rests[t + 1, i - 1, j]
                    if to_b["cost"] < NEVER:
                        cost = min(cost, price + to_b["cost"])
                        low = min(low, rating + to_b["low"])
                        high = max(high, rating + to_b["high"])
                if candidates[2, t] > 0 and j > 0:
                    to_a = rests[t + 1, i, j - 1]
                    if to_a["cost"] < NEVER:
                        cost = min(cost, price + to_a["cost"])
                        low = min(low, to_a["low"] - rating)
                        high = max(high, to_a["high"] - rating)
                _leave(rests[t, i, j], cost, low, high)


@part(inline=True)
def _leave(rest: Struct, cost: int, low: float, high: float) -> None:
    """Set what the candidates from one on can add."""
    rest["cost"], rest["low"], rest["high"] = cost, low, high


@part
def _search(limit: float, pool: Pool, rules: Rules, work: Work) -> None:
    """Offer the best match of the tabulated candidates, if it is the best so far.

    The first player taken is in team b of the better naming of two teams.
    """
    p, nodes, candidates, teams = rules.team_num, work.nodes, work.candidates, work.teams
    _set_root(nodes[0])
    depth = 0
    while depth >= 0:
        node = nodes[depth]
        choice, size_b, size_a = node["choice"], node["size_b"], node["size_a"]
        node["choice"] = choice + 1
        if choice == TO_B:
            if _is_hopeless(depth, node, limit, rules, work):
                depth -= 1
                continue
            if size_b == p and size_a == p:
                _offer(node["cost"], abs(node["sum_a"] - node["sum_b"]), rules, work)
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
        cost = work.players[position]["cost"]
        _set_child(node, nodes[depth + 1], choice, pool.ratings[position], cost)
        depth += 1


@part(inline=True)
def _is_hopeless(depth: int, node: Struct, limit: float, rules: Rules, work: Work) -> bool:
    """Return whether no completion of two partial teams beats the best match so far."""
    p, state = rules.team_num, work.state[0]
    size_b, size_a = node["size_b"], node["size_a"]
    rest = work.rests[depth, p - size_b, p - size_a]
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
    order = _compare(work.teams, size_b, 0)
    if order == 0 and size_b < p:
        return bool(work.candidates[0, depth] > work.teams[BEST_B, size_b])
    return order > 0
