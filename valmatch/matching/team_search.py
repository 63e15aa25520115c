"""The search of team-first matching: the best team of the pool, the best pair of teams.

Who is best is a comparison of one number: a player's key is his arrival in whole ticks, plus more
than all ticks of a match while he is not prioritized. The team of the smallest sum of keys has the
most prioritized players and, among equals, the greatest total wait.

Most reviews have one changed player, the newcomer. Without him no window of ratings held a team,
so with him a window holds exactly a team, and is one of the `team_num` windows around his place in
the pool (`newcomers_team`). Any other change goes the long way through all windows around every
changed player (`best_team`), which hold more players than a team, of whom the longest waiting
count.

Where teams form *around* a player (`Rules.around`), the players whose review it is, the newcomer
or those who become prioritized in between, are the only ones who get teams at that review.
"""

from __future__ import annotations

import numpy as np

from valmatch.kernels.compilation import at, inlined
from valmatch.matching.queue import NOBODY
from valmatch.matching.rules import Rules, team_size
from valmatch.matching.team_state import (
    BEST,
    CANDIDATE,
    CHANGED,
    CHANGED_TEAMS,
    IN_POOL,
    QueueState,
    penalty,
    team_place,
)

SMALL = 32  # pools up to this size are looked through at once before any window is placed
NO_TEAM = int(np.iinfo(np.int64).max)  # a sum of keys that every team is better than


@inlined
def newcomers_team(newcomer: int, relaxed: bool, rules: Rules, queue: QueueState) -> int:
    """Find the best possible team where none is possible without the newcomer.

    A window that held more players than a team would have held a team without him.

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


@inlined
def _sum_of_keys(low: int, rules: Rules, queue: QueueState) -> int:
    """Return the sum of keys of the team from `low` on in the pool."""
    total = 0
    for k in range(low, low + team_size(rules)):
        total += queue.players[at(queue.places[at(k)])]["key"]
    return total


@inlined
def _order(low: int, row: int, rules: Rules, queue: QueueState) -> None:
    """Put the places of the team from `low` on in the pool into a row of marks, ascending."""
    for k in range(low, low + team_size(rules)):
        rank = 0
        for other in range(low, low + team_size(rules)):
            rank += int(queue.places[at(other)] < queue.places[at(k)])
        queue.marks[at(row), at(rank)] = queue.places[at(k)]


@inlined
def _team_precedes(low: int, best: int, rules: Rules, queue: QueueState) -> bool:
    """Return whether the team from `low` on in the pool precedes that from `best` on."""
    _order(low, CANDIDATE, rules, queue)
    _order(best, BEST, rules, queue)
    return _precedes(rules, queue)


@inlined
def _precedes(rules: Rules, queue: QueueState) -> bool:
    """Return whether the candidate's players arrived in a lexicographically earlier order."""
    for k in range(team_size(rules)):
        if queue.marks[CANDIDATE, at(k)] != queue.marks[BEST, at(k)]:
            return bool(queue.marks[CANDIDATE, at(k)] < queue.marks[BEST, at(k)])
    return False


@inlined
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


@inlined
def _some_window(first: int, stop: int, width: float, rules: Rules, queue: QueueState) -> bool:
    """Return whether any rating window of `width` from a place in first..stop-1 on holds a team.

    All are looked at, as nobody could predict which one is the first.
    """
    some = False
    for k in range(first, stop):
        some |= queue.ratings[at(k + team_size(rules) - 1)] - queue.ratings[at(k)] <= width
    return some


@inlined
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


@inlined
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


@inlined
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


@inlined
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


@inlined
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


@inlined
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


@inlined
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
