"""Cells of CSV text, found and read in its bytes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from valmatch.game_logs.names import Names, Texts
from valmatch.kernels.arrays import Bools, Bytes, Floats, Ints
from valmatch.kernels.compilation import inlined, njit

_TAB, _NEWLINE, _RETURN, _SPACE, _QUOTE = b'\t\n\r "'
_PLUS, _MINUS, _POINT, _ZERO, _NINE = b"+-.09"

_EXACT = 2**53  # whole numbers below, and powers of ten to 22, are exact floats
_TENS = np.array([float(10**k) for k in range(23)])

FLAGS = {
    **dict.fromkeys(("true", "t", "yes", "y", "1"), 1),
    **dict.fromkeys(("false", "f", "no", "n", "0"), 0),
}
"""What yes and no are called."""

RESULTS = {"1-0": 1, "0-1": 0, **dict.fromkeys(("1/2-1/2", "0.5-0.5", "½-½"), 2)}
RESULTS_AT_HOME = {**RESULTS, "h": 1, "a": 0, "d": 2}
"""What results are called: 1 of the first side, 0 of the second, 2 of neither."""


class Cells(NamedTuple):
    """The wanted cells of all rows of a text."""

    buffer: Bytes  # the text, in which quoted cells are unescaped
    # starts, ends: (slots, rows) limits of each wanted cell, without quotes and outer blanks; both
    # at the end of the row where it has too few cells
    starts: Ints
    ends: Ints
    widths: Ints  # (rows,) number of cells of each row
    rows: Ints  # (rows,) start of each row
    unclosed: int  # start of a row in which a quoted cell has no end; -1 where there is none

    def column(self, slot: int) -> Texts:
        """Return the cells of a slot."""
        return Texts(self.buffer, self.starts[slot], self.ends[slot])


def split(text: bytes, begin: int, slots: Ints, separator: str = ",") -> Cells:
    """Split CSV text from some byte on (RFC 4180; blanks around cells, blank lines do not count).

    `slots` says for each column of the text which slot its cells are for, -1 for none.
    """
    buffer = np.frombuffer(bytearray(text), np.uint8)
    most = int(np.count_nonzero(buffer == _NEWLINE)) + 1
    starts, ends = np.empty((2, int(slots.max()) + 1, most), np.int64)
    widths, rows = np.empty((2, most), np.int64)
    n, unclosed = find_cells(buffer, begin, slots, ord(separator), starts, ends, widths, rows)
    return Cells(buffer, starts[:, :n], ends[:, :n], widths[:n], rows[:n], unclosed)


@inlined
def _is_blank(byte: int, separator: int) -> bool:
    return byte in (_SPACE, _TAB, _RETURN) and byte != separator


@njit
def find_cells(
    buffer: Bytes,
    begin: int,
    slots: Ints,
    separator: int,
    starts: Ints,
    ends: Ints,
    widths: Ints,
    rows: Ints,
) -> tuple[int, int]:
    """Fill the arrays of `Cells`; return the number of rows and `unclosed`."""
    n, at = 0, begin
    while at < len(buffer):
        rows[n] = at
        width, whole, start, end = 0, False, at, at
        for slot in range(len(starts)):
            starts[slot, n] = -1
        while not whole:
            start, end, at = _cell(buffer, at, separator)
            if at > len(buffer):
                return n, rows[n]
            if width < len(slots) and slots[width] >= 0:
                starts[slots[width], n], ends[slots[width], n] = start, end
            width += 1
            whole = at == len(buffer) or buffer[at] == _NEWLINE
            at += 1
        if width > 1 or start < end:
            for slot in range(len(starts)):
                if starts[slot, n] < 0:
                    starts[slot, n] = ends[slot, n] = end
            widths[n] = width
            n += 1
    return n, -1


@inlined
def _cell(buffer: Bytes, at: int, separator: int) -> tuple[int, int, int]:
    """Return start and end of the cell at `at`, and the index of the delimiter after it.

    That index is the length of the buffer if the text ends first, or more inside quotes.
    """
    size = len(buffer)
    while at < size and _is_blank(buffer[at], separator):
        at += 1
    start = at
    if at < size and buffer[at] == _QUOTE:
        start = at + 1
        end, at = _unescape(buffer, start)
        least = end
        while at < size and buffer[at] != separator and buffer[at] != _NEWLINE:
            buffer[end] = buffer[at]  # text behind the quotes belongs to the cell
            end += 1
            at += 1
    else:
        least = start
        while at < size and buffer[at] != separator and buffer[at] != _NEWLINE:
            at += 1
        end = at
    while end > least and _is_blank(buffer[end - 1], separator):
        end -= 1
    return start, end, at


@inlined
def _unescape(buffer: Bytes, start: int) -> tuple[int, int]:
    """Undouble quotes in the quoted text at `start`; return its end and the index behind it.

    That index is more than the length of the buffer if the closing quote is missing.
    """
    size = len(buffer)
    at = end = start
    while at < size:
        if buffer[at] == _QUOTE:
            if at + 1 == size or buffer[at + 1] != _QUOTE:
                return end, at + 1
            at += 1
        buffer[end] = buffer[at]
        end += 1
        at += 1
    return end, size + 1


def read_numbers(cells: Texts) -> Floats:
    """Return the numbers in some cells, each as `float` reads it; NaN where there is none."""
    values = np.empty(len(cells.starts))
    sure = np.empty(len(values), np.bool_)
    _read_numbers(cells, values, sure)
    for k in np.flatnonzero(~sure).tolist():
        values[k] = number_of(cells.text(k))
    return values


def number_of(text: str) -> float:
    """Return a finite number, or NaN."""
    try:
        value = float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


@njit
def _read_numbers(cells: Texts, values: Floats, sure: Bools) -> None:
    """Read plain decimal numbers of so few digits that one exact operation gives the nearest float.

    All other cells are left to Python, not `sure`.
    """
    buffer = cells.buffer
    for cell in range(len(cells.starts)):
        at, end = cells.starts[cell], cells.ends[cell]
        negative = at < end and buffer[at] == _MINUS
        if at < end and (negative or buffer[at] == _PLUS):
            at += 1
        digits, decimals, number = 0, -1, np.int64(0)
        while at < end and number < _EXACT // 10:
            byte = np.int64(buffer[at])
            if byte == _POINT and decimals < 0:
                decimals = 0
            elif _ZERO <= byte <= _NINE:
                number = 10 * number + byte - _ZERO
                digits += 1
                if decimals >= 0:
                    decimals += 1
            else:
                break
            at += 1
        sure[cell] = at == end and digits > 0 and decimals < len(_TENS)
        value = float(number)
        if decimals > 0 and sure[cell]:
            value /= _TENS[decimals]
        values[cell] = -value if negative else value


def read_words(cells: Texts, meanings: Mapping[str, int]) -> Ints:
    """Return what the word in each cell means, in any case; -1 for no such word."""
    words = Names()
    numbers, _ = words.numbers(cells)
    texts = words.texts(range(words.count))
    return np.array([meanings.get(word.lower(), -1) for word in texts], np.int64)[numbers]
