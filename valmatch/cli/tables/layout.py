"""Tables on the terminal: numbers with their half-widths, aligned, in columns of a line's width."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from valmatch.statistics.estimates import Estimate
from valmatch.text.terminal import escaped, shortened

WIDTH = 80
"""Columns that running text is wrapped at."""

DECIMALS = 12
"""Most decimals of a number; with more it is written with a power of ten."""

UNIT, COUNT = "unit", "n"
"""The columns of units, and of how many replications a mean is of."""

CELL = 100
"""Most characters of a cell."""

TEXT_COLUMNS = (
    "response",
    UNIT,
    "band",
    "hour",
    "weekday",
    "meaning",
    "variable",
    "mean of",
    "bound",
    "solver",
    "certified",
    "player",
    "predictions",
    "game",
    "side",
    "newcomers",
    "system",
    "last game",
    "what it does",
    "needs",
    "from",
    "problem",
    "constraints",
    "coefficient",
    "status",
)
"""Columns of text."""


def new_table(*names: str) -> Table:
    """Return an empty table with columns of some names; those of numbers are aligned right."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in names:
        table.add_column(_cell(name), justify="left" if name in TEXT_COLUMNS else "right")
    return table


def add_row(table: Table, *cells: str) -> None:
    """Add a row to a table, a text for each column."""
    table.add_row(*map(_cell, cells))


def _cell(text: str) -> Text:
    """Return a cell; names are no markup, whatever they hold."""
    return Text(shortened(escaped(text), CELL))


def print_table(header: str, table: Table, repeated: int = 1, spare: str = "") -> None:
    """Print a table; where it is too wide, its first `repeated` columns with some others at a time.

    A column that has no room beside those is still printed whole: a long line is better than a name
    cut short.

    Parameters
    ----------
    header : str
        What stands above it; "" for nothing.
    table : rich.table.Table
        The table.
    repeated : int
        How many of its columns are repeated.
    spare : str
        The column to be left out where all have no room, because the header says it; "" for none.
    """
    console = Console(highlight=False, width=10_000)
    with console.capture() as printed:
        if header:
            console.print(header, markup=False, soft_wrap=True)
        for number, part in enumerate(_divided(table, repeated, spare)):
            console.print(*([""] if number else []), part, sep="\n")
    # Columns are padded; in a file that would be blanks at the end of lines.
    *lines, _ = printed.get().split("\n")
    console.file.write("".join(f"{line.rstrip(' ')}\n" for line in lines))


def _divided(table: Table, repeated: int, spare: str) -> Iterator[Table]:
    """Yield tables of at most `WIDTH` columns of text with all columns of a table between them.

    Units stand in the first of them.
    """
    headers = [str(column.header) for column in table.columns]
    cells = [[str(cell) for cell in column.cells] for column in table.columns]
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
        divided = new_table(*(headers[k] for k in columns))
        for row in zip(*(cells[k] for k in columns), strict=True):
            if any(row):  # that of units may have none here
                add_row(divided, *row)
        yield divided


def aligned(numbers: Sequence[str]) -> list[str]:
    """Pad numbers on the right so that their decimal points stand below each other."""
    tails = [len(number) - number.rfind(".") if "." in number else 0 for number in numbers]
    widest = max(tails, default=0)
    return [number + " " * (widest - tail) for number, tail in zip(numbers, tails, strict=True)]


def mean_and_half(estimate: Estimate) -> tuple[str, str]:
    """Return a mean and its half-width with two digits of the half-width."""
    if estimate.mean is None:
        return "undefined", ""
    mean, half = rounded(estimate.mean, estimate.half_width)
    return mean, arms_of(estimate.arms, half) if estimate.cut else half


def rounded(mean: float, half: float | None) -> tuple[str, str]:
    """Return a mean and its half-width; without one, four digits of what is below 1."""
    most = decimals(max(abs(mean), half or 0.0), 4)
    digits = max(4, most) if not half else min(max(6, most), decimals(half, 2))
    if digits > DECIMALS:
        return f"{mean:z.3e}", formatted(half, ".1e")
    return f"{mean:z.{digits}f}", formatted(half, f".{digits}f")


def decimals(value: float, digits: int) -> int:
    """Return after how many decimals a number has so many digits."""
    if not value or not math.isfinite(value):
        return 0
    return max(0, digits - 1 - math.floor(math.log10(abs(value))))


def arms_of(arms: tuple[float, float] | None, half: str) -> str:
    """Return both arms of an interval that limits have cut, with the digits of the longer one."""
    assert arms is not None
    digits = len(half.partition(".")[2])
    return f"-{arms[0]:.{digits}f}/+{arms[1]:.{digits}f}"


def formatted(value: float | None, form: str) -> str:
    """Return a number in a format of `format`; "" for none."""
    return "" if value is None else f"{value:{form}}"


def show_no_interval(reason: str, what: str = "no interval") -> None:
    """Say why there are no intervals, where there are none."""
    if reason:
        print(textwrap.fill(escaped(f"{what}: {reason}"), WIDTH))
