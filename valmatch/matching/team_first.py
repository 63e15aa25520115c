"""Team-first matching: players form teams, formed teams are paired.

At each review teams are formed until none is possible, then teams are paired until no pair is
possible. After a review nothing is possible, and between two reviews players only join or become
prioritized. A team that is possible at the next review therefore holds a *changed* player (the
newcomer or a newly prioritized one), and a pair that is possible holds a changed team. Only those
are looked at, which keeps the cost of a review at the size of the neighbourhood of a rating
rather than of the pool.

Players carry indices in order of arrival, so "longest waiting" is "smallest index", and the
prioritized players are those with an index below that of the oldest waiting player who is not.

Where teams form *around* a player (`Rules.around`), the players whose review it is, the newcomer
or those who become prioritized in between, are the only ones who get teams at that review.

The parts of the kernel are inlined and take arrays rather than the whole `Lobby`: taking an array
out of a tuple counts a reference to it, which costs more than the work of a part.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.compilation import inlined, njit
from valmatch.matching.rules import Rules, is_prioritized, tick_of
from valmatch.matching.tally import SUMS, add_match, add_player, add_unmatched

__all__ = ["Lobby", "grown", "new_lobby", "reset", "run", "waiting_teams"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Records = NDArray[np.void]
Struct = Any
"""One row of a structured array; the kernels see it as a C struct."""

NOBODY = -1
SMALL = 32
"""Pools up to this size are looked through at once before any window is placed."""
EVERY_PLAYER = int(np.iinfo(np.int64).max)

STATE = np.dtype(
    [
        *SUMS,
        ("waiting", "i8"),  # players waiting, with or without a team
        ("used", "i8"),  # player slots that were ever in use
        ("free", "i8"),  # first of those that are free again
        ("oldest", "i8"),  # ends of the list of waiting players in order of arrival ...
        ("newest", "i8"),
        ("head", "i8"),  # ... and its oldest player who is not prioritized
        ("pool", "i8"),  # players without a team
        ("pool_prioritized", "i8"),
        ("teams", "i8"),  # formed teams
        ("teams_prioritized", "i8"),  # those with a prioritized player
        ("used_teams", "i8"),  # team slots that were ever in use
        ("free_team", "i8"),  # first of those that are free again
        ("formed", "i8"),  # teams formed so far
        ("newcomer", "i8"),  # slot of the player whose arrival is reviewed, -1 for none
        ("changed", "i8"),  # players, then teams, changed since the last review
        ("changed_teams", "i8"),
        ("relaxed", "i8"),  # pool scope: whether slack applied when the last review ended
        ("best_prioritized", "i8"),  # prioritized players and arrival ticks of the best so far
        ("best_ticks", "i8"),
    ]
)
PLAYER = np.dtype(
    [
        ("arrival", "f8"),  # hours
        ("ticks", "i8"),  # the same in ticks
        ("rating", "f8"),
        ("player", "i8"),  # index in order of arrival
        ("team", "i8"),  # slot of the team
        ("mate", "i8"),  # next member of the team, by index
        ("older", "i8"),  # neighbours in the list of waiting (or of free) players
        ("newer", "i8"),
    ]
)
TEAM = np.dtype(
    [
        ("sum", "f8"),  # of ratings
        ("range", "f8"),
        ("ticks", "i8"),  # sum of arrivals
        ("order", "i8"),  # number in order of formation; next slot where the slot is free
        ("prioritized", "i8"),  # prioritized members; -1 where the slot is free
        ("first", "i8"),  # member of smallest index
    ]
)
POOLED = np.dtype([("rating", "f8"), ("player", "i8"), ("slot", "i8")])
LINED_UP = np.dtype([("sum", "f8"), ("team", "i8")])

EMPTY = np.zeros(1, STATE)
"""State of an empty lobby."""
for _list in ("free", "oldest", "newest", "head", "free_team"):
    EMPTY[_list] = NOBODY

CHANGED, CHANGED_TEAMS, BEST, CANDIDATE, PAIR = range(5)
"""Rows of `Lobby.marks`."""


class Lobby(NamedTuple):
    """The waiting players and the formed teams; slots are reused as players leave.

    Attributes
    ----------
    state : numpy.ndarray
        One record of scalars.
    players, teams : numpy.ndarray
        By slot.
    pool : numpy.ndarray
        The players without a team by ascending rating.
    lineup : numpy.ndarray
        The formed teams by ascending sum of ratings.
    marks : numpy.ndarray
        Rows of slots: players and teams that changed since the last review, players of the best
        team so far and of the one looked at, teams of the best pair so far.
    """

    state: Records
    players: Records
    teams: Records
    pool: Records
    lineup: Records
    marks: Ints


def new_lobby(capacity: int, team_num: int) -> Lobby:
    """Return an empty lobby with room for `capacity` waiting players (at least 2 teams)."""
    capacity = max(capacity, 2 * team_num)
    teams = capacity // team_num + 1
    return Lobby(
        EMPTY.copy(),
        np.zeros(capacity, PLAYER),
        np.zeros(teams, TEAM),
        np.zeros(capacity, POOLED),
        np.zeros(teams, LINED_UP),
        np.zeros((5, 2 * capacity), np.int64),
    )


def reset(lobby: Lobby) -> None:
    """Empty a lobby for the next replication."""
    # As bytes, because numpy copies structured arrays field by field.
    lobby.state.view(np.uint8)[:] = EMPTY.view(np.uint8)


def grown(lobby: Lobby, team_num: int) -> Lobby:
    """Return a copy of a lobby with twice the room; all slots keep their numbers."""
    large = new_lobby(2 * lobby.players.size, team_num)
    for old, new in zip(lobby[:-1], large[:-1], strict=True):
        new[: old.size] = old
    return large


@njit
def run(
    times: Floats,
    ratings: Floats,
    first: int,
    last: bool,
    rules: Rules,
    state_: Records,
    players: Records,
    teams: Records,
    pool: Records,
    lineup: Records,
    marks: Ints,
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
    state_, players, teams, pool, lineup, marks : numpy.ndarray
        The arrays of a `Lobby`, in and out; one by one, because a tuple of them costs more to hand
        over than to work on.
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
    state = state_[0]
    taken = 0
    while True:
        due = np.inf
        if rules.continuous and state["head"] != NOBODY:
            due = players[state["head"]]["arrival"] + rules.wait_thresh
            if due >= rules.horizon:
                due = np.inf
        if taken < times.size and times[taken] < due:
            now = times[taken]
            if state["waiting"] == players.size:
                return taken
            if state["matched"] + state["waiting"] >= waits.size:
                return taken
            slot = _join(now, ratings[taken], first + taken, state, players, pool)
            players[slot]["ticks"] = tick_of(now, rules)
            state["newcomer"] = marks[CHANGED, 0] = slot
            state["changed"] = 1
            taken += 1
        elif due < np.inf and (taken < times.size or last):
            now = due
            state["newcomer"] = NOBODY
            state["changed"] = 0
        else:
            break
        _prioritize(now, rules, state, players, teams, marks)
        relaxed = rules.pool_scope and state["oldest"] != state["head"]
        everything = relaxed and state["relaxed"] == 0
        while state["pool"] >= rules.team_num:
            if rules.around:
                _find_team_around(relaxed, rules, state, players, pool, marks)
            else:
                _find_team(relaxed, everything, rules, state, players, pool, marks)
            if state["best_prioritized"] < 0:
                break
            team = _form_team(rules, state, players, teams, marks)
            _leave_pool(teams[team], state, players, pool)
            _line_up(team, teams[team]["sum"], state, lineup, marks)
        while state["teams"] >= 2:
            _find_pair(relaxed, everything, rules, state, teams, lineup, marks)
            if state["best_prioritized"] < 0:
                break
            _match(now, rules, state, players, teams, marks, waits, log)
            for side in range(2):
                _leave_lineup(marks[PAIR, side], state, teams, lineup)
            relaxed = rules.pool_scope and state["oldest"] != state["head"]
        state["relaxed"] = int(relaxed)
    if last:
        _count_unmatched(rules, state, players)
    return taken


def waiting_teams(lobby: Lobby) -> list[tuple[int, list[int]]]:
    """Return (number in order of formation, player indices) of the teams not paired yet."""
    found = []
    for slot in lobby.lineup["team"][: lobby.state["teams"][0]]:
        team = lobby.teams[slot]
        member, members = team["first"], []
        while member != NOBODY:
            members.append(int(lobby.players[member]["player"]))
            member = lobby.players[member]["mate"]
        found.append((int(team["order"]), members))
    return sorted(found)


@inlined
def _join(
    time: float, rating: float, index: int, state: Struct, players: Records, pool: Records
) -> int:
    """Put a newcomer at the end of the list and into the pool; return the slot."""
    slot = state["free"]
    if slot == NOBODY:
        slot = state["used"]
        state["used"] += 1
    else:
        state["free"] = players[slot]["newer"]
    player = players[slot]
    newest = state["newest"]
    player["arrival"], player["rating"], player["player"] = time, rating, index
    player["team"], player["older"], player["newer"] = NOBODY, newest, NOBODY
    if newest == NOBODY:
        state["oldest"] = slot
    else:
        players[newest]["newer"] = slot
    state["newest"] = slot
    if state["head"] == NOBODY:
        state["head"] = slot
    state["waiting"] += 1
    k = state["pool"]
    state["pool"] += 1
    while k > 0 and pool[k - 1]["rating"] > rating:
        pool[k] = pool[k - 1]
        k -= 1
    pool[k]["rating"], pool[k]["player"], pool[k]["slot"] = rating, index, slot
    return slot


@inlined
def _prioritize(
    now: float, rules: Rules, state: Struct, players: Records, teams: Records, marks: Ints
) -> None:
    """Move the head past those who count as prioritized now; they, or their teams, changed."""
    state["changed_teams"] = 0
    slot = state["head"]
    while slot != NOBODY and is_prioritized(players[slot]["arrival"], now, rules):
        team = players[slot]["team"]
        if team == NOBODY:
            state["pool_prioritized"] += 1
            if slot != state["newcomer"]:
                marks[CHANGED, state["changed"]] = slot
                state["changed"] += 1
        else:
            if teams[team]["prioritized"] == 0:
                state["teams_prioritized"] += 1
                marks[CHANGED_TEAMS, state["changed_teams"]] = team
                state["changed_teams"] += 1
            teams[team]["prioritized"] += 1
        slot = players[slot]["newer"]
    state["head"] = slot


@inlined
def _boundary(state: Struct, players: Records) -> int:
    """Return the smallest index of a waiting player who is not prioritized."""
    head = state["head"]
    return EVERY_PLAYER if head == NOBODY else players[head]["player"]


@inlined
def _find_team(
    relaxed: bool,
    everything: bool,
    rules: Rules,
    state: Struct,
    players: Records,
    pool: Records,
    marks: Ints,
) -> None:
    """Find the best possible team; its slots become row BEST, ascending player index.

    What a changed player can have made possible: the newcomer any team; a newly prioritized
    player a widened team, or, where slack applies to all as soon as it applies to one, nothing.
    """
    state["best_prioritized"] = -1
    slack = state["pool_prioritized"] > 0 and rules.player_slack > 0.0 and not relaxed
    wide = rules.player_diff + (rules.player_slack if slack or relaxed else 0.0)
    if state["pool"] <= SMALL and not _some_window(wide, rules.team_num, state["pool"], pool):
        return
    # A small pool is scanned as a whole, which offers no window twice.
    whole = everything or state["pool"] <= SMALL
    # A team with a prioritized player leads all others, so widened scans come first. The last
    # step is the scan that grants its width to every team.
    widened = 0
    if slack:
        widened = 1 if whole else state["changed"]
    for c in range(widened + 1):
        every = c == widened
        if every and state["best_prioritized"] > 0:
            return
        low, high = -np.inf, np.inf
        if not whole:
            slot = state["newcomer"] if every else marks[CHANGED, c]
            if slot == NOBODY or players[slot]["team"] != NOBODY:
                continue
            low = high = players[slot]["rating"]
        width = rules.player_diff if every and not relaxed else wide
        _scan(low, high, width, not every, rules, state, players, pool, marks)


@inlined
def _some_window(width: float, team_num: int, size: int, pool: Records) -> bool:
    """Return whether any rating window of `width` holds a team's worth of players."""
    for k in range(size - team_num + 1):
        if pool[k + team_num - 1]["rating"] - pool[k]["rating"] <= width:
            return True
    return False


@inlined
def _scan(
    low: float,
    high: float,
    width: float,
    widened: bool,
    rules: Rules,
    state: Struct,
    players: Records,
    pool: Records,
    marks: Ints,
) -> None:
    """Offer the best team of every rating window of `width` that holds a rating in [low, high].

    Only windows that no other window contains matter, and in each only its longest waiting
    players: they lead in prioritized players, in total wait and in order at once.
    `widened`: the width is granted only to teams with a prioritized player.
    """
    size = state["pool"]
    start = _first_within(width, low, size, pool)
    end, last = start, -1
    while start < size and pool[start]["rating"] <= high:
        while end + 1 < size and pool[end + 1]["rating"] - pool[start]["rating"] <= width:
            end += 1
        if end != last and end - start + 1 >= rules.team_num:
            _offer(start, end, NOBODY, widened, rules, state, players, pool, marks)
        last = end
        start += 1
        end = max(end, start)


@inlined
def _first_within(width: float, rating: float, size: int, pool: Records) -> int:
    """Return the first pool position whose rating is at most `width` below `rating`."""
    start, stop = 0, size
    while start < stop:
        middle = (start + stop) // 2
        if rating - pool[middle]["rating"] <= width:
            stop = middle
        else:
            start = middle + 1
    return start


@inlined
def _find_team_around(
    relaxed: bool,
    rules: Rules,
    state: Struct,
    players: Records,
    pool: Records,
    marks: Ints,
) -> None:
    """Find the best possible team around a player whose review it is; it becomes row BEST."""
    state["best_prioritized"] = -1
    slack = int(state["pool_prioritized"] > 0 and not relaxed)
    wide = rules.player_diff + rules.player_slack
    for c in range(state["changed"] if state["newcomer"] == NOBODY else 1):
        slot = marks[CHANGED, c]
        if players[slot]["team"] != NOBODY:
            continue
        for widened in range(slack, -1, -1):
            width = wide if widened > 0 or relaxed else rules.player_diff
            _offer_around(slot, width, widened > 0, rules, state, players, pool, marks)


@inlined
def _offer_around(
    slot: int,
    width: float,
    widened: bool,
    rules: Rules,
    state: Struct,
    players: Records,
    pool: Records,
    marks: Ints,
) -> None:
    """Offer the best team of a player and others whose ratings are within `width` of his."""
    rating, size = players[slot]["rating"], state["pool"]
    start = _first_within(width, rating, size, pool)
    end, centre = start, NOBODY
    while end < size and pool[end]["rating"] - rating <= width:
        if pool[end]["slot"] == slot:
            centre = end
        end += 1
    if end - start >= rules.team_num:
        _offer(start, end - 1, centre, widened, rules, state, players, pool, marks)


@inlined
def _offer(
    start: int,
    end: int,
    centre: int,
    widened: bool,
    rules: Rules,
    state: Struct,
    players: Records,
    pool: Records,
    marks: Ints,
) -> None:
    """Let the longest waiting players of pool positions start..end compete for best team.

    The player at the position `centre`, unless that is NOBODY, is one of them in any case.
    """
    team_num = rules.team_num
    boundary = _boundary(state, players)
    if end - start + 1 == team_num:
        # No choice to be made: see whether this team can win before putting it in order.
        count, ticks = 0, 0
        for k in range(start, end + 1):
            count += int(pool[k]["player"] < boundary)
            ticks += players[pool[k]["slot"]]["ticks"]
        if count < state["best_prioritized"] or (
            count == state["best_prioritized"] and ticks > state["best_ticks"]
        ):
            return
    size = 0
    for k in range(start, end + 1):
        index = pool[k]["player"]
        if size == team_num:
            if index > pool[marks[CANDIDATE, size - 1]]["player"]:
                continue
            size -= 1
        i = size
        while i > 0 and pool[marks[CANDIDATE, i - 1]]["player"] > index:
            marks[CANDIDATE, i] = marks[CANDIDATE, i - 1]
            i -= 1
        marks[CANDIDATE, i] = k
        size += 1
    if centre != NOBODY and pool[marks[CANDIDATE, team_num - 1]]["player"] < pool[centre]["player"]:
        marks[CANDIDATE, team_num - 1] = centre
    if widened and pool[marks[CANDIDATE, 0]]["player"] >= boundary:
        return
    count, ticks = 0, 0
    for k in range(team_num):
        place = pool[marks[CANDIDATE, k]]
        marks[CANDIDATE, k] = place["slot"]
        count += int(place["player"] < boundary)
        ticks += players[place["slot"]]["ticks"]
    if _better(count, ticks, team_num, state, players, marks):
        state["best_prioritized"], state["best_ticks"] = count, ticks
        for k in range(team_num):
            marks[BEST, k] = marks[CANDIDATE, k]


@inlined
def _better(
    count: int, ticks: int, team_num: int, state: Struct, players: Records, marks: Ints
) -> bool:
    """Return whether the candidate beats the best team: prioritized, total wait, indices."""
    if count != state["best_prioritized"]:
        return bool(count > state["best_prioritized"])
    if ticks != state["best_ticks"]:
        return bool(ticks < state["best_ticks"])
    for k in range(team_num):
        mine = players[marks[CANDIDATE, k]]["player"]
        other = players[marks[BEST, k]]["player"]
        if mine != other:
            return bool(mine < other)
    return False


@inlined
def _form_team(rules: Rules, state: Struct, players: Records, teams: Records, marks: Ints) -> int:
    """Make the best team a formed team; return its slot."""
    slot = state["free_team"]
    if slot == NOBODY:
        slot = state["used_teams"]
        state["used_teams"] += 1
    else:
        state["free_team"] = teams[slot]["order"]
    team = teams[slot]
    boundary = _boundary(state, players)
    total, least, most, prioritized = 0.0, np.inf, -np.inf, 0
    for k in range(rules.team_num):
        player = players[marks[BEST, k]]
        rating = player["rating"]
        total += rating
        least, most = min(least, rating), max(most, rating)
        prioritized += int(player["player"] < boundary)
        player["team"] = slot
        player["mate"] = marks[BEST, k + 1] if k + 1 < rules.team_num else NOBODY
    team["sum"], team["range"], team["first"] = total, most - least, marks[BEST, 0]
    team["ticks"], team["prioritized"] = state["best_ticks"], prioritized
    team["order"] = state["formed"]
    state["formed"] += 1
    state["pool_prioritized"] -= prioritized
    state["teams_prioritized"] += int(prioritized > 0)
    return slot


@inlined
def _leave_pool(team: Struct, state: Struct, players: Records, pool: Records) -> None:
    """Close the gaps that the members of a new team leave in the pool."""
    rating = players[team["first"]]["rating"]
    kept = _first_within(team["range"], rating, state["pool"], pool)
    for k in range(kept, state["pool"]):
        if players[pool[k]["slot"]]["team"] == NOBODY:
            pool[kept] = pool[k]
            kept += 1
    state["pool"] = kept


@inlined
def _line_up(team: int, total: float, state: Struct, lineup: Records, marks: Ints) -> None:
    """Put a new team, with its sum of ratings, into the lineup, marked as changed."""
    k = state["teams"]
    state["teams"] += 1
    while k > 0 and lineup[k - 1]["sum"] > total:
        lineup[k] = lineup[k - 1]
        k -= 1
    lineup[k]["sum"], lineup[k]["team"] = total, team
    marks[CHANGED_TEAMS, state["changed_teams"]] = team
    state["changed_teams"] += 1


@inlined
def _find_pair(
    relaxed: bool,
    everything: bool,
    rules: Rules,
    state: Struct,
    teams: Records,
    lineup: Records,
    marks: Ints,
) -> None:
    """Find the best possible pair of teams; their slots become row PAIR, older team first."""
    state["best_prioritized"] = -1
    strict = rules.team_num * rules.team_diff
    wide = rules.team_num * (rules.team_diff + rules.team_slack)
    reach = wide if relaxed or state["teams_prioritized"] > 0 else strict
    for c in range(state["teams"] if everything else state["changed_teams"]):
        place = c
        if not everything:
            changed = marks[CHANGED_TEAMS, c]
            if teams[changed]["prioritized"] == NOBODY:
                continue
            place = _place(changed, state, teams, lineup)
        team = lineup[place]["team"]
        k, step = place - 1, -1
        while k < state["teams"]:
            if k < 0 or abs(lineup[k]["sum"] - lineup[place]["sum"]) > reach:
                if step > 0:
                    break
                k, step = place + 1, 1
                continue
            gap = abs(lineup[k]["sum"] - lineup[place]["sum"])
            other = lineup[k]["team"]
            some = teams[team]["prioritized"] + teams[other]["prioritized"]
            if gap <= strict or relaxed or some > 0:
                _offer_pair(team, other, some, state, teams, marks)
            k += step


@inlined
def _place(team: int, state: Struct, teams: Records, lineup: Records) -> int:
    """Return the position of a team in the lineup."""
    total = teams[team]["sum"]
    start, stop = 0, state["teams"]
    while start < stop:
        middle = (start + stop) // 2
        if lineup[middle]["sum"] < total:
            start = middle + 1
        else:
            stop = middle
    while lineup[start]["team"] != team:
        start += 1
    return start


@inlined
def _offer_pair(
    team: int, other: int, prioritized: int, state: Struct, teams: Records, marks: Ints
) -> None:
    """Let two teams compete for best pair: prioritized players, total wait, order of formation."""
    if teams[other]["order"] < teams[team]["order"]:
        team, other = other, team
    ticks = teams[team]["ticks"] + teams[other]["ticks"]
    older, younger = teams[marks[PAIR, 0]]["order"], teams[marks[PAIR, 1]]["order"]
    if prioritized != state["best_prioritized"]:
        better = prioritized > state["best_prioritized"]
    elif ticks != state["best_ticks"]:
        better = ticks < state["best_ticks"]
    elif teams[team]["order"] != older:
        better = teams[team]["order"] < older
    else:
        better = teams[other]["order"] < younger
    if better:
        state["best_prioritized"], state["best_ticks"] = prioritized, ticks
        marks[PAIR, 0], marks[PAIR, 1] = team, other


@inlined
def _match(
    now: float,
    rules: Rules,
    state: Struct,
    players: Records,
    teams: Records,
    marks: Ints,
    waits: Floats,
    log: Floats,
) -> None:
    """Let the best pair of teams play: count the match, log it, let the players leave."""
    first, second = teams[marks[PAIR, 0]], teams[marks[PAIR, 1]]
    number, column = state["matches"], 3
    gap = abs(first["sum"] / rules.team_num - second["sum"] / rules.team_num)
    add_match(gap, first["range"] + second["range"], state)
    logged = number < log.shape[0]
    if logged:
        log[number, 0], log[number, 1], log[number, 2] = now, first["order"], second["order"]
    boundary = _boundary(state, players)
    for side in range(2):
        slot = teams[marks[PAIR, side]]["first"]
        while slot != NOBODY:
            player = players[slot]
            add_player(now - player["arrival"], player["player"] < boundary, state, waits)
            if logged:
                log[number, column] = player["player"]
                column += 1
            _leave(slot, player, state, players)
            slot = player["mate"]


@inlined
def _leave(slot: int, player: Struct, state: Struct, players: Records) -> None:
    """Take a matched player off the list of waiting players."""
    older, newer = player["older"], player["newer"]
    if older == NOBODY:
        state["oldest"] = newer
    else:
        players[older]["newer"] = newer
    if newer == NOBODY:
        state["newest"] = older
    else:
        players[newer]["older"] = older
    if state["head"] == slot:
        state["head"] = newer
    state["waiting"] -= 1
    player["newer"] = state["free"]
    state["free"] = slot


@inlined
def _leave_lineup(team: int, state: Struct, teams: Records, lineup: Records) -> None:
    """Take a paired team out of the lineup and free its slot."""
    place = _place(team, state, teams, lineup)
    state["teams"] -= 1
    state["teams_prioritized"] -= int(teams[team]["prioritized"] > 0)
    for k in range(place, state["teams"]):
        lineup[k] = lineup[k + 1]
    teams[team]["prioritized"] = NOBODY
    teams[team]["order"] = state["free_team"]
    state["free_team"] = team


@inlined
def _count_unmatched(rules: Rules, state: Struct, players: Records) -> None:
    """Count the players who are still waiting at the horizon."""
    slot = state["oldest"]
    while slot != NOBODY:
        arrival = players[slot]["arrival"]
        prioritized = is_prioritized(arrival, rules.horizon, rules)
        add_unmatched(rules.horizon - arrival, prioritized, state)
        slot = players[slot]["newer"]
