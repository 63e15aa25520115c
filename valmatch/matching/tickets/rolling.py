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
from valmatch.kernels.compilation import part
from valmatch.matching.tickets import layout as t
from valmatch.matching.tickets.arrays import ROUNDING, arrays_of, queue_of
from valmatch.matching.tickets.columns import Service, Tickets
from valmatch.matching.tickets.layout import Queue, Rows, World
from valmatch.rule_sets.table import Spread, Table

SOME_SKILL = 1000.0 * np.pi  # a skill whose sums are not exact, as those of ratings are not

HOUR = 3600.0


class Template(NamedTuple):
    """A world with one ticket of each size, and what of a ticket depends on skills."""

    # times are in hours; of the ticket k all but the skills is that of any with k + 1 players
    world: World
    skill: int  # the attribute that is the skill
    stats: Ints  # columns of stats that are of the skills of players
    # spreads, values: (n, 2); columns of stats and of values that are of the skills of tickets, and
    # what stands for a ticket
    spreads: Ints
    values: Ints


def template_of(table: Table, attribute: str, largest: int) -> Template:
    """Return what is known of tickets before they come."""
    sizes = np.arange(1, largest + 1)
    players = int(sizes.sum())
    tickets = Tickets(
        times=np.zeros(largest),
        cancels=np.full(largest, np.inf),
        sizes=sizes,
        values={attribute: np.full(players, SOME_SKILL)},
        regions=(),
        latencies=np.empty((players, 0)),
        answers=np.empty((largest, 0)),
        rng_key=np.zeros(3, np.uint64),
    )
    service = Service(timeout=np.inf, horizon=np.inf, review=None)
    # No partitions, numbered for tickets that are all known: as for an exhaustive search.
    world, sources = arrays_of(table, tickets, service, "exhaustive", False)
    world.options["exhaustive"] = 0
    world.rows.tickets["matchable"] = 1
    skill = [attribute.name for attribute in table.attributes].index(attribute)
    of_skill = world.aggregates[world.aggregates["source"] == skill]["column"]
    spreads = [
        int(record["row"])
        for record, rule in zip(world.rules, table.rules, strict=True)
        if isinstance(rule.predicate, Spread) and rule.predicate.attribute == skill
    ]
    sorts = [
        int(record["first"])
        for record, order in zip(world.sorts, table.sorts, strict=True)
        if order.attribute == skill
    ]
    of_spreads = [(k, sources.parties[c]) for k, c in enumerate(sources.stats) if c in spreads]
    of_values = [(column, sources.parties[column]) for column in (*spreads, *sorts)]
    return Template(
        world._replace(waits=world.waits / HOUR),
        skill,
        np.unique(of_skill[of_skill != t.NONE]),
        np.array(of_spreads, np.int64).reshape(-1, 2),
        np.array(of_values, np.int64).reshape(-1, 2),
    )


def room_for(capacity: int, template: Template) -> tuple[World, Queue]:
    """Return a world with room for so many tickets, of which none has come, and an empty queue.

    The players of the ticket k are numbered from k times the most of a ticket on.
    """
    known = template.world
    largest = known.rows.tickets.size
    players = largest * capacity
    cells = np.repeat(known.cells[:, :1], players, axis=1)
    cells["value"][-1] = known.cells[-1, 0]["value"] + np.arange(players)
    rows = Rows(*(np.zeros((capacity, *row.shape[1:]), row.dtype) for row in known.rows))
    rows.tickets["first"] = largest * np.arange(capacity)
    world = known._replace(
        options=known.options.copy(),
        rules=known.rules.copy(),
        cells=cells,
        home=np.full(players, t.NONE, np.int64),
        rows=rows,
    )
    return world, queue_of(world)


def move(world: World, queue: Queue, to: World, line: Queue, template: Template) -> Ints:
    """Let those who wait in one world wait in another, an empty one; return who they were."""
    largest = template.world.rows.tickets.size
    waiting = queue.lists[t.LINE, : queue.state[0]["waiting"]].copy()
    n = waiting.size
    for target, source in zip(to.rows, world.rows, strict=True):
        target[:n] = source[waiting]
    to.rows.tickets["first"][:n] = largest * np.arange(n)
    players = (largest * waiting[:, np.newaxis] + np.arange(largest)).ravel()
    skills = to.cells["value"][template.skill]
    skills[: players.size] = world.cells["value"][template.skill, players]
    to.rules[:] = world.rules
    line.lists[t.LINE, :n] = np.arange(n)
    line.slots["status"][:n], line.slots["news"][:n] = t.WAITING, t.NEW
    line.slots["age"][:n] = queue.slots["age"][waiting]
    line.state["joined"] = line.state["waiting"] = n
    return waiting


@part
def copy_row(source: Rows, number: int, rows: Rows, row: int) -> None:
    """Copy what is known of a ticket into a row."""
    rows.tickets[row] = source.tickets[number]
    for column in range(rows.stats.shape[1]):
        rows.stats[row, column] = source.stats[number, column]
    for column in range(rows.marks.shape[1]):
        rows.marks[row, column] = source.marks[number, column]
    for column in range(rows.values.shape[1]):
        rows.values[row, column] = source.values[number, column]


@part
def enter(ticket: int, now: float, players: int, template: Template, world: World) -> None:
    """Note what is known of a ticket, of which the skills of so many players are there already."""
    rows, rules = world.rows, world.rules
    copy_row(template.world.rows, players - 1, rows, ticket)
    first = ticket * template.world.rows.tickets.size
    rows.tickets[ticket]["time"], rows.tickets[ticket]["first"] = now, first
    low, high, total = np.inf, -np.inf, 0.0
    for player in range(first, first + players):
        value = world.cells[template.skill, player]["value"]
        low, high, total = min(low, value), max(high, value), total + value
    by_party = low, high, total / players  # LEAST, GREATEST, MEAN
    slack = ROUNDING * max(abs(low), abs(high))
    for rule in range(rules.size):
        if rules[rule]["slack"] > 0.0:
            rules[rule]["slack"] = max(rules[rule]["slack"], slack)
    for k in range(template.stats.size):
        stat = rows.stats[ticket, template.stats[k]]
        stat["low"], stat["high"], stat["total"] = low, high, total
    for k in range(template.spreads.shape[0]):
        column, party = template.spreads[k]
        rows.stats[ticket, column]["low"] = rows.stats[ticket, column]["high"] = by_party[party]
    for k in range(template.values.shape[0]):
        column, party = template.values[k]
        rows.values[ticket, column] = by_party[party]
