"""Joint matching: at each review at most one match, both of its teams chosen at once, exactly.

Players are named by their positions in the pool, which is in order of arrival. Of two teams that
are paired the one with the earliest player is b, the other one a.
"""

import math
from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Ints, Records
from valmatch.kernels.compilation import kernel, macro, part
from valmatch.kernels.references import by_reference
from valmatch.matching.fifo import (
    enqueue,
    has_room,
    place_of,
    remove,
    reset,
    still_waiting,
    waiting_teams,
)
from valmatch.matching.queue import LINEUP, NOBODY, Rules, Struct, is_prioritized, tick_of

__all__ = ["enqueue", "has_room", "reset", "still_waiting", "waiting_teams"]

Parameters = Rules

NEVER = 2**62  # cost of what cannot be

SEARCH = np.dtype(
    [
        ("windows", "i8"),
        ("cost", "i8"),  # of the best match so far
        ("diff", "f8"),  # |difference of sums| of the best match so far
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
        ("prioritized", "i8"),  # prioritized players of all lower ranks
    ]
)
WINDOW = np.dtype(
    [
        ("first", "i8"),  # ranks first..end-1
        ("end", "i8"),
        ("slack", "i8"),  # whether its teams must hold a prioritized player
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
EMPTY_NODE = np.zeros(1, NODE)
REST = np.dtype(
    [
        ("cost", "i8"),
        ("low", "f8"),  # sum_b - sum_a
        ("high", "f8"),
    ]
)

BEST_A, BEST_B, TRIAL_A, TRIAL_B = range(4)  # rows of `Work.teams`


class Pool(NamedTuple):
    """Who waits, in order of arrival."""

    players: Records  # (capacity,) of `LINEUP`; the first n wait
    n: int
    prioritized: int  # the first so many are prioritized


class Work(NamedTuple):
    """Memory of the search, kept between reviews."""

    state: Records  # (1,) of `SEARCH`
    players: Records  # by position in the pool
    ranked: Records  # by rank in rating order, one more than there are players
    windows: Records  # maximal rating windows with room for a team
    nodes: Records  # stack of a depth-first search
    candidates: Ints  # (capacity,); positions that a search looks at, ascending
    # (capacity + 1, p + 1, p + 1): the least that candidates t, t + 1, ... add to the cost, the
    # least and the most to sum_b - sum_a, when b lacks i and a lacks j players
    rests: Records
    teams: Ints  # (4, p): the best match so far, and the teams looked at


def new_work(capacity: int, team_num: int) -> Work:
    """Return memory for pools of up to `capacity` players."""
    return Work(
        np.zeros(1, SEARCH),
        np.zeros(capacity, PLAYER),
        np.zeros(capacity + 1, RANKED),
        np.zeros(2 * capacity, WINDOW),
        np.zeros(capacity + 1, NODE),
        np.zeros(max(capacity, 2 * team_num), np.int64),
        np.zeros((capacity + 1, team_num + 1, team_num + 1), REST),
        np.zeros((4, team_num), np.int64),
    )


@kernel
def find_match(pool: Pool, rules: Rules, work: Work) -> bool:
    """Find the best match in a pool; its teams are the rows `BEST_A` and `BEST_B`."""
    # Slack is added for teams with a prioritized player, to a match with such a team, or with
    # `pool_scope` to everything while the pool holds one. The best match has the most prioritized
    # players, then the smallest sum of ticks; of several with `balanced` the smallest difference of
    # sums, then the smallest team b, then a, in lexicographic order of positions.
    #
    # Source: "Valorant Matchmaking Model" (Nolan Berry, 2023), the rule of its implementation.
    #
    # A match is the better the less it costs: a player costs the ticks since the first arrival, and
    # unless prioritized more than all ticks of a match. So costs ascend with the position.
    pool, rules, work = by_reference(pool), by_reference(rules), by_reference(work)
    ranked, n, p = work.ranked, pool.n, rules.team_num
    if n < 2 * p:
        return False
    first = tick_of(pool.players[0]["arrival"], rules)
    span = tick_of(pool.players[n - 1]["arrival"], rules) - first
    if span > 2**60 // (2 * p) ** 2:
        raise OverflowError("arrivals too far apart: use fewer ticks an hour")
    for position in range(n):
        rating, k = pool.players[position]["rating"], position
        while k > 0 and ranked[k - 1]["rating"] > rating:
            ranked[k]["rating"] = ranked[k - 1]["rating"]
            ranked[k]["position"] = ranked[k - 1]["position"]
            k -= 1
        ranked[k]["rating"], ranked[k]["position"] = rating, position
        ticks = tick_of(pool.players[position]["arrival"], rules) - first
        penalty = 2 * p * span + 1 if position >= pool.prioritized else 0
        work.players[position]["cost"] = ticks + penalty
    for k in range(n):
        work.players[ranked[k]["position"]]["rank"] = k
        prioritized = ranked[k]["position"] < pool.prioritized
        ranked[k + 1]["prioritized"] = ranked[k]["prioritized"] + prioritized
    # Every sum has at most n + 2 p terms, each addition rounds by 2**-53 of at most the total.
    largest = max(abs(ranked[0]["rating"]), abs(ranked[n - 1]["rating"]))
    work.state[0]["slop"] = 2.0**-50 * largest * float(n + 2 * p) ** 2
    # Where slack depends on the team, there are also windows of the full width, for teams with a
    # prioritized player.
    slack = (rules.player_slack > 0.0 and p > 1) or rules.team_slack > 0.0
    narrow, wide = rules.player_diff, rules.player_diff + rules.player_slack
    if p == 1:
        narrow = wide = 0.0  # the range of one rating; fewer pairs of windows come near
    work.state[0]["windows"] = 0
    relaxed = rules.pool_scope and pool.prioritized > 0
    _add_windows(wide if relaxed else narrow, False, pool, rules, work)
    if slack and not rules.pool_scope and pool.prioritized > 0:
        _add_windows(wide, True, pool, rules, work)
    return _search_pairs(pool, rules, work)


# Pairs of rating windows: the players of a match lie in two, each as wide as a team may be.


@part
def _add_windows(width: float, slack: bool, pool: Pool, rules: Rules, work: Work) -> None:
    """List the maximal windows of a width."""
    state, ranked, end = work.state[0], work.ranked, 0
    for first in range(pool.n):
        last = end
        while end < pool.n and ranked[end]["rating"] - ranked[first]["rating"] <= width:
            end += 1
        prioritized = ranked[end]["prioritized"] - ranked[first]["prioritized"]
        if end > last and end - first >= rules.team_num and (prioritized > 0 or not slack):
            window = work.windows[state["windows"]]
            state["windows"] += 1
            window["first"], window["end"], window["slack"] = first, end, int(slack)


@macro
def _largest_gap(first: Struct, second: Struct, pool: Pool, rules: Rules) -> float:
    """Return the largest |sum_a - sum_b| of teams in two windows."""
    by_pool = rules.pool_scope and pool.prioritized > 0
    if by_pool or first["slack"] > 0 or second["slack"] > 0:
        return rules.team_num * (rules.team_diff + rules.team_slack)
    return rules.team_num * rules.team_diff


@macro
def _lies_in(rank: int, window: Struct) -> bool:
    """Return whether a player is in a window."""
    return window["first"] <= rank < window["end"]


# The least cost of a pair of windows, without the rule on mean ratings: a bound, as that only
# forbids matches. The sets of players that are part of two full teams are the independent sets of a
# transversal matroid (Edmonds and Fulkerson, "Transversals and matroid partition", 1965), of which
# the greedy choice gives a basis of least cost (Edmonds, "Matroids and the greedy algorithm",
# 1971).


@part
def _least_cost(first: Struct, second: Struct, pool: Pool, rules: Rules, work: Work) -> int:
    """Return the cost of the cheapest players that fill a team in each of two windows."""
    # `NEVER` where there are none, or where they cost more than the best match so far.
    team_num, most = rules.team_num, work.state[0]["cost"]
    only_first, only_second, size, total = 0, 0, 0, 0
    for position in range(pool.n):
        rank, cost = work.players[position]["rank"], work.players[position]["cost"]
        in_first, in_second = _lies_in(rank, first), _lies_in(rank, second)
        if not (in_first or in_second):
            continue
        if (not in_second and only_first == team_num) or (not in_first and only_second == team_num):
            continue
        if total + (2 * team_num - size) * cost > most:
            return NEVER  # those still to come cost no less
        only_first += not in_second
        only_second += not in_first
        size += 1
        total += cost
        if size == 2 * team_num:
            return total
    return NEVER


@part
def _search_pairs(pool: Pool, rules: Rules, work: Work) -> bool:
    """Search the pairs of windows; return whether there is a match."""
    state, windows, ranked = work.state[0], work.windows, work.ranked
    state["cost"], state["diff"] = NEVER, np.inf
    for i in range(state["windows"]):
        for j in range(i, state["windows"]):
            first, second = windows[i], windows[j]
            above = ranked[second["first"]]["rating"] - ranked[first["end"] - 1]["rating"]
            below = ranked[first["first"]]["rating"] - ranked[second["end"] - 1]["rating"]
            limit = _largest_gap(first, second, pool, rules) + state["slop"]
            near = rules.team_num * max(above, below) <= limit
            if near and _least_cost(first, second, pool, rules, work) < NEVER:
                _search(first, second, pool, rules, work)
                if i != j:
                    _search(second, first, pool, rules, work)
    return bool(state["cost"] < NEVER)


# A search of two windows, depth first through the candidates in order of arrival: to team b, to
# team a, to none. What the rest can add to the cost, and to the difference of sums, is in a table.
#
# Why nothing is lost: each of the three is exact for the rest by itself, so a partial match is
# given up only if no completion is cheap enough, or if none has a difference within the limit, or
# if it can at best tie with the best match so far and has lost the tie. `slop` bounds by how much
# sums of the table, which are rounded in another order, differ from those of a match.


@part
def _tabulate(b: Struct, a: Struct, size: int, pool: Pool, rules: Rules, work: Work) -> None:
    """Fill `rests` for teams b and a in two windows, from the last of so many candidates back."""
    # What is left after player t is the table of t + 1, with one player less to find where t was
    # taken. Where a team must hold a prioritized player and they are over, an empty team is lost.
    rests, team_num = work.rests, rules.team_num
    for i in range(team_num + 1):
        for j in range(team_num + 1):
            _set(rests[size, i, j], NEVER, np.inf, -np.inf)
    _set(rests[size, 0, 0], 0, 0.0, 0.0)
    for t in range(size - 1, -1, -1):
        position = work.candidates[t]
        rating, price = pool.players[position]["rating"], work.players[position]["cost"]
        rank, over = work.players[position]["rank"], position >= pool.prioritized
        in_b, in_a = _lies_in(rank, b), _lies_in(rank, a)
        lost_b, lost_a = over and b["slack"] > 0, over and a["slack"] > 0
        for i in range(team_num + 1):
            for j in range(team_num + 1):
                if (lost_b and i == team_num) or (lost_a and j == team_num):
                    _set(rests[t, i, j], NEVER, np.inf, -np.inf)
                    continue
                none = rests[t + 1, i, j]
                cost, low, high = none["cost"], none["low"], none["high"]
                if in_b and i > 0:
                    to_b = rests[t + 1, i - 1, j]
                    if to_b["cost"] < NEVER:
                        cost = min(cost, price + to_b["cost"])
                        low = min(low, rating + to_b["low"])
                        high = max(high, rating + to_b["high"])
                if in_a and j > 0:
                    to_a = rests[t + 1, i, j - 1]
                    if to_a["cost"] < NEVER:
                        cost = min(cost, price + to_a["cost"])
                        low = min(low, to_a["low"] - rating)
                        high = max(high, to_a["high"] - rating)
                _set(rests[t, i, j], cost, low, high)


@macro
def _set(rest: Struct, cost: int, low: float, high: float) -> None:
    """Set what the candidates from one on can add."""
    rest["cost"], rest["low"], rest["high"] = cost, low, high


@part
def _search(b: Struct, a: Struct, pool: Pool, rules: Rules, work: Work) -> None:
    """Look for teams in two windows that beat the best match so far."""
    # The first player taken is in team b of the better naming of two teams.
    p, nodes, teams = rules.team_num, work.nodes, work.teams
    limit, size, others = _largest_gap(b, a, pool, rules), 0, 0
    for position in range(pool.n):
        rank, cost = work.players[position]["rank"], work.players[position]["cost"]
        if _lies_in(rank, b) or _lies_in(rank, a):
            if size >= 2 * p - 1 and others + cost > work.state[0]["cost"]:
                break  # too much even with the others that cost least
            others += cost if size < 2 * p - 1 else 0
            work.candidates[size] = position
            size += 1
    _tabulate(b, a, size, pool, rules, work)
    nodes[0], depth = EMPTY_NODE[0], 0
    while depth >= 0:
        node = nodes[depth]
        choice, size_b, size_a = node["choice"], node["size_b"], node["size_a"]
        node["choice"] = choice + 1
        if choice == TO_B:
            if _is_hopeless(depth, node, limit, rules, work):
                depth -= 1
                continue
            if size_b == p and size_a == p:
                best = work.state[0]
                best["cost"], best["diff"] = node["cost"], abs(node["sum_b"] - node["sum_a"])
                for k in range(p):
                    teams[BEST_B, k], teams[BEST_A, k] = teams[TRIAL_B, k], teams[TRIAL_A, k]
                depth -= 1
                continue
        if choice == DONE:
            depth -= 1
            continue
        position = work.candidates[depth]
        rank = work.players[position]["rank"]
        if choice == TO_B:
            if size_b == p or not _lies_in(rank, b):
                continue
            teams[TRIAL_B, size_b] = position
        elif choice == TO_A:
            if size_a == p or size_b == 0 or not _lies_in(rank, a):
                continue
            teams[TRIAL_A, size_a] = position
        depth += 1
        nodes[depth] = node
        child, rating = nodes[depth], pool.players[position]["rating"]
        child["choice"] = TO_B
        child["cost"] += work.players[position]["cost"] if choice != TO_NONE else 0
        if choice == TO_B:
            child["size_b"] += 1
            child["sum_b"] += rating
        elif choice == TO_A:
            child["size_a"] += 1
            child["sum_a"] += rating


@macro
def _is_hopeless(depth: int, node: Struct, limit: float, rules: Rules, work: Work) -> bool:
    """Return whether no completion of two partial teams beats the best match so far."""
    p, state = rules.team_num, work.state[0]
    size_b, size_a = node["size_b"], node["size_a"]
    rest, complete = work.rests[depth, p - size_b, p - size_a], size_b == p and size_a == p
    cost, slop = node["cost"] + rest["cost"], 0.0 if complete else state["slop"]
    diff = node["sum_b"] - node["sum_a"]
    # |sum_b - sum_a| gets no smaller; below 0 it may vanish.
    least = max(diff + rest["low"], -(diff + rest["high"]))
    if rest["cost"] == NEVER or cost > state["cost"] or least > limit + slop:
        return True
    if cost < state["cost"]:
        return False
    # Only ties are left, so the tie-break has to be won.
    if rules.balanced and state["diff"] != (least if complete else 0.0):
        return bool(least > state["diff"] + slop)
    order, teams = 0, work.teams  # of the teams looked at against the best ones: b first, then a
    for k in range(size_b):
        if order == 0:
            order = teams[TRIAL_B, k] - teams[BEST_B, k]
    for k in range(p if complete else 0):
        if order == 0:
            order = teams[TRIAL_A, k] - teams[BEST_A, k]
    if order == 0 and size_b < p:
        return bool(work.candidates[depth] > work.teams[BEST_B, size_b])
    return order > 0 or (complete and order == 0)


# The verbs of a rule of the queue.

STATE = np.dtype(
    [
        ("waiting", "i8"),  # players in the pool
        ("formed", "i8"),  # teams formed so far
        ("prioritized_now", "i8"),  # the first so many of the pool are prioritized
        ("expired", "i8"),  # the first so many have had the review of their own moment
    ]
)


class QueueState(NamedTuple):
    """The pool in order of arrival."""

    state: Records  # (1,)
    players: Records  # (capacity,); the first `waiting` of them wait
    lineup: Records  # (2 team_num,); the players of the last match, those of team a first
    work: Work  # memory of the search


def new(capacity: int, rules: Rules) -> QueueState:
    """Return an empty queue with room for `capacity` waiting players."""
    lineup, work = np.zeros(2 * rules.team_num, LINEUP), new_work(capacity, rules.team_num)
    return QueueState(np.zeros(1, STATE), np.zeros(capacity, LINEUP), lineup, work)


def grown(queue: QueueState, rules: Rules) -> QueueState:
    """Return a copy of a queue with twice the room."""
    large = new(2 * queue.players.size, rules)
    large.state[:], large.lineup[:] = queue.state, queue.lineup
    large.players[: queue.players.size] = queue.players
    return large


def expected_splits(rules: Rules) -> float:
    """Return about how many splits of the players of a match into two teams are tried."""
    # All where the most balanced one is wanted; else until the means of the teams are near enough,
    # as normally distributed ones are by chance.
    p = rules.team_num
    every = math.comb(2 * p, p) / 2
    deviation = rules.player_diff * math.sqrt(2.0 / p / 12.0)
    if rules.balanced or p == 1:
        return every
    if deviation == 0.0:
        return 1.0
    near = math.erf(rules.team_diff / deviation / math.sqrt(2.0))
    return min(every, 1.0 / near) if near > 0.0 else every


@macro
def next_review(rules: Rules, queue: QueueState) -> float:
    """Return when the next player becomes prioritized, if that has a review; else infinity."""
    if not rules.continuous:
        return np.inf
    state = queue.state[0]
    if state["expired"] == state["waiting"]:
        return np.inf
    due = queue.players[state["expired"]]["arrival"] + rules.wait_thresh
    return due if due < rules.horizon else np.inf


@macro
def leave(player: int, rules: Rules, queue: QueueState) -> bool:
    """Let a player leave; that dissolves no team."""
    state, left = queue.state[0], place_of(player, queue)
    state["prioritized_now"] -= int(left < state["prioritized_now"])
    state["expired"] -= int(left < state["expired"])
    remove(left, queue)
    return False


@macro
def review(now: float, newcomer: int, rules: Rules, queue: QueueState) -> int:
    """Make the best match; return the number of matches, 0 or 1."""
    # `newcomer`: place of the player whose arrival it is; NOBODY where somebody becomes
    # prioritized.
    state = queue.state[0]
    state["expired"] += int(newcomer == NOBODY)
    n, prioritized = state["waiting"], state["prioritized_now"]
    while prioritized < n and is_prioritized(queue.players[prioritized]["arrival"], now, rules):
        prioritized += 1
    state["prioritized_now"] = prioritized
    if not find_match(Pool(queue.players, n, prioritized), rules, queue.work):
        return 0
    players, searched, remaining = queue.players, queue.work.players, 0
    for k in range(2 * rules.team_num):
        side = k // rules.team_num
        position = queue.work.teams[side, k % rules.team_num]
        queue.lineup[k] = players[position]
        queue.lineup[k]["team"] = state["formed"] + side
        searched[position]["cost"] = NEVER
    state["formed"] += 2
    expired = state["expired"]
    for k in range(n):
        if searched[k]["cost"] == NEVER:
            state["prioritized_now"] -= int(k < prioritized)
            state["expired"] -= int(k < expired)
        else:
            players[remaining] = players[k]
            remaining += 1
    state["waiting"] = remaining
    return 1


@macro
def players_of_match(match: int, rules: Rules, queue: QueueState, lineup: Records) -> None:
    """Give the players of the match of the last review, those of team a first."""
    for k in range(2 * rules.team_num):
        lineup[k] = queue.lineup[k]
