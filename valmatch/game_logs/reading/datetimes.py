"""Times of games: numbers, or moments, of which ISO 8601 text is read by compiled functions."""

from __future__ import annotations

import numpy as np

from valmatch.game_logs.reading.cells import read_numbers
from valmatch.kernels.arrays import Bytes, Floats, Ints
from valmatch.kernels.compilation import inlined, njit
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

_SPACE, _MINUS, _COLON, _T, _Z, _ZERO, _NINE = b" -:TZ09"

_UNSURE = -(2**62)  # no time in seconds
_DAYS = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])  # of each month


NUMBERS, DATES, DIGITS = "plain numbers", "date-times", "dates such as 20240131"
"""What times may be, besides seconds and milliseconds since 1970."""

SINCE = 1800  # the first year that digits are read as

_LAST = 253_402_300_800.0  # seconds since 1970 at the end of the year 9999


def kind_of_times(buffer: Bytes, starts: Ints, ends: Ints) -> str | None:
    """Return what times are, by the first cell that holds any; of numbers by the middle one."""
    for k in range(len(starts)):
        cell = slice(k, k + 1)
        if not np.isnan(read_numbers(buffer, starts[cell], ends[cell]))[0]:
            numbers = np.sort(read_numbers(buffer, starts, ends))  # NaN at last
            middle = float(numbers[np.count_nonzero(numbers == numbers) // 2])
            return DIGITS if date_of_digits(middle, SINCE) else unit_since_1970(middle) or NUMBERS
        if not np.isnan(read_moments(buffer, starts[cell], ends[cell]))[0]:
            return DATES
    return None


def read_times(kind: str | None, buffer: Bytes, starts: Ints, ends: Ints) -> Floats:
    """Return times of one kind: plain numbers, or else seconds since 1970; NaN of all others.

    The other parameters are those of `read_moments`.
    """
    if kind == DATES:
        return read_moments(buffer, starts, ends)
    numbers = read_numbers(buffer, starts, ends)
    if kind == DIGITS:
        values, places = np.unique(numbers, return_inverse=True)
        return np.array([moment_of_digits(value, SINCE) for value in values.tolist()])[places]
    if kind is not None and kind in PER_SECOND:
        seconds = numbers / PER_SECOND[kind]
        most = LEAST[MILLISECONDS] if kind == SINCE_1970 else _LAST
        return np.where((numbers >= LEAST[kind]) & (seconds < most), seconds, np.nan)
    return numbers


def read_moments(buffer: Bytes, starts: Ints, ends: Ints) -> Floats:
    """Return the seconds since 1970 of ISO 8601 moments, UTC where no zone is given; or NaN.

    Shapes: `buffer` (bytes,); `starts`, `ends` (cells,).
    """
    seconds = np.empty(len(starts), np.int64)
    _read_plain(buffer, starts, ends, seconds)
    values = seconds.astype(np.float64)
    for cell in np.flatnonzero(seconds == _UNSURE):
        values[cell] = seconds_of(
            buffer[starts[cell] : ends[cell]].tobytes().decode(errors="replace")
        )
    return values


@njit
def _read_plain(buffer: Bytes, starts: Ints, ends: Ints, seconds: Ints) -> None:
    """Read ``YYYY-MM-DD``, ``YYYY-MM-DD HH:MM`` and ``YYYY-MM-DD HH:MM:SS``, also with T and Z.

    All other cells are left to Python, as `_UNSURE`.
    """
    for cell in range(len(starts)):
        start, end = starts[cell], ends[cell]
        seconds[cell] = _UNSURE
        if end - start > 11 and buffer[end - 1] == _Z:
            end -= 1
        if end - start not in (10, 16, 19):
            continue
        year, month = _digits(buffer, start, 4), _digits(buffer, start + 5, 2)
        day = _digits(buffer, start + 8, 2)
        good = buffer[start + 4] == _MINUS and buffer[start + 7] == _MINUS
        good = good and year > 0 and 1 <= month <= 12 and 1 <= day <= _days_of(year, month)
        hour = minute = second = 0
        if end - start > 10:
            hour, minute = _digits(buffer, start + 11, 2), _digits(buffer, start + 14, 2)
            good = good and buffer[start + 10] in (_T, _SPACE) and buffer[start + 13] == _COLON
        if end - start > 16:
            second = _digits(buffer, start + 17, 2)
            good = good and buffer[start + 16] == _COLON
        if good and 0 <= hour < 24 and 0 <= minute < 60 and 0 <= second < 60:
            days = _days_since_1970(year, month, day)
            seconds[cell] = 60 * (60 * (24 * days + hour) + minute) + second


@inlined
def _digits(buffer: Bytes, at: int, count: int) -> int:
    """Return the number of so many digits, or one below 0."""
    number = 0
    for k in range(at, at + count):
        if not _ZERO <= buffer[k] <= _NINE:
            return -1
        number = 10 * number + int(buffer[k]) - _ZERO
    return number


@inlined
def _days_of(year: int, month: int) -> int:
    """Return the number of days of a month."""
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if month == 2 and leap else int(_DAYS[month - 1])


@inlined
def _days_since_1970(year: int, month: int, day: int) -> int:
    """Return the day of the Gregorian calendar, counted in years that end with February."""
    years = year - 1 if month <= 2 else year
    months = (month + 9) % 12  # since March
    leaps = years // 4 - years // 100 + years // 400
    return 365 * years + leaps + (153 * months + 2) // 5 + day - 719_469
