"""The rows of CSV files that models read, with their places."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from valmatch.errors import InputError
from valmatch.inputs.bad_rows import RowError
from valmatch.inputs.csv_columns import SEPARATORS
from valmatch.inputs.csv_names import are_marked, unmark
from valmatch.inputs.csv_text import open_text, other_separator
from valmatch.inputs.files import MAX_FILE
from valmatch.text.numerals import real_number
from valmatch.text.terminal import shown

WIDTH = "number of cells"
"""What is wrong with a row that has too many cells or too few."""


class Row(NamedTuple):
    """The wanted cells of a row by column, and where it stands."""

    path: Path
    line: int
    cells: Mapping[str, str]

    def wrong(self, column: str, what: str, kind: str = "") -> RowError:
        """Return the error that a cell is wrong, in a way that may have a name."""
        kind = f"{column} ({kind})" if kind else column
        return RowError(f"{self.path}:{self.line}: {column}: {what}", kind=kind)

    def number(self, column: str, of: str = "") -> float:
        """Return a finite number, or say that a cell is not one `of` what it is to be."""
        cell = self.cells[column]
        value = real_number(cell.strip())
        if value is None:
            what = shown(cell) if cell.strip() else "empty"
            raise self.wrong(column, f"{what} (allowed: a finite number{of})")
        return value


def _raise(error: RowError) -> None:
    raise error


def read_rows(
    path: Path,
    choose: Callable[[list[str]], Iterable[str]],
    separator: str | None = None,
    wrong: Callable[[RowError], None] = _raise,
) -> Iterator[Row]:
    """Yield the rows of a CSV file below its header, but blank lines.

    Parameters
    ----------
    path : Path
        The file, which gzip may have packed.
    choose : callable
        Returns the columns to read, given all that there are; raises InputError without them.
    separator : str or None
        What stands between cells; None for what divides the header, first of all commas.
    wrong : callable
        Called with what is wrong with a row that has too many cells or too few; it is left out
        unless that raises.

    Raises
    ------
    InputError
        Naming the place of the first thing that is wrong.
    """
    try:
        with closing(open_text(path, MAX_FILE)) as packed:
            file = io.TextIOWrapper(packed, encoding="utf-8-sig", newline="")
            first = file.readline()
            rows = csv.reader(
                chain([first], file), strict=True, delimiter=separator or _separator(first)
            )
            header = [name.strip() for name in next(rows, [])]
            marked = are_marked(path)
            columns = {name: header.index(name) for name in choose(header)}
            for name in columns:
                if header.count(name) > 1:
                    raise InputError(f"{path}:1: column {name} appears twice")
            for row in rows:
                line = rows.line_num
                if not row:
                    continue
                if len(row) != len(header):
                    what = f"{len(row)} cells (the header has {len(header)})"
                    wrong(RowError(f"{path}:{line}: {what}", kind=WIDTH))
                    continue
                cells = {name: unmark(row[k]) if marked else row[k] for name, k in columns.items()}
                yield Row(path, line, cells)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: cannot be read: not a text file in UTF-8") from None
    except csv.Error as error:
        raise InputError(f"{path}:{rows.line_num}: cannot be read: {error}") from None


def _separator(header: str) -> str:
    """Return what divides a header that has no comma; a comma if nothing does."""
    return "," if "," in header else SEPARATORS[other_separator([header], ",") or "comma"]
