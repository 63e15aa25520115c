"""Team-first matching: players form teams, formed teams are paired, both until none is possible.

Who waits has a place in a queue in order of arrival, which is given once; who has no team is also
in a pool by rating, between margins of NaN.
"""

from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats, Ints, Records
from valmatch.kernels.compilation import at, macro
from valmatch.matching.queue import DISSOLVED, NOBODY, Rules, is_prioritized, team_size, tick_of

# Most reviews have one changed player, the newcomer: without them no window of ratings held a team,
# so with them a window holds exactly a team (`newcomers_team`). Any other change goes the long way
# through all windows, of whose players the longest waiting count (`best_team`).

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
        ("formed", "i8"),  # teams formed so far
        ("changed", "i8"),  # whether a team may have got a pair since the last review
        ("relaxed", "i8"),  # pool scope: whether slack applied when the last review ended
        ("matches", "i8"),  # of the last review
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
        ("number", "i8"),  # in order of formation
        ("prioritized", "i8"),  # prioritized members
    ]
)
EMPTY = np.zeros(1, STATE)  # state of an empty queue

BEST, CANDIDATE = range(2)
"""Rows of `QueueState.marks`."""


class QueueState(NamedTuple):
    """The waiting players and the formed teams."""

    state: Records  # (1,)
    players: Records  # who waits, by place, in order of arrival
    # ratings, places: the players without a team by ascending rating, and their places in the
    # queue; team_num entries of NaN on either side
    ratings: Floats
    places: Ints
    # teams, members: the teams by slot; the places of their players, ascending
    teams: Records
    members: Ints
    by_sum: Ints  # slots: of the formed teams by ascending sum, of the last matches, and free ones
    marks: Ints  # (2, capacity + 1); places: the best team so far, and the one looked at


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
        np.arange(teams),
        np.zeros((2, capacity + 1), np.int64),
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


def waiting_teams(queue: QueueState) -> list[tuple[int, list[int]]]:
    """Return (number in order of formation, player indices) of the teams not paired yet."""
    slots = queue.by_sum[: queue.state["teams"][0]]
    players = queue.players["player"][queue.members[slots]]
    return sorted(zip(queue.teams["number"][slots].tolist(), players.tolist(), strict=True))


@macro
def penalty(rules: Rules) -> int:
    """Return what is added to a player's ticks until they are prioritized."""
    # More than the ticks of all players of a match, see `ticks_per_hour`; small enough to be
    # added for each of them.
    return (1 << 61) // (2 * team_size(rules))


@macro
def has_room(rules: Rules, queue: QueueState) -> bool:
    """Return whether another player can join; see `grown`."""
    state = queue.state[0]
    if state["end"] == queue.players.size and 2 * state["waiting"] <= queue.players.size:
        _compact(team_size(rules), queue)
    return bool(state["end"] < queue.players.size)


@macro
def _compact(team_num: int, queue: QueueState) -> None:
    """Move whoever waits to the front of the queue."""
    state, moved = queue.state[0], queue.marks[CANDIDATE]
    remaining, head = 0, state["head"]
    for place in range(state["end"]):
        moved[at(place)] = remaining
        if queue.players[at(place)]["team"] != GONE:
            queue.players[at(remaining)] = queue.players[at(place)]
            remaining += 1
    moved[at(state["end"])] = remaining
    state["head"], state["end"] = moved[at(head)], remaining
    for k in range(team_num, team_num + state["pool"]):
        queue.places[at(k)] = moved[at(queue.places[at(k)])]
    for k in range(state["teams"]):
        for i in range(team_num):
            slot = queue.by_sum[at(k)]
            queue.members[at(slot), at(i)] = moved[at(queue.members[at(slot), at(i)])]


@macro
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
    return _enter_pool(place, rating, rules, queue)


@macro
def _enter_pool(place: int, rating: float, rules: Rules, queue: QueueState) -> int:
    """Put a player of the queue into the pool; return their place there."""
    state, ratings, places = queue.state[0], queue.ratings, queue.places
    k = team_size(rules) + state["pool"]
    state["pool"] += 1
    while ratings[at(k - 1)] > rating:  # not so for the NaN before the first
        ratings[at(k)], places[at(k)] = ratings[at(k - 1)], places[at(k - 1)]
        k -= 1
    ratings[at(k)], places[at(k)] = rating, place
    return k


@macro
def _leave_pool(low: int, count: int, rules: Rules, queue: QueueState) -> None:
    """Close the gaps that so many players have left in the pool, from `low` on."""
    state, ratings, places = queue.state[0], queue.ratings, queue.places
    k, remaining, stop = low, low, team_size(rules) + state["pool"]
    while k - remaining < count:
        if queue.players[at(places[at(k)])]["team"] == IN_POOL:
            ratings[at(remaining)], places[at(remaining)] = ratings[at(k)], places[at(k)]
            remaining += 1
        k += 1
    for k in range(remaining, stop - count):
        ratings[at(k)], places[at(k)] = ratings[at(k + count)], places[at(k + count)]
    for k in range(stop - count, stop):
        ratings[at(k)] = np.nan
    state["pool"] -= count


@macro
def leave(player: int, rules: Rules, queue: QueueState) -> bool:
    """Let a player leave; return whether a review is due by it."""
    # That is where a team dissolves: the others are in the pool again, in their places of the
    # queue, and the review is one by `DISSOLVED`. Where teams form around who arrives, none is
    # due.
    state, left = queue.state[0], 0
    while queue.players[at(left)]["player"] != player or queue.players[at(left)]["team"] == GONE:
        left += 1
    team = queue.players[at(left)]["team"]
    queue.players[at(left)]["team"] = GONE
    state["waiting"] -= 1
    if team == IN_POOL:
        state["pool_prioritized"] -= int(left < state["head"])
        low = _first_within(0.0, queue.players[at(left)]["rating"], rules, queue)
        _leave_pool(low, 1, rules, queue)
        return False
    for k in range(team_size(rules)):
        place = queue.members[at(team), at(k)]
        if place != left:
            queue.players[at(place)]["team"] = IN_POOL
            state["pool_prioritized"] += int(place < state["head"])
            _enter_pool(place, queue.players[at(place)]["rating"], rules, queue)
    _remove_team(team, queue)
    return not rules.around


@macro
def _remove_team(team: int, queue: QueueState) -> None:
    """Put the slot of a team behind those that are formed."""
    state, by_sum, k = queue.state[0], queue.by_sum, 0
    state["teams_prioritized"] -= int(queue.teams[at(team)]["prioritized"] > 0)
    state["teams"] -= 1
    while by_sum[at(k)] != team:
        k += 1
    for m in range(k, state["teams"]):
        by_sum[at(m)] = by_sum[at(m + 1)]
    by_sum[at(state["teams"])] = team


# The best team of the pool.
#
# Where teams form *around* a player (`Rules.around`), the players whose review it is, the newcomer
# or those who become prioritized in between, are the only ones who get teams at that review.

NO_TEAM = int(np.iinfo(np.int64).max)  # a sum of keys that every team is better than


@macro
def newcomers_team(newcomer: int, relaxed: bool, rules: Rules, queue: QueueState) -> int:
    """Find the best possible team where none is possible without the newcomer."""
    # A window that held more players than a team would have held a team without them.
    #
    # Returns the lowest place in the pool of a member, NOBODY for no team; places in row BEST.
    slack = relaxed or queue.state[0]["pool_prioritized"] > 0
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
            if total == key:
                _order(k, CANDIDATE, rules, queue)
                _order(low, BEST, rules, queue)
            if total < key or (total == key and _precedes(rules, queue)):
                low, key = k, total
    if low != NOBODY:
        _order(low, BEST, rules, queue)
    return low


@macro
def _some_window(first: int, stop: int, width: float, rules: Rules, queue: QueueState) -> bool:
    """Return whether any rating window of `width` from a place in first..stop-1 on holds a team."""
    # All are looked at, as nobody could predict which one is the first.
    some = False
    for k in range(first, stop):
        some |= queue.ratings[at(k + team_size(rules) - 1)] - queue.ratings[at(k)] <= width
    return some


@macro
def _sum_of_keys(low: int, rules: Rules, queue: QueueState) -> int:
    """Return the sum of keys of the team from `low` on in the pool."""
    total = 0
    for k in range(low, low + team_size(rules)):
        total += queue.players[at(queue.places[at(k)])]["key"]
    return total


@macro
def _order(low: int, row: int, rules: Rules, queue: QueueState) -> None:
    """Put the places of the team from `low` on in the pool into a row of marks, ascending."""
    for k in range(low, low + team_size(rules)):
        rank = 0
        for other in range(low, low + team_size(rules)):
            rank += int(queue.places[at(other)] < queue.places[at(k)])
        queue.marks[at(row), at(rank)] = queue.places[at(k)]


@macro
def _precedes(rules: Rules, queue: QueueState) -> bool:
    """Return whether the candidate's players arrived in a lexicographically earlier order."""
    for k in range(team_size(rules)):
        if queue.marks[CANDIDATE, at(k)] != queue.marks[BEST, at(k)]:
            return bool(queue.marks[CANDIDATE, at(k)] < queue.marks[BEST, at(k)])
    return False


@macro
def best_team(relaxed: bool, rules: Rules, queue: QueueState) -> int:
    """Find the best possible team of the pool."""
    # Returns the lowest place in the pool of a rating that a member may have, NOBODY for no team;
    # places in row BEST.
    low, state, first = NOBODY, queue.state[0], team_size(rules)
    slack = state["pool_prioritized"] > 0 and rules.player_slack > 0.0 and not relaxed
    wide = rules.player_diff + (rules.player_slack if slack or relaxed else 0.0)
    if not _some_window(first, first + state["pool"], wide, rules, queue):
        return low
    if slack:
        # A team with a prioritized player leads all others.
        low = _scan(wide, True, rules, queue)
    if low == NOBODY:
        low = _scan(rules.player_diff if slack else wide, False, rules, queue)
    return low


@macro
def _scan(width: float, widened: bool, rules: Rules, queue: QueueState) -> int:
    """Return where the best team of all rating windows of `width` begins; see `_offer`."""
    # Only windows that no other window contains matter, and in each only its longest waiting
    # players: they lead in prioritized players, in total wait and in order at once.
    low, key = NOBODY, NO_TEAM
    start = end = team_size(rules)
    last, stop = -1, start + queue.state[0]["pool"]
    while start < stop:
        # Not so for the NaN after the last.
        while queue.ratings[at(end + 1)] - queue.ratings[at(start)] <= width:
            end += 1
        if end != last and end - start + 1 >= team_size(rules):
            low, key = _offer(start, end, NOBODY, widened, low, key, rules, queue)
        last = end
        start += 1
        end = max(end, start)
    return low


@macro
def _first_within(width: float, rating: float, rules: Rules, queue: QueueState) -> int:
    """Return the first place in the pool whose rating is at most `width` below `rating`."""
    start = team_size(rules)
    stop = start + queue.state[0]["pool"]
    while start < stop:
        middle = (start + stop) // 2
        if rating - queue.ratings[at(middle)] <= width:
            stop = middle
        else:
            start = middle + 1
    return start


@macro
def _best_around(first: int, stop: int, relaxed: bool, rules: Rules, queue: QueueState) -> int:
    """Find the best possible team around a player at a place first..stop-1; see `best_team`."""
    slack = queue.state[0]["pool_prioritized"] > 0 and rules.player_slack > 0.0 and not relaxed
    wide = rules.player_diff + rules.player_slack
    low, key = NOBODY, NO_TEAM
    for centre in range(first, stop):
        if queue.players[at(centre)]["team"] != IN_POOL:
            continue
        for widened in range(int(slack), -1, -1):
            width = wide if widened > 0 or relaxed else rules.player_diff
            rating = queue.players[at(centre)]["rating"]
            start = _first_within(width, rating, rules, queue)
            end = start
            while queue.ratings[at(end)] - rating <= width:  # not so for the NaN after the last
                end += 1
            if end - start >= team_size(rules):
                low, key = _offer(start, end - 1, centre, widened > 0, low, key, rules, queue)
    return low


@macro
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
    """Let the longest waiting players of start..end in the pool compete for best team."""
    # The player at the place `centre` of the queue, unless that is NOBODY, is one of them in any
    # case; with `widened` one has to be prioritized. `low`, `key`: start and sum of keys of the
    # best team so far; returned are those of the best team now.
    size, most, marks = 0, team_size(rules) - 1, queue.marks
    for k in range(start, end + 1):
        place = queue.places[at(k)]
        if size > most:
            if place > marks[CANDIDATE, at(most)]:
                continue
            size = most
        i = size
        while i > 0 and marks[CANDIDATE, at(i - 1)] > place:
            marks[CANDIDATE, at(i)] = marks[CANDIDATE, at(i - 1)]
            i -= 1
        marks[CANDIDATE, at(i)] = place
        size += 1
    if marks[CANDIDATE, at(most)] < centre:
        marks[CANDIDATE, at(most)] = centre
    if widened and marks[CANDIDATE, 0] >= queue.state[0]["head"]:
        return low, key
    total = 0
    for k in range(team_size(rules)):
        total += queue.players[at(marks[CANDIDATE, at(k)])]["key"]
    if total > key or (total == key and not _precedes(rules, queue)):
        return low, key
    for k in range(team_size(rules)):
        marks[BEST, at(k)] = marks[CANDIDATE, at(k)]
    return start, total


@macro
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


@macro
def review(now: float, newcomer: int, rules: Rules, queue: QueueState) -> int:
    """Form teams, then pair them; return the number of matches."""
    # `newcomer`: place in the pool of the player whose arrival it is; NOBODY where somebody
    # becomes prioritized, DISSOLVED where players have come back from a team.
    state = queue.state[0]
    first = state["head"]
    alone = _prioritize(now, rules, queue) or rules.player_slack == 0.0
    relaxed = _is_relaxed(rules, queue)
    everything = newcomer == DISSOLVED or (relaxed and state["relaxed"] == 0)
    simple = (alone or relaxed) and not everything and not rules.around
    stop = state["head"]
    if newcomer >= 0:
        first = queue.places[at(newcomer)]
        stop = first + 1
    while state["pool"] >= team_size(rules):
        if simple:
            low = newcomers_team(newcomer, relaxed, rules, queue) if newcomer >= 0 else NOBODY
        elif not rules.around:
            low = best_team(relaxed, rules, queue)
        else:
            low = _best_around(first, stop, relaxed, rules, queue)
        if low == NOBODY:
            break
        _form_team(low, rules, queue)
        if newcomer >= 0 and (simple or rules.around):  # they have a team
            break
    matches = 0
    if state["changed"] or everything:
        while state["teams"] >= 2 and _pair(relaxed, rules, queue):
            matches += 1
            relaxed = _is_relaxed(rules, queue)
    state["changed"] = 0
    state["relaxed"], state["matches"] = int(relaxed), matches
    return matches


@macro
def _is_relaxed(rules: Rules, queue: QueueState) -> bool:
    """Return whether slack holds for all, as somebody is prioritized."""
    state = queue.state[0]
    return bool(rules.pool_scope and state["pool_prioritized"] + state["teams_prioritized"] > 0)


@macro
def _prioritize(now: float, rules: Rules, queue: QueueState) -> bool:
    """Move the head past those who count as prioritized now; they, or their teams, changed."""
    # Returns whether none of them is in the pool.
    state = queue.state[0]
    head, none = state["head"], True
    while head < state["end"] and (
        is_prioritized(queue.players[at(head)]["arrival"], now, rules)
        or queue.players[at(head)]["team"] == GONE
    ):
        player = queue.players[at(head)]
        slot = player["team"]
        player["key"] -= penalty(rules)
        if slot == IN_POOL:
            none = False
            state["pool_prioritized"] += 1
        elif slot != GONE:
            team = queue.teams[at(slot)]
            if team["prioritized"] == 0:
                state["teams_prioritized"] += 1
                state["changed"] = 1
            team["prioritized"] += 1
            team["key"] -= penalty(rules)
        head += 1
    state["head"] = head
    return none


@macro
def _form_team(low: int, rules: Rules, queue: QueueState) -> None:
    """Make the best team a formed team, whose members come from `low` on in the pool."""
    state, by_sum, k = queue.state[0], queue.by_sum, queue.state[0]["teams"]
    slot, total, key, prioritized = by_sum[at(k)], 0.0, 0, 0
    for i in range(team_size(rules)):
        place = queue.marks[BEST, at(i)]
        queue.members[at(slot), at(i)] = place
        player = queue.players[at(place)]
        player["team"] = slot
        total += player["rating"]
        key += player["key"]
        prioritized += int(place < state["head"])
    while k > 0 and queue.teams[at(by_sum[at(k - 1)])]["sum"] > total:
        by_sum[at(k)] = by_sum[at(k - 1)]
        k -= 1
    by_sum[at(k)] = slot
    team = queue.teams[at(slot)]
    team["sum"], team["key"], team["number"] = total, key, state["formed"]
    team["prioritized"] = prioritized
    state["teams"] += 1
    state["formed"] += 1
    state["changed"] = 1
    state["pool_prioritized"] -= prioritized
    state["teams_prioritized"] += int(prioritized > 0)
    _leave_pool(low, team_size(rules), rules, queue)


@macro
def _pair(relaxed: bool, rules: Rules, queue: QueueState) -> bool:
    """Let the best pair of teams play, of equals the older; return whether there is one."""
    state, teams = queue.state[0], queue.teams
    strict = team_size(rules) * rules.team_diff
    wide = team_size(rules) * (rules.team_diff + rules.team_slack)
    reach = wide if relaxed or state["teams_prioritized"] > 0 else strict
    older, younger, key = NOBODY, NOBODY, NO_TEAM
    for k in range(state["teams"]):
        slot = queue.by_sum[at(k)]
        team = teams[at(slot)]
        for m in range(k + 1, state["teams"]):
            other_slot = queue.by_sum[at(m)]
            other = teams[at(other_slot)]
            gap = other["sum"] - team["sum"]
            if gap > reach:
                break
            if gap <= strict or relaxed or team["prioritized"] + other["prioritized"] > 0:
                first, second, total = slot, other_slot, team["key"] + other["key"]
                if other["number"] < team["number"]:
                    first, second = other_slot, slot
                if total < key or (
                    total == key and _forms_before(first, second, older, younger, queue)
                ):
                    older, younger, key = first, second, total
    if older == NOBODY:
        return False
    for slot in (younger, older):
        for i in range(team_size(rules)):
            queue.players[at(queue.members[at(slot), at(i)])]["team"] = GONE
        state["waiting"] -= team_size(rules)
        _remove_team(slot, queue)
    return True


@macro
def _forms_before(first: int, second: int, older: int, younger: int, queue: QueueState) -> bool:
    """Return whether a pair of teams, the older first, was formed before another."""
    number, other = queue.teams[at(first)]["number"], queue.teams[at(older)]["number"]
    if number != other:
        return bool(number < other)
    return bool(queue.teams[at(second)]["number"] < queue.teams[at(younger)]["number"])


@macro
def players_of_match(match: int, rules: Rules, queue: QueueState, lineup: Records) -> None:
    """Give the players of a match of the last review, those of the older team first."""
    state = queue.state[0]
    for side in range(2):
        team = queue.by_sum[at(state["teams"] + 2 * (state["matches"] - 1 - match) + side)]
        number = queue.teams[at(team)]["number"]
        for k in range(team_size(rules)):
            player = queue.players[at(queue.members[at(team), at(k)])]
            member = lineup[at(side * team_size(rules) + k)]
            member["player"], member["team"] = player["player"], number
            member["arrival"], member["rating"] = player["arrival"], player["rating"]


@macro
def still_waiting(queue: QueueState, arrivals: Floats) -> None:
    """Give the arrivals of all who wait, in order."""
    count = 0
    for place in range(queue.state[0]["end"]):
        if queue.players[at(place)]["team"] != GONE:
            arrivals[at(count)] = queue.players[at(place)]["arrival"]
            count += 1
