"""The outcome of a world of tickets: who played with whom and when, and who did not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from valmatch.errors import RunError
from valmatch.kernels.arrays import Ints, Records
from valmatch.matching.tickets import layout as t
from valmatch.matching.tickets.building import arrays_of, queue_of, world_of
from valmatch.matching.tickets.columns import Played, Tickets
from valmatch.matching.tickets.driving import play as play_kernel
from valmatch.matching.tickets.layout import Queue
from valmatch.matching.tickets.searching import MOST_CANDIDATES, MOST_TRIED
from valmatch.rule_sets.table import Table
from valmatch.rule_sets.worlds import Search, Service, Ticket

STATUSES = {
    t.COMPLETED: "COMPLETED",
    t.CANCELLED: "CANCELLED",
    t.TIMED_OUT: "TIMED_OUT",
    t.SEARCHING: "SEARCHING",
}


@dataclass(frozen=True)
class Made:
    """A match that was made."""

    # time, proposed: when it was made, and proposed
    time: float
    proposed: float
    review: int  # how many reviews there were before the one that found it
    anchor: int  # the ticket that it was built around
    tickets: list[int]  # by age
    teams: list[list[str]]  # ids of the players of each team, sorted


@dataclass(frozen=True)
class Outcome:
    """What came of a world."""

    matches: list[Made]  # in the order in which they were made
    # all that were proposed or made at once, in order; `time` is when that was decided
    proposed: list[Made]
    ended: list[int]  # tickets in the order in which they ended
    statuses: list[str]  # of each ticket how it ended, "" if it joined after the horizon
    times: list[float]  # when
    judged: Records  # of each rule how often it held, or was unknown, and refused


def too_many(tickets: int) -> RunError:
    """Return what is said where an exhaustive search would have to look at too many tickets.

    If there are not too many of them, there are too many ways to let them play.
    """
    if tickets <= MOST_TRIED:
        return RunError(
            f"the search exhaustive judges up to {MOST_CANDIDATES:,} candidates for an anchor, and"
            f" {tickets} tickets can play in more ways (fewer teams, fewer tickets at once by a"
            " shorter request timeout, or the search pass)"
        )
    return RunError(
        f"the search exhaustive is for small pools: it looks at up to {MOST_TRIED} tickets at"
        f" once, and there are {tickets}"
    )


def play_columns(
    table: Table,
    tickets: Tickets,
    service: Service,
    search: Search,
    counted_from: float | None = None,
) -> Played:
    """Play drawn tickets."""
    world, _ = arrays_of(table, tickets, service, search, counted_from is not None)
    if counted_from is not None:
        world.options["counted_from"] = counted_from
    queue = queue_of(world)
    crowd = play_kernel(world, queue)
    if crowd:
        raise too_many(crowd)
    matches = queue.matches[queue.lists[t.MADE, : queue.state[0]["completed"]]]
    of = np.repeat(np.arange(matches.size), matches["tickets"])
    starts = (np.cumsum(matches["tickets"]) - matches["tickets"])[of]
    chosen, teams = queue.matched[:, matches["first"][of] + np.arange(of.size) - starts]
    judged = queue.seats.judged[: len(table.rules)]
    return Played(
        np.ascontiguousarray(queue.slots["status"]),
        np.ascontiguousarray(queue.slots["end"]),
        matches["time"].copy(),
        matches["proposed"].copy(),
        chosen,
        of,
        teams,
        matches["proposed"][of],
        np.zeros(of.size, np.bool_),
        judged["held"].copy(),
        judged["refused"].copy(),
    )


def play(
    table: Table,
    tickets: Sequence[Ticket],
    service: Service,
    search: Search,
    *,
    counted: bool = True,
) -> Outcome:
    """Play a world."""
    world = world_of(table, tickets, service, search, counted)
    queue = queue_of(world)
    crowd = play_kernel(world, queue)
    if crowd:
        raise too_many(crowd)
    return Outcome(
        [_made(int(number), table, tickets, queue) for number in _completed(queue)],
        [_made(number, table, tickets, queue) for number in range(queue.state[0]["matches"])],
        queue.lists[t.ENDED, : queue.state[0]["ended"]].tolist(),
        [STATUSES.get(int(status), "") for status in queue.slots["status"]],
        queue.slots["end"].tolist(),
        queue.seats.judged[["held", "refused"]][: len(table.rules)],
    )


def _completed(queue: Queue) -> Ints:
    """Return the matches that were made, in order."""
    made: Ints = queue.lists[t.MADE, : queue.state[0]["completed"]]
    return made


def _made(number: int, table: Table, tickets: Sequence[Ticket], queue: Queue) -> Made:
    """Return a match with the ids of its players."""
    match = queue.matches[number]
    names = [team.name for team in table.teams]
    teams: list[list[str]] = [[] for _ in names]
    own = []
    for place in range(match["first"], match["first"] + match["tickets"]):
        ticket, team = int(queue.matched[0, place]), int(queue.matched[1, place])
        own.append(ticket)
        for player in tickets[ticket].players:
            teams[names.index(player.team) if team == t.NONE else team].append(player.id)
    return Made(
        float(match["time"]),
        float(match["proposed"]),
        int(match["review"]),
        int(match["anchor"]),
        sorted(own),
        [sorted(team) for team in teams],
    )
