"""Worlds of drawn tickets: the arrays made of columns, without an object for each player."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from valmatch.errors import RunError
from valmatch.kernels.arrays import Bools, Floats, Ints, Records, Words
from valmatch.matching.tickets.building import (
    Members,
    TallyArrays,
    queue_of,
    rule_arrays,
    tallies_of,
    world_of,
)
from valmatch.matching.tickets.driving import play as play_kernel
from valmatch.matching.tickets.layout import (
    ANSWER,
    CELL,
    MADE,
    NONE,
    PING,
    TICKET,
    Facts,
    World,
)
from valmatch.matching.tickets.searching import MOST_CANDIDATES, MOST_TRIED
from valmatch.rule_sets.table import Attribute, Ordered, Party, Reached, Spread, Table
from valmatch.rule_sets.worlds import Search, Service


class Texts(NamedTuple):
    """Texts of players."""

    codes: Ints  # (players,); which of the texts each player has
    texts: Sequence[str]


class Lists(NamedTuple):
    """Lists of texts of players."""

    has: Bools  # (players, items); whether a text is in the list of a player
    texts: Sequence[str]


class Columns(NamedTuple):
    """Tickets in order of time; the players of a ticket stand together, in the same order."""

    # times, cancels: (tickets,); seconds; infinity where a ticket is never cancelled
    times: Floats
    cancels: Floats
    sizes: Ints  # (tickets,); players of each
    # by attribute: numbers of players, `Texts` or `Lists`; what is not there has its default
    values: Mapping[str, Floats | Texts | Lists]
    regions: Sequence[str]
    latencies: Floats  # (players, regions)
    # (tickets, proposals); after how many seconds a ticket accepts each proposal; NaN for never
    answers: Floats
    place: Words  # (3,); where the random numbers of batches lie
    # (tickets,); which tickets lack a value without which they cannot be matched; None: no one of
    # them
    lacks: Bools | None = None


def _players_of(sizes: Ints, tickets: Ints) -> Ints:
    """Return the numbers of the players of some tickets, in their order; sizes are of all."""
    own = sizes[tickets]
    firsts = (np.cumsum(sizes) - sizes)[tickets]
    return np.repeat(firsts - (np.cumsum(own) - own), own) + np.arange(own.sum())


def _part_of_values(
    values: Mapping[str, Floats | Texts | Lists], people: Ints
) -> dict[str, Floats | Texts | Lists]:
    """Return what some players have of each attribute."""
    part: dict[str, Floats | Texts | Lists] = {}
    for name, own in values.items():
        if isinstance(own, Texts):
            part[name] = own._replace(codes=own.codes[people])
        elif isinstance(own, Lists):
            part[name] = own._replace(has=own.has[people])
        else:
            part[name] = own[people]
    return part


def chosen_columns(columns: Columns, tickets: Ints, times: Floats) -> Columns:
    """Return some tickets at other times, with no answers; one may be there more than once.

    Shapes: `tickets` (n,); `times` (n,).
    """
    people = _players_of(columns.sizes, tickets)
    return columns._replace(
        times=times,
        cancels=np.full(times.size, np.inf),
        sizes=columns.sizes[tickets],
        values=_part_of_values(columns.values, people),
        latencies=columns.latencies[people],
        answers=np.empty((times.size, 0)),
        lacks=None if columns.lacks is None else columns.lacks[tickets],
    )


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


class Played(NamedTuple):
    """What came of tickets."""

    # (tickets,); of `valmatch.matching.tickets.layout`; AWAY of those that came after the horizon
    statuses: Ints
    ends: Floats  # (tickets,); when they ended
    # times, proposed: (matches,); when matches were made, in order, and when they had been proposed
    times: Floats
    proposed: Floats
    # tickets, matches, teams: (matched,); tickets of matches, of which match, and their teams
    tickets: Ints
    matches: Ints
    teams: Ints
    asked: Floats  # (matched,); when these had been proposed
    filled: Bools  # (matched,); whether they joined a match that ran
    # held, refused: (rules,); how often each rule held, or was unknown, and refused; 0 where that
    # is not counted
    held: Ints
    refused: Ints


def play_columns(
    table: Table,
    columns: Columns,
    service: Service,
    search: Search,
    counted_from: float | None = None,
) -> Played:
    """Play drawn tickets."""
    world = world_of_columns(table, columns, service, search, counted_from is not None)
    if counted_from is not None:
        world.options["counted_from"] = counted_from
    queue = queue_of(world)
    crowd = play_kernel(world, queue)
    if crowd:
        raise too_many(crowd)
    matches = queue.matches[queue.lists[MADE, : queue.state[0]["completed"]]]
    of = np.repeat(np.arange(matches.size), matches["tickets"])
    starts = (np.cumsum(matches["tickets"]) - matches["tickets"])[of]
    tickets, teams = queue.matched[:, matches["first"][of] + np.arange(of.size) - starts]
    judged = queue.seats.judged[: len(table.rules)]
    return Played(
        np.ascontiguousarray(queue.slots["status"]),
        np.ascontiguousarray(queue.slots["end"]),
        matches["time"].copy(),
        matches["proposed"].copy(),
        tickets,
        of,
        teams,
        matches["proposed"][of],
        np.zeros(of.size, np.bool_),
        judged["held"].copy(),
        judged["refused"].copy(),
    )


def world_of_columns(
    table: Table, columns: Columns, service: Service, search: Search, counted: bool = False
) -> World:
    """Return the arrays of a world of drawn tickets."""
    return arrays_of_columns(table, columns, service, search, counted)[0]


def arrays_of_columns(
    table: Table, columns: Columns, service: Service, search: Search, counted: bool
) -> tuple[World, TallyArrays]:
    """Return the arrays of a world of drawn tickets, and how those of tallies were made."""
    texts: dict[str, int] = {}
    rules = rule_arrays(table, texts)
    made = _Columns(table, columns, texts)
    cells, items = made.cells()
    facts = Facts(
        rules.rules,
        rules.aggregates,
        rules.links,
        rules.steps,
        cells,
        items,
        made.spreads(),
        made.pings(),
    )
    tickets = made.tickets()
    members, every = Members(tickets, []), search == "exhaustive"
    tallies = tallies_of(table, rules, facts, members, counted, every)
    empty = world_of(table, (), service, search, counted)
    empty.options["common"], empty.options["swift"] = tallies.common, tallies.swift
    tickets["camp"] = tallies.camps
    world = empty._replace(
        facts=facts._replace(links=tallies.links),
        tickets=tickets,
        home=np.full(made.players, NONE, np.int64),
        own=tallies.own,
        own_marks=tallies.own_marks,
        order=tallies.order,
        sort_values=made.sort_values(),
        batch_values=made.batch_values(),
        answers=made.answers(),
        place=columns.place,
    )
    return world, tallies


class _Columns:
    """Makes the arrays of a world of columns."""

    def __init__(self, table: Table, columns: Columns, texts: dict[str, int]) -> None:
        self._table, self._columns, self._texts = table, columns, texts
        self.players = int(columns.sizes.sum())  # how many players there are
        # (tickets,); the first player of each ticket
        self.firsts = np.cumsum(columns.sizes) - columns.sizes
        # of each attribute the numbers of players, or of their texts; NaN where there are none
        self.own = [self._numbers(attribute) for attribute in table.attributes]

    def _numbers(self, attribute: Attribute) -> Floats:
        """Return the numbers of players of an attribute, or those of their texts."""
        given = self._columns.values.get(attribute.name)
        if isinstance(given, Texts):
            return np.array([self._code(text) for text in given.texts], np.float64)[given.codes]
        if isinstance(given, np.ndarray):
            return given
        default = attribute.default
        if attribute.kind == "text" and default is not None:
            default = self._code(str(default))
        number = default if isinstance(default, int | float) else np.nan
        return np.full(self.players, number, np.float64)

    def _code(self, text: str) -> int:
        """Return the number of a text."""
        return self._texts.setdefault(text, len(self._texts))

    def _missing(self) -> bool:
        """Return whether an attribute has neither values nor a default: nobody can be matched."""
        return any(
            attribute.default is None and attribute.name not in self._columns.values
            for attribute in self._table.attributes
        )

    def tickets(self) -> Records:
        """Return the tickets."""
        columns = self._columns
        records = np.zeros(columns.times.size, TICKET)
        records["time"], records["cancel"] = columns.times, columns.cancels
        records["first"], records["players"] = self.firsts, columns.sizes
        records["matchable"] = not self._missing()
        if columns.lacks is not None:
            records["matchable"][columns.lacks] = 0
        proposals = columns.answers.shape[1]
        records["first_answer"] = proposals * np.arange(columns.times.size)
        records["answers"] = proposals
        return records

    def cells(self) -> tuple[Records, Floats]:
        """Return values of all players, and what is in their lists; the last column are ids."""
        cells = np.zeros((len(self.own) + 1, self.players), CELL)
        cells["value"] = np.nan
        items: list[Floats] = [np.empty(0)]
        for cell, own, attribute in zip(cells, self.own, self._table.attributes, strict=False):
            if attribute.kind == "texts":
                first = sum(part.size for part in items)
                ends, part = self._list_items(attribute)
                cell["end"] = first + ends
                cell["first"] = first + np.concatenate(([0], ends[:-1]))[: self.players]
                items.append(part)
            elif attribute.kind != "map":
                cell["value"] = own
        cells[-1]["value"] = len(self._texts) + np.arange(self.players)
        return cells, np.concatenate(items)

    def _list_items(self, attribute: Attribute) -> tuple[Ints, Floats]:
        """Return where the list of each player ends, and the items of all."""
        given = self._columns.values.get(attribute.name)
        if isinstance(given, Lists):
            codes = np.array([self._code(text) for text in given.texts], np.float64)
            _, items = np.nonzero(given.has)
            return np.cumsum(given.has.sum(axis=1)), codes[items]
        default = cast("Sequence[str]", attribute.default or ())
        codes = np.array([self._code(text) for text in default], np.float64)
        return codes.size * np.arange(1, self.players + 1), np.tile(codes, self.players)

    def _of_party(self, values: Any, party: Party) -> Any:  # noqa: ANN401 - players, or by region
        """Return of players' values those that stand for their tickets."""
        if not self.firsts.size:
            return values[:0]
        if party == "avg":
            sums = np.add.reduceat(values, self.firsts)
            return sums / self._columns.sizes.reshape(-1, *[1] * (values.ndim - 1))
        function = np.minimum if party == "min" else np.maximum
        return function.reduceat(values, self.firsts)

    def spreads(self) -> Floats:
        """Return the values of tickets that rules of spreads compare."""
        rules = [rule.predicate for rule in self._table.rules if isinstance(rule.predicate, Spread)]
        spreads = np.full((len(rules), self.firsts.size), np.nan)
        for row, rule in zip(spreads, rules, strict=True):
            own = self.own[rule.attribute]
            if self._table.attributes[rule.attribute].kind == "text":
                least = self._of_party(own, "min")
                row[:] = np.where(least == self._of_party(own, "max"), least, np.nan)
            else:
                row[:] = self._of_party(own, rule.party)
        return spreads

    def pings(self) -> Records:
        """Return what stands for each ticket in each region, by rule; regions in order."""
        order = np.argsort(np.array(self._columns.regions, np.str_), kind="stable")
        latencies = self._columns.latencies[:, order]
        rules = [
            rule.predicate for rule in self._table.rules if isinstance(rule.predicate, Reached)
        ]
        pings = np.zeros((len(rules), self.firsts.size, order.size), PING)
        for row, rule in zip(pings, rules, strict=True):
            row["ping"] = self._of_party(latencies, "max" if rule.each else rule.party)
            row["low"] = self._of_party(latencies, "min" if rule.each else rule.party)
            row["total"] = np.add.reduceat(latencies, self.firsts) if self.firsts.size else 0.0
            row["least"] = self._of_party(latencies, "min")
        return pings

    def sort_values(self) -> Floats:
        """Return the values of tickets by key, and which key counts for each of them as anchor."""
        rules = [
            rule.predicate for rule in self._table.rules if isinstance(rule.predicate, Ordered)
        ]
        if self._table.search.balance is not None:
            rules.append(Ordered(self._table.search.balance, True, False, "", "avg"))
        maps = [self._map(rule) for rule in rules]
        most = max((len(values) for values in maps), default=1)
        every = np.full((len(rules), self.firsts.size, most + 1), np.nan)
        for row, rule, values in zip(every, rules, maps, strict=True):
            if not rule.key:
                row[:, 0] = self._of_party(self.own[rule.attribute], rule.party)
                row[:, -1] = np.where(np.isnan(row[:, 0]), NONE, 0)
                continue
            row[:, : len(values)] = values
            row[:, -1] = NONE
            if values:
                best = min(values) if rule.key == "lowest" else max(values)
                row[:, -1] = values.index(best)
        return every

    def _map(self, rule: Ordered) -> list[float]:
        """Return the values of a map, which everybody has by default; of numbers one place."""
        if not rule.key:
            return [0.0]
        default = self._table.attributes[rule.attribute].default
        given = cast("dict[str, float]", default or {})
        return [float(given[key]) for key in sorted(given)]

    def batch_values(self) -> Floats:
        """Return by what the pool is sorted before it is cut: averages, or places of texts."""
        rows = []
        places = np.argsort(np.argsort(np.array(list(self._texts), np.str_), kind="stable"))
        for number in self._table.search.batch_order:
            own = self.own[number]
            if self._table.attributes[number].kind == "number":
                rows.append(self._of_party(own, "avg"))
            elif np.isnan(own).any():
                rows.append(np.zeros(self.firsts.size))
            else:
                rows.append(self._of_party(places[own.astype(np.int64)].astype(np.float64), "min"))
        return np.array(rows, np.float64).reshape(len(rows), self.firsts.size)

    def answers(self) -> Records:
        """Return all answers to proposals."""
        answers = np.zeros(self._columns.answers.size, ANSWER)
        answers["seconds"] = self._columns.answers.ravel()
        answers["accepts"] = ~np.isnan(answers["seconds"])
        return answers
