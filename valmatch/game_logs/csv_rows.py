"""CSV text made column by column."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from valmatch.game_logs.names import Texts
from valmatch.inputs.csv_reader import mark, unmark
from valmatch.kernels.arrays import Bytes, Floats, Ints
from valmatch.kernels.compilation import njit

_NEWLINE, _RETURN, _QUOTE, _COMMA, _SPACE = b'\n\r", '

_SUSPECT = b"'=+-@\t\r"  # with which a marked name may begin

_DAY, _MOMENT = len("2024-02-16"), len("2024-02-16 17:00:00")


class Numerals(Texts):
    """Texts that need no quotes and no marks."""

    __slots__ = ()


def small_numerals(values: Ints) -> Texts:
    """Return whole numbers from 0 on, at least one, as `numerals`; sooner where all are small."""
    most = int(values.max())
    return numerals(np.arange(most + 1)).at(values) if most < len(values) else numerals(values)


def numerals(values: Ints | Floats) -> Texts:
    """Return numbers, at least one, as a column; each as `repr` writes it."""
    from pydantic_core import to_json  # takes long to import, and who reads a log needs none of it

    # The serializer of pydantic writes a float twelve times as fast as repr: the same digits,
    # but other exponents, which only numbers of unusual size have.
    text = bytearray(to_json(values.tolist()))
    starts, ends = np.empty(len(values), np.int64), np.empty(len(values), np.int64)
    _find_items(np.frombuffer(text, np.uint8), starts, ends)
    sizes = np.abs(values)
    for k in np.flatnonzero(~((sizes >= 1e-4) & (sizes < 1e16) | (sizes == 0))).tolist():
        starts[k] = len(text)
        text += repr(values[k].item()).encode()
        ends[k] = len(text)
    return Numerals(np.frombuffer(text, np.uint8), starts, ends)


@njit
def _find_items(text: Bytes, starts: Ints, ends: Ints) -> None:
    """Find the numbers of a list in JSON, at least one."""
    starts[0] = 1
    item = 0
    for place in range(1, len(text)):
        if text[place] == _COMMA:
            ends[item] = place
            item += 1
            starts[item] = place + 1
    ends[item] = len(text) - 1


def time_text(value: float, dated: bool) -> str:
    """Return the time of a game: a number, or a moment in UTC (a day starts at 0:00)."""
    if value != value:
        return ""
    if not dated:
        return repr(value)
    found = datetime.fromtimestamp(value, UTC).replace(tzinfo=None)
    return str(found).removesuffix(" 00:00:00")


def times(values: Floats, dated: bool) -> Texts:
    """Return the times of games, at least one, as a column; see `time_text`."""
    if not dated:
        return numerals(values)
    if (values != np.floor(values)).any():
        return Texts.of([time_text(value, dated) for value in values.tolist()])
    texts = np.datetime_as_string(values.astype("M8[s]")).astype(f"S{_MOMENT}").view(np.uint8)
    texts[_DAY::_MOMENT] = _SPACE
    starts = _MOMENT * np.arange(len(values))
    return Numerals(texts, starts, starts + np.where(values % 86400.0 == 0.0, _DAY, _MOMENT))


def marked(column: Texts) -> Texts:
    """Return names marked where a spreadsheet would take them for formulas."""
    buffer, starts, ends = column.buffer, column.starts.copy(), column.ends.copy()
    more = bytearray()
    for k in _beginning_with(column, _SUSPECT).tolist():
        name = column.text(k)
        if (cell := mark(name)) != name:
            starts[k] = len(buffer) + len(more)
            more += cell.encode()
            ends[k] = len(buffer) + len(more)
    if not more:
        return column
    return Texts(np.concatenate([buffer, np.frombuffer(more, np.uint8)]), starts, ends)


def unmark_cells(cells: Texts) -> None:
    """Move the starts of cells behind the marks of names."""
    for k in _beginning_with(cells, b"'").tolist():
        cell = cells.text(k)
        cells.starts[k] += unmark(cell) != cell


def _beginning_with(column: Texts, characters: bytes) -> Ints:
    """Return which cells begin with one of some bytes."""
    cells = np.flatnonzero(column.starts < column.ends)
    return cells[np.isin(column.buffer[column.starts[cells]], np.frombuffer(characters, np.uint8))]


def lines(columns: Sequence[Texts]) -> str:
    """Return the CSV lines of equally long columns, quoted and marked where cells need it."""
    columns = [column if isinstance(column, Numerals) else marked(column) for column in columns]
    n = len(columns[0].starts)
    sizes = np.full(n, len(columns))  # of what stands between cells
    more = [np.zeros(0 if isinstance(column, Numerals) else n, np.int64) for column in columns]
    for column, own in zip(columns, more, strict=True):
        sizes += column.ends - column.starts
        if len(own):
            _measure_quotes(column.buffer, column.starts, column.ends, own)
            sizes += own
    places = np.cumsum(sizes) - sizes
    text = np.empty(int(sizes.sum()), np.uint8)
    between = [_COMMA] * (len(columns) - 1) + [_NEWLINE]
    for column, own, byte in zip(columns, more, between, strict=True):
        _put(text, places, column.buffer, column.starts, column.ends, own, byte)
    return text.tobytes().decode()


@njit
def _measure_quotes(buffer: Bytes, starts: Ints, ends: Ints, more: Ints) -> None:
    """Work out by how much quotes make each cell longer."""
    for row in range(len(starts)):
        special, quotes = False, 0
        for k in range(starts[row], ends[row]):
            byte = buffer[k]
            special = special or byte in (_COMMA, _QUOTE, _NEWLINE, _RETURN)
            quotes += byte == _QUOTE
        more[row] = 2 + quotes if special else 0


@njit
def _put(
    text: Bytes,
    places: Ints,
    buffer: Bytes,
    starts: Ints,
    ends: Ints,
    more: Ints,
    mark: int,
) -> None:
    """Put the cells of a column, and a mark behind each, into the text; move on the places.

    Shapes: `text` (bytes,); `places` (rows,).
    """
    for row in range(len(starts)):
        at, start, end = places[row], starts[row], ends[row]
        if len(more) and more[row]:
            text[at] = _QUOTE
            at += 1
            for k in range(start, end):
                if buffer[k] == _QUOTE:
                    text[at] = _QUOTE
                    at += 1
                text[at] = buffer[k]
                at += 1
            text[at] = _QUOTE
            at += 1
        else:
            for k in range(end - start):
                text[at + k] = buffer[start + k]
            at += end - start
        text[at] = mark
        places[row] = at + 1
