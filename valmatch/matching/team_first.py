"""Team-first matching: players form teams, formed teams are paired.

At each review teams are formed until none is possible, then teams are paired until no pair is
possible. After a review nothing is possible, and between two reviews players only join or become
prioritized. A team that is possible at the next review therefore holds a *changed* player (the
newcomer or a newly prioritized one), and a pair that is possible holds a changed team. Only those
are looked at, which keeps the cost of a review at the size of the neighbourhood of a rating
rather than of the pool.

The data are those of `valmatch.matching.team_state`, the best team and the best pair are found in
`valmatch.matching.team_search`.

What each trick buys: the time of a day without it, in units of that with it, at the defaults, with
continuous reviews and with ten times the players::

    no reference counts (`unallocating`)                    2.3   3.1   2.7
    one key and a queue, for two comparisons and a list     1.6   1.6   1.7
    only the newcomer's windows (`newcomers_team`)          1.1   1.2   2.1
    no indices from the end of an array (`at`)              1.2   1.2   1.2
    small pools looked through at once (`SMALL`)            1.3   1.0   1.0
    a team of five as a constant (`team_size`)              1.1
"""

from __future__ import annotations

import numpy as np

from valmatch.kernels.arrays import Floats, Records
from valmatch.kernels.compilation import at, inlined
from valmatch.matching.queue import DISSOLVED, NOBODY
from valmatch.matching.rules import Rules, is_prioritized, team_size, tick_of
from valmatch.matching.team_search import best_pair, best_team, first_within, newcomers_team
from valmatch.matching.team_state import (
    BEST,
    CANDIDATE,
    CHANGED,
    CHANGED_TEAMS,
    GONE,
    IN_POOL,
    QueueState,
    enter_pool,
    grown,
    leave_pool,
    new,
    penalty,
    remove_team,
    reset,
)

__all__ = [
    "Parameters",
    "grown",
    "has_room",
    "join",
    "leave",
    "line_up",
    "new",
    "next_review",
    "reset",
    "review",
    "still_waiting",
    "waiting_teams",
]

Parameters = Rules


def waiting_teams(queue: QueueState) -> list[tuple[int, list[int]]]:
    """Return (number in order of formation, player indices) of the teams not paired yet."""
    slots = queue.by_sum["team"][: queue.state["teams"][0]]
    players = queue.players["player"]
    found = [(int(queue.teams["order"][k]), players[queue.members[k]].tolist()) for k in slots]
    return sorted(found)


@inlined
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


@inlined
def has_room(rules: Rules, queue: QueueState) -> bool:
    """Return whether another player can join; see `grown`."""
    state = queue.state[0]
    if state["end"] == queue.players.size and 2 * state["waiting"] <= queue.players.size:
        _compact(team_size(rules), queue)
    return bool(state["end"] < queue.players.size)


@inlined
def join(now: float, rating: float, player: int, rules: Rules, queue: QueueState) -> int:
    """Put a newcomer at the end of the queue and into the pool; return his place in the pool."""
    state = queue.state[0]
    place = state["end"]
    state["end"] += 1
    state["waiting"] += 1
    newcomer = queue.players[at(place)]
    newcomer["arrival"], newcomer["rating"] = now, rating
    newcomer["player"], newcomer["team"] = player, IN_POOL
    newcomer["key"] = tick_of(now, rules) + penalty(rules)
    return enter_pool(place, rating, rules, queue)


@inlined
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


@inlined
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


@inlined
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


@inlined
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


@inlined
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


@inlined
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


@inlined
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


@inlined
def _play(team: int, rules: Rules, queue: QueueState) -> None:
    """Let the players of a paired team leave the queue."""
    for k in range(team_size(rules)):
        queue.players[at(queue.members[at(team), at(k)])]["team"] = GONE
    queue.state[0]["waiting"] -= team_size(rules)
    remove_team(team, queue)


@inlined
def line_up(match: int, rules: Rules, queue: QueueState, lineup: Records) -> None:
    """Give the players of a match of the last review, those of the older team first."""
    for side in range(2):
        team = queue.pairs[at(match), at(side)]
        number = queue.teams[at(team)]["order"]
        for k in range(team_size(rules)):
            player = queue.players[at(queue.members[at(team), at(k)])]
            place = lineup[at(side * team_size(rules) + k)]
            place["player"], place["team"] = player["player"], number
            place["arrival"], place["rating"] = player["arrival"], player["rating"]


@inlined
def still_waiting(rules: Rules, queue: QueueState, arrivals: Floats) -> None:
    """Give the arrivals of all who wait, in order."""
    count = 0
    for place in range(queue.state[0]["end"]):
        if queue.players[at(place)]["team"] != GONE:
            arrivals[at(count)] = queue.players[at(place)]["arrival"]
            count += 1
