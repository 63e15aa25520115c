"""Tables on the terminal, in columns of a line's width."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from valmatch.text.sheet import UNIT, Sheet
from valmatch.text.terminal import escaped

WIDTH = 80  # columns that running text is wrapped at


def print_table(header: str, table: Sheet, repeated: int = 1, spare: str = "") -> None:
    """Print a table; where it is too wide, its first `repeated` columns with some others at a time.

    A column that has no room beside those is still printed whole: a long line is better than a name
    cut short.
    """
    console = Console(highlight=False, width=10_000)
    with console.capture() as printed:
        if header:
            console.print(header, markup=False, soft_wrap=True)
        for number, part in enumerate(_divided(table, repeated, spare)):
            console.print(*([""] if number else []), _as_rich(part), sep="\n")
    # Columns are padded; in a file that would be blanks at the end of lines.
    *lines, _ = printed.get().split("\n")
    console.file.write("".join(f"{line.rstrip(' ')}\n" for line in lines))


def _as_rich(sheet: Sheet) -> Table:
    """Return a table as rich prints it, without markup."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in sheet.heads:
        table.add_column(Text(name), justify="left" if name in sheet.left else "right")
    for row in sheet.rows:
        table.add_row(*map(Text, row))
    return table


def _divided(table: Sheet, repeated: int, spare: str) -> Iterator[Sheet]:
    """Yield tables of at most `WIDTH` columns of text with all columns of a table between them.

    Units stand in the first of them.
    """
    headers = table.heads
    cells = [[row[place] for row in table.rows] for place in range(len(headers))]
    widths = [2 + max(map(len, [name, *own])) for name, own in zip(headers, cells, strict=True)]
    if sum(widths) <= WIDTH + 2:
        yield table
        return
    kept = [place for place in range(len(headers)) if headers[place] != (spare or None)]
    units = [place for place in kept[repeated:] if headers[place] == UNIT]
    groups: list[list[int]] = []
    for place in kept[repeated:]:
        if place in units:
            continue
        if headers[place].startswith(("±", "- ")) and groups:
            groups[-1].append(place)  # differences and half-widths stay with their mean
        else:
            groups.append([place])
    parts: list[list[int]] = []
    room = 0
    for group in groups:
        needed = sum(widths[place] for place in group)
        if not parts or needed > room:
            beside = kept[:repeated] if parts else [*kept[:repeated], *units]
            room = WIDTH + 2 - sum(widths[place] for place in beside)
            parts.append([])
        parts[-1] += group
        room -= needed
    for number, part in enumerate(parts):
        columns = [*kept[:repeated], *part, *(units if number == 0 else [])]
        divided = Sheet.of(*(headers[k] for k in columns), left=list(table.left))
        for row in zip(*(cells[k] for k in columns), strict=True):
            if any(row):  # that of units may have none here
                divided.add(*row)
        yield divided


def show_no_interval(reason: str, what: str = "no interval") -> None:
    """Say why there are no intervals, where there are none."""
    if reason:
        print(textwrap.fill(escaped(f"{what}: {reason}"), WIDTH))
