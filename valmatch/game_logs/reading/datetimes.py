"""Times of games: numbers, or moments in ISO 8601."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime

import numpy as np

from valmatch.game_logs.reading.cells import read_each, read_numbers
from valmatch.kernels.arrays import Floats
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
