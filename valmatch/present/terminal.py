"""Results as plain text: tables in columns of a line's width, and what has to be said of them."""

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import replace

from rich.cells import cell_len

from valmatch.present.document import UNIT, Presentation, TextTable
from valmatch.text.terminal import WIDTH, wrapped

MOST_ROWS = 40  # rows of a table of a `repr`


def text_of(presentation: Presentation, most: int | None = None) -> str:
    """Return tables with their notes, and the finding; of a `repr` at most so many rows of each."""
    lines: list[str] = []
    above = presentation.header.split("\n")
    for block in presentation.tables:
        lines += [""] if lines else above
        if block.table is not None:
            lines += [*table_lines(block.table, most), *_sentences(block.table.notes)]
        lines += [""] if block.table is not None and block.items else []
        lines += _sentences(block.items)
    if presentation.notes:
        lines += ["", *_sentences(presentation.notes)]
    if presentation.finding and (presentation.concluded or most):
        lines += ["", *wrapped(presentation.finding)]
    return "\n".join([*(lines or above), ""])


def _sentences(texts: Iterable[str]) -> list[str]:
    return [line for text in texts for line in wrapped(text)]


def print_table(header: str, table: TextTable) -> None:
    """Print a table."""
    print("\n".join([*([header] if header else []), *table_lines(table)]))


def table_lines(table: TextTable, most: int | None = None) -> list[str]:
    """Return a table; where it is too wide, its first `repeated` columns with others at a time."""
    lines = textwrap.wrap(table.title, WIDTH) if table.title else []
    more = 0 if most is None else max(0, len(table.rows) - most)
    table = replace(table, rows=table.rows[: len(table.rows) - more])
    for number, part in enumerate(_divided(table.aligned())):
        lines += [""] if number else []
        lines += _aligned(part)
    return [*lines, f"... and {more:,} more rows"] if more else lines


def _aligned(table: TextTable) -> Iterator[str]:
    """Yield heads and rows in columns, numbers on the right."""
    rows = [table.heads, *table.rows]
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = []
        for cell, width, head in zip(row, widths, table.heads, strict=True):
            text = cell.rstrip()  # points stand below each other on pages alone
            blank = " " * (width - cell_len(text))
            cells.append(text + blank if head in table.left else blank + text)
        yield "  ".join(cells).rstrip(" ")


def _divided(table: TextTable) -> Iterator[TextTable]:
    """Yield tables of at most `WIDTH` columns of text with all columns of a table between them."""
    heads = table.heads
    widths = [2 + max(map(len, column)) for column in zip(heads, *table.rows, strict=True)]
    if sum(widths) <= WIDTH + 2:
        yield table
        return
    kept = [k for k in range(len(heads)) if heads[k] != (table.spare or None)]
    repeated, others = kept[: table.repeated], kept[table.repeated :]
    units = [k for k in others if heads[k] == UNIT]
    groups: list[list[int]] = []
    for k in (k for k in others if k not in units):
        if heads[k].startswith(("±", "- ")) and groups:
            groups[-1].append(k)
        else:
            groups.append([k])
    parts: list[list[int]] = [[]]
    for group in groups:
        beside = [*repeated, *(units if len(parts) < 2 else [])]
        if parts[-1] and sum(widths[k] for k in (*beside, *parts[-1], *group)) > WIDTH + 2:
            parts.append([])
        parts[-1] += group
    for number, part in enumerate(parts):
        columns = [*repeated, *part, *(units if number == 0 else [])]
        rows = [[row[k] for k in columns] for row in table.rows]
        # That of units may have none here.
        yield TextTable([heads[k] for k in columns], table.left, list(filter(any, rows)))
