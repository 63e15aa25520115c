"""Cells of CSV text, found and read in its bytes."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.kernels.arrays import Bytes, Floats, Ints
from valmatch.kernels.compilation import inlined, njit

_TAB, _NEWLINE, _RETURN, _SPACE, _QUOTE = b'\t\n\r "'
_PLUS, _MINUS, _POINT, _ZERO, _NINE = b"+-.09"

_EXACT = 2**53  # whole numbers below, and powers of ten to 22, are exact floats
_TENS = np.array([float(10**k) for k in range(23)])

_YES = (b"true", b"t", b"yes", b"y", b"1")
_NO = (b"false", b"f", b"no", b"n", b"0")

_RESULTS = {1: (b"1-0",), 0: (b"0-1",), 2: (b"1/2-1/2", b"0.5-0.5", "½-½".encode())}
_AT_HOME = {1: (b"h",), 0: (b"a",), 2: (b"d",)}  # H, A, D: the side at home, away, a draw


class Cells(NamedTuple):
    """The wanted cells of the whole rows in a buffer."""

    # starts, ends: (rows, slots): limits of each wanted cell, without quotes and outer blanks; both
    # at the end of the row where it has too few cells
    starts: Ints
    ends: Ints
    widths: Ints  # (rows,): number of cells of each row
    rows: Ints  # (rows + 1,): start of each row, at last the end of the whole rows
    open_quote: bool  # whether a quoted cell has no end though no more text comes


def split(buffer: Bytes, slots: Ints, final: bool, separator: str = ",") -> Cells:
    """Split CSV text into cells (RFC 4180; blanks around a cell do not count).

    Quoted cells are unescaped in place, wherefore `buffer` changes. Blank lines are left out.

    Shapes: `buffer` (bytes,); `slots` (columns,).
    """
    most = int(np.count_nonzero(buffer == _NEWLINE)) + 1
    wanted = int(slots.max()) + 1
    starts = np.empty((most, wanted), np.int64)
    ends = np.empty((most, wanted), np.int64)
    widths = np.empty(most, np.int64)
    rows = np.empty(most + 1, np.int64)
    between = ord(separator)
    n, open_quote = find_cells(buffer, slots, final, between, starts, ends, widths, rows)
    return Cells(starts[:n], ends[:n], widths[:n], rows[: n + 1], bool(open_quote))


@inlined
def _is_blank(byte: int, separator: int) -> bool:
    return byte in (_SPACE, _TAB, _RETURN) and byte != separator


@njit
def find_cells(
    buffer: Bytes,
    slots: Ints,
    final: bool,
    separator: int,
    starts: Ints,
    ends: Ints,
    widths: Ints,
    rows: Ints,
) -> tuple[int, bool]:
    """Fill the arrays of `Cells`; return the number of rows and `open_quote`."""
    n, at = 0, 0
    rows[0] = 0
    while at < len(buffer):
        width, whole, start, end = 0, False, at, at
        for slot in range(starts.shape[1]):
            starts[n, slot] = -1
        while not whole:
            start, end, at = _cell(buffer, at, separator)
            if at > len(buffer) or (at == len(buffer) and not final):
                return n, at > len(buffer) and final
            if width < len(slots) and slots[width] >= 0:
                starts[n, slots[width]], ends[n, slots[width]] = start, end
            width += 1
            whole = at == len(buffer) or buffer[at] == _NEWLINE
            at += 1
        at = min(at, len(buffer))
        if width > 1 or start < end:
            for slot in range(starts.shape[1]):
                if starts[n, slot] < 0:
                    starts[n, slot] = ends[n, slot] = end
            widths[n] = width
            n += 1
        rows[n] = at
    return n, False


@inlined
def _cell(buffer: Bytes, at: int, separator: int) -> tuple[int, int, int]:
    """Return start and end of the cell at `at`, and the place of the delimiter after it.

    That place is the length of the buffer if the text ends first, or more inside quotes.
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
    """Undouble quotes in the quoted text at `start`; return its end and the place behind it.

    That place is more than the length of the buffer if the closing quote is missing.
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


def read_numbers(buffer: Bytes, starts: Ints, ends: Ints) -> Floats:
    """Return the numbers in some cells, each as `float` reads it; NaN where there is none.

    Shapes: `buffer` (bytes,); `starts`, `ends` (cells,).
    """
    values = np.empty(len(starts))
    sure = np.empty(len(starts), np.bool_)
    _read_numbers(buffer, starts, ends, values, sure)
    for cell in np.flatnonzero(~sure):
        values[cell] = _number(buffer[starts[cell] : ends[cell]].tobytes())
    return values


def _number(text: bytes) -> float:
    """Return a finite number, or NaN."""
    try:
        value = math.nan if b"_" in text else float(text)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


@njit
def _read_numbers(
    buffer: Bytes, starts: Ints, ends: Ints, values: Floats, sure: NDArray[np.bool_]
) -> None:
    """Read plain decimal numbers of so few digits that one exact operation gives the nearest float.

    All other cells are left to Python, not `sure`.
    """
    for cell in range(len(starts)):
        at, end = starts[cell], ends[cell]
        negative = at < end and buffer[at] == _MINUS
        if at < end and (negative or buffer[at] == _PLUS):
            at += 1
        digits, places, number = 0, -1, np.int64(0)
        while at < end and number < _EXACT // 10:
            byte = np.int64(buffer[at])
            if byte == _POINT and places < 0:
                places = 0
            elif _ZERO <= byte <= _NINE:
                number = 10 * number + byte - _ZERO
                digits += 1
                if places >= 0:
                    places += 1
            else:
                break
            at += 1
        sure[cell] = at == end and digits > 0 and places < len(_TENS)
        value = float(number)
        if places > 0 and sure[cell]:
            value /= _TENS[places]
        values[cell] = -value if negative else value


def read_flags(buffer: Bytes, starts: Ints, ends: Ints) -> Ints:
    """Return 1 for yes, true, y, t, 1 and 0 for no, false, n, f, 0 in any case; else -1."""
    flags = np.full(len(starts), -1, np.int64)
    for value, words in ((1, _YES), (0, _NO)):
        for word in words:
            _mark(buffer, starts, ends, np.frombuffer(word, np.uint8), value, flags)
    return flags


def read_results(buffer: Bytes, starts: Ints, ends: Ints, at_home: bool = False) -> Ints:
    """Return 1 for 1-0, 0 for 0-1, 2 for 1/2-1/2 (or 0.5-0.5, or the sign of a half); or -1."""
    results = np.full(len(starts), -1, np.int64)
    known = [*_RESULTS.items(), *(_AT_HOME.items() if at_home else ())]
    for value, words in known:
        for word in words:
            _mark(buffer, starts, ends, np.frombuffer(word, np.uint8), value, results)
    return results


@njit
def _mark(buffer: Bytes, starts: Ints, ends: Ints, word: Bytes, value: int, flags: Ints) -> None:
    """Set the flags of the cells that hold a word of small letters, or that in capitals."""
    for cell in range(len(starts)):
        same = ends[cell] - starts[cell] == len(word)
        for k in range(len(word) if same else 0):
            byte = np.int64(buffer[starts[cell] + k])
            same = same and (byte == word[k] or (65 <= byte <= 90 and byte + 32 == word[k]))
        if same:
            flags[cell] = value
