"""Worlds whose tickets come one by one: what is known of a ticket before, and room for some.

All players have the same of every attribute but one, the skill. So what a ticket adds to tallies,
and by what it is sorted, is that of any ticket of its size, apart from what depends on the skills
of its players. Tickets take the numbers of a world in order; when there is no number left those
who wait are numbered anew, in the same order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Ints
from valmatch.kernels.compilation import inlined, internal
from valmatch.matching.tickets.building import ROUNDING, arrays_of, queue_of
from valmatch.matching.tickets.columns import Tickets
from valmatch.matching.tickets.layout import LINE, NEW, NONE, SPREAD, WAITING, Queue, World
from valmatch.rule_sets.table import Ordered, Party, Spread, Table
from valmatch.rule_sets.worlds import Service

SOME_SKILL = 1000.0 * np.pi  # a skill whose sums are not exact, as those of ratings are not

HOUR = 3600.0

PARTIES: tuple[Party, ...] = ("min", "max", "avg")
LEAST, MOST, MEAN = range(len(PARTIES))
"""What stands for the players of a ticket."""


class Template(NamedTuple):
    """A world with one ticket of each size, and what of a ticket depends on skills."""

    # times are in hours; of the ticket k all but the skills is that of any with k + 1 players
    world: World
    skill: int  # the attribute that is the skill
    columns: Ints  # columns of tallies that are of skills
    # (n, 3); rows of spreads that are, their columns of tallies or NONE, and what stands for a
    # ticket
    spreads: Ints
    sorts: Ints  # (n, 2); sorts that are, and what stands for a ticket


def template_of(table: Table, attribute: str, largest: int) -> Template:
    """Return what is known of tickets before they come."""
    sizes = np.arange(1, largest + 1)
    tickets = Tickets(
        np.zeros(largest),
        np.full(largest, np.inf),
        sizes,
        {attribute: np.full(int(sizes.sum()), SOME_SKILL)},
        (),
        np.empty((int(sizes.sum()), 0)),
        np.empty((largest, 0)),
        np.zeros(3, np.uint64),
    )
    service = Service(timeout=np.inf, horizon=np.inf, review=None)
    # No camps, which are numbered for tickets that are all known: as for an exhaustive search.
    world, _ = arrays_of(table, tickets, service, "exhaustive", False)
    world.options["exhaustive"] = 0
    skill = [one.name for one in table.attributes].index(attribute)
    aggregates = world.facts.aggregates
    own = aggregates["column"][(aggregates["source"] == skill) & (aggregates["column"] != NONE)]
    spreads, sorts, place = [], [], 0
    rows = world.facts.rules[world.facts.rules["kind"] == SPREAD]
    of_spreads = [rule.predicate for rule in table.rules if isinstance(rule.predicate, Spread)]
    for row, one in zip(rows, of_spreads, strict=True):
        if one.attribute == skill:
            column = row["column"] if row["tallied"] else NONE
            spreads.append((row["row"], column, PARTIES.index(one.party)))
    ordered = [rule.predicate for rule in table.rules if isinstance(rule.predicate, Ordered)]
    if table.search.balance is not None:
        ordered.append(Ordered(table.search.balance, True, False, "", "avg"))
    for place, order in enumerate(ordered):
        if order.attribute == skill:
            sorts.append((place, PARTIES.index(order.party)))
    return Template(
        world._replace(waits=world.waits / HOUR),
        skill,
        np.unique(own),
        np.array(spreads, np.int64).reshape(-1, 3),
        np.array(sorts, np.int64).reshape(-1, 2),
    )


def room_for(capacity: int, template: Template) -> tuple[World, Queue]:
    """Return a world with room for so many tickets, of which none has come, and an empty queue.

    The players of the ticket k are numbered from k times the most of a ticket on.
    """
    known = template.world
    facts, largest = known.facts, known.tickets.size
    tickets = np.zeros(capacity, known.tickets.dtype)
    tickets["cancel"], tickets["matchable"] = np.inf, 1
    tickets["first"] = largest * np.arange(capacity)
    cells = np.repeat(facts.cells[:, :1], largest * capacity, axis=1)
    cells["value"][-1] = facts.cells[-1, 0]["value"] + np.arange(largest * capacity)
    world = known._replace(
        options=known.options.copy(),
        facts=facts._replace(
            rules=facts.rules.copy(),
            cells=cells,
            spreads=np.zeros((facts.spreads.shape[0], capacity)),
            pings=np.zeros((facts.pings.shape[0], capacity, 0), facts.pings.dtype),
        ),
        tickets=tickets,
        home=np.full(largest * capacity, NONE, np.int64),
        own=np.zeros((capacity, known.own.shape[1]), known.own.dtype),
        own_marks=np.zeros((capacity, known.own_marks.shape[1]), np.uint64),
        sort_values=np.zeros((known.sorts.size, capacity, known.sort_values.shape[2])),
        batch_values=np.zeros((known.batch_values.shape[0], capacity)),
    )
    return world, queue_of(world)


def move(world: World, queue: Queue, to: World, line: Queue, template: Template) -> Ints:
    """Let those who wait in one world wait in another, an empty one; return who they were."""
    largest = template.world.tickets.size
    waiting = queue.lists[LINE, : queue.state[0]["waiting"]].copy()
    n = waiting.size
    for key in ("time", "players"):
        to.tickets[key][:n] = world.tickets[key][waiting]
    players = (largest * waiting[:, np.newaxis] + np.arange(largest)).ravel()
    skills = to.facts.cells["value"][template.skill]
    skills[: players.size] = world.facts.cells["value"][template.skill, players]
    to.facts.rules[:] = world.facts.rules
    to.facts.spreads[:, :n] = world.facts.spreads[:, waiting]
    to.own[:n], to.own_marks[:n] = world.own[waiting], world.own_marks[waiting]
    to.sort_values[:, :n] = world.sort_values[:, waiting]
    line.lists[LINE, :n] = np.arange(n)
    line.slots["status"][:n], line.slots["news"][:n] = WAITING, NEW
    line.slots["age"][:n] = queue.slots["age"][waiting]
    line.state["joined"] = line.state["waiting"] = n
    return waiting


@inlined
def _of_party(party: int, first: int, players: int, template: Template, world: World) -> float:
    """Return what stands for the skills of the players of a ticket."""
    low, high, total = np.inf, -np.inf, 0.0
    for player in range(first, first + players):
        value = world.facts.cells[template.skill, player]["value"]
        low, high, total = min(low, value), max(high, value), total + value
    if party == LEAST:
        return low
    return high if party == MOST else total / players


@internal
def enter(ticket: int, now: float, players: int, template: Template, world: World) -> None:
    """Note what is known of a ticket, of which the skills of so many players are there already."""
    record, known, facts = world.tickets[ticket], template.world, world.facts
    record["time"], record["players"] = now, players
    first, kind = record["first"], players - 1
    for column in range(world.own.shape[1]):
        world.own[ticket, column] = known.own[kind, column]
    for column in range(world.own_marks.shape[1]):
        world.own_marks[ticket, column] = known.own_marks[kind, column]
    for row in range(facts.spreads.shape[0]):
        facts.spreads[row, ticket] = known.facts.spreads[row, kind]
    for row in range(world.sort_values.shape[0]):
        for key in range(world.sort_values.shape[2]):
            world.sort_values[row, ticket, key] = known.sort_values[row, kind, key]
    largest = 0.0
    for player in range(first, first + players):
        largest = max(largest, abs(facts.cells[template.skill, player]["value"]))
    for rule in range(facts.rules.size):
        if facts.rules[rule]["slack"] > 0.0:
            facts.rules[rule]["slack"] = max(facts.rules[rule]["slack"], ROUNDING * largest)
    for k in range(template.columns.size):
        stat = world.own[ticket, template.columns[k]]
        stat["low"] = _of_party(LEAST, first, players, template, world)
        stat["high"] = _of_party(MOST, first, players, template, world)
        stat["total"] = players * _of_party(MEAN, first, players, template, world)
    for k in range(template.spreads.shape[0]):
        row, column, party = template.spreads[k]
        value = _of_party(party, first, players, template, world)
        facts.spreads[row, ticket] = value
        if column != NONE:
            world.own[ticket, column]["low"] = value
            world.own[ticket, column]["high"] = value
    for k in range(template.sorts.shape[0]):
        row, party = template.sorts[k]
        world.sort_values[row, ticket, 0] = _of_party(party, first, players, template, world)
