"""Drawn tickets played with the games that they begin: leavers, and backfill tickets for others."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from valmatch.kernels import halting
from valmatch.kernels.arrays import Floats, Ints, Records
from valmatch.matching.tickets.building import queue_of
from valmatch.matching.tickets.building_tallies import TallyArrays
from valmatch.matching.tickets.columns import Columns, Played, arrays_of_columns, too_many
from valmatch.matching.tickets.games import (
    FIRST,
    GAME,
    GAMES_OPTIONS,
    GAMES_STATE,
    GREATEST,
    LEAST,
    MEAN,
    SAME,
    SEATED,
    SHORT,
    Games,
    Parties,
    Rows,
    play_games,
)
from valmatch.matching.tickets.layout import MADE, Queue, World
from valmatch.rule_sets.table import Ordered, Party, Reached, Spread, Table
from valmatch.rule_sets.worlds import Search, Service

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
    columns: Columns,
    service: Service,
    search: Search,
    serving: Serving,
    counted_from: float | None = None,
) -> tuple[Played, Backfills]:
    """Play drawn tickets with the games that they begin, whose servers ask for players.

    Other parameters are those of `valmatch.matching.tickets.columns.play_columns`. Reviews are by
    the clock.
    """
    counted = counted_from is not None
    drawn, tallies = arrays_of_columns(table, columns, service, search, counted)
    if counted_from is not None:
        drawn.options["counted_from"] = counted_from
    queue, games = queue_of(drawn), _games(table, columns, service, search, serving, drawn, tallies)
    world, more = drawn, BACKFILLS
    while True:
        world, queue, games = _with_room(more, world, queue, games)
        crowd = play_games(world, queue, games)
        halting.check()
        if crowd != SHORT:
            break
        more = max(world.tickets.size - drawn.tickets.size, BACKFILLS)
    if crowd:
        raise too_many(crowd)
    rules = len(table.rules)
    return _played(drawn.tickets.size, rules, queue, games), _backfills(world, queue, games)


def _games(
    table: Table,
    columns: Columns,
    service: Service,
    search: Search,
    serving: Serving,
    drawn: World,
    tallies: TallyArrays,
) -> Games:
    """Return games before the first one, with no room for backfill tickets."""
    players = int(columns.sizes.sum())
    alone = columns._replace(
        times=np.zeros(players),
        cancels=np.full(players, np.inf),
        sizes=np.ones(players, np.int64),
        answers=np.empty((players, 0)),
        lacks=None,
    )
    counted = bool(drawn.options[0]["counted"])
    singles, _ = arrays_of_columns(table, alone, service, search, counted)
    options, state = np.zeros(1, GAMES_OPTIONS), np.zeros(1, GAMES_STATE)
    options["seconds"], options["leavers"] = serving.seconds, serving.leavers
    options["places"] = drawn.teams["ever"].sum()
    state["due"], state["now"] = 1, -np.inf
    room = drawn.tickets.size
    return Games(
        options,
        state,
        _rows(drawn),
        _rows(singles),
        _parties(table, tallies),
        np.repeat(np.arange(room), columns.sizes),
        serving.stays,
        np.zeros(room, GAME),
        np.zeros(players, SEATED),
        np.zeros(room, np.int64),
        np.zeros(room, np.int64),
        np.zeros(0, np.int64),
    )


def _rows(world: World) -> Rows:
    """Return what is known of the tickets of a world."""
    facts = world.facts
    return Rows(
        world.tickets,
        world.own,
        world.own_marks,
        facts.spreads,
        facts.pings,
        world.sort_values,
        world.batch_values,
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
    made = queue.lists[MADE, : queue.state[0]["completed"]]
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
