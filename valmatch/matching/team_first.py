"""Team-first matching: players form teams, formed teams are paired.

At each review teams are formed until none is possible, then teams are paired until no pair is
possible. After a review nothing is possible, and between two reviews players only join or become
prioritized. A team that is possible at the next review therefore holds a *changed* player (the
newcomer or a newly prioritized one), and a pair that is possible holds a changed team. Only those
are looked at, which keeps the cost of a review at the size of the neighbourhood of a rating
rather than of the pool.

The players wait in a queue in order of arrival, those without a team also in a pool by rating::

    place        0     1     2     3     4     5      "longest waiting" is "smallest place"
    queue      1010   950  1480   990  1010  1100     ratings in order of arrival
               gone   pool  team 0 pool  pool  pool
                                   ^ head: whoever waits before it is prioritized

    ratings     .  .  950   990  1010  1100  .  .     the pool by rating, between margins of NaN
    places            1     3     4     5             ... and its places in the queue

A place is given once. When all are given, whoever still waits moves to the front (`_compact`).

Who is best is a comparison of one number: a player's key is his arrival in whole ticks, plus more
than all ticks of a match while he is not prioritized. The team of the smallest sum of keys has the
most prioritized players and, among equals, the greatest total wait.

Most reviews have one changed player, the newcomer. Without him no window of ratings held a team,
so with him a window holds exactly a team, and is one of the `team_num` windows around his place in
the pool (`_newcomers_team`). Any other change goes the long way through all windows around every
changed player (`_best_team`), which hold more players than a team, of whom the longest waiting
count.

Where teams form *around* a player (`Rules.around`), the players whose review it is, the newcomer
or those who become prioritized in between, are the only ones who get teams at that review.

What each trick buys: the time of a day without it, in units of that with it, at the defaults, with
continuous reviews and with ten times the players::

    no reference counts (`unallocating`)                    2.3   3.1   2.7
    one key and a queue, for two comparisons and a list     1.6   1.6   1.7
    only the newcomer's windows (`_newcomers_team`)         1.1   1.2   2.1
    no indices from the end of an array (`at`)              1.2   1.2   1.2
    small pools looked through at once (`SMALL`)            1.3   1.0   1.0
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.compilation import at, inlined, unallocating
from valmatch.matching.rules import Rules, is_prioritized, tick_of
from valmatch.matching.tally import SUMS, add_match, add_player, add_unmatched

__all__ = [
    "DISSOLVED",
    "NOBODY",
    "Lobby",
    "grown",
    "has_room",
    "join",
    "leave",
    "line_up",
    "new_lobby",
    "next_expiry",
    "reset",
    "review",
    "run",
    "waiting_teams",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Records = NDArray[np.void]

SMALL = 32
"""Pools up to this size are looked through at once before any window is placed."""
NOBODY = -1
IN_POOL, GONE = -1, -2
"""What stands for the team of players who have none, and of players who have left."""
DISSOLVED = -2
"""What stands for a newcomer where there is none, but a team has dissolved."""
NO_TEAM = int(np.iinfo(np.int64).max)
"""A sum of keys that every team is better than."""

STATE = np.dtype(
    [
        *SUMS,
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
QUEUED = np.dtype(
    [
        ("arrival", "f8"),  # hours
        ("rating", "f8"),
        ("key", "i8"),  # arrival in ticks, plus `_later` until prioritized
        ("player", "i8"),  # who it is; `valorant` counts them in order of arrival
        ("team", "i8"),  # slot of the team, or IN_POOL, or GONE
    ]
)
TEAM = np.dtype(
    [
        ("sum", "f8"),  # of ratings
        ("range", "f8"),
        ("key", "i8"),  # sum of keys
        ("order", "i8"),  # number in order of formation
        ("prioritized", "i8"),  # prioritized members; -1 where the slot is free
        ("next_free", "i8"),  # where the slot is free
    ]
)
LINED_UP = np.dtype([("sum", "f8"), ("team", "i8")])

EMPTY = np.zeros(1, STATE)
"""State of an empty lobby."""
EMPTY["free_team"] = NOBODY

CHANGED, CHANGED_TEAMS, BEST, CANDIDATE = range(4)
"""Rows of `Lobby.marks`."""


class Lobby(NamedTuple):
    """The waiting players and the formed teams.

    Attributes
    ----------
    state : numpy.ndarray
        One record of scalars.
    queue : numpy.ndarray
        The players by place, in order of arrival.
    ratings, places : numpy.ndarray
        The players without a team by ascending rating, and their places in the queue; team_num
        entries of NaN on either side.
    teams, members : numpy.ndarray
        The formed teams by slot; the places of their players, ascending.
    lineup : numpy.ndarray
        The formed teams by ascending sum of ratings.
    pairs : numpy.ndarray
        The matches of a review: slots of the older and the younger team.
    marks : numpy.ndarray
        Rows of places or slots: players and teams that changed since the last review, the best
        team so far and the one looked at.
    """

    state: Records
    queue: Records
    ratings: Floats
    places: Ints
    teams: Records
    members: Ints
    lineup: Records
    pairs: Ints
    marks: Ints


def new_lobby(capacity: int, team_num: int) -> Lobby:
    """Return an empty lobby whose queue has `capacity` places (at least for 2 teams)."""
    capacity = max(capacity, 2 * team_num)
    teams = capacity // team_num + 1
    return Lobby(
        EMPTY.copy(),
        np.zeros(capacity, QUEUED),
        np.full(capacity + 2 * team_num, np.nan),
        np.zeros(capacity + 2 * team_num, np.int64),
        np.zeros(teams, TEAM),
        np.zeros((teams, team_num), np.int64),
        np.zeros(teams, LINED_UP),
        np.zeros((teams, 2), np.int64),
        np.zeros((4, capacity + 1), np.int64),
    )


def reset(lobby: Lobby) -> None:
    """Empty a lobby for the next replication."""
    # As bytes, because numpy copies structured arrays field by field.
    lobby.state.view(np.uint8)[:] = EMPTY.view(np.uint8)
    lobby.ratings[:] = np.nan


def grown(lobby: Lobby, team_num: int) -> Lobby:
    """Return a copy of a lobby with twice the room; all players keep their places."""
    large = new_lobby(2 * lobby.queue.size, team_num)
    for old, new in zip(lobby[:-1], large[:-1], strict=True):
        new[: len(old)] = old
    return large


@unallocating
def run(
    times: Floats,
    ratings: Floats,
    first: int,
    last: bool,
    rules: Rules,
    lobby: Lobby,
    waits: Floats,
    log: Floats,
) -> int:
    """Let players arrive, with a review at each arrival, until done or out of room.

    With continuous reviews there is one more at arrival + wait_thresh of every player still
    waiting; where that moment coincides with an arrival it comes first, without the newcomer.

    Parameters
    ----------
    times, ratings : numpy.ndarray
        (n,): arrivals in hours, ratings in Elo points, in order of arrival.
    first : int
        Index of the first of these players.
    last : bool
        Whether these are the last: hold all reviews up to the horizon, count who is left.
    rules : Rules
        The rules.
    lobby : Lobby
        The waiting players, in and out.
    waits : numpy.ndarray
        Out: minutes of each matched player in order of matching.
    log : numpy.ndarray
        (matches, 3 + 2 * team_num): out, where a log is wanted: hour of the match, formation
        numbers of both teams, player indices (older team first, each ascending).

    Returns
    -------
    int
        Players taken; fewer than n where lobby or waits have no room for the next one.
    """
    state = lobby.state[0]
    taken = 0
    while True:
        due = next_expiry(rules, lobby)
        if taken < times.size and times[at(taken)] < due:
            if state["matched"] + state["waiting"] >= waits.size or not has_room(rules, lobby):
                return taken
            now = times[at(taken)]
            newcomer = join(now, ratings[at(taken)], first + taken, rules, lobby)
            taken += 1
        elif due < np.inf and (taken < times.size or last):
            now, newcomer = due, NOBODY
        else:
            break
        matches = review(now, newcomer, rules, lobby)
        for match in range(matches):
            _count(
                now, lobby.pairs[at(match), 0], lobby.pairs[at(match), 1], rules, waits, log, lobby
            )
    if last:
        _count_unmatched(rules, lobby)
    return taken


def waiting_teams(lobby: Lobby) -> list[tuple[int, list[int]]]:
    """Return (number in order of formation, player indices) of the teams not paired yet."""
    slots = lobby.lineup["team"][: lobby.state["teams"][0]]
    players = lobby.queue["player"]
    found = [(int(lobby.teams["order"][k]), players[lobby.members[k]].tolist()) for k in slots]
    return sorted(found)


@inlined
def _later(rules: Rules) -> int:
    """Return what is added to a player's ticks until he is prioritized.

    More than the ticks of all players of a match, see `ticks_per_hour`; small enough to be added
    for each of them.
    """
    return (1 << 61) // (2 * rules.team_num)


@inlined
def next_expiry(rules: Rules, lobby: Lobby) -> float:
    """Return when the next player has a review for becoming prioritized, infinity for never."""
    if not rules.continuous:
        return np.inf
    state = lobby.state[0]
    while state["head"] < state["end"] and lobby.queue[at(state["head"])]["team"] == GONE:
        state["head"] += 1
    if state["head"] == state["end"]:
        return np.inf
    due = lobby.queue[at(state["head"])]["arrival"] + rules.wait_thresh
    return due if due < rules.horizon else np.inf


@inlined
def join(now: float, rating: float, player: int, rules: Rules, lobby: Lobby) -> int:
    """Put a newcomer at the end of the queue and into the pool; return his place in the pool."""
    state = lobby.state[0]
    place = state["end"]
    state["end"] += 1
    state["waiting"] += 1
    one = lobby.queue[at(place)]
    one["arrival"], one["rating"], one["player"], one["team"] = now, rating, player, IN_POOL
    one["key"] = tick_of(now, rules) + _later(rules)
    return _enter_pool(place, rating, rules, lobby)


@inlined
def _enter_pool(place: int, rating: float, rules: Rules, lobby: Lobby) -> int:
    """Put a player of the queue into the pool; return his place there."""
    state = lobby.state[0]
    k = rules.team_num + state["pool"]
    state["pool"] += 1
    while lobby.ratings[at(k - 1)] > rating:  # not so for the NaN before the first
        lobby.ratings[at(k)], lobby.places[at(k)] = (
            lobby.ratings[at(k - 1)],
            lobby.places[at(k - 1)],
        )
        k -= 1
    lobby.ratings[at(k)], lobby.places[at(k)] = rating, place
    return k


@inlined
def has_room(rules: Rules, lobby: Lobby) -> bool:
    """Return whether another player can join; see `grown`."""
    state = lobby.state[0]
    if state["end"] == lobby.queue.size and 2 * state["waiting"] <= lobby.queue.size:
        _compact(rules.team_num, lobby)
    return bool(state["end"] < lobby.queue.size)


@inlined
def leave(arrival: float, player: int, rules: Rules, lobby: Lobby) -> bool:
    """Let a player leave who waits since `arrival`; return whether that dissolves a team.

    The others of the team are in the pool again, in their places of the queue, and a review by
    `DISSOLVED` is due.
    """
    state = lobby.state[0]
    left = _place_of(arrival, player, lobby)
    team = lobby.queue[at(left)]["team"]
    lobby.queue[at(left)]["team"] = GONE
    state["waiting"] -= 1
    if team == IN_POOL:
        state["pool_prioritized"] -= int(left < state["head"])
        low = _first_within(0.0, lobby.queue[at(left)]["rating"], rules, lobby)
        _leave_pool(low, rules, lobby)
        return False
    _leave_lineup(team, lobby)
    for k in range(rules.team_num):
        place = lobby.members[at(team), at(k)]
        if place != left:
            lobby.queue[at(place)]["team"] = IN_POOL
            state["pool_prioritized"] += int(place < state["head"])
            _enter_pool(place, lobby.queue[at(place)]["rating"], rules, lobby)
    return True


@inlined
def _place_of(arrival: float, player: int, lobby: Lobby) -> int:
    """Return the place in the queue of a player who waits since `arrival`."""
    start, stop = 0, lobby.state[0]["end"]
    while start < stop:
        middle = (start + stop) // 2
        if lobby.queue[at(middle)]["arrival"] < arrival:
            start = middle + 1
        else:
            stop = middle
    while lobby.queue[at(start)]["player"] != player or lobby.queue[at(start)]["team"] == GONE:
        start += 1
    return start


@inlined
def _compact(team_num: int, lobby: Lobby) -> None:
    """Move whoever waits to the front of the queue."""
    state = lobby.state[0]
    kept, head = 0, state["head"]
    for place in range(state["end"]):
        lobby.marks[CANDIDATE, at(place)] = kept
        if lobby.queue[at(place)]["team"] != GONE:
            lobby.queue[at(kept)] = lobby.queue[at(place)]
            kept += 1
    lobby.marks[CANDIDATE, at(state["end"])] = kept
    state["head"] = lobby.marks[CANDIDATE, at(head)]
    state["end"] = kept
    for k in range(team_num, team_num + state["pool"]):
        lobby.places[at(k)] = lobby.marks[CANDIDATE, at(lobby.places[at(k)])]
    for k in range(state["teams"]):
        team = lobby.lineup[at(k)]["team"]
        for i in range(team_num):
            lobby.members[at(team), at(i)] = lobby.marks[
                CANDIDATE, at(lobby.members[at(team), at(i)])
            ]


@inlined
def review(now: float, newcomer: int, rules: Rules, lobby: Lobby) -> int:
    """Form teams, then pair them; return the number of matches, whose teams are in `pairs`.

    `newcomer`: place in the pool of the player whose arrival it is; NOBODY where somebody becomes
    prioritized, DISSOLVED where players have come back from a team.
    """
    state = lobby.state[0]
    state["changed"] = state["changed_teams"] = 0
    if newcomer >= 0:
        lobby.marks[CHANGED, 0] = lobby.places[at(newcomer)]
        state["changed"] = 1
    simple = _prioritize(now, rules, lobby)
    relaxed = rules.pool_scope and state["pool_prioritized"] + state["teams_prioritized"] > 0
    everything = newcomer == DISSOLVED or (relaxed and state["relaxed"] == 0)
    simple = (simple or rules.player_slack == 0.0 or relaxed) and not everything
    if simple and not rules.around:
        low = NOBODY
        if newcomer >= 0:
            low = _newcomers_team(newcomer, relaxed, rules, lobby)
        if low != NOBODY:
            _form_team(low, rules, lobby)
    else:
        arrived = newcomer >= 0
        while state["pool"] >= rules.team_num:
            low = _best_team(arrived, relaxed, everything, rules, lobby)
            if low == NOBODY:
                break
            _form_team(low, rules, lobby)
    matches = 0
    while state["teams"] >= 2 and _best_pair(relaxed, everything, matches, rules, lobby):
        for side in range(2):
            _play(lobby.pairs[at(matches), at(side)], rules, lobby)
        matches += 1
        relaxed = rules.pool_scope and state["pool_prioritized"] + state["teams_prioritized"] > 0
    state["relaxed"] = int(relaxed)
    return matches


@inlined
def _prioritize(now: float, rules: Rules, lobby: Lobby) -> bool:
    """Move the head past those who count as prioritized now; they, or their teams, changed.

    Returns whether none of them is in the pool.
    """
    state = lobby.state[0]
    head, none = state["head"], True
    while head < state["end"] and (
        is_prioritized(lobby.queue[at(head)]["arrival"], now, rules)
        or lobby.queue[at(head)]["team"] == GONE
    ):
        one = lobby.queue[at(head)]
        team = one["team"]
        one["key"] -= _later(rules)
        if team == IN_POOL:
            none = False
            state["pool_prioritized"] += 1
            if state["changed"] == 0 or lobby.marks[CHANGED, 0] != head:
                lobby.marks[CHANGED, at(state["changed"])] = head
                state["changed"] += 1
        elif team != GONE:
            if lobby.teams[at(team)]["prioritized"] == 0:
                state["teams_prioritized"] += 1
                lobby.marks[CHANGED_TEAMS, at(state["changed_teams"])] = team
                state["changed_teams"] += 1
            lobby.teams[at(team)]["prioritized"] += 1
            lobby.teams[at(team)]["key"] -= _later(rules)
        head += 1
    state["head"] = head
    return none


@inlined
def _newcomers_team(newcomer: int, relaxed: bool, rules: Rules, lobby: Lobby) -> int:
    """Find the best possible team where none is possible without the newcomer.

    A window that held more players than a team would have held a team without him.

    Returns the lowest place in the pool of a member, NOBODY for no team; places in row BEST.
    """
    state = lobby.state[0]
    slack = relaxed or state["pool_prioritized"] > 0
    wide = rules.player_diff + (rules.player_slack if slack else 0.0)
    most = rules.team_num - 1
    width = wide if relaxed else rules.player_diff
    nobody_prioritized = rules.team_num * _later(rules)
    best, best_key = NOBODY, NO_TEAM
    for k in range(newcomer - most, newcomer + 1):
        spread = lobby.ratings[at(k + most)] - lobby.ratings[at(k)]
        if spread <= wide:
            key = 0
            for i in range(k, k + rules.team_num):
                key += lobby.queue[at(lobby.places[at(i)])]["key"]
            if spread > width and key >= nobody_prioritized:
                continue
            if key < best_key or (key == best_key and _earlier(k, best, rules, lobby)):
                best, best_key = k, key
    if best != NOBODY:
        _order(best, BEST, rules, lobby)
    return best


@inlined
def _order(low: int, row: int, rules: Rules, lobby: Lobby) -> None:
    """Put the places of the team from `low` on in the pool into a row of marks, ascending."""
    for k in range(low, low + rules.team_num):
        rank = 0
        for other in range(low, low + rules.team_num):
            rank += int(lobby.places[at(other)] < lobby.places[at(k)])
        lobby.marks[at(row), at(rank)] = lobby.places[at(k)]


@inlined
def _earlier(low: int, best: int, rules: Rules, lobby: Lobby) -> bool:
    """Return whether the team from `low` on in the pool precedes that from `best` on."""
    _order(low, CANDIDATE, rules, lobby)
    _order(best, BEST, rules, lobby)
    return _precedes(rules, lobby)


@inlined
def _precedes(rules: Rules, lobby: Lobby) -> bool:
    """Return whether the candidate's players arrived in a lexicographically earlier order."""
    for k in range(rules.team_num):
        if lobby.marks[CANDIDATE, at(k)] != lobby.marks[BEST, at(k)]:
            return bool(lobby.marks[CANDIDATE, at(k)] < lobby.marks[BEST, at(k)])
    return False


@inlined
def _best_team(arrived: bool, relaxed: bool, everything: bool, rules: Rules, lobby: Lobby) -> int:
    """Find the best possible team among all that a changed player can have made possible.

    A newcomer (the first changed player, if somebody `arrived`) makes any team possible; a newly
    prioritized player a widened team, or, where slack applies to all as soon as it applies to
    one, nothing.

    Returns the lowest place in the pool of a rating that a member may have, NOBODY for no team;
    places in row BEST.
    """
    state = lobby.state[0]
    slack = state["pool_prioritized"] > 0 and rules.player_slack > 0.0 and not relaxed
    wide = rules.player_diff + (rules.player_slack if slack or relaxed else 0.0)
    low, key = NOBODY, NO_TEAM
    if rules.around:
        return _best_around(arrived, slack, relaxed, rules, lobby)
    if state["pool"] <= SMALL and not _some_window(wide, rules, lobby):
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
        if every and key < rules.team_num * _later(rules):
            break
        least, most = -np.inf, np.inf
        if not whole:
            one = lobby.queue[at(lobby.marks[CHANGED, at(0 if every else c)])]
            if (every and not arrived) or one["team"] != IN_POOL:
                continue
            least = most = one["rating"]
        width = rules.player_diff if every and not relaxed else wide
        low, key = _scan(least, most, width, not every, low, key, rules, lobby)
    return low


@inlined
def _some_window(width: float, rules: Rules, lobby: Lobby) -> bool:
    """Return whether any rating window of `width` holds a team's worth of players."""
    state = lobby.state[0]
    some, first = False, rules.team_num
    for k in range(first, first + state["pool"]):
        some |= lobby.ratings[at(k + rules.team_num - 1)] - lobby.ratings[at(k)] <= width
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
    lobby: Lobby,
) -> tuple[int, int]:
    """Offer the best team of every rating window of `width` that holds a rating in [least, most].

    Only windows that no other window contains matter, and in each only its longest waiting
    players: they lead in prioritized players, in total wait and in order at once.
    `widened`: the width is granted only to teams with a prioritized player.
    `low`, `key`: start of the window and sum of keys of the best team so far, and of that now.
    """
    start = _first_within(width, least, rules, lobby)
    end, last = start, -1
    while lobby.ratings[at(start)] <= most:  # not so for the NaN after the last
        while (
            lobby.ratings[at(end + 1)] - lobby.ratings[at(start)] <= width
        ):  # not so for the NaN after the last
            end += 1
        if end != last and end - start + 1 >= rules.team_num:
            low, key = _offer(start, end, NOBODY, widened, low, key, rules, lobby)
        last = end
        start += 1
        end = max(end, start)
    return low, key


@inlined
def _first_within(width: float, rating: float, rules: Rules, lobby: Lobby) -> int:
    """Return the first place in the pool whose rating is at most `width` below `rating`."""
    state = lobby.state[0]
    start = rules.team_num
    stop = start + state["pool"]
    while start < stop:
        middle = (start + stop) // 2
        if rating - lobby.ratings[at(middle)] <= width:
            stop = middle
        else:
            start = middle + 1
    return start


@inlined
def _best_around(arrived: bool, slack: bool, relaxed: bool, rules: Rules, lobby: Lobby) -> int:
    """Find the best possible team around a player whose review it is; see `_best_team`."""
    state = lobby.state[0]
    wide = rules.player_diff + rules.player_slack
    low, key = NOBODY, NO_TEAM
    for c in range(1 if arrived else state["changed"]):
        centre = lobby.marks[CHANGED, at(c)]
        if lobby.queue[at(centre)]["team"] != IN_POOL:
            continue
        for widened in range(int(slack), -1, -1):
            width = wide if widened > 0 or relaxed else rules.player_diff
            rating = lobby.queue[at(centre)]["rating"]
            start = _first_within(width, rating, rules, lobby)
            end = start
            while lobby.ratings[at(end)] - rating <= width:  # not so for the NaN after the last
                end += 1
            if end - start >= rules.team_num:
                low, key = _offer(start, end - 1, centre, widened > 0, low, key, rules, lobby)
    return low


@inlined
def _offer(
    start: int, end: int, centre: int, widened: bool, low: int, key: int, rules: Rules, lobby: Lobby
) -> tuple[int, int]:
    """Let the longest waiting players of start..end in the pool compete for best team.

    The player at the place `centre` of the queue, unless that is NOBODY, is one of them in any
    case. Returns the start and the key of the best team.
    """
    state = lobby.state[0]
    size, most = 0, rules.team_num - 1
    for k in range(start, end + 1):
        place = lobby.places[at(k)]
        if size > most:
            if place > lobby.marks[CANDIDATE, at(most)]:
                continue
            size = most
        i = size
        while i > 0 and lobby.marks[CANDIDATE, at(i - 1)] > place:
            lobby.marks[CANDIDATE, at(i)] = lobby.marks[CANDIDATE, at(i - 1)]
            i -= 1
        lobby.marks[CANDIDATE, at(i)] = place
        size += 1
    if lobby.marks[CANDIDATE, at(most)] < centre:
        lobby.marks[CANDIDATE, at(most)] = centre
    if widened and lobby.marks[CANDIDATE, 0] >= state["head"]:
        return low, key
    sum_of_keys = 0
    for k in range(rules.team_num):
        sum_of_keys += lobby.queue[at(lobby.marks[CANDIDATE, at(k)])]["key"]
    if sum_of_keys > key or (sum_of_keys == key and not _precedes(rules, lobby)):
        return low, key
    for k in range(rules.team_num):
        lobby.marks[BEST, at(k)] = lobby.marks[CANDIDATE, at(k)]
    return start, sum_of_keys


@inlined
def _form_team(low: int, rules: Rules, lobby: Lobby) -> None:
    """Make the best team a formed team, whose members come from `low` on in the pool."""
    state = lobby.state[0]
    slot = state["free_team"]
    if slot == NOBODY:
        slot = state["used_teams"]
        state["used_teams"] += 1
    else:
        state["free_team"] = lobby.teams[at(slot)]["next_free"]
    total, least, most, key, prioritized = 0.0, np.inf, -np.inf, 0, 0
    for k in range(rules.team_num):
        place = lobby.marks[BEST, at(k)]
        lobby.members[at(slot), at(k)] = place
        one = lobby.queue[at(place)]
        one["team"] = slot
        rating = one["rating"]
        total += rating
        least, most = min(least, rating), max(most, rating)
        key += one["key"]
        prioritized += int(place < state["head"])
    team = lobby.teams[at(slot)]
    team["sum"], team["range"], team["key"] = total, most - least, key
    team["order"], team["prioritized"] = state["formed"], prioritized
    state["formed"] += 1
    state["pool_prioritized"] -= prioritized
    state["teams_prioritized"] += int(prioritized > 0)
    _leave_pool(low, rules, lobby)
    _line_up(slot, total, lobby)


@inlined
def _leave_pool(low: int, rules: Rules, lobby: Lobby) -> None:
    """Close the gaps that the members of a new team leave in the pool, from `low` on."""
    state = lobby.state[0]
    kept, stop = low, rules.team_num + state["pool"]
    for k in range(low, stop):
        lobby.ratings[at(kept)], lobby.places[at(kept)] = lobby.ratings[at(k)], lobby.places[at(k)]
        kept += int(lobby.queue[at(lobby.places[at(k)])]["team"] == IN_POOL)
    for k in range(kept, stop):
        lobby.ratings[at(k)] = np.nan
    state["pool"] = kept - rules.team_num


@inlined
def _line_up(team: int, total: float, lobby: Lobby) -> None:
    """Put a new team, with its sum of ratings, into the lineup, marked as changed."""
    state = lobby.state[0]
    k = state["teams"]
    state["teams"] += 1
    while k > 0 and lobby.lineup[at(k - 1)]["sum"] > total:
        lobby.lineup[at(k)] = lobby.lineup[at(k - 1)]
        k -= 1
    lobby.lineup[at(k)]["sum"], lobby.lineup[at(k)]["team"] = total, team
    lobby.marks[CHANGED_TEAMS, at(state["changed_teams"])] = team
    state["changed_teams"] += 1


@inlined
def _best_pair(relaxed: bool, everything: bool, match: int, rules: Rules, lobby: Lobby) -> bool:
    """Find the best possible pair of teams; their slots, older team first, become a match."""
    state = lobby.state[0]
    strict = rules.team_num * rules.team_diff
    wide = rules.team_num * (rules.team_diff + rules.team_slack)
    reach = wide if relaxed or state["teams_prioritized"] > 0 else strict
    key = NO_TEAM
    for c in range(state["teams"] if everything else state["changed_teams"]):
        place = c
        if not everything:
            changed = lobby.marks[CHANGED_TEAMS, at(c)]
            if lobby.teams[at(changed)]["prioritized"] == NOBODY:
                continue
            place = _place(changed, lobby)
        team, total = lobby.lineup[at(place)]["team"], lobby.lineup[at(place)]["sum"]
        for step in (-1, 1):
            k = place + step
            while 0 <= k < state["teams"]:
                gap = abs(lobby.lineup[at(k)]["sum"] - total)
                if gap > reach:
                    break
                other = lobby.lineup[at(k)]["team"]
                some = lobby.teams[at(team)]["prioritized"] + lobby.teams[at(other)]["prioritized"]
                if gap <= strict or relaxed or some > 0:
                    key = _offer_pair(team, other, key, match, lobby)
                k += step
    return bool(key < NO_TEAM)


@inlined
def _place(team: int, lobby: Lobby) -> int:
    """Return the position of a team in the lineup."""
    state = lobby.state[0]
    total = lobby.teams[at(team)]["sum"]
    start, stop = 0, state["teams"]
    while start < stop:
        middle = (start + stop) // 2
        if lobby.lineup[at(middle)]["sum"] < total:
            start = middle + 1
        else:
            stop = middle
    while lobby.lineup[at(start)]["team"] != team:
        start += 1
    return start


@inlined
def _offer_pair(team: int, other: int, key: int, match: int, lobby: Lobby) -> int:
    """Let two teams compete for best pair: sum of keys, order of formation; return the best key."""
    if lobby.teams[at(other)]["order"] < lobby.teams[at(team)]["order"]:
        team, other = other, team
    sum_of_keys = lobby.teams[at(team)]["key"] + lobby.teams[at(other)]["key"]
    if sum_of_keys != key:
        better = sum_of_keys < key
    else:
        older, younger = (
            lobby.teams[at(lobby.pairs[at(match), 0])]["order"],
            lobby.teams[at(lobby.pairs[at(match), 1])]["order"],
        )
        if lobby.teams[at(team)]["order"] != older:
            better = lobby.teams[at(team)]["order"] < older
        else:
            better = lobby.teams[at(other)]["order"] < younger
    if better:
        lobby.pairs[at(match), 0], lobby.pairs[at(match), 1] = team, other
        return int(sum_of_keys)
    return key


@inlined
def _play(team: int, rules: Rules, lobby: Lobby) -> None:
    """Let the players of a paired team leave the queue."""
    for k in range(rules.team_num):
        lobby.queue[at(lobby.members[at(team), at(k)])]["team"] = GONE
    lobby.state[0]["waiting"] -= rules.team_num
    _leave_lineup(team, lobby)


@inlined
def _leave_lineup(team: int, lobby: Lobby) -> None:
    """Take a team out of the lineup and free its slot."""
    state = lobby.state[0]
    place = _place(team, lobby)
    state["teams"] -= 1
    state["teams_prioritized"] -= int(lobby.teams[at(team)]["prioritized"] > 0)
    for k in range(place, state["teams"]):
        lobby.lineup[at(k)] = lobby.lineup[at(k + 1)]
    lobby.teams[at(team)]["prioritized"] = NOBODY
    lobby.teams[at(team)]["next_free"] = state["free_team"]
    state["free_team"] = team


@inlined
def line_up(match: int, rules: Rules, lobby: Lobby, players: Ints) -> None:
    """Give the players of a match of the last review, those of the older team first."""
    for side in range(2):
        team = lobby.pairs[at(match), at(side)]
        for k in range(rules.team_num):
            place = lobby.members[at(team), at(k)]
            players[at(side * rules.team_num + k)] = lobby.queue[at(place)]["player"]


@inlined
def _count(
    now: float, older: int, younger: int, rules: Rules, waits: Floats, log: Floats, lobby: Lobby
) -> None:
    """Count a match of two teams; log it where a log is wanted."""
    state = lobby.state[0]
    first, second = lobby.teams[at(older)], lobby.teams[at(younger)]
    number, column = state["matches"], 3
    gap = abs(first["sum"] / rules.team_num - second["sum"] / rules.team_num)
    add_match(gap, first["range"] + second["range"], state)
    logged = number < log.shape[0]
    if logged:
        log[at(number), 0], log[at(number), 1], log[at(number), 2] = (
            now,
            first["order"],
            second["order"],
        )
    for team in (older, younger):
        for k in range(rules.team_num):
            place = lobby.members[at(team), at(k)]
            player = lobby.queue[at(place)]
            add_player(now - player["arrival"], place < state["head"], state, waits)
            if logged:
                log[at(number), at(column)] = player["player"]
                column += 1


@inlined
def _count_unmatched(rules: Rules, lobby: Lobby) -> None:
    """Count the players who are still waiting at the horizon."""
    state = lobby.state[0]
    for place in range(state["end"]):
        if lobby.queue[at(place)]["team"] != GONE:
            arrival = lobby.queue[at(place)]["arrival"]
            prioritized = is_prioritized(arrival, rules.horizon, rules)
            add_unmatched(rules.horizon - arrival, prioritized, state)
