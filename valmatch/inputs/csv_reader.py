"""CSV files read row by row: the wanted cells of each row by column, typed, with their places."""

from __future__ import annotations

import csv
import io
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TextIO

from valmatch.errors import InputError
from valmatch.inputs.bad_rows import RowError
from valmatch.inputs.csv_columns import SEPARATORS
from valmatch.inputs.csv_names import unmark
from valmatch.inputs.csv_text import open_text, other_separator
from valmatch.text.datetimes import PER_SECOND, moment_of_digits, seconds_of, unit_since_1970
from valmatch.text.numerals import real_number
from valmatch.text.terminal import shown

WIDTH = "number of cells"  # what is wrong with a row that has too many cells or too few

FLAGS = {
    **dict.fromkeys(("true", "t", "yes", "y", "1"), True),
    **dict.fromkeys(("false", "f", "no", "n", "0"), False),
}
"""What cells that say yes or no may hold, in any case."""


@dataclass(frozen=True)
class Dialect:
    """How the text of a CSV file is divided into cells."""

    # what stands between cells; None for what divides the header, first of all commas
    separator: str | None = ","
    trimmed: bool = False  # whether blanks around cells do not count
    padded: bool = False  # whether the last cells of a row may be missing; they are empty then
    placed: bool = False  # whether faults are told with the place of their cell in the line


COMMAS = Dialect()  # cells between commas, as they stand


class Row(NamedTuple):
    """The wanted cells of a row, and where it stands."""

    file: Path | str  # what messages call the file
    line: int  # number of its last line
    cells: Mapping[str, str]  # the cells by column, or by its meaning
    # what the file calls columns, where the cells go by their meaning
    names: Mapping[str, str] = MappingProxyType({})
    # where in the line the cell of each column starts, from 1; empty where that is not told
    starts: Mapping[str, int] = MappingProxyType({})

    @property
    def place(self) -> str:
        """What messages call the place of the row."""
        return f"{self.file}:{self.line}"

    def place_of(self, column: str) -> str:
        """Return what messages call the place of a cell: with its column, if that is told."""
        start = self.starts.get(column)
        return self.place if start is None else f"{self.place}:{start}"

    def wrong(self, column: str, what: str, kind: str = "") -> RowError:
        """Return the error that a cell is wrong, in a way that may have a name."""
        name = self.names.get(column, column)
        kind = f"{column} ({kind})" if kind else column
        return RowError(f"{self.place_of(column)}: {name}: {what}", kind=kind)

    def text(self, column: str) -> str:
        """Return a cell that must not be empty."""
        cell = self.cells[column]
        if not cell:
            raise self.wrong(column, "the cell is empty")
        return cell

    def number(self, column: str, of: str = "") -> float:
        """Return a finite number, or say that a cell is not one `of` what it is to be."""
        cell = self.cells[column]
        value = real_number(cell.strip())
        if value is None:
            what = shown(cell) if cell.strip() else "empty"
            raise self.wrong(column, f"{what} (allowed: a finite number{of})")
        return value

    def number_within(self, column: str, low: float, high: float) -> float:
        """Return a number that is neither below `low` nor above `high`."""
        value = real_number(self.cells[column].strip())
        if value is None or not low <= value <= high:
            allowed = f"a number from {low:g} to {high:g}"
            raise self.wrong(column, f"{shown(self.cells[column])} (allowed: {allowed})")
        return value

    def whole(self, column: str, low: float, high: float) -> int:
        """Return a whole number that is neither below `low` nor above `high`."""
        value = self.number_within(column, low, high)
        if value != int(value):
            raise self.wrong(column, f"{shown(self.cells[column])} (allowed: a whole number)")
        return int(value)

    def time(self, column: str, since: int | None = None) -> tuple[float, bool]:
        """Return a time, and whether it is in seconds since 1970; NaN of an empty cell.

        Where `since` is given, a number may be seconds or milliseconds since 1970, or the digits of
        a date of a year from then on.
        """
        cell = self.cells.get(column, "")
        number = real_number(cell)
        if number is not None:
            if since is None:
                return number, False
            moment = moment_of_digits(number, since)
            if not math.isnan(moment):
                return moment, True
            unit = unit_since_1970(number)
            return (number / PER_SECOND[unit], True) if unit else (number, False)
        time = seconds_of(cell)
        if cell and math.isnan(time):
            raise self.wrong(column, f"{shown(cell)} (allowed: a number or an ISO 8601 moment)")
        return time, True

    def flag(self, column: str) -> bool:
        """Return what a cell says: yes or no."""
        cell = self.cells[column]
        if (flag := FLAGS.get(cell.lower())) is None:
            raise self.wrong(column, f"{shown(cell)} (allowed: yes, no, true, false, 1, 0)")
        return flag


def _raise(error: RowError) -> None:
    raise error


Choose = Callable[[Sequence[str], str], Mapping[str, str] | Iterable[str]]
"""Given the columns of a file, none of an empty one, and the place of its header, returns those to
read, by name or by meaning; raises InputError without them."""


def read_rows(
    path: Path | None,
    choose: Choose,
    dialect: Dialect = COMMAS,
    *,
    most: int | None = None,
    wrong: Callable[[RowError], None] = _raise,
) -> Iterator[Row]:
    """Yield the rows of a CSV file below its header, but blank lines."""
    name = str(path or "standard input")
    with _opened(path, name, most) as file:
        last: list[str] = []
        text = _remembered(file, last) if dialect.placed else file
        rows = rows_of(text, name, dialect)
        line, found = next(rows, (1, []))
        header = [cell.strip() for cell in found]
        chosen = choose(header, f"{name}:{line}")
        names = chosen if isinstance(chosen, Mapping) else {column: column for column in chosen}
        for column in names.values():
            if header.count(column) > 1:
                raise InputError(f"{name}:{line}: column {column} appears twice")
        places = {meaning: header.index(column) for meaning, column in names.items()}
        for line, cells in rows:
            if len(cells) > len(header) or (len(cells) < len(header) and not dialect.padded):
                what = f"the row has {len(cells)} cells (allowed: {len(header)})"
                found_at = _cell_starts(last, cells, dialect)
                # The first cell too many, or where the next one is missing.
                place = f":{found_at[min(len(cells), len(header))]}" if found_at else ""
                wrong(RowError(f"{name}:{line}{place}: {what}", kind=WIDTH))
                continue
            found_at = _cell_starts(last, cells, dialect)
            cells += [""] * (len(header) - len(cells))
            wanted = {meaning: cells[place] for meaning, place in places.items()}
            starts = {meaning: found_at[at] for meaning, at in places.items() if at < len(found_at)}
            yield Row(name, line, wanted, names, starts)


def _remembered(lines: Iterable[str], last: list[str]) -> Iterator[str]:
    """Yield lines, with the one that is read in `last`."""
    for line in lines:
        last[:] = [line]
        yield line


def _cell_starts(last: Sequence[str], cells: Sequence[str], dialect: Dialect) -> list[int]:
    """Return where each cell of a row starts in its line, from 1, and where one more would.

    Blanks before a cell do not count. Empty where the line is not known, or one of several.
    """
    starts, quoted, begun = [1], False, False
    text = "".join(last).rstrip("\r\n")
    for at, letter in enumerate(text, 1):
        if letter == dialect.separator and not quoted:
            starts.append(at + 1)
            begun = False
        elif not begun and letter == " ":
            starts[-1] = at + 1
        else:
            begun = True
            quoted ^= letter == '"'
    starts.append(len(text) + 1)
    return starts if last and len(starts) == len(cells) + 1 else []


def read_header(path: Path, dialect: Dialect = COMMAS, most: int | None = None) -> list[str]:
    """Return the names of the columns of a CSV file; see `read_rows`."""
    with _opened(path, str(path), most) as file:
        _, found = next(rows_of(file, str(path), dialect), (1, []))
    return [cell.strip() for cell in found]


@contextmanager
def _opened(path: Path | None, name: str, most: int | None) -> Iterator[TextIO]:
    """Open a file as text; what goes wrong with reading it is bad input."""
    try:
        if path is None:
            yield sys.stdin
            return
        with closing(open_text(path, most)) as packed:
            yield io.TextIOWrapper(packed, encoding="utf-8-sig", newline="")
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror}") from None


def rows_of(
    lines: Iterable[str], name: str, dialect: Dialect = COMMAS, fault: str = "cannot be read"
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of CSV text that are not empty, unmarked, each with its last line's number."""
    lines, head = iter(lines), list[str]()
    try:
        separator = dialect.separator
        while separator is None:
            head.append(next(lines, ""))
            if not head[-1] or head[-1].strip():
                separator = _separator(head[-1])
        blanks = dialect.trimmed
        rows = csv.reader(
            chain(head, lines), strict=True, delimiter=separator, skipinitialspace=blanks
        )
        for cells in rows:
            if blanks:
                cells = [cell.strip() for cell in cells]
            if "'" in "".join(cells):
                cells = [unmark(cell) for cell in cells]
            if cells:
                yield rows.line_num, cells
    except UnicodeDecodeError:
        raise InputError(f"{name}: {fault}: not a text file in UTF-8") from None
    except csv.Error as error:
        raise InputError(f"{name}:{rows.line_num}: {fault}: {error}") from None


def _separator(header: str) -> str:
    """Return what divides a header that has no comma; a comma if nothing does."""
    return "," if "," in header else SEPARATORS[other_separator([header], ",") or "comma"]
