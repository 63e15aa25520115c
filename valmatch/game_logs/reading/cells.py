"""The wanted columns of a log, read in blocks of rows as numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.inputs.csv_reader import FLAGS
from valmatch.kernels.arrays import Floats, Ints
from valmatch.text.durations import (
    LEAST,
    MILLISECONDS,
    PER_SECOND,
    SINCE_1970,
    date_of_digits,
    moment_of_digits,
    seconds_of,
    unit_since_1970,
)
from valmatch.text.numerals import real_number

BLOCK = 1 << 11  # rows that are read at once: so few that their cells stay in the cache

RESULTS = {"1-0": 1, "0-1": 0, **dict.fromkeys(("1/2-1/2", "0.5-0.5", "½-½"), 2)}
RESULTS_AT_HOME = {**RESULTS, "h": 1, "a": 0, "d": 2}
"""What results are called: 1 of the first side, 0 of the second, 2 of neither."""

Key = tuple[str, str]  # the meaning of a column, and as what it is read
Read = Callable[[Sequence[str]], NDArray[Any]]  # of cells without outer blanks


class Table(NamedTuple):
    """The wanted columns of some rows."""

    columns: dict[Key, NDArray[Any]]  # (rows,) each
    wrong_width: NDArray[np.bool_]  # (rows,) whether the row has too few cells or too many
    empty: dict[str, Ints]  # the rows in which a column is empty, by its meaning

    def part(self, first: int, last: int) -> Table:
        """Return the rows first..last-1."""
        columns = {key: column[first:last] for key, column in self.columns.items()}
        empty = {
            key: rows[slice(*np.searchsorted(rows, (first, last)))] - first
            for key, rows in self.empty.items()
        }
        return Table(columns, self.wrong_width[first:last], empty)


class Block(NamedTuple):
    """Some rows of a log as texts."""

    columns: Sequence[Sequence[str]]
    wrong_width: NDArray[np.bool_]  # (rows,) whether the row has too few cells or too many


def plain_block(lines: Sequence[str], separator: str, width: int) -> Block | None:
    """Return rows of so many cells of which none is quoted; None if there are others among them."""
    text, n = "".join(lines), len(lines)
    cells = text.replace("\n", f"{separator}\n{separator}").split(separator)
    if '"' in text or len(cells) != n * (width + 1) + 1 or cells[width :: width + 1] != ["\n"] * n:
        return None
    cells.pop()
    return Block([cells[place :: width + 1] for place in range(width)], np.zeros(n, np.bool_))


def block_of(rows: list[list[str]], width: int) -> Block:
    """Return rows as columns; cells that a row lacks are empty."""
    wrong_width = np.fromiter(map(len, rows), np.int64, len(rows)) != width
    for k in np.flatnonzero(wrong_width).tolist():
        rows[k] = (rows[k] + [""] * width)[:width]
    return Block(list(zip(*rows, strict=True)), wrong_width)


def read_table(
    blocks: Iterable[Block], places: Mapping[str, int], wanted: Mapping[Key, Read]
) -> Table:
    """Return the columns of some meanings, each of which stands at its place in a row."""
    columns: dict[Key, list[NDArray[Any]]] = {key: [] for key in wanted}
    wrong_width: list[NDArray[np.bool_]] = []
    empty: dict[str, list[Ints]] = {meaning: [] for meaning in places}
    first = 0
    for block in blocks:
        wrong_width.append(block.wrong_width)
        cells = {
            meaning: list(map(str.strip, block.columns[place])) for meaning, place in places.items()
        }
        for meaning, column in cells.items():
            if not all(column):
                empty[meaning].append(first + np.flatnonzero([not cell for cell in column]))
        for key, read in wanted.items():
            columns[key].append(read(cells[key[0]]))
        first += len(block.wrong_width)
    return Table(
        {key: np.concatenate(parts or [np.zeros(0)]) for key, parts in columns.items()},
        np.concatenate(wrong_width or [np.zeros(0, np.bool_)]),
        {key: np.concatenate(parts or [np.zeros(0, np.int64)]) for key, parts in empty.items()},
    )


def read_each(cells: Sequence[str], read: Callable[[str], Any], dtype: type[Any]) -> NDArray[Any]:
    """Return what each cell is read as; equal ones are read once."""
    known = {cell: read(cell) for cell in set(cells)}
    return np.fromiter(map(known.__getitem__, cells), dtype, len(cells))


def read_numbers(cells: Sequence[str]) -> Floats:
    """Return the numbers in some cells; NaN where there is none."""

    def number(cell: str) -> float:
        value = real_number(cell)
        return np.nan if value is None else value

    return read_each(cells, number, np.float64)


def read_words(meanings: Mapping[str, int]) -> Read:
    """Return what reads the meaning of the word in each cell, in any case; -1 for no such word."""
    return lambda cells: read_each(cells, lambda cell: meanings.get(cell.lower(), -1), np.int8)


read_flags = read_words(FLAGS)


# Times of games: numbers, or moments in ISO 8601.

NUMBERS, DATES, DIGITS = "plain numbers", "date-times", "dates such as 20240131"
"""What times may be, besides seconds and milliseconds since 1970."""

SINCE = 1800  # the first year that digits are read as

_LAST = 253_402_300_800.0  # seconds since 1970 at the end of the year 9999

_PLAIN = re.compile(r"((?!0000)\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?Z?)?\n)+", re.ASCII)


class Times:
    """The times of a log, read some at a time."""

    def __init__(self) -> None:
        # whether they are moments, by the first cell that holds a time; None before it
        self._dated: bool | None = None

    def read(self, cells: Sequence[str]) -> Floats:
        """Return the times of some cells as they stand; NaN where there is none."""
        if self._dated is None:
            self._dated = next(filter(lambda dated: dated is not None, map(_is_date, cells)), None)
        return read_moments(cells) if self._dated else read_numbers(cells)

    def kind(self, times: Floats) -> str | None:
        """Return what all times of the log are; of numbers by the middle one."""
        if self._dated is not False:
            return DATES if self._dated else None
        numbers = np.sort(times)  # NaN at last
        middle = float(numbers[np.count_nonzero(numbers == numbers) // 2])
        return DIGITS if date_of_digits(middle, SINCE) else unit_since_1970(middle) or NUMBERS


def _is_date(cell: str) -> bool | None:
    """Return whether a cell holds a date, not a number; None if neither."""
    if real_number(cell) is not None:
        return False
    return None if math.isnan(seconds_of(cell)) else True


def in_seconds(kind: str | None, times: Floats) -> Floats:
    """Return times of one kind in seconds since 1970, plain numbers as they are; NaN of others."""
    if kind == DIGITS:
        values, index = np.unique(times, return_inverse=True)
        return np.array([moment_of_digits(value, SINCE) for value in values.tolist()])[index]
    if kind is not None and kind in PER_SECOND:
        seconds = times / PER_SECOND[kind]
        most = LEAST[MILLISECONDS] if kind == SINCE_1970 else _LAST
        return np.where((times >= LEAST[kind]) & (seconds < most), seconds, np.nan)
    return times


def read_moments(cells: Sequence[str]) -> Floats:
    """Return the seconds since 1970 of ISO 8601 moments, UTC where no zone is given; or NaN."""
    text = "\n".join([*cells, ""])
    if _PLAIN.fullmatch(text):
        if "Z" in text:
            cells = [cell.removesuffix("Z") for cell in cells]
        with suppress(ValueError):  # no such day or hour
            moments = np.array(cells, "M8[s]")
            return moments.astype(np.int64).astype(np.float64)
    return read_each(cells, seconds_of, np.float64)


def time_text(value: float, dated: bool) -> str:
    """Return the time of a game: a number, or a moment in UTC (a day starts at 0:00)."""
    if value != value:
        return ""
    if not dated:
        return repr(value)
    moment = datetime.fromtimestamp(value, UTC).replace(tzinfo=None)
    return str(moment).removesuffix(" 00:00:00")
