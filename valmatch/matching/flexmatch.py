"""Rule sets: parties wait, and play when the rule set that a game deploys lets them.

A ticket is a leader with those who come along. Who plays with whom is found by the kernels of
`valmatch.matching.tickets`.
"""

from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Ints, Records
from valmatch.kernels.compilation import macro, part
from valmatch.kernels.references import by_reference
from valmatch.matching.tickets import layout as t
from valmatch.matching.tickets.arrays import ROUNDING, arrays_of, queue_of
from valmatch.matching.tickets.columns import Service, Tickets
from valmatch.matching.tickets.judging import note_ticket
from valmatch.matching.tickets.layout import Queue, Rows, World
from valmatch.matching.tickets.search import next_wait
from valmatch.matching.tickets.search import review as search
from valmatch.rule_sets.table import Table

# All players have the same of every attribute but one, the skill. Tickets take the numbers of a
# world in order; when there is no number left those who wait are numbered anew, in the same order.
# A review finds nothing where nothing has changed since the last one.

HOUR = 3600.0

SOME_SKILL = 1000.0 * np.pi  # a skill whose sums are not exact, as those of ratings are not

STATE = np.dtype(
    [
        ("waiting", "i8"),  # players
        ("ticks", "i8"),
        ("changed", "i8"),  # whether somebody has come or gone since the last review
        ("next_wait", "f8"),  # when a ticket passes a wait
    ]
)

LEAST_ROOM = 1024
"""Tickets that there are numbers for at least, so that they are seldom numbered anew."""


def options_of(table: Table, attribute: str, largest: int) -> dict[str, object]:
    """Return the parameters that follow from a rule set, for tickets of up to so many players."""
    tickets = Tickets(
        times=np.zeros(1),
        cancels=np.full(1, np.inf),
        sizes=np.full(1, largest),
        values={attribute: np.full(largest, SOME_SKILL)},
        regions=(),
        latencies=np.empty((largest, 0)),
        answers=np.empty((1, 0)),
        rng_key=np.zeros(3, np.uint64),
    )
    service = Service(timeout=np.inf, horizon=np.inf, review=None)
    # No partitions, numbered for tickets that are all known: as for an exhaustive search.
    world = arrays_of(table, tickets, service, "exhaustive", False)
    world.rows.tickets["matchable"] = 1
    names = [attribute.name for attribute in table.attributes]
    return {
        "skill": names.index(attribute),
        "ids": len(names),
        "world": world._replace(
            options=world.options._replace(exhaustive=False), waits=world.waits / HOUR
        ),
    }


class Parameters(NamedTuple):
    """A rule set as the queue reads it."""

    team_num: int  # players on each of its two teams
    horizon: float  # hours; no review of the rule's own happens at or after it
    review_seconds: float  # time between reviews; 0: whenever something changes
    # skill, ids: rows of `World.cells`: the attribute that is the skill, and who players are
    skill: int
    ids: int
    world: World  # of one ticket, with the most players; in hours


class QueueState(NamedTuple):
    """Who waits."""

    state: Records  # (1,)
    # (n,); what the rule sees of everybody (`seen`), whose ticket a player is on (`leader`), and up
    # to how many numbers on from a leader those are who may be on the ticket (`friends`)
    people: Records
    # what is known of tickets, in hours; the players of the ticket k are numbered from k times the
    # most of a ticket on
    world: World
    line: Queue  # who waits, by number of the ticket, and what a review has found
    members: Ints  # who the players of the world are; the first of a ticket is the leader


def new(capacity: int, rules: Parameters) -> QueueState:
    """Return an empty queue with room for `capacity` tickets or more."""
    tickets, known = max(capacity, LEAST_ROOM), rules.world
    largest = known.home.size
    players = largest * tickets
    cells = np.repeat(known.cells[:, :1], players, axis=1)
    cells[rules.ids] += np.arange(players)
    rows = Rows(*(np.zeros((tickets, *row.shape[1:]), row.dtype) for row in known.rows))
    rows.tickets[:] = known.rows.tickets
    rows.tickets["first"] = largest * np.arange(tickets)
    world = known._replace(
        rules=known.rules.copy(), cells=cells, home=np.full(players, t.NONE, np.int64), rows=rows
    )
    state = np.zeros(1, STATE)
    state["next_wait"] = np.inf
    people, members = np.zeros(0, np.void), np.zeros(players, np.int64)
    return QueueState(state, people, world, queue_of(world), members)


def grown(queue: QueueState, rules: Parameters) -> QueueState:
    """Return a copy of a queue, numbered from 0 on, with twice the room where half is taken."""
    world, line = queue.world, queue.line
    old, n = world.rows.tickets.size, int(line.state[0]["waiting"])
    large = new(2 * old if 2 * n >= old else old, rules)
    waiting, largest = line.lists[t.LINE, :n], rules.world.home.size
    for target, source in zip(large.world.rows, world.rows, strict=True):
        target[:n] = source[waiting]
    large.world.rows.tickets["first"][:n] = largest * np.arange(n)
    players = (largest * waiting[:, np.newaxis] + np.arange(largest)).ravel()
    large.world.cells[rules.skill, : players.size] = world.cells[rules.skill, players]
    large.world.rules[:] = world.rules
    large.members[: players.size] = queue.members[players]
    large.line.lists[t.LINE, :n] = np.arange(n)
    large.line.slots["status"][:n], large.line.slots["news"][:n] = t.WAITING, t.NEW
    large.line.slots["age"][:n] = line.slots["age"][waiting]
    large.line.state["joined"] = large.line.state["waiting"] = n
    large.state[:] = queue.state
    return large._replace(people=queue.people)


@macro
def has_room(rules: Parameters, queue: QueueState) -> bool:
    """Return whether there is a number for another ticket; see `grown`."""
    return bool(queue.line.state[0]["joined"] < queue.world.rows.tickets.size)


@macro
def next_review(rules: Parameters, queue: QueueState) -> float:
    """Return when a ticket next passes a wait, or when the next tick is."""
    due = queue.state[0]["next_wait"]
    if rules.review_seconds > 0.0:
        due = (queue.state[0]["ticks"] + 1) * rules.review_seconds / HOUR
    return due if due < rules.horizon else np.inf


@part
def enqueue(now: float, rating: float, player: int, rules: Parameters, queue: QueueState) -> int:
    """Let a leader wait with those who come along; return the number of the ticket."""
    world, state, size, largest = queue.world, queue.state[0], 0, 0.0
    ticket = queue.line.state[0]["joined"]
    record = world.rows.tickets[ticket]
    for member in range(player, player + queue.people[player]["friends"]):
        if queue.people[member]["leader"] == player:
            queue.members[record["first"] + size] = member
            seen = queue.people[member]["seen"]
            world.cells[rules.skill, record["first"] + size] = seen
            largest = max(largest, abs(seen))
            size += 1
    record["time"], record["players"] = now, size
    for rule in range(world.rules.size):
        if world.rules[rule]["slack"] > 0.0:
            world.rules[rule]["slack"] = max(world.rules[rule]["slack"], ROUNDING * largest)
    note_ticket(ticket, by_reference(world))
    slot, line = queue.line.slots[ticket], queue.line.state[0]
    slot["status"], slot["news"], slot["age"] = t.WAITING, t.NEW, 0
    queue.line.lists[t.LINE, line["waiting"]] = ticket
    line["joined"] += 1
    line["waiting"] += 1
    state["waiting"] += size
    state["changed"] = 1
    if world.waits.size > 0:
        state["next_wait"] = min(state["next_wait"], now + world.waits[0])
    return int(ticket)


@part
def leave(player: int, rules: Parameters, queue: QueueState) -> bool:
    """Let a leader and all on the ticket leave; no review is due by it."""
    state, line, lists = queue.state[0], queue.line.state[0], queue.line.lists
    index = 0
    while queue.members[queue.world.rows.tickets[lists[t.LINE, index]]["first"]] != player:
        index += 1
    ticket = lists[t.LINE, index]
    queue.line.slots[ticket]["status"] = t.CANCELLED
    state["waiting"] -= queue.world.rows.tickets[ticket]["players"]
    line["waiting"] -= 1
    for k in range(index, line["waiting"]):
        lists[t.LINE, k] = lists[t.LINE, k + 1]
    state["changed"], state["next_wait"] = 1, next_wait(queue.world, queue.line)
    return False


@part
def review(now: float, newcomer: int, rules: Parameters, queue: QueueState) -> int:
    """Look for matches if something has changed; return their number."""
    state, line = queue.state[0], queue.line.state[0]
    if rules.review_seconds > 0.0:
        if newcomer >= 0:
            return 0
        state["ticks"] += 1
        if not state["changed"] and now < state["next_wait"]:
            return 0
    line["matches"], line["listed"], line["proposals"] = 0, 0, 0
    search(now, by_reference(queue.world), by_reference(queue.line))
    state["changed"] = 0
    state["waiting"] -= 2 * rules.team_num * line["matches"]
    state["next_wait"] = next_wait(queue.world, queue.line)
    return int(line["matches"])


@part
def players_of_match(match: int, rules: Parameters, queue: QueueState, lineup: Records) -> None:
    """Give the players of a match: the first team first, tickets in the order of their taking."""
    record, line = queue.line.matches[match], queue.line
    for team in range(2):
        seat = team * rules.team_num
        for k in range(record["first"], record["first"] + record["tickets"]):
            if line.matched[1, k] != team:
                continue
            ticket = queue.world.rows.tickets[line.matched[0, k]]
            for player in range(ticket["first"], ticket["first"] + ticket["players"]):
                lineup[seat]["player"] = queue.members[player]
                seat += 1
