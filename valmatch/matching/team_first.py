"""Team-first matching: players form teams, formed teams are paired.

At each review teams are formed until none is possible, then teams are paired until no pair is
possible. After a review nothing is possible, and between two reviews players only join or become
prioritized. A team that is possible at the next review therefore holds a *changed* player (the
newcomer or a newly prioritized one), and a pair that is possible holds a changed team. Only those
are looked at, which keeps the cost of a review at the size of the neighbourhood of a rating
rather than of the pool.

What each trick buys: the time of a day without it, in units of that with it, at the defaults, with
continuous reviews and with ten times the players::

    no reference counts                                      2.3   3.1   2.7
    one key and a queue, for two comparisons and a list     1.6   1.6   1.7
    only the newcomer's windows (`newcomers_team`)          1.1   1.2   2.1
    no indices from the end of an array (`at`)              1.2   1.2   1.2
    small pools looked through at once (`SMALL`)            1.3   1.0   1.0
    a team of five as a constant (`team_size`)              1.1

The players wait in a queue in order of arrival, those without a team also in a pool by rating::

    place        0     1     2     3     4     5      "longest waiting" is "smallest place"
    queue      1010   950  1480   990  1010  1100     ratings in order of arrival
               gone   pool  team 0 pool  pool  pool
                                   ^ head: whoever waits before it is prioritized

    ratings     .  .  950   990  1010  1100  .  .     the pool by rating, between margins of NaN
    places            1     3     4     5             ... and its places in the queue

A place is given once. When all are given, whoever still waits moves to the front (`_compact`).

Who is best is a comparison of one number: a player's key is their arrival in whole ticks, plus more
than all ticks of a match while they are not prioritized. The team of the smallest sum of keys has
the most prioritized players and, among equals, the greatest total wait.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats, Ints, Records
from valmatch.kernels.compilation import at, macro, part
from valmatch.matching.queue import DISSOLVED, NOBODY
from valmatch.matching.rules import Rules, is_prioritized, team_size, tick_of

Parameters = Rules

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


@macro
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


@part(inline=True)
def penalty(rules: Rules) -> int:
    """Return what is added to a player's ticks until they are prioritized.

    More than the ticks of all players of a match, see `ticks_per_hour`; small enough to be added
    for each of them.
    """
    return (1 << 61) // (2 * team_size(rules))


@part(inline=True)
def enter_pool(place: int, rating: float, rules: Rules, queue: QueueState) -> int:
    """Put a player of the queue into the pool; return their place there."""
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


@part(inline=True)
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


@part(inline=True)
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


@part(inline=True)
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


# The search: the best team of the pool, the best pair of teams.
#
# Most reviews have one changed player, the newcomer. Without them no window of ratings held a team,
# so with them a window holds exactly a team, and is one of the `team_num` windows around their
# place in the pool (`newcomers_team`). Any other change goes the long way through all windows
# around every changed player (`best_team`), which hold more players than a team, of whom the
# longest waiting count.
#
# Where teams form *around* a player (`Rules.around`), the players whose review it is, the newcomer
# or those who become prioritized in between, are the only ones who get teams at that review.

SMALL = 32  # pools up to this size are looked through at once before any window is placed
NO_TEAM = int(np.iinfo(np.int64).max)  # a sum of keys that every team is better than


@part(inline=True)
def newcomers_team(newcomer: int, relaxed: bool, rules: Rules, queue: QueueState) -> int:
    """Find the best possible team where none is possible without the newcomer.

    A window that held more players than a team would have held a team without them.

    Returns the lowest place in the pool of a member, NOBODY for no team; places in row BEST.
    """
    state = queue.state[0]
    slack = relaxed or state["pool_prioritized"] > 0
    wide = rules.player_diff + (rules.player_slack if slack else 0.0)
    most = team_size(rules) - 1
    width = wide if relaxed else rules.player_diff
    nobody_prioritized = team_size(rules) * penalty(rules)
    low, key = NOBODY, NO_TEAM
    if not _some_window(newcomer - most, newcomer + 1, wide, rules, queue):
        return low
    for k in range(newcomer - most, newcomer + 1):
        spread = queue.ratings[at(k + most)] - queue.ratings[at(k)]
        if spread <= wide:
            total = _sum_of_keys(k, rules, queue)
            if spread > width and total >= nobody_prioritized:
                continue
            if total < key or (total == key and _team_precedes(k, low, rules, queue)):
                low, key = k, total
    if low != NOBODY:
        _order(low, BEST, rules, queue)
    return low


@part(inline=True)
def _sum_of_keys(low: int, rules: Rules, queue: QueueState) -> int:
    """Return the sum of keys of the team from `low` on in the pool."""
    total = 0
    for k in range(low, low + team_size(rules)):
        total += queue.players[at(queue.places[at(k)])]["key"]
    return total


@part(inline=True)
def _order(low: int, row: int, rules: Rules, queue: QueueState) -> None:
    """Put the places of the team from `low` on in the pool into a row of marks, ascending."""
    for k in range(low, low + team_size(rules)):
        rank = 0
        for other in range(low, low + team_size(rules)):
            rank += int(queue.places[at(other)] < queue.places[at(k)])
        queue.marks[at(row), at(rank)] = queue.places[at(k)]


@part(inline=True)
def _team_precedes(low: int, best: int, rules: Rules, queue: QueueState) -> bool:
    """Return whether the team from `low` on in the pool precedes that from `best` on."""
    _order(low, CANDIDATE, rules, queue)
    _order(best, BEST, rules, queue)
    return _precedes(rules, queue)


@part(inline=True)
def _precedes(rules: Rules, queue: QueueState) -> bool:
    """Return whether the candidate's players arrived in a lexicographically earlier order."""
    for k in range(team_size(rules)):
        if queue.marks[CANDIDATE, at(k)] != queue.marks[BEST, at(k)]:
            return bool(queue.marks[CANDIDATE, at(k)] < queue.marks[BEST, at(k)])
    return False


@part(inline=True)
def best_team(
    arrived: bool, relaxed: bool, everything: bool, rules: Rules, queue: QueueState
) -> int:
    """Find the best possible team among all that a changed player can have made possible.

    A newcomer (the first changed player, if somebody `arrived`) makes any team possible; a newly
    prioritized player a widened team, or, where slack applies to all as soon as it applies to
    one, nothing.

    Returns the lowest place in the pool of a rating that a member may have, NOBODY for no team;
    places in row BEST.
    """
    state = queue.state[0]
    slack = state["pool_prioritized"] > 0 and rules.player_slack > 0.0 and not relaxed
    wide = rules.player_diff + (rules.player_slack if slack or relaxed else 0.0)
    low, key = NOBODY, NO_TEAM
    if rules.around:
        return _best_around(arrived, slack, relaxed, rules, queue)
    first, stop = team_size(rules), team_size(rules) + state["pool"]
    if state["pool"] <= SMALL and not _some_window(first, stop, wide, rules, queue):
        return low
    # A small pool is scanned as a whole, which offers no window twice.
    whole = everything or state["pool"] <= SMALL
    # A team with a prioritized player leads all others, so widened scans come first. The last
    # step is the scan that grants its width to every team.
    widened = 0
    if slack:
        widened = 1 if whole else state["changed"]
    for c in range(widened + 1):
        every = c == widened
        if every and key < team_size(rules) * penalty(rules):
            break
        least, most = -np.inf, np.inf
        if not whole:
            changed = queue.players[at(queue.marks[CHANGED, at(0 if every else c)])]
            if (every and not arrived) or changed["team"] != IN_POOL:
                continue
            least = most = changed["rating"]
        width = rules.player_diff if every and not relaxed else wide
        low, key = _scan(least, most, width, not every, low, key, rules, queue)
    return low


@part(inline=True)
def _some_window(first: int, stop: int, width: float, rules: Rules, queue: QueueState) -> bool:
    """Return whether any rating window of `width` from a place in first..stop-1 on holds a team.

    All are looked at, as nobody could predict which one is the first.
    """
    some = False
    for k in range(first, stop):
        some |= queue.ratings[at(k + team_size(rules) - 1)] - queue.ratings[at(k)] <= width
    return some


@part(inline=True)
def _scan(
    least: float,
    most: float,
    width: float,
    widened: bool,
    low: int,
    key: int,
    rules: Rules,
    queue: QueueState,
) -> tuple[int, int]:
    """Offer the best team of every rating window of `width` that holds a rating in [least, most].

    Only windows that no other window contains matter, and in each only its longest waiting
    players: they lead in prioritized players, in total wait and in order at once.
    `widened`: the width is granted only to teams with a prioritized player.
    `low`, `key`: start of the window and sum of keys of the best team so far, and of that now.
    """
    start = first_within(width, least, rules, queue)
    end, last = start, -1
    while queue.ratings[at(start)] <= most:  # not so for the NaN after the last
        while (
            queue.ratings[at(end + 1)] - queue.ratings[at(start)] <= width
        ):  # not so for the NaN after the last
            end += 1
        if end != last and end - start + 1 >= team_size(rules):
            low, key = _offer(start, end, NOBODY, widened, low, key, rules, queue)
        last = end
        start += 1
        end = max(end, start)
    return low, key


@part(inline=True)
def first_within(width: float, rating: float, rules: Rules, queue: QueueState) -> int:
    """Return the first place in the pool whose rating is at most `width` below `rating`."""
    state = queue.state[0]
    start = team_size(rules)
    stop = start + state["pool"]
    while start < stop:
        middle = (start + stop) // 2
        if rating - queue.ratings[at(middle)] <= width:
            stop = middle
        else:
            start = middle + 1
    return start


@part(inline=True)
def _best_around(arrived: bool, slack: bool, relaxed: bool, rules: Rules, queue: QueueState) -> int:
    """Find the best possible team around a player whose review it is; see `best_team`."""
    state = queue.state[0]
    wide = rules.player_diff + rules.player_slack
    low, key = NOBODY, NO_TEAM
    for c in range(1 if arrived else state["changed"]):
        centre = queue.marks[CHANGED, at(c)]
        if queue.players[at(centre)]["team"] != IN_POOL:
            continue
        for widened in range(int(slack), -1, -1):
            width = wide if widened > 0 or relaxed else rules.player_diff
            rating = queue.players[at(centre)]["rating"]
            start = first_within(width, rating, rules, queue)
            end = start
            while queue.ratings[at(end)] - rating <= width:  # not so for the NaN after the last
                end += 1
            if end - start >= team_size(rules):
                low, key = _offer(start, end - 1, centre, widened > 0, low, key, rules, queue)
    return low


@part(inline=True)
def _offer(
    start: int,
    end: int,
    centre: int,
    widened: bool,
    low: int,
    key: int,
    rules: Rules,
    queue: QueueState,
) -> tuple[int, int]:
    """Let the longest waiting players of start..end in the pool compete for best team.

    The player at the place `centre` of the queue, unless that is NOBODY, is one of them in any
    case. Returns the start and the key of the best team.
    """
    state = queue.state[0]
    size, most = 0, team_size(rules) - 1
    if end - start == most:
        return _offer_team(start, widened, low, key, rules, queue)
    for k in range(start, end + 1):
        place = queue.places[at(k)]
        if size > most:
            if place > queue.marks[CANDIDATE, at(most)]:
                continue
            size = most
        i = size
        while i > 0 and queue.marks[CANDIDATE, at(i - 1)] > place:
            queue.marks[CANDIDATE, at(i)] = queue.marks[CANDIDATE, at(i - 1)]
            i -= 1
        queue.marks[CANDIDATE, at(i)] = place
        size += 1
    if queue.marks[CANDIDATE, at(most)] < centre:
        queue.marks[CANDIDATE, at(most)] = centre
    if widened and queue.marks[CANDIDATE, 0] >= state["head"]:
        return low, key
    sum_of_keys = 0
    for k in range(team_size(rules)):
        sum_of_keys += queue.players[at(queue.marks[CANDIDATE, at(k)])]["key"]
    if sum_of_keys > key or (sum_of_keys == key and not _precedes(rules, queue)):
        return low, key
    for k in range(team_size(rules)):
        queue.marks[BEST, at(k)] = queue.marks[CANDIDATE, at(k)]
    return start, sum_of_keys


@part(inline=True)
def _offer_team(
    start: int, widened: bool, low: int, key: int, rules: Rules, queue: QueueState
) -> tuple[int, int]:
    """Let the team from `start` on in the pool compete for best team; see `_offer`."""
    sum_of_keys = _sum_of_keys(start, rules, queue)
    nobody_prioritized = team_size(rules) * penalty(rules)
    if sum_of_keys > key or (widened and sum_of_keys >= nobody_prioritized):
        return low, key
    if sum_of_keys == key:
        _order(start, CANDIDATE, rules, queue)
        if not _precedes(rules, queue):
            return low, key
    _order(start, BEST, rules, queue)
    return start, sum_of_keys


@part(inline=True)
def best_pair(relaxed: bool, everything: bool, match: int, rules: Rules, queue: QueueState) -> bool:
    """Find the best possible pair of teams; their slots, older team first, become a match."""
    state = queue.state[0]
    strict = team_size(rules) * rules.team_diff
    wide = team_size(rules) * (rules.team_diff + rules.team_slack)
    reach = wide if relaxed or state["teams_prioritized"] > 0 else strict
    key = NO_TEAM
    for c in range(state["teams"] if everything else state["changed_teams"]):
        place = c
        if not everything:
            changed = queue.marks[CHANGED_TEAMS, at(c)]
            if queue.teams[at(changed)]["prioritized"] == NOBODY:
                continue
            place = team_place(changed, queue)
        team, total = queue.by_sum[at(place)]["team"], queue.by_sum[at(place)]["sum"]
        for step in (-1, 1):
            k = place + step
            while 0 <= k < state["teams"]:
                gap = abs(queue.by_sum[at(k)]["sum"] - total)
                if gap > reach:
                    break
                other = queue.by_sum[at(k)]["team"]
                some = queue.teams[at(team)]["prioritized"] + queue.teams[at(other)]["prioritized"]
                if gap <= strict or relaxed or some > 0:
                    key = _offer_pair(team, other, key, match, queue)
                k += step
    return bool(key < NO_TEAM)


@part(inline=True)
def _offer_pair(team: int, other: int, key: int, match: int, queue: QueueState) -> int:
    """Let two teams compete for best pair: sum of keys, order of formation; return the best key."""
    if queue.teams[at(other)]["order"] < queue.teams[at(team)]["order"]:
        team, other = other, team
    sum_of_keys = queue.teams[at(team)]["key"] + queue.teams[at(other)]["key"]
    if sum_of_keys != key:
        better = sum_of_keys < key
    else:
        older, younger = (
            queue.teams[at(queue.pairs[at(match), 0])]["order"],
            queue.teams[at(queue.pairs[at(match), 1])]["order"],
        )
        if queue.teams[at(team)]["order"] != older:
            better = queue.teams[at(team)]["order"] < older
        else:
            better = queue.teams[at(other)]["order"] < younger
    if better:
        queue.pairs[at(match), 0], queue.pairs[at(match), 1] = team, other
        return int(sum_of_keys)
    return key


# The verbs of a rule of the queue.


def waiting_teams(queue: QueueState) -> list[tuple[int, list[int]]]:
    """Return (number in order of formation, player indices) of the teams not paired yet."""
    slots = queue.by_sum["team"][: queue.state["teams"][0]]
    players = queue.players["player"]
    return sorted((int(queue.teams["order"][k]), players[queue.members[k]].tolist()) for k in slots)


@part(inline=True)
def next_review(rules: Rules, queue: QueueState) -> float:
    """Return when the next player becomes prioritized, if that has a review; else infinity."""
    if not rules.continuous:
        return np.inf
    state = queue.state[0]
    while state["head"] < state["end"] and queue.players[at(state["head"])]["team"] == GONE:
        state["head"] += 1
    if state["head"] == state["end"]:
        return np.inf
    due = queue.players[at(state["head"])]["arrival"] + rules.wait_thresh
    return due if due < rules.horizon else np.inf


@part(inline=True)
def has_room(rules: Rules, queue: QueueState) -> bool:
    """Return whether another player can join; see `grown`."""
    state = queue.state[0]
    if state["end"] == queue.players.size and 2 * state["waiting"] <= queue.players.size:
        _compact(team_size(rules), queue)
    return bool(state["end"] < queue.players.size)


@part(inline=True)
def enqueue(now: float, rating: float, player: int, rules: Rules, queue: QueueState) -> int:
    """Put a newcomer at the end of the queue and into the pool; return their place in the pool."""
    state = queue.state[0]
    place = state["end"]
    state["end"] += 1
    state["waiting"] += 1
    newcomer = queue.players[at(place)]
    newcomer["arrival"], newcomer["rating"] = now, rating
    newcomer["player"], newcomer["team"] = player, IN_POOL
    newcomer["key"] = tick_of(now, rules) + penalty(rules)
    return enter_pool(place, rating, rules, queue)


@part(inline=True)
def leave(arrival: float, player: int, rules: Rules, queue: QueueState) -> bool:
    """Let a player leave who waits since `arrival`; return whether a review is due by it.

    That is where a team dissolves: the others are in the pool again, in their places of the queue,
    and the review is one by `DISSOLVED`. Where teams form around who arrives, none is due.
    """
    state = queue.state[0]
    left = _place_of(arrival, player, queue)
    team = queue.players[at(left)]["team"]
    queue.players[at(left)]["team"] = GONE
    state["waiting"] -= 1
    if team == IN_POOL:
        state["pool_prioritized"] -= int(left < state["head"])
        low = first_within(0.0, queue.players[at(left)]["rating"], rules, queue)
        leave_pool(low, 1, rules, queue)
        return False
    remove_team(team, queue)
    for k in range(team_size(rules)):
        place = queue.members[at(team), at(k)]
        if place != left:
            queue.players[at(place)]["team"] = IN_POOL
            state["pool_prioritized"] += int(place < state["head"])
            enter_pool(place, queue.players[at(place)]["rating"], rules, queue)
    return not rules.around


@part(inline=True)
def _place_of(arrival: float, player: int, queue: QueueState) -> int:
    """Return the place in the queue of a player who waits since `arrival`."""
    start, stop = 0, queue.state[0]["end"]
    while start < stop:
        middle = (start + stop) // 2
        if queue.players[at(middle)]["arrival"] < arrival:
            start = middle + 1
        else:
            stop = middle
    while queue.players[at(start)]["player"] != player or queue.players[at(start)]["team"] == GONE:
        start += 1
    return start


@part(inline=True)
def _compact(team_num: int, queue: QueueState) -> None:
    """Move whoever waits to the front of the queue."""
    state = queue.state[0]
    remaining, head = 0, state["head"]
    for place in range(state["end"]):
        queue.marks[CANDIDATE, at(place)] = remaining
        if queue.players[at(place)]["team"] != GONE:
            queue.players[at(remaining)] = queue.players[at(place)]
            remaining += 1
    queue.marks[CANDIDATE, at(state["end"])] = remaining
    state["head"] = queue.marks[CANDIDATE, at(head)]
    state["end"] = remaining
    for k in range(team_num, team_num + state["pool"]):
        queue.places[at(k)] = queue.marks[CANDIDATE, at(queue.places[at(k)])]
    for k in range(state["teams"]):
        team = queue.by_sum[at(k)]["team"]
        for i in range(team_num):
            queue.members[at(team), at(i)] = queue.marks[
                CANDIDATE, at(queue.members[at(team), at(i)])
            ]


@part(inline=True)
def review(now: float, newcomer: int, rules: Rules, queue: QueueState) -> int:
    """Form teams, then pair them; return the number of matches, whose teams are in `pairs`.

    `newcomer`: place in the pool of the player whose arrival it is; NOBODY where somebody becomes
    prioritized, DISSOLVED where players have come back from a team.
    """
    state = queue.state[0]
    state["changed"] = state["changed_teams"] = 0
    if newcomer >= 0:
        queue.marks[CHANGED, 0] = queue.places[at(newcomer)]
        state["changed"] = 1
    simple = _prioritize(now, rules, queue)
    relaxed = rules.pool_scope and state["pool_prioritized"] + state["teams_prioritized"] > 0
    everything = newcomer == DISSOLVED or (relaxed and state["relaxed"] == 0)
    simple = (simple or rules.player_slack == 0.0 or relaxed) and not everything
    if simple and not rules.around:
        low = NOBODY
        if newcomer >= 0:
            low = newcomers_team(newcomer, relaxed, rules, queue)
        if low != NOBODY:
            _form_team(low, rules, queue)
    else:
        arrived = newcomer >= 0
        while state["pool"] >= team_size(rules):
            low = best_team(arrived, relaxed, everything, rules, queue)
            if low == NOBODY:
                break
            _form_team(low, rules, queue)
    matches = 0
    while state["teams"] >= 2 and best_pair(relaxed, everything, matches, rules, queue):
        for side in range(2):
            _play(queue.pairs[at(matches), at(side)], rules, queue)
        matches += 1
        relaxed = rules.pool_scope and state["pool_prioritized"] + state["teams_prioritized"] > 0
    state["relaxed"] = int(relaxed)
    return matches


@part(inline=True)
def _prioritize(now: float, rules: Rules, queue: QueueState) -> bool:
    """Move the head past those who count as prioritized now; they, or their teams, changed.

    Returns whether none of them is in the pool.
    """
    state = queue.state[0]
    head, none = state["head"], True
    while head < state["end"] and (
        is_prioritized(queue.players[at(head)]["arrival"], now, rules)
        or queue.players[at(head)]["team"] == GONE
    ):
        player = queue.players[at(head)]
        team = player["team"]
        player["key"] -= penalty(rules)
        if team == IN_POOL:
            none = False
            state["pool_prioritized"] += 1
            if state["changed"] == 0 or queue.marks[CHANGED, 0] != head:
                queue.marks[CHANGED, at(state["changed"])] = head
                state["changed"] += 1
        elif team != GONE:
            if queue.teams[at(team)]["prioritized"] == 0:
                state["teams_prioritized"] += 1
                queue.marks[CHANGED_TEAMS, at(state["changed_teams"])] = team
                state["changed_teams"] += 1
            queue.teams[at(team)]["prioritized"] += 1
            queue.teams[at(team)]["key"] -= penalty(rules)
        head += 1
    state["head"] = head
    return none


@part(inline=True)
def _form_team(low: int, rules: Rules, queue: QueueState) -> None:
    """Make the best team a formed team, whose members come from `low` on in the pool."""
    state = queue.state[0]
    slot = state["free_team"]
    if slot == NOBODY:
        slot = state["used_teams"]
        state["used_teams"] += 1
    else:
        state["free_team"] = queue.teams[at(slot)]["next_free"]
    total, key, prioritized = 0.0, 0, 0
    for k in range(team_size(rules)):
        place = queue.marks[BEST, at(k)]
        queue.members[at(slot), at(k)] = place
        player = queue.players[at(place)]
        player["team"] = slot
        total += player["rating"]
        key += player["key"]
        prioritized += int(place < state["head"])
    team = queue.teams[at(slot)]
    team["sum"], team["key"] = total, key
    team["order"], team["prioritized"] = state["formed"], prioritized
    state["formed"] += 1
    state["pool_prioritized"] -= prioritized
    state["teams_prioritized"] += int(prioritized > 0)
    leave_pool(low, team_size(rules), rules, queue)
    _add_team(slot, total, queue)


@part(inline=True)
def _add_team(team: int, total: float, queue: QueueState) -> None:
    """Put a new team among the formed ones by its sum of ratings, marked as changed."""
    state = queue.state[0]
    k = state["teams"]
    state["teams"] += 1
    while k > 0 and queue.by_sum[at(k - 1)]["sum"] > total:
        queue.by_sum[at(k)] = queue.by_sum[at(k - 1)]
        k -= 1
    queue.by_sum[at(k)]["sum"], queue.by_sum[at(k)]["team"] = total, team
    queue.marks[CHANGED_TEAMS, at(state["changed_teams"])] = team
    state["changed_teams"] += 1


@part(inline=True)
def _play(team: int, rules: Rules, queue: QueueState) -> None:
    """Let the players of a paired team leave the queue."""
    for k in range(team_size(rules)):
        queue.players[at(queue.members[at(team), at(k)])]["team"] = GONE
    queue.state[0]["waiting"] -= team_size(rules)
    remove_team(team, queue)


@part(inline=True)
def players_of_match(match: int, rules: Rules, queue: QueueState, lineup: Records) -> None:
    """Give the players of a match of the last review, those of the older team first."""
    for side in range(2):
        team = queue.pairs[at(match), at(side)]
        number = queue.teams[at(team)]["order"]
        for k in range(team_size(rules)):
            player = queue.players[at(queue.members[at(team), at(k)])]
            place = lineup[at(side * team_size(rules) + k)]
            place["player"], place["team"] = player["player"], number
            place["arrival"], place["rating"] = player["arrival"], player["rating"]


@part(inline=True)
def still_waiting(rules: Rules, queue: QueueState, arrivals: Floats) -> None:
    """Give the arrivals of all who wait, in order."""
    count = 0
    for place in range(queue.state[0]["end"]):
        if queue.players[at(place)]["team"] != GONE:
            arrivals[at(count)] = queue.players[at(place)]["arrival"]
            count += 1
