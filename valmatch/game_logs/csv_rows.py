"""CSV text made column by column."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from valmatch.game_logs.names import Texts
from valmatch.inputs.csv_reader import mark, unmark
from valmatch.kernels.arrays import Bytes, Floats, Ints
from valmatch.kernels.compilation import inlined, njit

_NEWLINE, _RETURN, _QUOTE, _COMMA, _SPACE, _MINUS, _COLON, _ZERO = b'\n\r", -:0'

_SUSPECT = b"'=+-@\t\r"  # with which a marked name may begin

_DAY, _MOMENT = len("2024-02-16"), len("2024-02-16 17:00:00")


class Numerals(Texts):
    """Texts that need no quotes and no marks."""

    __slots__ = ()


def words(texts: Sequence[str]) -> Texts:
    """Return texts as a column."""
    pieces = [text.encode() for text in texts]
    ends = np.cumsum([len(piece) for piece in pieces], dtype=np.int64)
    starts = np.concatenate([[0], ends[:-1]])
    return Texts(np.frombuffer(bytearray().join(pieces), np.uint8), starts, ends)


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
        return words([time_text(value, dated) for value in values.tolist()])
    text = np.empty(_MOMENT * len(values), np.uint8)
    _put_moments(values.astype(np.int64), text)
    starts = _MOMENT * np.arange(len(values))
    return Numerals(text, starts, starts + np.where(values % 86400.0 == 0.0, _DAY, _MOMENT))


@njit
def _put_moments(seconds: Ints, text: Bytes) -> None:
    """Put moments into a text, each as ``2024-02-16 17:00:00``."""
    for k in range(len(seconds)):
        at = _MOMENT * k
        # Days of the Gregorian calendar since a 1 March, in 400 years, centuries, 4 years, years.
        days = seconds[k] // 86400 + 719_468
        eras, days = days // 146_097, days % 146_097
        years = (days - days // 1460 + days // 36_524 - days // 146_096) // 365
        days -= 365 * years + years // 4 - years // 100
        months = (5 * days + 2) // 153
        month = months + 3 if months < 10 else months - 9
        _put_number(text, at, 4, 400 * eras + years + (1 if month <= 2 else 0))
        _put_number(text, at + 5, 2, month)
        _put_number(text, at + 8, 2, days - (153 * months + 2) // 5 + 1)
        rest = seconds[k] % 86400
        _put_number(text, at + 11, 2, rest // 3600)
        _put_number(text, at + 14, 2, rest // 60 % 60)
        _put_number(text, at + 17, 2, rest % 60)
        text[at + 4] = text[at + 7] = _MINUS
        text[at + 10] = _SPACE
        text[at + 13] = text[at + 16] = _COLON


@inlined
def _put_number(text: Bytes, at: int, digits: int, number: int) -> None:
    """Put a number into a text, with zeros in front."""
    for place in range(at + digits - 1, at - 1, -1):
        text[place] = _ZERO + number % 10
        number //= 10


def marked(column: Texts) -> Texts:
    """Return names marked where a spreadsheet would take them for formulas."""
    buffer, starts, ends = column.buffer, column.starts.copy(), column.ends.copy()
    more = bytearray()
    for k in _beginning_with(column, _SUSPECT).tolist():
        name = buffer[starts[k] : ends[k]].tobytes().decode()
        if (cell := mark(name)) != name:
            starts[k] = len(buffer) + len(more)
            more += cell.encode()
            ends[k] = len(buffer) + len(more)
    if not more:
        return column
    return Texts(np.concatenate([buffer, np.frombuffer(more, np.uint8)]), starts, ends)


def unmark_cells(buffer: Bytes, starts: Ints, ends: Ints) -> None:
    """Move the starts of cells behind the marks of names."""
    for k in _beginning_with(Texts(buffer, starts, ends), b"'").tolist():
        cell = buffer[starts[k] : ends[k]].tobytes().decode(errors="replace")
        starts[k] += unmark(cell) != cell


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
