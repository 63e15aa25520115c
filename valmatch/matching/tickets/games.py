"""Kernels of games that run: players leave them, and game servers ask for others in their place.

What changes about games is seen after each review, and a backfill ticket comes at the next one,
after the others that have come by then. Kernels go by the numbers of tickets as by age, and nobody
knows before how many backfill tickets there will be: so drawn tickets are copied into rows as they
come, in one order with those that servers ask for. A row of a backfill ticket is made of those of
its players as if each were a ticket.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from valmatch.kernels.arrays import Floats, Ints, Records
from valmatch.kernels.compilation import kernel, part
from valmatch.kernels.references import by_reference
from valmatch.matching.tickets import layout as t
from valmatch.matching.tickets.arrays import Sources, arrays_of, queue_of
from valmatch.matching.tickets.candidate import NOBODY
from valmatch.matching.tickets.columns import Played, Search, Service, Tickets, spans
from valmatch.matching.tickets.driving import OVER, advance, finish
from valmatch.matching.tickets.layout import Parts, Queue, Rows, World
from valmatch.matching.tickets.playing import played_of, too_many
from valmatch.matching.tickets.rolling import copy_row
from valmatch.rule_sets.table import Table

SHORT = -1
"""What `play_games` returns where there is no room for all that may come by the next review."""

GAME = np.dtype(
    [
        ("start", "f8"),
        ("end", "f8"),
        ("next_leave", "f8"),
        ("ticket", "i8"),  # the row of what its server has asked for last, or NONE
        ("changed", "i8"),  # whether its server has to look who is there
        ("first", "i8"),  # of its players, or NONE
        ("last", "i8"),
        ("players", "i8"),
    ]
)
SEATED = np.dtype([("next", "i8"), ("team", "i8"), ("leaves", "f8"), ("game", "i8")])
GAMES_STATE = np.dtype(
    [
        ("arrived", "i8"),  # drawn tickets that have rows
        ("rows", "i8"),
        ("players", "i8"),  # of backfill tickets so far
        ("parts", "i8"),
        ("games", "i8"),
        ("running", "i8"),  # the first game that has not ended
        ("made", "i8"),  # matches that have been seen
        ("due", "i8"),  # whether servers are to look
    ]
)
GAMES_OPTIONS = np.dtype(
    [
        ("seconds", "f8"),  # length of a match
        ("places", "i8"),  # players of a full one
        ("leavers", "i8"),  # whether servers see that somebody has left
    ]
)


class Games(NamedTuple):
    """The games, and what their servers need to ask for players."""

    options: Records  # (1,)
    state: Records  # (1,)
    arrivals: Rows  # drawn tickets
    singles: Rows  # drawn players, as if each were a ticket
    sources: Sources  # what columns of rows are made of
    ticket_of: Ints  # (players,); drawn ticket of each drawn player
    # (players,); which part of what is left of the match a player stays; infinity: all
    stays: Floats
    games: Records
    # (players,); whose turn is next in the same game, on which team, when it leaves
    seated: Records
    of_row: Ints  # of each row the drawn ticket; or -1 less the game that has asked
    of_match: Ints  # of each match of the queue the game
    members: Ints  # players of backfill tickets, as drawn players


@kernel(allocates=True)
def play_games(world: World, queue: Queue, games: Games) -> int:
    """Let tickets come and games run until the horizon, or go on where room was short.

    Return 0, or what was too many to look at, or SHORT.
    """
    return _play_games(by_reference(world), by_reference(queue), by_reference(games))


@part
def _play_games(world: World, queue: Queue, games: Games) -> int:
    """Let tickets come and games run, see `play_games`."""
    state, step = games.state[0], 0
    while step != OVER:
        if state["due"]:
            if not _has_room(world, queue, games):
                return SHORT
            _look(world, queue, games)
        step = advance(world, queue)
        state["due"] = int(step == 1)
    return finish(world, queue)


@part
def _next_review(world: World, queue: Queue) -> float:
    """Return when the next review is."""
    return queue.state[0]["tick"] * world.options[0]["review"]


@part
def _has_room(world: World, queue: Queue, games: Games) -> bool:
    """Return whether there is room for all tickets that may come before the next review."""
    state, until, arrivals = games.state[0], _next_review(world, queue), games.arrivals.tickets
    come = state["arrived"]
    while come < arrivals.size and arrivals[come]["time"] <= until:
        come += 1
    asking = state["games"] - state["running"] + queue.state[0]["completed"] - state["made"]
    return (
        state["rows"] + come - state["arrived"] + asking <= world.rows.tickets.size
        and state["players"] + asking * games.options[0]["places"] <= games.members.size
        and state["parts"] + asking * world.teams.size <= world.parts.teams.size
    )


@part
def _look(world: World, queue: Queue, games: Games) -> None:
    """See what has changed about games, and let tickets come up to the next review."""
    state, until, arrivals = games.state[0], _next_review(world, queue), games.arrivals
    while state["made"] < queue.state[0]["completed"]:
        _note_match(queue.lists[t.MADE, state["made"]], queue, games)
        state["made"] += 1
    while state["arrived"] < arrivals.tickets.size:
        if arrivals.tickets[state["arrived"]]["time"] > until:
            break
        copy_row(arrivals, state["arrived"], world.rows, state["rows"])
        games.of_row[state["rows"]] = state["arrived"]
        state["arrived"] += 1
        state["rows"] += 1
    while state["running"] < state["games"] and games.games[state["running"]]["end"] <= until:
        state["running"] += 1
    for number in range(state["running"], state["games"]):
        game = games.games[number]
        if game["next_leave"] <= queue.state[0]["now"]:
            _let_go(number, queue.state[0]["now"], games)
        row = game["ticket"]
        if row != t.NONE and queue.slots[row]["status"] > t.PROPOSED:
            game["changed"] = 1
        if game["changed"]:
            _look_at(number, until, world, queue, games)


@part
def _look_at(number: int, until: float, world: World, queue: Queue, games: Games) -> None:
    """Let the server of a game ask for players, in place of what it has asked for before.

    While it waits for their answers it asks for nobody else.
    """
    game = games.games[number]
    row = game["ticket"]
    if row != t.NONE and queue.slots[row]["status"] == t.PROPOSED:
        return
    if row != t.NONE and queue.slots[row]["status"] == t.WAITING:
        world.rows.tickets[row]["cancel"] = until
        queue.state[0]["next_end"] = min(queue.state[0]["next_end"], until)
    game["ticket"], game["changed"] = t.NONE, 0
    places = games.options[0]["places"]
    if 0 < game["players"] < places and until <= world.options[0]["horizon"]:
        _ask(number, until, world, games)


@part
def _note_match(match: int, queue: Queue, games: Games) -> None:
    """Begin a game with the tickets of a match, or let those join that it was short of."""
    record, state = queue.matches[match], games.state[0]
    number = t.NONE
    for k in range(record["first"], record["first"] + record["tickets"]):
        of = games.of_row[queue.matched[0, k]]
        if of < 0:
            number = -1 - of
    if number == t.NONE:
        number = state["games"]
        state["games"] += 1
        begun = games.games[number]
        begun["start"] = record["time"]
        begun["end"] = record["time"] + games.options[0]["seconds"]
        begun["next_leave"], begun["first"], begun["last"] = np.inf, t.NONE, t.NONE
    games.of_match[match] = number
    games.games[number]["changed"], games.games[number]["ticket"] = 1, t.NONE
    for k in range(record["first"], record["first"] + record["tickets"]):
        of = games.of_row[queue.matched[0, k]]
        if of < 0:
            continue
        ticket = games.arrivals.tickets[of]
        for player in range(ticket["first"], ticket["first"] + ticket["players"]):
            _seat(player, queue.matched[1, k], record["time"], number, games)


@part
def _seat(player: int, team: int, now: float, number: int, games: Games) -> None:
    """Let a player join a game."""
    game, seated = games.games[number], games.seated[player]
    seated["next"], seated["team"], seated["game"] = t.NONE, team, number
    left = max(game["end"] - now, 0.0)
    seated["leaves"] = now + games.stays[player] * left if games.stays[player] < 1.0 else np.inf
    if game["first"] == t.NONE:
        game["first"] = player
    else:
        games.seated[game["last"]]["next"] = player
    game["last"] = player
    game["players"] += 1
    if games.options[0]["leavers"]:
        game["next_leave"] = min(game["next_leave"], seated["leaves"])


@part
def _let_go(number: int, now: float, games: Games) -> None:
    """Take those out of a game who have left."""
    game = games.games[number]
    player, before = game["first"], t.NONE
    game["next_leave"], game["changed"] = np.inf, 1
    while player != t.NONE:
        seated = games.seated[player]
        if seated["leaves"] > now:
            game["next_leave"] = min(game["next_leave"], seated["leaves"])
            before = player
        else:
            game["players"] -= 1
            if before == t.NONE:
                game["first"] = seated["next"]
            else:
                games.seated[before]["next"] = seated["next"]
        player = seated["next"]
    game["last"] = before


@part
def _ask(number: int, now: float, world: World, games: Games) -> None:
    """Let the server of a game ask for players: a backfill ticket with those who are there."""
    game, state, drawn = games.games[number], games.state[0], games.ticket_of.size
    row, begin = state["rows"], state["players"]
    state["rows"] += 1
    games.of_row[row], game["ticket"] = -1 - number, row
    player = game["first"]
    while player != t.NONE:
        place = state["players"]
        games.members[place] = player
        for column in range(world.cells.shape[0]):
            world.cells[column, drawn + place] = world.cells[column, player]
        world.home[drawn + place] = games.seated[player]["team"]
        state["players"] += 1
        player = games.seated[player]["next"]
    record = world.rows.tickets[row]
    record["time"], record["cancel"] = now, game["end"]
    record["first"], record["players"] = drawn + begin, game["players"]
    record["running"], record["matchable"] = 1, 1
    record["first_answer"], record["answers"] = 0, 0
    first = games.arrivals.tickets[games.ticket_of[game["first"]]]
    record["partition"] = first["partition"]
    record["first_part"], record["parts"] = state["parts"], 0
    _aggregate(row, begin, world, games)
    _tally(world.rows, row, t.NONE, row, world, games)
    for team in range(world.teams.size):
        count = 0
        for k in range(begin, state["players"]):
            count += int(games.seated[games.members[k]]["team"] == team)
        if count:
            piece = world.parts.teams[state["parts"]]
            piece["team"], piece["players"] = team, count
            _tally(world.parts, state["parts"], team, row, world, games)
            state["parts"] += 1
            record["parts"] += 1


@part
def _aggregate(row: int, begin: int, world: World, games: Games) -> None:
    """Note what stands for the players of a backfill ticket, the last ones so far."""
    members = games.members[begin : games.state[0]["players"]]
    for column in range(world.rows.values.shape[1]):
        party, values = games.sources.parties[column], games.singles.values[:, column]
        world.rows.values[row, column] = _stands_for(party, values, members)


@part
def _stands_for(party: int, values: Floats, members: Ints) -> float:
    """Return what stands for some players: NaN where a value is."""
    low, high, total = np.inf, -np.inf, 0.0
    if party == t.FIRST:
        return values[members[0]]
    for k in range(members.size):
        value = values[members[k]]
        if np.isnan(value):
            return np.nan
        low, high, total = min(low, value), max(high, value), total + value
    if party == t.LEAST:
        return low
    if party == t.GREATEST:
        return high
    if party == t.SAME:
        return low if low == high else np.nan
    return total if party == t.TOTAL else total / members.size


@part
def _tally(
    target: Rows | Parts, place: int, team: int, row: int, world: World, games: Games
) -> None:
    """Note what the players of a backfill ticket on a team, or on all, add to tallies."""
    singles, sources, record = games.singles, games.sources, world.rows.tickets[row]
    for column in range(target.stats.shape[1]):
        stat = target.stats[place, column]
        stat["low"], stat["high"], stat["total"], stat["players"] = np.inf, -np.inf, 0.0, 0
    for column in range(target.marks.shape[1]):
        target.marks[place, column] = NOBODY
    begin = record["first"] - games.ticket_of.size
    for k in range(begin, begin + record["players"]):
        player = games.members[k]
        if team != t.NONE and games.seated[player]["team"] != team:
            continue
        for column in range(target.stats.shape[1]):
            stat, single = target.stats[place, column], singles.stats[player, column]
            stat["low"] = min(stat["low"], single["low"])
            stat["high"] = max(stat["high"], single["high"])
            stat["total"] += single["total"]
            stat["players"] += single["players"]
        for column in range(target.marks.shape[1]):
            target.marks[place, column] &= singles.marks[player, column]
    for column in range(target.stats.shape[1]):
        first = sources.stats[column]
        if first != t.NONE:
            stat = target.stats[place, column]
            stat["low"] = stat["high"] = world.rows.values[row, first]
            stat["total"] = 0.0
    for column in range(target.marks.shape[1]):
        first = sources.marks[column]
        if first != t.NONE:
            marks = np.uint64(0)
            for region in range(world.options[0]["regions"]):
                ping = world.rows.values[row, first + t.REGION * region + t.PING_HIGH]
                if ping <= sources.limits[column]:
                    marks |= np.uint64(1) << np.uint64(region)
            target.marks[place, column] = marks


# Drawn tickets played with the games that they begin: leavers, and backfill tickets for others.

Values = TypeVar("Values", bound=NDArray[Any])

BACKFILLS = 64  # backfill tickets that there is room for at first; where more come, room is doubled


class Serving(NamedTuple):
    """How games run, and what their servers ask for."""

    seconds: float  # length of a match
    leavers: bool  # whether a server asks for players in place of those who have left, too
    # (players,); which part of what is left of the match a player stays; infinity: all
    stays: Floats


class Backfills(NamedTuple):
    """Backfill tickets, in the order in which they came."""

    matches: Ints  # (backfills,); whose server has asked
    # times, ends: (backfills,); seconds
    times: Floats
    ends: Floats
    # statuses, sizes: (backfills,); how they ended, and how many play already
    statuses: Ints
    sizes: Ints
    # members, teams: (players of backfills,); who they are, and on which team
    members: Ints
    teams: Ints


NO_BACKFILLS = Backfills(
    *(np.zeros(0, kind) for kind in ("i8", "f8", "f8", "i8", "i8", "i8", "i8"))
)


def play_with_games(
    table: Table,
    tickets: Tickets,
    service: Service,
    search: Search,
    serving: Serving,
    counted_from: float | None = None,
) -> tuple[Played, Backfills]:
    """Play drawn tickets with the games that they begin, whose servers ask for players.

    Other parameters are those of `valmatch.matching.tickets.playing.play_columns`. Reviews are by
    the clock.
    """
    counted = counted_from is not None
    world, sources = arrays_of(table, tickets, service, search, counted)
    if counted_from is not None:
        world.options["counted_from"] = counted_from
    drawn, more, queue = world.rows.tickets.size, BACKFILLS, queue_of(world)
    games = _games(table, tickets, serving, world, sources)
    while True:
        world, queue, games = _with_room(more, world, queue, games)
        crowd = play_games(world, queue, games)
        if crowd != SHORT:
            break
        more = max(world.rows.tickets.size - drawn, BACKFILLS)
    if crowd:
        raise too_many(crowd)
    used, made = int(games.state[0]["rows"]), queue.lists[t.MADE, : queue.state[0]["completed"]]
    played = played_of(
        table, queue, games.of_row[:used], games.of_match[made], games.arrivals.tickets.size
    )
    return played, _backfills(world, queue, games)


def _games(
    table: Table, tickets: Tickets, serving: Serving, world: World, sources: Sources
) -> Games:
    """Return games before the first one, with no room for backfill tickets."""
    players, drawn = int(tickets.sizes.sum()), world.rows.tickets.size
    alone = tickets._replace(
        times=np.zeros(players),
        cancels=np.full(players, np.inf),
        sizes=np.ones(players, np.int64),
        answers=np.empty((players, 0)),
    )
    options, state = np.zeros(1, GAMES_OPTIONS), np.zeros(1, GAMES_STATE)
    options["seconds"], options["leavers"] = serving.seconds, serving.leavers
    options["places"] = world.teams["ever"].sum()
    state["due"] = 1
    counted = bool(world.options[0]["counted"])
    return Games(
        options=options,
        state=state,
        arrivals=world.rows,
        singles=arrays_of(table, alone, Service(0.0, 0.0), "pass", counted)[0].rows,
        sources=sources,
        ticket_of=tickets.of,
        stays=serving.stays,
        games=np.zeros(drawn, GAME),
        seated=np.zeros(players, SEATED),
        of_row=np.zeros(drawn, np.int64),
        of_match=np.zeros(drawn, np.int64),
        members=np.zeros(0, np.int64),
    )


def _longer(values: Values, more: int, axis: int = 0) -> Values:
    """Return an array with room for more along an axis."""
    shape = list(values.shape)
    shape[axis] = more
    return cast(Values, np.concatenate([values, np.zeros(shape, values.dtype)], axis))


def _with_room(more: int, world: World, queue: Queue, games: Games) -> tuple[World, Queue, Games]:
    """Return the arrays with room for more backfill tickets, and all that these have."""
    state, places = games.state[0], int(games.options[0]["places"])
    # All games that run, or are about to, may ask at once.
    asking = state["games"] - state["running"] + queue.state[0]["completed"] - state["made"]
    more = max(more, 2 * int(asking) + BACKFILLS)
    rows = Rows._make(_longer(values, more) for values in world.rows)
    rows.tickets["time"][int(state["rows"]) :] = np.inf  # of rows that nobody has yet
    return (
        world._replace(
            cells=_longer(world.cells, more * places, 1),
            home=_longer(world.home, more * places),
            rows=rows,
            parts=Parts._make(_longer(values, more * world.teams.size) for values in world.parts),
        ),
        queue._replace(
            slots=_longer(queue.slots, more),
            lists=_longer(queue.lists, more, 1),
            matches=_longer(queue.matches, more),
            matched=_longer(queue.matched, more, 1),
        ),
        games._replace(
            of_row=_longer(games.of_row, more),
            of_match=_longer(games.of_match, more),
            members=_longer(games.members, more * places),
        ),
    )


def _backfills(world: World, queue: Queue, games: Games) -> Backfills:
    """Return the backfill tickets that have come by the horizon."""
    used = int(games.state[0]["rows"])
    came = queue.slots["status"][:used] > 0
    rows = np.flatnonzero((games.of_row[:used] < 0) & came)
    records: Records = world.rows.tickets[rows]
    people = spans(records["first"], records["players"])
    return Backfills(
        -1 - games.of_row[rows],
        records["time"].copy(),
        queue.slots["end"][rows].copy(),
        queue.slots["status"][rows].copy(),
        records["players"].copy(),
        games.members[people - games.ticket_of.size],
        world.home[people].copy(),
    )
