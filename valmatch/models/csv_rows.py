"""The rows of CSV files that models read, with their places."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from valmatch.config.numerals import real_number
from valmatch.errors import InputError
from valmatch.printable import shown

__all__ = ["Row", "read_rows"]


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


def read_rows(path: Path, choose: Callable[[list[str]], Iterable[str]]) -> Iterator[Row]:
    """Yield the rows of a CSV file below its header, but blank lines.

    Parameters
    ----------
    path : Path
        The file.
    choose : callable
        Returns the columns to read, given all that there are; raises InputError without them.

    Raises
    ------
    InputError
        Naming the place of the first thing that is wrong.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file, strict=True)
            header = [name.strip() for name in next(reader, [])]
            columns = {name: header.index(name) for name in choose(header)}
            for name in columns:
                if header.count(name) > 1:
                    raise InputError(f"{path}:1: column {name} appears twice")
            for row in reader:
                if not row:
                    continue
                if len(row) != len(header):
                    raise InputError(
                        f"{path}:{reader.line_num}: {len(row)} cells (the header has {len(header)})"
                    )
                cells = {name: row[k] for name, k in columns.items()}
                yield Row(path, reader.line_num, cells)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: cannot be read: not a text file in UTF-8") from None
    except csv.Error as error:
        raise InputError(f"{path}:{reader.line_num}: cannot be read: {error}") from None
