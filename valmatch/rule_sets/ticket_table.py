"""Tickets of single players, or players, as a table: CSV with a header, a row for each.

Columns are `id`, of tickets `time`, attributes that are numbers or strings, and `latency.REGION`.
An empty cell is no value.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from valmatch.rule_sets.items import Item
from valmatch.rule_sets.json_text import Node, one_place
from valmatch.rule_sets.problems import Problem, Problems
from valmatch.rule_sets.table import Table
from valmatch.rule_sets.world_reading import read_players, read_tickets
from valmatch.rule_sets.worlds import Player, Ticket
from valmatch.text.numerals import real_number
from valmatch.text.suggestions import hint
from valmatch.text.terminal import shown

NEEDED = ("id", "time")
LATENCY = "latency."


def read_table(text: str, table: Table) -> tuple[tuple[Ticket, ...] | None, list[Problem]]:
    """Return the tickets of a table; None with errors, and all that is wrong."""
    problems = Problems(text, "tickets")
    rows = _Rows(text, table, NEEDED, problems)
    tickets = read_tickets([rows.ticket(row) for row in rows.read()], table)
    return (None if problems.errors else tickets), problems.sorted()


def read_player_table(text: str, table: Table) -> tuple[dict[str, Player], list[Problem]]:
    """Return the players of a table by id, and all that is wrong."""
    problems = Problems(text, "players")
    rows = _Rows(text, table, NEEDED[:1], problems)
    return read_players([rows.player(row) for row in rows.read()], table), problems.sorted()


def _cells(line: str) -> list[str]:
    """Return the cells of a line; one cell where it is no CSV."""
    try:
        return [cell.strip() for cell in next(csv.reader([line.rstrip("\r\n")], strict=True), [])]
    except csv.Error:
        return [line]


class _Row(NamedTuple):
    """A row: its cells by column, its line and place."""

    cells: dict[str, str]
    number: int
    start: int


class _Rows:
    """The rows of one table."""

    def __init__(self, text: str, table: Table, needed: Sequence[str], problems: Problems) -> None:
        self.lines = text.removeprefix("\ufeff").splitlines(keepends=True)
        self.shift = len(text) - len(text.removeprefix("\ufeff"))
        self.needed, self.problems = needed, problems
        self.texts = {one.name for one in table.attributes if one.kind == "text"}
        self.known = [one.name for one in table.attributes if one.kind in ("number", "text")]

    def read(self) -> list[_Row]:
        """Return the rows, none where the header is wrong."""
        header = _cells(self.lines[0]) if self.lines else []
        for name in self.needed:
            if name not in header:
                self.problems.error(0, "line 1", f"no column {name}")
        for name in dict.fromkeys(header):
            if name not in (*self.needed, *self.known) and not name.startswith(LATENCY):
                what = f"unknown column {shown(name)} ({hint(name, [*self.needed, *self.known])})"
                self.problems.error(0, "line 1", what)
            if header.count(name) > 1:
                self.problems.error(0, "line 1", f"column {shown(name)} twice")
        return [] if self.problems.errors else list(self._rows(header))

    def _rows(self, header: list[str]) -> Iterator[_Row]:
        start = self.shift + (len(self.lines[0]) if self.lines else 0)
        for number, line in enumerate(self.lines[1:], 2):
            cells = _cells(line)
            if cells and len(cells) != len(header):
                what = f"{len(cells)} cells, and the header has {len(header)}"
                self.problems.error(start, f"line {number}", what)
            elif cells:
                yield _Row(dict(zip(header, cells, strict=True)), number, start)
            start += len(line)

    def player(self, row: _Row) -> Item:
        """Return the object of a player."""
        return self._item(self._player(row), row)

    def ticket(self, row: _Row) -> Item:
        """Return the object of a ticket of one player."""
        time = self._value("time", row)
        parts = {"id": row.cells["id"], "players": [self._player(row)], "time": time}
        return self._item({key: one for key, one in parts.items() if one is not None}, row)

    def _item(self, parts: dict[str, object], row: _Row) -> Item:
        node = Node(parts, one_place(lambda: row.start), f"line {row.number}")
        return Item(node, self.problems)

    def _player(self, row: _Row) -> dict[str, object]:
        found: dict[str, dict[str, object]] = {"attributes": {}, "latency": {}}
        for name in row.cells:
            value = None if name in NEEDED else self._value(name, row)
            if value is not None:
                part = "latency" if name.startswith(LATENCY) else "attributes"
                found[part][name.removeprefix(LATENCY)] = value
        return {"id": row.cells["id"], **found}

    def _value(self, name: str, row: _Row) -> str | float | None:
        """Return the value of a cell, None of an empty one."""
        cell = row.cells[name]
        if not cell or name in self.texts:
            return cell or None
        value = real_number(cell)
        if value is None:
            what = f"{name}: a number is needed, not {shown(cell)}"
            self.problems.error(row.start, f"line {row.number}", what)
        return value
