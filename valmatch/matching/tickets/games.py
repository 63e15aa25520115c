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
from valmatch.kernels.compilation import apart, internal, njit
from valmatch.kernels.references import by_reference
from valmatch.matching.tickets import layout as t
from valmatch.matching.tickets.building import TallyArrays, arrays_of, queue_of
from valmatch.matching.tickets.columns import Played, Tickets
from valmatch.matching.tickets.driving import finish, next_moment, pass_moment
from valmatch.matching.tickets.layout import Queue, World
from valmatch.matching.tickets.playing import too_many
from valmatch.rule_sets.table import Ordered, Party, Reached, Spread, Table
from valmatch.rule_sets.worlds import Search, Service

SHORT = -1
"""What `play_games` returns where there is no room for all that may come by the next review."""

MEAN, LEAST, GREATEST, SAME, FIRST = range(5)
"""What stands for the players of a ticket; SAME: their value if they agree; FIRST: that of one."""

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
        ("now", "f8"),
    ]
)
GAMES_OPTIONS = np.dtype(
    [
        ("seconds", "f8"),  # length of a match
        ("places", "i8"),  # players of a full one
        ("leavers", "i8"),  # whether servers see that somebody has left
    ]
)


class Parties(NamedTuple):
    """What stands for the players of a ticket, and which columns of tallies are made of it."""

    # spreads, pings, lows, sorts, batches: MEAN, LEAST, GREATEST, SAME or FIRST of each row; lows:
    # of the lowest latency that counts
    spreads: Ints
    pings: Ints
    lows: Ints
    sorts: Ints
    batches: Ints
    stat_rows: Ints
    mark_rows: Ints
    mark_limits: Floats  # as `valmatch.matching.tickets.building.TallyArrays` has them


class Games(NamedTuple):
    """The games, and what their servers need to ask for players."""

    options: Records  # (1,)
    state: Records  # (1,)
    arrivals: World  # drawn tickets
    singles: World  # drawn players, as if each were a ticket
    parties: Parties
    ticket_of: Ints  # (players,); drawn ticket of each drawn player
    # (players,); which part of what is left of the match a player stays; infinity: all
    stays: Floats
    games: Records  # records of GAME
    # (players,); whose turn is next in the same game, on which team, when it leaves
    seated: Records
    of_row: Ints  # of each row the drawn ticket; or -1 less the game that has asked
    of_match: Ints  # of each match of the queue the game
    members: Ints  # players of backfill tickets, as drawn players


@njit
def play_games(world: World, queue: Queue, games: Games) -> int:
    """Let tickets come and games run until the horizon, or go on where room was short.

    Return 0, or what was too many to look at, or SHORT.
    """
    return _play_games(by_reference(world), by_reference(queue), by_reference(games))


@apart
def _play_games(world: World, queue: Queue, games: Games) -> int:
    """Let tickets come and games run, see `play_games`."""
    state, own = queue.state[0], games.state[0]
    while state["too_many"] == 0:
        if own["due"]:
            if not _has_room(world, queue, games):
                return SHORT
            _look(world, queue, games)
            own["due"] = 0
        last = own["now"]
        now = next_moment(last, world, queue)
        if now > world.options[0]["horizon"]:
            break
        own["now"] = now
        own["due"] = int(pass_moment(now, now > last, world, queue))
    finish(world, queue)
    return state["too_many"]


@internal
def _next_review(world: World, queue: Queue) -> float:
    """Return when the next review is."""
    return queue.state[0]["tick"] * world.options[0]["review"]


@internal
def _has_room(world: World, queue: Queue, games: Games) -> bool:
    """Return whether there is room for all tickets that may come before the next review."""
    own, until = games.state[0], _next_review(world, queue)
    come = own["arrived"]
    while come < games.arrivals.tickets.size:
        if games.arrivals.tickets[come]["time"] > until:
            break
        come += 1
    asking = own["games"] - own["running"] + queue.state[0]["completed"] - own["made"]
    return (
        own["rows"] + come - own["arrived"] + asking <= world.tickets.size
        and own["players"] + asking * games.options[0]["places"] <= games.members.size
        and own["parts"] + asking * world.teams.size <= world.parts.size
    )


@internal
def _look(world: World, queue: Queue, games: Games) -> None:
    """See what has changed about games, and let tickets come up to the next review."""
    own, until = games.state[0], _next_review(world, queue)
    while own["made"] < queue.state[0]["completed"]:
        _note_match(queue.lists[t.MADE, own["made"]], world, queue, games)
        own["made"] += 1
    while own["arrived"] < games.arrivals.tickets.size:
        if games.arrivals.tickets[own["arrived"]]["time"] > until:
            break
        _copy(own["arrived"], own["rows"], world, games)
        own["arrived"] += 1
        own["rows"] += 1
    while own["running"] < own["games"] and games.games[own["running"]]["end"] <= until:
        own["running"] += 1
    for number in range(own["running"], own["games"]):
        game = games.games[number]
        if game["next_leave"] <= own["now"]:
            _let_go(number, own["now"], games)
        row = game["ticket"]
        if row != t.NONE and queue.slots[row]["status"] > t.PROPOSED:
            game["changed"] = 1
        if game["changed"]:
            _look_at(number, until, world, queue, games)


@internal
def _look_at(number: int, until: float, world: World, queue: Queue, games: Games) -> None:
    """Let the server of a game ask for players, in place of what it has asked for before.

    While it waits for their answers it asks for nobody else.
    """
    game = games.games[number]
    row = game["ticket"]
    if row != t.NONE and queue.slots[row]["status"] == t.PROPOSED:
        return
    if row != t.NONE and queue.slots[row]["status"] == t.WAITING:
        world.tickets[row]["cancel"] = until
        queue.state[0]["next_end"] = min(queue.state[0]["next_end"], until)
    game["ticket"], game["changed"] = t.NONE, 0
    places = games.options[0]["places"]
    if 0 < game["players"] < places and until <= world.options[0]["horizon"]:
        _ask(number, until, world, games)


@internal
def _note_match(match: int, world: World, queue: Queue, games: Games) -> None:
    """Begin a game with the tickets of a match, or let those join that it was short of."""
    record, own = queue.matches[match], games.state[0]
    number = t.NONE
    for k in range(record["first"], record["first"] + record["tickets"]):
        of = games.of_row[queue.matched[0, k]]
        if of < 0:
            number = -1 - of
    if number == t.NONE:
        number = own["games"]
        own["games"] += 1
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


@internal
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


@internal
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


@internal
def _copy(ticket: int, row: int, world: World, games: Games) -> None:
    """Copy a drawn ticket into a row."""
    source, facts = games.arrivals, world.facts
    world.tickets[row] = source.tickets[ticket]
    games.of_row[row] = ticket
    for column in range(source.own.shape[1]):
        world.own[row, column] = source.own[ticket, column]
    for column in range(source.own_marks.shape[1]):
        world.own_marks[row, column] = source.own_marks[ticket, column]
    for rule in range(source.facts.spreads.shape[0]):
        facts.spreads[rule, row] = source.facts.spreads[rule, ticket]
    for rule in range(source.facts.pings.shape[0]):
        for region in range(source.facts.pings.shape[2]):
            facts.pings[rule, row, region] = source.facts.pings[rule, ticket, region]
    for sort in range(source.sort_values.shape[0]):
        for key in range(source.sort_values.shape[2]):
            world.sort_values[sort, row, key] = source.sort_values[sort, ticket, key]
    for sort in range(source.batch_values.shape[0]):
        world.batch_values[sort, row] = source.batch_values[sort, ticket]


@internal
def _ask(number: int, now: float, world: World, games: Games) -> None:
    """Let the server of a game ask for players: a backfill ticket with those who are there."""
    game, own = games.games[number], games.state[0]
    row, begin = own["rows"], own["players"]
    first = games.ticket_of.size + begin
    own["rows"] += 1
    games.of_row[row] = -1 - number
    game["ticket"] = row
    player = game["first"]
    while player != t.NONE:
        place = own["players"]
        games.members[place] = player
        for column in range(world.facts.cells.shape[0]):
            cell = world.facts.cells[column, player]
            world.facts.cells[column, games.ticket_of.size + place] = cell
        world.home[games.ticket_of.size + place] = games.seated[player]["team"]
        own["players"] += 1
        player = games.seated[player]["next"]
    record = world.tickets[row]
    record["time"], record["cancel"] = now, game["end"]
    record["first"], record["players"] = first, game["players"]
    record["running"], record["matchable"] = 1, 1
    record["first_answer"], record["answers"] = 0, 0
    record["camp"] = games.arrivals.tickets[games.ticket_of[game["first"]]]["camp"]
    record["first_part"], record["parts"] = own["parts"], 0
    _of_players(row, begin, world, games)
    _tally(row, row, t.NONE, begin, world, games)
    for team in range(world.teams.size):
        count = 0
        for k in range(begin, own["players"]):
            count += int(games.seated[games.members[k]]["team"] == team)
        if count:
            part = world.parts[own["parts"]]
            part["team"], part["players"] = team, count
            part["row"] = world.own.shape[0] - 1 - own["parts"]
            _tally(part["row"], row, team, begin, world, games)
            own["parts"] += 1
            record["parts"] += 1


@internal
def _of_players(row: int, begin: int, world: World, games: Games) -> None:
    """Note what stands for the players of a backfill ticket, the last ones so far."""
    singles, parties, facts = games.singles, games.parties, world.facts
    members = games.members[begin : games.state[0]["players"]]
    for rule in range(parties.spreads.size):
        facts.spreads[rule, row] = _stands_for(
            parties.spreads[rule], singles.facts.spreads[rule], members
        )
    for rule in range(parties.pings.size):
        for region in range(facts.pings.shape[2]):
            own, ping = singles.facts.pings[rule, :, region], facts.pings[rule, row, region]
            ping["ping"] = _stands_for(parties.pings[rule], own["ping"], members)
            ping["low"] = _stands_for(parties.lows[rule], own["low"], members)
            ping["least"] = _stands_for(LEAST, own["least"], members)
            ping["total"] = 0.0
            for k in range(members.size):
                ping["total"] += own[members[k]]["total"]
    last = world.sort_values.shape[2] - 1
    for sort in range(parties.sorts.size):
        own_values = singles.sort_values[sort]
        for key in range(last + 1):
            world.sort_values[sort, row, key] = own_values[members[0], key]
        if parties.sorts[sort] != FIRST:
            value = _stands_for(parties.sorts[sort], own_values[:, 0], members)
            world.sort_values[sort, row, 0] = value
            world.sort_values[sort, row, last] = t.NONE if np.isnan(value) else 0
    for sort in range(parties.batches.size):
        world.batch_values[sort, row] = _stands_for(
            parties.batches[sort], singles.batch_values[sort], members
        )


@internal
def _stands_for(party: int, values: Floats, members: Ints) -> float:
    """Return what stands for some players: NaN where a value is."""
    low, high, total = np.inf, -np.inf, 0.0
    for k in range(members.size):
        value = values[members[k]]
        if np.isnan(value):
            return np.nan
        low, high, total = min(low, value), max(high, value), total + value
    if party == LEAST:
        return low
    if party == GREATEST:
        return high
    if party == SAME:
        return low if low == high else np.nan
    return total / members.size


@internal
def _tally(place: int, row: int, team: int, begin: int, world: World, games: Games) -> None:
    """Note what the players of a backfill ticket on a team, or on all, add to tallies."""
    singles, parties = games.singles, games.parties
    for column in range(world.own.shape[1]):
        stat = world.own[place, column]
        stat["low"], stat["high"], stat["total"], stat["players"] = np.inf, -np.inf, 0.0, 0
    for column in range(world.own_marks.shape[1]):
        world.own_marks[place, column] = np.uint64(2**64 - 1)
    for k in range(begin, games.state[0]["players"]):
        player = games.members[k]
        if team != t.NONE and games.seated[player]["team"] != team:
            continue
        for column in range(world.own.shape[1]):
            stat, own = world.own[place, column], singles.own[player, column]
            stat["low"] = min(stat["low"], own["low"])
            stat["high"] = max(stat["high"], own["high"])
            stat["total"] += own["total"]
            stat["players"] += own["players"]
        for column in range(world.own_marks.shape[1]):
            world.own_marks[place, column] &= singles.own_marks[player, column]
    for column in range(world.own.shape[1]):
        if parties.stat_rows[column] != t.NONE:
            stat = world.own[place, column]
            stat["low"] = stat["high"] = world.facts.spreads[parties.stat_rows[column], row]
            stat["total"] = 0.0
    for column in range(world.own_marks.shape[1]):
        rule = parties.mark_rows[column]
        if rule != t.NONE:
            marks, limit = np.uint64(0), parties.mark_limits[column]
            for region in range(world.facts.pings.shape[2]):
                if world.facts.pings[rule, row, region]["ping"] <= limit:
                    marks |= np.uint64(1) << np.uint64(region)
            world.own_marks[place, column] = marks


# Drawn tickets played with the games that they begin: leavers, and backfill tickets for others.

Values = TypeVar("Values", bound=NDArray[Any])

OF_PARTY: dict[Party, int] = {"avg": MEAN, "min": LEAST, "max": GREATEST}

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
    np.zeros(0, np.int64),
    np.zeros(0),
    np.zeros(0),
    np.zeros(0, np.int64),
    np.zeros(0, np.int64),
    np.zeros(0, np.int64),
    np.zeros(0, np.int64),
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
    drawn, tallies = arrays_of(table, tickets, service, search, counted)
    if counted_from is not None:
        drawn.options["counted_from"] = counted_from
    queue, games = queue_of(drawn), _games(table, tickets, service, search, serving, drawn, tallies)
    world, more = drawn, BACKFILLS
    while True:
        world, queue, games = _with_room(more, world, queue, games)
        crowd = play_games(world, queue, games)
        if crowd != SHORT:
            break
        more = max(world.tickets.size - drawn.tickets.size, BACKFILLS)
    if crowd:
        raise too_many(crowd)
    rules = len(table.rules)
    return _played(drawn.tickets.size, rules, queue, games), _backfills(world, queue, games)


def _games(
    table: Table,
    tickets: Tickets,
    service: Service,
    search: Search,
    serving: Serving,
    drawn: World,
    tallies: TallyArrays,
) -> Games:
    """Return games before the first one, with no room for backfill tickets."""
    players = int(tickets.sizes.sum())
    alone = tickets._replace(
        times=np.zeros(players),
        cancels=np.full(players, np.inf),
        sizes=np.ones(players, np.int64),
        answers=np.empty((players, 0)),
    )
    counted = bool(drawn.options[0]["counted"])
    singles, _ = arrays_of(table, alone, service, search, counted)
    options, state = np.zeros(1, GAMES_OPTIONS), np.zeros(1, GAMES_STATE)
    options["seconds"], options["leavers"] = serving.seconds, serving.leavers
    options["places"] = drawn.teams["ever"].sum()
    state["due"], state["now"] = 1, -np.inf
    room = drawn.tickets.size
    return Games(
        options,
        state,
        drawn,
        singles,
        _parties(table, tallies),
        tickets.of,
        serving.stays,
        np.zeros(room, GAME),
        np.zeros(players, SEATED),
        np.zeros(room, np.int64),
        np.zeros(room, np.int64),
        np.zeros(0, np.int64),
    )


def _parties(table: Table, tallies: TallyArrays) -> Parties:
    """Return what stands for the players of a ticket."""
    every = [rule.predicate for rule in table.rules]
    reached = [one for one in every if isinstance(one, Reached)]
    sorts = [FIRST if one.key else OF_PARTY[one.party] for one in every if isinstance(one, Ordered)]
    if table.search.balance is not None:
        sorts.append(MEAN)
    kinds = [table.attributes[number].kind for number in table.search.batch_order]
    spreads = [
        SAME if table.attributes[one.attribute].kind == "text" else OF_PARTY[one.party]
        for one in every
        if isinstance(one, Spread)
    ]
    return Parties(
        np.array(spreads, np.int64),
        np.array([GREATEST if one.each else OF_PARTY[one.party] for one in reached], np.int64),
        np.array([LEAST if one.each else OF_PARTY[one.party] for one in reached], np.int64),
        np.array(sorts, np.int64),
        np.array([MEAN if kind == "number" else LEAST for kind in kinds], np.int64),
        tallies.stat_rows,
        tallies.mark_rows,
        tallies.mark_limits,
    )


def _longer(values: Values, more: int, axis: int = 0) -> Values:
    """Return an array with room for more along an axis."""
    shape = list(values.shape)
    shape[axis] += more
    longer = np.zeros(shape, values.dtype)
    longer[tuple(slice(0, size) for size in values.shape)] = values
    return cast(Values, longer)


def _with_room(more: int, world: World, queue: Queue, games: Games) -> tuple[World, Queue, Games]:
    """Return the arrays with room for more backfill tickets, and all that these have.

    Rows of parts stand at the end of what tickets add to tallies.
    """
    teams, places = world.teams.size, int(games.options[0]["places"])
    state = games.state[0]
    # All games that run, or are about to, may ask at once.
    asking = state["games"] - state["running"] + queue.state[0]["completed"] - state["made"]
    more = max(more, 2 * int(asking) + BACKFILLS)
    before, own_parts = world.own.shape[0], world.parts.size
    facts, tickets = world.facts, _longer(world.tickets, more)
    tickets["time"][int(games.state[0]["rows"]) :] = np.inf  # of rows that nobody has yet
    own = _parts_moved(world.own, own_parts, more, teams)
    parts = _longer(world.parts, more * teams)
    parts["row"][:own_parts] += own.shape[0] - before
    larger = world._replace(
        facts=facts._replace(
            cells=_longer(facts.cells, more * places, 1),
            spreads=_longer(facts.spreads, more, 1),
            pings=_longer(facts.pings, more, 1),
        ),
        tickets=tickets,
        parts=parts,
        home=_longer(world.home, more * places),
        own=own,
        own_marks=_parts_moved(world.own_marks, own_parts, more, teams),
        sort_values=_longer(world.sort_values, more, 1),
        batch_values=_longer(world.batch_values, more, 1),
    )
    tallies = queue.tallies._replace(own=larger.own, own_marks=larger.own_marks)
    return (
        larger,
        queue._replace(
            slots=_longer(queue.slots, more),
            lists=_longer(queue.lists, more, 1),
            tallies=tallies,
            matches=_longer(queue.matches, more),
            matched=_longer(queue.matched, more, 1),
        ),
        games._replace(
            of_row=_longer(games.of_row, more),
            of_match=_longer(games.of_match, more),
            members=_longer(games.members, more * places),
        ),
    )


def _parts_moved(values: Values, parts: int, more: int, teams: int) -> Values:
    """Return rows of tickets and, at the end, of parts with room for more of both."""
    longer = np.zeros((values.shape[0] + more * (1 + teams), values.shape[1]), values.dtype)
    tickets = values.shape[0] - parts
    longer[:tickets] = values[:tickets]
    longer[longer.shape[0] - parts :] = values[tickets:]
    return cast(Values, longer)


def _played(drawn: int, rules: int, queue: Queue, games: Games) -> Played:
    """Return what came of drawn tickets; a match that others joined later is one."""
    made = queue.lists[t.MADE, : queue.state[0]["completed"]]
    matches = queue.matches[made]
    own = games.of_match[made]
    first = np.unique(own, return_index=True)[1]  # each match begins before others join it
    begun = np.zeros(made.size, np.bool_)
    begun[first] = True
    sizes = matches["tickets"]
    of = np.repeat(np.arange(made.size), sizes)
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    rows, teams = queue.matched[:, np.repeat(matches["first"], sizes) + np.arange(of.size) - starts]
    tickets = games.of_row[rows]
    new = tickets >= 0
    # By match, as without games.
    order = np.argsort(own[of[new]], kind="stable")
    statuses, ends = np.zeros(drawn, np.int64), np.zeros(drawn)
    used = int(games.state[0]["rows"])
    is_drawn = games.of_row[:used] >= 0
    statuses[games.of_row[:used][is_drawn]] = queue.slots["status"][:used][is_drawn]
    ends[games.of_row[:used][is_drawn]] = queue.slots["end"][:used][is_drawn]
    judged = queue.seats.judged[:rules]
    return Played(
        statuses,
        ends,
        matches["time"][begun],
        matches["proposed"][begun],
        tickets[new][order],
        own[of[new]][order],
        teams[new][order],
        matches["proposed"][of[new]][order],
        ~begun[of[new]][order],
        judged["held"].copy(),
        judged["refused"].copy(),
    )


def _backfills(world: World, queue: Queue, games: Games) -> Backfills:
    """Return the backfill tickets that have come by the horizon."""
    used = int(games.state[0]["rows"])
    of = games.of_row[:used]
    came = queue.slots["status"][:used] > 0
    rows = np.flatnonzero((of < 0) & came)
    records: Records = world.tickets[rows]
    sizes = records["players"]
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    people = np.repeat(records["first"], sizes) + np.arange(sizes.sum()) - starts
    return Backfills(
        -1 - of[rows],
        records["time"].copy(),
        queue.slots["end"][rows].copy(),
        queue.slots["status"][rows].copy(),
        sizes.copy(),
        games.members[people - games.ticket_of.size],
        world.home[people].copy(),
    )
