"""The wanted columns of a log, read in blocks of rows as numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.inputs.csv_reader import FLAGS
from valmatch.kernels.arrays import Floats, Ints
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
