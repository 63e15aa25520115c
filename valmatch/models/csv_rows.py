"""The rows of CSV files that models read, with their places."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from valmatch.config.numerals import real_number
from valmatch.csv_dialect import SEPARATORS
from valmatch.csv_names import are_marked, unmark
from valmatch.errors import InputError
from valmatch.printable import shown

__all__ = ["Row", "other_separator", "read_rows"]


class Row(NamedTuple):
    """The wanted cells of a row by column, and where it stands."""

    path: Path
    line: int
    cells: Mapping[str, str]

    def wrong(self, column: str, what: str) -> InputError:
        """Return the error that a cell is wrong."""
        return InputError(f"{self.path}:{self.line}: {column}: {what}")

    def number(self, column: str, of: str = "") -> float:
        """Return a finite number, or say that a cell is not one `of` what it is to be."""
        cell = self.cells[column]
        value = real_number(cell.strip())
        if value is None:
            what = shown(cell) if cell.strip() else "empty"
            raise self.wrong(column, f"{what} (allowed: a finite number{of})")
        return value


def _raise(error: InputError) -> None:
    raise error


def read_rows(
    path: Path,
    choose: Callable[[list[str]], Iterable[str]],
    separator: str = ",",
    wrong: Callable[[InputError], None] = _raise,
) -> Iterator[Row]:
    """Yield the rows of a CSV file below its header, but blank lines.

    Parameters
    ----------
    path : Path
        The file.
    choose : callable
        Returns the columns to read, given all that there are; raises InputError without them.
    separator : str
        What stands between cells.
    wrong : callable
        Called with what is wrong with a row that has too many cells or too few; it is left out
        unless that raises.

    Raises
    ------
    InputError
        Naming the place of the first thing that is wrong.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file, strict=True, delimiter=separator)
            header = [name.strip() for name in next(reader, [])]
            marked = are_marked(path)
            columns = {name: header.index(name) for name in choose(header)}
            for name in columns:
                if header.count(name) > 1:
                    raise InputError(f"{path}:1: column {name} appears twice")
            for row in reader:
                if not row:
                    continue
                if len(row) != len(header):
                    place = f"{path}:{reader.line_num}"
                    wrong(InputError(f"{place}: {len(row)} cells (the header has {len(header)})"))
                    continue
                cells = {name: unmark(row[k]) if marked else row[k] for name, k in columns.items()}
                yield Row(path, reader.line_num, cells)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: cannot be read: not a text file in UTF-8") from None
    except csv.Error as error:
        raise InputError(f"{path}:{reader.line_num}: cannot be read: {error}") from None


def other_separator(header: Sequence[str], separator: str) -> str:
    """Return the name of what separates cells instead, "" if nothing else seems to."""
    if len(header) != 1:
        return ""
    others = {name: header[0].count(one) for name, one in SEPARATORS.items() if one != separator}
    best = max(others, key=others.__getitem__)
    return best if others[best] else ""
