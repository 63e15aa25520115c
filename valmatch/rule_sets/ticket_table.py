"""Tickets of single players as a table: CSV with a header, a row for each.

Columns are `id`, `time`, attributes that are numbers, and `latency.REGION`. An empty cell is no
value.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator

from valmatch.rule_sets.items import Item
from valmatch.rule_sets.json_text import Member, Node
from valmatch.rule_sets.problems import Problem, Problems
from valmatch.rule_sets.table import Table
from valmatch.rule_sets.world_reading import read_tickets
from valmatch.rule_sets.worlds import Ticket
from valmatch.text.numerals import real_number
from valmatch.text.suggestions import hint
from valmatch.text.terminal import shown

NEEDED = ("id", "time")
LATENCY = "latency."


def read_table(text: str, table: Table) -> tuple[tuple[Ticket, ...] | None, list[Problem]]:
    """Return the tickets of a table; None with errors, and all that is wrong."""
    problems = Problems(text)
    lines = text.removeprefix("\ufeff").splitlines(keepends=True)
    header = _cells(lines[0]) if lines else []
    numbers = [attribute.name for attribute in table.attributes if attribute.kind == "number"]
    for name in NEEDED:
        if name not in header:
            problems.error(0, "line 1", f"no column {name}")
    for name in header:
        if name not in (*NEEDED, *numbers) and not name.startswith(LATENCY):
            text_ = f"unknown column {shown(name)} ({hint(name, [*NEEDED, *numbers])})"
            problems.error(0, "line 1", text_)
        if header.count(name) > 1:
            problems.error(0, "line 1", f"column {shown(name)} twice")
    if problems.errors:
        return None, problems.sorted()
    tickets = read_tickets(list(_items(lines, header, problems)), table)
    return (None if problems.errors else tickets), problems.sorted()


def _cells(line: str) -> list[str]:
    """Return the cells of a line; one cell where it is no CSV."""
    try:
        return [cell.strip() for cell in next(csv.reader([line.rstrip("\r\n")]), [])]
    except csv.Error:
        return [line]


def _items(lines: list[str], header: list[str], problems: Problems) -> Iterator[Item]:
    """Yield the rows as objects of tickets are, placed at their lines."""
    start = len(lines[0]) if lines else 0
    for number, line in enumerate(lines[1:], 2):
        cells = _cells(line)
        if cells and len(cells) != len(header):
            what = f"{len(cells)} cells, and the header has {len(header)}"
            problems.error(start, f"line {number}", what)
        elif cells:
            row = dict(zip(header, cells, strict=True))
            yield Item(_ticket(row, number, start, problems), f"line {number}", problems)
        start += len(line)


def _ticket(row: dict[str, str], number: int, start: int, problems: Problems) -> Node:
    """Return the object of a ticket."""
    values: dict[str, Node] = {}
    for name, cell in row.items():
        value = real_number(cell)
        if name != "id" and cell and value is None:
            problems.error(
                start, f"line {number}", f"{name}: a number is needed, not {shown(cell)}"
            )
        elif name != "id" and value is not None:
            values[name] = Node("number", value, start, start)

    def as_object(members: dict[str, Node]) -> Node:
        named = {name: Member(start, node) for name, node in members.items()}
        return Node("object", named, start, start)

    latency = {
        name.removeprefix(LATENCY): node
        for name, node in values.items()
        if name.startswith(LATENCY)
    }
    attributes = {
        name: node
        for name, node in values.items()
        if not name.startswith(LATENCY) and name != "time"
    }
    own = Node("string", row["id"], start, start)
    parts = {"id": own, "attributes": as_object(attributes), "latency": as_object(latency)}
    players = Node("array", [as_object(parts)], start, start)
    time = {"time": values["time"]} if "time" in values else {}
    return as_object({"id": own, "players": players, **time})
