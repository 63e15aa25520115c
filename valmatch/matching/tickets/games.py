"""Games that run: players leave them, and game servers ask for others in their place.

What changes about games is seen after each review, and a backfill ticket comes at the next one,
after the others that have come by then. Kernels go by the numbers of tickets as by age, and nobody
knows before how many backfill tickets there will be: so drawn tickets are copied into rows as they
come, in one order with those that servers ask for. A row of a backfill ticket is made of those of
its players as if each were a ticket.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from valmatch.kernels.arrays import Floats, Ints, Records, Words
from valmatch.matching.tickets import layout as t
from valmatch.matching.tickets.arrays import arrays_of, queue_of
from valmatch.matching.tickets.columns import Played, Search, Service, Tickets, spans
from valmatch.matching.tickets.driving import play
from valmatch.matching.tickets.layout import Parts, Rows
from valmatch.matching.tickets.playing import check_crowd, played_of
from valmatch.rule_sets.table import Table

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
        self.world, self.sources = arrays_of(table, tickets, service, search, counted)
        self.world.options["counted_from"] = counted_from or 0.0
        self.queue, self.arrivals = queue_of(self.world), self.world.rows
        alone = tickets._replace(
            times=np.zeros(self.people),
            cancels=np.full(self.people, np.inf),
            sizes=np.ones(self.people, np.int64),
            answers=np.empty((self.people, 0)),
        )
        self.singles = arrays_of(table, alone, Service(0.0, 0.0), "pass", counted)[0].rows
        self.partitions = np.repeat(self.arrivals.tickets["partition"], tickets.sizes)
        self.places = table.largest
        self.games: list[Game] = []
        self.of_row: list[int] = []  # of each row the drawn ticket; or -1 less the game that asked
        self.of_match: list[int] = []  # of each match that was made the game
        self.members: list[int] = []  # players of backfill tickets, as drawn players
        self.backfilled, self.parts = 0, 0  # backfill tickets, and their teams
        self.arrived = 0  # drawn tickets that have rows
        self.pending: set[int] = set()  # games whose servers wait for answers to what they asked
        self.changes: list[tuple[float, int]] = []  # when which game may have changed
        self._make_room()

    def play(self) -> None:
        """Let tickets come and games run until the horizon."""
        while play(self._look(), self.world, self.queue):
            pass
        self._note_matches()
        check_crowd(self.queue)

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
        made: Ints = self.queue.lists[t.MADE, len(self.of_match) : self.queue.state[0]["completed"]]
        return {self._note_match(match) for match in made.tolist()}

    def _note_match(self, match: int) -> int:
        """Begin a game with the tickets of a match, or let those join that it was short of."""
        record = self.queue.matches[match]
        span = slice(record["first"], record["first"] + record["tickets"])
        members = [
            (self.of_row[row], team) for row, team in zip(*self.queue.matched[:, span], strict=True)
        ]
        askers = [-1 - of for of, _ in members if of < 0]
        number, now = askers[0] if askers else len(self.games), float(record["time"])
        if not askers:
            self.games.append(Game(now + self.serving.seconds))
        game = self.games[number]
        game.ticket, game.changed = None, True
        self.of_match.append(number)
        for of, team in members:
            if of < 0:
                continue
            ticket = self.arrivals.tickets[of]
            for player in range(ticket["first"], ticket["first"] + ticket["players"]):
                stays, left = float(self.serving.stays[player]), max(game.end - now, 0.0)
                leaves = now + stays * left if stays < 1.0 else math.inf
                game.players.append((player, int(team), leaves))
                if self.serving.leavers and stays < 1.0:
                    heappush(self.changes, (leaves, number))
        return number

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
        teams, order = np.unique(homes), np.argsort(homes, kind="stable")
        record = world.rows.tickets[row : row + 1]
        record[:] = np.zeros(1, t.TICKET)
        record["time"], record["cancel"] = now, game.end
        record["first"], record["players"] = first, members.size
        record["running"], record["matchable"] = 1, 1
        record["partition"] = self.partitions[members[0]]
        record["first_part"], record["parts"] = self.parts, teams.size
        world.rows.values[row] = self._values(members)
        sizes = np.append(members.size, np.bincount(homes)[teams])
        people = np.append(members, members[order])
        stats, marks = self._tallies(people, sizes, world.rows.values[row])
        world.rows.stats[row], world.rows.marks[row] = stats[0], marks[0]
        parts = slice(self.parts, self.parts + teams.size)
        world.parts.teams["team"][parts], world.parts.teams["players"][parts] = teams, sizes[1:]
        world.parts.stats[parts], world.parts.marks[parts] = stats[1:], marks[1:]
        self.parts += teams.size
        self.backfilled += 1

    def _values(self, members: Ints) -> Floats:
        """Return what stands for some players: NaN where a value is."""
        values = self.singles.values[members]
        low, high = values.min(axis=0), values.max(axis=0)
        total = values.cumsum(axis=0)[-1]  # one after the other, as compiled code adds
        stands: dict[int, Floats] = {
            t.LEAST: low,
            t.GREATEST: high,
            t.MEAN: total / members.size,
            t.TOTAL: total,
            t.SAME: np.where(low == high, low, np.nan),
            t.FIRST: values[0],
        }
        parties = self.sources.parties
        return np.array([stands[party][k] for k, party in enumerate(parties)], np.float64)

    def _tallies(self, people: Ints, sizes: Ints, values: Floats) -> tuple[Records, Words]:
        """Return what groups of players add to tallies; values are of the ticket."""
        sources, singles = self.sources, self.singles.stats[people]
        firsts, of = np.cumsum(sizes) - sizes, np.repeat(np.arange(sizes.size), sizes)
        stats = np.zeros((sizes.size, singles.shape[1]), t.STAT)
        stats["low"] = np.minimum.reduceat(singles["low"], firsts)
        stats["high"] = np.maximum.reduceat(singles["high"], firsts)
        stats["players"] = sizes[:, np.newaxis]
        for column, first in enumerate(sources.stats):
            if first == t.NONE:  # one after the other, as compiled code adds
                stats["total"][:, column] = np.bincount(of, singles["total"][:, column])
            else:
                stats["low"][:, column] = stats["high"][:, column] = values[first]
        marks: Words = np.bitwise_and.reduceat(self.singles.marks[people], firsts)
        for column, first in enumerate(sources.marks):
            first += t.PING_HIGH
            pings = values[first : first + t.REGION * self.world.options[0]["regions"] : t.REGION]
            bits = np.uint64(1) << np.arange(pings.size, dtype=np.uint64)
            within = bits[pings <= sources.limits[column]]
            marks[:, column] = np.bitwise_or.reduce(within, initial=0)
        return stats, marks

    def _make_room(self) -> None:
        """Make room for one more backfill ticket, and all that such tickets have."""
        size, world, queue = self.world.rows.tickets.size, self.world, self.queue
        if self.backfilled < size - self.drawn:
            return
        more = max(size - self.drawn, ROOM)
        rows = Rows._make(_longer(values, more) for values in world.rows)
        rows.tickets["time"][len(self.of_row) :] = np.inf  # of rows that nobody has yet
        self.world = world._replace(
            cells=_longer(world.cells, more * self.places, 1),
            home=_longer(world.home, more * self.places),
            rows=rows,
            parts=Parts._make(_longer(values, more * world.teams.size) for values in world.parts),
        )
        self.queue = queue._replace(
            slots=_longer(queue.slots, more),
            lists=_longer(queue.lists, more, 1),
            matches=_longer(queue.matches, more),
            matched=_longer(queue.matched, more, 1),
        )

    def backfills(self) -> Backfills:
        """Return the backfill tickets that have come by the horizon."""
        used = len(self.of_row)
        of_row, slots = np.array(self.of_row, np.int64), self.queue.slots[:used]
        rows = np.flatnonzero((of_row < 0) & (slots["status"] > 0))
        records: Records = self.world.rows.tickets[rows]
        people = spans(records["first"], records["players"])
        return Backfills(
            -1 - of_row[rows],
            records["time"].copy(),
            slots["end"][rows],
            slots["status"][rows],
            records["players"].copy(),
            np.array(self.members, np.int64)[people - self.people],
            self.world.home[people],
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
    servers = Servers(table, tickets, service, search, serving, counted_from)
    servers.play()
    of_row, games = np.array(servers.of_row, np.int64), np.array(servers.of_match, np.int64)
    played = played_of(table, servers.queue, of_row, games, tickets.times.size)
    return played, servers.backfills()
