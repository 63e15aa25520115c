"""Worlds of tickets are played: what happens when, who played with whom, and who did not."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from valmatch.errors import RunError
from valmatch.kernels.arrays import Floats, Ints, Records
from valmatch.kernels.compilation import kernel, macro, part
from valmatch.kernels.references import by_reference
from valmatch.matching.tickets import layout as t
from valmatch.matching.tickets.arrays import arrays_of, queue_of
from valmatch.matching.tickets.columns import Played, Search, Service, Tickets, inner_of, spans
from valmatch.matching.tickets.judging import note_tickets
from valmatch.matching.tickets.layout import Queue, Rows, World
from valmatch.matching.tickets.search import MOST_CANDIDATES, MOST_TRIED, next_wait, review
from valmatch.rule_sets.table import Table


@kernel(allocates=True)
def play_kernel(until: float, world: World, queue: Queue) -> bool:
    """Let tickets come and go up to a review at a moment or later, or after a match was made."""
    # Return whether there is more to come by the horizon. Up to infinity all of it is played.
    return _play(until, by_reference(world), by_reference(queue))


@part
def _play(until: float, world: World, queue: Queue) -> bool:
    """Let tickets come and go, see `play_kernel`."""
    # At one moment proposals end, then tickets are cancelled, then time out, then others join.
    state, options, tickets = queue.state[0], world.options, world.rows.tickets
    completed, every = state["completed"], options.review
    while (
        until < np.inf
        or state["joined"] < tickets.size
        or state["waiting"] > 0
        or state["proposals"] > 0
    ):
        now = _next_review(world, queue)
        if state["joined"] < tickets.size:
            now = min(now, tickets[state["joined"]]["time"])
        for k in range(state["proposals"]):
            now = min(now, queue.matches[queue.lists[t.PENDING, k]]["time"])
        if state["waiting"]:
            now = min(now, state["next_end"])
        if now > options.horizon or state["too_many"] > 0:
            break
        state["now"] = now
        changed = _end_proposals(now, False, world, queue)
        _let_leave(now, world, queue)
        while state["joined"] < tickets.size and tickets[state["joined"]]["time"] <= now:
            ticket, changed = state["joined"], True
            state["joined"] += 1
            if tickets[ticket]["cancel"] <= now:
                _end(ticket, t.CANCELLED, now, queue)
            else:
                _line_up(ticket, world, queue)
        if _next_review(world, queue) > now and (every > 0.0 or not changed):
            continue
        if now >= state["counted_from"]:
            state["counted_from"] = np.inf
            queue.candidate.judged["held"][:] = 0
            queue.candidate.judged["refused"][:] = 0
        if every == 0.0:
            queue.reviews[state["reviews"]] = now
        state["tick"] += 1
        before = state["proposals"]
        review(now, world, queue)
        _settle(before, now, world, queue)
        _end_proposals(now, True, world, queue)
        if until < np.inf and (state["completed"] > completed or now >= until):
            return True
    for ticket in range(state["joined"]):
        if queue.slots[ticket]["status"] < t.COMPLETED:
            _end(ticket, t.SEARCHING, options.horizon, queue)
    return False


@macro
def _next_review(world: World, queue: Queue) -> float:
    """Return when there is a review if nobody comes: by the clock, or as a ticket passes a wait."""
    every = world.options.review
    return queue.state[0]["tick"] * every if every > 0.0 else next_wait(world, queue)


@macro
def _end(ticket: int, status: int, now: float, queue: Queue) -> None:
    """Note how and when a ticket has ended."""
    queue.slots[ticket]["status"], queue.slots[ticket]["end"] = status, now
    queue.lists[t.ENDED, queue.state[0]["ended"]] = ticket
    queue.state[0]["ended"] += 1


@part
def _let_leave(now: float, world: World, queue: Queue) -> None:
    """Let those leave who are cancelled, then those who are too old."""
    state, timeout = queue.state[0], world.options.timeout
    if now < state["next_end"]:
        return
    for status in (t.CANCELLED, t.TIMED_OUT):
        waiting, state["next_end"] = 0, np.inf
        for k in range(state["waiting"]):
            ticket = queue.lists[t.LINE, k]
            record = world.rows.tickets[ticket]
            cancelled, late = record["cancel"], record["time"] + timeout
            if (cancelled if status == t.CANCELLED else late) <= now:
                _end(ticket, status, now, queue)
            else:
                queue.lists[t.LINE, waiting] = ticket
                waiting += 1
                state["next_end"] = min(state["next_end"], cancelled, late)
        state["waiting"] = waiting


@macro
def _line_up(ticket: int, world: World, queue: Queue) -> None:
    """Let a ticket wait, in its place by age."""
    state = queue.state[0]
    index = state["waiting"]
    while index > 0 and queue.lists[t.LINE, index - 1] > ticket:
        queue.lists[t.LINE, index] = queue.lists[t.LINE, index - 1]
        index -= 1
    queue.lists[t.LINE, index] = ticket
    queue.slots[ticket]["status"], queue.slots[ticket]["news"] = t.WAITING, t.NEW
    state["waiting"] += 1
    record = world.rows.tickets[ticket]
    late = record["time"] + world.options.timeout
    state["next_end"] = min(state["next_end"], record["cancel"], late)


@macro
def _seconds_of(ticket: int, world: World, queue: Queue) -> float:
    """Return after how many seconds a ticket answers its latest proposal."""
    # As `Tickets.answers` has it. Who has no answer to it, or plays already, accepts at once.
    record, number = world.rows.tickets[ticket], queue.slots[ticket]["proposals"] - 1
    if record["running"] or number >= world.answers.shape[1]:
        return 0.0
    answer = world.answers[record["answers"], number]
    if answer == np.inf:
        return 0.0
    seconds = answer if answer >= 0.0 else -1.0 - answer
    return answer if seconds <= world.options.acceptance else np.nan


@part
def _settle(before: int, now: float, world: World, queue: Queue) -> None:
    """Set when the matches that a review has found are decided."""
    limit = world.options.acceptance
    for k in range(before, queue.state[0]["proposals"]):
        match = queue.matches[queue.lists[t.PENDING, k]]
        longest, refused, silent = 0.0, np.inf, False
        for i in range(match["tickets"]):
            ticket = queue.matched[0, match["first"] + i]
            queue.slots[ticket]["proposals"] += 1
            if limit > 0.0:
                seconds = _seconds_of(ticket, world, queue)
                silent = silent or np.isnan(seconds)
                if seconds >= 0.0:
                    longest = max(longest, seconds)
                elif seconds < 0.0:
                    refused = min(refused, -1.0 - seconds)
        match["accepted"] = int(refused == np.inf and not silent)
        match["time"] = now + (longest if match["accepted"] else min(refused, limit))


@macro
def _next_of(number: int, last: int, queue: Queue) -> int:
    """Return the oldest ticket of a match that is younger than another one."""
    match, chosen = queue.matches[number], -1
    for i in range(match["tickets"]):
        ticket = queue.matched[0, match["first"] + i]
        if ticket > last and (chosen < 0 or ticket < chosen):
            chosen = ticket
    return chosen


@part
def _end_proposals(now: float, only_accepted: bool, world: World, queue: Queue) -> bool:
    """End proposals: who had accepted one that failed waits again; return whether anybody does."""
    state, returned, kept = queue.state[0], False, 0
    for k in range(state["proposals"]):
        number = queue.lists[t.PENDING, k]
        match = queue.matches[number]
        if match["time"] > now or (only_accepted and not match["accepted"]):
            queue.lists[t.PENDING, kept] = number
            kept += 1
            continue
        if match["accepted"]:
            queue.lists[t.MADE, state["completed"]] = number
            state["completed"] += 1
            match["time"] = now
        last = -1
        for _ in range(match["tickets"]):
            last = _next_of(number, last, queue)
            seconds = _seconds_of(last, world, queue)
            if match["accepted"]:
                _end(last, t.COMPLETED, now, queue)
            elif seconds >= 0.0 and match["proposed"] + seconds <= now:
                _line_up(last, world, queue)
                returned = True
            else:
                _end(last, t.CANCELLED, now, queue)
    state["proposals"] = kept
    return returned


# What comes of a world.


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
    text = (
        f"the search exhaustive judges up to {MOST_CANDIDATES:,} candidates for an anchor, and"
        f" {tickets} tickets can play in more ways (fewer teams, fewer tickets at once by a"
        " shorter request timeout, or the search pass)"
    )
    if tickets > MOST_TRIED:
        text = (
            f"the search exhaustive is for small pools: it looks at up to {MOST_TRIED} tickets at"
            f" once, and there are {tickets}"
        )
    if tickets:
        raise RunError(text)


def _run(world: World, counted_from: float | None) -> Queue:
    """Let the tickets of a world come and go; return what came of them."""
    queue = queue_of(world)
    queue.state["counted_from"] = counted_from or 0.0
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
    world = arrays_of(table, tickets, service, search, counted_from is not None)
    queue, n = _run(world, counted_from), tickets.sizes.size
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
    queue = _run(arrays_of(table, tickets, service, search, counted), None)
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


# Games that run: players leave them, and game servers ask for others in their place.
#
# What changes about games is seen after each review, and a backfill ticket comes at the next one.
# Kernels go by the numbers of tickets as by age: so drawn tickets are copied into rows as they
# come, in one order with those that servers ask for.

Values = TypeVar("Values", bound=NDArray[Any])

ROOM = 64  # backfill tickets that there is room for at first; where more come, room is doubled
AHEAD = 64  # most reviews that are held before servers look again


class Serving(NamedTuple):
    """How games run, and what their servers ask for."""

    seconds: float  # length of a match
    leavers: bool  # whether a server asks for players in place of those who have left, too
    # (players,); which part of what is left of the match a player stays; infinity: all
    stays: Floats


class Backfills(NamedTuple):
    """Backfill tickets, in the order in which they came."""

    matches: Ints  # (backfills,); whose server has asked
    times: Floats  # (backfills,); seconds
    ends: Floats
    statuses: Ints  # (backfills,); how they ended
    sizes: Ints  # how many play already
    members: Ints  # (players of backfills,); who they are
    teams: Ints  # and on which team


NO_BACKFILLS = Backfills(
    *(np.zeros(0, kind) for kind in ("i8", "f8", "f8", "i8", "i8", "i8", "i8"))
)


@dataclass
class Game:
    """A match that runs."""

    end: float
    players: list[tuple[int, int, float]] = field(default_factory=list)  # who, team, when it leaves
    ticket: int | None = None  # the row of what its server has asked for last
    changed: bool = True  # whether its server has to look who is there


class Servers:
    """The games, and the servers that ask for players."""

    def __init__(
        self,
        table: Table,
        tickets: Tickets,
        service: Service,
        search: Search,
        serving: Serving,
        counted_from: float | None,
    ) -> None:
        self.service, self.serving = service, serving
        self.times, self.drawn = tickets.times, tickets.times.size
        self.people, counted = int(tickets.sizes.sum()), counted_from is not None
        self.world = arrays_of(table, tickets, service, search, counted)
        self.queue, self.arrivals = queue_of(self.world), self.world.rows
        self.queue.state["counted_from"] = counted_from or 0.0
        self.partitions = np.repeat(self.arrivals.tickets["partition"], tickets.sizes)
        self.places = table.largest
        self.games: list[Game] = []
        self.of_row: list[int] = []  # of each row the drawn ticket; or -1 less the game that asked
        self.of_match: list[int] = []  # of each match that was made the game
        self.members: list[int] = []  # players of backfill tickets, as drawn players
        self.arrived = 0  # drawn tickets that have rows
        self.pending: set[int] = set()  # games whose servers wait for answers to what they asked
        self.changes: list[tuple[float, int]] = []  # when which game may have changed
        self._make_room()

    def play(self, table: Table) -> tuple[Played, Backfills]:
        """Let tickets come and games run until the horizon; return what came of them."""
        while play_kernel(self._look(), self.world, self.queue):
            pass
        self._note_matches()
        check_crowd(self.queue)
        of_row, games = np.array(self.of_row, np.int64), np.array(self.of_match, np.int64)
        slots = self.queue.slots[: of_row.size]
        rows = np.flatnonzero((of_row < 0) & (slots["status"] > 0))  # those that came in time
        records: Records = self.world.rows.tickets[rows]
        people = spans(records["first"], records["players"])
        backfills = Backfills(
            -1 - of_row[rows],
            records["time"].copy(),
            slots["end"][rows],
            slots["status"][rows],
            records["players"].copy(),
            np.array(self.members, np.int64)[people - self.people],
            self.world.home[people],
        )
        return played_of(table, self.queue, of_row, games, self.drawn), backfills

    def _look(self) -> float:
        """See what has changed about games, and let tickets come; return when to look again."""
        state, review = self.queue.state[0], cast(float, self.service.review)
        now, tick = float(state["now"]), int(state["tick"])
        until, joined = tick * review, int(state["joined"])
        # Rows that nobody has joined yet are made anew.
        self.arrived -= len(self.of_row) - joined
        self.world.rows.tickets["time"][joined : len(self.of_row)] = np.inf
        del self.of_row[joined:]
        due, self.pending = self.pending | self._note_matches(), set()
        while self.changes and self.changes[0][0] <= now:
            due.add(heappop(self.changes)[1])
        if due:
            self._let_come(until)
        for number in sorted(due):
            if self.games[number].end > until:
                self._look_at(number, now, until)
        last = tick if self.pending else tick + AHEAD
        if self.changes:
            last = min(last, max(tick, int(self.changes[0][0] / review)))
        self._let_come(last * review)
        return last * review

    def _let_come(self, until: float) -> None:
        """Give rows to drawn tickets that come up to a moment."""
        arrivals, first, rows = self.arrivals, self.arrived, len(self.of_row)
        end = int(self.times.searchsorted(until, side="right"))
        if end > first:
            for target, source in zip(self.world.rows, arrivals, strict=True):
                target[rows : rows + end - first] = source[first:end]
            self.of_row += range(first, end)
            self.arrived = end

    def _note_matches(self) -> set[int]:
        """Note the matches that were made since they were looked at last; return their games."""
        # Each begins a game, or lets its tickets join one that was short of players.
        due, first = set[int](), len(self.of_match)
        for match in self.queue.lists[t.MADE, first : self.queue.state[0]["completed"]].tolist():
            record = self.queue.matches[match]
            span = slice(record["first"], record["first"] + record["tickets"])
            rows, teams = self.queue.matched[:, span].tolist()
            members = [self.of_row[row] for row in rows]
            now, number = float(record["time"]), len(self.games)
            if min(members) < 0:
                number = -1 - min(members)
            else:
                self.games.append(Game(now + self.serving.seconds))
            game = self.games[number]
            game.ticket, game.changed = None, True
            self.of_match.append(number)
            due.add(number)
            for of, team in zip(members, teams, strict=True):
                ticket = self.arrivals.tickets[of]
                new = range(ticket["first"], ticket["first"] + ticket["players"])
                for player in new if of >= 0 else ():
                    stays, left = float(self.serving.stays[player]), max(game.end - now, 0.0)
                    leaves = now + stays * left if stays < 1.0 else math.inf
                    game.players.append((player, team, leaves))
                    if self.serving.leavers and stays < 1.0:
                        heappush(self.changes, (leaves, number))
        return due

    def _look_at(self, number: int, now: float, until: float) -> None:
        """Let the server of a game ask for players, unless it waits for answers already."""
        game, status = self.games[number], t.AWAY
        if self.serving.leavers:
            there = [player for player in game.players if player[2] > now]
            game.changed |= len(there) < len(game.players)
            game.players = there
        if game.ticket is not None:
            status = int(self.queue.slots[game.ticket]["status"])
            game.changed |= status > t.PROPOSED
        if status == t.PROPOSED:
            self.pending.add(number)
        elif game.changed:
            if status == t.WAITING:
                self.world.rows.tickets[game.ticket]["cancel"] = until
                state = self.queue.state[0]
                state["next_end"] = min(state["next_end"], until)
            game.ticket, game.changed = None, False
            if 0 < len(game.players) < self.places and until <= self.service.horizon:
                self._ask(number, until)

    def _ask(self, number: int, now: float) -> None:
        """Let the server of a game ask for players: a backfill ticket with those who are there."""
        self._make_room()
        game, world, row = self.games[number], self.world, len(self.of_row)
        members = np.array([player for player, _, _ in game.players])
        homes = np.array([team for _, team, _ in game.players])
        first = self.people + len(self.members)
        span = slice(first, first + members.size)
        world.cells[:, span], world.home[span] = world.cells[:, members], homes
        self.members += members.tolist()
        self.of_row.append(-1 - number)
        game.ticket = row
        heappush(self.changes, (now + self.service.timeout, number))
        record = world.rows.tickets[row : row + 1]
        record[:] = np.zeros(1, t.TICKET)
        record["time"], record["cancel"] = now, game.end
        record["first"], record["players"] = first, members.size
        record["running"], record["matchable"] = 1, 1
        record["partition"] = self.partitions[members[0]]
        note_tickets(row, row + 1, world)

    def _make_room(self) -> None:
        """Make room for one more backfill ticket, and all that such tickets have."""
        size, world, queue = self.world.rows.tickets.size, self.world, self.queue
        if len(self.of_row) - self.arrived < size - self.drawn:  # those of backfill tickets
            return
        more = max(size - self.drawn, ROOM)
        rows = Rows._make(_longer(values, more) for values in world.rows)
        rows.tickets["time"][len(self.of_row) :] = np.inf  # of rows that nobody has yet
        self.world = world._replace(
            cells=_longer(world.cells, more * self.places, 1),
            home=_longer(world.home, more * self.places),
            rows=rows,
        )
        self.queue = queue._replace(
            slots=_longer(queue.slots, more),
            lists=_longer(queue.lists, more, 1),
            matches=_longer(queue.matches, more),
            matched=_longer(queue.matched, more, 1),
        )


def _longer(values: Values, more: int, axis: int = 0) -> Values:
    """Return an array with room for more along an axis."""
    shape = list(values.shape)
    shape[axis] = more
    return cast(Values, np.concatenate([values, np.zeros(shape, values.dtype)], axis))


def play_with_games(
    table: Table,
    tickets: Tickets,
    service: Service,
    search: Search,
    serving: Serving,
    counted_from: float | None = None,
) -> tuple[Played, Backfills]:
    """Play drawn tickets with the games that they begin, whose servers ask for players."""
    return Servers(table, tickets, service, search, serving, counted_from).play(table)
