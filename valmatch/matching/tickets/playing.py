"""The outcome of a world of tickets: who played with whom and when, and who did not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from valmatch.errors import RunError
from valmatch.kernels.arrays import Ints, Records
from valmatch.matching.tickets import layout as t
from valmatch.matching.tickets.arrays import arrays_of, queue_of
from valmatch.matching.tickets.columns import (
    Played,
    Search,
    Service,
    Tickets,
    inner_of,
    spans,
)
from valmatch.matching.tickets.driving import play as play_kernel
from valmatch.matching.tickets.layout import Queue, World
from valmatch.matching.tickets.search import MOST_CANDIDATES, MOST_TRIED
from valmatch.rule_sets.table import Table


class Match(NamedTuple):
    """A match that was made or proposed."""

    # time, proposed: when it was made or failed, and when it was proposed
    time: float
    proposed: float
    review: int  # how many reviews there were before the one that found it
    anchor: int  # the ticket that it was built around
    tickets: list[int]  # by age
    teams: list[list[str]]  # ids of the players of each team, sorted


class Outcome(NamedTuple):
    """What came of a world."""

    matches: list[Match]  # in the order in which they were made
    proposed: list[Match]  # all that were proposed or made at once, in order
    ended: list[int]  # tickets in the order in which they ended
    statuses: list[str]  # of each ticket how it ended, "" if it joined after the horizon
    times: list[float]  # when
    judged: Records  # of each rule how often it held, or was unknown, and refused
    reviews: list[float]  # when they were held


def check_crowd(queue: Queue) -> None:
    """Refuse an exhaustive search of too many tickets, or of too many ways to let them play."""
    tickets = int(queue.state[0]["too_many"])
    if tickets > MOST_TRIED:
        raise RunError(
            f"the search exhaustive is for small pools: it looks at up to {MOST_TRIED} tickets at"
            f" once, and there are {tickets}"
        )
    if tickets:
        raise RunError(
            f"the search exhaustive judges up to {MOST_CANDIDATES:,} candidates for an anchor, and"
            f" {tickets} tickets can play in more ways (fewer teams, fewer tickets at once by a"
            " shorter request timeout, or the search pass)"
        )


def _run(world: World) -> Queue:
    """Let the tickets of a world come and go; return what came of them."""
    queue = queue_of(world)
    play_kernel(np.inf, world, queue)
    check_crowd(queue)
    return queue


def play_columns(
    table: Table,
    tickets: Tickets,
    service: Service,
    search: Search,
    counted_from: float | None = None,
) -> Played:
    """Play drawn tickets; verdicts are counted from a second on, or not at all."""
    world, _ = arrays_of(table, tickets, service, search, counted_from is not None)
    world.options["counted_from"] = counted_from or 0.0
    queue, n = _run(world), tickets.sizes.size
    return played_of(table, queue, np.arange(n), np.arange(queue.state[0]["completed"]), n)


def played_of(table: Table, queue: Queue, of_row: Ints, games: Ints, drawn: int) -> Played:
    """Return what came of drawn tickets."""
    # `of_row` has the drawn ticket of each row of the queue, negative for a backfill ticket;
    # `games` the game of each match that was made: one that others joined later is one match.
    matches = queue.matches[queue.lists[t.MADE, : games.size]]
    begun = np.zeros(games.size, np.bool_)  # each match begins before others join it
    begun[np.unique(games, return_index=True)[1]] = True
    of = np.repeat(np.arange(games.size), matches["tickets"])
    rows, teams = queue.matched[:, spans(matches["first"], matches["tickets"])]
    tickets = of_row[rows]
    chosen = np.flatnonzero(tickets >= 0)
    chosen = chosen[np.argsort(games[of[chosen]], kind="stable")]
    of = of[chosen]
    slots, is_drawn = np.zeros(drawn, t.SLOT), np.flatnonzero(of_row >= 0)
    slots[of_row[is_drawn]] = queue.slots[is_drawn]
    judged = queue.candidate.judged[: len(table.rules)]
    return Played(
        statuses=slots["status"].copy(),
        ends=slots["end"].copy(),
        times=matches["time"][begun],
        proposed=matches["proposed"][begun],
        tickets=tickets[chosen],
        matches=games[of],
        teams=teams[chosen],
        proposals=matches["proposed"][of],
        filled=~begun[of],
        held=judged["held"].copy(),
        refused=judged["refused"].copy(),
    )


def play(
    table: Table, tickets: Tickets, service: Service, search: Search, *, counted: bool = True
) -> Outcome:
    """Play a world, whose tickets are looked at one by one."""
    queue = _run(arrays_of(table, tickets, service, search, counted)[0])
    state, ids = queue.state[0], tickets.player_ids()
    reviews = service.review * np.arange(state["reviews"]) if service.review else queue.reviews
    proposed = [
        _match(record, table, tickets, ids, queue) for record in queue.matches[: state["matches"]]
    ]
    return Outcome(
        [proposed[number] for number in queue.lists[t.MADE, : state["completed"]]],
        proposed,
        queue.lists[t.ENDED, : state["ended"]].tolist(),
        [t.STATUSES.get(int(status), "") for status in queue.slots["status"]],
        queue.slots["end"].tolist(),
        queue.candidate.judged[["held", "refused"]][: len(table.rules)],
        reviews[: state["reviews"]].tolist(),
    )


def _match(
    record: np.void, table: Table, tickets: Tickets, ids: Sequence[str], queue: Queue
) -> Match:
    """Return a match with the ids of its players."""
    teams: list[list[str]] = [[] for _ in table.teams]
    members = queue.matched[:, record["first"] : record["first"] + record["tickets"]]
    people = inner_of(tickets.sizes, members[0])
    homes = np.repeat(members[1], tickets.sizes[members[0]])
    if tickets.teams is not None:
        homes = np.where(homes == t.NONE, tickets.teams[people], homes)
    for player, team in zip(people.tolist(), homes.tolist(), strict=True):
        teams[team].append(ids[player])
    return Match(
        float(record["time"]),
        float(record["proposed"]),
        int(record["review"]),
        int(record["anchor"]),
        sorted(members[0].tolist()),
        [sorted(team) for team in teams],
    )
