"""Rule sets: parties wait, and play when the rule set that a game deploys lets them.

What a rule set says is a table of `valmatch.rule_sets`, and who plays with whom is found by the
kernels of `valmatch.matching.tickets`, the same ones as in worlds of tickets that are all known.
This is their queue for players who come back: a ticket is a leader with those who come along.

Reviews are held at every joining and whenever a ticket passes a wait of an expansion; or by the
clock. What has not changed since the last review finds nothing at the next one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats, Ints, Records
from valmatch.kernels.compilation import macro, part
from valmatch.kernels.references import by_reference
from valmatch.matching.queue import no_waiting_teams
from valmatch.matching.tickets import layout as t
from valmatch.matching.tickets.layout import Queue, World
from valmatch.matching.tickets.rolling import HOUR, Template, enter, move, room_for
from valmatch.matching.tickets.search import review as search

STATE = np.dtype(
    [
        ("waiting", "i8"),  # players
        ("formed", "i8"),  # teams so far
        ("found", "i8"),  # matches of the last review
        ("ticks", "i8"),
        ("changed", "i8"),  # whether somebody has come or gone since the last review
        ("next_wait", "f8"),  # when a ticket passes a wait
    ]
)

KNOWN = np.dtype([("seen", "f8"), ("leader", "i8"), ("friends", "i8")])
"""What has to be known of a player."""

LEAST_ROOM = 1024
"""Tickets that there are numbers for at least, so that they are seldom numbered anew."""


class Parameters(NamedTuple):
    """A rule set as the queue reads it."""

    team_num: int  # players on each of its two teams
    horizon: float  # hours; no review of the rule's own happens at or after it
    review_seconds: float  # time between reviews; 0: whenever something changes
    template: Template  # what is known of tickets before they come, rules included


class QueueState(NamedTuple):
    """Who waits."""

    state: Records  # (1,)
    # (n,); what the rule sees of everybody (`seen`), whose ticket a player is on (`leader`), and up
    # to how many numbers on from a leader those are who may be on his ticket (`friends`)
    people: Records
    world: World  # what is known of tickets, in hours
    line: Queue  # who waits, by number of the ticket, and what a review has found
    members: Ints  # who the players of the world are; the first of a ticket is the leader


def new(capacity: int, rules: Parameters) -> QueueState:
    """Return an empty queue with room for `capacity` tickets or more."""
    world, line = room_for(max(capacity, LEAST_ROOM), rules.template)
    state = np.zeros(1, STATE)
    state["next_wait"] = np.inf
    members = np.zeros(world.home.size, np.int64)
    return QueueState(state, np.zeros(0, KNOWN), world, line, members)


@macro
def reset(queue: QueueState) -> None:
    """Empty the queue for the next replication."""
    queue.state.view(np.uint8)[:] = 0
    queue.state["next_wait"][:] = np.inf
    queue.line.state.view(np.uint8)[:] = 0
    queue.line.slots.view(np.uint8)[:] = 0
    queue.line.saved["anchor"][:] = t.NONE


def grown(queue: QueueState, rules: Parameters) -> QueueState:
    """Return a copy of a queue in which those who wait are numbered from 0 on.

    It has twice the room if they would fill the half of it.
    """
    old = queue.world.rows.tickets.size
    large = new(2 * old if 2 * queue.line.state[0]["waiting"] >= old else old, rules)
    tickets = move(queue.world, queue.line, large.world, large.line, rules.template)
    largest = queue.members.size // old
    players = (largest * tickets[:, np.newaxis] + np.arange(largest)).ravel()
    large.members[: players.size] = queue.members[players]
    large.state[:] = queue.state
    return large._replace(people=queue.people)


waiting_teams = no_waiting_teams


@part(inline=True)
def has_room(rules: Parameters, queue: QueueState) -> bool:
    """Return whether there is a number for another ticket; see `grown`."""
    return bool(queue.line.state[0]["joined"] < queue.world.rows.tickets.size)


@part(inline=True)
def next_review(rules: Parameters, queue: QueueState) -> float:
    """Return when a ticket next passes a wait, or when the next tick is."""
    due = queue.state[0]["next_wait"]
    if rules.review_seconds > 0.0:
        due = (queue.state[0]["ticks"] + 1) * rules.review_seconds / HOUR
    return due if due < rules.horizon else np.inf


@part
def enqueue(now: float, rating: float, player: int, rules: Parameters, queue: QueueState) -> int:
    """Let a leader wait with those who come along; return the number of the ticket."""
    template, world, state = rules.template, queue.world, queue.state[0]
    ticket = queue.line.state[0]["joined"]
    first, size = world.rows.tickets[ticket]["first"], 0
    for member in range(player, player + queue.people[player]["friends"]):
        if queue.people[member]["leader"] == player:
            queue.members[first + size] = member
            seen = queue.people[member]["seen"]
            world.cells[template.skill, first + size]["value"] = seen
            size += 1
    enter(ticket, now, size, template, world)
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
def leave(arrival: float, player: int, rules: Parameters, queue: QueueState) -> bool:
    """Let a leader and all on the ticket leave; no review is due by it."""
    state, line, lists = queue.state[0], queue.line.state[0], queue.line.lists
    place = 0
    while queue.members[queue.world.rows.tickets[lists[t.LINE, place]]["first"]] != player:
        place += 1
    ticket = lists[t.LINE, place]
    queue.line.slots[ticket]["status"] = t.CANCELLED
    state["waiting"] -= queue.world.rows.tickets[ticket]["players"]
    line["waiting"] -= 1
    for k in range(place, line["waiting"]):
        lists[t.LINE, k] = lists[t.LINE, k + 1]
    state["changed"] = 1
    _expect(queue)
    return False


@part(inline=True)
def _expect(queue: QueueState) -> None:
    """Note when the next ticket passes a wait."""
    moment, waits = np.inf, queue.world.waits
    for k in range(queue.line.state[0]["waiting"]):
        ticket = queue.line.lists[t.LINE, k]
        age = queue.line.slots[ticket]["age"]
        if age < waits.size:
            moment = min(moment, queue.world.rows.tickets[ticket]["time"] + waits[age])
    queue.state[0]["next_wait"] = moment


@part
def review(now: float, newcomer: int, rules: Parameters, queue: QueueState) -> int:
    """Look for matches if something has changed; return their number.

    By the clock, newcomers wait for the next tick.
    """
    state, line = queue.state[0], queue.line.state[0]
    if rules.review_seconds > 0.0:
        if newcomer >= 0:
            return 0
        state["ticks"] += 1
        if not state["changed"] and now < state["next_wait"]:
            return 0
    line["matches"], line["listed"], line["proposals"] = 0, 0, 0
    search(now, by_reference(queue.world), by_reference(queue.line))
    state["changed"], state["found"] = 0, line["matches"]
    state["formed"] += 2 * line["matches"]
    state["waiting"] -= 2 * rules.team_num * line["matches"]
    _expect(queue)
    return int(line["matches"])


@part
def players_of_match(match: int, rules: Parameters, queue: QueueState, lineup: Records) -> None:
    """Give the players of a match, those of the first team of the rule set first.

    Tickets of a team are in the order in which they were taken.
    """
    found, line, state = queue.line.matches[match], queue.line, queue.state[0]
    number = state["formed"] + 2 * (match - state["found"])
    cells = queue.world.cells
    for team in range(2):
        seat = team * rules.team_num
        for k in range(found["first"], found["first"] + found["tickets"]):
            if line.matched[1, k] != team:
                continue
            ticket = queue.world.rows.tickets[line.matched[0, k]]
            for player in range(ticket["first"], ticket["first"] + ticket["players"]):
                place = lineup[seat]
                place["player"], place["team"] = queue.members[player], number + team
                place["arrival"] = ticket["time"]
                place["rating"] = cells[rules.template.skill, player]["value"]
                seat += 1


@part(inline=True)
def still_waiting(rules: Parameters, queue: QueueState, arrivals: Floats) -> None:
    """Give the arrivals of all who wait, in order."""
    count = 0
    for k in range(queue.line.state[0]["waiting"]):
        ticket = queue.world.rows.tickets[queue.line.lists[t.LINE, k]]
        for _ in range(ticket["players"]):
            arrivals[count] = ticket["time"]
            count += 1
