"""The arrays of a world, made of a table, tickets and how the service ticks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Floats, Ints, Records
from valmatch.kernels.halting import watched
from valmatch.matching.tickets.building_rules import RuleArrays, rule_arrays
from valmatch.matching.tickets.building_tallies import Members, tallies_of
from valmatch.matching.tickets.layout import (
    ANSWER,
    CAMP,
    CELL,
    GROWING,
    JUDGED,
    KEPT,
    LIST,
    MATCH,
    NESTED,
    NONE,
    OPTIONS,
    PART,
    PING,
    SLOT,
    SORT,
    STAT,
    STATE,
    TEAM,
    TICKET,
    Facts,
    Queue,
    Seats,
    Tallies,
    World,
)
from valmatch.rule_sets.table import Ordered, Party, Reached, Spread, Table
from valmatch.rule_sets.worlds import Search, Service, Ticket


def added(values: Sequence[float]) -> float:
    """Return a sum in the order of the values, as compiled code adds; Python 3.12 compensates."""
    total = 0.0
    for value in values:
        total += value
    return total


OF_PARTY: dict[Party, Callable[[Sequence[float]], float]] = {
    "min": min,
    "max": max,
    "avg": lambda values: added(values) / len(values),
}


def world_of(
    table: Table,
    tickets: Sequence[Ticket],
    service: Service,
    search: Search,
    counted: bool = True,
) -> World:
    """Return the arrays of a world."""
    texts: dict[str, int] = {}
    rules = rule_arrays(table, texts)
    records, home = _tickets(table, tickets)
    parts, members = _parts(records, home)
    cells, items = _cells(table, tickets, texts)
    facts = Facts(
        rules.rules,
        rules.aggregates,
        rules.links,
        rules.steps,
        cells,
        items,
        _spreads(table, tickets, texts),
        _pings(table, tickets),
    )
    tallies = tallies_of(table, rules, facts, members, counted, search == "exhaustive")
    options = _options(table, service, search)
    options["counted"] = counted
    options["common"], options["swift"] = tallies.common, tallies.swift
    sorts, sort_values = _sorts(table, tickets)
    records["camp"] = tallies.camps
    return World(
        options,
        facts._replace(links=tallies.links),
        _teams(table, rules),
        records,
        parts,
        home,
        tallies.own,
        tallies.own_marks,
        tallies.order,
        sorts,
        sort_values,
        _batch_values(table, tickets),
        _answers(tickets),
        np.array(table.waits, np.float64),
        Streams(service.seed).place(service.replication),
    )


def _options(table: Table, service: Service, search: Search) -> Records:
    """Return how matches are searched for, and when."""
    options = np.zeros(1, OPTIONS)
    options["oldest"] = table.oldest
    options["exhaustive"] = search == "exhaustive"
    options["batch_size"] = service.batch_size or 0
    options["sorted"] = table.search.batches == "sorted"
    options["backfill"] = ("normal", "high", "low").index(table.search.backfill)
    options["passes"] = service.passes or 0
    options["timeout"], options["horizon"] = service.timeout, service.horizon
    options["review"], options["acceptance"] = service.review or 0.0, service.acceptance or 0.0
    return options


def _teams(table: Table, rules: RuleArrays) -> Records:
    """Return the teams with their step functions."""
    teams = np.zeros(len(table.teams), TEAM)
    for record, team, (least, most) in zip(teams, table.teams, rules.teams, strict=True):
        record["least"], record["most"] = least, most
        record["ever"] = max(cast("tuple[float, ...]", team.most.values))
    return teams


def _tickets(table: Table, tickets: Sequence[Ticket]) -> tuple[Records, Ints]:
    """Return the tickets, and of players of games that run the teams."""
    names = [team.name for team in table.teams]
    records = np.zeros(len(tickets), TICKET)
    home: list[int] = []
    answers = 0
    for record, ticket in zip(records, tickets, strict=True):
        record["time"] = ticket.time
        record["cancel"] = np.inf if ticket.cancel is None else ticket.cancel
        record["first"], record["players"] = len(home), len(ticket.players)
        record["running"] = ticket.running
        record["matchable"] = not missing(table, ticket)
        record["first_answer"], record["answers"] = answers, len(ticket.answers)
        answers += len(ticket.answers)
        home += [names.index(one.team) if ticket.running else NONE for one in ticket.players]
    return records, np.array(home, np.int64)


def _parts(records: Records, home: Ints) -> tuple[Records, Members]:
    """Return the teams of tickets of games that run, and who is in each row of tallies."""
    parts: list[tuple[int, int, int]] = []
    of_parts: list[tuple[int, list[int]]] = []
    for number in np.flatnonzero(records["running"]):
        record = records[number]
        record["first_part"] = len(parts)
        players = range(record["first"], record["first"] + record["players"])
        for team in dict.fromkeys(home[list(players)].tolist()):
            own = [player for player in players if home[player] == team]
            parts.append((team, len(own), len(records) + len(parts)))
            of_parts.append((int(number), own))
        record["parts"] = len(parts) - record["first_part"]
    return np.array(parts, PART), Members(records, of_parts)


def missing(table: Table, ticket: Ticket) -> list[str]:
    """Return the attributes for which a player of a ticket has no value: it cannot be matched."""
    return [
        attribute.name
        for attribute in table.attributes
        if attribute.default is None
        and any(attribute.name not in player.attributes for player in ticket.players)
    ]


def _value(table: Table, player: Any, number: int) -> Any:  # noqa: ANN401
    """Return an attribute of a player, or its default; None if it has neither."""
    attribute = table.attributes[number]
    return player.attributes.get(attribute.name, attribute.default)


def _cells(
    table: Table, tickets: Sequence[Ticket], texts: dict[str, int]
) -> tuple[Records, Floats]:
    """Return values of all players, and what is in their lists; the last column are their ids."""
    players = [player for ticket in tickets for player in ticket.players]
    cells = np.zeros((len(table.attributes) + 1, len(players)), CELL)
    cells["value"] = np.nan
    items: list[int] = []
    for number, attribute in enumerate(table.attributes):
        for cell, player in zip(cells[number], players, strict=True):
            value = _value(table, player, number)
            if attribute.kind == "number" and value is not None:
                cell["value"] = value
            elif attribute.kind == "text" and value is not None:
                cell["value"] = texts.setdefault(value, len(texts))
            elif attribute.kind == "texts":
                cell["first"] = len(items)
                items += [texts.setdefault(text, len(texts)) for text in value or ()]
                cell["end"] = len(items)
    cells[-1]["value"] = [texts.setdefault(player.id, len(texts)) for player in players]
    return cells, np.array(items, np.float64)


def _spreads(table: Table, tickets: Sequence[Ticket], texts: dict[str, int]) -> Floats:
    """Return the values of tickets that rules of spreads compare."""
    rules = [rule.predicate for rule in table.rules if isinstance(rule.predicate, Spread)]
    spreads = np.full((len(rules), len(tickets)), np.nan)
    for row, rule in enumerate(rules):
        for k, ticket in enumerate(tickets):
            own = [_value(table, player, rule.attribute) for player in ticket.players]
            if None in own:
                continue
            if isinstance(own[0], str):
                if len(set(own)) == 1:
                    spreads[row, k] = texts[own[0]]
            else:
                spreads[row, k] = OF_PARTY[rule.party](own)
    return spreads


def _regions(tickets: Sequence[Ticket]) -> list[str]:
    """Return all regions that somebody reports."""
    return sorted(
        {region for one in tickets for player in one.players for region in player.latency}
    )


def _pings(table: Table, tickets: Sequence[Ticket]) -> Records:
    """Return what stands for each ticket in each region, by rule."""
    regions = _regions(tickets)
    rules = [rule.predicate for rule in table.rules if isinstance(rule.predicate, Reached)]
    pings = np.zeros((len(rules), len(tickets), len(regions)), PING)
    pings["ping"] = np.nan
    for row, rule in enumerate(rules):
        for k, ticket in enumerate(tickets):
            for column, region in enumerate(regions):
                own = [one.latency[region] for one in ticket.players if region in one.latency]
                if len(own) == len(ticket.players):
                    pings[row, k, column] = *ping_of(own, rule), added(own), min(own)
    return pings


def ping_of(own: Sequence[float], rule: Reached) -> tuple[float, float]:
    """Return the highest and the lowest number that counts of a ticket, given its players'."""
    if rule.each:
        return max(own), min(own)
    value = OF_PARTY[rule.party](own)
    return value, value


def _sorts(table: Table, tickets: Sequence[Ticket]) -> tuple[Records, Floats]:
    """Return the orders of an anchor's others, first the most important."""
    rules = [rule.predicate for rule in table.rules if isinstance(rule.predicate, Ordered)]
    if table.search.balance is not None:
        rules.append(Ordered(table.search.balance, True, False, "", "avg"))
    sorts = np.zeros(len(rules), SORT)
    found = [_sort_values(table, tickets, rule) for rule in rules]
    most = max((values.shape[1] for values, _ in found), default=1)
    every = np.full((len(rules), len(tickets), most + 1), np.nan)
    for row, (rule, (values, own)) in enumerate(zip(rules, found, strict=True)):
        sorts[row]["from_anchor"], sorts[row]["descending"] = rule.from_anchor, rule.descending
        every[row, :, : values.shape[1]], every[row, :, -1] = values, own
    return sorts, every


def _sort_values(
    table: Table, tickets: Sequence[Ticket], rule: Ordered
) -> tuple[Floats, NDArray[np.int64]]:
    """Return the values of tickets by key, and which key counts for each of them as anchor.

    Of a map the values of a party are of those players who have the key; of keys with the same
    value the one that comes first in the alphabet counts.
    """
    party = OF_PARTY[rule.party]
    lists = [
        [_value(table, player, rule.attribute) for player in ticket.players] for ticket in tickets
    ]
    if not rule.key:
        values = np.array([[np.nan if None in own else party(own)] for own in lists])
        return values.reshape(-1, 1), np.where(np.isnan(values.reshape(-1)), NONE, 0)
    names = sorted({key for own in lists for one in own for key in one or ()})
    values = np.full((len(tickets), max(len(names), 1)), np.nan)
    keys = np.full(len(tickets), NONE, np.int64)
    for k, own in enumerate(lists):
        for column, name in enumerate(names):
            numbers = [one[name] for one in own if one and name in one]
            values[k, column] = party(numbers) if numbers else np.nan
        if not np.isnan(values[k]).all():
            least = np.nanargmin(values[k]) if rule.key == "lowest" else np.nanargmax(values[k])
            keys[k] = least
    return values, keys


def _batch_values(table: Table, tickets: Sequence[Ticket]) -> Floats:
    """Return by what the pool is sorted before it is cut: averages, or places of smallest texts."""
    rows = []
    for number in table.search.batch_order:
        own = [[_value(table, player, number) for player in ticket.players] for ticket in tickets]
        if table.attributes[number].kind == "number":
            rows.append([np.nan if None in one else added(one) / len(one) for one in own])
        else:
            texts = ["" if None in one else min(one) for one in own]
            places = {text: place for place, text in enumerate(sorted(set(texts)))}
            rows.append([places[text] for text in texts])
    return np.array(rows, np.float64).reshape(len(rows), len(tickets))


def _answers(tickets: Sequence[Ticket]) -> Records:
    """Return all answers to proposals."""
    every = [answer or (np.nan, False) for ticket in tickets for answer in ticket.answers]
    return np.array(every, ANSWER)


KEPT_TICKETS = 2**22  # most tickets of matches that are kept between two times that an anchor looks


def room_of_proposals(world: World) -> int:
    """Return how many tickets all proposals of a world have at most; one counts in each of its own.

    A ticket of which an answer is none, late or a refusal is cancelled with the first proposal that
    it spoils, so that no more proposals fail than there are such tickets, each with a match full at
    most; of all others a ticket is in one.
    """
    tickets, most = world.tickets.size, int(world.teams["ever"].sum())
    answers, limit = world.answers, world.options[0]["acceptance"]
    if not limit:
        return tickets
    spoils = ~(answers["seconds"] <= limit) | (answers["accepts"] == 0)
    before = np.concatenate(([0], np.cumsum(spoils)))
    first = world.tickets["first_answer"]
    spoilers = np.count_nonzero(before[first + world.tickets["answers"]] > before[first])
    return tickets + int(spoilers) * min(most, tickets)


def queue_of(world: World) -> Queue:
    """Return an empty queue with room for a world.

    Each match that has been proposed, and that has ended, has ended a ticket, so that there are as
    many matches as tickets at most. What is never used takes no memory.
    """
    tickets, most = world.tickets.size, int(world.teams["ever"].sum())
    kept = max(min(tickets, KEPT_TICKETS // (most + 1)), 1)
    state, slots = watched(np.zeros(1, STATE)), np.zeros(tickets, SLOT)
    state["next_end"] = np.inf
    records = np.zeros(kept, KEPT)
    records["anchor"] = NONE
    room = max(tickets, 1)
    return Queue(
        state,
        slots,
        np.zeros((9, room), np.int64),
        _seats(world, most),
        Tallies(
            world.own,
            world.own_marks,
            np.zeros((world.own.shape[1], world.teams.size + 1), STAT),
            np.zeros((world.own_marks.shape[1], world.teams.size + 1), np.uint64),
        ),
        world.order.copy(),
        np.arange(world.teams.size),
        np.zeros(world.tickets["camp"].max(initial=0) + 1, CAMP),
        records,
        np.zeros((kept, most + 1), np.int64),
        np.zeros(room, MATCH),
        np.zeros((2, max(room_of_proposals(world), 1)), np.int64),
    )


def _seats(world: World, most: int) -> Seats:
    """Return an empty match of at most some players."""
    cells, teams = world.facts.cells, world.teams.size
    lists, longest = most + teams + 1, int((cells["end"] - cells["first"]).max(initial=1))
    rules = world.facts.rules
    return Seats(
        np.zeros(1, GROWING),
        np.zeros((6, most + 1), np.int64),
        np.zeros(teams, np.int64),
        np.zeros((teams, int(world.teams["ever"].max(initial=1))), np.int64),
        np.zeros(max(rules.size, int(rules["parts"].max(initial=0))), JUDGED),
        np.zeros(2, NESTED),
        np.zeros((2, lists * (longest + 1))),
        np.zeros((2, lists), LIST),
    )
